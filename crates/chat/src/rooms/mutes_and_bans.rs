//! Mutes and bans in one room that expire, with a reason for the member.
//!
//! They are stored with the sanctions of the site's moderators, so that one timer ends both. A member's own row holds
//! the mute or the ban; the sanction adds the end and the reason. A mute outlasts leaving: a muted member who joins
//! again is muted.
//!
//! Only the member sees the reason, and only if they were in the room then and have not blocked its author. So a ban
//! cannot deliver a text to a user who was never in the room.

use crate::moderation;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::moderation::is_reason;
use crate::rooms::{LeftReason, MemberAction, MemberChanged, Role, Rooms};
use crate::session::{Asker, Completion};
use crate::{ConversationId, Refusal, Sanction, SanctionKind, Sub, Timestamp, To, UserId};

/// A mute or a ban of one room, by its owner or moderators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomSanction {
    pub kind: RoomSanctionKind,
    /// [`Timestamp::MAX`]: no end.
    pub until: Timestamp,
    /// Recorded, and shown to the member.
    pub reason: Box<str>,
    /// False: the reason is recorded only.
    pub shows_reason: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RoomSanctionKind {
    Mute,
    Ban,
}

impl RoomSanctionKind {
    /// The action of a sanction without end and reason.
    pub fn action(self) -> MemberAction {
        match self {
            RoomSanctionKind::Mute => MemberAction::SetRole(Role::Muted),
            RoomSanctionKind::Ban => MemberAction::Ban,
        }
    }

    pub fn kind(self) -> SanctionKind {
        match self {
            RoomSanctionKind::Mute => SanctionKind::Mute,
            RoomSanctionKind::Ban => SanctionKind::Ban,
        }
    }
}

impl RoomSanction {
    fn check(&self, now: Timestamp) -> Result<(), Refusal> {
        let has_end = self.until > now && self.until <= Timestamp::MAX;
        if has_end && is_reason(&self.reason) { Ok(()) } else { Err(Refusal::BadValue) }
    }
}

/// The change of the stored sanctions when a moderator of the room acts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptSanction {
    Put(Sanction),
    Forget(SanctionKind),
}

/// The sanction to keep after `action`; None: the action concerns no sanction. `was_in`: the user was a
/// member.
pub fn kept_sanction(
    room: ConversationId,
    user: UserId,
    action: MemberAction,
    terms: Option<&RoomSanction>,
    was_in: bool,
) -> Option<KeptSanction> {
    let put = |kind| {
        let until = terms.map_or(Timestamp::MAX, |terms| terms.until);
        let shown = terms.filter(|terms| terms.shows_reason && was_in);
        let reason = shown.map_or_else(Box::default, |terms| terms.reason.clone());
        let notified = terms.is_some() && was_in;
        KeptSanction::Put(Sanction { user, room: Some(room), kind, until, reason, notified })
    };
    match action {
        MemberAction::Invite | MemberAction::Remove => None,
        // Without an end and a reason, the member's row is enough.
        MemberAction::Ban if terms.is_none() => Some(KeptSanction::Forget(SanctionKind::Ban)),
        MemberAction::Ban => Some(put(SanctionKind::Ban)),
        MemberAction::Unban => Some(KeptSanction::Forget(SanctionKind::Ban)),
        MemberAction::SetRole(Role::Muted) => Some(put(SanctionKind::Mute)),
        MemberAction::SetRole(_) => Some(KeptSanction::Forget(SanctionKind::Mute)),
    }
}

impl Rooms {
    pub(crate) fn sanction_member(
        self: &Arc<Self>,
        asker: Asker,
        re: u64,
        conversation: ConversationId,
        user: Sub,
        wanted: RoomSanction,
        now: Timestamp,
    ) {
        if let Err(refusal) = wanted.check(now) {
            return self.sessions.refuse(asker.session.handle, AnswerTo::Request(re), refusal);
        }
        let this = self.clone();
        self.users.find_peer(asker, To::User(user), move |asker, peer| {
            let session = asker.session;
            let peer = match peer {
                Ok(peer) => peer,
                Err(refusal) => return this.sessions.refuse(session.handle, AnswerTo::Request(re), refusal),
            };
            let shows_reason = wanted.shows_reason && !peer.relation.of_b.is_blocked();
            let wanted = RoomSanction { shows_reason, ..wanted };
            let asked = wanted.clone();
            let done = this.on_accepted(session.handle, AnswerTo::Request(re), move |this, changed| {
                this.member_sanctioned(conversation, &asked, &changed);
                this.member_changed(session.handle, re, conversation, changed);
            });
            this.store.sanction_member(conversation, session.user, peer.id, wanted, now, done);
        });
    }

    fn member_sanctioned(
        self: &Arc<Self>,
        conversation: ConversationId,
        asked: &RoomSanction,
        changed: &MemberChanged,
    ) {
        let user = changed.member.user.id;
        self.moderation.ends_at(asked.until);
        let was_in = match asked.kind {
            RoomSanctionKind::Mute => true,
            RoomSanctionKind::Ban => changed.left == Some(LeftReason::Banned),
        };
        let kept = kept_sanction(conversation, user, asked.kind.action(), Some(asked), was_in);
        if let Some(KeptSanction::Put(sanction)) = kept
            && let Some(notice) = sanction.notice()
        {
            self.moderation.standing_changed(&changed.member.user);
            self.sessions.publish_transient(user, None, moderation::Event::Notice(Box::new(notice)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    const SITE: SiteId = SiteId(1);

    fn kept(action: MemberAction, terms: Option<&RoomSanction>, was_in: bool) -> Option<KeptSanction> {
        kept_sanction(ConversationId::room(SITE, 7), UserId { site: SITE, num: 2 }, action, terms, was_in)
    }

    #[test]
    fn sanctions_kept_after_each_action() {
        let terms = RoomSanction {
            kind: RoomSanctionKind::Ban,
            until: Timestamp(9),
            reason: "Spam".into(),
            shows_reason: true,
        };
        let put = |kept| match kept {
            Some(KeptSanction::Put(sanction)) => {
                (sanction.kind, sanction.until.0, sanction.reason, sanction.notified)
            }
            other => panic!("{other:?}"),
        };
        let (ban, mute) = (MemberAction::Ban, MemberAction::SetRole(Role::Muted));
        assert_eq!(put(kept(ban, Some(&terms), true)), (SanctionKind::Ban, 9, "Spam".into(), true));
        assert_eq!(put(kept(mute, Some(&terms), true)), (SanctionKind::Mute, 9, "Spam".into(), true));
        assert_eq!(
            put(kept(ban, Some(&terms), false)),
            (SanctionKind::Ban, 9, "".into(), false),
            "a user who never came is shown nothing"
        );
        let blocked = RoomSanction { shows_reason: false, ..terms };
        assert_eq!(put(kept(mute, Some(&blocked), true)), (SanctionKind::Mute, 9, "".into(), true));
        assert_eq!(put(kept(mute, None, true)), (SanctionKind::Mute, Timestamp::MAX.0, "".into(), false));
        assert_eq!(kept(ban, None, true), Some(KeptSanction::Forget(SanctionKind::Ban)));
        assert_eq!(kept(MemberAction::Unban, None, false), Some(KeptSanction::Forget(SanctionKind::Ban)));
        let member = MemberAction::SetRole(Role::Member);
        assert_eq!(kept(member, None, true), Some(KeptSanction::Forget(SanctionKind::Mute)));
        assert_eq!(kept(MemberAction::Remove, None, true), None, "a mute outlasts leaving");
    }
}
