//! Whatever is written is read back the same, and whatever arrives neither panics nor is taken twice.

use std::borrow::Cow;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use web_proto::*;

proptest! {
    #[test]
    fn commands(command in command()) {
        let mut frame = Vec::new();
        command.write(&mut frame);
        prop_assert_eq!(Command::parse(&frame), Ok(command));
    }

    #[test]
    fn events(event in event()) {
        let mut frame = Vec::new();
        event.write(&mut frame);
        prop_assert_eq!(Event::parse(&frame).ok(), Some(event));
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = Command::parse(&bytes);
        let _ = Event::parse(&bytes);
    }

    /// A cut frame is never a frame, and one changed byte gives a command or an answer.
    #[test]
    fn damaged_frames(command in command(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut frame = Vec::new();
        command.write(&mut frame);
        let at = cut.index(frame.len());
        prop_assert!(Command::parse(&frame[..at]).is_err());
        frame[at] = byte;
        let _ = Command::parse(&frame);
    }

    /// The order of the fields means nothing: all pairs of neighbours of a `send` are swapped.
    #[test]
    fn order_of_fields(id: String, body: String, order in Just([0, 1, 2, 3]).prop_shuffle()) {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let fields = [
            "\"t\":\"send\"".to_owned(),
            format!("\"id\":{}", quoted(&id)),
            "\"to\":{\"user\":\"ben\"}".to_owned(),
            format!("\"body\":{}", quoted(&body)),
        ];
        let frame = format!("{{{}}}", order.map(|at| fields[at].as_str()).join(","));
        let send = Command::Send { id: id.into(), to: SendTo::User("ben".into()), body: body.into(), reply_to: None, files: Vec::new(), thread: None };
        prop_assert_eq!(Command::parse(frame.as_bytes()), Ok(send));
    }
}

fn app_password() -> impl Strategy<Value = AppPassword<'static>> {
    (any::<u32>(), text(), any::<u64>(), option::of(any::<u64>()), any::<bool>())
        .prop_map(|(number, name, created, used, here)| AppPassword { number, name, created, used, here })
}

fn device() -> impl Strategy<Value = Device<'static>> {
    let times = (any::<u64>(), any::<u64>());
    (text(), opt(), opt(), times, any::<bool>(), any::<bool>()).prop_map(
        |(device, browser, system, (created, used), here, this)| Device {
            device,
            browser,
            system,
            created,
            used,
            here,
            this,
        },
    )
}

fn audience() -> impl Strategy<Value = Audience> {
    prop_oneof![Just(Audience::Everybody), Just(Audience::Contacts), Just(Audience::Nobody)]
}

fn change_profile() -> impl Strategy<Value = ChangeProfile<'static>> {
    let audiences = (option::of(audience()), option::of(audience()), option::of(audience()));
    (rid(), opt(), number(), opt(), audiences).prop_map(
        |(rid, status, status_until, name, (may_write, see_presence, see_last_seen))| ChangeProfile {
            rid,
            status,
            status_until,
            name,
            may_write,
            see_presence,
            see_last_seen,
        },
    )
}

fn profile() -> impl Strategy<Value = Profile<'static>> {
    let own = (audience(), audience(), audience(), any::<bool>(), any::<bool>()).prop_map(
        |(may_write, see_presence, see_last_seen, may_rename, may_remove)| OwnProfile {
            devices: may_rename != may_remove,
            apps: may_remove,
            may_write,
            see_presence,
            see_last_seen,
            may_rename,
            may_remove,
        },
    );
    let role = option::of(Just(SiteRole::Moderator));
    (contact(), opt(), number(), number(), role, option::of(own)).prop_map(
        |(Contact { person, state, .. }, status, status_until, last_seen, role, own)| Profile {
            person,
            status,
            status_until,
            last_seen,
            role,
            state,
            own,
        },
    )
}

