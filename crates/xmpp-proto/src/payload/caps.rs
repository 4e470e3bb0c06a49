//! Entity capabilities (XEP-0115 and XEP-0390): a hash of the answer to service discovery, in presences and stream features.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{self, Algorithm};

use super::disco::Info;
use crate::ns;
use crate::xml::{Element, Open};

/// A hash of capabilities, as a client or server announces it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Caps {
    form: Form,
    algorithm: HashName,
    /// In base64.
    hash: Box<str>,
    /// XEP-0115 §4: of the software. Empty in XEP-0390.
    node: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    /// XEP-0115.
    Version1,
    /// XEP-0390.
    Version2,
}

/// The hash functions of which both sides have an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum HashName {
    Sha1,
    Sha256,
    Sha512,
}

impl HashName {
    const ALL: [HashName; 3] = [HashName::Sha1, HashName::Sha256, HashName::Sha512];

    fn name(self) -> &'static str {
        match self {
            HashName::Sha1 => "sha-1",
            HashName::Sha256 => "sha-256",
            HashName::Sha512 => "sha-512",
        }
    }

    fn named(name: &str) -> Option<HashName> {
        HashName::ALL.into_iter().find(|one| one.name() == name)
    }

    fn algorithm(self) -> &'static Algorithm {
        match self {
            HashName::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            HashName::Sha256 => &digest::SHA256,
            HashName::Sha512 => &digest::SHA512,
        }
    }

    fn base64(self, input: &[u8]) -> Box<str> {
        STANDARD.encode(digest::digest(self.algorithm(), input)).into()
    }
}

/// The longest hash and node that are read.
const MOST_BYTES: usize = 256;

impl Caps {
    /// The hash in a presence. XEP-0390 comes first: XEP-0115 has known weaknesses. None: the client announces none that we can verify.
    pub fn of(presence: Element<'_>) -> Option<Caps> {
        Caps::version_2(presence).or_else(|| Caps::version_1(presence))
    }

    fn version_1(presence: Element<'_>) -> Option<Caps> {
        let c = presence.child("c", ns::CAPS)?;
        let (hash, node) = (c.attr("ver")?, c.attr("node")?);
        let fits = hash.len() <= MOST_BYTES && node.len() <= MOST_BYTES;
        let algorithm = HashName::named(c.attr("hash")?)?;
        fits.then(|| Caps { form: Form::Version1, algorithm, hash: hash.into(), node: node.into() })
    }

    fn version_2(presence: Element<'_>) -> Option<Caps> {
        let c = presence.child("c", ns::CAPS_2)?;
        c.children().filter(|child| child.is("hash", ns::HASHES)).find_map(|child| {
            // XEP-0300 §7 forbids SHA-1 here.
            let algorithm = HashName::named(child.attr("algo")?).filter(|name| *name != HashName::Sha1)?;
            let hash = child.text();
            let hash = hash.trim_ascii();
            let fits = hash.len() <= MOST_BYTES;
            fits.then(|| Caps { form: Form::Version2, algorithm, hash: hash.into(), node: "".into() })
        })
    }

    /// The node of the request for service discovery that explains the hash.
    pub fn node(&self) -> String {
        match self.form {
            Form::Version1 => format!("{}#{}", self.node, self.hash),
            Form::Version2 => format!("{}#{}.{}", ns::CAPS_2, self.algorithm.name(), self.hash),
        }
    }

    /// Whether this answer has the hash. An answer that nobody may send has none: with it, another answer could get the same hash.
    pub fn is_of(&self, query: Element<'_>) -> bool {
        let input = match self.form {
            Form::Version1 => version_1(query),
            Form::Version2 => version_2(query),
        };
        input.is_some_and(|input| self.algorithm.base64(&input) == self.hash)
    }

