//! Slots for connections, in chunks: growth copies nothing, and the memory of an empty chunk is freed.

use std::collections::BTreeSet;

use crate::handle::{GENERATION_MASK, MAX_SLOTS};

/// Slots per chunk. A doubling vector would need three times its size for a moment.
const CHUNK: usize = 1024;

/// A table of values by slot number. The lowest chunk with room is filled first, and in it the slot that was
/// freed last, so that after a peak the upper chunks run empty.
pub struct Slab<T> {
    chunks: Vec<Chunk<T>>,
    with_room: BTreeSet<u32>,
    /// One empty chunk stays, so that a single short connection allocates nothing.
    spare: Option<u32>,
    len: usize,
    /// Of new chunks.
    first_generation: u32,
}

struct Chunk<T> {
    cells: Vec<Cell<T>>,
    free: Option<u16>,
    used: usize,
    /// First generation of new cells: never below one that was used before.
    first_generation: u32,
}

struct Cell<T> {
    generation: u32,
    next_free: Option<u16>,
    value: Option<T>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab::new()
    }
}

impl<T> Slab<T> {
    pub fn new() -> Slab<T> {
        Slab { chunks: Vec::new(), with_room: BTreeSet::new(), spare: None, len: 0, first_generation: 1 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All slots in use have smaller numbers.
    pub fn bound(&self) -> u32 {
        (self.chunks.len() * CHUNK) as u32
    }

    /// Puts the value into a free slot and returns its number and generation.
    pub fn insert(&mut self, value: T) -> (u32, u32) {
        let index = self.chunk_with_room();
        let chunk = &mut self.chunks[index as usize];
        let cell = chunk.claim(value);
        if chunk.used == CHUNK {
            self.with_room.remove(&index);
        }
        if self.spare == Some(index) {
            self.spare = None;
        }
        self.len += 1;
        (index * CHUNK as u32 + u32::from(cell), chunk.cells[cell as usize].generation)
    }

    /// Puts a value into this slot under this generation, as another slab had it. False: the slot is in use, or its number is too
    /// large. Call [`places_end`](Self::places_end) behind the last one, and insert nothing before.
    pub fn place(&mut self, slot: u32, generation: u32, value: T) -> bool {
        if slot >= MAX_SLOTS || generation > GENERATION_MASK {
            return false;
        }
        let (index, number) = (slot as usize / CHUNK, slot as usize % CHUNK);
        while self.chunks.len() <= index {
            self.chunks.push(Chunk { cells: Vec::new(), free: None, used: 0, first_generation: 1 });
        }
        let chunk = &mut self.chunks[index];
        if chunk.cells.capacity() == 0 {
            chunk.cells.reserve_exact(CHUNK);
        }
        while chunk.cells.len() <= number {
            chunk.cells.push(Cell { generation: 1, next_free: None, value: None });
        }
        let cell = &mut chunk.cells[number];
        if cell.value.is_some() {
            return false;
        }
        (cell.generation, cell.value) = (generation, Some(value));
        chunk.used += 1;
        self.len += 1;
        true
    }

    /// Unused slots begin with this generation: the [newest](Self::newest_generation) of the other slab.
    pub fn places_end(&mut self, newest: u32) {
        (self.with_room, self.spare) = (BTreeSet::new(), None);
        for (index, chunk) in self.chunks.iter_mut().enumerate() {
            (chunk.free, chunk.first_generation) = (None, newest);
            for (number, cell) in chunk.cells.iter_mut().enumerate().rev() {
                if cell.value.is_none() {
                    cell.generation = newest;
                    cell.next_free = chunk.free.replace(number as u16);
                }
            }
            if chunk.used < CHUNK {
                self.with_room.insert(index as u32);
            }
        }
        self.first_generation = newest;
    }

    /// No slot has had a later generation.
    pub fn newest_generation(&self) -> u32 {
        let of_chunk = |chunk: &Chunk<T>| {
            chunk.cells.iter().map(|cell| cell.generation).max().unwrap_or(0).max(chunk.first_generation)
        };
        self.chunks.iter().map(of_chunk).max().unwrap_or(self.first_generation).max(self.first_generation)
    }

    /// The values with their slots and generations.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32, &T)> {
        self.chunks.iter().enumerate().flat_map(|(index, chunk)| {
            chunk.cells.iter().enumerate().filter_map(move |(number, cell)| {
                Some(((index * CHUNK + number) as u32, cell.generation, cell.value.as_ref()?))
            })
        })
    }

    pub fn get_mut(&mut self, slot: u32, generation: u32) -> Option<&mut T> {
        let cell = self.cell(slot)?;
        if cell.generation == generation { cell.value.as_mut() } else { None }
    }

    /// The present value of the slot, with its generation.
    pub fn at(&mut self, slot: u32) -> Option<(u32, &mut T)> {
        let cell = self.cell(slot)?;
        let generation = cell.generation;
        cell.value.as_mut().map(|value| (generation, value))
    }

    pub fn remove(&mut self, slot: u32) -> Option<T> {
        let index = slot / CHUNK as u32;
        let number = (slot % CHUNK as u32) as u16;
        let chunk = self.chunks.get_mut(index as usize)?;
        let cell = chunk.cells.get_mut(number as usize)?;
        let value = cell.value.take()?;
        cell.generation = (cell.generation + 1) & GENERATION_MASK;
        cell.next_free = chunk.free.replace(number);
        chunk.used -= 1;
        let empty = chunk.used == 0;
        self.with_room.insert(index);
        self.len -= 1;
        if empty {
            self.emptied(index);
        }
        Some(value)
    }

    /// A part of the values of these slots, which are in use.
    pub(crate) fn shared_at<'a, R>(&'a self, slots: &[u32], part: impl Fn(&'a T) -> Option<R>) -> Vec<R> {
        let value = |slot: &u32| {
            let chunk = self.chunks.get(*slot as usize / CHUNK)?;
            chunk.cells.get(*slot as usize % CHUNK)?.value.as_ref()
        };
        slots.iter().filter_map(value).filter_map(part).collect()
    }

    /// Numbers of all used slots. A copy, because the caller may remove some.
    pub(crate) fn slots(&self) -> Vec<u32> {
        let mut slots = Vec::with_capacity(self.len);
        for (index, chunk) in self.chunks.iter().enumerate() {
            for (number, cell) in chunk.cells.iter().enumerate() {
                if cell.value.is_some() {
                    slots.push((index * CHUNK + number) as u32);
                }
            }
        }
        slots
    }

    fn cell(&mut self, slot: u32) -> Option<&mut Cell<T>> {
        self.chunks.get_mut(slot as usize / CHUNK)?.cells.get_mut(slot as usize % CHUNK)
    }

    fn chunk_with_room(&mut self) -> u32 {
        if let Some(&index) = self.with_room.first() {
            return index;
        }
        let index = self.chunks.len() as u32;
        let first_generation = self.first_generation;
        self.chunks.push(Chunk { cells: Vec::new(), free: None, used: 0, first_generation });
        self.with_room.insert(index);
        index
    }

    /// Keeps the lower of two empty chunks, releases the other.
    fn emptied(&mut self, index: u32) {
        let Some(other) = self.spare.replace(index) else { return };
        let (keep, release) = (other.min(index), other.max(index));
        self.spare = Some(keep);
        self.chunks[release as usize].release();
    }
}

impl<T> Chunk<T> {
    fn claim(&mut self, value: T) -> u16 {
        self.used += 1;
        if let Some(number) = self.free {
            let cell = &mut self.cells[number as usize];
            self.free = cell.next_free.take();
            cell.value = Some(value);
            return number;
        }
        // Reserved as a whole and touched one by one, so the kernel backs used pages only.
        if self.cells.capacity() == 0 {
            self.cells.reserve_exact(CHUNK);
        }
        self.cells.push(Cell { generation: self.first_generation, next_free: None, value: Some(value) });
        (self.cells.len() - 1) as u16
    }

