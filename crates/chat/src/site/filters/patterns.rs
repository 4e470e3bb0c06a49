//! Compiles a site's regular expressions into tables of states, so that no pattern can make a search slow.
//!
//! A search reads one table entry per character and pattern. A pattern is refused when it is set, if its
//! table or the compilation exceeds the bounds below. The alphabet of the tables is classes of characters
//! that the site's patterns do not distinguish, instead of bytes. So `\w` is one entry instead of several
//! hundred states of UTF-8, and `\b` can follow Unicode's words.

use std::collections::HashMap;

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::translate::Translator;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use crate::site::filters::any_case::any_case;

/// Bytes of one pattern's table.
pub(super) const TABLE_BYTES: usize = 32 * 1024;
/// Bytes of all tables of a site.
pub(super) const SITE_BYTES: usize = 512 * 1024;
/// States of one pattern before its table is built; also bounds unfolded repetitions.
const MOST_STATES: usize = 4_000;
/// Ranges of characters that the patterns of a site distinguish.
const MOST_RANGES: usize = 16_384;
/// Classes of characters in one site, and in one pattern: an entry of `PatternTable::class` is one byte.
const MOST_CLASSES: usize = 2_048;
const MOST_LOCAL_CLASSES: usize = 255;
/// Steps for the compilation of all patterns of a site: some 20 ms.
const MOST_WORK: usize = 10_000_000;
const NESTING: u32 = 20;

/// The entry that ends a search with a match.
const FITS: u16 = u16::MAX;

/// The patterns of a site, compiled.
#[derive(Debug, Clone, Default)]
pub(super) struct PatternTables {
    alphabet: Alphabet,
    tables: Vec<PatternTable>,
}

/// The reason why patterns are refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// None: all patterns together.
    pub(super) pattern: Option<usize>,
    pub(super) why: String,
}

#[derive(Debug, Clone)]
struct PatternTable {
    /// The pattern's class for each class of the site.
    class: Box<[u8]>,
    /// Rows of one entry per class and one for the end of the text. An entry is the start of the next state's
    /// row, or `FITS`.
    rows: Box<[u16]>,
    /// The entry for the end of the text in each row.
    end: u16,
}

impl PatternTables {
    pub(super) fn compile<'a>(patterns: impl Iterator<Item = &'a str>) -> Result<PatternTables, Refused> {
        let mut work = Work(MOST_WORK);
        let mut sets = SetTable::default();
        let mut programs = Vec::new();
        for (at, pattern) in patterns.enumerate() {
            let refused = |why| Refused { pattern: Some(at), why };
            let mut ast = ParserBuilder::new()
                .nest_limit(NESTING)
                .build()
                .parse(pattern)
                .map_err(|error| refused(error_line(&error.to_string())))?;
            any_case(&mut ast, pattern, &mut work).map_err(refused)?;
            let hir = Translator::new()
                .translate(pattern, &ast)
                .map_err(|error| refused(error_line(&error.to_string())))?;
            programs.push(Program::of(&hir, &mut sets, &mut work).map_err(refused)?);
        }
        let together = |why| Refused { pattern: None, why };
        let (alphabet, members) = sets.partition(&mut work).map_err(together)?;
        let mut bytes = 0;
        let mut tables = Vec::with_capacity(programs.len());
        for (at, program) in programs.iter().enumerate() {
            let table = program
                .table(&members, alphabet.classes, &mut work)
                .map_err(|why| Refused { pattern: Some(at), why })?;
            bytes += table.class.len() + table.rows.len() * 2;
            if bytes > SITE_BYTES {
                return Err(together(format!("they take more than {} KiB", SITE_BYTES / 1024)));
            }
            tables.push(table);
        }
        Ok(PatternTables { alphabet, tables })
    }

    /// The patterns that match somewhere in the text, in order.
    pub(super) fn matches(&self, text: &str) -> impl Iterator<Item = usize> {
        // Classifies each character once for all patterns.
        let classes: Vec<u16> = if self.tables.is_empty() {
            Vec::new()
        } else {
            text.chars().map(|c| self.alphabet.class(c)).collect()
        };
        let fits = move |table: &PatternTable| table.fits(&classes);
        self.tables.iter().enumerate().filter(move |(_, table)| fits(table)).map(|(at, _)| at)
    }
}

impl PatternTable {
    fn fits(&self, classes: &[u16]) -> bool {
        let mut row = 0;
        for class in classes {
            row = self.rows[usize::from(row) + usize::from(self.class[usize::from(*class)])];
            if row == FITS {
                return true;
            }
        }
        self.rows[usize::from(row + self.end)] == FITS
    }
}