    /// The two hashes of this server, for [`write`](Self::write). `query`: its answer to service discovery.
    pub fn of_server(node: &str, query: Element<'_>) -> Option<[Caps; 2]> {
        let caps = |form, algorithm: HashName, input: Vec<u8>, node: &str| Caps {
            form,
            algorithm,
            hash: algorithm.base64(&input),
            node: node.into(),
        };
        let first = caps(Form::Version1, HashName::Sha1, version_1(query)?, node);
        Some([first, caps(Form::Version2, HashName::Sha256, version_2(query)?, "")])
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        match self.form {
            Form::Version1 => {
                let c = Open::new(out, "c").attr("xmlns", ns::CAPS).attr("hash", self.algorithm.name());
                c.attr("node", &self.node).attr("ver", &self.hash).empty();
            }
            Form::Version2 => Open::new(out, "c").attr("xmlns", ns::CAPS_2).children(|out| {
                let hash = Open::new(out, "hash").attr("xmlns", ns::HASHES);
                hash.attr("algo", self.algorithm.name()).text(&self.hash);
            }),
        }
    }
}

/// The fields of a form, each with its values: `FORM_TYPE` first.
type Fields<'a> = Vec<(&'a str, Vec<String>)>;

/// The forms of XEP-0128. None: one is wrong, or two have the same type.
fn forms(query: Element<'_>) -> Option<Vec<(String, Fields<'_>)>> {
    let mut forms: Vec<(String, Fields<'_>)> = Vec::new();
    for x in query.children().filter(|child| child.is("x", ns::DATA_FORMS)) {
        let mut fields: Fields<'_> = Vec::new();
        let mut kind = None;
        for field in x.children().filter(|child| child.is("field", ns::DATA_FORMS)) {
            let values = field.children().filter(|child| child.is("value", ns::DATA_FORMS));
            let mut values: Vec<String> = values.map(|value| value.text().into_owned()).collect();
            if field.attr("var") == Some("FORM_TYPE") {
                let [one] = &values[..] else { return None };
                kind = Some(one.clone());
                continue;
            }
            values.sort_unstable();
            fields.push((field.attr("var")?, values));
        }
        // XEP-0115 §5.4: a form without a type is left out.
        let Some(kind) = kind else { continue };
        fields.sort_unstable();
        forms.push((kind, fields));
    }
    forms.sort_unstable();
    let is_unique = forms.windows(2).all(|pair| pair[0].0 != pair[1].0);
    is_unique.then_some(forms)
}

/// XEP-0115 §5.1. None: §5.4 refuses the answer.
fn version_1(query: Element<'_>) -> Option<Vec<u8>> {
    let info = Info::of(query)?;
    let lang = |element: Element<'_>| element.attr_ns(ns::XML, "lang").unwrap_or_default().to_owned();
    let identities = query.children().filter(|child| child.is("identity", ns::DISCO_INFO));
    let mut identities: Vec<String> = identities
        .zip(&info.identities)
        .map(|(element, one)| {
            format!("{}/{}/{}/{}", one.category, one.kind, lang(element), one.name.unwrap_or_default())
        })
        .collect();
    let mut features = info.features;
    identities.sort_unstable();
    features.sort_unstable();
    let is_unique = identities.windows(2).all(|pair| pair[0] != pair[1])
        && features.windows(2).all(|pair| pair[0] != pair[1]);
    if !is_unique {
        return None;
    }
    let mut input = Vec::new();
    // §5.4: `<` ends a part, so no part may contain it.
    let mut is_sound = true;
    let mut part = |text: &str| {
        is_sound &= !text.contains('<');
        input.extend_from_slice(text.as_bytes());
        input.push(b'<');
    };
    identities.iter().for_each(|identity| part(identity));
    features.iter().for_each(|feature| part(feature));
    for (kind, fields) in forms(query)? {
        part(&kind);
        for (name, values) in fields {
            part(name);
            values.iter().for_each(|value| part(value));
        }
    }
    is_sound.then_some(input)
}

/// XEP-0390 §4.1.
fn version_2(query: Element<'_>) -> Option<Vec<u8>> {
    const END: u8 = 0x1f;
    const END_OF_GROUP: u8 = 0x1e;
    const END_OF_FORM: u8 = 0x1d;
    const END_OF_PART: u8 = 0x1c;
    fn joined(mut parts: Vec<Vec<u8>>) -> Vec<u8> {
        parts.sort_unstable();
        parts.concat()
    }
    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend_from_slice(text.as_bytes());
        out.push(END);
    }
    let info = Info::of(query)?;
    let features = info.features.iter().map(|feature| {
        let mut out = Vec::new();
        text(&mut out, feature);
        out
    });
    let mut input = joined(features.collect());
    input.push(END_OF_PART);
    let identities = query.children().filter(|child| child.is("identity", ns::DISCO_INFO));
    let identities = identities.zip(&info.identities).map(|(element, one)| {
        let mut out = Vec::new();
        text(&mut out, one.category);
        text(&mut out, one.kind);
        text(&mut out, element.attr_ns(ns::XML, "lang").unwrap_or_default());
        text(&mut out, one.name.unwrap_or_default());
        out.push(END_OF_GROUP);
        out
    });
    input.extend(joined(identities.collect()));
    input.push(END_OF_PART);
    let mut forms = Vec::new();
    for x in query.children().filter(|child| child.is("x", ns::DATA_FORMS)) {
        let mut fields = Vec::new();
        for field in x.children().filter(|child| child.is("field", ns::DATA_FORMS)) {
            let values = field.children().filter(|child| child.is("value", ns::DATA_FORMS)).map(|value| {
                let mut out = Vec::new();
                text(&mut out, &value.text());
                out
            });
            let mut out = Vec::new();
            text(&mut out, field.attr("var")?);
            out.extend(joined(values.collect()));
            out.push(END_OF_GROUP);
            fields.push(out);
        }
        let mut form = joined(fields);
        form.push(END_OF_FORM);
        forms.push(form);
    }
    input.extend(joined(forms));
    input.push(END_OF_PART);
    Some(input)
}

