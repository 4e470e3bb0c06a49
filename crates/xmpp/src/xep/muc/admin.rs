//! Lists and changes of members (XEP-0045 §8 and §9), as acts of the domain.

use std::borrow::Cow;

use chat::rooms::{Command, Event as RoomsEvent, Occupant};
use chat::{
    ConversationId, Delivery, Event, Member, MemberAction, MemberList, PageOf, Refusal, Role, RoomSanction,
    RoomSanctionKind, Standing, Sub, Timestamp,
};
use xmpp_proto::ns;
use xmpp_proto::payload::muc::{
    AdminItem, AdminRequest, Affiliation, Change, Role as MucRole, write_admin_items,
};
use xmpp_proto::stanza::{Condition, StanzaError};

use super::{affiliation_and_role, nicks};
use crate::address::{Target, user};
use crate::refusal::stanza_error;
use crate::session::{Asked, Iq, IqHandler, IqKind, Turn};

pub(super) const HANDLER: IqHandler = IqHandler { name: "query", ns: ns::MUC_ADMIN, handle: request };

/// Members that one request changes.
const MOST_CHANGES: usize = 20;
/// A list ends with the page that reaches this size: some 500 members.
const LIST_BYTES: usize = 48 * 1024;

/// Acts on a member.
struct MemberChange {
    who: Who,
    actions: Vec<Action>,
}

enum Who {
    User(Sub),
    /// An occupant, until the domain has named the occupants.
    Nick(Box<str>),
}

enum Action {
    Change(MemberAction),
    Sanction(RoomSanctionKind, Box<str>),
    /// Only if the act before was refused because the user is no member.
    InviteOutsider,
}

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    let Target::Room(Some(number)) = iq.target else {
        return Err(StanzaError::new(Condition::ItemNotFound));
    };
    let room = ConversationId::room(turn.session.user.site, number);
    let request = match iq.kind {
        IqKind::Get => AdminRequest::of_get(iq.payload),
        IqKind::Set => AdminRequest::of_set(iq.payload),
    };
    match request.map_err(StanzaError::new)? {
        AdminRequest::ListAffiliation(affiliation) => list(turn, iq, room, affiliation)?,
        AdminRequest::ListRole(role) => {
            let answer = match role {
                MucRole::Moderator => moderators,
                MucRole::Participant => participants,
                MucRole::Visitor => visitors,
                MucRole::None => return Err(StanzaError::new(Condition::BadRequest)),
            };
            turn.ask(iq, answer, Command::ListOccupants { conversation: room });
        }
        AdminRequest::Change(changes) => change(turn, iq, room, &changes)?,
    }
    Ok(())
}

// ---- lists ----

