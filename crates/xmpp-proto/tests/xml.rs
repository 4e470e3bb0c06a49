//! Streams in pieces, round trips and attacks.

use proptest::prelude::*;
use xmpp_proto::ns;
use xmpp_proto::stream::{Content, StreamCondition, StreamError, Version};
use xmpp_proto::xml::{Element, Item, Limits, Open, Reader, Tree, document};

const HEADER: &str = "<?xml version='1.0'?><stream:stream to='example.com' version='1.0' xmlns='jabber:client' \
                      xmlns:stream='http://etherx.jabber.org/streams'>";

/// All items of pieces that arrive one after another.
fn items<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, limits: &Limits) -> Result<Vec<Item>, StreamError> {
    let mut reader = Reader::new();
    let mut items = Vec::new();
    for piece in pieces {
        let mut rest = piece;
        loop {
            let (used, item) = reader.read(rest, limits)?;
            rest = &rest[used..];
            match item {
                Some(item) => items.push(item),
                None => break assert!(rest.is_empty(), "no item, and bytes are left"),
            }
        }
    }
    Ok(items)
}

fn stream(content: &str) -> Result<Vec<Item>, StreamError> {
    items([HEADER.as_bytes(), content.as_bytes()], &Limits::default())
}

fn stanzas(content: &str) -> Vec<Tree> {
    let stanza = |item| if let Item::Stanza(tree) = item { Some(tree) } else { None };
    stream(content).unwrap().into_iter().filter_map(stanza).collect()
}

fn refusal(content: &str) -> StreamCondition {
    stream(content).unwrap_err().condition
}

fn header_refusal(header: &str) -> StreamCondition {
    items([header.as_bytes()], &Limits::default()).unwrap_err().condition
}

