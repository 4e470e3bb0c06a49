//! One parsed element with all that is in it, in three allocations.

use std::borrow::Cow;
use std::fmt;

use crate::ns;

use super::write::{close, escape, escape_attribute};

/// A stanza or another top-level element. Its strings are in one buffer, its nodes in document order.
#[derive(Clone)]
pub struct Tree {
    pub(super) text: String,
    pub(super) nodes: Vec<Node>,
    pub(super) attributes: Vec<Attribute>,
}

/// A piece of [`Tree::text`], or a well-known string that is not copied.
#[derive(Clone, Copy)]
pub(super) struct Str {
    pub(super) start: u32,
    pub(super) bytes: u32,
}

/// Namespaces of most elements and attributes.
const KNOWN: [&str; 5] = [ns::CLIENT, ns::SERVER, ns::COMPONENT, ns::STREAMS, ns::XML];
/// A [`Str`] that starts here or later is an index into [`KNOWN`]. No tree is as large as this.
const KNOWN_FROM: u32 = u32::MAX - KNOWN.len() as u32;

impl Str {
    pub(super) const EMPTY: Str = Str { start: 0, bytes: 0 };

    pub(super) fn known(text: &str) -> Option<Str> {
        let index = KNOWN.iter().position(|known| *known == text)?;
        Some(Str { start: KNOWN_FROM + index as u32, bytes: text.len() as u32 })
    }
}

#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) parent: u32,
    /// The index after the last node inside this one.
    pub(super) end: u32,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text(Str),
    Element { name: Str, ns: Str, first_attribute: u32, attributes: u16 },
}

#[derive(Clone, Copy)]
pub(super) struct Attribute {
    pub(super) ns: Str,
    pub(super) name: Str,
    pub(super) value: Str,
}

impl Tree {
    pub fn root(&self) -> Element<'_> {
        Element { tree: self, index: 0 }
    }

    pub(super) fn get(&self, str: Str) -> &str {
        match str.start.checked_sub(KNOWN_FROM) {
            Some(index) if str.bytes > 0 => KNOWN[index as usize],
            _ => &self.text[str.start as usize..(str.start + str.bytes) as usize],
        }
    }
}

impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        self.root() == other.root()
    }
}

/// Names only: a stanza has message bodies and passwords.
impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.root().fmt(f)
    }
}

/// An element of a [`Tree`].
#[derive(Clone, Copy)]
pub struct Element<'a> {
    tree: &'a Tree,
    index: u32,
}

impl<'a> Element<'a> {
    fn node(self) -> Node {
        self.tree.nodes[self.index as usize]
    }