fn list(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    room: ConversationId,
    affiliation: Affiliation,
) -> Result<(), StanzaError> {
    if affiliation == Affiliation::None {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    list_page(turn, Asked::of(iq.element), room, affiliation, None);
    Ok(())
}

fn list_page(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    room: ConversationId,
    affiliation: Affiliation,
    after: Option<String>,
) {
    let list = match affiliation {
        Affiliation::Outcast => MemberList::Sanctioned,
        Affiliation::Owner | Affiliation::Admin | Affiliation::Member | Affiliation::None => {
            MemberList::Members
        }
    };
    let page = PageOf { after, limit: None };
    let command = Command::ListMembers { conversation: room, list, query: None, page };
    turn.continue_then(asked, command, move |turn, asked, answer| match answer {
        Ok(Delivery { event: Event::Rooms(RoomsEvent::Members { members, next }), .. }) => {
            write_page(turn, asked, room, affiliation, (members, next.as_ref()));
        }
        Ok(_) => {}
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
}

fn affiliation_of(member: &Member) -> Affiliation {
    match member.standing {
        Standing::In(role) => affiliation_and_role(role).0,
        Standing::Out => Affiliation::None,
        Standing::Banned => Affiliation::Outcast,
    }
}

/// The domain lists owners first, then moderators, then the others. So a list ends where the others begin.
fn write_page(
    turn: &mut Turn<'_, '_>,
    mut asked: Asked,
    room: ConversationId,
    wanted: Affiliation,
    (members, next): (&[Member], Option<&String>),
) {
    let domain = turn.domain().to_owned();
    for member in members.iter().filter(|member| affiliation_of(member) == wanted) {
        let jid = user(&member.person.sub, &domain);
        let reason = member.sanction.as_ref().map(|sanction| &*sanction.reason);
        let item = AdminItem {
            jid: Some(&jid),
            nick: None,
            affiliation: Some(wanted),
            role: None,
            reason: reason.filter(|reason| !reason.is_empty()),
        };
        asked.pages.extend(items(&[item]));
    }
    let is_past = members.last().is_some_and(|last| match wanted {
        Affiliation::Owner | Affiliation::Admin => affiliation_of(last) == Affiliation::Member,
        Affiliation::Member | Affiliation::Outcast | Affiliation::None => false,
    });
    if let Some(after) = next.filter(|_| !is_past && asked.pages.len() < LIST_BYTES) {
        return list_page(turn, asked, room, wanted, Some(after.clone()));
    }
    let pages = std::mem::take(&mut asked.pages);
    turn.answer(asked, |out| {
        xmpp_proto::xml::Open::new(out, "query")
            .attr("xmlns", ns::MUC_ADMIN)
            .children(|out| out.extend_from_slice(&pages));
    });
}

/// The items alone: they are collected over several pages.
fn items(items: &[AdminItem<'_>]) -> Vec<u8> {
    let mut query = Vec::new();
    write_admin_items(&mut query, items);
    let begin = query.iter().position(|byte| *byte == b'>').map_or(0, |at| at + 1);
    let end = query.len().saturating_sub(b"</query>".len()).max(begin);
    query[begin..end].to_vec()
}

fn moderators(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    write_occupants(turn, asked, delivery, MucRole::Moderator);
}

fn participants(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    write_occupants(turn, asked, delivery, MucRole::Participant);
}

fn visitors(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery) {
    write_occupants(turn, asked, delivery, MucRole::Visitor);
}

fn occupants_of(delivery: &Delivery) -> &[Occupant] {
    match &delivery.event {
        Event::Rooms(RoomsEvent::Occupants { occupants, .. }) => occupants,
        _ => &[],
    }
}

fn write_occupants(turn: &mut Turn<'_, '_>, asked: Asked, delivery: &Delivery, wanted: MucRole) {
    let domain = turn.domain().to_owned();
    let found = occupants_of(delivery).iter().filter(|one| affiliation_and_role(one.role).1 == wanted);
    let found: Vec<(String, Box<str>, Affiliation)> = found
        .map(|one| {
            (user(&one.sub, &domain), nicks::resource(&one.nick, &one.sub), affiliation_and_role(one.role).0)
        })
        .collect();
    let items: Vec<AdminItem<'_>> = found
        .iter()
        .map(|(jid, nick, affiliation)| AdminItem {
            jid: Some(jid),
            nick: Some(nick),
            affiliation: Some(*affiliation),
            role: Some(wanted),
            reason: None,
        })
        .collect();
    turn.answer(asked, |out| write_admin_items(out, &items));
}

// ---- changes ----

fn change(
    turn: &mut Turn<'_, '_>,
    iq: &Iq<'_>,
    room: ConversationId,
    changes: &[Change<'_>],
) -> Result<(), StanzaError> {
    if changes.len() > MOST_CHANGES {
        return Err(StanzaError::new(Condition::PolicyViolation));
    }
    // The last one is the next.
    let changes: Result<Vec<MemberChange>, StanzaError> =
        changes.iter().rev().map(|change| member_change(turn, change)).collect();
    let (changes, asked) = (changes?, Asked::of(iq.element));
    if !changes.iter().any(|change| matches!(change.who, Who::Nick(_))) {
        next(turn, asked, room, changes);
        return Ok(());
    }
    let command = Command::ListOccupants { conversation: room };
    turn.continue_then(asked, command, move |turn, asked, answer| match answer {
        Ok(delivery) => match with_users(changes, occupants_of(delivery)) {
            Some(changes) => next(turn, asked, room, changes),
            None => turn.answer_error(&asked, &StanzaError::new(Condition::ItemNotFound)),
        },
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

fn member_change(turn: &Turn<'_, '_>, change: &Change<'_>) -> Result<MemberChange, StanzaError> {
    Ok(match change {
        Change::Role { nick, role, reason } => {
            MemberChange { who: Who::Nick((*nick).into()), actions: of_role(*role, reason.as_ref()) }
        }
        Change::AffiliationOf { nick, affiliation, reason } => MemberChange {
            who: Who::Nick((*nick).into()),
            actions: of_affiliation(*affiliation, reason.as_ref()),
        },
        Change::Affiliation { jid, affiliation, reason } => {
            let sub = match Target::of(Some(jid), &turn.session.jid) {
                Target::User(sub) => sub,
                Target::Account => jid
                    .local()
                    .and_then(Sub::of_address_local)
                    .ok_or(StanzaError::new(Condition::ItemNotFound))?,
                // Only members of the site can be in its rooms.
                Target::Server | Target::Rooms | Target::Room(_) | Target::Elsewhere => {
                    return Err(StanzaError::new(Condition::ItemNotFound));
                }
            };
            MemberChange { who: Who::User(sub), actions: of_affiliation(*affiliation, reason.as_ref()) }
        }
    })
}

/// §8: a kick ends the membership, as in the widget.
fn of_role(role: MucRole, reason: Option<&Cow<'_, str>>) -> Vec<Action> {
    vec![match role {
        MucRole::Moderator => Action::Change(MemberAction::SetRole(Role::Moderator)),
        MucRole::Participant => Action::Change(MemberAction::SetRole(Role::Member)),
        MucRole::Visitor => sanction(RoomSanctionKind::Mute, reason),
        MucRole::None => Action::Change(MemberAction::Remove),
    }]
}

/// §9. The next action is the last one.
fn of_affiliation(affiliation: Affiliation, reason: Option<&Cow<'_, str>>) -> Vec<Action> {
    match affiliation {
        Affiliation::Owner => vec![Action::Change(MemberAction::SetRole(Role::Owner))],
        Affiliation::Admin => vec![Action::Change(MemberAction::SetRole(Role::Moderator))],
        Affiliation::Member => {
            vec![Action::InviteOutsider, Action::Change(MemberAction::SetRole(Role::Member))]
        }
        // Of the two, one has an effect: the user is a member, or banned.
        Affiliation::None => {
            vec![Action::Change(MemberAction::Remove), Action::Change(MemberAction::Unban)]
        }
        Affiliation::Outcast => vec![sanction(RoomSanctionKind::Ban, reason)],
    }
}

fn sanction(kind: RoomSanctionKind, reason: Option<&Cow<'_, str>>) -> Action {
    match reason.filter(|reason| !reason.is_empty()) {
        Some(reason) => Action::Sanction(kind, reason.as_ref().into()),
        None => Action::Change(kind.action()),
    }
}

/// Replaces nicknames by users. None: somebody is no occupant.
fn with_users(mut changes: Vec<MemberChange>, occupants: &[Occupant]) -> Option<Vec<MemberChange>> {
    for change in &mut changes {
        if let Who::Nick(nick) = &change.who {
            let found = occupants.iter().find(|one| nicks::resource(&one.nick, &one.sub) == *nick)?;
            change.who = Who::User(found.sub.clone());
        }
    }
    Some(changes)
}

/// Makes the next change. The client is answered after the last one, or by the first refusal.
fn next(turn: &mut Turn<'_, '_>, asked: Asked, room: ConversationId, mut changes: Vec<MemberChange>) {
    while let Some(change) = changes.last_mut() {
        let Who::User(sub) = &change.who else { return };
        let command = match change.actions.pop() {
            Some(Action::Change(action)) => {
                Command::ChangeMember { conversation: room, user: sub.clone(), action }
            }
            Some(Action::Sanction(kind, reason)) => Command::SanctionMember {
                conversation: room,
                user: sub.clone(),
                sanction: RoomSanction { kind, until: Timestamp::MAX, reason, shows_reason: true },
            },
            Some(Action::InviteOutsider) => continue,
            None => {
                changes.pop();
                continue;
            }
        };
        return turn.continue_then(asked, command, move |turn, asked, answer| match answer {
            Ok(_) => next(turn, asked, room, changes),
            Err(refusal) => not_made(turn, asked, room, changes, refusal),
        });
    }
    turn.answer(asked, |_| {});
}

/// §9.3: an outsider who shall be a member is invited. The domain decides whether the user is asked first.
fn not_made(
    turn: &mut Turn<'_, '_>,
    asked: Asked,
    room: ConversationId,
    mut changes: Vec<MemberChange>,
    refusal: Refusal,
) {
    if refusal == Refusal::NoSuchUser
        && let Some(change) = changes.last_mut()
        && matches!(change.actions.last(), Some(Action::InviteOutsider))
    {
        change.actions.pop();
        change.actions.push(Action::Change(MemberAction::Invite));
        return next(turn, asked, room, changes);
    }
    turn.answer_error(&asked, &stanza_error(refusal));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn actions(of: &[Action]) -> Vec<Option<MemberAction>> {
        let action = |action: &Action| match action {
            Action::Change(action) => Some(*action),
            Action::Sanction(kind, _) => Some(kind.action()),
            Action::InviteOutsider => None,
        };
        of.iter().rev().map(action).collect()
    }

    #[test]
    fn affiliations_and_roles_are_acts() {
        use MemberAction::{Ban, Remove, SetRole, Unban};
        let affiliation = |affiliation| actions(&of_affiliation(affiliation, None));
        assert_eq!(affiliation(Affiliation::Owner), [Some(SetRole(Role::Owner))]);
        assert_eq!(affiliation(Affiliation::Admin), [Some(SetRole(Role::Moderator))]);
        assert_eq!(affiliation(Affiliation::Member), [Some(SetRole(Role::Member)), None]);
        assert_eq!(affiliation(Affiliation::None), [Some(Unban), Some(Remove)]);
        assert_eq!(affiliation(Affiliation::Outcast), [Some(Ban)]);
        let role = |role| actions(&of_role(role, Some(&"Spam".into())));
        assert_eq!(role(MucRole::None), [Some(Remove)]);
        assert_eq!(role(MucRole::Visitor), [Some(SetRole(Role::Muted))]);
        assert_eq!(role(MucRole::Participant), [Some(SetRole(Role::Member))]);
    }

    #[test]
    fn items_of_pages_are_joined() {
        let item = AdminItem {
            jid: Some("a@b"),
            nick: None,
            affiliation: Some(Affiliation::Owner),
            role: None,
            reason: None,
        };
        assert_eq!(items(&[item]), b"<item affiliation='owner' jid='a@b'/>");
        assert_eq!(items(&[]), b"");
    }
}
