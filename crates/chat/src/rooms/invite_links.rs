//! Invite links of rooms: everybody with the code sees the room's name and may join.
//!
//! A link ends by its time, by its number of uses, when it is revoked, and when its author loses the right to
//! invite: removed, muted, gone, banned from the site. Links that end otherwise than by time or number are
//! removed at once, so that they cannot become valid again. An ended link always gets the same refusal, and
//! does not reveal the room.

use crate::rooms::Event;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use rand::Rng;

use crate::command::AnswerTo;
use crate::rooms::{Act, Joined, Role, Room, RoomLimits, Rooms, Rules, Standing, may};
use crate::serialize::serialize_as_text;
use crate::session::{Asker, Completion};
use crate::site::settings::Invitations;
use crate::users::person;
use crate::{ConversationId, Done, Person, Refusal, Sub, Timestamp, UserId, UserRow};

/// Valid links of one room.
pub const MOST_LINKS: u32 = 50;
/// Valid links of one room by one plain member.
pub const MOST_LINKS_EACH: u32 = 10;
/// The longest validity: a year.
const MOST_HOURS: u32 = 8_760;
/// The default validity: a week.
const HOURS: u32 = 168;
const MOST_USES: u32 = 10_000;
const HOUR_MS: u64 = 3_600_000;

/// 128 random bits: everybody who knows them may join.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LinkCode([u8; 16]);

impl LinkCode {
    pub const fn of(bytes: [u8; 16]) -> LinkCode {
        LinkCode(bytes)
    }

    pub const fn bytes(self) -> [u8; 16] {
        self.0
    }

    /// None unless the text has the form that [`text`](Self::text) writes.
    pub fn parse(text: &str) -> Option<LinkCode> {
        let bytes = (text.len() == 22).then(|| URL_SAFE_NO_PAD.decode(text).ok())??;
        Some(LinkCode(bytes.try_into().ok()?))
    }

    /// 22 characters of base64url.
    pub fn text(self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }
}

serialize_as_text!(LinkCode, text, LinkCode::parse);

impl fmt::Debug for LinkCode {
    /// Stays out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkCode")
    }
}

/// An invite link, for users who may revoke it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomLink {
    pub code: LinkCode,
    pub by: Sub,
    /// Expiry: the link is refused from this moment on.
    pub until: Timestamp,
    /// None: limited only by the size of the room.
    pub uses: Option<u32>,
    pub used: u32,
}

impl RoomLink {
    /// Whether a user outside the room may join by it now.
    pub fn is_usable(&self, now: Timestamp) -> bool {
        !self.is_over(now) && self.uses.is_none_or(|most| self.used < most)
    }

    fn is_over(&self, now: Timestamp) -> bool {
        now >= self.until
    }

    /// Whether this user may open the link. Members may open a used-up link, too: a client that took the last
    /// place may repeat its request.
    pub fn admits(&self, who: Standing, room: Rules, now: Timestamp) -> Result<(), Refusal> {
        let is_in = who.role().is_some();
        if self.is_over(now) || (!is_in && !self.is_usable(now)) {
            return Err(Refusal::BadInvitation);
        }
        may(who, Act::JoinByLink, room)
    }
}

/// Checks whether this member may create an invite link. Rooms of pages have none: visitors find them by
/// their page.
pub fn may_make_link(who: Standing, room: &Room, of_site: Invitations) -> Result<(), Refusal> {
    may_invite(who, room.rules(Timestamp(0), Timestamp(0)), of_site)?;
    if room.page.is_some() { Err(Refusal::BadValue) } else { Ok(()) }
}

/// Whether a room with `of_room` valid links, `own` of them by this member, may get one more.
pub fn takes_link(who: Standing, of_room: u32, own: u32) -> Result<(), Refusal> {
    let is_full = of_room >= MOST_LINKS || (!moderates(who) && own >= MOST_LINKS_EACH);
    if is_full { Err(Refusal::TooManyInvitations) } else { Ok(()) }
}

