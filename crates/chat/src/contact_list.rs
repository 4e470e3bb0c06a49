//! Lists of contacts. A login brings some hundred entries, so all texts of a list are in one allocation.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Contact, ContactNote, ContactState, Person, Presence, Side, Signal, Sub, UserId};

/// Contacts in an order: in the pages of a list by name, then sub.
#[derive(Clone, Default)]
pub struct ContactList {
    texts: String,
    entries: Vec<Entry>,
}

/// The texts of an entry are side by side: sub, name, avatar, own name, groups.
#[derive(Clone, Copy)]
struct Entry {
    begin: u32,
    presence: Option<Presence>,
    head: ContactHead,
}

/// The part of an entry that is no text, and the lengths of its texts in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactHead {
    pub id: UserId,
    pub side: Side,
    pub guest: bool,
    pub sub: u8,
    pub name: u32,
    pub avatar: Option<u32>,
    pub own_name: Option<u32>,
    pub groups: u32,
}

/// An entry of a [`ContactList`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContactCard<'a> {
    pub id: UserId,
    /// Valid for a [`Sub`]: a list takes no other.
    pub sub: &'a str,
    pub name: &'a str,
    pub avatar: Option<&'a str>,
    pub guest: bool,
    pub side: Side,
    /// The user's own name for the contact.
    pub own_name: Option<&'a str>,
    /// The user's groups with the contact, one a line.
    pub groups: &'a str,
    /// Current presence, if the receiver may see it. Lists in a store have none.
    pub presence: Option<Presence>,
}

/// Between two groups, which have no control characters.
pub const GROUP_END: &str = "\n";

impl ContactList {
    /// With room for so many entries, and bytes of all their texts.
    pub fn with_capacity(entries: usize, bytes: usize) -> ContactList {
        ContactList { texts: String::with_capacity(bytes), entries: Vec::with_capacity(entries) }
    }

    /// The list with these texts, one after the other, and these entries. None if they do not fit together, or an entry has no
    /// valid sub.
    pub fn of_parts(texts: String, heads: impl IntoIterator<Item = ContactHead>) -> Option<ContactList> {
        let heads = heads.into_iter();
        let mut entries = Vec::with_capacity(heads.size_hint().0);
        let mut begin = 0_u32;
        for head in heads {
            let entry = Entry { begin, presence: None, head };
            let mut end = begin;
            for length in head.lengths() {
                end = end.checked_add(length)?;
                texts.is_char_boundary(end as usize).then_some(())?;
            }
            let sub = &texts[begin as usize..begin as usize + usize::from(head.sub)];
            Sub::is_valid(sub).then_some(())?;
            entries.push(entry);
            begin = end;
        }
        (begin as usize == texts.len()).then_some(ContactList { texts, entries })
    }

    /// Adds an entry. False, and nothing is added, if it has no valid sub, or the texts exceed 4 GB.
    #[must_use]
    pub fn push(&mut self, card: &ContactCard<'_>) -> bool {
        let length = |text: &str| u32::try_from(text.len()).ok();
        let head = || {
            Some(ContactHead {
                id: card.id,
                side: card.side,
                guest: card.guest,
                sub: Sub::is_valid(card.sub).then_some(card.sub.len() as u8)?,
                name: length(card.name)?,
                avatar: card.avatar.map_or(Some(None), |text| length(text).map(Some))?,
                own_name: card.own_name.map_or(Some(None), |text| length(text).map(Some))?,
                groups: length(card.groups)?,
            })
        };
        let begin = u32::try_from(self.texts.len()).ok();
        let (Some(begin), Some(head)) = (begin, head()) else { return false };
        let texts = [Some(card.sub), Some(card.name), card.avatar, card.own_name, Some(card.groups)];
        texts.into_iter().flatten().for_each(|text| self.texts.push_str(text));
        self.entries.push(Entry { begin, presence: card.presence, head });
        true
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = ContactCard<'_>> {
        self.entries.iter().map(|entry| entry.card(&self.texts))
    }

    /// None: the list is shorter.
    pub fn get(&self, at: usize) -> Option<ContactCard<'_>> {
        self.entries.get(at).map(|entry| entry.card(&self.texts))
    }

    /// Each entry's user and relation, without its texts.
    pub fn sides(&self) -> impl ExactSizeIterator<Item = (UserId, Side)> + '_ {
        self.entries.iter().map(|entry| (entry.head.id, entry.head.side))
    }

    /// The texts of all entries, one after the other.
    pub fn texts(&self) -> &str {
        &self.texts
    }

    /// The entries as [`of_parts`](Self::of_parts) takes them.
    pub fn heads(&self) -> impl ExactSizeIterator<Item = &ContactHead> {
        self.entries.iter().map(|entry| &entry.head)
    }

    /// Only the entries at these places, in this order.
    #[must_use]
    pub fn arranged(&self, places: impl IntoIterator<Item = usize>) -> ContactList {
        let mut arranged = ContactList::default();
        for entry in places.into_iter().filter_map(|at| self.entries.get(at)) {
            let begin = arranged.texts.len() as u32;
            let length: u32 = entry.head.lengths().iter().sum();
            arranged.texts.push_str(&self.texts[entry.begin as usize..(entry.begin + length) as usize]);
            arranged.entries.push(Entry { begin, ..*entry });
        }
        arranged
    }

    pub(crate) fn signal(&self) -> Option<Signal> {
        self.entries.iter().find_map(|entry| Presence::signal(entry.presence))
    }

    /// The first entries, whose presence is known now.
    pub(crate) fn show(&mut self, presences: impl IntoIterator<Item = Option<Presence>>) {
        for (entry, presence) in self.entries.iter_mut().zip(presences) {
            entry.presence = presence;
        }
    }
}