/// The parser prints a marker under the pattern; the last line describes the error.
pub(super) fn error_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or_default();
    line.trim_start_matches("error: ").to_owned()
}

/// The remaining budget of compilation.
pub(super) struct Work(usize);

impl Work {
    pub(super) fn spend(&mut self, steps: usize) -> Result<(), String> {
        self.0 = self.0.checked_sub(steps).ok_or("it is too complex: use fewer or shorter patterns")?;
        Ok(())
    }
}

/// The class of each character.
#[derive(Debug, Clone)]
struct Alphabet {
    ascii: [u16; 128],
    /// The start of each range, ascending, and its class.
    ranges: Vec<(u32, u16)>,
    classes: usize,
}

impl Default for Alphabet {
    fn default() -> Alphabet {
        Alphabet { ascii: [0; 128], ranges: vec![(0, 0)], classes: 1 }
    }
}

impl Alphabet {
    fn class(&self, c: char) -> u16 {
        match self.ascii.get(c as usize) {
            Some(class) => *class,
            None => self.ranges[self.ranges.partition_point(|(start, _)| *start <= c as u32) - 1].1,
        }
    }
}

/// A set of characters: ascending ranges, both ends included.
type CharSet = Box<[(u32, u32)]>;

/// All sets of characters in the patterns of a site, without duplicates.
#[derive(Default)]
struct SetTable {
    sets: Vec<CharSet>,
    ids: HashMap<CharSet, usize>,
}

impl SetTable {
    fn id(&mut self, set: CharSet) -> usize {
        *self.ids.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        })
    }

    /// Divides all characters into classes, so that each set contains a class completely or not at all.
    /// Answers the classes of each set.
    fn partition(&self, work: &mut Work) -> Result<(Alphabet, Vec<Vec<bool>>), String> {
        let mut ranges: Vec<(u32, u16)> = vec![(0, 0)];
        let mut classes = 1;
        for set in &self.sets {
            work.spend(ranges.len() + set.len())?;
            let mut divided = Vec::with_capacity(ranges.len() + 2 * set.len());
            // The class before the split, and the new class of its characters that are in the set.
            let mut inside: HashMap<u16, u16> = HashMap::new();
            let mut rest = set.iter().copied().peekable();
            for (at, &(start, class)) in ranges.iter().enumerate() {
                let end = ranges.get(at + 1).map_or(0x11_0000, |next| next.0);
                let mut begin = start;
                while begin < end {
                    while rest.next_if(|(_, last)| *last < begin).is_some() {}
                    let (is_in, until) = match rest.peek() {
                        Some((first, last)) if *first <= begin => (true, end.min(last + 1)),
                        Some((first, _)) => (false, end.min(*first)),
                        None => (false, end),
                    };
                    let class = match is_in {
                        false => class,
                        true => *inside.entry(class).or_insert_with(|| {
                            classes += 1;
                            classes as u16 - 1
                        }),
                    };
                    match divided.last() {
                        Some((_, before)) if *before == class => {}
                        _ => divided.push((begin, class)),
                    }
                    begin = until;
                }
            }
            // A class that lies completely in the set leaves its old number unused; without renumbering the
            // numbers would grow.
            (ranges, classes) = renumbered(divided);
            if ranges.len() > MOST_RANGES || classes > MOST_CLASSES {
                return Err("they tell too many kinds of characters apart".into());
            }
        }
        let mut alphabet = Alphabet { ascii: [0; 128], ranges, classes };
        alphabet.ascii = std::array::from_fn(|at| {
            alphabet.ranges[alphabet.ranges.partition_point(|(start, _)| *start as usize <= at) - 1].1
        });
        let mut members = Vec::with_capacity(self.sets.len());
        for set in &self.sets {
            work.spend(classes + alphabet.ranges.len())?;
            let mut has = vec![false; classes];
            let mut rest = set.iter().copied().peekable();
            for &(start, class) in &alphabet.ranges {
                while rest.next_if(|(_, last)| *last < start).is_some() {}
                if rest.peek().is_some_and(|(first, _)| *first <= start) {
                    has[usize::from(class)] = true;
                }
            }
            members.push(has);
        }
        Ok((alphabet, members))
    }
}

