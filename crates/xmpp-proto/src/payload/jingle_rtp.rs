//! The contents of calls in Jingle: RTP (XEP-0167) with feedback (XEP-0293), header extensions (XEP-0294) and sources (XEP-0339), over
//! ICE (XEP-0176) with DTLS (XEP-0320), in one bundle (XEP-0338).

use crate::ns;
use crate::sdp::{
    Candidate, Description, Direction, Feedback, Fingerprint, HeaderExtension, Kind, MOST_CANDIDATES,
    MOST_EXTENSIONS, MOST_FEEDBACK, MOST_PARAMETERS, MOST_PAYLOAD_TYPES, MOST_SECTIONS, MOST_SOURCES, Media,
    PayloadType, Section, Setup, Source, SourceGroup, Transport, is_hash, is_ice_option, is_ice_text,
    is_line, is_name, is_parameter, is_token, is_word, push,
};
use crate::xml::{Element, Open};

use super::jingle::{Author, contents};

pub(super) fn description(jingle: Element<'_>, author: Author) -> Option<Description> {
    let mut description = Description::default();
    for content in contents(jingle) {
        push(&mut description.sections, Section::Media(media(content, author)?), MOST_SECTIONS)?;
    }
    let is_bundle = |child: &Element<'_>| {
        child.is("group", ns::JINGLE_GROUPING) && child.attr("semantics") == Some("BUNDLE")
    };
    if let Some(group) = jingle.children().find(is_bundle) {
        for content in group.children() {
            push(&mut description.bundle, content.attr("name")?.into(), MOST_SECTIONS)?;
        }
    }
    description.is_sound().then_some(description)
}

fn media(content: Element<'_>, author: Author) -> Option<Media> {
    let description = content.child("description", ns::JINGLE_RTP)?;
    let name = content.attr("name").filter(|name| is_name(name))?;
    let mut media = Media {
        name: name.into(),
        kind: Kind::of(description.attr("media")?)?,
        direction: direction(content.attr("senders"), author)?,
        payload_types: Vec::new(),
        feedback: Vec::new(),
        extensions: Vec::new(),
        mixes_extensions: false,
        multiplexes_rtcp: false,
        sources: Vec::new(),
        source_groups: Vec::new(),
        transport: transport(content.child("transport", ns::JINGLE_ICE)?)?,
    };
    for child in description.children() {
        match (child.name(), child.ns()) {
            ("payload-type", ns::JINGLE_RTP) => {
                push(&mut media.payload_types, payload_type(child)?, MOST_PAYLOAD_TYPES)?;
            }
            ("rtcp-mux", ns::JINGLE_RTP) => media.multiplexes_rtcp = true,
            ("rtcp-fb", ns::JINGLE_RTCP_FB) => push(&mut media.feedback, feedback(child)?, MOST_FEEDBACK)?,
            ("rtp-hdrext", ns::JINGLE_RTP_HDREXT) => {
                push(&mut media.extensions, extension(child, author)?, MOST_EXTENSIONS)?;
            }
            ("extmap-allow-mixed", ns::JINGLE_RTP_HDREXT) => media.mixes_extensions = true,
            ("source", ns::JINGLE_SSMA) => push(&mut media.sources, source(child)?, MOST_SOURCES)?,
            ("ssrc-group", ns::JINGLE_SSMA) => {
                push(&mut media.source_groups, source_group(child)?, MOST_SOURCES)?
            }
            _ => {}
        }
    }
    // COMPAT(stanza, 2026): it describes only the first source of a group, and browsers refuse a group with unknown sources.
    let Media { sources, source_groups, .. } = &mut media;
    let is_known = |ssrc: &u32| sources.iter().any(|source| source.ssrc == *ssrc);
    source_groups.retain(|group| group.ssrcs.iter().all(is_known));
    Some(media)
}

