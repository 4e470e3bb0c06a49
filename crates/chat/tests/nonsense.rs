//! Random commands in random order with random numbers: the node answers each request once, never panics, and
//! continues to serve others.

use crate::scene;

use chat::*;
use rand::{Rng, SeedableRng, rngs::StdRng, seq::IndexedRandom};
use scene::*;

#[test]
fn every_request_has_one_answer() {
    for seed in 0..40 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mode = if rng.random_bool(0.5) { Mode::Open } else { Mode::Contacts };
        let mut scene = Scene::new(mode);
        let devices = ["ann", "bob", "cat"].map(|user| scene.sign_in(user, "d"));
        for step in 0..400 {
            let device = devices.choose(&mut rng).expect("there are three");
            let command = any_command(&mut rng, step);
            let events = scene.ask(device, command.clone());
            let answers = events.iter().filter(|event| answers(&command, event)).count();
            assert_eq!(answers, expected(&command), "seed {seed}: {command:?} has {events:?}");
            if rng.random_bool(0.05) {
                scene.wait(300);
            }
        }
        let [ann, bob, _] = &devices;
        scene.contact(ann, ContactAction::Unblock, "bob").expect("it can always be said");
        scene.contact(bob, ContactAction::Unblock, "ann").expect("it can always be said");
        assert!(matches!(
            scene.ask(ann, Request::new(1, sign_in::Command::Resume { position: None }))[0],
            event!(session::Changes(_))
        ));
    }
}

fn expected(request: &Request) -> usize {
    match &request.command {
        Command::Messages(messages::Command::Mark { .. } | messages::Command::Typing { .. })
        | Command::Presence(_) => 0,
        _ => 1,
    }
}

fn answers(request: &Request, event: &Delivery) -> bool {
    match (&request.command, event) {
        (
            Command::Messages(
                messages::Command::Send { client_id, .. } | messages::Command::Forward { client_id, .. },
            ),
            event!(messages::Ack { client_id: id, .. }) | event!(session::SendRefused { client_id: id, .. }),
        ) => client_id == id,
        (
            Command::Messages(messages::Command::SendSticker(wanted)),
            event!(session::SendRefused { client_id: id, .. }),
        ) => wanted.client_id == *id,
        (
            Command::Messages(messages::Command::Change { .. }),
            event!(re, messages::Update { .. }) | event!(re, messages::Counts { .. }),
        ) => re.is_some(),
        (_, event!(re, session::Refused(_))) => re.is_some(),
        (_, event!(re, calls::Call(_))) => re.is_some(),
        (_, event!(re, contacts::Contact(_)) | event!(re, messages::Conversation(_))) => re.is_some(),
        (
            _,
            event!(contacts::Contacts { .. })
            | event!(contacts::People { .. })
            | event!(contacts::Profiles(_))
            | event!(messages::Conversations { .. })
            | event!(messages::History { .. })
            | event!(messages::Pins { .. })
            | event!(messages::Thread(_))
            | event!(messages::Threads { .. })
            | event!(messages::Stickers(_))
            | event!(rooms::Link { .. })
            | event!(rooms::Links { .. })
            | event!(rooms::Invitation(_))
            | event!(session::Changes(_))
            | event!(session::TokenOk { .. }),
        ) => true,
        _ => false,
    }
}

