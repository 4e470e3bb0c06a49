//! Session descriptions (SDP, RFC 8866) of WebRTC, as far as Jingle can carry them.
//!
//! A [`Description`] is what both formats share: [`Description::parse`] and [`Description::to_sdp`] are SDP, [`crate::payload::jingle_rtp`]
//! is Jingle. Sections of other kinds than sound and pictures, as data channels, keep their place and are rejected (RFC 3264 §6).
//!
//! Both sides are untrusted. Every text is checked before it becomes a value, so no value can add a line to an SDP. Lists are
//! bounded: a description with longer ones is refused.

use std::fmt::Write as _;

/// Sections of a description. RFC 8843 puts all of them on one transport.
pub const MOST_SECTIONS: usize = 8;
/// In a section. A browser lists some forty for pictures.
pub const MOST_PAYLOAD_TYPES: usize = 64;
/// Of a payload type, and of a source.
pub const MOST_PARAMETERS: usize = 32;
/// Of a payload type, and of a section.
pub const MOST_FEEDBACK: usize = 16;
pub const MOST_EXTENSIONS: usize = 32;
/// Sources, and groups of them, in a section.
pub const MOST_SOURCES: usize = 16;
/// Candidates in a section.
pub const MOST_CANDIDATES: usize = 64;
/// Bytes of any one text.
pub const TEXT_BYTES: usize = 512;
/// RFC 8843 §9.1 sends the name of a section in RTP packets; browsers refuse longer ones.
const NAME_BYTES: usize = 16;

/// The author's side of a session: what it sends, what it can receive, and how it is reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The names of the sections that share one transport (RFC 8843).
    pub bundle: Vec<Box<str>>,
    /// In the order of the first offer, which never changes (RFC 3264 §8).
    pub sections: Vec<Section>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Section {
    Media(Media),
    Rejected(Rejected),
}

/// A section that is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub name: Option<Box<str>>,
    /// Its kind, as the first word of its line.
    kind: Box<str>,
    protocol: Box<str>,
    format: Box<str>,
}

/// A section of sound or pictures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Media {
    /// RFC 5888: unique in the description.
    pub name: Box<str>,
    pub kind: Kind,
    pub direction: Direction,
    pub payload_types: Vec<PayloadType>,
    /// For all payload types.
    pub feedback: Vec<Feedback>,
    pub extensions: Vec<HeaderExtension>,
    /// RFC 8285 §6.
    pub mixes_extensions: bool,
    /// RFC 5761.
    pub multiplexes_rtcp: bool,
    pub sources: Vec<Source>,
    pub source_groups: Vec<SourceGroup>,
    pub transport: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Audio,
    Video,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Audio => "audio",
            Kind::Video => "video",
        }
    }

    pub fn of(name: &str) -> Option<Kind> {
        [Kind::Audio, Kind::Video].into_iter().find(|kind| kind.name() == name)
    }
}

/// RFC 8866 §6.7, from the side of the author.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Both,
    Sends,
    Receives,
    Inactive,
}

const DIRECTIONS: [(Direction, &str); 4] = [
    (Direction::Both, "sendrecv"),
    (Direction::Sends, "sendonly"),
    (Direction::Receives, "recvonly"),
    (Direction::Inactive, "inactive"),
];

impl Direction {
    fn name(self) -> &'static str {
        DIRECTIONS.iter().find(|(direction, _)| *direction == self).map_or("sendrecv", |(_, name)| name)
    }

    fn of(name: &str) -> Option<Direction> {
        DIRECTIONS.iter().find(|(_, one)| *one == name).map(|(direction, _)| *direction)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadType {
    pub id: u8,
    /// Empty for the static types of RFC 3551.
    pub name: Box<str>,
    pub clock_rate: u32,
    pub channels: u8,
    /// Name and value. The name is empty if the format has values without names.
    pub parameters: Vec<(Box<str>, Box<str>)>,
    pub feedback: Vec<Feedback>,
}

/// RFC 4585 §4.2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    pub kind: Box<str>,
    pub subtype: Option<Box<str>>,
}

/// RFC 8285.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderExtension {
    pub id: u16,
    pub uri: Box<str>,
    pub direction: Direction,
}

