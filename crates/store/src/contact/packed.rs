//! The packed list of a user: a view of the rows of `contact`, in one row. A login reads it whole.
//!
//! Triggers of the schema remove it with every change of the user's rows, in the same transaction. The next read of the rows
//! has the writer make it again, see [`after`]. A value that cannot be read counts as absent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::engine::{Connection, params};
use chat::{ContactHead, ContactList, Side, StoreError, UserId};

use super::sorted;
use crate::fault::Outcome;
use crate::reader::Read;
use crate::sqlite::Shared;
use crate::user::NameCursor;
use crate::writer;

/// Longer values are not stored. A new name of a user who is on 1,000 lists removes as many values in one commit, and deletion
/// overwrites each of them.
const MOST_BYTES: usize = 16 * 1024;

/// The longest head of an entry.
const HEAD_BYTES: usize = 23;

/// Whether the list is short enough to be packed.
pub(crate) fn fits(list: &ContactList) -> bool {
    list.len() * HEAD_BYTES + list.texts().len() <= MOST_BYTES
}

/// None: there is none, or it cannot be read.
pub(crate) fn read(db: &Connection, user: UserId) -> Outcome<Option<ContactList>> {
    let sql = sql!("SELECT packed FROM contact_list WHERE site = $1 AND user = $2");
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([user.site.0, user.num])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let list = row.get_ref(0)?.as_blob().ok().and_then(|packed| unpack(user, packed));
    if list.is_none() {
        tracing::warn!(?user, "the packed contact list cannot be read; its rows are");
    }
    Ok(list)
}

/// Makes the packed list from the rows. Afterwards there is none if they do not fit.
pub(crate) fn store(db: &Connection, user: UserId) -> Outcome<()> {
    let list = sorted(db, user, &NameCursor::parse(None))?;
    if fits(&list) {
        let sql = sql!(
            "INSERT INTO contact_list (site, user, packed) VALUES ($1, $2, $3) \
             ON CONFLICT (site, user) DO UPDATE SET packed = excluded.packed"
        );
        db.prepare_cached(sql)?.execute(params![user.site.0, user.num, pack(&list)])?;
    } else {
        let sql = sql!("DELETE FROM contact_list WHERE site = $1 AND user = $2");
        db.prepare_cached(sql)?.execute(params![user.site.0, user.num])?;
    }
    Ok(())
}

// ---- when it is made ----

/// The lists that wait for the writer. More are not accepted, so the writer is never kept from messages for long; their users'
/// next logins ask again.
const MOST_WAITING: usize = 8;

/// After a failure, such as a full disk, so many requests are ignored.
const IGNORED: u32 = 1_000;

#[derive(Default)]
pub(crate) struct Packing {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: Vec<UserId>,
    ignored: u32,
}

impl Packing {
    fn begin(&self, user: UserId) -> bool {
        let State { waiting, ignored } = &mut *self.lock();
        if *ignored > 0 {
            *ignored -= 1;
            return false;
        }
        let begins = waiting.len() < MOST_WAITING && !waiting.contains(&user);
        if begins {
            waiting.push(user);
        }
        begins
    }

    fn end(&self, user: UserId, is_stored: bool) {
        let State { waiting, ignored } = &mut *self.lock();
        waiting.retain(|one| *one != user);
        if !is_stored {
            *ignored = IGNORED;
        }
    }

    /// The writer has lost its requests.
    pub(crate) fn forget(&self) {
        self.lock().waiting.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code between lock and unlock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The completion of a read. `unpacked`: the entries of a list that was read from its rows, and fits. If they are many, the writer
/// makes the packed list after all other requests, from the rows as they are then.
pub(crate) fn after<T: 'static>(
    shared: &Arc<Shared>,
    user: UserId,
    unpacked: fn(&T) -> usize,
    done: impl FnOnce(Result<T, StoreError>) + Send + 'static,
) -> impl FnOnce(Result<T, StoreError>) -> Option<Box<dyn Read>> + Send + 'static {
    let shared = Arc::clone(shared);
    move |outcome| {
        let unpacked = outcome.as_ref().map_or(0, unpacked);
        if unpacked >= shared.options.pack_from.max(1) && shared.packing.begin(user) {
            let job = writer::write(
                move |batch| store(batch.db, user),
                move |outcome, after| after.shared.packing.end(user, outcome.is_ok()),
            );
            shared.write_last(job);
        }
        done(outcome);
        None
    }
}

// ---- the value ----
//
// A version, the number of entries, their heads, and then the texts of all entries. A head is the user's number (4 bytes), the
// side, flags, the length of the sub, and further lengths: of the name, of the avatar and the own name if the flags have them, and
// of the groups. Numbers are little-endian, and lengths have seven bits in each byte, lowest first, the highest bit meaning more.

const VERSION: u8 = 1;
const GUEST: u8 = 1;
const AVATAR: u8 = 2;
const OWN_NAME: u8 = 4;

