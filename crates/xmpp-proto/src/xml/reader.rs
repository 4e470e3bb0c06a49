//! Cuts a stream of bytes into stream headers and stanzas, and resolves namespaces.

use std::mem;

use rxml::error::EndOrError;
use rxml::parser::Options;
use rxml::{NcName, Parse, RawEvent, RawParser, WithOptions};

use crate::ns;
use crate::stream::{Content, StreamCondition, StreamError, StreamHeader};

use super::tree::{Attribute, Kind, Node, Str, Tree};

/// Most bytes of an attribute's value; the XML parser keeps a buffer of this size while it works.
const VALUE_BYTES: usize = 8192;

/// Bounds on what a peer may send. Going beyond one is a `policy-violation`.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a stanza or of a stream header.
    pub stanza_bytes: usize,
    /// Elements inside each other, the stanza included.
    pub depth: u16,
    /// Attributes of one element, and prefixes that are declared at one place.
    pub attributes: u16,
    /// Bytes of the name of an element or attribute, with its prefix.
    pub name_bytes: u16,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { stanza_bytes: 262_144, depth: 64, attributes: 64, name_bytes: 255 }
    }
}

/// A part of a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    Header(StreamHeader),
    Stanza(Tree),
    /// `</stream:stream>`: the peer sends nothing more. The reader drops all bytes after it.
    End,
}

/// The receiving side of one stream (RFC 6120 §4). An idle one is 16 bytes and owns no memory, unless the stream header
/// declared further prefixes. A stanza that has come in part is parsed as far as it has come.
pub struct Reader {
    rare: Option<Box<Rare>>,
    state: State,
    content: Content,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the end of the stream header.
    Header,
    /// Between stanzas, or inside one if there is a [`Rare::partial`].
    Stanzas,
    /// After the `<` that begins a stanza or ends the stream.
    Less,
    /// After so many bytes of [`FOOTER`].
    Footer(u8),
    Ended,
}

/// The stream's end tag after its `<`; white space and `>` follow.
const FOOTER: &[u8] = b"/stream:stream";

#[derive(Default)]
struct Rare {
    partial: Option<Partial>,
    /// The declarations of the stream header, except `stream`.
    prefixes: Vec<Prefix>,
}

/// A prefix and its namespace.
type Prefix = (Box<str>, Box<str>);

impl Default for Reader {
    fn default() -> Reader {
        Reader::new()
    }
}

impl Reader {
    /// A reader that expects a stream header.
    pub fn new() -> Reader {
        Reader { rare: None, state: State::Header, content: Content::Client }
    }

    /// The declarations of the stream header, if the reader is between two stanzas of a client's stream. With them another process
    /// can [go on](Self::between_stanzas).
    pub fn prefixes_between_stanzas(&self) -> Option<&[(Box<str>, Box<str>)]> {
        let is_between = self.state == State::Stanzas && self.content == Content::Client;
        match &self.rare {
            None => is_between.then_some(&[]),
            Some(rare) => (is_between && rare.partial.is_none()).then_some(&rare.prefixes),
        }
    }

    /// A reader behind a stream header with these declarations.
    pub fn between_stanzas(prefixes: Vec<(Box<str>, Box<str>)>) -> Reader {
        let rare = (!prefixes.is_empty()).then(|| Box::new(Rare { partial: None, prefixes }));
        Reader { rare, state: State::Stanzas, content: Content::Client }
    }

    /// RFC 6120 §5.4.3.3, §6.4.6: after STARTTLS and SASL the same connection begins a new stream.
    pub fn restart(&mut self) {
        *self = Reader::new();
    }

    /// Consumes bytes. Returns how many, and an item if one is complete; without one, all bytes are consumed.
    ///
    /// After an error the stream is over: the reader drops all further bytes.
    pub fn read(&mut self, input: &[u8], limits: &Limits) -> Result<(usize, Option<Item>), StreamError> {
        let mut rest = input;
        let read = self.advance(&mut rest, limits);
        if read.is_err() {
            *self = Reader { rare: None, state: State::Ended, content: self.content };
        }
        read.map(|item| (input.len() - rest.len(), item))
    }

