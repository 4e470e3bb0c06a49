//! Descriptions of calls between SDP and Jingle: of browsers, of apps, and arbitrary ones.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use xmpp_parsers::minidom::Element as TheirElement;
use xmpp_proto::payload::jingle::{Action, Author, Info, Outgoing, Reason, Step};
use xmpp_proto::payload::jingle_messages::JingleMessage;
use xmpp_proto::sdp::*;
use xmpp_proto::xml::{Limits, Tree, document};

const CHROMIUM_OFFER: &str = include_str!("sdp/chromium_offer.sdp");
const CHROMIUM_ANSWER: &str = include_str!("sdp/chromium_answer.sdp");
const OUT: Outgoing<'static> =
    Outgoing { sid: "s1", initiator: "anna@forum.example/kith", responder: "tom@forum.example/phone" };

fn tree(xml: &str) -> Tree {
    document(xml.as_bytes(), &Limits::default()).unwrap_or_else(|error| panic!("{xml}: {error}"))
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

fn offer_xml(description: &Description) -> String {
    written(|out| OUT.write_initiate(out, description))
}

fn read(xml: &str, author: Author) -> Option<Description> {
    Step::of(tree(xml).root()).unwrap().unwrap().description(author)
}

#[test]
fn an_offer_of_chromium_survives_both_ways() {
    let offer = Description::parse(CHROMIUM_OFFER).unwrap();
    assert_eq!(offer.sections.len(), 3);
    // The data channel is not used.
    assert_eq!(offer.bundle, ["0", "1"].map(Box::from));
    let kinds: Vec<Kind> = offer.media().map(|media| media.kind).collect();
    assert_eq!(kinds, [Kind::Audio, Kind::Video]);
    let audio = offer.media().next().unwrap();
    let opus = &audio.payload_types[0];
    assert_eq!((opus.id, &*opus.name, opus.clock_rate, opus.channels), (111, "opus", 48_000, 2));
    assert_eq!(opus.parameters[1], ("useinbandfec".into(), "1".into()));
    assert_eq!(audio.transport.setup, Some(Setup::Either));
    assert_eq!(audio.sources.len(), 1);
    let video = offer.media().nth(1).unwrap();
    assert_eq!((video.payload_types.len(), video.extensions.len()), (23, 11));
    assert_eq!(&*video.source_groups[0].semantics, "FID");

    // The browser reads what we write as it has written it.
    assert_eq!(Description::parse(&offer.to_sdp()).as_ref(), Some(&offer));
    let calls = offer.clone().only(&[Kind::Audio, Kind::Video]);
    assert_eq!(read(&offer_xml(&offer), Author::Initiator), Some(calls));
}

#[test]
fn an_answer_has_the_sections_of_the_offer() {
    let offer = Description::parse(CHROMIUM_OFFER).unwrap();
    let answer = Description::parse(CHROMIUM_ANSWER).unwrap();
    // The app answers the sound only, and knows nothing of the data channel.
    let jingle = written(|out| OUT.write_accept(out, &answer.only(&[Kind::Audio])));
    let answer = read(&jingle, Author::Responder).unwrap().answering(&offer).unwrap();
    let sdp = answer.to_sdp();
    let lines: Vec<&str> = sdp.lines().filter(|line| line.starts_with("m=")).collect();
    assert!(lines[0].starts_with("m=audio 9 UDP/TLS/RTP/SAVPF 111 "), "{sdp}");
    assert_eq!(
        lines[1..],
        ["m=video 0 UDP/TLS/RTP/SAVPF 96", "m=application 0 UDP/DTLS/SCTP webrtc-datachannel"]
    );
    assert!(sdp.contains("a=group:BUNDLE 0\r\n"), "{sdp}");
    assert!(sdp.contains("a=setup:active\r\n"), "{sdp}");
    // A section that was not offered.
    let stranger = Description::parse(
        &CHROMIUM_ANSWER.replace("a=mid:1", "a=mid:7").replace("BUNDLE 0 1 2", "BUNDLE 0 7 2"),
    );
    assert!(stranger.unwrap().answering(&offer).is_none());
}

/// As Conversations 2.16 proposes a call.
const CONVERSATIONS: &str = "<jingle xmlns='urn:xmpp:jingle:1' action='session-initiate' sid='zmJ3fBvBnAHmfLDb2zPb1Q' initiator='tom@forum.example/Conversations.x7Ak'>\
<group xmlns='urn:xmpp:jingle:apps:grouping:0' semantics='BUNDLE'><content name='0'/></group>\
<content name='0' creator='initiator' senders='both'>\
<description xmlns='urn:xmpp:jingle:apps:rtp:1' media='audio'>\
<payload-type id='111' name='opus' clockrate='48000' channels='2'><parameter name='minptime' value='10'/><parameter name='useinbandfec' value='1'/>\
<rtcp-fb xmlns='urn:xmpp:jingle:apps:rtp:rtcp-fb:0' type='transport-cc'/></payload-type>\
<payload-type id='126' name='telephone-event' clockrate='8000'/>\
<rtp-hdrext xmlns='urn:xmpp:jingle:apps:rtp:rtp-hdrext:0' id='1' uri='urn:ietf:params:rtp-hdrext:ssrc-audio-level'/>\
<extmap-allow-mixed xmlns='urn:xmpp:jingle:apps:rtp:rtp-hdrext:0'/>\
<source xmlns='urn:xmpp:jingle:apps:rtp:ssma:0' ssrc='2316371204'><parameter name='cname' value='rkP2s/'/><parameter name='msid' value='my-media-stream my-audio-track'/></source>\
<rtcp-mux/></description>\
<transport xmlns='urn:xmpp:jingle:transports:ice-udp:1' ufrag='Nf8O' pwd='CJ6Bz7zpGd+YOu0mZKwxNQrA'>\
<trickle xmlns='http://gultsch.de/xmpp/drafts/jingle/transports/ice-udp/option'/>\
<renomination xmlns='http://gultsch.de/xmpp/drafts/jingle/transports/ice-udp/option'/>\
<fingerprint xmlns='urn:xmpp:jingle:apps:dtls:0' hash='sha-256' setup='actpass'>0E:9C:F3:1B:4C:DD:C0:20:5F:8F:3B:1A:E7:96:C7:FE:94:8F:4E:CC:98:10:8B:AE:A3:E9:EB:5D:B3:42:7F:95</fingerprint>\
</transport></content></jingle>";

/// As Dino 0.4 does: own names, no bundle, candidates in the offer, the kind of the hash in other letters.
const DINO: &str = "<jingle xmlns='urn:xmpp:jingle:1' action='session-initiate' initiator='tom@forum.example/dino.9f8b1d3c' sid='8b6d4f6a-9c3a-4a1e-9d2f-1c2b3a4d5e6f'>\
<content creator='initiator' name='audio' senders='both'>\
<description xmlns='urn:xmpp:jingle:apps:rtp:1' media='audio'>\
<payload-type channels='2' clockrate='48000' id='111' name='opus'><parameter name='useinbandfec' value='1'/></payload-type>\
<payload-type channels='1' clockrate='8000' id='0' name='PCMU'/><rtcp-mux/></description>\
<transport xmlns='urn:xmpp:jingle:transports:ice-udp:1' pwd='d7UVc3JDkVTKVWBBdB6JCQ' ufrag='e3k4'>\
<candidate component='1' foundation='1' generation='0' id='1b3f' ip='192.0.2.7' network='0' port='40123' priority='2015363327' protocol='udp' type='host'/>\
<candidate component='1' foundation='2' generation='0' id='2c40' ip='198.51.100.4' network='0' port='40123' priority='1679819263' protocol='udp' rel-addr='192.0.2.7' rel-port='40123' type='srflx'/>\
<fingerprint hash='sha-256' setup='actpass' xmlns='urn:xmpp:jingle:apps:dtls:0'>ab:cd:ef:01:23:45:67:89:ab:cd:ef:01:23:45:67:89:ab:cd:ef:01:23:45:67:89:ab:cd:ef:01:23:45:67:89</fingerprint>\
</transport></content></jingle>";

#[test]
fn offers_of_apps_become_those_of_a_browser() {
    let offer = read(CONVERSATIONS, Author::Initiator).unwrap();
    let sdp = offer.to_sdp();
    for line in [
        "a=group:BUNDLE 0",
        "m=audio 9 UDP/TLS/RTP/SAVPF 111 126",
        "a=mid:0",
        "a=sendrecv",
        "a=ice-options:trickle renomination",
        "a=setup:actpass",
        "a=rtcp-mux",
        "a=extmap-allow-mixed",
        "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
        "a=rtpmap:111 opus/48000/2",
        "a=fmtp:111 minptime=10;useinbandfec=1",
        "a=rtcp-fb:111 transport-cc",
        "a=ssrc:2316371204 msid:my-media-stream my-audio-track",
    ] {
        assert!(sdp.lines().any(|one| one == line), "{line} in {sdp}");
    }
    let mut dino = read(DINO, Author::Initiator).unwrap();
    assert!(dino.to_sdp().contains(
        "a=candidate:2 1 udp 1679819263 198.51.100.4 40123 typ srflx raddr 192.0.2.7 rport 40123 generation 0"
    ));
    let candidates = dino.take_candidates();
    assert_eq!(candidates.len(), 2);
    assert_eq!(&*candidates[0].0, "audio");
    assert!(!dino.to_sdp().contains("candidate"));
    assert_eq!(Description::parse(&dino.to_sdp()), Some(dino));
}

#[test]
fn what_stanza_leaves_out_is_no_obstacle() {
    let group = "<ssrc-group xmlns='urn:xmpp:jingle:apps:rtp:ssma:0' semantics='FID'><source ssrc='2316371204'/><source ssrc='1'/></ssrc-group><rtcp-mux/>";
    let offer = read(&CONVERSATIONS.replace("<rtcp-mux/>", group), Author::Initiator).unwrap();
    assert!(!offer.to_sdp().contains("ssrc-group"), "its second source is not described");
    let unnamed =
        CONVERSATIONS.replace("<parameter name='minptime' value='10'/>", "<parameter name='111/111'/>");
    let offer = read(&unnamed, Author::Initiator).unwrap();
    assert!(offer.to_sdp().contains("a=fmtp:111 111/111;useinbandfec=1\r\n"), "{}", offer.to_sdp());
}

#[test]
fn a_party_sends_what_its_senders_say() {
    let offer = CONVERSATIONS.replace("senders='both'", "senders='initiator'");
    assert!(read(&offer, Author::Initiator).unwrap().to_sdp().contains("a=sendonly"));
    assert!(read(&offer, Author::Responder).unwrap().to_sdp().contains("a=recvonly"));
}

#[test]
fn no_value_of_an_app_adds_a_line() {
    for (from, to) in [
        ("name='0' creator", "name='0&#10;a=x' creator"),
        ("id='111'", "id='300'"),
        ("name='opus'", "name='opus&#13;&#10;a=candidate:'"),
        ("name='minptime'", "name='min;ptime'"),
        ("value='10'", "value='10&#10;m=audio'"),
        ("type='transport-cc'", "type='transport&#10;cc'"),
        ("uri='urn", "uri='urn&#10;"),
        ("ssrc='2316371204'", "ssrc='4294967296'"),
        ("value='rkP2s/'", "value='rkP2s/&#13;a=x'"),
        ("ufrag='Nf8O'", "ufrag='Nf8O a'"),
        ("hash='sha-256'", "hash='sha 256'"),
        ("0E:9C", "0E:9C\na=x"),
        ("0E:9C", "é:9C"),
        ("senders='both'", "senders='all'"),
        ("media='audio'", "media='smell'"),
        ("<content name='0'/></group>", "<content name='9'/></group>"),
        ("urn:xmpp:jingle:transports:ice-udp:1", "urn:xmpp:jingle:transports:raw-udp:1"),
    ] {
        let changed = CONVERSATIONS.replacen(from, to, 1);
        assert_ne!(changed, CONVERSATIONS, "{from}");
        assert_eq!(read(&changed, Author::Initiator), None, "{to}");
    }
    // A candidate that a browser could not use is left out.
    let odd = DINO.replacen("ip='192.0.2.7'", "ip='192.0.2.7 a'", 1);
    assert_eq!(read(&odd, Author::Initiator).unwrap().take_candidates().len(), 1);
}

#[test]
fn lists_have_bounds() {
    let many = |element: &str, most: usize| {
        let fits = CONVERSATIONS.replacen(element, &element.repeat(most), 1);
        let exceeds = CONVERSATIONS.replacen(element, &element.repeat(most + 1), 1);
        (read(&fits, Author::Initiator).is_some(), read(&exceeds, Author::Initiator).is_some())
    };
    let types = |count: usize| {
        let all: String =
            (0..count).map(|id| format!("<payload-type id='{id}' name='x' clockrate='8000'/>")).collect();
        CONVERSATIONS.replacen("<payload-type id='126' name='telephone-event' clockrate='8000'/>", &all, 1)
    };
    assert!(read(&types(MOST_PAYLOAD_TYPES - 1), Author::Initiator).is_some());
    assert!(read(&types(MOST_PAYLOAD_TYPES), Author::Initiator).is_none());
    assert!(
        read(&CONVERSATIONS.replace("id='126'", "id='111'"), Author::Initiator).is_none(),
        "the same id twice"
    );
    assert_eq!(many("<parameter name='minptime' value='10'/>", MOST_PARAMETERS - 1), (true, false));
    assert_eq!(
        many("<rtcp-fb xmlns='urn:xmpp:jingle:apps:rtp:rtcp-fb:0' type='transport-cc'/>", MOST_FEEDBACK),
        (true, false)
    );
    let extension = "<rtp-hdrext xmlns='urn:xmpp:jingle:apps:rtp:rtp-hdrext:0' id='1' uri='urn:ietf:params:rtp-hdrext:ssrc-audio-level'/>";
    assert_eq!(many(extension, MOST_EXTENSIONS), (true, false));
    let line = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n";
    let with = |count: usize| {
        CHROMIUM_OFFER.replacen("a=mid:0\r\n", &format!("a=mid:0\r\n{}", line.repeat(count)), 1)
    };
    assert!(Description::parse(&with(MOST_CANDIDATES)).is_some());
    assert!(Description::parse(&with(MOST_CANDIDATES + 1)).is_none());
    let data = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n";
    assert!(Description::parse(&format!("{CHROMIUM_OFFER}{}", data.repeat(MOST_SECTIONS - 3))).is_some());
    assert!(Description::parse(&format!("{CHROMIUM_OFFER}{}", data.repeat(MOST_SECTIONS - 2))).is_none());
}

#[test]
fn a_malformed_sdp_is_refused() {
    for sdp in [
        "",
        "v=0\r\n",
        "nonsense",
        "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF x\r\na=mid:0\r\n",
        "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n",
    ] {
        assert_eq!(Description::parse(sdp), None, "{sdp}");
    }
    let twice = CHROMIUM_OFFER.replace("a=mid:1", "a=mid:0");
    assert_eq!(Description::parse(&twice), None);
    assert_eq!(Description::parse(&CHROMIUM_OFFER.replace("a=mid:0", "a=mid:0\ra=x")), None);
}

#[test]
fn an_option_of_ice_that_is_no_name_in_xml_is_left_out() {
    let options = "a=ice-options:&rickle trickle 9 renomination ice+x a'b";
    let offer = CHROMIUM_OFFER.replace("a=ice-options:trickle", options);
    let offer = Description::parse(&offer).expect("the rest is valid");
    for media in offer.media() {
        let kept: Vec<&str> = media.transport.options.iter().map(|option| &**option).collect();
        assert_eq!(kept, ["trickle", "renomination"]);
    }
    let calls = offer.clone().only(&[Kind::Audio, Kind::Video]);
    assert_eq!(read(&offer_xml(&offer), Author::Initiator), Some(calls));
}

#[test]
fn candidates_of_browsers() {
    let line = "candidate:2153325677 1 udp 2113942271 fd00::2 42353 typ host generation 0 ufrag gKl3 network-cost 999";
    let read = Candidate::parse(line).unwrap();
    assert_eq!((&*read.address, read.port, &*read.kind), ("fd00::2", 42_353, "host"));
    assert_eq!(Candidate::parse(&read.to_line()).as_ref(), Some(&read));
    assert!(
        Candidate::parse("a=candidate:1 1 UDP 1 a1b2c3d4-0000-4000-8000-000000000002.local 9 typ host")
            .is_some()
    );
    for wrong in [
        "",
        "candidate:",
        "candidate:1 1 sctp 1 192.0.2.1 9 typ host",
        "candidate:1 1 udp 1 192.0.2.1 9 typ guess",
        "candidate:1 1 udp 1 192.0.2.1 99999 typ host",
    ] {
        assert_eq!(Candidate::parse(wrong), None, "{wrong}");
    }
    let xml =
        written(|out| OUT.write_candidate(out, "0", Some(("abcd", "0123456789abcdef012345")), &read, "c1"));
    let tree = tree(&xml);
    let step = Step::of(tree.root()).unwrap().unwrap();
    let expected = Candidate { network: Some(0), ..read };
    assert_eq!((step.action, step.candidates()), (Action::TransportInfo, Some(vec![("0".into(), expected)])));
}

#[test]
fn steps_are_read() {
    for (reason, name) in [(Reason::Success, "success"), (Reason::Decline, "decline"), (Reason::Busy, "busy")]
    {
        let xml = written(|out| OUT.write_terminate(out, reason));
        assert!(xml.contains(&format!("<reason><{name}/></reason>")), "{xml}");
        let tree = tree(&xml);
        let step = Step::of(tree.root()).unwrap().unwrap();
        assert_eq!((step.action, step.sid, step.reason()), (Action::SessionTerminate, "s1", Some(reason)));
    }
    for info in [Info::Ringing, Info::Hold, Info::Unhold] {
        let xml = written(|out| OUT.write_info(out, info));
        assert_eq!(Step::of(tree(&xml).root()).unwrap().unwrap().info(), Some(info));
    }
    let outcome = |xml: &str| Step::of(tree(xml).root()).map(|step| step.map(|step| step.is_empty()));
    use xmpp_proto::stanza::Condition;
    assert_eq!(outcome("<jingle xmlns='urn:xmpp:jingle:1' action='session-info' sid='1'/>"), Some(Ok(true)));
    assert_eq!(
        outcome("<jingle xmlns='urn:xmpp:jingle:1' action='dance' sid='1'/>"),
        Some(Err(Condition::FeatureNotImplemented))
    );
    assert_eq!(
        outcome("<jingle xmlns='urn:xmpp:jingle:1' action='session-info'/>"),
        Some(Err(Condition::BadRequest))
    );
    assert_eq!(outcome("<jingle xmlns='urn:xmpp:jingle:0'/>"), None);
}

#[test]
fn proposals_and_answers_to_them() {
    for message in [
        JingleMessage::Propose { id: "1", video: false },
        JingleMessage::Propose { id: "1", video: true },
        JingleMessage::Ringing { id: "1" },
        JingleMessage::Proceed { id: "1" },
        JingleMessage::Accept { id: "1" },
        JingleMessage::Reject { id: "1", reason: Some(Reason::Busy) },
        JingleMessage::Retract { id: "1", reason: Some(Reason::Cancel) },
        JingleMessage::Finish { id: "1", reason: None },
    ] {
        let xml = format!("<message xmlns='jabber:client'>{}</message>", written(|out| message.write(out)));
        assert_eq!(JingleMessage::of(tree(&xml).root()), Some(message));
    }
    for other in [
        "<propose xmlns='urn:xmpp:jingle-message:0' id='1'><description xmlns='urn:xmpp:jingle:apps:file-transfer:5'/></propose>",
        "<propose xmlns='urn:xmpp:jingle-message:0'><description xmlns='urn:xmpp:jingle:apps:rtp:1' media='audio'/></propose>",
        "<dance xmlns='urn:xmpp:jingle-message:0' id='1'/>",
    ] {
        assert_eq!(
            JingleMessage::of(tree(&format!("<message xmlns='jabber:client'>{other}</message>")).root()),
            None
        );
    }
}

/// Another implementation reads what we write.
#[test]
fn another_implementation_reads_our_steps() {
    fn element(xml: &str) -> TheirElement {
        xml.parse().unwrap_or_else(|error| panic!("{xml}: {error}"))
    }
    let offer = Description::parse(CHROMIUM_OFFER).unwrap();
    let read = xmpp_parsers::jingle::Jingle::try_from(element(&offer_xml(&offer))).unwrap();
    assert_eq!(read.action, xmpp_parsers::jingle::Action::SessionInitiate);
    assert_eq!(read.group.as_ref().map(|group| group.contents.len()), Some(2));
    assert_eq!(read.contents.len(), 2);
    let Some(xmpp_parsers::jingle::Description::Rtp(rtp)) = &read.contents[1].description else {
        panic!("no RTP")
    };
    assert_eq!((rtp.payload_types.len(), rtp.hdrexts.len(), rtp.ssrcs.len()), (23, 11, 2));
    assert_eq!(rtp.payload_types[0].rtcp_fbs.len(), 5);
    assert!(rtp.rtcp_mux);
    let Some(xmpp_parsers::jingle::Transport::IceUdp(ice)) = &read.contents[0].transport else {
        panic!("no ICE")
    };
    assert!(format!("{ice:?}").contains("gKl3"), "{ice:?}");
    let candidate =
        Candidate::parse("candidate:1 1 udp 1 192.0.2.1 9 typ srflx raddr 192.0.2.2 rport 8").unwrap();
    let info = written(|out| OUT.write_candidate(out, "0", None, &candidate, "c1"));
    let read = xmpp_parsers::jingle::Jingle::try_from(element(&info)).unwrap();
    let Some(xmpp_parsers::jingle::Transport::IceUdp(ice)) = &read.contents[0].transport else {
        panic!("no ICE")
    };
    assert!(format!("{ice:?}").contains("192.0.2.2"), "{ice:?}");
    let end = written(|out| OUT.write_terminate(out, Reason::Decline));
    let read = xmpp_parsers::jingle::Jingle::try_from(element(&end)).unwrap();
    assert_eq!(read.reason.map(|reason| reason.reason), Some(xmpp_parsers::jingle::Reason::Decline));
    let propose = written(|out| JingleMessage::Propose { id: "1", video: true }.write(out));
    let read = xmpp_parsers::jingle_message::JingleMI::try_from(element(&propose)).unwrap();
    assert!(matches!(read, xmpp_parsers::jingle_message::JingleMI::Propose { .. }), "{read:?}");
}

fn token() -> impl Strategy<Value = Box<str>> {
    "[a-zA-Z0-9-]{1,12}".prop_map(Into::into)
}

fn line() -> impl Strategy<Value = Box<str>> {
    "[a-z0-9&<>'\"=./][ a-z0-9&<>'\"=./]{0,15}[a-z0-9]".prop_map(Into::into)
}

fn direction() -> impl Strategy<Value = Direction> {
    prop::sample::select(vec![Direction::Both, Direction::Sends, Direction::Receives, Direction::Inactive])
}

fn feedback() -> impl Strategy<Value = Vec<Feedback>> {
    vec((token(), option::of(token())).prop_map(|(kind, subtype)| Feedback { kind, subtype }), 0..3)
}

fn candidate() -> impl Strategy<Value = Candidate> {
    let related = option::of(("[0-9.]{1,15}".prop_map(Into::into), any::<u16>()));
    let words = (
        prop::sample::select(vec!["udp", "tcp"]),
        prop::sample::select(vec!["host", "srflx", "prflx", "relay"]),
    );
    (
        ("[a-zA-Z0-9+/]{1,32}", 1..3u16, any::<u32>(), "[a-f0-9.:]{1,20}", any::<u16>()),
        words,
        related,
        any::<u8>(),
        any::<u16>(),
    )
        .prop_map(
            |(
                (foundation, component, priority, address, port),
                (protocol, kind),
                related,
                generation,
                network,
            )| Candidate {
                foundation: foundation.into(),
                component,
                protocol: protocol.into(),
                priority,
                address: address.into(),
                port,
                kind: kind.into(),
                related,
                tcp_type: (protocol == "tcp").then(|| "passive".into()),
                generation,
                network: Some(network),
            },
        )
}

fn payload_types() -> impl Strategy<Value = Vec<PayloadType>> {
    let parameter = ("[a-z-]{1,10}".prop_map(Into::into), "[a-zA-Z0-9/,-]{1,10}".prop_map(Into::into));
    let one = (token(), any::<u32>(), 1..9u8, vec(parameter, 0..4), feedback());
    vec(one, 1..6).prop_map(|all| {
        let numbered =
            all.into_iter().enumerate().map(|(at, (name, clock_rate, channels, parameters, feedback))| {
                PayloadType { id: 96 + at as u8, name, clock_rate, channels, parameters, feedback }
            });
        numbered.collect()
    })
}

fn transport() -> impl Strategy<Value = Transport> {
    let setup = prop::sample::select(vec![Setup::Active, Setup::Passive, Setup::Either]);
    let value = "[0-9A-F]{2}(:[0-9A-F]{2}){1,31}";
    (
        "[a-zA-Z0-9+/]{4,32}",
        "[a-zA-Z0-9+/]{22,64}",
        vec("[a-z]{1,8}", 0..3),
        value,
        setup,
        vec(candidate(), 0..3),
    )
        .prop_map(|(ufrag, pwd, options, value, setup, candidates)| Transport {
            ufrag: Some(ufrag.into()),
            pwd: Some(pwd.into()),
            options: options.into_iter().map(Into::into).collect(),
            fingerprint: Some(Fingerprint { hash: "sha-256".into(), value: value.into() }),
            setup: Some(setup),
            candidates,
        })
}

fn media() -> impl Strategy<Value = Media> {
    let extension = (1..255u16, token(), direction()).prop_map(|(id, uri, direction)| HeaderExtension {
        id,
        uri,
        direction,
    });
    let sources = vec((any::<u32>(), vec((token(), option::of(line())), 1..3)), 0..3);
    let head = (any::<bool>(), direction(), payload_types(), feedback(), vec(extension, 0..3));
    (head, any::<bool>(), any::<bool>(), sources, transport()).prop_map(
        |(
            (is_audio, direction, payload_types, feedback, extensions),
            mixes,
            multiplexes,
            mut sources,
            transport,
        )| {
            sources.sort_by_key(|one| one.0);
            sources.dedup_by_key(|one| one.0);
            let ssrcs: Vec<u32> = sources.iter().map(|one| one.0).collect();
            let sources = sources.into_iter().map(|(ssrc, parameters)| Source { ssrc, parameters }).collect();
            let source_groups = match ssrcs.is_empty() {
                true => Vec::new(),
                false => vec![SourceGroup { semantics: "FID".into(), ssrcs }],
            };
            Media {
                name: "".into(),
                kind: if is_audio { Kind::Audio } else { Kind::Video },
                direction,
                payload_types,
                feedback,
                extensions,
                mixes_extensions: mixes,
                multiplexes_rtcp: multiplexes,
                sources,
                source_groups,
                transport,
            }
        },
    )
}

fn description() -> impl Strategy<Value = Description> {
    (vec(media(), 1..4), any::<bool>()).prop_map(|(media, bundles)| {
        let names: Vec<Box<str>> = (0..media.len()).map(|at| format!("m{at}").into()).collect();
        let named = media
            .into_iter()
            .zip(&names)
            .map(|(media, name)| Section::Media(Media { name: name.clone(), ..media }));
        let sections = named.collect();
        Description { bundle: if bundles { names } else { Vec::new() }, sections }
    })
}

/// Whatever is read can be written and read again.
fn check(description: &Description) {
    let sdp = description.to_sdp();
    assert!(sdp.lines().all(|line| line.as_bytes().get(1) == Some(&b'=')), "{sdp}");
    let read_again = Description::parse(&sdp).unwrap_or_else(|| panic!("not read: {sdp}"));
    assert_eq!(Description::parse(&read_again.to_sdp()).as_ref(), Some(&read_again));
    assert_eq!(read_again.clone().answering(&read_again).as_ref(), Some(&read_again));
    let calls = read_again.only(&[Kind::Audio, Kind::Video]);
    if !calls.sections.is_empty() {
        assert!(read(&offer_xml(&calls), Author::Initiator).is_some(), "{sdp}");
    }
}

/// A place in a text, and what is put there instead of some bytes.
fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, String)>> {
    let piece =
        prop_oneof!["[ -~]{0,4}", "\\PC{0,2}", Just("&#10;".to_owned()), Just("a=mid:0\r\n".to_owned())];
    vec((any::<prop::sample::Index>(), 0..4usize, piece), 1..6)
}

