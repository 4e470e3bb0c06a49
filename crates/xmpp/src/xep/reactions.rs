//! Message Reactions (XEP-0444), as reactions of the domain.
//!
//! A client sends all its reactions to a message, the domain adds or removes one. A site's own pictures, such as `:party:`, are
//! no emoji, so apps do not get them, and do not remove them.

use chat::messages::{Command, MessageName};
use chat::{ConversationId, Message, MessageChange, Reaction, Refusal, Seq, Sub, To};
use xmpp_proto::payload::reactions::Reactions;
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::Element;

use crate::extensions::{Extension, Spec};
use crate::session::{Asked, MessageStanza, Turn, found};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(444),
    name: "Message Reactions",
    version: "0.2.1",
    scenario: "reactions",
    server_features: &[],
    account_features: &[],
    iq: &[],
};

/// Reactions in one stanza. The domain allows a user fewer of them.
const MOST: usize = 20;

pub(crate) fn is_emoji(reaction: &Reaction) -> bool {
    !reaction.as_str().starts_with(':')
}

/// The emoji with which a user has reacted. In a direct conversation, all users of a reaction are named.
fn of_user<'a>(message: &'a Message, user: &'a Sub) -> impl Iterator<Item = &'a Reaction> {
    let by_user = message.reactions.iter().filter(move |one| one.users.contains(user));
    by_user.map(|one| &one.reaction).filter(|reaction| is_emoji(reaction))
}

/// The changes from the present reactions of a user to the wanted ones.
fn differences(present: &[&Reaction], wanted: &[Reaction]) -> Vec<MessageChange> {
    let removed = present.iter().filter(|one| !wanted.contains(one));
    let removed = removed.map(|one| MessageChange::React { reaction: (*one).clone(), on: false });
    let added = wanted.iter().filter(|one| !present.contains(one));
    removed.chain(added.map(|one| MessageChange::React { reaction: one.clone(), on: true })).collect()
}

/// None: one of them is no emoji, or they are too many.
fn wanted(reactions: &Reactions<'_>) -> Option<Vec<Reaction>> {
    let wanted = reactions.emoji.iter().map(|emoji| Reaction::parse(emoji.trim_ascii()).filter(is_emoji));
    wanted.collect::<Option<Vec<Reaction>>>().filter(|wanted| wanted.len() <= MOST)
}

/// The users of whom a message names reactions, and these.
pub(crate) fn by_user(message: &Message) -> Vec<(&Sub, Vec<&Reaction>)> {
    let mut all: Vec<(&Sub, Vec<&Reaction>)> = Vec::new();
    for one in message.reactions.iter().filter(|one| is_emoji(&one.reaction)) {
        for user in &one.users {
            match all.iter_mut().find(|(known, _)| *known == user) {
                Some((_, of_user)) => of_user.push(&one.reaction),
                None => all.push((user, vec![&one.reaction])),
            }
        }
    }
    all
}

/// The `reactions` of a user to the message with this id.
pub(crate) fn write<'a>(out: &mut Vec<u8>, id: &str, reactions: impl Iterator<Item = &'a Reaction>) {
    let emoji = reactions.filter(|one| is_emoji(one)).map(|one| one.as_str().into()).collect();
    Reactions { id, emoji }.write(out);
}

