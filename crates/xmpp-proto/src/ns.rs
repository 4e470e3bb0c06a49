//! The namespaces of XMPP, each with the document that defines it.

/// RFC 6120 §4.8.2: the content namespace of a client's stream.
pub const CLIENT: &str = "jabber:client";
/// RFC 6120 §4.8.2: the content namespace of a stream between servers.
pub const SERVER: &str = "jabber:server";
/// XEP-0114 §3: the content namespace of a component's stream.
pub const COMPONENT: &str = "jabber:component:accept";
/// RFC 6120 §4.8.1: the stream's own elements.
pub const STREAMS: &str = "http://etherx.jabber.org/streams";
/// RFC 6120 §4.9.2: conditions of stream errors.
pub const STREAM_ERRORS: &str = "urn:ietf:params:xml:ns:xmpp-streams";
/// RFC 6120 §8.3.2: conditions of stanza errors.
pub const STANZAS: &str = "urn:ietf:params:xml:ns:xmpp-stanzas";
/// RFC 6120 §5.
pub const TLS: &str = "urn:ietf:params:xml:ns:xmpp-tls";
/// RFC 6120 §6.
pub const SASL: &str = "urn:ietf:params:xml:ns:xmpp-sasl";
/// RFC 6120 §7.
pub const BIND: &str = "urn:ietf:params:xml:ns:xmpp-bind";
/// RFC 3921 §3, which old clients still request.
pub const SESSION: &str = "urn:ietf:params:xml:ns:xmpp-session";
/// RFC 6121 §2.
pub const ROSTER: &str = "jabber:iq:roster";
/// RFC 6121 §2.6.1: the stream feature of roster versions.
pub const ROSTER_VERSIONS: &str = "urn:xmpp:features:rosterver";
/// RFC 6121 §3.4: the stream feature of subscription pre-approval.
pub const PRE_APPROVAL: &str = "urn:xmpp:features:pre-approval";
/// RFC 7395 §3.3.
pub const FRAMING: &str = "urn:ietf:params:xml:ns:xmpp-framing";
/// Namespaces in XML 1.0 §3: the prefix `xml`.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";
/// Namespaces in XML 1.0 §3: the prefix `xmlns`.
pub const XMLNS: &str = "http://www.w3.org/2000/xmlns/";