/// Whether the links of a member stay valid after a change of the member's standing, the room's rules or the
/// site's settings.
pub fn keeps_links(who: Standing, room: Rules, of_site: Invitations) -> bool {
    may_invite(who, room, of_site).is_ok()
}

fn may_invite(who: Standing, room: Rules, of_site: Invitations) -> Result<(), Refusal> {
    may(who, Act::Invite(Standing::Out), room)?;
    if of_site.moderators_only && !moderates(who) { Err(Refusal::NotAllowed) } else { Ok(()) }
}

fn moderates(who: Standing) -> bool {
    who.role().is_some_and(Role::moderates)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewLink {
    pub code: LinkCode,
    pub until: Timestamp,
    pub uses: Option<u32>,
}

impl NewLink {
    /// Builds a link from the values of a client.
    fn new(
        code: LinkCode,
        hours: Option<u32>,
        uses: Option<u32>,
        now: Timestamp,
    ) -> Result<NewLink, Refusal> {
        let hours = hours.unwrap_or(HOURS);
        let is_sound =
            (1..=MOST_HOURS).contains(&hours) && uses.is_none_or(|uses| (1..=MOST_USES).contains(&uses));
        let until = Timestamp(now.0 + u64::from(hours) * HOUR_MS);
        if is_sound { Ok(NewLink { code, until, uses }) } else { Err(Refusal::BadValue) }
    }
}

/// A stored link, as its code opens it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invited {
    pub conversation: ConversationId,
    pub room: Arc<Room>,
    pub is_member: bool,
    pub by: UserRow,
    pub until: Timestamp,
}

/// An [`Invited`] as the user gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Invitation {
    /// None: the user is no member yet, and must not learn the id.
    pub conversation: Option<ConversationId>,
    pub room: Arc<Room>,
    pub by: Person,
    pub until: Timestamp,
}

/// The slice of the port to storage for invite links. See [`Store`](crate::Store).
///
/// Stores also remove a link when [`keeps_links`] becomes false for its author, and when its author is banned
/// or erased.
pub trait LinkStore: Send + Sync + 'static {
    /// Creates a link, if [`may_make_link`] allows it. Removes the room's invalid links, and then checks
    /// [`takes_link`].
    fn make_link(
        &self,
        room: ConversationId,
        by: UserId,
        new: NewLink,
        now: Timestamp,
        done: Done<Result<RoomLink, Refusal>>,
    );
    /// Valid links, newest first: for moderators all of the room, for others their own.
    fn links(
        &self,
        room: ConversationId,
        asker: UserId,
        now: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    );
    /// Removes a link, if [`links`](Self::links) lists it for `by`. Answers the remaining ones.
    fn take_back_link(
        &self,
        room: ConversationId,
        by: UserId,
        code: LinkCode,
        now: Timestamp,
        done: Done<Result<Vec<RoomLink>, Refusal>>,
    );
    /// The room of a link, if [`RoomLink::admits`] allows it. A code of another site is unknown.
    fn open_link(
        &self,
        code: LinkCode,
        user: UserId,
        now: Timestamp,
        done: Done<Result<Box<Invited>, Refusal>>,
    );
    /// Joins by a link, with the checks of [`open_link`](Self::open_link) and
    /// [`join_room`](crate::RoomStore::join_room). Counts a use if the user was no member before.
    fn join_link(
        &self,
        code: LinkCode,
        user: UserId,
        limits: RoomLimits,
        now: Timestamp,
        done: Done<Result<Joined, Refusal>>,
    );
}

impl Rooms {
    pub(crate) fn make_link(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
        hours: Option<u32>,
        uses: Option<u32>,
        now: Timestamp,
    ) {
        let session = asker.session;
        let code = LinkCode(self.rng.lock().random());
        let new = match NewLink::new(code, hours, uses, now) {
            Ok(new) => new,
            Err(refusal) => return self.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
        };
        let done = self.on_accepted(session.handle, AnswerTo::Request(re), move |this, link| {
            this.sessions.answer(session.handle, re, Event::Link { conversation, link: Box::new(link) });
        });
        self.store.make_link(conversation, session.user, new, now, done);
    }

