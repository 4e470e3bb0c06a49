//! Contact lists that are computed from member numbers: no list is stored, for any number of members.

use crate::token;

/// Members, numbered from 0, who are online, and offline users on their contact lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct People {
    members: u32,
    sites: u32,
    roster: u32,
    online: u32,
}

/// A user on a contact list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Contact {
    /// The member with this number.
    Online(u32),
    /// The offline user of the site with this number.
    Away(u32),
}

/// There are too few members for their contact lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("each site needs at least {least} members, so that each of them can have {online} others online")]
pub struct TooFew {
    pub least: u32,
    pub online: u32,
}

impl People {
    /// `online` of the `roster` contacts of each member are members. An odd number is rounded down, because contacts
    /// are mutual and each member has as many on both sides.
    pub fn new(members: u32, sites: u32, roster: u32, online: u32) -> Result<People, TooFew> {
        let online = online.min(roster) & !1;
        let least = online + 2;
        if members / sites.max(1) < least {
            return Err(TooFew { least, online });
        }
        Ok(People { members, sites: sites.max(1), roster, online })
    }

    pub fn members(&self) -> u32 {
        self.members
    }

    pub fn sites(&self) -> u32 {
        self.sites
    }

    pub fn roster(&self) -> u32 {
        self.roster
    }

    pub fn online(&self) -> u32 {
        self.online
    }

    /// Members of a site, in ascending order.
    pub fn of_site(&self, site: u32) -> impl Iterator<Item = u32> + use<> {
        (site..self.members).step_by(self.sites as usize)
    }

    /// The number of offline users of a site. Online users have the same share of all users as of a contact list.
    pub fn away_of_site(&self, site: u32) -> u32 {
        match (self.roster - self.online, self.online) {
            (away, 0) => away,
            (away, online) => (u64::from(self.size(site)) * u64::from(away)).div_ceil(online.into()) as u32,
        }
    }

    /// All contacts of a member, online ones first.
    pub fn contacts(&self, member: u32) -> impl Iterator<Item = Contact> + use<> {
        let people = *self;
        let online = (0..self.online).map(move |nth| Contact::Online(people.online_contact(member, nth)));
        online.chain((0..self.roster - self.online).map(move |nth| people.away_contact(member, nth)))
    }

    /// The `nth` online contact of a member. They lie in pairs around it in the ring of its site, far apart.
    pub(crate) fn online_contact(&self, member: u32, nth: u32) -> u32 {
        let (site, size) = (member % self.sites, self.size(member % self.sites));
        let pairs = self.online / 2;
        let apart = ((size - 1) / 2 - 1).checked_div(pairs.saturating_sub(1)).unwrap_or(1);
        let step = 1 + nth / 2 * apart;
        let step = if nth.is_multiple_of(2) { step } else { size - step };
        (member / self.sites + step) % size * self.sites + site
    }

    fn away_contact(&self, member: u32, nth: u32) -> Contact {
        let all = u64::from(self.away_of_site(member % self.sites));
        let away = u64::from(self.roster - self.online);
        let apart = all / away;
        // One step more if possible: otherwise some users would be on many lists and others on none.
        let apart = if apart > away { apart + 1 } else { apart };
        let first = u64::from(member / self.sites) * all / u64::from(self.size(member % self.sites));
        Contact::Away(((first + u64::from(nth) * apart) % all) as u32)
    }

    /// The number of members of a site.
    fn size(&self, site: u32) -> u32 {
        (self.members - site).div_ceil(self.sites)
    }
}

impl Contact {
    /// The id of the user.
    pub fn name(self) -> String {
        match self {
            Contact::Online(member) => token::user(member),
            Contact::Away(number) => format!("away-{:07}", number + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rosters_are_whole_mutual_and_of_one_site(
            sites in 1u32..5, more in 0u32..300, roster in 0u32..60, share in 0u32..=60,
        ) {
            let online = roster.min(share);
            let members = (online + 2) * sites + more;
            let people = People::new(members, sites, roster, online).unwrap();
            for member in 0..members {
                let mut contacts: Vec<Contact> = people.contacts(member).collect();
                prop_assert_eq!(contacts.len(), roster as usize);
                contacts.sort_unstable();
                contacts.dedup();
                prop_assert_eq!(contacts.len(), roster as usize, "nobody stands there twice");
                let mut others = 0;
                for contact in contacts {
                    match contact {
                        Contact::Online(other) => {
                            others += 1;
                            prop_assert!(other != member && other < members && other % sites == member % sites);
                            prop_assert!(people.contacts(other).any(|back| back == Contact::Online(member)));
                        }
                        Contact::Away(number) => prop_assert!(number < people.away_of_site(member % sites)),
                    }
                }
                prop_assert_eq!(others, people.online());
            }
            prop_assert_eq!((0..sites).map(|site| people.of_site(site).count()).sum::<usize>(), members as usize);
        }
    }

    #[test]
    fn a_million_of_them() {
        let people = People::new(1_000_000, 10, 150, 30).unwrap();
        assert_eq!((people.away_of_site(3), people.of_site(3).count()), (400_000, 100_000));
        let contacts: Vec<Contact> = people.contacts(999_999).collect();
        assert_eq!(contacts[0], Contact::Online(9));
        assert_eq!(contacts[149].name(), "away-0396743");
    }

    #[test]
    fn offline_users_are_on_about_as_many_lists_as_others() {
        let people = People::new(5_000, 1, 150, 30).unwrap();
        let mut lists: HashMap<Contact, u32> = HashMap::new();
        for contact in (0..5_000).flat_map(|member| people.contacts(member)) {
            *lists.entry(contact).or_default() += 1;
        }
        assert_eq!(lists.len(), 25_000);
        assert!(lists.values().all(|lists| (20..=40).contains(lists)));
    }

    #[test]
    fn too_few_are_refused() {
        let few = People::new(100, 4, 150, 30).unwrap_err();
        assert_eq!(few, TooFew { least: 32, online: 30 });
        assert!(People::new(128, 4, 150, 30).is_ok());
    }
}
