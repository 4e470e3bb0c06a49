//! Parses the bytes of one frame into a [`Command`], or into the reason of its rejection.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::{
    CallAction, CallEntry, Code, Command, Event, File, Forwarded, Hello, MarkerSet, Media, Message, Poll,
    Preview, Reaction, Replies, SendTo, Sticker, VERSION, Welcome,
};

/// Every `t` of a command.
const NAMES: [&str; 68] = [
    "hello",
    "send",
    "poll",
    "vote",
    "close_poll",
    "drop_preview",
    "sticker",
    "stickers",
    "forward",
    "marker",
    "typing",
    "call",
    "group_call",
    "presence",
    "watch",
    "contact",
    "contact_name",
    "contacts",
    "people",
    "profiles",
    "profile",
    "change_profile",
    "conversations",
    "conversation",
    "history",
    "thread",
    "threads",
    "edit",
    "delete",
    "react",
    "pin",
    "pins",
    "search",
    "create_room",
    "change_room",
    "join",
    "leave",
    "close_room",
    "member",
    "members",
    "nickname",
    "nicknames",
    "make_link",
    "links",
    "take_back_link",
    "open_link",
    "join_link",
    "rooms",
    "request",
    "report",
    "reports",
    "moderate",
    "audit",
    "notices",
    "settings",
    "configure",
    "test_filter",
    "notifications",
    "devices",
    "sign_out",
    "app_passwords",
    "create_app_password",
    "revoke_app_password",
    "export",
    "remove_account",
    "resume",
    "token",
    "ping",
];

/// JavaScript rounds greater numbers, so `re` would differ from `rid`.
const GREATEST_NUMBER: u64 = 1 << 53;

/// The reason why a frame is not a command. All fields may go back to the client and into a log: `text` never
/// quotes the frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    pub code: Code,
    pub text: Cow<'static, str>,
    /// The `rid` of the frame, if it could be read.
    pub rid: Option<u64>,
    /// The `id` of the frame, if it could be read and is not too long.
    pub id: Option<Box<str>>,
}