    pub(crate) fn list_links(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
        now: Timestamp,
    ) {
        let done = self.on_links(asker, re, conversation);
        self.store.links(conversation, asker.session.user, now, done);
    }

    pub(crate) fn take_back_link(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
        code: LinkCode,
        now: Timestamp,
    ) {
        let done = self.on_links(asker, re, conversation);
        self.store.take_back_link(conversation, asker.session.user, code, now, done);
    }

    fn on_links(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        conversation: ConversationId,
    ) -> Done<Result<Vec<RoomLink>, Refusal>> {
        let handle = asker.session.handle;
        self.on_accepted(handle, AnswerTo::Request(re), move |this, links| {
            this.sessions.answer(handle, re, Event::Links { conversation, links });
        })
    }

    pub(crate) fn open_link(self: &Arc<Self>, asker: &Asker, re: u64, code: LinkCode, now: Timestamp) {
        let handle = asker.session.handle;
        let done = self.on_accepted(handle, AnswerTo::Request(re), move |this, invited: Box<Invited>| {
            let Invited { conversation, room, is_member, by, until } = *invited;
            let conversation = is_member.then_some(conversation);
            let invitation = Box::new(Invitation { conversation, room, by: person(&by, None), until });
            this.sessions.answer(handle, re, Event::Invitation(invitation));
        });
        self.store.open_link(code, asker.session.user, now, done);
    }