fn any_command(rng: &mut StdRng, re: u64) -> Request {
    match rng.random_range(0..19) {
        16 | 17 => any_rich(rng, re),
        18 => any_link(rng, re),
        0 => Request::from(messages::Command::Send {
            client_id: any_text(rng).into(),
            to: any_to(rng),
            body: any_text(rng).into(),
            extension: rng.random_bool(0.3).then(|| any_text(rng).into()),
            reply_to: rng.random_bool(0.3).then(|| any_seq(rng)),
            files: (0..rng.random_range(0..20_u64).saturating_sub(8))
                .map(|number| FileId { site: SiteId(1), number })
                .collect(),
            rich: None,
        }),
        1 => {
            let seq = any_seq(rng);
            let set = if rng.random_bool(0.5) { MarkerSet::Read(seq) } else { MarkerSet::Received(seq) };
            Request::from(messages::Command::Mark { conversation: any_conversation(rng), set })
        }
        2 => Request::from(messages::Command::Typing { to: any_to(rng), on: rng.random_bool(0.5) }),
        3 => Request::from(presence::Command::Set(
            *[SetPresence::Online, SetPresence::Invisible, SetPresence::Busy].choose(rng).expect("three"),
        )),
        4 => Request::from(presence::Command::Watch {
            contacts: rng.random_bool(0.5),
            users: (0..rng.random_range(0..6)).map(|_| any_user(rng)).collect(),
        }),
        5 => {
            use ContactAction::{Accept, Block, Decline, Remove, Unblock};
            let action =
                *[ContactAction::Request, Accept, Decline, Remove, Block, Unblock].choose(rng).expect("six");
            Request::new(re, contacts::Command::Change { action, user: any_user(rng) })
        }
        6 => Request::new(re, contacts::Command::List { page: any_page(rng) }),
        7 => Request::new(
            re,
            contacts::Command::ListPeople {
                query: rng.random_bool(0.7).then(|| any_text(rng)),
                page: any_page(rng),
            },
        ),
        8 => Request::new(
            re,
            contacts::Command::Profiles {
                users: (0..rng.random_range(0..60)).map(|_| any_user(rng)).collect(),
            },
        ),
        9 => {
            use chat::ConversationList::{Archived, Main, Mentions, Unread};
            let list = *[Main, Archived, Unread, Mentions].choose(rng).expect("four");
            Request::new(re, messages::Command::ListConversations { list, page: any_page(rng) })
        }
        10 if rng.random_bool(0.2) => {
            Request::new(re, messages::Command::ListPins { conversation: any_conversation(rng) })
        }
        10 => {
            let change = ConversationChange {
                muted_until: rng.random_bool(0.5).then(|| Timestamp(any_number(rng))),
                pinned: rng.random_bool(0.5).then(|| rng.random_bool(0.5)),
                archived: rng.random_bool(0.5).then(|| rng.random_bool(0.5)),
                marked_unread: rng.random_bool(0.5).then(|| rng.random_bool(0.5)),
                draft: rng.random_bool(0.5).then(|| any_text(rng).into()),
            };
            Request::new(
                re,
                messages::Command::ChangeConversation { conversation: any_conversation(rng), change },
            )
        }
        11 => Request::new(
            re,
            messages::Command::History {
                to: any_to(rng),
                before: rng.random_bool(0.4).then(|| any_seq(rng)),
                after: rng.random_bool(0.4).then(|| any_seq(rng)),
                thread: None,
                limit: rng.random_bool(0.5).then(|| any_number(rng) as u32),
            },
        ),
        12 => {
            let position = Position { epoch: rng.random_range(0..3), number: any_number(rng) };
            Request::new(re, sign_in::Command::Resume { position: rng.random_bool(0.8).then_some(position) })
        }
        13 => {
            let (user, offer) = (any_user(rng), any_text(rng).into());
            let action = CallAction::Invite { user, media: Media::Audio, offer };
            Request::new(re, calls::Command::Direct { action })
        }
        14 => Request::new(
            re,
            calls::Command::Direct { action: CallAction::Of(CallId(any_number(rng)), any_step(rng)) },
        ),
        _ => Request::new(re, sign_in::Command::RenewToken { token: any_text(rng) }),
    }
}

/// Polls, votes, forwarded messages and threads, most of them on missing messages.
fn any_rich(rng: &mut StdRng, re: u64) -> Request {
    let (conversation, seq) = (any_conversation(rng), any_seq(rng));
    let bytes = |rng: &mut StdRng| (0..rng.random_range(0..4)).map(|_| any_number(rng) as u8).collect();
    let change = |change| Request::new(re, messages::Command::Change { conversation, seq, change });
    match rng.random_range(0..9) {
        7 => Request::new(re, messages::Command::ListStickers),
        8 => Request::from(messages::Command::SendSticker(SendSticker {
            client_id: any_text(rng).into(),
            to: any_to(rng),
            number: any_number(rng),
            reply_to: rng.random_bool(0.3).then_some(seq),
            thread: rng.random_bool(0.3).then_some(seq),
        })),
        0 => change(MessageChange::Vote(bytes(rng))),
        1 => change(MessageChange::ClosePoll),
        2 => Request::from(messages::Command::Forward {
            client_id: any_text(rng).into(),
            to: any_to(rng),
            conversation,
            seq,
        }),
        3 => {
            let read = rng.random_bool(0.5).then(|| any_number(rng));
            let change = ThreadChange { follow: rng.random_bool(0.5).then(|| rng.random_bool(0.5)), read };
            Request::new(re, messages::Command::ChangeThread { conversation, root: seq, change })
        }
        4 => Request::new(re, messages::Command::ListThreads { conversation }),
        _ => {
            let choices = (0..rng.random_range(0..13)).map(|_| any_text(rng).into()).collect();
            let ends = rng.random_bool(0.5).then(|| Timestamp(any_number(rng)));
            let (multiple, anonymous) = (rng.random_bool(0.5), rng.random_bool(0.5));
            let poll = rng.random_bool(0.7).then_some(NewPoll { choices, multiple, anonymous, ends });
            let thread = rng.random_bool(0.3).then_some(seq);
            Request::from(messages::Command::Send {
                client_id: any_text(rng).into(),
                to: any_to(rng),
                body: any_text(rng).into(),
                extension: None,
                reply_to: None,
                files: Vec::new(),
                rich: NewRich { poll, thread, ..NewRich::default() }.boxed(),
            })
        }
    }
}