    fn advance(&mut self, rest: &mut &[u8], limits: &Limits) -> Result<Option<Item>, StreamError> {
        loop {
            if let Some(partial) = self.rare.as_mut().and_then(|rare| rare.partial.take()) {
                return self.resume(partial, rest, limits);
            }
            let Some(&byte) = rest.first() else { return Ok(None) };
            let is_space = matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
            match self.state {
                // RFC 6120 §4.6.1: white space between stanzas keeps a connection alive. Some clients also send some
                // before the header of a restarted stream.
                State::Header | State::Stanzas if is_space => *rest = &rest[1..],
                State::Header if byte == b'<' => {
                    return self.resume(Partial::new(Str::EMPTY, rest.len()), rest, limits);
                }
                // The byte order mark of UTF-16.
                State::Header if byte >= 0xFE => {
                    return Err(StreamError::new(StreamCondition::UnsupportedEncoding));
                }
                State::Header => return Err(StreamError::new(StreamCondition::NotWellFormed)),
                State::Stanzas if byte == b'<' => {
                    *rest = &rest[1..];
                    self.state = State::Less;
                }
                State::Stanzas => {
                    return Err(StreamError::new(StreamCondition::BadFormat).text("text between stanzas"));
                }
                State::Less => match byte {
                    b'/' => self.state = State::Footer(0),
                    b'!' | b'?' => return Err(StreamError::new(StreamCondition::RestrictedXml)),
                    _ => {
                        self.state = State::Stanzas;
                        let mut partial = Partial::new(self.content.str(), rest.len());
                        partial.parse(&mut &b"<"[..], false)?;
                        partial.consumed = 1;
                        return self.resume(partial, rest, limits);
                    }
                },
                State::Footer(read) => {
                    *rest = &rest[1..];
                    match FOOTER.get(usize::from(read)) {
                        Some(expected) if *expected == byte => self.state = State::Footer(read + 1),
                        None if byte == b'>' => {
                            self.state = State::Ended;
                            return Ok(Some(Item::End));
                        }
                        None if is_space => {}
                        _ => return Err(StreamError::new(StreamCondition::NotWellFormed)),
                    }
                }
                State::Ended => *rest = &[],
            }
        }
    }

    fn resume(
        &mut self,
        mut partial: Partial,
        rest: &mut &[u8],
        limits: &Limits,
    ) -> Result<Option<Item>, StreamError> {
        let prefixes = self.rare.as_ref().map_or(&[][..], |rare| &rare.prefixes);
        let until = if self.state == State::Header { Until::Head } else { Until::Foot };
        if !partial.feed(rest, limits, until, Some(prefixes))? {
            partial.parser.release_temporaries();
            self.rare.get_or_insert_default().partial = Some(partial);
            return Ok(None);
        }
        let item = if self.state == State::Header {
            let (header, prefixes) = partial.into_header()?;
            self.content = header.content;
            self.state = State::Stanzas;
            self.rare = (!prefixes.is_empty()).then(|| Box::new(Rare { partial: None, prefixes }));
            Item::Header(header)
        } else {
            if self.rare.as_ref().is_some_and(|rare| rare.prefixes.is_empty()) {
                self.rare = None;
            }
            Item::Stanza(partial.tree)
        };
        Ok(Some(item))
    }
}

/// Parses a whole document: a frame of RFC 7395, or a body of BOSH. Its root declares its own namespace.
pub fn document(input: &[u8], limits: &Limits) -> Result<Tree, StreamError> {
    if input.len() > limits.stanza_bytes {
        return Err(too_large());
    }
    let mut partial = Partial::new(Str::EMPTY, input.len());
    let mut rest = input;
    if !partial.feed(&mut rest, limits, Until::Foot, None)? {
        return Err(StreamError::new(StreamCondition::NotWellFormed).text("the document is not complete"));
    }
    match partial.parse(&mut rest, true)? {
        None => Ok(partial.tree),
        Some(_) => Err(StreamError::new(StreamCondition::NotWellFormed)),
    }
}

/// How far a parser runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    /// To the end of the root's start tag.
    Head,
    /// To the end of the root.
    Foot,
}

/// An element that is not complete.
struct Partial {
    parser: RawParser,
    tree: Tree,
    consumed: usize,
    /// The innermost open element, if `depth` is not 0.
    current: u32,
    depth: u16,
    /// The start tag that is being read.
    name: Option<RawName>,
    attributes: Vec<(RawName, String)>,
    /// The prefixes in scope; the innermost come last. The empty prefix is the default namespace.
    declared: Vec<Declared>,
}