fn command() -> impl Strategy<Value = Command<'static>> {
    prop_oneof![
        (text(), opt(), text(), opt(), opt()).prop_map(|(site, token, device, position, client)| {
            Command::Hello(Box::new(Hello { v: VERSION, site, token, device, position, client }))
        }),
        (text(), send_to(), text(), number(), vec(text(), 0..3), number()).prop_map(
            |(id, to, body, reply_to, files, thread)| Command::Send { id, to, body, reply_to, files, thread }
        ),
        (text(), send_to(), text(), vec(text(), 0..3), any::<[bool; 2]>(), number()).prop_map(
            |(id, to, body, choices, [multiple, anonymous], ends)| Command::Poll {
                id,
                to,
                body,
                choices,
                multiple,
                anonymous,
                ends
            }
        ),
        (rid(), text(), any::<u64>(), vec(any::<u8>(), 0..4))
            .prop_map(|(rid, conversation, seq, choices)| Command::Vote { rid, conversation, seq, choices }),
        (rid(), text(), any::<u64>()).prop_map(|(rid, conversation, seq)| Command::ClosePoll {
            rid,
            conversation,
            seq
        }),
        (rid(), text(), any::<u64>()).prop_map(|(rid, conversation, seq)| Command::DropPreview {
            rid,
            conversation,
            seq
        }),
        (text(), send_to(), text(), number(), number()).prop_map(|(id, to, sticker, reply_to, thread)| {
            Command::Sticker { id, to, sticker, reply_to, thread }
        }),
        rid().prop_map(|rid| Command::Stickers { rid }),
        (text(), send_to(), text(), any::<u64>()).prop_map(|(id, to, conversation, seq)| Command::Forward {
            id,
            to,
            conversation,
            seq
        }),
        (rid(), text(), any::<u64>(), option::of(any::<bool>()), number()).prop_map(
            |(rid, conversation, seq, follow, read)| Command::Thread { rid, conversation, seq, follow, read }
        ),
        (rid(), text()).prop_map(|(rid, conversation)| Command::Threads { rid, conversation }),
        (text(), any::<bool>(), any::<u64>()).prop_map(|(conversation, read, seq)| {
            let set = if read { MarkerSet::Read(seq) } else { MarkerSet::Received(seq) };
            Command::Marker { conversation, set }
        }),
        (send_to(), any::<bool>()).prop_map(|(to, on)| Command::Typing { to, on }),
        (option::of(rid()), call_action()).prop_map(|(rid, action)| Command::Call { rid, action }),
        (option::of(rid()), text(), group_action())
            .prop_map(|(rid, conversation, action)| Command::GroupCall { rid, conversation, action }),
        set_presence().prop_map(|set| Command::Presence { set }),
        (any::<bool>(), vec(text(), 0..4)).prop_map(|(contacts, users)| Command::Watch { contacts, users }),
        (rid(), contact_action(), text()).prop_map(|(rid, action, user)| Command::Contact {
            rid,
            action,
            user
        }),
        (rid(), text(), opt()).prop_map(|(rid, user, name)| Command::ContactName { rid, user, name }),
        (rid(), opt(), limit()).prop_map(|(rid, after, limit)| Command::Contacts { rid, after, limit }),
        (rid(), opt(), opt(), limit()).prop_map(|(rid, query, after, limit)| Command::People {
            rid,
            query,
            after,
            limit
        }),
        (rid(), vec(text(), 0..4)).prop_map(|(rid, users)| Command::Profiles { rid, users }),
        (rid(), opt()).prop_map(|(rid, user)| Command::Profile { rid, user }),
        rid().prop_map(|rid| Command::Devices { rid }),
        (rid(), text()).prop_map(|(rid, device)| Command::SignOut { rid, device }),
        rid().prop_map(|rid| Command::AppPasswords { rid }),
        (rid(), text()).prop_map(|(rid, name)| Command::CreateAppPassword { rid, name }),
        (rid(), any::<u32>()).prop_map(|(rid, number)| Command::RevokeAppPassword { rid, number }),
        (rid(), opt(), limit()).prop_map(|(rid, after, limit)| Command::Export { rid, after, limit }),
        (rid(), any::<bool>()).prop_map(|(rid, messages)| Command::RemoveAccount { rid, messages }),
        change_profile().prop_map(|change| Command::ChangeProfile(Box::new(change))),
        (rid(), opt(), limit(), any::<bool>(), option::of(only())).prop_map(
            |(rid, after, limit, archived, only)| Command::Conversations {
                rid,
                after,
                limit,
                archived,
                only
            }
        ),
        (rid(), text(), number(), any::<[Option<bool>; 3]>(), opt()).prop_map(
            |(rid, conversation, muted_until, [pinned, archived, marked_unread], draft)| {
                Command::Conversation {
                    rid,
                    conversation,
                    muted_until,
                    pinned,
                    archived,
                    marked_unread,
                    draft,
                }
            }
        ),
        (rid(), send_to(), number(), number(), number(), number(), limit()).prop_map(
            |(rid, to, before, after, since, thread, limit)| Command::History {
                rid,
                to,
                before,
                after,
                since,
                thread,
                limit
            }
        ),
        (rid(), text(), any::<u64>(), any::<bool>()).prop_map(|(rid, conversation, seq, on)| Command::Pin {
            rid,
            conversation,
            seq,
            on
        }),
        (rid(), text()).prop_map(|(rid, conversation)| Command::Pins { rid, conversation }),
        (rid(), text(), any::<u64>(), text()).prop_map(|(rid, conversation, seq, body)| Command::Edit {
            rid,
            conversation,
            seq,
            body
        }),
        (rid(), text(), any::<u64>()).prop_map(|(rid, conversation, seq)| Command::Delete {
            rid,
            conversation,
            seq
        }),
        (rid(), text(), any::<u64>(), text(), any::<bool>()).prop_map(
            |(rid, conversation, seq, reaction, on)| Command::React { rid, conversation, seq, reaction, on }
        ),
        (rid(), option::of(subscription()), opt(), option::of(quiet()), option::of(any::<bool>()), limit())
            .prop_map(|(rid, subscribe, unsubscribe, quiet, bodies, mail)| {
                Command::Notifications { rid, subscribe, unsubscribe, quiet, bodies, mail }
            }),
        (rid(), text(), room_kind(), opt()).prop_map(|(rid, name, kind, topic)| Command::CreateRoom {
            rid,
            name,
            kind,
            topic
        }),
        (
            (rid(), text(), opt(), opt(), opt(), opt()),
            (option::of(room_kind()), number(), option::of(any::<bool>()), number())
        )
            .prop_map(
                |(
                    (rid, conversation, name, topic, avatar, picture),
                    (kind, slow_ms, frozen, max_members),
                )| {
                    Command::ChangeRoom {
                        rid,
                        conversation,
                        name,
                        topic,
                        avatar,
                        picture,
                        kind,
                        slow_ms,
                        frozen,
                        max_members,
                    }
                }
            ),
        (rid(), send_to()).prop_map(|(rid, to)| Command::Join { rid, to }),
        (rid(), text()).prop_map(|(rid, conversation)| Command::Leave { rid, conversation }),
        (rid(), text(), opt()).prop_map(|(rid, conversation, reason)| Command::CloseRoom {
            rid,
            conversation,
            reason
        }),
        (rid(), text(), text(), member_action(), option::of(role()), number(), opt()).prop_map(
            |(rid, conversation, user, action, role, until, reason)| Command::Member {
                rid,
                conversation,
                user,
                action,
                role,
                until,
                reason
            }
        ),
        (rid(), text(), opt(), any::<bool>(), opt(), limit()).prop_map(
            |(rid, conversation, query, sanctioned, after, limit)| {
                Command::Members { rid, conversation, query, sanctioned, after, limit }
            }
        ),
        (rid(), text(), limit(), limit()).prop_map(|(rid, conversation, hours, uses)| {
            Command::MakeLink { rid, conversation, hours, uses }
        }),
        (rid(), text(), opt()).prop_map(|(rid, conversation, nickname)| Command::Nickname {
            rid,
            conversation,
            nickname
        }),
        (rid(), text(), vec(text(), 0..3)).prop_map(|(rid, conversation, users)| Command::Nicknames {
            rid,
            conversation,
            users
        }),
        (rid(), text()).prop_map(|(rid, conversation)| Command::Links { rid, conversation }),
        (rid(), text(), text()).prop_map(|(rid, conversation, code)| Command::TakeBackLink {
            rid,
            conversation,
            code
        }),
        (rid(), text()).prop_map(|(rid, code)| Command::OpenLink { rid, code }),
        (rid(), text()).prop_map(|(rid, code)| Command::JoinLink { rid, code }),
        (rid(), opt(), opt(), limit()).prop_map(|(rid, query, after, limit)| Command::Rooms {
            rid,
            query,
            after,
            limit
        }),
        (rid(), text(), opt(), opt(), limit()).prop_map(|(rid, query, conversation, after, limit)| {
            Command::Search { rid, query, conversation, after, limit }
        }),
        (rid(), text(), any::<bool>()).prop_map(|(rid, conversation, accept)| {
            let answer = if accept { RequestAnswer::Accept } else { RequestAnswer::Dismiss };
            Command::Request { rid, conversation, answer }
        }),
        (rid(), opt(), number(), opt(), report_reason(), opt()).prop_map(
            |(rid, conversation, seq, user, reason, text)| Command::Report {
                rid,
                conversation,
                seq,
                user,
                reason,
                text
            }
        ),
        (rid(), option::of(report_state()), opt(), limit())
            .prop_map(|(rid, state, after, limit)| Command::Reports { rid, state, after, limit }),
        moderate().prop_map(|moderate| Command::Moderate(Box::new(moderate))),
        (rid(), opt(), limit()).prop_map(|(rid, after, limit)| Command::Audit { rid, after, limit }),
        (rid(), any::<bool>()).prop_map(|(rid, seen)| Command::Notices { rid, seen }),
        (rid(), text()).prop_map(|(rid, position)| Command::Resume { rid, position }),
        (rid(), text()).prop_map(|(rid, token)| Command::Token { rid, token }),
        option::of(rid()).prop_map(|rid| Command::Ping { rid }),
        Just(Command::Bye),
    ]
}