fn written(element: Element<'_>, outer_ns: &str) -> String {
    let mut out = Vec::new();
    element.write(&mut out, outer_ns);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_stream_is_a_header_stanzas_and_an_end() {
    let items = stream(
        " <presence/>\n<message to='a'><body>b&amp;<![CDATA[c<]]>&#100;</body></message>\t</stream:stream >x",
    )
    .unwrap();
    let [Item::Header(header), Item::Stanza(presence), Item::Stanza(message), Item::End] = &items[..] else {
        panic!("{items:?}");
    };
    assert_eq!((header.content, header.version), (Content::Client, Some(Version::V1)));
    assert_eq!(
        (header.to.as_deref(), header.from.as_deref(), header.id.as_deref()),
        (Some("example.com"), None, None)
    );
    assert!(presence.root().is("presence", ns::CLIENT));
    assert_eq!(message.root().attr("to"), Some("a"));
    assert_eq!(message.root().child("body", ns::CLIENT).unwrap().text(), "b&c<d");
}

#[test]
fn a_restarted_stream_has_a_new_header() {
    let limits = Limits::default();
    let mut reader = Reader::new();
    reader.read(HEADER.as_bytes(), &limits).unwrap();
    reader.restart();
    let second = format!("\n{}", HEADER.replace("jabber:client", "jabber:server"));
    let (_, item) = reader.read(second.as_bytes(), &limits).unwrap();
    assert!(matches!(item, Some(Item::Header(header)) if header.content == Content::Server));
    let (_, item) = reader.read(b"<iq/>", &limits).unwrap();
    assert!(matches!(item, Some(Item::Stanza(tree)) if tree.root().is("iq", ns::SERVER)));
}

#[test]
fn an_idle_reader_is_16_bytes() {
    assert_eq!(size_of::<Reader>(), 16);
}

#[test]
fn namespaces_are_resolved() {
    let trees = stanzas(
        "<iq><q xmlns='urn:a' p:x='1' x='2' xmlns:p='urn:p' xml:lang='de'><r/><p:s/><t xmlns=''/></q><u/></iq>\
         <stream:error/><p xmlns='urn:b'/>",
    );
    let query = trees[0].root().first().unwrap();
    assert!(query.is("q", "urn:a"));
    assert_eq!(
        (query.attr("x"), query.attr_ns("urn:p", "x"), query.attr("xmlns")),
        (Some("2"), Some("1"), None)
    );
    let inside: Vec<_> = query.children().map(|child| (child.name(), child.ns(), child.lang())).collect();
    assert_eq!(inside, [("r", "urn:a", Some("de")), ("s", "urn:p", Some("de")), ("t", "", Some("de"))]);
    let last = trees[0].root().children().last().unwrap();
    assert_eq!((last.name(), last.ns(), last.lang()), ("u", ns::CLIENT, None));
    assert!(trees[1].root().is("error", ns::STREAMS));
    assert!(trees[2].root().is("p", "urn:b"));
}

#[test]
fn prefixes_of_the_stream_header_apply_to_every_stanza() {
    let header = HEADER.replace(" to=", " xmlns:db='jabber:server:dialback' to=");
    let bytes = format!("{header}<db:result/><a db:b='c'><db:d xmlns:db='urn:x'/></a><db:e/>");
    let items = items(bytes.as_bytes().chunks(7), &Limits::default()).unwrap();
    let [_, Item::Stanza(first), Item::Stanza(second), Item::Stanza(third)] = &items[..] else {
        panic!("{items:?}")
    };
    assert!(first.root().is("result", ns::DIALBACK));
    assert_eq!(second.root().attr_ns(ns::DIALBACK, "b"), Some("c"));
    assert!(second.root().first().unwrap().is("d", "urn:x"));
    assert!(third.root().is("e", ns::DIALBACK));
}

#[test]
fn headers_that_are_no_headers_are_refused() {
    use StreamCondition::*;
    let streams = "xmlns:stream='http://etherx.jabber.org/streams'";
    for (header, condition) in [
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), NotWellFormed),
        ("\u{FEFF}<?xml version='1.0'?>".to_owned(), NotWellFormed),
        (format!("<stream:stream xmlns='jabber:client' {streams}/>"), BadFormat),
        (format!("<stream:other xmlns='jabber:client' {streams}>"), BadFormat),
        (format!("<stream:stream {streams}>"), InvalidNamespace),
        (format!("<stream:stream xmlns='urn:x' {streams}>"), InvalidNamespace),
        ("<stream:stream xmlns='jabber:client' xmlns:stream='urn:x'>".into(), InvalidNamespace),
        ("<stream xmlns='jabber:client'>".into(), InvalidNamespace),
        ("<stream xmlns='http://etherx.jabber.org/streams'>".into(), BadNamespacePrefix),
        (
            format!("<s:stream xmlns='jabber:client' {}>", streams.replace(":stream=", ":s=")),
            BadNamespacePrefix,
        ),
        ("<stream:stream xmlns='jabber:client'>".into(), NotWellFormed),
        (format!("<stream:stream xmlns='jabber:client' {streams} version='one'>"), UnsupportedVersion),
        (format!("<stream:stream xmlns='jabber:client' {streams} to='a' to='b'>"), NotWellFormed),
        ("<?xml version='1.0' encoding='iso-8859-1'?>".into(), UnsupportedEncoding),
        ("<?xml version='1.1'?>".into(), RestrictedXml),
        ("<?php".into(), RestrictedXml),
        ("<!DOCTYPE a>".into(), RestrictedXml),
        ("<!-- a -->".into(), RestrictedXml),
    ] {
        assert_eq!(header_refusal(&header), condition, "{header}");
    }
}