/// XEP-0166 §7.3: `senders` names a party, an SDP the side of its author.
fn direction(senders: Option<&str>, author: Author) -> Option<Direction> {
    Some(match (senders.unwrap_or("both"), author) {
        ("both", _) => Direction::Both,
        ("none", _) => Direction::Inactive,
        ("initiator", Author::Initiator) | ("responder", Author::Responder) => Direction::Sends,
        ("initiator", Author::Responder) | ("responder", Author::Initiator) => Direction::Receives,
        _ => return None,
    })
}

fn senders(direction: Direction, author: Author) -> Option<&'static str> {
    match (direction, author) {
        (Direction::Both, _) => None,
        (Direction::Inactive, _) => Some("none"),
        (Direction::Sends, Author::Initiator) | (Direction::Receives, Author::Responder) => Some("initiator"),
        (Direction::Receives, Author::Initiator) | (Direction::Sends, Author::Responder) => Some("responder"),
    }
}

fn payload_type(element: Element<'_>) -> Option<PayloadType> {
    let name = element.attr("name").unwrap_or_default();
    let number = |name| element.attr(name).map(|value| value.parse::<u32>().ok());
    let mut one = PayloadType {
        id: element.attr("id")?.parse().ok().filter(|id| *id < 128)?,
        name: (name.is_empty() || is_token(name)).then_some(name)?.into(),
        // XEP-0167 §4.1: the default of static types is that of RFC 3551.
        clock_rate: number("clockrate").unwrap_or(Some(8000))?,
        channels: number("channels").unwrap_or(Some(1))?.clamp(1, 255) as u8,
        parameters: Vec::new(),
        feedback: Vec::new(),
    };
    for child in element.children() {
        match (child.name(), child.ns()) {
            ("parameter", ns::JINGLE_RTP) => {
                let (name, value) =
                    (child.attr("name").unwrap_or_default(), child.attr("value").unwrap_or_default());
                // COMPAT(stanza, 2026): a value without a name comes as the name.
                let (name, value) = if value.is_empty() { ("", name) } else { (name, value) };
                let parameter = is_parameter(name, value).then(|| (name.into(), value.into()))?;
                push(&mut one.parameters, parameter, MOST_PARAMETERS)?;
            }
            ("rtcp-fb", ns::JINGLE_RTCP_FB) => push(&mut one.feedback, feedback(child)?, MOST_FEEDBACK)?,
            _ => {}
        }
    }
    Some(one)
}

fn feedback(element: Element<'_>) -> Option<Feedback> {
    let kind = element.attr("type").filter(|kind| is_token(kind))?;
    let subtype = element.attr("subtype").filter(|subtype| !subtype.is_empty());
    subtype.is_none_or(is_line).then(|| Feedback { kind: kind.into(), subtype: subtype.map(Box::from) })
}

fn extension(element: Element<'_>, author: Author) -> Option<HeaderExtension> {
    Some(HeaderExtension {
        id: element.attr("id")?.parse().ok()?,
        uri: element.attr("uri").filter(|uri| is_word(uri))?.into(),
        direction: direction(element.attr("senders"), author)?,
    })
}

fn source(element: Element<'_>) -> Option<Source> {
    let mut source = Source { ssrc: element.attr("ssrc")?.parse().ok()?, parameters: Vec::new() };
    for parameter in element.children().filter(|child| child.is("parameter", ns::JINGLE_SSMA)) {
        let name = parameter.attr("name").filter(|name| is_token(name))?;
        let value = parameter.attr("value");
        let parameter = value.is_none_or(is_line).then(|| (name.into(), value.map(Box::from)))?;
        push(&mut source.parameters, parameter, MOST_PARAMETERS)?;
    }
    Some(source)
}

fn source_group(element: Element<'_>) -> Option<SourceGroup> {
    let semantics = element.attr("semantics").filter(|semantics| is_token(semantics))?;
    let mut group = SourceGroup { semantics: semantics.into(), ssrcs: Vec::new() };
    for source in element.children().filter(|child| child.is("source", ns::JINGLE_SSMA)) {
        push(&mut group.ssrcs, source.attr("ssrc")?.parse().ok()?, MOST_SOURCES)?;
    }
    Some(group)
}