fn event() -> impl Strategy<Value = Event<'static>> {
    let messages = || vec(message(), 0..3);
    let list = move || {
        let (gaps, left) = (vec(gap(), 0..2), vec(left(), 0..2));
        let more = (vec(thread_count(), 0..2), vec(renamed(), 0..2));
        (vec(conversation(), 0..3), messages(), messages(), gaps, left, vec(contact(), 0..3), more)
    };
    prop_oneof![
        (any::<u64>(), opt(), any::<u32>(), option::of(quiet()), any::<bool>(), option::of(mail())).prop_map(
            |(re, key, devices, quiet, bodies, mail)| Event::Notifications {
                re,
                key,
                devices,
                quiet,
                bodies,
                mail
            }
        ),
        (welcome(), list()).prop_map(
            |(welcome, (conversations, messages, updates, gaps, left, contacts, (threads, renamed)))| {
                let welcome =
                    Welcome { messages, updates, gaps, left, contacts, threads, renamed, ..welcome };
                Event::Welcome(Box::new(Welcome { conversations, ..welcome }))
            }
        ),
        (text(), text(), any::<[u64; 2]>(), any::<bool>(), text()).prop_map(
            |(id, conversation, [seq, time], request, position)| Event::Ack {
                id,
                conversation,
                seq,
                time,
                request,
                position
            }
        ),
        (any::<u64>(), vec(device(), 0..3)).prop_map(|(re, devices)| Event::Devices { re, devices }),
        (any::<u64>(), opt(), vec(app_password(), 0..3))
            .prop_map(|(re, address, passwords)| Event::AppPasswords { re, address, passwords }),
        (any::<u64>(), app_password(), text()).prop_map(|(re, created, password)| Event::AppPassword {
            re,
            created,
            password
        }),
        (any::<u64>(), vec(message(), 0..3), vec((text(), text(), text()), 0..3), opt()).prop_map(
            |(re, messages, items, next)| Event::Exported {
                re,
                messages,
                items: items
                    .into_iter()
                    .map(|(list, item, value)| ExportedItem { list, item, value })
                    .collect(),
                next
            }
        ),
        (any::<u64>(), any::<u64>()).prop_map(|(re, report)| Event::Reported { re, report }),
        (any::<u64>(), vec(report(), 0..3), opt()).prop_map(|(re, reports, next)| Event::Reports {
            re,
            reports,
            next
        }),
        report().prop_map(|report| Event::Report { report: Box::new(report) }),
        (any::<u64>(), option::of(report()))
            .prop_map(|(re, report)| { Event::Moderated { re, report: report.map(Box::new) } }),
        (any::<u64>(), vec(audit_entry(), 0..3), opt()).prop_map(|(re, entries, next)| Event::Audit {
            re,
            entries,
            next
        }),
        (any::<u64>(), vec(notice(), 0..3)).prop_map(|(re, notices)| Event::Notices { re, notices }),
        notice().prop_map(|notice| Event::Notice { notice }),
        (code(), text(), number(), opt(), number())
            .prop_map(|(code, text, re, id, retry_after)| Event::Error { code, text, re, id, retry_after }),
        (message(), text()).prop_map(|(message, position)| Event::Message { message, position }),
        (number(), message(), text(), text()).prop_map(|(re, message, by, position)| Event::Update {
            re,
            message,
            by,
            position
        }),
        (
            (number(), text(), any::<u64>(), any::<u64>(), text()),
            vec((text(), any::<u64>()), 0..3),
            option::of((vec(any::<u64>(), 0..3), any::<u64>(), any::<bool>())),
            (opt(), any::<[bool; 2]>()),
            option::of((text(), any::<bool>())),
            option::of(vec(any::<u8>(), 0..3)),
        )
            .prop_map(
                |(
                    (re, conversation, seq, version, position),
                    reactions,
                    poll,
                    (by, [pinned, preview]),
                    put,
                    chose,
                )| {
                    let count = |(reaction, count)| ReactionCount { reaction, count };
                    Event::Counts {
                        re,
                        conversation,
                        seq,
                        version,
                        reactions: reactions.into_iter().map(count).collect(),
                        poll: poll.map(|(votes, voters, closed)| PollCounts { votes, voters, closed }),
                        pinned,
                        preview,
                        by,
                        put: put.map(|(reaction, on)| PutReaction { reaction, on }),
                        chose,
                        position,
                    }
                }
            ),
        (text(), text(), any::<u64>(), any::<u64>(), number(), text()).prop_map(
            |(conversation, user, received, read, unread, position)| Event::Marker {
                conversation,
                user,
                received,
                read,
                unread,
                position
            }
        ),
        (text(), text(), any::<bool>()).prop_map(|(conversation, user, on)| Event::Typing {
            conversation,
            user,
            on
        }),
        (number(), text(), call_news(), vec(ice(), 0..3)).prop_map(|(re, call, news, ice)| Event::Call {
            re,
            call,
            news,
            ice
        }),
        (number(), text(), group_news(), vec(ice(), 0..3))
            .prop_map(|(re, conversation, news, ice)| Event::GroupCall { re, conversation, news, ice }),
        (text(), presence(), number()).prop_map(|(user, presence, last_seen)| Event::Presence {
            user,
            presence,
            last_seen
        }),
        (vec(text(), 0..3), vec(text(), 0..3), vec(text(), 0..3), any::<bool>())
            .prop_map(|(online, away, busy, more)| Event::Watching { online, away, busy, more }),
        (number(), contact(), text()).prop_map(|(re, contact, position)| Event::Contact {
            re,
            contact,
            position
        }),
        (any::<u64>(), vec(contact(), 0..3), opt()).prop_map(|(re, contacts, next)| Event::Contacts {
            re,
            contacts,
            next
        }),
        (any::<u64>(), vec(person(), 0..3), opt()).prop_map(|(re, people, next)| Event::People {
            re,
            people,
            next
        }),
        (any::<u64>(), vec(person(), 0..3)).prop_map(|(re, people)| Event::Profiles { re, people }),
        (any::<u64>(), profile()).prop_map(|(re, profile)| Event::Profile { re, profile: Box::new(profile) }),
        (any::<u64>(), vec(conversation(), 0..3), opt())
            .prop_map(|(re, conversations, next)| Event::Conversations { re, conversations, next }),
        (number(), conversation(), text()).prop_map(|(re, conversation, position)| Event::Conversation {
            re,
            conversation: Box::new(conversation),
            position
        }),
        (text(), any::<u64>(), vec(person(), 0..3)).prop_map(|(conversation, members, joined)| {
            Event::MemberCount { conversation, members, joined }
        }),
        (text(), room(), text()).prop_map(|(conversation, room, position)| Event::Room {
            conversation,
            room,
            position
        }),
        (number(), left(), text()).prop_map(|(re, Left { conversation, reason }, position)| Event::Left {
            re,
            conversation,
            reason,
            position
        }),
        (any::<u64>(), member()).prop_map(|(re, member)| Event::Member { re, member }),
        (any::<u64>(), vec(member(), 0..3), opt()).prop_map(|(re, members, next)| Event::Members {
            re,
            members,
            next
        }),
        (any::<u64>(), vec((text(), text()), 0..3)).prop_map(|(re, names)| Event::Nicknames {
            re,
            names: names.into_iter().map(|(user, nickname)| Nickname { user, nickname }).collect()
        }),
        (any::<u64>(), text(), link()).prop_map(|(re, conversation, link)| Event::Link {
            re,
            conversation,
            link
        }),
        (any::<u64>(), text(), vec(link(), 0..3)).prop_map(|(re, conversation, links)| Event::Links {
            re,
            conversation,
            links
        }),
        (any::<u64>(), invitation())
            .prop_map(|(re, invitation)| Event::Invitation { re, invitation: Box::new(invitation) }),
        (any::<u64>(), vec((text(), room()), 0..3), opt()).prop_map(|(re, rooms, next)| {
            let listed = |(conversation, room)| Listed { conversation, room };
            Event::Rooms { re, rooms: rooms.into_iter().map(listed).collect(), next }
        }),
        (any::<u64>(), text(), vec(message(), 0..3), any::<bool>()).prop_map(
            |(re, conversation, messages, more)| Event::History { re, conversation, messages, more }
        ),
        (any::<u64>(), any::<bool>(), list(), opt(), opt(), text()).prop_map(
            |(
                re,
                reset,
                (conversations, messages, updates, gaps, left, contacts, (threads, renamed)),
                contacts_next,
                conversations_next,
                position,
            )| Event::Changes {
                contacts_next,
                conversations_next,
                re,
                reset,
                conversations,
                messages,
                updates,
                gaps,
                left,
                threads,
                renamed,
                contacts,
                position
            }
        ),
        (renamed(), text()).prop_map(|(renamed, position)| Event::Renamed { renamed, position }),
        person().prop_map(|person| Event::Person { person }),
        (any::<u64>(), thread()).prop_map(|(re, thread)| Event::Thread { re, thread }),
        (any::<u64>(), text(), vec(thread(), 0..3)).prop_map(|(re, conversation, threads)| Event::Threads {
            re,
            conversation,
            threads
        }),
        (any::<u64>(), vec(sticker(), 0..3)).prop_map(|(re, stickers)| Event::Stickers { re, stickers }),
        (any::<u64>(), vec(message(), 0..3), opt()).prop_map(|(re, hits, next)| Event::Found {
            re,
            hits,
            next
        }),
        Just(Event::Behind),
        (any::<u64>(), any::<u64>()).prop_map(|(re, expires)| Event::TokenOk { re, expires }),
        number().prop_map(|re| Event::Pong { re }),
        Just(Event::Heartbeat),
        any::<u32>().prop_map(|ms| Event::Queued { within_ms: ms.into() }),
        (code(), text(), number(), number(), opt()).prop_map(|(code, text, retry_after, until, reason)| {
            Event::Bye { code, text, retry_after, until, reason }
        }),
    ]
}