#[cfg(test)]
mod tests {
    use super::super::{read, written};
    use super::*;

    /// XEP-0115 §5.2.
    const SIMPLE: &str = "<query xmlns='http://jabber.org/protocol/disco#info'>\
        <identity category='client' name='Exodus 0.9.1' type='pc'/>\
        <feature var='http://jabber.org/protocol/caps'/><feature var='http://jabber.org/protocol/disco#info'/>\
        <feature var='http://jabber.org/protocol/disco#items'/><feature var='http://jabber.org/protocol/muc'/></query>";
    /// XEP-0115 §5.3.
    const COMPLEX: &str = "<query xmlns='http://jabber.org/protocol/disco#info'>\
        <identity xml:lang='en' category='client' name='Psi 0.11' type='pc'/>\
        <identity xml:lang='el' category='client' name='Ψ 0.11' type='pc'/>\
        <feature var='http://jabber.org/protocol/caps'/><feature var='http://jabber.org/protocol/disco#info'/>\
        <feature var='http://jabber.org/protocol/disco#items'/><feature var='http://jabber.org/protocol/muc'/>\
        <x xmlns='jabber:x:data' type='result'><field var='FORM_TYPE' type='hidden'><value>urn:xmpp:dataforms:softwareinfo</value></field>\
        <field var='ip_version'><value>ipv4</value><value>ipv6</value></field><field var='os'><value>Mac</value></field>\
        <field var='os_version'><value>10.5.1</value></field><field var='software'><value>Psi</value></field>\
        <field var='software_version'><value>0.11</value></field></x></query>";

    fn presence(inside: &str) -> Option<Caps> {
        Caps::of(read(&format!("<presence>{inside}</presence>")).root())
    }

    fn version_1_of(ver: &str) -> Caps {
        presence(&format!("<c xmlns='{}' hash='sha-1' node='http://a.example' ver='{ver}'/>", ns::CAPS))
            .unwrap()
    }