fn renumbered(mut ranges: Vec<(u32, u16)>) -> (Vec<(u32, u16)>, usize) {
    let mut numbers: HashMap<u16, u16> = HashMap::new();
    for (_, class) in &mut ranges {
        let next = numbers.len() as u16;
        *class = *numbers.entry(*class).or_insert(next);
    }
    (ranges, numbers.len())
}

/// The characters around a place in the text, as far as assertions need them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
struct Beside(u8);

impl Beside {
    const EDGE: u8 = 1;
    const LF: u8 = 2;
    const CR: u8 = 4;
    const WORD: u8 = 8;
    const ASCII_WORD: u8 = 16;

    fn has(self, any: u8) -> bool {
        self.0 & any != 0
    }

    fn set(flag: u8) -> CharSet {
        let class = match flag {
            Beside::LF => return Box::new([(0x0a, 0x0a)]),
            Beside::CR => return Box::new([(0x0d, 0x0d)]),
            Beside::WORD => r"\w",
            _ => "[0-9A-Z_a-z]",
        };
        let hir = regex_syntax::parse(class).expect("these are classes");
        let HirKind::Class(class) = hir.kind() else { unreachable!("these are classes") };
        char_set(class)
    }
}

fn holds(look: Look, before: Beside, after: Beside) -> bool {
    let word = |beside: Beside| beside.has(Beside::WORD);
    let ascii = |beside: Beside| beside.has(Beside::ASCII_WORD);
    match look {
        Look::Start => before.has(Beside::EDGE),
        Look::End => after.has(Beside::EDGE),
        Look::StartLF => before.has(Beside::EDGE | Beside::LF),
        Look::EndLF => after.has(Beside::EDGE | Beside::LF),
        Look::StartCRLF => {
            before.has(Beside::EDGE | Beside::LF) || before.has(Beside::CR) && !after.has(Beside::LF)
        }
        Look::EndCRLF => {
            after.has(Beside::EDGE | Beside::CR) || after.has(Beside::LF) && !before.has(Beside::CR)
        }
        Look::WordAscii => ascii(before) != ascii(after),
        Look::WordAsciiNegate => ascii(before) == ascii(after),
        Look::WordUnicode => word(before) != word(after),
        Look::WordUnicodeNegate => word(before) == word(after),
        Look::WordStartAscii => !ascii(before) && ascii(after),
        Look::WordEndAscii => ascii(before) && !ascii(after),
        Look::WordStartUnicode => !word(before) && word(after),
        Look::WordEndUnicode => word(before) && !word(after),
        Look::WordStartHalfAscii => !ascii(before),
        Look::WordEndHalfAscii => !ascii(after),
        Look::WordStartHalfUnicode => !word(before),
        Look::WordEndHalfUnicode => !word(after),
    }
}

/// One pattern as a nondeterministic automaton (R. Thompson, "Regular expression search algorithm", 1968):
/// its states, each with its successors.
struct Program {
    states: Vec<State>,
    start: usize,
    /// The pattern's sets of characters, as numbers in the site's table.
    sets: Vec<usize>,
    /// Each assertion about a neighbouring character, with the set that decides it.
    asked: Vec<(u8, usize)>,
}

enum State {
    /// One character of the set with this place in `Program::sets`.
    Char {
        set: usize,
        next: usize,
        chain: Option<Chain>,
    },
    Look(Look, usize),
    /// Two alternatives.
    Fork(usize, usize),
    Fail,
    Fits,
}

/// The position in `x{0,n}`. An earlier position can match everything that a later one can, so the later one
/// is dropped.
#[derive(Clone, Copy)]
struct Chain {
    of: usize,
    place: usize,
}

impl Program {
    fn of(hir: &Hir, table: &mut SetTable, work: &mut Work) -> Result<Program, String> {
        let mut program =
            Program { states: vec![State::Fits], start: 0, sets: Vec::new(), asked: Vec::new() };
        program.start = program.add(hir, 0, table, work)?;
        Ok(program)
    }

    fn push(&mut self, state: State, work: &mut Work) -> Result<usize, String> {
        work.spend(1)?;
        if self.states.len() >= MOST_STATES {
            return Err(format!("it unfolds to more than {MOST_STATES} states"));
        }
        self.states.push(state);
        Ok(self.states.len() - 1)
    }