fn welcome() -> impl Strategy<Value = Welcome<'static>> {
    let limits =
        any::<[u32; 6]>().prop_map(|[body_bytes, frame_bytes, page, watch, idle_ms, heartbeat_ms]| Limits {
            body_bytes,
            frame_bytes,
            page,
            watch,
            idle_ms,
            heartbeat_ms,
            file_bytes: u64::from(idle_ms),
        });
    let texts = (text(), opt(), opt(), opt(), opt(), text());
    let said = (set_presence(), option::of(site_role()), option::of(calls_from()));
    (texts, person(), said, limits, any::<[bool; 2]>(), any::<[u64; 2]>()).prop_map(
        |(texts, me, (presence, role, calls), limits, [open, resumed], [time, expires])| {
            let (session, key, guest_token, contacts_next, conversations_next, position) = texts;
            Welcome {
                session,
                key,
                me,
                presence,
                guest_token,
                open,
                role,
                calls,
                site: None,
                limits,
                time,
                expires,
                resumed,
                conversations: vec![],
                messages: vec![],
                updates: vec![],
                gaps: vec![],
                left: vec![],
                threads: vec![],
                renamed: vec![],
                contacts: vec![],
                contacts_next,
                conversations_next,
                position,
            }
        },
    )
}

fn only() -> impl Strategy<Value = Only> {
    prop_oneof![Just(Only::Unread), Just(Only::Mentions)]
}