type RawName = (Option<NcName>, NcName);

struct Declared {
    prefix: Str,
    ns: Str,
    depth: u16,
}

impl Partial {
    /// `input` are the bytes that are here; most stanzas are, so a tree rarely grows while it is built.
    fn new(default_ns: Str, input: usize) -> Partial {
        let mut declared = Vec::with_capacity(4);
        declared.push(Declared { prefix: Str::EMPTY, ns: default_ns, depth: 0 });
        let options = Options { max_token_length: VALUE_BYTES, ..Options::default() };
        Partial {
            parser: RawParser::with_options(options),
            tree: Tree {
                text: String::with_capacity(input.min(1024)),
                nodes: Vec::with_capacity(input.min(1024) / 32),
                attributes: Vec::with_capacity(input.min(1024) / 32),
            },
            consumed: 0,
            current: 0,
            depth: 0,
            name: None,
            attributes: Vec::new(),
            declared,
        }
    }

    fn parse(&mut self, input: &mut &[u8], at_end: bool) -> Result<Option<RawEvent>, StreamError> {
        match self.parser.parse(input, at_end) {
            Ok(event) => Ok(event),
            Err(EndOrError::NeedMoreData) => Ok(None),
            Err(EndOrError::Error(error)) => Err(StreamError::new(condition(&error))),
        }
    }

    /// Parses input, with the prefixes of the stream around the element. True: the element, or its start tag, is complete, and the input begins after it.
    fn feed(
        &mut self,
        rest: &mut &[u8],
        limits: &Limits,
        until: Until,
        stream: Option<&[Prefix]>,
    ) -> Result<bool, StreamError> {
        // Every string of the tree is shorter than its source, so 32 bits are enough for it.
        let budget = limits.stanza_bytes.min(1 << 30).saturating_sub(self.consumed);
        let (mut input, beyond) = rest.split_at(rest.len().min(budget));
        let given = input.len();
        let complete = loop {
            match self.parse(&mut input, false)? {
                None => break false,
                Some(RawEvent::ElementHeadClose(_)) if until == Until::Head => break true,
                Some(event) => {
                    if self.take(event, limits, stream)? {
                        break true;
                    }
                }
            }
        };
        self.consumed += given - input.len();
        *rest = &rest[given - input.len()..];
        if !complete && !beyond.is_empty() {
            return Err(too_large());
        }
        Ok(complete)
    }

    /// True: the root has ended.
    fn take(
        &mut self,
        event: RawEvent,
        limits: &Limits,
        stream: Option<&[Prefix]>,
    ) -> Result<bool, StreamError> {
        match event {
            RawEvent::XmlDeclaration(..) => {}
            RawEvent::ElementHeadOpen(_, name) => {
                check_name(&name, limits)?;
                if self.depth >= limits.depth {
                    return Err(beyond("too many elements inside each other"));
                }
                self.name = Some(name);
            }
            RawEvent::Attribute(_, name, value) => {
                check_name(&name, limits)?;
                if self.attributes.len() >= usize::from(limits.attributes) {
                    return Err(beyond("too many attributes"));
                }
                if self.attributes.iter().any(|(other, _)| *other == name) {
                    return Err(StreamError::new(StreamCondition::NotWellFormed).text("duplicate attribute"));
                }
                self.attributes.push((name, value));
            }
            RawEvent::ElementHeadClose(_) => {
                if let Some(name) = self.name.take() {
                    self.open(&name, limits, stream)?;
                }
            }
            RawEvent::ElementFoot(_) => {
                let end = self.tree.nodes.len() as u32;
                let node = &mut self.tree.nodes[self.current as usize];
                node.end = end;
                self.current = node.parent;
                while self.declared.last().is_some_and(|declared| declared.depth >= self.depth) {
                    self.declared.pop();
                }
                self.depth -= 1;
                return Ok(self.depth == 0);
            }
            RawEvent::Text(_, text) => self.text(&text),
        }
        Ok(false)
    }

