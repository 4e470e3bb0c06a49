//! Message reactions (XEP-0444).

use std::borrow::Cow;

use crate::ns;
use crate::xml::{Element, Open};

/// All reactions of the sender to one message; they replace the earlier ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reactions<'a> {
    /// The sender's id of the message; in a room the id that the room gave.
    pub id: &'a str,
    /// Each emoji once.
    pub emoji: Vec<Cow<'a, str>>,
}

impl<'a> Reactions<'a> {
    pub fn of(message: Element<'a>) -> Option<Reactions<'a>> {
        let reactions = message.child("reactions", ns::REACTIONS)?;
        let mut emoji: Vec<Cow<'a, str>> = Vec::new();
        for reaction in reactions.children().filter(|child| child.is("reaction", ns::REACTIONS)) {
            let reaction = reaction.text();
            // XEP-0444 §4: the same emoji twice counts once.
            if !emoji.contains(&reaction) {
                emoji.push(reaction);
            }
        }
        Some(Reactions { id: reactions.attr("id")?, emoji })
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        Open::new(out, "reactions").attr("xmlns", ns::REACTIONS).attr("id", self.id).children(|out| {
            for emoji in &self.emoji {
                Open::new(out, "reaction").text(emoji);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn written_reactions_are_read_again() {
        for emoji in [vec![], vec!["👋".into(), "🐢".into()]] {
            let reactions = Reactions { id: "m1", emoji };
            let xml = format!("<message>{}</message>", written(|out| reactions.write(out)));
            assert_eq!(Reactions::of(read(&xml).root()), Some(reactions));
        }
    }

    #[test]
    fn the_same_reaction_twice_counts_once() {
        let tree = read(
            "<message><reactions xmlns='urn:xmpp:reactions:0' id='m1'><reaction>👋</reaction><reaction>🐢</reaction>\
             <reaction>👋</reaction></reactions></message>",
        );
        assert_eq!(Reactions::of(tree.root()).unwrap().emoji, ["👋", "🐢"]);
        assert_eq!(
            Reactions::of(read("<message><reactions xmlns='urn:xmpp:reactions:0'/></message>").root()),
            None
        );
    }
}