    fn release(&mut self) {
        let newest = self.cells.iter().map(|cell| cell.generation).max();
        self.first_generation = newest.unwrap_or(self.first_generation);
        self.cells = Vec::new();
        self.free = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    proptest! {
        #[test]
        fn behaves_like_a_map_and_never_repeats_a_name(steps in prop::collection::vec((0u8..3, any::<u16>()), 1..400)) {
            let mut slab = Slab::new();
            let mut model: HashMap<(u32, u32), u16> = HashMap::new();
            let mut seen = HashSet::new();
            for (step, value) in steps {
                if step < 2 {
                    let name = slab.insert(value);
                    prop_assert!(seen.insert(name), "a name was handed out twice");
                    model.insert(name, value);
                } else if let Some(&name) = model.keys().min_by_key(|name| name.0 ^ u32::from(value)) {
                    prop_assert_eq!(slab.remove(name.0), model.remove(&name));
                    prop_assert!(slab.get_mut(name.0, name.1).is_none());
                }
                prop_assert_eq!(slab.len(), model.len());
                for (name, value) in &model {
                    prop_assert_eq!(slab.get_mut(name.0, name.1), Some(&mut value.clone()));
                }
            }
            let mut slots = slab.slots();
            let mut expected: Vec<u32> = model.keys().map(|name| name.0).collect();
            slots.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(slots, expected);
        }
    }

    #[test]
    fn memory_of_a_peak_goes_back_and_names_stay_fresh() {
        let mut slab = Slab::new();
        let first: Vec<_> = (0..10 * CHUNK).map(|n| slab.insert(n)).collect();
        assert_eq!(slab.chunks.iter().filter(|chunk| chunk.cells.capacity() > 0).count(), 10);
        for name in &first {
            slab.remove(name.0);
        }
        assert_eq!(slab.chunks.iter().filter(|chunk| chunk.cells.capacity() > 0).count(), 1);
        let second: HashSet<_> = (0..10 * CHUNK).map(|n| slab.insert(n)).collect();
        assert!(first.iter().all(|name| !second.contains(name)));
    }

    #[test]
    fn a_copy_in_another_process_has_the_same_names_and_gives_out_none_twice() {
        let mut old = Slab::new();
        let names: Vec<_> = (0..3 * CHUNK).map(|n| old.insert(n)).collect();
        let mut used: HashSet<_> = names.iter().copied().collect();
        for name in names.iter().filter(|name| name.0 % 3 == 0) {
            old.remove(name.0);
        }
        used.extend((0..500).map(|n| old.insert(n)));
        let mut new = Slab::new();
        for slot in old.slots() {
            let (generation, value) = old.at(slot).map(|(generation, value)| (generation, *value)).unwrap();
            assert!(new.place(slot, generation, value));
            assert!(!new.place(slot, generation, value), "it is in use");
        }
        new.places_end(old.newest_generation());
        assert_eq!((new.len(), new.slots()), (old.len(), old.slots()));
        for _ in 0..5 * CHUNK {
            assert!(used.insert(new.insert(9)), "a name was handed out twice");
        }
        assert!(!new.place(MAX_SLOTS, 1, 9));
    }

    #[test]
    fn the_slot_freed_last_is_used_first() {
        let mut slab = Slab::new();
        let names: Vec<_> = (0..3).map(|n| slab.insert(n)).collect();
        slab.remove(names[0].0);
        slab.remove(names[1].0);
        assert_eq!(slab.insert(9), (names[1].0, names[1].1 + 1));
        assert_eq!(slab.insert(9), (names[0].0, names[0].1 + 1));
    }

    #[test]
    fn removing_twice_or_beyond_the_end_does_nothing() {
        let mut slab = Slab::new();
        let (slot, _) = slab.insert(1);
        assert_eq!(slab.remove(slot), Some(1));
        assert_eq!(slab.remove(slot), None);
        assert_eq!(slab.remove(9_999_999), None);
        assert!(slab.at(slot).is_none());
    }
}