/// RFC 5576.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub ssrc: u32,
    pub parameters: Vec<(Box<str>, Option<Box<str>>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceGroup {
    pub semantics: Box<str>,
    pub ssrcs: Vec<u32>,
}

/// How the author is reached: ICE (RFC 8839) and the certificate of DTLS (RFC 8122).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transport {
    pub ufrag: Option<Box<str>>,
    pub pwd: Option<Box<str>>,
    pub options: Vec<Box<str>>,
    pub fingerprint: Option<Fingerprint>,
    pub setup: Option<Setup>,
    pub candidates: Vec<Candidate>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    pub hash: Box<str>,
    pub value: Box<str>,
}

/// RFC 4145 §4: who begins the handshake of DTLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setup {
    Active,
    Passive,
    Either,
}

impl Setup {
    pub fn name(self) -> &'static str {
        match self {
            Setup::Active => "active",
            Setup::Passive => "passive",
            Setup::Either => "actpass",
        }
    }

    pub fn of(name: &str) -> Option<Setup> {
        [Setup::Active, Setup::Passive, Setup::Either].into_iter().find(|setup| setup.name() == name)
    }
}

/// RFC 8839 §5.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub foundation: Box<str>,
    pub component: u16,
    /// `udp` or `tcp`, in lower case.
    pub protocol: Box<str>,
    pub priority: u32,
    /// An address, or a name of multicast DNS.
    pub address: Box<str>,
    pub port: u16,
    /// `host`, `srflx`, `prflx` or `relay`.
    pub kind: Box<str>,
    pub related: Option<(Box<str>, u16)>,
    /// RFC 6544 §4.5.
    pub tcp_type: Option<Box<str>>,
    pub generation: u8,
    /// Browsers tell interfaces apart by it.
    pub network: Option<u16>,
}

/// RFC 8866 §9, `token`.
pub(crate) fn is_token(text: &str) -> bool {
    let is_token_byte = |byte: u8| matches!(byte, 0x21 | 0x23..=0x27 | 0x2A..=0x2B | 0x2D..=0x2E | 0x30..=0x39 | 0x41..=0x5A | 0x5E..=0x7E);
    (1..=TEXT_BYTES).contains(&text.len()) && text.bytes().all(is_token_byte)
}

/// A word without spaces, in which nothing can end a line.
pub(crate) fn is_word(text: &str) -> bool {
    (1..=TEXT_BYTES).contains(&text.len())
        && !text.chars().any(|char| char.is_control() || char.is_whitespace())
}

/// A text in which nothing can end a line.
pub(crate) fn is_line(text: &str) -> bool {
    text.len() <= TEXT_BYTES && !text.chars().any(char::is_control)
}

pub(crate) fn is_name(text: &str) -> bool {
    is_token(text) && text.len() <= NAME_BYTES
}