    /// The name without its prefix.
    pub fn name(self) -> &'a str {
        match self.node().kind {
            Kind::Element { name, .. } => self.tree.get(name),
            Kind::Text(_) => "",
        }
    }

    /// The namespace; empty if the element has none.
    pub fn ns(self) -> &'a str {
        match self.node().kind {
            Kind::Element { ns, .. } => self.tree.get(ns),
            Kind::Text(_) => "",
        }
    }

    pub fn is(self, name: &str, ns: &str) -> bool {
        self.name() == name && self.ns() == ns
    }

    fn attributes(self) -> &'a [Attribute] {
        match self.node().kind {
            Kind::Element { first_attribute, attributes, .. } => {
                &self.tree.attributes[first_attribute as usize..][..usize::from(attributes)]
            }
            Kind::Text(_) => &[],
        }
    }

    /// The value of an attribute without namespace.
    pub fn attr(self, name: &str) -> Option<&'a str> {
        self.attr_ns("", name)
    }

    pub fn attr_ns(self, ns: &str, name: &str) -> Option<&'a str> {
        let found = self
            .attributes()
            .iter()
            .find(|attribute| self.tree.get(attribute.name) == name && self.tree.get(attribute.ns) == ns);
        found.map(|attribute| self.tree.get(attribute.value))
    }

    /// The `xml:lang` of this element or of the nearest one around it. The language of the stream comes after that.
    pub fn lang(self) -> Option<&'a str> {
        let mut element = self;
        loop {
            if let Some(lang) = element.attr_ns(ns::XML, "lang") {
                return Some(lang);
            }
            if element.index == 0 {
                return None;
            }
            element.index = element.node().parent;
        }
    }

    /// The child elements in document order.
    pub fn children(self) -> Children<'a> {
        Children { tree: self.tree, next: self.index + 1, end: self.node().end }
    }

    pub fn child(self, name: &str, ns: &str) -> Option<Element<'a>> {
        self.children().find(|child| child.is(name, ns))
    }

    /// The first child element, which is the payload of an `iq`.
    pub fn first(self) -> Option<Element<'a>> {
        self.children().next()
    }

    /// The character data directly in this element.
    pub fn text(self) -> Cow<'a, str> {
        let mut text = Cow::Borrowed("");
        let (mut index, end) = (self.index + 1, self.node().end);
        while index < end {
            let node = self.tree.nodes[index as usize];
            if let Kind::Text(piece) = node.kind {
                // A `Cow` takes over what is added to an empty one.
                text += self.tree.get(piece);
            }
            index = node.end;
        }
        text
    }

    /// Writes the element so that it means the same inside an element whose default namespace is `outer_ns`. Prefixes
    /// are not kept: elements declare their namespace as the default.
    pub fn write(self, out: &mut Vec<u8>, outer_ns: &str) {
        self.write_with(out, outer_ns, escape_attribute);
    }

    /// As [`write`](Element::write), in a form for storage in which namespaces do not look like addresses of pages: filters of
    /// links read stored text, and most namespaces are in the form of a link. [`restore`](super::restore) reverses it.
    pub fn write_stored(self, out: &mut Vec<u8>, outer_ns: &str) {
        self.write_with(out, outer_ns, super::stored::write_ns);
    }

    fn write_with(self, out: &mut Vec<u8>, outer_ns: &str, write_ns: fn(&mut Vec<u8>, &str)) {
        let mut open: Vec<Element<'a>> = Vec::new();
        for index in self.index..self.node().end {
            while let Some(last) = open.last().filter(|last| last.node().end <= index) {
                close(out, last.name());
                open.pop();
            }
            let node = self.tree.nodes[index as usize];
            match node.kind {
                Kind::Text(text) => escape(out, self.tree.get(text)),
                Kind::Element { .. } => {
                    let element = Element { tree: self.tree, index };
                    element.write_head(out, open.last().map_or(outer_ns, |parent| parent.ns()), write_ns);
                    if node.end == index + 1 {
                        out.extend_from_slice(b"/>");
                    } else {
                        out.push(b'>');
                        open.push(element);
                    }
                }
            }
        }
        while let Some(last) = open.pop() {
            close(out, last.name());
        }
    }

    fn write_head(self, out: &mut Vec<u8>, outer_ns: &str, write_ns: fn(&mut Vec<u8>, &str)) {
        out.push(b'<');
        out.extend_from_slice(self.name().as_bytes());
        if self.ns() != outer_ns {
            out.extend_from_slice(b" xmlns='");
            write_ns(out, self.ns());
            out.push(b'\'');
        }
        for (number, attribute) in self.attributes().iter().enumerate() {
            out.push(b' ');
            match self.tree.get(attribute.ns) {
                "" => {}
                ns::XML => out.extend_from_slice(b"xml:"),
                ns => {
                    // This prefix cannot collide: all prefixes of the source were resolved and are not written.
                    out.extend_from_slice(format!("xmlns:a{number}='").as_bytes());
                    write_ns(out, ns);
                    out.extend_from_slice(format!("' a{number}:").as_bytes());
                }
            }
            out.extend_from_slice(self.tree.get(attribute.name).as_bytes());
            out.extend_from_slice(b"='");
            escape_attribute(out, self.tree.get(attribute.value));
            out.push(b'\'');
        }
    }
}

/// Two elements are equal if they mean the same: prefixes, the order of attributes and the way of escaping do not count.
impl PartialEq for Element<'_> {
    fn eq(&self, other: &Element<'_>) -> bool {
        let (mine, theirs) = (self.node().end - self.index, other.node().end - other.index);
        mine == theirs
            && (0..mine).all(|offset| {
                let (one, two) = (self.index + offset, other.index + offset);
                let (node, twin) = (self.tree.nodes[one as usize], other.tree.nodes[two as usize]);
                node.end - one == twin.end - two
                    && match (node.kind, twin.kind) {
                        (Kind::Text(text), Kind::Text(other_text)) => {
                            self.tree.get(text) == other.tree.get(other_text)
                        }
                        (Kind::Element { .. }, Kind::Element { .. }) => {
                            let (element, twin) = (
                                Element { tree: self.tree, index: one },
                                Element { tree: other.tree, index: two },
                            );
                            element.has_head_of(twin)
                        }
                        _ => false,
                    }
            })
    }
}

impl Element<'_> {
    fn has_head_of(self, other: Element<'_>) -> bool {
        self.is(other.name(), other.ns())
            && self.attributes().len() == other.attributes().len()
            && self.attributes().iter().all(|attribute| {
                let (ns, name) = (self.tree.get(attribute.ns), self.tree.get(attribute.name));
                other.attr_ns(ns, name) == Some(self.tree.get(attribute.value))
            })
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{} xmlns='{}'>", self.name(), self.ns())
    }
}

/// See [`Element::children`].
#[derive(Clone)]
pub struct Children<'a> {
    tree: &'a Tree,
    next: u32,
    end: u32,
}

impl<'a> Iterator for Children<'a> {
    type Item = Element<'a>;

    fn next(&mut self) -> Option<Element<'a>> {
        while self.next < self.end {
            let index = self.next;
            let node = self.tree.nodes[index as usize];
            self.next = node.end;
            if let Kind::Element { .. } = node.kind {
                return Some(Element { tree: self.tree, index });
            }
        }
        None
    }
}