#[test]
fn stanzas_that_are_not_allowed_are_refused() {
    use StreamCondition::*;
    for (content, condition) in [
        ("text", BadFormat),
        ("</stream:strea>", NotWellFormed),
        ("</stream:stream/>", NotWellFormed),
        ("</stream :stream>", NotWellFormed),
        ("<?xml version='1.0'?>", RestrictedXml),
        ("<!-- a -->", RestrictedXml),
        ("<a><!-- a --></a>", RestrictedXml),
        ("<a><?b c?></a>", RestrictedXml),
        ("<a><!DOCTYPE b></a>", RestrictedXml),
        ("<a><!ENTITY b 'c'></a>", RestrictedXml),
        ("<a>&b;</a>", RestrictedXml),
        ("<a b='&c;'/>", RestrictedXml),
        ("<a>&#0;</a>", NotWellFormed),
        ("<a>\u{1}</a>", NotWellFormed),
        ("<a>]]></a>", NotWellFormed),
        ("<a><b></a>", NotWellFormed),
        ("<a b=c/>", NotWellFormed),
        ("<a b='<'/>", NotWellFormed),
        ("<a b='c' b='d'/>", NotWellFormed),
        ("<a xmlns:b='x' xmlns:c='x' b:d='1' c:d='2'/>", NotWellFormed),
        ("<a xmlns='x' xmlns='y'/>", NotWellFormed),
        ("<b:a/>", NotWellFormed),
        ("<a b:c='d'/>", NotWellFormed),
        ("<a><b xmlns:c='d'/><c:e/></a>", NotWellFormed),
        ("<xmlns:a/>", NotWellFormed),
        ("<a xmlns:b='http://www.w3.org/2000/xmlns/'/>", NotWellFormed),
        ("<a xmlns='http://www.w3.org/XML/1998/namespace'/>", NotWellFormed),
        ("<a xmlns:b=''/>", NotWellFormed),
        ("<a:b:c/>", NotWellFormed),
        ("<1/>", NotWellFormed),
    ] {
        assert_eq!(refusal(content), condition, "{content}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_an_unsupported_encoding() {
    let utf_16 = items([&b"\xFF\xFE<\0"[..]], &Limits::default()).unwrap_err();
    assert_eq!(utf_16.condition, StreamCondition::UnsupportedEncoding);
    for bytes in [&b"<a>\xFF</a>"[..], b"<a>\xC0\x80</a>", b"<a>\xED\xA0\x80</a>", b"<a b='\xE4'/>"] {
        let error = items([HEADER.as_bytes(), bytes], &Limits::default()).unwrap_err();
        assert_eq!(error.condition, StreamCondition::UnsupportedEncoding, "{bytes:?}");
    }
}

#[test]
fn a_reader_drops_everything_after_an_error_or_the_end() {
    let limits = Limits::default();
    let mut reader = Reader::new();
    reader.read(b"?", &limits).unwrap_err();
    assert_eq!(reader.read(HEADER.as_bytes(), &limits), Ok((HEADER.len(), None)));

    let mut reader = Reader::new();
    reader.read(HEADER.as_bytes(), &limits).unwrap();
    assert_eq!(reader.read(b"</stream:stream>", &limits), Ok((16, Some(Item::End))));
    assert_eq!(reader.read(b"<iq/>", &limits), Ok((5, None)));
}

#[test]
fn bombs_are_refused_at_the_limit() {
    let beyond =
        |content: &str| assert_eq!(refusal(content), StreamCondition::PolicyViolation, "{:.40}", content);
    let long = "a".repeat(300_000);
    beyond(&"<a>".repeat(100_000));
    beyond(&format!("<a {}", (0..10_000).map(|number| format!("b{number}='' ")).collect::<String>()));
    beyond(&format!("<a {}", (0..65).map(|number| format!("xmlns:b{number}='c' ")).collect::<String>()));
    beyond(&(0..60).map(|number| format!("<a xmlns:b{number}='c' xmlns:c{number}='d'>")).collect::<String>());
    beyond(&format!("<{long}"));
    beyond(&format!("<a {long}"));
    beyond(&format!("<a b='{long}"));
    beyond(&format!("<a>{long}"));
    beyond(&format!("<a>{}", "<b/>".repeat(100_000)));
    beyond(&format!("<a>{}", "<![CDATA[b]]>".repeat(100_000)));
    beyond(&format!("<a{}", " ".repeat(300_000)));
    let reference = format!("<a>&#{}", "0".repeat(10_000));
    assert_eq!(refusal(&reference), StreamCondition::RestrictedXml);
    assert_eq!(header_refusal(&format!("<a b='{}", "c".repeat(300_000))), StreamCondition::PolicyViolation);
    assert_eq!(header_refusal(&format!("<a {}", " ".repeat(300_000))), StreamCondition::PolicyViolation);
}

#[test]
fn limits_are_exact() {
    let limits = Limits { stanza_bytes: 200, depth: 3, attributes: 2, name_bytes: 5 };
    let read = |content: &str| {
        let mut reader = Reader::new();
        reader.read(HEADER.as_bytes(), &Limits::default()).unwrap();
        reader
            .read(content.as_bytes(), &limits)
            .map(|(_, item)| item.is_some())
            .map_err(|error| error.condition)
    };
    let policy = Err(StreamCondition::PolicyViolation);
    assert_eq!(read(&format!("<a>{}</a>", "b".repeat(193))), Ok(true));
    assert_eq!(read(&format!("<a>{}</a>", "b".repeat(194))), policy);
    assert_eq!(read("<a><b><c/></b></a>"), Ok(true));
    assert_eq!(read("<a><b><c><d/></c></b></a>"), policy);
    assert_eq!(read("<a b='1' c='2'/>"), Ok(true));
    assert_eq!(read("<a b='1' c='2' d='3'/>"), policy);
    assert_eq!(read("<abcde/>"), Ok(true));
    assert_eq!(read("<abcdef/>"), policy);
    assert_eq!(read("<a xmlns:b='c' b:def='g'/>"), policy, "the declaration has seven bytes");
}

#[test]
fn a_document_declares_its_own_namespace() {
    let limits = Limits::default();
    let read = |xml: &str| document(xml.as_bytes(), &limits);
    assert!(read("<message xmlns='jabber:client'/>").unwrap().root().is("message", ns::CLIENT));
    assert!(read("<?xml version='1.0'?>\n<message/>\n").unwrap().root().is("message", ""));
    for (xml, condition) in [
        ("", StreamCondition::NotWellFormed),
        ("<a>", StreamCondition::NotWellFormed),
        ("<a/><b/>", StreamCondition::NotWellFormed),
        ("<a/>b", StreamCondition::NotWellFormed),
        ("<stream:features/>", StreamCondition::NotWellFormed),
        ("<a/><!-- b -->", StreamCondition::NotWellFormed),
    ] {
        assert_eq!(read(xml).unwrap_err().condition, condition, "{xml}");
    }
    let large = format!("<a>{}</a>", "b".repeat(262_144));
    assert_eq!(read(&large).unwrap_err().condition, StreamCondition::PolicyViolation);
}

#[test]
fn an_element_is_written_for_the_place_where_it_will_be() {
    let tree = stanzas(
        "<message to='a'><body>b</body><x xmlns='urn:x' xmlns:p='urn:p' p:y=\"'\"><p:z/></x></message>",
    );
    let inside =
        "<body>b</body><x xmlns='urn:x' xmlns:a0='urn:p' a0:y='&apos;'><z xmlns='urn:p'/></x></message>";
    assert_eq!(written(tree[0].root(), ns::CLIENT), format!("<message to='a'>{inside}"));
    assert_eq!(written(tree[0].root(), ""), format!("<message xmlns='jabber:client' to='a'>{inside}"));
    let x = tree[0].root().child("x", "urn:x").unwrap();
    assert_eq!(written(x.first().unwrap(), ns::CLIENT), "<z xmlns='urn:p'/>");
}

#[test]
fn debug_output_of_a_stanza_has_no_content() {
    let tree = stanzas("<message to='secret'><body>secret</body></message>");
    assert_eq!(format!("{:?}", tree[0]), "<message xmlns='jabber:client'>");
}

/// An element in some namespace, with content.
#[derive(Clone, Debug)]
struct Sample {
    name: String,
    ns: &'static str,
    attributes: Vec<(&'static str, String)>,
    content: Vec<Result<Sample, String>>,
}

impl Sample {
    fn write(&self, out: &mut Vec<u8>) {
        let mut open = Open::new(out, &self.name).attr("xmlns", self.ns);
        for (name, value) in &self.attributes {
            if let Some((prefix, _)) = name.split_once(':').filter(|(prefix, _)| *prefix != "xml") {
                open = open.attr(&format!("xmlns:{prefix}"), &format!("urn:{prefix}"));
            }
            open = open.attr(name, value);
        }
        open.children(|out| {
            for content in &self.content {
                match content {
                    Ok(sample) => sample.write(out),
                    Err(text) => xmpp_proto::xml::escape(out, text),
                }
            }
        });
    }
}

fn samples() -> impl Strategy<Value = Sample> {
    let text = || prop_oneof!["[a-z <>&'\"\\]\t\r\n]{0,10}", "\\PC{0,6}", any::<String>()];
    let head = move || {
        let ns = prop::sample::select(vec!["", ns::CLIENT, ns::STREAMS, "urn:a", "urn:p&'<"]);
        let attributes = prop::collection::vec(
            (prop::sample::select(vec!["a", "b", "xml:lang", "p:a", "q:a"]), text()),
            0..4,
        );
        ("[a-zé_][a-z0-9.-]{0,6}", ns, attributes).prop_map(|(name, ns, mut attributes)| {
            attributes.sort_by_key(|(name, _)| *name);
            attributes.dedup_by_key(|(name, _)| *name);
            (name, ns, attributes)
        })
    };
    let leaf = head().prop_map(|(name, ns, attributes)| Sample { name, ns, attributes, content: Vec::new() });
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let content = prop::collection::vec(prop_oneof![inner.prop_map(Ok), text().prop_map(Err)], 0..4);
        (head(), content).prop_map(|((name, ns, attributes), content)| Sample {
            name,
            ns,
            attributes,
            content,
        })
    })
}

proptest! {
    #[test]
    fn a_written_element_is_read_as_the_same(sample in samples(), outer in prop::sample::select(vec!["", ns::CLIENT, "urn:a"])) {
        let mut xml = Vec::new();
        sample.write(&mut xml);
        let tree = document(&xml, &Limits::default()).unwrap();
        let mut again = Vec::new();
        Open::new(&mut again, "outer").attr("xmlns", outer).children(|out| tree.root().write(out, outer));
        let read = document(&again, &Limits::default()).unwrap();
        prop_assert_eq!(read.root().first().unwrap(), tree.root());
        for child in tree.root().children() {
            let mut alone = Vec::new();
            child.write(&mut alone, "");
            let read = document(&alone, &Limits::default()).unwrap();
            prop_assert_eq!(read.root(), child);
        }
    }

    #[test]
    fn bytes_in_any_pieces_give_the_same_items(samples in prop::collection::vec(samples(), 0..3), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut bytes = HEADER.as_bytes().to_vec();
        for sample in &samples {
            sample.write(&mut bytes);
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(b"</stream:stream>");
        check_pieces(&bytes, &cuts)?;
    }

    #[test]
    fn any_bytes_in_any_pieces_give_the_same_result(
        bytes in prop::collection::vec(prop::sample::select(b"<<<>>>//ab:='\"&;#![]-? \nx\xC3\xA4".to_vec()), 0..60),
        has_header in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let bytes = if has_header { [HEADER.as_bytes(), &bytes].concat() } else { bytes };
        check_pieces(&bytes, &cuts)?;
    }
}

fn check_pieces(bytes: &[u8], cuts: &[prop::sample::Index]) -> Result<(), TestCaseError> {
    let limits = Limits::default();
    let whole = items([bytes], &limits).map_err(|error| error.condition);
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
    prop_assert_eq!(&items(pieces, &limits).map_err(|error| error.condition), &whole);
    prop_assert_eq!(&items(bytes.chunks(1), &limits).map_err(|error| error.condition), &whole);
    Ok(())
}