fn conversation() -> impl Strategy<Value = Conversation<'static>> {
    let request = prop::sample::select(vec![RequestState::Sent, RequestState::Received]);
    let of = (option::of(person()), option::of(room()), option::of(request), option::of(person()));
    (text(), of, option::of(message()), any::<[u64; 8]>(), any::<[bool; 3]>(), opt()).prop_map(
        |(
            conversation,
            (with, room, request, requested_by),
            last,
            numbers,
            [pinned, archived, marked_unread],
            draft,
        )| {
            let [received, read, their_received, their_read, unread, mentions, muted_until, active] = numbers;
            Conversation {
                conversation,
                with,
                room,
                last,
                received,
                read,
                their_received,
                their_read,
                unread,
                mentions,
                muted_until,
                pinned,
                archived,
                request,
                requested_by,
                marked_unread,
                draft,
                active,
            }
        },
    )
}

fn moderate() -> impl Strategy<Value = Moderate<'static>> {
    use ModeratorAct::*;
    let all = vec![
        Warn,
        Mute,
        Unmute,
        Ban,
        Unban,
        Kick,
        RemovePicture,
        SetRole,
        Delete,
        TakeReport,
        CloseReport,
        ReopenReport,
    ];
    let texts = (opt(), opt(), opt());
    let numbers = (number(), number(), number());
    (rid(), prop::sample::select(all), texts, numbers, option::of(site_role())).prop_map(
        |(rid, act, (user, conversation, reason), (seq, until, report), role)| Moderate {
            rid,
            act,
            user,
            conversation,
            seq,
            until,
            reason,
            report,
            role,
            devices: false,
            level: None,
        },
    )
}

fn report() -> impl Strategy<Value = Report<'static>> {
    let line = (any::<u64>(), text(), any::<u64>(), text()).prop_map(|(seq, from, time, body)| ReportLine {
        seq,
        from,
        time,
        body,
    });
    let former = (text(), any::<u64>()).prop_map(|(body, until)| FormerBody { body, until });
    let what = (opt(), number(), opt(), opt());
    let said = (report_reason(), text(), vec(line, 0..3), vec(former, 0..3), any::<u64>());
    (any::<u64>(), report_state(), what, said, opt(), text()).prop_map(
        |(
            report,
            state,
            (conversation, seq, user, by),
            (reason, text, lines, former, time),
            moderator,
            note,
        )| {
            let held = by.is_none();
            Report {
                report,
                state,
                conversation,
                seq,
                user,
                by,
                held,
                reason,
                text,
                lines,
                former,
                time,
                moderator,
                note,
            }
        },
    )
}