/// RFC 8839 §5.4: `ice-char`.
pub(crate) fn is_ice_text(text: &str) -> bool {
    (1..=256).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Jingle has an element of this name for each option, so it must be a name in XML too. RFC 8839 §5.6 allows fewer characters than a
/// token has.
pub(crate) fn is_ice_option(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Neither the name nor the value can begin another parameter.
pub(crate) fn is_parameter(name: &str, value: &str) -> bool {
    let is_part = |text: &str| is_line(text) && !text.contains(';');
    is_part(name) && is_part(value) && !name.contains(['=', ' ']) && !(name.is_empty() && value.is_empty())
}

pub(crate) fn is_hash(hash: &str, value: &str) -> bool {
    is_token(hash) && is_token_list(value, ':')
}

fn is_token_list(value: &str, separator: char) -> bool {
    value.len() <= TEXT_BYTES
        && value
            .split(separator)
            .all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Candidate {
    /// Whether its texts keep to their grammar.
    pub(crate) fn is_sound(&self) -> bool {
        let is_host = |text: &str| {
            (1..=256).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'-'))
        };
        is_ice_text(&self.foundation)
            && self.foundation.len() <= 32
            && matches!(&*self.protocol, "udp" | "tcp")
            && matches!(&*self.kind, "host" | "srflx" | "prflx" | "relay")
            && is_host(&self.address)
            && self.related.as_ref().is_none_or(|(address, _)| is_host(address))
            && self.tcp_type.as_deref().is_none_or(|one| matches!(one, "active" | "passive" | "so"))
    }

    /// Reads `candidate:…`, with or without `a=` before it. None: it is malformed, or of a kind that WebRTC does not have.
    pub fn parse(text: &str) -> Option<Candidate> {
        let text = text.strip_prefix("a=").unwrap_or(text).strip_prefix("candidate:")?;
        let mut words = text.split_ascii_whitespace();
        let mut next = || words.next();
        let (foundation, component) = (next()?.into(), next()?.parse().ok()?);
        let (protocol, priority) = (next()?.to_ascii_lowercase().into(), next()?.parse().ok()?);
        let (address, port) = (next()?.into(), next()?.parse().ok()?);
        let kind = (next()? == "typ").then(&mut next)??.into();
        let mut candidate = Candidate {
            foundation,
            component,
            protocol,
            priority,
            address,
            port,
            kind,
            related: None,
            tcp_type: None,
            generation: 0,
            network: None,
        };
        let mut related_address: Option<Box<str>> = None;
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            match name {
                "raddr" => related_address = Some(value.into()),
                "rport" => {
                    let port = value.parse().ok()?;
                    candidate.related = related_address.take().map(|address| (address, port));
                }
                "tcptype" => candidate.tcp_type = Some(value.into()),
                "generation" => candidate.generation = value.parse().ok()?,
                "network-id" => candidate.network = value.parse().ok(),
                _ => {}
            }
        }
        candidate.is_sound().then_some(candidate)
    }

    /// Without `a=` before it, as browsers take it.
    pub fn to_line(&self) -> String {
        let Candidate { foundation, component, protocol, priority, address, port, kind, .. } = self;
        let mut line =
            format!("candidate:{foundation} {component} {protocol} {priority} {address} {port} typ {kind}");
        if let Some((address, port)) = &self.related {
            let _ = write!(line, " raddr {address} rport {port}");
        }
        if let Some(tcp_type) = &self.tcp_type {
            let _ = write!(line, " tcptype {tcp_type}");
        }
        let _ = write!(line, " generation {}", self.generation);
        if let Some(network) = self.network {
            let _ = write!(line, " network-id {network}");
        }
        line
    }
}

impl Section {
    pub fn name(&self) -> Option<&str> {
        match self {
            Section::Media(media) => Some(&media.name),
            Section::Rejected(rejected) => rejected.name.as_deref(),
        }
    }

    pub fn media(&self) -> Option<&Media> {
        match self {
            Section::Media(media) => Some(media),
            Section::Rejected(_) => None,
        }
    }
}

impl Media {
    fn is_sound(&self) -> bool {
        let ids: Vec<u8> = self.payload_types.iter().map(|one| one.id).collect();
        let ssrcs: Vec<u32> = self.sources.iter().map(|source| source.ssrc).collect();
        !self.name.is_empty() && !ids.is_empty() && are_different(&ids) && are_different(&ssrcs)
    }

    /// The same place in an answer, without the use of it.
    fn rejected(&self) -> Rejected {
        let format = self.payload_types.first().map_or(0, |one| one.id);
        Rejected {
            name: Some(self.name.clone()),
            kind: self.kind.name().into(),
            protocol: RTP.into(),
            format: format.to_string().into(),
        }
    }
}

/// For the short lists of this module.
fn are_different<T: PartialEq>(items: &[T]) -> bool {
    items.iter().enumerate().all(|(at, item)| !items[..at].contains(item))
}

/// RFC 5764 §8.
const RTP: &str = "UDP/TLS/RTP/SAVPF";

impl Description {
    /// The sections of sound and pictures.
    pub fn media(&self) -> impl Iterator<Item = &Media> {
        self.sections.iter().filter_map(Section::media)
    }

    pub fn has(&self, kind: Kind) -> bool {
        self.media().any(|media| media.kind == kind)
    }

    /// Keeps only the sections of these kinds.
    pub fn only(mut self, kinds: &[Kind]) -> Description {
        self.sections.retain(|section| section.media().is_some_and(|media| kinds.contains(&media.kind)));
        self.with_used_bundle()
    }