    pub(crate) fn join_link(self: &Arc<Self>, asker: &Asker, re: u64, code: LinkCode, now: Timestamp) {
        let session = asker.session;
        let done = self.on_joined(session, re);
        self.store.join_link(code, session.user, self.room_limits(asker), now, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoomKind;

    const COLUMNS: [Standing; 6] = [
        Standing::In(Role::Owner),
        Standing::In(Role::Moderator),
        Standing::In(Role::Member),
        Standing::In(Role::Muted),
        Standing::Out,
        Standing::Banned,
    ];

    fn room(kind: RoomKind, page: Option<&str>) -> Room {
        Room {
            name: "Bikers".into(),
            kind,
            topic: None,
            avatar: None,
            page: page.map(Arc::from),
            slow_ms: 0,
            frozen: false,
            members: 3,
            alias: None,
            max_members: 0,
            nicknames: 0,
        }
    }

    /// `yes`, or the word of the refusal, for each column.
    fn check(row: &str, asked: impl Fn(Standing) -> Result<(), Refusal>) {
        let words: Vec<&str> =
            COLUMNS.iter().map(|who| asked(*who).map_or_else(Refusal::word, |()| "yes")).collect();
        assert_eq!(words.join(" "), row.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    #[test]
    fn members_who_may_invite_create_links() {
        let [all, few] = [false, true].map(|moderators_only| Invitations { moderators_only });
        use RoomKind::{Announcement, Private, Public};
        let no = "not_allowed";
        for (kind, page, of_site, row) in [
            //                              owner moderator member muted out banned
            (Public, None, all, format!("yes yes yes {no} not_a_member room_banned")),
            (Public, None, few, format!("yes yes {no} {no} not_a_member room_banned")),
            (Announcement, None, all, format!("yes yes {no} {no} not_a_member room_banned")),
            (Private, None, all, format!("yes yes {no} {no} no_such_conversation room_banned")),
            (Private, None, few, format!("yes yes {no} {no} no_such_conversation room_banned")),
            (
                Public,
                Some("/thread/42"),
                all,
                format!("bad_value bad_value bad_value {no} not_a_member room_banned"),
            ),
        ] {
            check(&row, |who| may_make_link(who, &room(kind, page), of_site));
        }
    }

    #[test]
    fn links_are_bounded() {
        let too_many = "too_many_invitations";
        for (of_room, own, row) in [
            //           owner moderator member
            (49, 9, "yes yes yes".to_owned()),
            (10, 10, format!("yes yes {too_many}")),
            (49, 49, format!("yes yes {too_many}")),
            (50, 0, [too_many; 3].join(" ")),
        ] {
            let asked = |who: &Standing| takes_link(*who, of_room, own);
            let words: Vec<&str> =
                COLUMNS[..3].iter().map(|who| asked(who).map_or_else(Refusal::word, |()| "yes")).collect();
            assert_eq!(words.join(" "), row, "{own} of {of_room}");
        }
    }

    #[test]
    fn links_are_removed_when_their_author_loses_the_right() {
        use RoomKind::{Announcement, Private, Public};
        for (kind, moderators_only, lasting) in
            [(Public, false, 3), (Public, true, 2), (Private, false, 2), (Announcement, false, 2)]
        {
            let rules = room(kind, None).rules(Timestamp(0), Timestamp(0));
            let last = |who: &Standing| keeps_links(*who, rules, Invitations { moderators_only });
            let lasts: Vec<bool> = COLUMNS.iter().map(last).collect();
            assert_eq!(lasts, (0..6).map(|at| at < lasting).collect::<Vec<_>>(), "{kind:?}");
        }
    }

    #[test]
    fn valid_links_admit_everybody_except_banned_users() {
        let link = |uses, used| RoomLink {
            code: LinkCode([7; 16]),
            by: Sub::parse("ann").expect("it is one"),
            until: Timestamp(1_000),
            uses,
            used,
        };
        let bad = "bad_invitation";
        for kind in [RoomKind::Public, RoomKind::Private, RoomKind::Announcement] {
            let rules = room(kind, None).rules(Timestamp(0), Timestamp(0));
            for (link, now, row) in [
                //                                owner moderator member muted out banned
                (link(None, 70_000), 999, "yes yes yes yes yes room_banned".to_owned()),
                (link(Some(2), 1), 999, "yes yes yes yes yes room_banned".to_owned()),
                (link(Some(2), 2), 999, format!("yes yes yes yes {bad} {bad}")),
                (link(None, 0), 1_000, [bad; 6].join(" ")),
            ] {
                check(&row, |who| link.admits(who, rules, Timestamp(now)));
            }
        }
        let is_usable = |link: RoomLink, now| link.is_usable(Timestamp(now));
        assert!(is_usable(link(Some(2), 1), 999) && is_usable(link(None, u32::MAX), 999));
        assert!(!is_usable(link(Some(2), 2), 999) && !is_usable(link(Some(2), 0), 1_000));
    }

    #[test]
    fn validity_and_uses_are_bounded() {
        let new = |hours, uses| {
            let new = NewLink::new(LinkCode([7; 16]), hours, uses, Timestamp(5));
            new.map(|new| (new.until.0 - 5, new.uses))
        };
        assert_eq!(new(None, None), Ok((7 * 86_400_000, None)));
        assert_eq!(new(Some(1), Some(1)), Ok((3_600_000, Some(1))));
        assert_eq!(new(Some(8_760), Some(10_000)), Ok((365 * 86_400_000, Some(10_000))));
        for (hours, uses) in [(Some(0), None), (Some(8_761), None), (None, Some(0)), (None, Some(10_001))] {
            assert_eq!(new(hours, uses), Err(Refusal::BadValue), "{hours:?} {uses:?}");
        }
        assert_eq!(new(Some(u32::MAX), Some(u32::MAX)), Err(Refusal::BadValue));
    }

    #[test]
    fn codes_have_exactly_one_text() {
        let code = LinkCode([0xff, 0xfe, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
        let text = code.text();
        assert_eq!((text.len(), LinkCode::parse(&text)), (22, Some(code)));
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
        // The last character has four unused bits: with these set, one link would have several codes.
        for wrong in
            ["", "//4AAQIDBAUGBwgJCgsMDQ", "__4AAQIDBAUGBwgJCgsMDR", "__4AAQIDBAUGBwgJCgsMDQ==", "__4AAQID"]
        {
            assert_eq!(LinkCode::parse(wrong), None, "{wrong}");
        }
        assert_eq!(LinkCode::parse(&"é".repeat(11)), None);
        assert_eq!(format!("{code:?}"), "LinkCode");
    }
}