/// New rooms, and invitations, most of them into missing rooms.
fn any_link(rng: &mut StdRng, re: u64) -> Request {
    let conversation = match rng.random_bool(0.5) {
        true => ConversationId::room(SiteId(1), rng.random_range(0..3)),
        false => any_conversation(rng),
    };
    let code = LinkCode::of([any_number(rng) as u8; 16]);
    let any = |rng: &mut StdRng| rng.random_bool(0.5).then(|| any_number(rng) as u32);
    match rng.random_range(0..6) {
        0 => Request::new(
            re,
            rooms::Command::Create { name: "a".into(), kind: RoomKind::Public, topic: None, alias: None },
        ),
        1 => Request::new(re, rooms::Command::MakeLink { conversation, hours: any(rng), uses: any(rng) }),
        2 => Request::new(re, rooms::Command::ListLinks { conversation }),
        3 => Request::new(re, rooms::Command::RevokeLink { conversation, code }),
        4 => Request::new(re, rooms::Command::OpenLink { code }),
        _ => Request::new(re, rooms::Command::JoinByLink { code }),
    }
}

fn any_step(rng: &mut StdRng) -> CallStep {
    let text = any_text(rng).into();
    match rng.random_range(0..8) {
        0 => CallStep::Accept { answer: text },
        1 => CallStep::Decline { busy: rng.random_bool(0.5) },
        2 => CallStep::HangUp,
        3 => CallStep::Offer(text),
        4 => CallStep::Answer(text),
        5 => CallStep::Candidate(text),
        6 => CallStep::Hold(rng.random_bool(0.5)),
        _ => CallStep::Rejoin { ticket: CallTicket::of(any_number(rng).into()), offer: text },
    }
}

fn any_number(rng: &mut StdRng) -> u64 {
    const EDGES: [u64; 8] =
        [0, 1, 2, u32::MAX as u64, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX];
    if rng.random_bool(0.6) { rng.random_range(0..20) } else { *EDGES.choose(rng).expect("eight") }
}

fn any_seq(rng: &mut StdRng) -> Seq {
    Seq(any_number(rng))
}

fn any_user(rng: &mut StdRng) -> Sub {
    sub(["ann", "bob", "cat", "nobody", "🦊"].choose(rng).expect("five"))
}

fn any_to(rng: &mut StdRng) -> To {
    if rng.random_bool(0.7) { To::User(any_user(rng)) } else { To::Conversation(any_conversation(rng)) }
}

fn any_conversation(rng: &mut StdRng) -> ConversationId {
    let site = SiteId(if rng.random_bool(0.9) { 1 } else { any_number(rng) as u32 });
    let (low, high) = (rng.random_range(0..5u64), rng.random_range(0..5u64));
    let key = if rng.random_bool(0.8) { low << 32 | high } else { any_number(rng) };
    ConversationId { site, key }
}

fn any_page(rng: &mut StdRng) -> PageOf {
    PageOf {
        after: rng.random_bool(0.4).then(|| any_text(rng)),
        limit: rng.random_bool(0.5).then(|| any_number(rng) as u32),
    }
}

fn any_text(rng: &mut StdRng) -> String {
    const PIECES: [&str; 10] = ["", "a", "m-1", "@ann", " ", "\0", "🦊", "ß%_'\"\\", "\u{202e}", "zzzzzzzz"];
    (0..rng.random_range(0..5)).map(|_| *PIECES.choose(rng).expect("ten")).collect()
}