    /// Takes the candidates out of the description: each with the name of its section.
    pub fn take_candidates(&mut self) -> Vec<(Box<str>, Candidate)> {
        let mut taken = Vec::new();
        for section in &mut self.sections {
            if let Section::Media(media) = section {
                let candidates = std::mem::take(&mut media.transport.candidates);
                taken.extend(candidates.into_iter().map(|candidate| (media.name.clone(), candidate)));
            }
        }
        taken
    }

    /// The same media over another path: a restart of ICE (RFC 8839 §4.4.1.1.1). All sections get these credentials, and `setup` if given.
    pub fn restarted(&self, ufrag: &str, pwd: &str, setup: Option<Setup>) -> Description {
        let mut again = self.clone();
        for section in &mut again.sections {
            if let Section::Media(Media { transport, .. }) = section {
                (transport.ufrag, transport.pwd) = (Some(ufrag.into()), Some(pwd.into()));
                transport.setup = setup.or(transport.setup);
                transport.candidates.clear();
            }
        }
        again
    }

    /// This answer with the sections of the offer, in its order: those that it does not have are rejected (RFC 3264 §6). None: it has a
    /// section that was not offered.
    pub fn answering(self, offer: &Description) -> Option<Description> {
        let Description { bundle, sections } = self;
        let mut own: Vec<Media> = sections
            .into_iter()
            .filter_map(|section| match section {
                Section::Media(media) => Some(media),
                Section::Rejected(_) => None,
            })
            .collect();
        let sections = offer.sections.iter().map(|offered| match offered {
            Section::Media(offered) => {
                match own.iter().position(|media| media.name == offered.name && media.kind == offered.kind) {
                    Some(at) => Section::Media(own.remove(at)),
                    None => Section::Rejected(offered.rejected()),
                }
            }
            Section::Rejected(rejected) => Section::Rejected(rejected.clone()),
        });
        let sections = sections.collect();
        own.is_empty().then(|| Description { bundle, sections }.with_used_bundle())
    }

    /// Reads a description of a browser. Attributes without a counterpart in Jingle are left out. None: it is malformed, or larger than
    /// the bounds of this module.
    pub fn parse(sdp: &str) -> Option<Description> {
        let mut description = Description::default();
        let mut session = Attributes::default();
        let mut current: Option<Section> = None;
        for line in sdp.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)) {
            if line.contains('\r') {
                return None;
            }
            let Some((kind, value)) = line.split_once('=') else {
                if line.is_empty() { continue } else { return None }
            };
            match (kind, &mut current) {
                ("m", _) => {
                    description.sections.extend(current.take());
                    if description.sections.len() == MOST_SECTIONS {
                        return None;
                    }
                    current = Some(section(value, &session)?);
                }
                ("a", None) => session.take(value, &mut description.bundle)?,
                ("a", Some(Section::Media(media))) => media.take(value)?,
                ("a", Some(Section::Rejected(rejected))) => {
                    if let Some(name) = value.strip_prefix("mid:") {
                        rejected.name = Some(is_name(name).then_some(name)?.into());
                    }
                }
                _ => {}
            }
        }
        description.sections.extend(current);
        description.is_sound().then(|| description.with_used_bundle())
    }

    /// Without the sections that are not used in the bundle.
    fn with_used_bundle(mut self) -> Description {
        let Description { bundle, sections } = &mut self;
        bundle.retain(|name| sections.iter().filter_map(Section::media).any(|media| media.name == *name));
        self
    }

    /// Sections, payload types and sources have names of their own, and those of the bundle exist.
    pub(crate) fn is_sound(&self) -> bool {
        let names: Vec<&str> = self.sections.iter().filter_map(Section::name).collect();
        are_different(&names)
            && !self.sections.is_empty()
            && self.media().all(Media::is_sound)
            && self.bundle.iter().all(|name| names.contains(&&**name))
    }

    /// Writes the description for a browser.
    pub fn to_sdp(&self) -> String {
        let mut out = String::from("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n");
        if !self.bundle.is_empty() {
            let _ = write!(out, "a=group:BUNDLE {}\r\n", self.bundle.join(" "));
        }
        for section in &self.sections {
            match section {
                Section::Media(media) => media.write(&mut out),
                Section::Rejected(rejected) => rejected.write(&mut out),
            }
        }
        out
    }
}

/// Attributes of the whole session that are those of each section (RFC 8839 §5.4, RFC 8122 §5).
#[derive(Default)]
struct Attributes {
    transport: Transport,
    mixes_extensions: bool,
}