impl<'a> Command<'a> {
    /// Reads one frame. Unknown fields are ignored, so that newer clients can talk to older servers. The
    /// allocated memory is bounded by a small multiple of the frame.
    pub fn parse(frame: &'a [u8]) -> Result<Command<'a>, Reject> {
        let text = std::str::from_utf8(frame).map_err(|_| reject(Code::BadUtf8, "the frame is not UTF-8"))?;
        // The most frequent command, in its most frequent form, takes one pass instead of two.
        if text.starts_with(r#"{"t":"send","#)
            && let Ok(send) = serde_json::from_str::<Send<'a>>(text)
        {
            return Ok(send.command());
        }
        if text.starts_with(r#"{"t":"hello","#)
            && let Ok(greeting) = serde_json::from_str::<Greeting<'a>>(text)
            && greeting.v == VERSION
        {
            return Ok(greeting.command());
        }
        if text.starts_with(r#"{"t":"call","#)
            && let Ok(frame) = serde_json::from_str::<CallFrame<'a>>(text)
            && frame.rid.is_none_or(|rid| rid <= GREATEST_NUMBER)
            && let Some(command) = frame.command()
        {
            return Ok(command);
        }
        // A derived struct would also be read from an array.
        if !text.trim_ascii_start().starts_with('{') {
            return Err(reject(Code::BadFrame, "not a JSON object"));
        }
        let envelope = serde_json::from_str::<Envelope<'a>>(text).map_err(|why| bad_frame(&why))?;
        match envelope.command(text) {
            Ok(command) => Ok(command),
            Err(why) => Err(Reject { rid: envelope.re(), id: envelope.id(), ..why }),
        }
    }

    /// Appends the frame. For clients.
    pub fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, self).expect("a command has string keys only, and memory takes all bytes");
    }
}

impl<'a> Event<'a> {
    /// Reads one frame. For clients. If a frame fails here, skip it: it may be an event of a newer server.
    pub fn parse(frame: &'a [u8]) -> Result<Event<'a>, serde_json::Error> {
        // The most frequent events, without serde's detour through a tree.
        if frame.starts_with(br#"{"t":"message","#)
            && let Ok(posted) = serde_json::from_slice::<Posted<'a>>(frame)
        {
            return Ok(posted.event());
        }
        if frame.starts_with(br#"{"t":"welcome","#)
            && let Ok(welcome) = serde_json::from_slice::<Box<Welcome<'a>>>(frame)
        {
            return Ok(Event::Welcome(welcome));
        }
        serde_json::from_slice(frame)
    }

    /// Appends the frame.
    pub fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, self).expect("an event has string keys only, and memory takes all bytes");
    }
}

impl File<'_> {
    /// Appends the file as JSON, in the format of a message.
    pub fn write(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, self).expect("a file has string keys only, and memory takes all bytes");
    }
}

/// The fields of any frame before its command is known.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    t: &'a RawValue,
    #[serde(borrow)]
    rid: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    v: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Frequent commands are read straight into their fields. The other commands use serde's tagged enum,
    /// which builds a tree first; that is fast enough for them.
    fn command(&self, frame: &'a str) -> Result<Command<'a>, Reject> {
        if self.rid().is_some_and(|rid| rid > GREATEST_NUMBER) {
            return Err(reject(Code::BadFrame, "`rid` is above 2^53"));
        }
        let t = serde_json::from_str::<Cow<'a, str>>(self.t.get())
            .map_err(|_| reject(Code::BadFrame, "`t` is not a string"))?;
        match &*t {
            "send" => {
                serde_json::from_str::<Send<'a>>(frame).map_err(|why| bad_frame(&why)).map(Send::command)
            }
            "typing" => {
                serde_json::from_str::<Typing<'a>>(frame).map_err(|why| bad_frame(&why)).map(Typing::command)
            }
            "marker" => serde_json::from_str::<Marker<'a>>(frame).map_err(|why| bad_frame(&why))?.command(),
            "hello" if !self.has_our_version() => Err(reject(Code::BadVersion, "`v` is not 1")),
            "bye" => Ok(Command::Bye),
            known if NAMES.contains(&known) => serde_json::from_str(frame).map_err(|why| bad_frame(&why)),
            _ => Err(reject(Code::UnknownCommand, "this server knows no such `t`")),
        }
    }

    /// A `hello` of another version may have other fields, so the version is checked before they are parsed.
    /// A `v` that is not a number passes this check, and fails in the parser of `hello`.
    fn has_our_version(&self) -> bool {
        let v = self.v.and_then(|raw| serde_json::from_str::<f64>(raw.get()).ok());
        v.is_none_or(|v| v == f64::from(VERSION))
    }

    fn rid(&self) -> Option<u64> {
        self.rid.and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// The request number that may go back to the client.
    fn re(&self) -> Option<u64> {
        self.rid().filter(|rid| *rid <= GREATEST_NUMBER)
    }

    fn id(&self) -> Option<Box<str>> {
        let raw = self.id.filter(|raw| raw.get().len() <= 2 + crate::ID_BYTES)?;
        serde_json::from_str::<Box<str>>(raw.get()).ok()
    }
}

/// [`Command::Send`], as one struct. It names `t` so that serde finds a second one.
#[derive(Deserialize)]
struct Send<'a> {
    #[serde(rename = "t")]
    _t: IgnoredAny,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    to: SendTo<'a>,
    #[serde(borrow)]
    body: Cow<'a, str>,
    reply_to: Option<u64>,
    #[serde(borrow, default)]
    files: Option<Vec<Cow<'a, str>>>,
    thread: Option<u64>,
}

impl<'a> Send<'a> {
    fn command(self) -> Command<'a> {
        let Send { id, to, body, reply_to, files, thread, .. } = self;
        let files = files.unwrap_or_default();
        Command::Send { id, to, body, reply_to, files, thread }
    }
}