fn pack(list: &ContactList) -> Vec<u8> {
    let mut packed = Vec::with_capacity(list.len() * 10 + list.texts().len());
    packed.push(VERSION);
    put_length(&mut packed, list.len() as u32);
    for head in list.heads() {
        packed.extend(head.id.num.to_le_bytes());
        let flags =
            [(head.guest, GUEST), (head.avatar.is_some(), AVATAR), (head.own_name.is_some(), OWN_NAME)];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set).fold(0, |all, (_, flag)| all | flag);
        packed.extend([head.side.code(), flags, head.sub]);
        let lengths = [Some(head.name), head.avatar, head.own_name, Some(head.groups)];
        lengths.into_iter().flatten().for_each(|length| put_length(&mut packed, length));
    }
    packed.extend(list.texts().as_bytes());
    packed
}

/// None if it is not exactly as [`pack`] writes it.
fn unpack(of: UserId, packed: &[u8]) -> Option<ContactList> {
    let rest = &mut &*packed;
    (byte(rest)? == VERSION).then_some(())?;
    let count = length(rest)? as usize;
    // A head has at least nine bytes, so a damaged count reserves no memory.
    (count <= rest.len() / 9).then_some(())?;
    let mut heads = Vec::with_capacity(count);
    for _ in 0..count {
        let (num, after) = rest.split_first_chunk()?;
        *rest = after;
        let [code, flags, sub] = [byte(rest)?, byte(rest)?, byte(rest)?];
        let side = Side::of_code(code);
        (side.code() == code && flags <= GUEST | AVATAR | OWN_NAME).then_some(())?;
        heads.push(ContactHead {
            id: UserId { site: of.site, num: u32::from_le_bytes(*num) },
            side,
            guest: flags & GUEST != 0,
            sub,
            name: length(rest)?,
            avatar: if flags & AVATAR != 0 { Some(length(rest)?) } else { None },
            own_name: if flags & OWN_NAME != 0 { Some(length(rest)?) } else { None },
            groups: length(rest)?,
        });
    }
    ContactList::of_parts(std::str::from_utf8(rest).ok()?.to_owned(), heads)
}

fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (byte, after) = rest.split_first()?;
    *rest = after;
    Some(*byte)
}

fn put_length(into: &mut Vec<u8>, mut length: u32) {
    while length > 127 {
        into.push(length as u8 | 128);
        length >>= 7;
    }
    into.push(length as u8);
}

fn length(rest: &mut &[u8]) -> Option<u32> {
    let first = byte(rest)?;
    if first <= 127 {
        return Some(first.into());
    }
    let mut length = u32::from(first & 127);
    for shift in [7, 14, 21] {
        let next = byte(rest)?;
        length |= u32::from(next & 127) << shift;
        if next <= 127 {
            return (next > 0).then_some(length);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::{ContactCard, SiteId};

    const ANN: UserId = UserId { site: SiteId(1), num: 1 };

    fn list() -> ContactList {
        let mut list = ContactList::default();
        let avatar = "https://example.com/".to_owned() + &"ä".repeat(70);
        for num in [2, 70_000, u32::MAX] {
            let is_long = num > 2;
            assert!(list.push(&ContactCard {
                id: UserId { site: SiteId(1), num },
                sub: "u2",
                name: if is_long { "Änne" } else { "" },
                avatar: is_long.then_some(&avatar),
                guest: num == 2,
                side: if is_long { Side::CONTACT } else { Side::BLOCKED },
                own_name: (num == 70_000).then_some("Ä"),
                groups: if is_long { "Friends\nWörk" } else { "" },
                presence: None,
            }));
        }
        list
    }

    #[test]
    fn a_packed_list_is_read_back() {
        assert_eq!(unpack(ANN, &pack(&list())), Some(list()));
        assert_eq!(unpack(ANN, &pack(&ContactList::default())), Some(ContactList::default()));
    }

    #[test]
    fn a_damaged_value_is_refused_or_is_another_list() {
        let packed = pack(&list());
        (0..packed.len()).for_each(|end| assert_eq!(unpack(ANN, &packed[..end]), None, "{end}"));
        for (at, bit) in (0..packed.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = packed.clone();
            damaged[at] ^= 1 << bit;
            assert!(unpack(ANN, &damaged).is_none_or(|other| pack(&other) == damaged), "{at}");
        }
        assert_eq!(unpack(ANN, &[packed, vec![0]].concat()), None, "a byte too many");
    }

    #[test]
    fn few_lists_wait_and_a_failure_is_a_pause() {
        let packing = Packing::default();
        let user = |num| UserId { site: SiteId(1), num };
        let begun = (0..20).filter(|num| packing.begin(user(*num))).count();
        assert_eq!((begun, packing.begin(user(0))), (MOST_WAITING, false));
        packing.end(user(0), true);
        assert!(packing.begin(user(0)) && !packing.begin(user(0)), "each once");
        packing.end(user(0), false);
        assert_eq!((0..2 * IGNORED).position(|_| packing.begin(user(30))), Some(IGNORED as usize));
    }
}