    fn open(
        &mut self,
        (prefix, name): &RawName,
        limits: &Limits,
        stream: Option<&[Prefix]>,
    ) -> Result<(), StreamError> {
        self.depth += 1;
        let attributes = mem::take(&mut self.attributes);
        for ((prefix, name), value) in &attributes {
            let declares = match text(prefix) {
                None if *name == "xmlns" => "",
                Some("xmlns") if *name != "xml" => name.as_str(),
                _ => continue,
            };
            // Namespaces in XML 1.0 §3: nothing else may be bound to these two.
            if value == ns::XMLNS || value == ns::XML {
                return Err(StreamError::new(StreamCondition::NotWellFormed).text("reserved namespace"));
            }
            // A long list would be searched for every name inside.
            if self.declared.len() > usize::from(limits.attributes) {
                return Err(beyond("too many namespaces"));
            }
            let (prefix, ns) = (self.push(declares), Str::known(value).unwrap_or_else(|| self.push(value)));
            self.declared.push(Declared { prefix, ns, depth: self.depth });
        }
        let ns = self.resolve(text(prefix).unwrap_or_default(), stream)?;
        let name = self.push(name);
        let first_attribute = self.tree.attributes.len();
        for ((prefix, name), value) in &attributes {
            let ns = match text(prefix) {
                None if *name == "xmlns" => continue,
                None => Str::EMPTY,
                Some("xmlns") => continue,
                Some(prefix) => self.resolve(prefix, stream)?,
            };
            let has_twin = prefix.is_some()
                && self.tree.attributes[first_attribute..].iter().any(|other| {
                    self.tree.get(other.name) == name.as_str() && self.tree.get(other.ns) == self.tree.get(ns)
                });
            if has_twin {
                return Err(StreamError::new(StreamCondition::NotWellFormed).text("duplicate attribute"));
            }
            let (name, value) = (self.push(name), self.push(value));
            self.tree.attributes.push(Attribute { ns, name, value });
        }
        let index = self.tree.nodes.len() as u32;
        let count = (self.tree.attributes.len() - first_attribute) as u16;
        let kind = Kind::Element { name, ns, first_attribute: first_attribute as u32, attributes: count };
        self.tree.nodes.push(Node { parent: self.current, end: index + 1, kind });
        self.current = index;
        self.attributes = attributes;
        self.attributes.clear();
        Ok(())
    }

    fn resolve(&mut self, prefix: &str, stream: Option<&[Prefix]>) -> Result<Str, StreamError> {
        if prefix == "xml" {
            return Ok(Str::known(ns::XML).expect("the list has it"));
        }
        if let Some(declared) =
            self.declared.iter().rev().find(|declared| self.tree.get(declared.prefix) == prefix)
        {
            return Ok(declared.ns);
        }
        let declared = match stream {
            Some(_) if prefix == "stream" => Str::known(ns::STREAMS),
            Some(prefixes) => {
                let found = prefixes.iter().find(|(declared, _)| **declared == *prefix);
                found.map(|(_, ns)| Str::known(ns).unwrap_or_else(|| self.push(ns)))
            }
            None => None,
        };
        declared.ok_or_else(|| StreamError::new(StreamCondition::NotWellFormed).text("undeclared prefix"))
    }

    fn push(&mut self, text: &str) -> Str {
        let start = self.tree.text.len() as u32;
        self.tree.text.push_str(text);
        Str { start, bytes: text.len() as u32 }
    }

    /// Adds character data. The parser gives it in pieces that depend on how the bytes came, so they are joined.
    fn text(&mut self, text: &str) {
        let piece = self.push(text);
        if let Some(Node { parent, kind: Kind::Text(last), .. }) = self.tree.nodes.last_mut()
            && *parent == self.current
        {
            last.bytes += piece.bytes;
        } else if !text.is_empty() {
            let end = self.tree.nodes.len() as u32 + 1;
            self.tree.nodes.push(Node { parent: self.current, end, kind: Kind::Text(piece) });
        }
    }