    fn set(&mut self, set: CharSet, table: &mut SetTable) -> usize {
        let id = table.id(set);
        self.sets.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.sets.push(id);
            self.sets.len() - 1
        })
    }

    /// Adds the states of `hir` before `next`; answers the first one.
    fn add(
        &mut self,
        hir: &Hir,
        next: usize,
        table: &mut SetTable,
        work: &mut Work,
    ) -> Result<usize, String> {
        work.spend(1)?;
        match hir.kind() {
            HirKind::Empty => Ok(next),
            HirKind::Capture(capture) => self.add(&capture.sub, next, table, work),
            HirKind::Literal(literal) => {
                let text =
                    std::str::from_utf8(&literal.0).map_err(|_| "it is of bytes, not of characters")?;
                text.chars().rev().try_fold(next, |next, c| {
                    let set = self.set(Box::new([(c as u32, c as u32)]), table);
                    self.push(State::Char { set, next, chain: None }, work)
                })
            }
            HirKind::Class(class) => {
                let set = char_set(class);
                work.spend(set.len())?;
                if set.is_empty() {
                    return self.push(State::Fail, work);
                }
                let set = self.set(set, table);
                self.push(State::Char { set, next, chain: None }, work)
            }
            HirKind::Look(look) => {
                self.ask(*look, table);
                self.push(State::Look(*look, next), work)
            }
            HirKind::Concat(parts) => {
                parts.iter().rev().try_fold(next, |next, part| self.add(part, next, table, work))
            }
            HirKind::Alternation(parts) => {
                let mut parts = parts.iter().rev();
                let Some(last) = parts.next() else { return self.push(State::Fail, work) };
                let last = self.add(last, next, table, work)?;
                parts.try_fold(last, |other, part| {
                    let one = self.add(part, next, table, work)?;
                    self.push(State::Fork(one, other), work)
                })
            }
            HirKind::Repetition(repetition) => {
                let (sub, min) = (&repetition.sub, repetition.min);
                let mut begin = match repetition.max {
                    None => {
                        // The fork is added before its body, which leads back to it.
                        let fork = self.push(State::Fork(next, next), work)?;
                        let again = self.add(sub, fork, table, work)?;
                        self.states[fork] = State::Fork(again, next);
                        fork
                    }
                    Some(max) => {
                        let of = self.states.len();
                        (min..max).rev().try_fold(next, |rest, place| {
                            let one = self.add(sub, rest, table, work)?;
                            // Only if `x` is one character: a longer one can be at several positions at once.
                            match &mut self.states[one] {
                                State::Char { next, chain, .. } if *next == rest => {
                                    *chain = Some(Chain { of, place: (place - min) as usize });
                                }
                                _ => {}
                            }
                            self.push(State::Fork(one, next), work)
                        })?
                    }
                };
                for _ in 0..min {
                    begin = self.add(sub, begin, table, work)?;
                }
                Ok(begin)
            }
        }
    }

    fn ask(&mut self, look: Look, table: &mut SetTable) {
        let asked: &[u8] = match look {
            Look::Start | Look::End => &[],
            Look::StartLF | Look::EndLF => &[Beside::LF],
            Look::StartCRLF | Look::EndCRLF => &[Beside::LF, Beside::CR],
            Look::WordAscii
            | Look::WordAsciiNegate
            | Look::WordStartAscii
            | Look::WordEndAscii
            | Look::WordStartHalfAscii
            | Look::WordEndHalfAscii => &[Beside::ASCII_WORD],
            Look::WordUnicode
            | Look::WordUnicodeNegate
            | Look::WordStartUnicode
            | Look::WordEndUnicode
            | Look::WordStartHalfUnicode
            | Look::WordEndHalfUnicode => &[Beside::WORD],
        };
        for flag in asked {
            if self.asked.iter().all(|(known, _)| known != flag) {
                let set = self.set(Beside::set(*flag), table);
                self.asked.push((*flag, set));
            }
        }
    }

    /// Builds the table of all reachable states. `members`: for each set of the site, the classes that it
    /// contains.
    fn table(&self, members: &[Vec<bool>], classes: usize, work: &mut Work) -> Result<PatternTable, String> {
        // Classes of the site that this pattern does not distinguish become one.
        work.spend(classes * (self.sets.len() + 1))?;
        let mut local: HashMap<Vec<bool>, u8> = HashMap::new();
        let mut class_of = Vec::with_capacity(classes);
        let signature_of =
            |class: usize| -> Vec<bool> { self.sets.iter().map(|set| members[*set][class]).collect() };
        for signature in (0..classes).map(signature_of) {
            let next = local.len();
            if next >= MOST_LOCAL_CLASSES && !local.contains_key(&signature) {
                return Err("it tells too many kinds of characters apart".into());
            }
            class_of.push(*local.entry(signature).or_insert(next as u8));
        }
        let mut signatures = vec![Vec::new(); local.len()];
        local.into_iter().for_each(|(signature, class)| signatures[usize::from(class)] = signature);
        let beside: Vec<Beside> = signatures.iter().map(|signature| self.beside(signature)).collect();
        let mut kinds = beside.clone();
        kinds.sort_unstable();
        kinds.dedup();

        let stride = signatures.len() + 1;
        let too_large =
            || format!("its table is larger than {} KiB: use fewer repetitions", TABLE_BYTES / 1024);
        let mut known: HashMap<(Vec<u16>, Beside), u16> = HashMap::new();
        let first = (Vec::new(), Beside(Beside::EDGE));
        known.insert(first.clone(), 0);
        let mut queue = std::collections::VecDeque::from([first]);
        let mut rows: Vec<u16> = Vec::new();
        let mut closure = Closure::new(self.states.len());
        while let Some((states, before)) = queue.pop_front() {
            let row = rows.len();
            if (row + stride) * 2 > TABLE_BYTES {
                return Err(too_large());
            }
            rows.resize(row + stride, 0);
            for kind in &kinds {
                closure.fill(self, &states, before, *kind, work)?;
                for (class, signature) in
                    signatures.iter().enumerate().filter(|(class, _)| beside[*class] == *kind)
                {
                    if closure.fits {
                        rows[row + class] = FITS;
                        continue;
                    }
                    work.spend(closure.chars.len() + 1)?;
                    let mut next: Vec<u16> = Vec::new();
                    for at in &closure.chars {
                        if let State::Char { set, next: to, .. } = self.states[usize::from(*at)]
                            && signature[set]
                        {
                            next.push(to as u16);
                        }
                    }
                    next.sort_unstable();
                    next.dedup();
                    let to = (next, *kind);
                    let new = known.len() * stride;
                    rows[row + class] = match known.get(&to) {
                        Some(at) => *at,
                        None if new * 2 >= TABLE_BYTES => return Err(too_large()),
                        None => {
                            known.insert(to.clone(), new as u16);
                            queue.push_back(to);
                            new as u16
                        }
                    };
                }
            }
            closure.fill(self, &states, before, Beside(Beside::EDGE), work)?;
            rows[row + stride - 1] = if closure.fits { FITS } else { 0 };
        }
        Ok(PatternTable { class: class_of.into(), rows: rows.into(), end: (stride - 1) as u16 })
    }

    fn beside(&self, signature: &[bool]) -> Beside {
        let flags = self.asked.iter().filter(|(_, set)| signature[*set]).map(|(flag, _)| flag);
        Beside(flags.fold(0, |all, flag| all | flag))
    }
}