impl Attributes {
    fn take(&mut self, value: &str, bundle: &mut Vec<Box<str>>) -> Option<()> {
        let (name, rest) = value.split_once(':').unwrap_or((value, ""));
        match name {
            "group" => {
                if let Some(names) = rest.strip_prefix("BUNDLE") {
                    *bundle = names.split_ascii_whitespace().take(MOST_SECTIONS + 1).map(Box::from).collect();
                }
                (bundle.len() <= MOST_SECTIONS).then_some(())
            }
            "extmap-allow-mixed" => {
                self.mixes_extensions = true;
                Some(())
            }
            _ => self.transport.take(name, rest),
        }
    }
}

/// The line of a section.
fn section(value: &str, session: &Attributes) -> Option<Section> {
    let mut words = value.split_ascii_whitespace();
    let (kind, port, protocol) = (words.next()?, words.next()?, words.next()?);
    let formats: Vec<&str> = words.collect();
    let is_rtp = matches!(protocol, "UDP/TLS/RTP/SAVPF" | "UDP/TLS/RTP/SAVP" | "RTP/SAVPF");
    match Kind::of(kind).filter(|_| is_rtp && port != "0") {
        Some(kind) if formats.len() <= MOST_PAYLOAD_TYPES => {
            let ids = formats.iter().map(|format| format.parse().ok().filter(|id| *id < 128));
            let payload_types = ids.map(|id| id.map(PayloadType::of_static)).collect::<Option<Vec<_>>>()?;
            Some(Section::Media(Media {
                name: "".into(),
                kind,
                direction: Direction::Both,
                payload_types,
                feedback: Vec::new(),
                extensions: Vec::new(),
                mixes_extensions: session.mixes_extensions,
                multiplexes_rtcp: false,
                sources: Vec::new(),
                source_groups: Vec::new(),
                transport: session.transport.clone(),
            }))
        }
        Some(_) => None,
        None => {
            let format = formats.first()?;
            let is_sound = [kind, *format].into_iter().all(is_token) && is_word(protocol);
            is_sound.then(|| {
                Section::Rejected(Rejected {
                    name: None,
                    kind: kind.into(),
                    protocol: protocol.into(),
                    format: (*format).into(),
                })
            })
        }
    }
}

impl PayloadType {
    fn of_static(id: u8) -> PayloadType {
        let (name, clock_rate) = ("".into(), 8000);
        PayloadType { id, name, clock_rate, channels: 1, parameters: Vec::new(), feedback: Vec::new() }
    }
}

impl Transport {
    /// An attribute of ICE or DTLS; others are ignored. None: it is malformed.
    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "ice-ufrag" => self.ufrag = Some(is_ice_text(value).then_some(value)?.into()),
            "ice-pwd" => self.pwd = Some(is_ice_text(value).then_some(value)?.into()),
            "ice-options" => {
                let options = value.split_ascii_whitespace().filter(|option| is_ice_option(option));
                self.options = options.take(MOST_FEEDBACK).map(Box::from).collect();
            }
            "fingerprint" => {
                let (hash, value) = value.split_once(' ')?;
                let is_sound = is_hash(hash, value);
                self.fingerprint =
                    Some(is_sound.then(|| Fingerprint { hash: hash.into(), value: value.into() })?);
            }
            "setup" => self.setup = Some(Setup::of(value)?),
            "candidate" => {
                // Of a kind that is unknown here: the others may do.
                let Some(candidate) = Candidate::parse(&format!("candidate:{value}")) else {
                    return Some(());
                };
                if self.candidates.len() == MOST_CANDIDATES {
                    return None;
                }
                self.candidates.push(candidate);
            }
            _ => {}
        }
        Some(())
    }

    fn write(&self, out: &mut String) {
        for (name, value) in [("ice-ufrag", &self.ufrag), ("ice-pwd", &self.pwd)] {
            if let Some(value) = value {
                let _ = write!(out, "a={name}:{value}\r\n");
            }
        }
        if !self.options.is_empty() {
            let _ = write!(out, "a=ice-options:{}\r\n", self.options.join(" "));
        }
        if let Some(Fingerprint { hash, value }) = &self.fingerprint {
            let _ = write!(out, "a=fingerprint:{hash} {value}\r\n");
        }
        if let Some(setup) = self.setup {
            let _ = write!(out, "a=setup:{}\r\n", setup.name());
        }
        for candidate in &self.candidates {
            let _ = write!(out, "a={}\r\n", candidate.to_line());
        }
    }
}