    #[test]
    fn the_examples_of_xep_0115_have_their_hashes() {
        let simple = version_1_of("QgayPKawpkPSDYmwT/WM94uAlu0=");
        let complex = version_1_of("q07IKJEyjvHSyhy//CH0CxmKi8w=");
        let (first, second) = (read(SIMPLE), read(COMPLEX));
        assert!(simple.is_of(first.root()) && complex.is_of(second.root()));
        assert!(!simple.is_of(second.root()) && !complex.is_of(first.root()));
        assert_eq!(simple.node(), "http://a.example#QgayPKawpkPSDYmwT/WM94uAlu0=");
    }

    #[test]
    fn the_example_of_xep_0390_has_its_hash() {
        let tree = read(
            "<query xmlns='http://jabber.org/protocol/disco#info'><identity category='client' name='BombusMod' type='mobile'/>\
             <feature var='http://jabber.org/protocol/si'/><feature var='http://jabber.org/protocol/bytestreams'/>\
             <feature var='http://jabber.org/protocol/chatstates'/><feature var='http://jabber.org/protocol/disco#info'/>\
             <feature var='http://jabber.org/protocol/disco#items'/><feature var='urn:xmpp:ping'/>\
             <feature var='jabber:iq:time'/><feature var='jabber:iq:privacy'/><feature var='jabber:iq:version'/>\
             <feature var='http://jabber.org/protocol/rosterx'/><feature var='urn:xmpp:time'/><feature var='jabber:x:oob'/>\
             <feature var='http://jabber.org/protocol/ibb'/>\
             <feature var='http://jabber.org/protocol/si/profile/file-transfer'/><feature var='urn:xmpp:receipts'/>\
             <feature var='jabber:iq:roster'/><feature var='jabber:iq:last'/></query>",
        );
        let caps = presence(
            "<c xmlns='urn:xmpp:caps'><hash xmlns='urn:xmpp:hashes:2' algo='sha-256'>\
             kzBZbkqJ3ADrj7v08reD1qcWUwNGHaidNUgD7nHpiw8=</hash></c>",
        )
        .unwrap();
        assert!(caps.is_of(tree.root()));
        assert_eq!(caps.node(), "urn:xmpp:caps#sha-256.kzBZbkqJ3ADrj7v08reD1qcWUwNGHaidNUgD7nHpiw8=");
    }

    #[test]
    fn an_answer_that_could_be_another_one_has_no_hash() {
        for wrong in [
            "<identity category='client' type='pc'/><identity category='client' type='pc'/>",
            "<feature var='a'/><feature var='a'/>",
            "<feature var='a&lt;b'/>",
        ] {
            let tree = read(&format!("<query xmlns='http://jabber.org/protocol/disco#info'>{wrong}</query>"));
            assert_eq!(version_1(tree.root()), None, "{wrong}");
        }
    }

    #[test]
    fn unknown_hash_functions_are_left_out() {
        for inside in [
            "<c xmlns='http://jabber.org/protocol/caps' node='n' ver='v'/>".to_owned(),
            "<c xmlns='http://jabber.org/protocol/caps' hash='md5' node='n' ver='v'/>".to_owned(),
            format!(
                "<c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='n' ver='{}'/>",
                "v".repeat(257)
            ),
            "<c xmlns='urn:xmpp:caps'><hash xmlns='urn:xmpp:hashes:2' algo='sha-1'>a</hash></c>".to_owned(),
        ] {
            assert_eq!(presence(&inside), None, "{inside}");
        }
    }

    #[test]
    fn what_the_server_announces_is_read_again() {
        let tree = read(COMPLEX);
        for caps in Caps::of_server("http://a.example", tree.root()).unwrap() {
            assert_eq!(presence(&written(|out| caps.write(out))), Some(caps.clone()));
            assert!(caps.is_of(tree.root()));
        }
    }
}