/// XEP-0004.
pub const DATA_FORMS: &str = "jabber:x:data";
/// XEP-0012.
pub const LAST_ACTIVITY: &str = "jabber:iq:last";
/// XEP-0030.
pub const DISCO_INFO: &str = "http://jabber.org/protocol/disco#info";
/// XEP-0030.
pub const DISCO_ITEMS: &str = "http://jabber.org/protocol/disco#items";
/// XEP-0045.
pub const MUC: &str = "http://jabber.org/protocol/muc";
/// XEP-0045.
pub const MUC_USER: &str = "http://jabber.org/protocol/muc#user";
/// XEP-0045.
pub const MUC_ADMIN: &str = "http://jabber.org/protocol/muc#admin";
/// XEP-0045.
pub const MUC_OWNER: &str = "http://jabber.org/protocol/muc#owner";
/// XEP-0049.
pub const PRIVATE: &str = "jabber:iq:private";
/// XEP-0050.
pub const COMMANDS: &str = "http://jabber.org/protocol/commands";
/// XEP-0054.
pub const VCARD: &str = "vcard-temp";
/// XEP-0059.
pub const RSM: &str = "http://jabber.org/protocol/rsm";
/// XEP-0060.
pub const PUBSUB: &str = "http://jabber.org/protocol/pubsub";
/// XEP-0060.
pub const PUBSUB_EVENT: &str = "http://jabber.org/protocol/pubsub#event";
/// XEP-0060.
pub const PUBSUB_OWNER: &str = "http://jabber.org/protocol/pubsub#owner";
/// XEP-0060.
pub const PUBSUB_ERRORS: &str = "http://jabber.org/protocol/pubsub#errors";
/// XEP-0066.
pub const OOB: &str = "jabber:x:oob";
/// XEP-0077.
pub const REGISTER: &str = "jabber:iq:register";
/// XEP-0077 §8: the stream feature.
pub const REGISTER_FEATURE: &str = "http://jabber.org/features/iq-register";
/// XEP-0084.
pub const AVATAR_DATA: &str = "urn:xmpp:avatar:data";
/// XEP-0084.
pub const AVATAR_METADATA: &str = "urn:xmpp:avatar:metadata";
/// XEP-0085.
pub const CHAT_STATES: &str = "http://jabber.org/protocol/chatstates";
/// XEP-0092.
pub const VERSION: &str = "jabber:iq:version";
/// XEP-0115.
pub const CAPS: &str = "http://jabber.org/protocol/caps";
/// XEP-0390.
pub const CAPS_2: &str = "urn:xmpp:caps";
/// XEP-0300.
pub const HASHES: &str = "urn:xmpp:hashes:2";
/// XEP-0124.
pub const BOSH: &str = "http://jabber.org/protocol/httpbind";
/// XEP-0206.
pub const XBOSH: &str = "urn:xmpp:xbosh";
/// XEP-0153.
pub const VCARD_UPDATE: &str = "vcard-temp:x:update";
/// XEP-0166.
pub const JINGLE: &str = "urn:xmpp:jingle:1";
/// XEP-0166 §10.
pub const JINGLE_ERRORS: &str = "urn:xmpp:jingle:errors:1";
/// XEP-0167.
pub const JINGLE_RTP: &str = "urn:xmpp:jingle:apps:rtp:1";
/// XEP-0167 §7.
pub const JINGLE_RTP_INFO: &str = "urn:xmpp:jingle:apps:rtp:info:1";
/// XEP-0167 §9: the feature of calls with sound.
pub const JINGLE_RTP_AUDIO: &str = "urn:xmpp:jingle:apps:rtp:audio";
/// XEP-0167 §9: the feature of calls with pictures.
pub const JINGLE_RTP_VIDEO: &str = "urn:xmpp:jingle:apps:rtp:video";
/// XEP-0172.
pub const NICK: &str = "http://jabber.org/protocol/nick";
/// XEP-0176.
pub const JINGLE_ICE: &str = "urn:xmpp:jingle:transports:ice-udp:1";
/// The options of RFC 8839 §5.6, for which XEP-0176 has no place: as Conversations writes them.
pub const JINGLE_ICE_OPTION: &str = "http://gultsch.de/xmpp/drafts/jingle/transports/ice-udp/option";
/// XEP-0184.
pub const RECEIPTS: &str = "urn:xmpp:receipts";
/// XEP-0191.
pub const BLOCKING: &str = "urn:xmpp:blocking";
/// XEP-0191 §3.3.
pub const BLOCKING_ERRORS: &str = "urn:xmpp:blocking:errors";
/// XEP-0198.
pub const STREAM_MANAGEMENT: &str = "urn:xmpp:sm:3";
/// XEP-0199.
pub const PING: &str = "urn:xmpp:ping";
/// XEP-0202.
pub const TIME: &str = "urn:xmpp:time";
/// XEP-0203.
pub const DELAY: &str = "urn:xmpp:delay";
/// XEP-0215.
pub const EXTERNAL_SERVICES: &str = "urn:xmpp:extdisco:2";
/// XEP-0220.
pub const DIALBACK: &str = "jabber:server:dialback";
/// XEP-0220 §2.2.
pub const DIALBACK_FEATURE: &str = "urn:xmpp:features:dialback";
/// XEP-0249.
pub const DIRECT_INVITATION: &str = "jabber:x:conference";
/// XEP-0280.
pub const CARBONS: &str = "urn:xmpp:carbons:2";
/// XEP-0293.
pub const JINGLE_RTCP_FB: &str = "urn:xmpp:jingle:apps:rtp:rtcp-fb:0";
/// XEP-0294.
pub const JINGLE_RTP_HDREXT: &str = "urn:xmpp:jingle:apps:rtp:rtp-hdrext:0";
/// XEP-0297.
pub const FORWARD: &str = "urn:xmpp:forward:0";
/// XEP-0308.
pub const CORRECTION: &str = "urn:xmpp:message-correct:0";
/// XEP-0313.
pub const MAM: &str = "urn:xmpp:mam:2";
/// XEP-0313 §7.
pub const MAM_EXTENDED: &str = "urn:xmpp:mam:2#extended";
/// XEP-0320.
pub const JINGLE_DTLS: &str = "urn:xmpp:jingle:apps:dtls:0";
/// XEP-0333.
pub const MARKERS: &str = "urn:xmpp:chat-markers:0";
/// XEP-0334.
pub const HINTS: &str = "urn:xmpp:hints";
/// XEP-0338.
pub const JINGLE_GROUPING: &str = "urn:xmpp:jingle:apps:grouping:0";
/// XEP-0339.
pub const JINGLE_SSMA: &str = "urn:xmpp:jingle:apps:rtp:ssma:0";
/// XEP-0352.
pub const CSI: &str = "urn:xmpp:csi:0";
/// XEP-0353.
pub const JINGLE_MESSAGES: &str = "urn:xmpp:jingle-message:0";
/// XEP-0357.
pub const PUSH: &str = "urn:xmpp:push:0";
/// XEP-0359.
pub const STANZA_IDS: &str = "urn:xmpp:sid:0";
/// XEP-0363.
pub const UPLOAD: &str = "urn:xmpp:http:upload:0";
/// XEP-0288.
pub const BIDI: &str = "urn:xmpp:bidi";
pub const BIDI_FEATURE: &str = "urn:xmpp:features:bidi";
/// XEP-0377.
pub const REPORTS: &str = "urn:xmpp:reporting:1";
/// XEP-0386.
pub const BIND2: &str = "urn:xmpp:bind:0";
/// XEP-0388.
pub const SASL2: &str = "urn:xmpp:sasl:2";
/// XEP-0398.
pub const AVATAR_CONVERSION: &str = "urn:xmpp:pep-vcard-conversion:0";
/// XEP-0402.
pub const BOOKMARKS: &str = "urn:xmpp:bookmarks:1";
/// XEP-0402 §6: the compatibility feature.
pub const BOOKMARKS_COMPAT: &str = "urn:xmpp:bookmarks:1#compat";
/// XEP-0048, which old clients keep in private XML.
pub const BOOKMARKS_OLD: &str = "storage:bookmarks";
/// XEP-0402 §5: the older form in a node agrees with the newer one.
pub const BOOKMARKS_COMPAT_PEP: &str = "urn:xmpp:bookmarks:1#compat-pep";
/// XEP-0411.
pub const BOOKMARKS_CONVERSION: &str = "urn:xmpp:bookmarks-conversion:0";
/// XEP-0421.
pub const OCCUPANT_ID: &str = "urn:xmpp:occupant-id:0";
/// XEP-0317.
pub const HATS: &str = "urn:xmpp:hats:0";
/// XEP-0422.
pub const FASTENING: &str = "urn:xmpp:fasten:0";
/// XEP-0424.
pub const RETRACTION: &str = "urn:xmpp:message-retract:1";
/// XEP-0425.
pub const MODERATION: &str = "urn:xmpp:message-moderate:1";
/// XEP-0428.
pub const FALLBACK: &str = "urn:xmpp:fallback:0";
/// XEP-0440.
pub const CHANNEL_BINDING: &str = "urn:xmpp:sasl-cb:0";
/// XEP-0444.
pub const REACTIONS: &str = "urn:xmpp:reactions:0";
/// XEP-0461.
pub const REPLIES: &str = "urn:xmpp:reply:0";
/// XEP-0474.
pub const DOWNGRADE_PROTECTION: &str = "urn:xmpp:ssdp:0";
/// XEP-0478.
pub const STREAM_LIMITS: &str = "urn:xmpp:stream-limits:0";
/// XEP-0484.
pub const FAST: &str = "urn:xmpp:fast:0";
/// XEP-0490.
pub const DISPLAYED: &str = "urn:xmpp:mds:displayed:0";
