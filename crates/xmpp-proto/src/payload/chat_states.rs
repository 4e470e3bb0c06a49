//! Chat state notifications (XEP-0085): typing.

use crate::ns;
use crate::xml::{Element, Open};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatState {
    Active,
    Composing,
    Paused,
    Inactive,
    Gone,
}

impl ChatState {
    pub fn of(message: Element<'_>) -> Option<ChatState> {
        let state = message.children().find(|child| child.ns() == ns::CHAT_STATES)?;
        let all = [
            ChatState::Active,
            ChatState::Composing,
            ChatState::Paused,
            ChatState::Inactive,
            ChatState::Gone,
        ];
        all.into_iter().find(|one| one.name() == state.name())
    }

    fn name(self) -> &'static str {
        match self {
            ChatState::Active => "active",
            ChatState::Composing => "composing",
            ChatState::Paused => "paused",
            ChatState::Inactive => "inactive",
            ChatState::Gone => "gone",
        }
    }

    pub fn write(self, out: &mut Vec<u8>) {
        Open::new(out, self.name()).attr("xmlns", ns::CHAT_STATES).empty();
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    #[test]
    fn a_written_state_is_read_again() {
        for state in
            [ChatState::Active, ChatState::Composing, ChatState::Paused, ChatState::Inactive, ChatState::Gone]
        {
            let xml = format!("<message><body>a</body>{}</message>", written(|out| state.write(out)));
            assert_eq!(ChatState::of(read(&xml).root()), Some(state));
        }
        assert_eq!(ChatState::of(read("<message><composing xmlns='urn:x'/></message>").root()), None);
    }
}