/// Adds to a list, if it has a place left.
pub(crate) fn push<T>(list: &mut Vec<T>, item: T, most: usize) -> Option<()> {
    (list.len() < most).then(|| list.push(item))
}

impl Media {
    fn payload_type(&mut self, id: &str) -> Option<&mut PayloadType> {
        let id: u8 = id.parse().ok()?;
        self.payload_types.iter_mut().find(|one| one.id == id)
    }

    /// An attribute of the section. None: it is malformed, or one too many.
    fn take(&mut self, value: &str) -> Option<()> {
        let (name, rest) = value.split_once(':').unwrap_or((value, ""));
        if let Some(direction) = Direction::of(value) {
            self.direction = direction;
            return Some(());
        }
        match name {
            "mid" => self.name = is_name(rest).then_some(rest)?.into(),
            "rtcp-mux" => self.multiplexes_rtcp = true,
            "extmap-allow-mixed" => self.mixes_extensions = true,
            "rtpmap" => self.take_map(rest)?,
            "fmtp" => self.take_parameters(rest)?,
            "rtcp-fb" => self.take_feedback(rest)?,
            "extmap" => self.take_extension(rest)?,
            "ssrc" => self.take_source(rest)?,
            "ssrc-group" => {
                let (semantics, ssrcs) = rest.split_once(' ')?;
                let ssrcs = ssrcs.split_ascii_whitespace().map(|ssrc| ssrc.parse().ok());
                let ssrcs: Vec<u32> = ssrcs.take(MOST_SOURCES + 1).collect::<Option<_>>()?;
                let is_sound = is_token(semantics) && ssrcs.len() <= MOST_SOURCES;
                let group = is_sound.then(|| SourceGroup { semantics: semantics.into(), ssrcs })?;
                push(&mut self.source_groups, group, MOST_SOURCES)?;
            }
            _ => self.transport.take(name, rest)?,
        }
        Some(())
    }

    fn take_map(&mut self, rest: &str) -> Option<()> {
        let (id, map) = rest.split_once(' ')?;
        let mut parts = map.split('/');
        let (name, clock_rate) = (parts.next()?, parts.next()?.parse().ok()?);
        let channels = parts.next().map_or(Some(1), |channels| channels.parse().ok())?;
        // Of a type that the section does not list.
        let Some(one) = self.payload_type(id) else { return Some(()) };
        (one.name, one.clock_rate, one.channels) =
            (is_token(name).then_some(name)?.into(), clock_rate, channels);
        Some(())
    }

