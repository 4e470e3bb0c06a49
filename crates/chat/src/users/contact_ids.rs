//! The contacts of a user by direction, for presence.

use std::sync::Arc;

use crate::{Side, UserId};

/// The contacts whom a user sees, and those who see the user, unordered. Most are both, so they share one list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContactIds {
    ids: Arc<[UserId]>,
    /// The user sees the ones before this index.
    seen_until: u32,
    /// The ones from this index on see the user.
    seeing_from: u32,
}

impl ContactIds {
    pub fn empty() -> ContactIds {
        ContactIds { ids: Arc::default(), seen_until: 0, seeing_from: 0 }
    }

    /// The contacts whom the user sees.
    pub fn seen(&self) -> &[UserId] {
        &self.ids[..self.seen_until as usize]
    }

    /// The contacts who see the user.
    pub fn seeing(&self) -> &[UserId] {
        &self.ids[self.seeing_from as usize..]
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Leaves out users who are no contacts.
impl FromIterator<(UserId, Side)> for ContactIds {
    fn from_iter<I: IntoIterator<Item = (UserId, Side)>>(contacts: I) -> ContactIds {
        let (mut both, mut only_seen, mut only_seeing) = (Vec::new(), Vec::new(), Vec::new());
        for (id, side) in contacts {
            match (side.sees(), side.is_seen()) {
                (true, true) => both.push(id),
                (true, false) => only_seen.push(id),
                (false, true) => only_seeing.push(id),
                (false, false) => {}
            }
        }
        let seeing_from = only_seen.len() as u32;
        let seen_until = seeing_from + both.len() as u32;
        let ids = match only_seen.is_empty() {
            true => {
                both.append(&mut only_seeing);
                both
            }
            false => [only_seen, both, only_seeing].concat(),
        };
        ContactIds { ids: ids.into(), seen_until, seeing_from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SiteId;

    #[test]
    fn directions_are_kept_apart() {
        let id = |num| UserId { site: SiteId(1), num };
        let sides = [Side::CONTACT, Side::SEES, Side::SEEN, Side::ASKS, Side::CONTACT, Side::BLOCKED];
        let ids: ContactIds = (1..).map(id).zip(sides).collect();
        let sorted = |ids: &[UserId]| {
            let mut nums: Vec<u32> = ids.iter().map(|id| id.num).collect();
            nums.sort_unstable();
            nums
        };
        assert_eq!((sorted(ids.seen()), sorted(ids.seeing())), (vec![1, 2, 5], vec![1, 3, 5]));
        let mutual: ContactIds = [(id(7), Side::CONTACT), (id(8), Side::SEEN)].into_iter().collect();
        assert_eq!((mutual.seen(), mutual.seeing()), (&[id(7)][..], &[id(7), id(8)][..]));
        assert_eq!([].into_iter().collect::<ContactIds>(), ContactIds::empty());
    }
}
