//! Decides which messages and calls lead to a notification: functions of values.

use std::sync::Arc;

use crate::notifications::{News, NotifyFacts, NotifySettings, Talk};
use crate::{CallEntry, ConversationOf, File, SetPresence, StoredMessage, Timestamp, UserId};

/// In rooms with more members, only mentions lead to a notice: a notice for each message of a crowd annoys.
pub(crate) const SMALL_ROOM: usize = 20;

/// Bytes of a body in a notice. A lock screen shows no more, and a push message has at most 4 kB.
const BODY_BYTES: usize = 600;

/// Whether the user is away for notifications. A user who is here sees messages on the page.
pub(crate) fn is_away(chosen: SetPresence, has_session: bool) -> bool {
    !has_session || chosen == SetPresence::Away
}

/// Whether a notice may be shown to this member now.
pub(crate) fn may_disturb(settings: &NotifySettings, presence: SetPresence, now: Timestamp) -> bool {
    presence != SetPresence::Busy && !settings.quiet.is_some_and(|quiet| quiet.contain(now))
}

/// Whether a call may ring on this member's devices, by their conversation with the caller. Contacts may have
/// no conversation yet.
pub(crate) fn may_ring(facts: &NotifyFacts, now: Timestamp) -> bool {
    facts.talks.iter().all(|Talk { row, .. }| row.muted_until <= now && row.request.is_none())
}

/// The new messages of a conversation, if they are worth a notice.
pub(crate) fn news(talk: &Talk, user: UserId, settings: &NotifySettings, now: Timestamp) -> Option<News> {
    let Talk { row, from, missed_calls } = talk;
    let last = row.last.as_ref().filter(|last| last.from != user && !last.deleted)?;
    let from = from.as_ref().filter(|from| !from.banned)?;
    // Message requests wait until the member looks.
    if row.unread == 0 || row.muted_until > now || row.archived || row.request.is_some() {
        return None;
    }
    let room = match &row.of {
        ConversationOf::Direct(_) => None,
        ConversationOf::Room { room, .. } if row.mentions == 0 && room.members as usize > SMALL_ROOM => {
            return None;
        }
        ConversationOf::Room { room, .. } => Some(Arc::clone(&room.name)),
    };
    let body = settings.bodies.then(|| shown(last));
    let opaque = settings.bodies && last.is_opaque();
    Some(News {
        name: Arc::clone(&from.profile.name),
        avatar: from.profile.avatar.clone(),
        room,
        body: body.filter(|_| !opaque),
        opaque,
        unread: row.unread,
        mentioned: row.mentions > 0,
        call: CallEntry::of_stored(last),
        missed_calls: *missed_calls,
    })
}