impl Turn<'_, '_> {
    /// A client reacts to a message of a room, which it names by the room's id (§3.2). The room sends the reactions back.
    pub(crate) fn react_in_room(
        &mut self,
        element: Element<'_>,
        room: ConversationId,
        reactions: &Reactions<'_>,
    ) {
        let Some(wanted) = wanted(reactions) else {
            return self.refuse(element, &StanzaError::new(Condition::NotAcceptable));
        };
        let Some(me) = self.session.jid.local().and_then(Sub::of_address_local) else { return };
        let asked = self.counted(element);
        let Ok(seq) = reactions.id.parse().map(Seq) else {
            return self.fail(&asked, Refusal::NoSuchMessage);
        };
        let names = vec![MessageName::Seq(seq)].into_iter();
        self.find_named(asked, To::Conversation(room), names, move |turn, asked, found| match found {
            Ok(Some(message)) => {
                let mine = message.reactions.iter().filter(|one| one.mine).map(|one| &one.reaction);
                let present: Vec<&Reaction> = mine.filter(|one| is_emoji(one)).collect();
                let changes = differences(&present, &wanted);
                turn.change_message_then(asked, message, changes, move |turn, asked| {
                    turn.room_reactions(room, seq, &me, &wanted, Some(&asked.id));
                });
            }
            Ok(None) => turn.fail(&asked, Refusal::NoSuchMessage),
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }

    /// A client reacts to a message of either user.
    pub(crate) fn react(&mut self, element: Element<'_>, user: Sub, reactions: &Reactions<'_>) {
        let Some(wanted) = wanted(reactions) else {
            return self.refuse(element, &StanzaError::new(Condition::NotAcceptable));
        };
        let Some(me) = self.session.jid.local().and_then(Sub::of_address_local) else { return };
        let asked = self.counted(element);
        let mut names = vec![MessageName::Theirs(reactions.id.into())];
        names.extend(self.own_names(reactions.id));
        self.find_named(asked, To::User(user), names.into_iter(), move |turn, asked, found| match found {
            Ok(Some(message)) => {
                let present: Vec<&Reaction> = of_user(message, &me).collect();
                turn.change_message(asked, message, differences(&present, &wanted));
            }
            Ok(None) => turn.fail(&asked, Refusal::NoSuchMessage),
            Err(refusal) => turn.fail(&asked, refusal),
        });
    }

    /// A user has changed a reaction to a message of a direct conversation.
    pub(crate) fn reacted(&mut self, conversation: ConversationId, seq: Seq, by: Sub) {
        let find = Command::Find { to: To::Conversation(conversation), name: MessageName::Seq(seq) };
        self.continue_then(Asked::internal(), find, move |turn, _, answer| {
            if let Some(message) = answer.ok().and_then(found).cloned() {
                turn.send_reactions(&message, &by);
            }
        });
    }

    /// After a pause: all reactions of the other user to a message, if there are any.
    pub(crate) fn reactions_of_other(&mut self, message: &Message) {
        let Some(other) = self.session.other_user(message).filter(|_| !message.conversation.is_room()) else {
            return;
        };
        if of_user(message, &other).next().is_some() {
            self.send_reactions(message, &other);
        }
    }

    /// All reactions of a user to a message.
    fn send_reactions(&mut self, message: &Message, by: &Sub) {
        let jid = self.session.jid.clone();
        let links = self.links();
        let Some(stanza) = MessageStanza::of(message, &jid, &links) else { return };
        let Some(other) = self.session.other_user(message) else { return };
        let id = self.push_id();
        self.send_from(by, &other, Some(&id), |out| write(out, stanza.id(), of_user(message, by)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reaction(text: &str) -> Reaction {
        Reaction::parse(text).expect("a reaction")
    }

    #[test]
    fn pictures_of_the_site_are_no_emoji() {
        assert!(is_emoji(&reaction("👍")) && !is_emoji(&reaction(":party:")));
    }

    #[test]
    fn a_client_changes_what_differs() {
        let (thumb, cake, party) = (reaction("👍"), reaction("🎂"), reaction("🎉"));
        let present = [&thumb, &cake];
        let react = |reaction: &Reaction, on| MessageChange::React { reaction: reaction.clone(), on };
        assert_eq!(differences(&present, &[thumb.clone(), cake.clone()]), []);
        assert_eq!(
            differences(&present, &[cake.clone(), party.clone()]),
            [react(&thumb, false), react(&party, true)]
        );
        assert_eq!(differences(&present, &[]), [react(&thumb, false), react(&cake, false)]);
        assert_eq!(differences(&[], std::slice::from_ref(&thumb)), [react(&thumb, true)]);
    }
}