fn audit_entry() -> impl Strategy<Value = AuditEntry<'static>> {
    (any::<[u64; 2]>(), opt(), text(), opt(), opt(), text()).prop_map(
        |([number, time], by, act, user, conversation, detail)| AuditEntry {
            number,
            time,
            by,
            act,
            user,
            conversation,
            detail,
        },
    )
}

fn notice() -> impl Strategy<Value = Notice<'static>> {
    use NoticeKind::*;
    let kind = prop::sample::select(vec![Warning, Mute, Ban, Unmute]);
    (kind, opt(), number(), text()).prop_map(|(kind, conversation, until, reason)| Notice {
        kind,
        conversation,
        until,
        reason,
    })
}

fn report_reason() -> impl Strategy<Value = ReportReason> {
    use ReportReason::*;
    prop::sample::select(vec![Spam, Abuse, Sexual, Violence, Fraud, Other])
}

fn report_state() -> impl Strategy<Value = ReportState> {
    use ReportState::*;
    prop::sample::select(vec![Open, Taken, Closed])
}

fn site_role() -> impl Strategy<Value = SiteRole> {
    use SiteRole::*;
    prop::sample::select(vec![Member, Moderator, Admin])
}

fn calls_from() -> impl Strategy<Value = CallsFrom> {
    prop::sample::select(vec![CallsFrom::Nobody, CallsFrom::Contacts, CallsFrom::Everyone])
}

fn message() -> impl Strategy<Value = Message<'static>> {
    let change = (
        number(),
        number(),
        any::<[bool; 3]>(),
        option::of(call_entry()),
        vec(reaction(), 0..3),
        vec(file(), 0..3),
        rich(),
    );
    (text(), any::<u64>(), text(), text(), text(), any::<u64>(), number(), change).prop_map(
        |(
            conversation,
            seq,
            from,
            id,
            body,
            time,
            reply_to,
            (version, edited, [deleted, opaque, pinned], call, reactions, files, rich),
        )| {
            let (poll, forwarded, thread, number, replies, preview, sticker) = rich;
            Message {
                conversation,
                seq,
                from,
                id,
                body,
                time,
                reply_to,
                version,
                edited,
                deleted,
                opaque,
                call,
                pinned,
                reactions,
                files,
                poll,
                forwarded,
                thread,
                number,
                replies,
                preview,
                sticker,
            }
        },
    )
}

type RichParts = (
    Option<Poll<'static>>,
    Option<Forwarded<'static>>,
    Option<u64>,
    Option<u64>,
    Option<Replies>,
    Option<Preview<'static>>,
    Option<Sticker<'static>>,
);

fn rich() -> impl Strategy<Value = RichParts> {
    let replies = (any::<u64>(), any::<u64>()).prop_map(|(count, last)| Replies { count, last });
    let forwarded = opt().prop_map(|from| Forwarded { from });
    (
        option::of(poll()),
        option::of(forwarded),
        number(),
        number(),
        option::of(replies),
        option::of(preview()),
        option::of(sticker()),
    )
}

fn sticker() -> impl Strategy<Value = Sticker<'static>> {
    (text(), text(), text(), text(), any::<u32>(), any::<u32>())
        .prop_map(|(id, set, words, url, width, height)| Sticker { id, set, words, url, width, height })
}

fn preview() -> impl Strategy<Value = Preview<'static>> {
    (text(), text(), text(), text(), option::of(file())).prop_map(
        |(url, title, description, site, picture)| Preview { url, title, description, site, picture },
    )
}

fn poll() -> impl Strategy<Value = Poll<'static>> {
    let choice = (text(), any::<u64>(), vec(text(), 0..3), any::<bool>())
        .prop_map(|(text, votes, users, mine)| Choice { text, votes, users, mine });
    (vec(choice, 0..4), any::<[bool; 3]>(), number(), any::<u64>()).prop_map(
        |(choices, [multiple, anonymous, closed], ends, voters)| Poll {
            choices,
            multiple,
            anonymous,
            ends,
            closed,
            voters,
        },
    )
}

fn thread() -> impl Strategy<Value = Thread<'static>> {
    (message(), any::<bool>(), any::<u64>()).prop_map(|(root, follows, unread)| Thread {
        root,
        follows,
        unread,
    })
}

fn file() -> impl Strategy<Value = File<'static>> {
    let shown = (
        option::of(any::<u32>()),
        option::of(any::<u32>()),
        opt(),
        option::of(any::<u32>()),
        any::<bool>(),
        opt(),
    );
    (text(), text(), text(), any::<u64>(), text(), opt(), shown).prop_map(
        |(id, name, kind, size, url, thumb, (width, height, blurhash, duration, voice, peaks))| File {
            id,
            name,
            kind,
            size,
            url,
            thumb,
            width,
            height,
            blurhash,
            duration,
            voice,
            peaks,
        },
    )
}

fn reaction() -> impl Strategy<Value = Reaction<'static>> {
    (text(), any::<u64>(), vec(text(), 0..3), any::<bool>())
        .prop_map(|(reaction, count, users, mine)| Reaction { reaction, count, users, mine })
}