fn transport(element: Element<'_>) -> Option<Transport> {
    let credential = |name| match element.attr(name) {
        Some(value) => is_ice_text(value).then(|| Some(value.into())),
        None => Some(None),
    };
    let mut transport = Transport {
        ufrag: credential("ufrag")?,
        pwd: credential("pwd")?,
        candidates: candidates(element)?,
        ..Transport::default()
    };
    for child in element.children() {
        match (child.name(), child.ns()) {
            ("fingerprint", ns::JINGLE_DTLS) => {
                let (hash, text) = (child.attr("hash")?, child.text());
                let value = text.trim();
                let fingerprint = Fingerprint { hash: hash.into(), value: value.into() };
                transport.fingerprint = Some(is_hash(hash, value).then_some(fingerprint)?);
                transport.setup = child.attr("setup").and_then(Setup::of);
            }
            (option, ns::JINGLE_ICE_OPTION) if is_ice_option(option) => {
                push(&mut transport.options, option.into(), MOST_FEEDBACK)?;
            }
            _ => {}
        }
    }
    Some(transport)
}

/// XEP-0176 §5.3. Kinds that WebRTC does not have are left out.
pub(super) fn candidates(transport: Element<'_>) -> Option<Vec<Candidate>> {
    let mut all = Vec::new();
    for element in transport.children().filter(|child| child.is("candidate", ns::JINGLE_ICE)) {
        let related = match (element.attr("rel-addr"), element.attr("rel-port")) {
            (Some(address), Some(port)) => Some((address.into(), port.parse().ok()?)),
            _ => None,
        };
        let candidate = Candidate {
            foundation: element.attr("foundation")?.into(),
            component: element.attr("component")?.parse().ok()?,
            protocol: element.attr("protocol")?.to_ascii_lowercase().into(),
            priority: element.attr("priority")?.parse().ok()?,
            address: element.attr("ip")?.into(),
            port: element.attr("port")?.parse().ok()?,
            kind: element.attr("type")?.into(),
            related,
            tcp_type: element.attr("tcptype").map(Box::from),
            generation: element.attr("generation").map_or(Some(0), |text| text.parse().ok())?,
            network: element.attr("network").and_then(|network| network.parse().ok()),
        };
        if candidate.is_sound() {
            push(&mut all, candidate, MOST_CANDIDATES)?;
        }
    }
    Some(all)
}

/// Writes the contents of a description, and its bundle. Rejected sections have no counterpart.
pub(super) fn write(out: &mut Vec<u8>, description: &Description, author: Author) {
    for media in description.media() {
        write_content(out, media, author);
    }
    if !description.bundle.is_empty() {
        Open::new(out, "group").attr("xmlns", ns::JINGLE_GROUPING).attr("semantics", "BUNDLE").children(
            |out| {
                description
                    .bundle
                    .iter()
                    .for_each(|name| Open::new(out, "content").attr("name", name).empty());
            },
        );
    }
}

fn write_content(out: &mut Vec<u8>, media: &Media, author: Author) {
    let open = Open::new(out, "content").attr("creator", "initiator").attr("name", &media.name);
    open.opt("senders", senders(media.direction, author)).children(|out| {
        let open = Open::new(out, "description").attr("xmlns", ns::JINGLE_RTP);
        open.attr("media", media.kind.name()).children(|out| write_media(out, media, author));
        let Transport { ufrag, pwd, .. } = &media.transport;
        let credentials = ufrag.as_deref().zip(pwd.as_deref());
        write_transport_with(out, credentials, |out| write_transport(out, &media.transport));
    });
}