/// The body; without one, the names of the message's files.
fn shown(last: &StoredMessage) -> Box<str> {
    if !last.body.is_empty() {
        return last.body[..last.body.floor_char_boundary(BODY_BYTES)].into();
    }
    let name = |file: &File| match file.voice {
        true => "🎤".to_owned(),
        false => format!("📎 {}", file.name),
    };
    let names: Vec<String> = last.files.iter().map(name).collect();
    let names = names.join(", ");
    names[..names.floor_char_boundary(BODY_BYTES)].into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CallId, ConversationId, ConversationRow, Media, MessageKind, Outcome, Profile, QuietHours, Role,
        Room, RoomKind, Seq, SiteId, Sub, UserRow,
    };

    const NOW: Timestamp = Timestamp(1_800_000_000_000);
    const ME: UserId = UserId { site: SiteId(1), num: 1 };
    const ANN: UserId = UserId { site: SiteId(1), num: 2 };

    fn ann() -> UserRow {
        let sub = Sub::parse("ann").expect("a sub");
        UserRow {
            id: ANN,
            profile: Profile { sub, name: "Ann".into(), avatar: None, guest: false },
            presence: SetPresence::Online,
            banned: false,
            created: NOW,
            last_seen: NOW,
            on_site: crate::SiteStanding::default(),
            privacy: crate::Privacy::default(),
            named: false,
        }
    }

    fn talk(of: ConversationOf) -> Talk {
        let id = ConversationId::direct(ME, ANN).expect("two users");
        let last = StoredMessage {
            conversation: id,
            seq: Seq(3),
            from: ANN,
            from_sub: ann().profile.sub,
            to_sub: None,
            kind: MessageKind::Text,
            client_id: "a".into(),
            body: "ä".repeat(400).into(),
            extension: None,
            position: 0,
            time: NOW,
            reply_to: None,
            version: 0,
            edited: None,
            deleted: false,
            reactions: Vec::new(),
            pinned: false,
            files: Vec::new(),
            rich: None,
        };
        let row = ConversationRow {
            id,
            of,
            last: Some(last),
            received: Seq(1),
            read: Seq(1),
            their_received: Seq(0),
            their_read: Seq(0),
            blocked: false,
            unread: 2,
            mentions: 0,
            muted_until: Timestamp(0),
            pinned: false,
            archived: false,
            active: NOW,
            request: None,
            requested_by: None,
            marked_unread: false,
            draft: None,
        };
        Talk { row, from: Some(ann()), missed_calls: 0 }
    }

    fn room(members: u32) -> ConversationOf {
        let room = Room {
            name: "Bikers".into(),
            kind: RoomKind::Public,
            topic: None,
            avatar: None,
            page: None,
            members,
            slow_ms: 0,
            frozen: false,
            alias: None,
            max_members: 0,
            nicknames: 0,
        };
        ConversationOf::Room { room: Arc::new(room), role: Role::Member }
    }

    #[test]
    fn unread_messages_of_others_are_notified() {
        let settings = NotifySettings::default();
        let shown = news(&talk(ConversationOf::Direct(ann())), ME, &settings, NOW).expect("it is news");
        assert_eq!((&*shown.name, shown.unread, shown.mentioned), ("Ann", 2, false));
        assert_eq!(shown.body.expect("words").len(), 600);
        let quiet = NotifySettings { bodies: false, ..settings };
        assert_eq!(
            news(&talk(ConversationOf::Direct(ann())), ME, &quiet, NOW).expect("still news").body,
            None
        );
    }

    #[test]
    fn entries_of_calls_are_notified_as_calls() {
        let mut talk = talk(ConversationOf::Direct(ann()));
        let entry = CallEntry { call: CallId(7), media: Media::Audio, outcome: Outcome::Missed, ms: 0 };
        let last = talk.row.last.as_mut().expect("a message");
        (last.kind, last.client_id) = (MessageKind::Call, entry.client_id());
        let shown = |settings: &NotifySettings| news(&talk, ME, settings, NOW).expect("it is news").call;
        assert_eq!(shown(&NotifySettings::default()), Some(entry));
        assert_eq!(shown(&NotifySettings { bodies: false, ..NotifySettings::default() }), Some(entry));
    }

    #[test]
    fn a_file_without_text_is_notified_by_its_name() {
        let mut talk = talk(ConversationOf::Direct(ann()));
        let last = talk.row.last.as_mut().expect("a message");
        let file = |name: &str, voice| File {
            id: crate::FileId { site: SiteId(1), number: 1 },
            name: name.into(),
            kind: crate::FileType::OTHER,
            bytes: 1,
            picture: None,
            duration_ms: None,
            peaks: None,
            voice,
        };
        last.body = "".into();
        last.files = vec![file("plan.pdf", false), file("voice.webm", true)];
        let shown = news(&talk, ME, &NotifySettings::default(), NOW).expect("it is news");
        assert_eq!(shown.body.as_deref(), Some("📎 plan.pdf, 🎤"));
    }

    #[test]
    fn a_message_of_another_app_is_notified_without_its_text() {
        let mut talk = talk(ConversationOf::Direct(ann()));
        let last = talk.row.last.as_mut().expect("a message");
        (last.body, last.extension) = ("".into(), Some("<x/>".into()));
        let shown = |settings| {
            let news = news(&talk, ME, &settings, NOW).expect("it is news");
            (news.body, news.opaque)
        };
        assert_eq!(shown(NotifySettings::default()), (None, true));
        assert_eq!(shown(NotifySettings { bodies: false, ..NotifySettings::default() }), (None, false));
    }

    #[test]
    fn muted_archived_and_read_conversations_are_not_notified() {
        let check = |change: fn(&mut Talk)| {
            let mut talk = talk(ConversationOf::Direct(ann()));
            change(&mut talk);
            news(&talk, ME, &NotifySettings::default(), NOW).is_some()
        };
        assert!(check(|_| ()));
        assert!(check(|talk| talk.row.muted_until = NOW), "the end of a mute is its end");
        assert!(!check(|talk| talk.row.unread = 0));
        assert!(!check(|talk| talk.row.muted_until = Timestamp::MAX));
        assert!(!check(|talk| talk.row.archived = true));
        assert!(!check(|talk| talk.row.last = None));
        assert!(!check(|talk| talk.row.last.iter_mut().for_each(|last| last.deleted = true)));
        assert!(!check(|talk| talk.row.last.iter_mut().for_each(|last| last.from = ME)));
        assert!(!check(|talk| talk.from.iter_mut().for_each(|from| from.banned = true)));
        assert!(!check(|talk| talk.from = None));
    }

    #[test]
    fn large_rooms_notify_only_mentioned_members() {
        let settings = NotifySettings::default();
        for (members, mentions, expected) in [(20, 0, true), (21, 0, false), (10_000, 1, true)] {
            let mut talk = talk(room(members));
            talk.row.mentions = mentions;
            let shown = news(&talk, ME, &settings, NOW);
            assert_eq!(shown.is_some(), expected, "{members} members, {mentions} mentions");
            assert!(shown.is_none_or(|shown| shown.room.as_deref() == Some("Bikers")));
        }
    }

    #[test]
    fn presence_and_quiet_hours_decide_about_notices() {
        for (chosen, away) in [
            (SetPresence::Online, false),
            (SetPresence::Away, true),
            (SetPresence::Busy, false),
            (SetPresence::Invisible, false),
        ] {
            assert_eq!(is_away(chosen, true), away, "{chosen:?}");
            assert!(is_away(chosen, false), "{chosen:?}");
        }
        let always = QuietHours::new(0, 1_439, 0);
        let settings = NotifySettings { quiet: always, bodies: true };
        assert!(!may_disturb(&settings, SetPresence::Online, NOW));
        assert!(!may_disturb(&NotifySettings::default(), SetPresence::Busy, NOW));
        assert!(may_disturb(&NotifySettings::default(), SetPresence::Invisible, NOW));
    }
}