impl ContactHead {
    fn lengths(&self) -> [u32; 5] {
        let ContactHead { sub, name, avatar, own_name, groups, .. } = *self;
        [sub.into(), name, avatar.unwrap_or_default(), own_name.unwrap_or_default(), groups]
    }
}

impl Entry {
    fn card<'a>(&self, texts: &'a str) -> ContactCard<'a> {
        let Entry { begin, presence, head } = self;
        let mut rest = &texts[*begin as usize..];
        let mut text = |length: u32| {
            let (text, after) = rest.split_at(length as usize);
            rest = after;
            text
        };
        ContactCard {
            id: head.id,
            sub: text(head.sub.into()),
            name: text(head.name),
            avatar: head.avatar.map(&mut text),
            guest: head.guest,
            side: head.side,
            own_name: head.own_name.map(&mut text),
            groups: text(head.groups),
            presence: *presence,
        }
    }
}

impl<'a> ContactCard<'a> {
    pub fn state(&self) -> ContactState {
        self.side.state()
    }

    pub fn groups(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.groups.split(GROUP_END).filter(|group| !group.is_empty())
    }

    pub fn sub(&self) -> Sub {
        Sub::parse(self.sub).expect("a list takes only valid ones")
    }

    /// The entry by itself, with its own copy of the texts.
    pub fn contact(&self) -> Contact {
        let person = Person {
            id: self.id,
            sub: self.sub(),
            name: self.name.into(),
            avatar: self.avatar.map(Into::into),
            guest: self.guest,
            presence: self.presence,
        };
        let groups = self.groups().map(Into::into).collect();
        let note = ContactNote { name: self.own_name.map(Into::into), groups };
        Contact::new(person, self.side, (!note.is_empty()).then(|| Box::new(note)))
    }
}

/// A contact whose texts exceed 4 GB is left out.
impl FromIterator<Contact> for ContactList {
    fn from_iter<I: IntoIterator<Item = Contact>>(contacts: I) -> ContactList {
        let mut list = ContactList::default();
        for Contact { person, side, note, .. } in contacts {
            let note = note.unwrap_or_default();
            let _ = list.push(&ContactCard {
                id: person.id,
                sub: person.sub.as_str(),
                name: &person.name,
                avatar: person.avatar.as_deref(),
                guest: person.guest,
                side,
                own_name: note.name.as_deref(),
                groups: &note.groups.join(GROUP_END),
                presence: person.presence,
            });
        }
        list
    }
}

impl PartialEq for ContactList {
    fn eq(&self, other: &ContactList) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ContactList {}

impl fmt::Debug for ContactList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for ContactList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|card| card.contact()))
    }
}

impl<'de> Deserialize<'de> for ContactList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ContactList, D::Error> {
        Ok(Vec::<Contact>::deserialize(deserializer)?.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    fn card(num: u32, sub: &str) -> ContactCard<'_> {
        ContactCard {
            id: UserId { site: SiteId(1), num },
            sub,
            name: "Änne",
            avatar: None,
            guest: false,
            side: Side::CONTACT,
            own_name: None,
            groups: "",
            presence: None,
        }
    }

    #[test]
    fn entries_are_read_as_they_were_added() {
        let (one, two) = (card(1, "a"), card(2, "bö"));
        let avatar = Some("https://example.com/a.png");
        let two = ContactCard { avatar, own_name: Some("Ü"), groups: "Friends\nWörk", guest: true, ..two };
        let mut list = ContactList::default();
        assert!(list.push(&one) && list.push(&two) && !list.push(&card(3, "")), "an empty sub");
        assert_eq!(list.iter().collect::<Vec<_>>(), [one, two]);
        assert_eq!(two.groups().collect::<Vec<_>>(), ["Friends", "Wörk"]);
        assert_eq!(list.iter().map(|card| card.contact()).collect::<ContactList>(), list);
        list.show([None, Some(Presence::Away)]);
        assert_eq!(list.get(1).and_then(|card| card.presence), Some(Presence::Away));
        let turned = list.arranged([1, 0, 7]);
        assert_eq!(turned.sides().map(|(id, _)| id.num).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(turned.get(1), Some(one));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let head = |sub, name| ContactHead {
            id: UserId { site: SiteId(1), num: 1 },
            side: Side::CONTACT,
            guest: false,
            sub,
            name,
            avatar: None,
            own_name: None,
            groups: 0,
        };
        let of_parts = |heads: &[ContactHead]| ContactList::of_parts("aÄbc".into(), heads.to_vec());
        let list = of_parts(&[head(1, 2), head(1, 1)]).expect("they fit");
        assert_eq!(
            list.iter().map(|card| (card.sub, card.name)).collect::<Vec<_>>(),
            [("a", "Ä"), ("b", "c")]
        );
        assert!(of_parts(&[head(1, 1), head(2, 1)]).is_none(), "inside a character");
        assert!(of_parts(&[head(0, 3), head(1, 1)]).is_none(), "no sub");
        assert!(of_parts(&[head(1, 2)]).is_none(), "a text of nobody");
        assert!(of_parts(&[head(1, 2), head(1, 2)]).is_none(), "too long");
        assert!(of_parts(&[head(1, u32::MAX)]).is_none(), "far too long");
    }
}