fn write_media(out: &mut Vec<u8>, media: &Media, author: Author) {
    for one in &media.payload_types {
        Open::new(out, "payload-type")
            .display("id", one.id)
            .opt("name", Some(&*one.name).filter(|name| !name.is_empty()))
            .display("clockrate", one.clock_rate)
            .display("channels", one.channels)
            .children(|out| {
                for (name, value) in &one.parameters {
                    Open::new(out, "parameter").attr("name", name).attr("value", value).empty();
                }
                one.feedback.iter().for_each(|feedback| write_feedback(out, feedback));
            });
    }
    media.feedback.iter().for_each(|feedback| write_feedback(out, feedback));
    for HeaderExtension { id, uri, direction } in &media.extensions {
        let open = Open::new(out, "rtp-hdrext").attr("xmlns", ns::JINGLE_RTP_HDREXT).display("id", id);
        open.attr("uri", uri).opt("senders", senders(*direction, author)).empty();
    }
    if media.mixes_extensions {
        Open::new(out, "extmap-allow-mixed").attr("xmlns", ns::JINGLE_RTP_HDREXT).empty();
    }
    for Source { ssrc, parameters } in &media.sources {
        Open::new(out, "source").attr("xmlns", ns::JINGLE_SSMA).display("ssrc", ssrc).children(|out| {
            for (name, value) in parameters {
                Open::new(out, "parameter").attr("name", name).opt("value", value.as_deref()).empty();
            }
        });
    }
    for SourceGroup { semantics, ssrcs } in &media.source_groups {
        let open = Open::new(out, "ssrc-group").attr("xmlns", ns::JINGLE_SSMA).attr("semantics", semantics);
        open.children(|out| {
            ssrcs.iter().for_each(|ssrc| Open::new(out, "source").display("ssrc", ssrc).empty())
        });
    }
    if media.multiplexes_rtcp {
        Open::new(out, "rtcp-mux").empty();
    }
}

fn write_feedback(out: &mut Vec<u8>, Feedback { kind, subtype }: &Feedback) {
    let open = Open::new(out, "rtcp-fb").attr("xmlns", ns::JINGLE_RTCP_FB).attr("type", kind);
    open.opt("subtype", subtype.as_deref()).empty();
}

pub(super) fn write_transport_with(
    out: &mut Vec<u8>,
    credentials: Option<(&str, &str)>,
    children: impl FnOnce(&mut Vec<u8>),
) {
    let open = Open::new(out, "transport").attr("xmlns", ns::JINGLE_ICE);
    open.opt("ufrag", credentials.map(|(ufrag, _)| ufrag))
        .opt("pwd", credentials.map(|(_, pwd)| pwd))
        .children(children);
}

fn write_transport(out: &mut Vec<u8>, transport: &Transport) {
    for option in &transport.options {
        Open::new(out, option).attr("xmlns", ns::JINGLE_ICE_OPTION).empty();
    }
    if let Some(Fingerprint { hash, value }) = &transport.fingerprint {
        let open = Open::new(out, "fingerprint").attr("xmlns", ns::JINGLE_DTLS).attr("hash", hash);
        open.opt("setup", transport.setup.map(Setup::name)).text(value);
    }
    for (number, candidate) in transport.candidates.iter().enumerate() {
        write_candidate(out, candidate, &number.to_string());
    }
}

/// `id`: unique among the candidates of the session.
pub(super) fn write_candidate(out: &mut Vec<u8>, candidate: &Candidate, id: &str) {
    let related = candidate.related.as_ref();
    let mut open = Open::new(out, "candidate")
        .display("component", candidate.component)
        .attr("foundation", &candidate.foundation)
        .display("generation", candidate.generation)
        .attr("id", id)
        .attr("ip", &candidate.address)
        .display("network", candidate.network.unwrap_or(0))
        .display("port", candidate.port)
        .display("priority", candidate.priority)
        .attr("protocol", &candidate.protocol)
        .attr("type", &candidate.kind)
        .opt("tcptype", candidate.tcp_type.as_deref());
    if let Some((address, port)) = related {
        open = open.attr("rel-addr", address).display("rel-port", port);
    }
    open.empty();
}