    fn take_parameters(&mut self, rest: &str) -> Option<()> {
        let (id, parameters) = rest.split_once(' ')?;
        let Some(one) = self.payload_type(id) else { return Some(()) };
        for parameter in parameters.split(';').map(str::trim).filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
            let parameter = is_parameter(name, value).then(|| (name.into(), value.into()))?;
            push(&mut one.parameters, parameter, MOST_PARAMETERS)?;
        }
        Some(())
    }

    fn take_feedback(&mut self, rest: &str) -> Option<()> {
        let (id, feedback) = rest.split_once(' ')?;
        let (kind, subtype) = match feedback.split_once(' ') {
            Some((kind, subtype)) => (kind, Some(subtype)),
            None => (feedback, None),
        };
        let is_sound = is_token(kind) && subtype.is_none_or(is_line);
        let feedback = is_sound.then(|| Feedback { kind: kind.into(), subtype: subtype.map(Box::from) })?;
        let list = match id {
            "*" => &mut self.feedback,
            id => match self.payload_type(id) {
                Some(one) => &mut one.feedback,
                None => return Some(()),
            },
        };
        push(list, feedback, MOST_FEEDBACK)
    }

    fn take_extension(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.split_ascii_whitespace();
        let (id, uri) = (words.next()?, words.next()?);
        let (id, direction) = match id.split_once('/') {
            Some((id, direction)) => (id, Direction::of(direction)?),
            None => (id, Direction::Both),
        };
        let (id, uri) = (id.parse().ok()?, is_word(uri).then_some(uri)?.into());
        push(&mut self.extensions, HeaderExtension { id, uri, direction }, MOST_EXTENSIONS)
    }

    fn take_source(&mut self, rest: &str) -> Option<()> {
        let (ssrc, parameter) = rest.split_once(' ')?;
        let ssrc = ssrc.parse().ok()?;
        let (name, value) = match parameter.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (parameter, None),
        };
        if !is_token(name) || !value.is_none_or(is_line) {
            return None;
        }
        let at = match self.sources.iter().position(|source| source.ssrc == ssrc) {
            Some(at) => at,
            None => {
                push(&mut self.sources, Source { ssrc, parameters: Vec::new() }, MOST_SOURCES)?;
                self.sources.len() - 1
            }
        };
        push(&mut self.sources[at].parameters, (name.into(), value.map(Box::from)), MOST_PARAMETERS)
    }

    fn write(&self, out: &mut String) {
        let _ = write!(out, "m={} 9 {RTP}", self.kind.name());
        for one in &self.payload_types {
            let _ = write!(out, " {}", one.id);
        }
        let _ = write!(out, "\r\nc=IN IP4 0.0.0.0\r\na=mid:{}\r\na={}\r\n", self.name, self.direction.name());
        self.transport.write(out);
        for (is_set, name) in
            [(self.multiplexes_rtcp, "rtcp-mux"), (self.mixes_extensions, "extmap-allow-mixed")]
        {
            if is_set {
                let _ = write!(out, "a={name}\r\n");
            }
        }
        for HeaderExtension { id, uri, direction } in &self.extensions {
            let _ = match direction {
                Direction::Both => write!(out, "a=extmap:{id} {uri}\r\n"),
                direction => write!(out, "a=extmap:{id}/{} {uri}\r\n", direction.name()),
            };
        }
        for feedback in &self.feedback {
            feedback.write(out, "*");
        }
        self.payload_types.iter().for_each(|one| one.write(out));
        for SourceGroup { semantics, ssrcs } in &self.source_groups {
            let _ = write!(out, "a=ssrc-group:{semantics}");
            ssrcs.iter().for_each(|ssrc| {
                let _ = write!(out, " {ssrc}");
            });
            out.push_str("\r\n");
        }
        for Source { ssrc, parameters } in &self.sources {
            for (name, value) in parameters {
                let _ = match value {
                    Some(value) => write!(out, "a=ssrc:{ssrc} {name}:{value}\r\n"),
                    None => write!(out, "a=ssrc:{ssrc} {name}\r\n"),
                };
            }
        }
    }
}

impl PayloadType {
    fn write(&self, out: &mut String) {
        let PayloadType { id, name, clock_rate, channels, parameters, feedback } = self;
        if !name.is_empty() {
            let _ = write!(out, "a=rtpmap:{id} {name}/{clock_rate}");
            if *channels > 1 {
                let _ = write!(out, "/{channels}");
            }
            out.push_str("\r\n");
        }
        if !parameters.is_empty() {
            let text = |(name, value): &(Box<str>, Box<str>)| match name.is_empty() {
                true => value.to_string(),
                false => format!("{name}={value}"),
            };
            let all: Vec<String> = parameters.iter().map(text).collect();
            let _ = write!(out, "a=fmtp:{id} {}\r\n", all.join(";"));
        }
        feedback.iter().for_each(|one| one.write(out, &id.to_string()));
    }
}

impl Feedback {
    fn write(&self, out: &mut String, id: &str) {
        let _ = match &self.subtype {
            Some(subtype) => write!(out, "a=rtcp-fb:{id} {} {subtype}\r\n", self.kind),
            None => write!(out, "a=rtcp-fb:{id} {}\r\n", self.kind),
        };
    }
}

impl Rejected {
    fn write(&self, out: &mut String) {
        let Rejected { name, kind, protocol, format } = self;
        let _ = write!(out, "m={kind} 0 {protocol} {format}\r\nc=IN IP4 0.0.0.0\r\n");
        if let Some(name) = name {
            let _ = write!(out, "a=mid:{name}\r\n");
        }
        out.push_str("a=inactive\r\n");
    }
}