/// [`Command::Hello`], as one struct.
#[derive(Deserialize)]
struct Greeting<'a> {
    #[serde(rename = "t")]
    _t: IgnoredAny,
    v: u8,
    #[serde(borrow)]
    site: Cow<'a, str>,
    #[serde(borrow)]
    token: Option<Cow<'a, str>>,
    #[serde(borrow)]
    device: Cow<'a, str>,
    #[serde(borrow)]
    position: Option<Cow<'a, str>>,
    #[serde(borrow)]
    client: Option<Cow<'a, str>>,
}

impl<'a> Greeting<'a> {
    fn command(self) -> Command<'a> {
        let Greeting { v, site, token, device, position, client, .. } = self;
        Command::Hello(Box::new(Hello { v, site, token, device, position, client }))
    }
}

/// [`Command::Call`] with the fields of all its actions, for one pass instead of three over a long description.
#[derive(Deserialize)]
struct CallFrame<'a> {
    #[serde(rename = "t")]
    _t: IgnoredAny,
    rid: Option<u64>,
    #[serde(borrow)]
    action: Cow<'a, str>,
    #[serde(borrow)]
    call: Option<Cow<'a, str>>,
    #[serde(borrow)]
    sdp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    candidate: Option<Cow<'a, str>>,
    #[serde(borrow)]
    ticket: Option<Cow<'a, str>>,
    #[serde(borrow)]
    user: Option<Cow<'a, str>>,
    media: Option<Media>,
    #[serde(default)]
    busy: bool,
    on: Option<bool>,
}

impl<'a> CallFrame<'a> {
    /// None: a field is missing. The slower parser reports which one.
    fn command(self) -> Option<Command<'a>> {
        let CallFrame { rid, action, call, sdp, candidate, ticket, user, media, busy, on, .. } = self;
        let action = match &*action {
            "invite" => CallAction::Invite { user: user?, media: media?, sdp: sdp? },
            "accept" => CallAction::Accept { call: call?, sdp: sdp? },
            "decline" => CallAction::Decline { call: call?, busy },
            "hang_up" => CallAction::HangUp { call: call? },
            "offer" => CallAction::Offer { call: call?, sdp: sdp? },
            "answer" => CallAction::Answer { call: call?, sdp: sdp? },
            "candidate" => CallAction::Candidate { call: call?, candidate: candidate? },
            "hold" => CallAction::Hold { call: call?, on: on? },
            "rejoin" => CallAction::Rejoin { call: call?, ticket: ticket?, sdp: sdp? },
            _ => return None,
        };
        Some(Command::Call { rid, action })
    }
}

/// [`Command::Typing`].
#[derive(Deserialize)]
struct Typing<'a> {
    #[serde(borrow)]
    to: SendTo<'a>,
    on: bool,
}

impl<'a> Typing<'a> {
    fn command(self) -> Command<'a> {
        Command::Typing { to: self.to, on: self.on }
    }
}

/// [`Command::Marker`].
#[derive(Deserialize)]
struct Marker<'a> {
    #[serde(borrow)]
    conversation: Cow<'a, str>,
    received: Option<u64>,
    read: Option<u64>,
}

impl<'a> Marker<'a> {
    fn command(self) -> Result<Command<'a>, Reject> {
        let set = match (self.received, self.read) {
            (Some(seq), None) => MarkerSet::Received(seq),
            (None, Some(seq)) => MarkerSet::Read(seq),
            _ => return Err(reject(Code::BadFrame, "exactly one of `received` and `read` is needed")),
        };
        Ok(Command::Marker { conversation: self.conversation, set })
    }
}

/// [`Event::Message`], flat as it is on the wire.
#[derive(Deserialize)]
struct Posted<'a> {
    #[serde(borrow)]
    conversation: Cow<'a, str>,
    seq: u64,
    #[serde(borrow)]
    from: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    body: Cow<'a, str>,
    time: u64,
    reply_to: Option<u64>,
    version: Option<u64>,
    edited: Option<u64>,
    #[serde(default)]
    deleted: bool,
    #[serde(default)]
    opaque: bool,
    call: Option<CallEntry>,
    #[serde(default)]
    pinned: bool,
    #[serde(borrow, default)]
    reactions: Vec<Reaction<'a>>,
    #[serde(borrow, default)]
    files: Vec<File<'a>>,
    #[serde(borrow)]
    poll: Option<Poll<'a>>,
    #[serde(borrow)]
    forwarded: Option<Forwarded<'a>>,
    thread: Option<u64>,
    number: Option<u64>,
    replies: Option<Replies>,
    #[serde(borrow)]
    preview: Option<Preview<'a>>,
    #[serde(borrow)]
    sticker: Option<Sticker<'a>>,
    #[serde(borrow)]
    position: Cow<'a, str>,
}