fn edited(text: &str, edits: &[(prop::sample::Index, usize, String)]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for (at, removed, piece) in edits {
        let at = at.index(chars.len());
        let end = (at + removed).min(chars.len());
        chars.splice(at..end, piece.chars());
    }
    chars.into_iter().collect()
}

proptest! {
    #[test]
    fn what_is_read_can_be_written(edits in edits(), sample in prop::sample::select(vec![CHROMIUM_OFFER, CONVERSATIONS, DINO])) {
        let text = edited(sample, &edits);
        if let Some(description) = Description::parse(&text) {
            check(&description);
        }
        if let Ok(tree) = document(text.as_bytes(), &Limits::default())
            && let Some(Ok(step)) = Step::of(tree.root())
            && let Some(description) = step.description(Author::Initiator)
        {
            check(&description);
        }
    }

    #[test]
    fn a_description_survives_both_forms(description in description()) {
        let expected = Some(description.clone());
        prop_assert_eq!(&Description::parse(&description.to_sdp()), &expected);
        prop_assert_eq!(&read(&offer_xml(&description), Author::Initiator), &expected);
        let accept = written(|out| OUT.write_accept(out, &description));
        prop_assert_eq!(&read(&accept, Author::Responder), &expected);
        prop_assert_eq!(&description.clone().answering(&description), &expected);
    }
}