    /// The stream header, whose start tag was read, and its declared prefixes except `stream`.
    fn into_header(mut self) -> Result<(StreamHeader, Vec<Prefix>), StreamError> {
        // `<stream:stream/>` is a document, but not a stream.
        if self.parse(&mut &[][..], false)?.is_some() {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        let Some((prefix, name)) = self.name.take() else {
            return Err(StreamError::new(StreamCondition::BadFormat));
        };
        let value = |prefix: Option<&str>, name: &str| {
            let mut attributes = self.attributes.iter();
            attributes
                .find(|((has, called), _)| *called == name && text(has) == prefix)
                .map(|(_, value)| value.as_str())
        };
        let prefix = text(&prefix);
        let namespace = match prefix {
            Some(prefix) => value(Some("xmlns"), prefix),
            None => value(None, "xmlns"),
        };
        match (namespace, prefix) {
            (None, Some(_)) => {
                return Err(StreamError::new(StreamCondition::NotWellFormed).text("undeclared prefix"));
            }
            (Some(ns::STREAMS), _) => {}
            _ => return Err(StreamError::new(StreamCondition::InvalidNamespace)),
        }
        // RFC 6120 §4.8.5: the prefix is `stream` for historical reasons. Our footer and our answers rely on it.
        if prefix != Some("stream") {
            return Err(StreamError::new(StreamCondition::BadNamespacePrefix));
        }
        if name != "stream" {
            return Err(StreamError::new(StreamCondition::BadFormat));
        }
        let content = value(None, "xmlns")
            .and_then(Content::of)
            .ok_or_else(|| StreamError::new(StreamCondition::InvalidNamespace))?;
        let attribute = |name| value(None, name).map(Box::from);
        let header = StreamHeader {
            content,
            to: attribute("to"),
            from: attribute("from"),
            id: attribute("id"),
            version: value(None, "version").map(str::parse).transpose()?,
            lang: value(Some("xml"), "lang").map(Box::from),
        };
        let mut prefixes = Vec::new();
        for ((prefix, name), value) in &self.attributes {
            let prefix = text(prefix);
            if prefix == Some("xmlns") && *name != "stream" && *name != "xml" {
                prefixes.push((Box::from(name.as_str()), Box::from(value.as_str())));
            }
        }
        Ok((header, prefixes))
    }
}

impl Content {
    fn str(self) -> Str {
        Str::known(self.ns()).expect("the list has the namespaces of streams")
    }
}

fn text(prefix: &Option<NcName>) -> Option<&str> {
    prefix.as_deref().map(|prefix| prefix.as_str())
}

fn check_name((prefix, name): &RawName, limits: &Limits) -> Result<(), StreamError> {
    let bytes = prefix.as_ref().map_or(0, |prefix| prefix.len() + 1) + name.len();
    if bytes > usize::from(limits.name_bytes) { Err(beyond("a name is too long")) } else { Ok(()) }
}

fn beyond(text: &'static str) -> StreamError {
    StreamError::new(StreamCondition::PolicyViolation).text(text)
}

fn too_large() -> StreamError {
    beyond("the stanza is too large")
}

/// RFC 6120 §4.9.3 for an error of the XML parser. It tells some kinds apart only by their text, which tests pin.
fn condition(error: &rxml::Error) -> StreamCondition {
    use rxml::Error;
    match error {
        Error::RestrictedXml("long name or reference" | "event too long") => StreamCondition::PolicyViolation,
        Error::RestrictedXml("only utf-8 encoding is allowed") => StreamCondition::UnsupportedEncoding,
        Error::RestrictedXml(_) | Error::UndeclaredEntity => StreamCondition::RestrictedXml,
        // `<!DOCTYPE` and what else begins like a declaration of a DTD.
        Error::InvalidSyntax("malformed cdata or comment section start") => StreamCondition::RestrictedXml,
        // RFC 6120 §4.9.3.22 names a violation of UTF-8 as an example.
        Error::InvalidUtf8Byte(_) => StreamCondition::UnsupportedEncoding,
        _ => StreamCondition::NotWellFormed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_stream_owns_no_memory() {
        let limits = Limits::default();
        let mut reader = Reader::new();
        let header = b"<stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'>";
        for pieces in [&header[..], b"<message><body>a</body></message>", b" <iq/>"] {
            for byte in pieces.chunks(1) {
                reader.read(byte, &limits).unwrap();
            }
            assert!(reader.rare.is_none());
        }
        reader.read(b"<a><b", &limits).unwrap();
        assert!(reader.rare.is_some());
        reader.restart();
        assert!(reader.rare.is_none());
    }
}