fn room() -> impl Strategy<Value = Room<'static>> {
    let said = (option::of(role()), any::<[u64; 4]>(), any::<bool>());
    (text(), room_kind(), said, [opt(), opt(), opt(), opt()]).prop_map(
        |(
            name,
            kind,
            (role, [members, slow_ms, max_members, nicknames], frozen),
            [topic, avatar, picture, page],
        )| {
            Room {
                name,
                kind,
                role,
                members,
                topic,
                avatar,
                picture,
                page,
                slow_ms,
                frozen,
                max_members,
                nicknames,
            }
        },
    )
}

fn member() -> impl Strategy<Value = Member<'static>> {
    let sanction = (option::of(any::<u64>()), opt());
    (person(), option::of(role()), any::<[bool; 2]>(), option::of(any::<(u64, u64)>()), sanction).prop_map(
        |(person, role, [banned, requested], markers, (until, reason))| Member {
            person,
            role,
            banned,
            requested,
            received: markers.map(|(received, _)| received),
            read: markers.map(|(_, read)| read),
            until,
            reason,
        },
    )
}

fn left() -> impl Strategy<Value = Left<'static>> {
    use LeftReason::*;
    let reason = prop::sample::select(vec![Left, Removed, Banned, Closed]);
    (text(), reason).prop_map(|(conversation, reason)| web_proto::Left { conversation, reason })
}

fn room_kind() -> impl Strategy<Value = RoomKind> {
    use RoomKind::*;
    prop::sample::select(vec![Public, Private, Announcement])
}

fn link() -> impl Strategy<Value = Link<'static>> {
    (text(), text(), any::<u64>(), limit(), any::<u32>()).prop_map(|(code, by, until, uses, used)| Link {
        code,
        by,
        until,
        uses,
        used,
    })
}

fn invitation() -> impl Strategy<Value = Invitation<'static>> {
    let room = (text(), room_kind(), opt(), [opt(), opt()], any::<u64>());
    (opt(), room, person(), any::<u64>()).prop_map(
        |(conversation, (name, kind, topic, [avatar, picture], members), by, until)| Invitation {
            conversation,
            name,
            kind,
            topic,
            avatar,
            picture,
            members,
            by,
            until,
        },
    )
}

fn role() -> impl Strategy<Value = Role> {
    use Role::*;
    prop::sample::select(vec![Owner, Moderator, Member, Muted])
}

fn member_action() -> impl Strategy<Value = MemberAction> {
    use MemberAction::*;
    prop::sample::select(vec![Invite, Remove, Ban, Unban, SetRole])
}

fn subscription() -> impl Strategy<Value = PushSubscription<'static>> {
    (text(), text(), text(), opt()).prop_map(|(endpoint, p256dh, auth, lang)| PushSubscription {
        endpoint,
        p256dh,
        auth,
        lang,
    })
}

fn quiet() -> impl Strategy<Value = QuietHours> {
    (any::<u16>(), any::<u16>(), any::<i16>()).prop_map(|(from, to, offset)| QuietHours { from, to, offset })
}

fn mail() -> impl Strategy<Value = MailDigest<'static>> {
    (text(), any::<u32>()).prop_map(|(address, after)| MailDigest { address, after })
}

fn gap() -> impl Strategy<Value = Gap<'static>> {
    (text(), any::<u64>(), any::<bool>()).prop_map(|(conversation, first, forget)| Gap {
        conversation,
        first,
        forget,
    })
}

fn thread_count() -> impl Strategy<Value = ThreadCount<'static>> {
    (text(), any::<[u64; 3]>()).prop_map(|(conversation, [seq, count, last])| ThreadCount {
        conversation,
        seq,
        replies: Replies { count, last },
    })
}

fn renamed() -> impl Strategy<Value = Renamed<'static>> {
    (text(), person(), any::<bool>()).prop_map(|(was, person, erased)| Renamed { was, person, erased })
}

fn contact() -> impl Strategy<Value = Contact<'static>> {
    use ContactState::*;
    let state = prop::sample::select(vec![None, RequestSent, RequestReceived, Contact, Blocked]);
    let groups = option::of(prop::collection::vec(text(), 1..3));
    (person(), state, opt(), groups).prop_map(|(person, state, own_name, groups)| web_proto::Contact {
        person,
        state,
        own_name,
        groups,
    })
}

fn person() -> impl Strategy<Value = Person<'static>> {
    (text(), text(), opt(), opt(), any::<bool>(), option::of(presence())).prop_map(
        |(user, name, avatar, picture, guest, presence)| Person {
            user,
            name,
            avatar,
            picture,
            guest,
            presence,
        },
    )
}

fn presence() -> impl Strategy<Value = Presence> {
    use Presence::*;
    prop::sample::select(vec![Online, Away, Busy, Offline, Unknown])
}

fn set_presence() -> impl Strategy<Value = SetPresence> {
    use SetPresence::*;
    prop::sample::select(vec![Online, Away, Busy, Invisible])
}

fn contact_action() -> impl Strategy<Value = ContactAction> {
    use ContactAction::*;
    prop::sample::select(vec![Request, Accept, Decline, Remove, Block, Unblock])
}

fn call_action() -> impl Strategy<Value = CallAction<'static>> {
    prop_oneof![
        (text(), media(), text()).prop_map(|(user, media, sdp)| CallAction::Invite { user, media, sdp }),
        (text(), text()).prop_map(|(call, sdp)| CallAction::Accept { call, sdp }),
        (text(), any::<bool>()).prop_map(|(call, busy)| CallAction::Decline { call, busy }),
        text().prop_map(|call| CallAction::HangUp { call }),
        (text(), text()).prop_map(|(call, sdp)| CallAction::Offer { call, sdp }),
        (text(), text()).prop_map(|(call, sdp)| CallAction::Answer { call, sdp }),
        (text(), text()).prop_map(|(call, candidate)| CallAction::Candidate { call, candidate }),
        (text(), any::<bool>()).prop_map(|(call, on)| CallAction::Hold { call, on }),
        (text(), text(), text()).prop_map(|(call, ticket, sdp)| CallAction::Rejoin { call, ticket, sdp }),
    ]
}