/// The states that are reachable from some states and the pattern's start without reading a character.
struct Closure {
    seen: Vec<u32>,
    round: u32,
    stack: Vec<usize>,
    /// The states that read a character next.
    chars: Vec<u16>,
    fits: bool,
}

impl Closure {
    fn new(states: usize) -> Closure {
        Closure { seen: vec![0; states], round: 0, stack: Vec::new(), chars: Vec::new(), fits: false }
    }

    fn fill(
        &mut self,
        program: &Program,
        from: &[u16],
        before: Beside,
        after: Beside,
        work: &mut Work,
    ) -> Result<(), String> {
        self.round += 1;
        self.fits = false;
        self.chars.clear();
        self.stack.clear();
        self.stack.push(program.start);
        self.stack.extend(from.iter().map(|at| usize::from(*at)));
        let mut nearest: HashMap<usize, usize> = HashMap::new();
        let mut steps = self.stack.len();
        while let Some(at) = self.stack.pop() {
            if std::mem::replace(&mut self.seen[at], self.round) == self.round {
                continue;
            }
            steps += 1;
            match &program.states[at] {
                State::Char { chain, .. } => {
                    if let Some(Chain { of, place }) = chain {
                        let least = nearest.entry(*of).or_insert(*place);
                        *least = (*place).min(*least);
                    }
                    self.chars.push(at as u16);
                }
                State::Look(look, next) if holds(*look, before, after) => self.stack.push(*next),
                State::Look(..) | State::Fail => {}
                State::Fork(one, other) => self.stack.extend([*one, *other]),
                State::Fits => self.fits = true,
            }
        }
        self.chars.retain(|at| match program.states[usize::from(*at)] {
            State::Char { chain: Some(Chain { of, place }), .. } => nearest.get(&of) == Some(&place),
            _ => true,
        });
        work.spend(steps)
    }
}