impl<'a> Posted<'a> {
    fn event(self) -> Event<'a> {
        let message = Message {
            conversation: self.conversation,
            seq: self.seq,
            from: self.from,
            id: self.id,
            body: self.body,
            time: self.time,
            reply_to: self.reply_to,
            version: self.version,
            edited: self.edited,
            deleted: self.deleted,
            opaque: self.opaque,
            call: self.call,
            pinned: self.pinned,
            reactions: self.reactions,
            files: self.files,
            poll: self.poll,
            forwarded: self.forwarded,
            thread: self.thread,
            number: self.number,
            replies: self.replies,
            preview: self.preview,
            sticker: self.sticker,
        };
        Event::Message { message, position: self.position }
    }
}

fn reject(code: Code, text: &'static str) -> Reject {
    Reject { code, text: Cow::Borrowed(text), rid: None, id: None }
}

/// An error text for authors of clients. It quotes no word of the frame, unlike serde's own text.
fn bad_frame(why: &serde_json::Error) -> Reject {
    if !why.is_data() {
        return reject(Code::BadFrame, "not JSON, cut off, or nested too deeply");
    }
    let text = why.to_string();
    // The field names in these two texts are ours.
    let ours = ["missing field `", "duplicate field `"].iter().find(|start| text.starts_with(**start));
    let name = ours.and_then(|start| text[start.len()..].split_once('`').map(|(name, _)| (start, name)));
    match name {
        Some((start, name)) => {
            Reject { text: format!("{start}{name}`").into(), ..reject(Code::BadFrame, "") }
        }
        None => reject(Code::BadFrame, "a field has a wrong type, or a number is out of its range"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(frame: &str, code: Code, text: &str, rid: Option<u64>, id: Option<&str>) {
        let expected = Reject { code, text: text.to_owned().into(), rid, id: id.map(Box::from) };
        assert_eq!(Command::parse(frame.as_bytes()), Err(expected), "{frame}");
    }

    #[test]
    fn a_rid_that_javascript_cannot_keep_is_refused() {
        for rest in [
            r#""t":"ping""#,
            r#""t":"call","action":"hang_up","call":"c""#,
            r#""t":"history","to":{"user":"x"}"#,
        ] {
            let frame = |rid: u64| format!("{{{rest},\"rid\":{rid}}}");
            assert!(Command::parse(frame(1 << 53).as_bytes()).is_ok(), "{rest}");
            let t_first = format!("{{{rest},\"rid\":9007199254740993}}");
            check(&t_first, Code::BadFrame, "`rid` is above 2^53", None, None);
        }
    }

    const WRONG: &str = "a field has a wrong type, or a number is out of its range";
    const NO_JSON: &str = "not JSON, cut off, or nested too deeply";

    #[test]
    fn says_what_is_wrong_and_which_request_it_was() {
        check("", Code::BadFrame, "not a JSON object", None, None);
        check("hello", Code::BadFrame, "not a JSON object", None, None);
        check(r#"["ping"]"#, Code::BadFrame, "not a JSON object", None, None);
        check(r#"{"t":"ping""#, Code::BadFrame, NO_JSON, None, None);
        check(r#"{"t":"ping"}{"t":"ping"}"#, Code::BadFrame, NO_JSON, None, None);
        check(r#"{}"#, Code::BadFrame, "missing field `t`", None, None);
        check(r#"{"t":1,"rid":7}"#, Code::BadFrame, "`t` is not a string", Some(7), None);
        check(r#"{"t":"ping","t":"bye"}"#, Code::BadFrame, "duplicate field `t`", None, None);
        check(
            r#"{"t":"dance","rid":7}"#,
            Code::UnknownCommand,
            "this server knows no such `t`",
            Some(7),
            None,
        );
        check(r#"{"t":"history","rid":7}"#, Code::BadFrame, "missing field `to`", Some(7), None);
        check(r#"{"t":"resume","rid":-1,"position":""}"#, Code::BadFrame, WRONG, None, None);
        check(r#"{"t":"contacts","rid":1,"limit":4294967296}"#, Code::BadFrame, WRONG, Some(1), None);
        check(r#"{"t":"presence","set":"asleep"}"#, Code::BadFrame, WRONG, None, None);
        check(r#"{"t":"hello","v":2,"new":[]}"#, Code::BadVersion, "`v` is not 1", None, None);
        check(r#"{"t":"hello","v":256}"#, Code::BadVersion, "`v` is not 1", None, None);
        check(r#"{"t":"hello","v":"1"}"#, Code::BadFrame, WRONG, None, None);
        check(r#"{"t":"hello","v":1,"device":"d"}"#, Code::BadFrame, "missing field `site`", None, None);
        let twice = "exactly one of `received` and `read` is needed";
        check(
            r#"{"t":"marker","conversation":"c","received":1,"read":2}"#,
            Code::BadFrame,
            twice,
            None,
            None,
        );
        check(r#"{"t":"marker","conversation":"c"}"#, Code::BadFrame, twice, None, None);
    }

    #[test]
    fn a_rejected_send_keeps_its_id() {
        check(r#"{"t":"send","id":"a1"}"#, Code::BadFrame, "missing field `to`", None, Some("a1"));
        let both = r#"{"t":"send","id":"a1","to":{"user":"u","conversation":"c"},"body":""}"#;
        check(both, Code::BadFrame, NO_JSON, None, Some("a1"));
        let twice = r#"{"t":"send","id":"a1","id":"a2","to":{"user":"u"},"body":""}"#;
        check(twice, Code::BadFrame, "duplicate field `id`", None, None);
        let second_t = r#"{"t":"send","id":"a1","to":{"user":"u"},"body":"","t":"send"}"#;
        check(second_t, Code::BadFrame, "duplicate field `t`", None, None);
        let long = format!(r#"{{"t":"send","id":"{}"}}"#, "a".repeat(65));
        check(&long, Code::BadFrame, "missing field `to`", None, None);
    }

    #[test]
    fn never_quotes_what_was_sent() {
        for frame in [
            r#"{"t":"send","id":"a","to":"secret","body":"b"}"#,
            r#"{"t":"history","rid":1,"to":{"secret":"x"}}"#,
            r#"{"t":"contact","rid":1,"action":"missing field `secret`","user":"u"}"#,
            r#"{"t":"token","rid":"secret","token":"secret"}"#,
        ] {
            let why = Command::parse(frame.as_bytes()).unwrap_err();
            assert!(!why.text.contains("secret"), "{}", why.text);
        }
    }

    #[test]
    fn bad_utf8_is_known_from_bad_json() {
        let why = Command::parse(b"{\"t\":\"ping\",\"x\":\"\xff\"}").unwrap_err();
        assert_eq!(why.code, Code::BadUtf8);
        // JSON can write half of a surrogate pair; no UTF-8 text holds it.
        check(r#"{"t":"token","rid":1,"token":"\ud800"}"#, Code::BadFrame, NO_JSON, Some(1), None);
    }

    #[test]
    fn a_call_that_is_none_is_told_where_the_client_waits() {
        let wrong = |frame: &str| check(frame, Code::BadFrame, WRONG, Some(7), None);
        wrong(r#"{"t":"call","rid":7,"action":"dance","call":"c"}"#);
        wrong(r#"{"t":"call","rid":7,"action":"invite","user":"u","media":"smell","sdp":"v=0"}"#);
        wrong(r#"{"t":"call","rid":7,"action":"hold","call":"c","on":1}"#);
        let missing = |frame: &str, field: &str| {
            check(frame, Code::BadFrame, &format!("missing field `{field}`"), Some(7), None);
        };
        missing(r#"{"t":"call","rid":7,"call":"c"}"#, "action");
        missing(r#"{"t":"call","rid":7,"action":"accept","call":"c"}"#, "sdp");
        missing(r#"{"t":"call","rid":7,"action":"rejoin","call":"c","sdp":""}"#, "ticket");
        let twice = r#"{"t":"call","rid":7,"action":"hang_up","call":"c","call":"d"}"#;
        check(twice, Code::BadFrame, "duplicate field `call`", Some(7), None);
        let newer = r#"{"t":"call","action":"hang_up","call":"c","why":["tired"]}"#;
        let hang_up = crate::CallAction::HangUp { call: "c".into() };
        assert_eq!(Command::parse(newer.as_bytes()), Ok(Command::Call { rid: None, action: hang_up }));
    }

    #[test]
    fn a_call_is_the_same_whichever_way_it_is_written() {
        let action = crate::CallAction::Hold { call: "c".into(), on: true };
        let expected = Command::Call { rid: Some(7), action };
        for frame in [
            r#"{"t":"call","rid":7,"action":"hold","call":"c","on":true}"#,
            r#"{"t":"call","rid":7,"action":"hold","call":"c","on":true,"sdp":null,"new":[1]}"#,
            // A later version may give the fields of other actions another type.
            r#"{"t":"call","rid":7,"action":"hold","call":"c","on":true,"busy":"very","media":"smell"}"#,
            r#" {"on":true,"call":"c","action":"\u0068old","rid":7,"t":"call"}"#,
        ] {
            assert_eq!(Command::parse(frame.as_bytes()), Ok(expected.clone()), "{frame}");
        }
    }

    #[test]
    fn deep_nesting_costs_no_stack() {
        for t in ["ping", "send", "history", "nothing"] {
            let deep = format!(r#"{{"t":"{t}","x":{}"#, "[".repeat(1_000_000));
            assert_eq!(Command::parse(deep.as_bytes()).unwrap_err().code, Code::BadFrame);
            let closed = format!(r#"{{"t":"{t}","x":{}{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
            assert!(Command::parse(closed.as_bytes()).is_err());
        }
    }

    #[test]
    fn a_hello_is_the_same_whichever_way_it_is_written() {
        let hello = Hello {
            v: 1,
            site: "s".into(),
            token: Some("a.b.c".into()),
            device: "d".into(),
            position: None,
            client: Some("x".into()),
        };
        let expected = Command::Hello(Box::new(hello));
        for frame in [
            r#"{"t":"hello","v":1,"site":"s","token":"a.b.c","device":"d","client":"x"}"#,
            r#"{"t":"hello","v":1,"site":"s","token":"a.b.c","device":"d","client":"x","position":null,"new":[1]}"#,
            r#" {"v":1,"client":"x","device":"d","token":"a.b.c","site":"\u0073","t":"hello"}"#,
        ] {
            assert_eq!(Command::parse(frame.as_bytes()), Ok(expected.clone()), "{frame}");
        }
        let second_t = r#"{"t":"hello","v":1,"site":"s","device":"d","t":"bye"}"#;
        check(second_t, Code::BadFrame, "duplicate field `t`", None, None);
    }

    #[test]
    fn order_and_unknown_fields_do_not_matter() {
        let expected = Command::Send {
            id: "a".into(),
            to: SendTo::User("u".into()),
            body: "b".into(),
            reply_to: Some(3),
            files: Vec::new(),
            thread: None,
        };
        for frame in [
            r#"{"t":"send","id":"a","to":{"user":"u"},"body":"b","reply_to":3}"#,
            r#" {"body":"b","new":{"deep":[1]},"reply_to":3,"to":{"user":"u"},"id":"a","t":"send","v":9} "#,
            r#"{"t":"se\u006ed","rid":5,"id":"\u0061","to":{"user":"u"},"body":"b","reply_to":3}"#,
        ] {
            assert_eq!(Command::parse(frame.as_bytes()), Ok(expected.clone()), "{frame}");
        }
    }
}