fn call_news() -> impl Strategy<Value = CallNews<'static>> {
    prop_oneof![
        (text(), media(), text()).prop_map(|(user, media, ticket)| CallNews::Calling { user, media, ticket }),
        (text(), media(), text(), any::<bool>()).prop_map(|(user, media, sdp, glare)| CallNews::Ring {
            user,
            media,
            sdp,
            glare
        }),
        text().prop_map(|ticket| CallNews::Joined { ticket }),
        text().prop_map(|sdp| CallNews::Accepted { sdp }),
        Just(CallNews::Elsewhere),
        text().prop_map(|sdp| CallNews::Offer { sdp }),
        text().prop_map(|sdp| CallNews::Answer { sdp }),
        text().prop_map(|candidate| CallNews::Candidate { candidate }),
        any::<bool>().prop_map(|on| CallNews::Hold { on }),
        Just(CallNews::Away),
        text().prop_map(|sdp| CallNews::Back { sdp }),
        (media(), any::<[bool; 2]>(), any::<Option<u64>>())
            .prop_map(|(media, [hold, away], ms)| CallNews::Rejoined { media, hold, away, ms }),
        Just(CallNews::Done),
        (call_outcome(), any::<u64>()).prop_map(|(outcome, ms)| CallNews::Over { outcome, ms }),
    ]
}

fn group_action() -> impl Strategy<Value = GroupAction<'static>> {
    prop_oneof![
        Just(GroupAction::Look),
        media().prop_map(|media| GroupAction::Join { media }),
        Just(GroupAction::Leave),
        (any::<u32>(), text()).prop_map(|(to, sdp)| GroupAction::Offer { to, sdp }),
        (any::<u32>(), text()).prop_map(|(to, sdp)| GroupAction::Answer { to, sdp }),
        (any::<u32>(), text()).prop_map(|(to, candidate)| GroupAction::Candidate { to, candidate }),
    ]
}

fn group_news() -> impl Strategy<Value = GroupNews<'static>> {
    let now = (media(), any::<u64>(), vec(text(), 0..6));
    let now = now.prop_map(|(media, since, here)| GroupCall { media, since, here });
    let joined = (any::<[u32; 2]>(), media(), any::<u64>(), vec(participant(), 0..5));
    prop_oneof![
        (any::<u8>(), option::of(now)).prop_map(|(most, now)| GroupNews::Standing { most, now }),
        joined.prop_map(|([place, most], media, since, here)| GroupNews::Joined {
            place,
            media,
            since,
            most: most as u8,
            here
        }),
        participant().prop_map(|who| GroupNews::Came { who }),
        any::<u32>().prop_map(|place| GroupNews::Went { place }),
        any::<u32>().prop_map(|place| GroupNews::Away { place }),
        any::<u32>().prop_map(|place| GroupNews::Apart { place }),
        (any::<u32>(), text()).prop_map(|(from, sdp)| GroupNews::Offer { from, sdp }),
        (any::<u32>(), text()).prop_map(|(from, sdp)| GroupNews::Answer { from, sdp }),
        (any::<u32>(), text()).prop_map(|(from, candidate)| GroupNews::Candidate { from, candidate }),
        Just(GroupNews::Elsewhere),
        Just(GroupNews::Left),
        Just(GroupNews::Done),
    ]
}

fn participant() -> impl Strategy<Value = Participant<'static>> {
    (text(), any::<u32>(), any::<[bool; 2]>()).prop_map(|(user, place, [away, apart])| Participant {
        user,
        place,
        away,
        apart,
    })
}

fn call_entry() -> impl Strategy<Value = CallEntry> {
    (media(), call_outcome(), any::<u64>()).prop_map(|(media, outcome, ms)| CallEntry { media, outcome, ms })
}

fn call_outcome() -> impl Strategy<Value = CallOutcome> {
    use CallOutcome::*;
    prop::sample::select(vec![Ended, Lost, Declined, Busy, Cancelled, Missed])
}

fn media() -> impl Strategy<Value = Media> {
    prop::sample::select(vec![Media::Audio, Media::Video])
}

fn ice() -> impl Strategy<Value = IceServer<'static>> {
    (vec(text(), 0..3), opt(), opt()).prop_map(|(urls, username, credential)| IceServer {
        urls,
        username,
        credential,
    })
}

fn send_to() -> impl Strategy<Value = SendTo<'static>> {
    prop_oneof![
        text().prop_map(SendTo::User),
        text().prop_map(SendTo::Conversation),
        text().prop_map(SendTo::Page)
    ]
}

fn code() -> impl Strategy<Value = Code> {
    prop::sample::select(Code::ALL)
}

fn text() -> impl Strategy<Value = Cow<'static, str>> {
    any::<String>().prop_map(Cow::Owned)
}

fn opt() -> impl Strategy<Value = Option<Cow<'static, str>>> {
    option::of(text())
}

/// A number that JavaScript has exactly; a greater one is refused.
fn rid() -> impl Strategy<Value = u64> {
    0..=1u64 << 53
}

fn number() -> impl Strategy<Value = Option<u64>> {
    option::of(any::<u64>())
}

fn limit() -> impl Strategy<Value = Option<u32>> {
    option::of(any::<u32>())
}