fn char_set(class: &Class) -> CharSet {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)).collect()
        }
        // In UTF-8 mode these are ASCII.
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::RegexSetBuilder;

    use super::*;

    fn compile(patterns: &[&str]) -> Result<PatternTables, Refused> {
        PatternTables::compile(patterns.iter().copied())
    }

    /// The matches of another regex engine, as the reference.
    fn judge(patterns: &[&str], text: &str) -> Vec<usize> {
        let mut set = RegexSetBuilder::new(patterns);
        // It writes repetitions out: some patterns that we take need more than its default of 10 MB.
        let set = set.case_insensitive(true).size_limit(1 << 30).build().expect("we took it");
        set.matches(text).iter().collect()
    }

    #[test]
    fn nested_repetitions_agree_with_another_engine() {
        let pattern = r"\w{0,3}{0,3}{0,6}{0,4}-";
        let tables = compile(&[pattern]).expect("it is small for us");
        for text in ["", "a-", "-", "a"] {
            assert_eq!(tables.matches(text).collect::<Vec<_>>(), judge(&[pattern], text), "{text:?}");
        }
    }

    static ALL: std::sync::LazyLock<(PatternTables, regex::RegexSet)> = std::sync::LazyLock::new(|| {
        let judge = RegexSetBuilder::new(PATTERNS).case_insensitive(true).build().expect("they are patterns");
        (compile(&PATTERNS).expect("they fit"), judge)
    });

    const PATTERNS: [&str; 37] = [
        "viagra",
        "vi[a4]gra",
        r"\b\d{16}\b",
        r"\d{13,19}",
        "^a",
        "a$",
        "(?m)^a$",
        r"\Aa\z",
        "",
        "a*",
        "a+b?c",
        "a|bc|",
        r"\w+@\w+\.\w{2,}",
        r"[^a-z]",
        ".",
        "(?s).",
        r"a.{0,3}b",
        r"a(?:bc){1,3}d",
        r"\Bb",
        "ä",
        "straße",
        r"\b{start}a",
        r"a\b{end}",
        "(?R)(?m)a$",
        "k",
        r"\p{Lu}",
        r"[\p{Ll}&&[^x]]",
        r"[^[^a-c]]",
        r"(?i:É)",
        r"\s",
        r"[a&&b]",
        "(a|b)*c",
        r"[äöü]{2}",
        r"x{0,2}y{0,2}z",
        r"(?:a{0,3}b){0,2}c",
        r"\b(?:a|ab)(?:c|bcd)(?:d*)\b",
        r"a.{0,5}b.{0,5}c",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn tables_agree_with_another_engine(text in "(?s)[abcdxyz049@. \r\nABÄäöüſkK_cCÉǅ\u{212a}ßé-]{0,24}") {
            let (tables, judge) = &*ALL;
            let judged: Vec<usize> = judge.matches(&text).iter().collect();
            prop_assert_eq!(tables.matches(&text).collect::<Vec<_>>(), judged);
        }

        #[test]
        fn any_pattern_agrees_with_another_engine(
            pattern in r"([abc.äß]|\\[dwsbBDWS]|\[[abc^-]{1,3}\]|\([ab|?*+]{0,4}\)|[|*+?^$]|\{[0-3],[3-6]\}){1,8}",
            texts in proptest::collection::vec("[abc01äß \n_]{0,12}", 1..8),
        ) {
            if let Ok(tables) = compile(&[&pattern]) {
                for text in texts {
                    prop_assert_eq!(tables.matches(&text).collect::<Vec<_>>(), judge(&[&pattern], &text), "{}", text);
                }
            }
        }
    }

    #[test]
    fn common_patterns_compile() {
        for pattern in [
            r"buy.{0,40}cheap",
            "buy.*cheap.*now",
            r"\b(?:\+?49|0)[\d\s/-]{7,14}\d\b",
            r"[a-z]{2}\d{2}[a-z0-9]{10,30}",
            r"(?:https?://)?t\.me/\w+",
            r"(?:\p{Cyrillic}\s*){10,}",
            r"(.)(?:x|\PL){3}",
            r"[\w.+-]+@[\w-]+\.[\w.-]+",
            r"\b\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}\b",
            r"c\W*a\W*s\W*i\W*n\W*o",
            "加微信|刷单",
            r"[\u{1F300}-\u{1FAFF}]{5}",
        ] {
            compile(&[pattern]).unwrap_or_else(|refused| panic!("{pattern}: {}", refused.why));
        }
    }
}
