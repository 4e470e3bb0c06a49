//! Requests: the table of routes, and the way of each request to its answer.

use std::borrow::Cow;
use std::time::Duration;

use chat::{DeviceId, SessionHandle};
use edge::{Conns, Handle, Io};
use http_proto::body::Reader;
use http_proto::head::{Fields, Framing, Head, NO_FIELDS, Offence, parse};
use web_proto::{Code, Command, Event, Hello, VERSION};

use crate::answer::{Awaited, JSON, Pending, TEXT, refuse};
use crate::config::Shared;
use crate::gateway::{Conn, Gateway, Mail, State, Step, after_answer, next_request, read_on, timestamp};
use crate::pieces::Incoming;
use crate::rest::Forward;
use crate::unproven::{HELLO_BYTES, Held};
use crate::visitor::Visitor;

/// How long a page, REST or another worker may take to answer.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(30);

/// A request whose body is arriving.
pub(crate) struct Upload {
    reader: Reader,
    body: Vec<u8>,
    route: Route,
    pending: Pending,
    authorization: Option<Box<str>>,
    visitor: Visitor,
    /// Its part of the budget for bodies of unproven senders.
    pub(crate) held: Option<Held>,
    /// For the router: the head as it will get it.
    forward: Option<Box<Forward>>,
}

/// A request whose body is longer than it may be.
struct TooLarge {
    route: Route,
    pending: Pending,
    visitor: Visitor,
    has_key: bool,
    has_session: bool,
}

/// A request that is complete.
pub(crate) struct Waiting {
    pub(crate) pending: Pending,
    /// The session, for a poll or a posted command.
    pub(crate) session: Option<SessionHandle>,
}

/// The component that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Socket,
    Echo,
    Stream,
    Sse,
    Poll,
    Send,
    Preflight,
    Asset,
    /// A realtime path with another method.
    WrongMethod(&'static str),
    /// The bytes of a file: the router gets them as they come.
    Pieces,
    /// Everything else: pages, REST, health, metrics.
    Rest,
}

impl Gateway {
    /// The table of all routes of this port.
    fn route(&self, head: &Head<'_>) -> Route {
        match (head.path, head.method) {
            ("/v1/websocket", "GET") => Route::Socket,
            ("/v1/echo", "GET") if self.shared.config.echo => Route::Echo,
            ("/v1/stream", "POST") => Route::Stream,
            ("/v1/sse", "POST") => Route::Sse,
            ("/v1/poll", "POST") => Route::Poll,
            ("/v1/send", "POST") => Route::Send,
            ("/v1/stream" | "/v1/sse" | "/v1/poll" | "/v1/send" | "/v1/ice", "OPTIONS") => Route::Preflight,
            ("/v1/websocket", _) => Route::WrongMethod("GET"),
            ("/v1/stream" | "/v1/sse" | "/v1/poll" | "/v1/send", _) => Route::WrongMethod("POST, OPTIONS"),
            (path, "PATCH" | "PUT") if path.starts_with("/v1/files/") => Route::Pieces,
            (path, "POST") if path.starts_with("/v1/sites/") && path.ends_with("/stickers") => Route::Pieces,
            (path, "POST") if path.starts_with("/v1/sites/") && path.ends_with("/import") => Route::Pieces,
            (path, method) if self.shared.assets.get(path).is_some() => match method {
                "GET" | "HEAD" => Route::Asset,
                _ => Route::WrongMethod("GET, HEAD"),
            },
            _ => Route::Rest,
        }
    }

    pub(crate) fn request(&mut self, conn: &mut Conn, input: &mut [u8], io: &mut Io<'_>) -> Step {
        let Conn { state } = conn;
        if let State::Upload(_) = state {
            return self.read_body(state, input, io);
        }
        // A client that pipelines without reading the answers waits, or they would pile up to the output limit.
        if io.outgoing() > self.shared.config.soft_limit {
            return Step::Wait(0);
        }
        let mut room: Fields<'_> = NO_FIELDS;
        match parse(input, &mut room) {
            Ok(Some(head)) => {
                if let State::Idle { held, .. } = state {
                    *held = None;
                }
                self.begin_request(state, &head, io)
            }
            Ok(None) if input.is_empty() => Step::Wait(0),
            Ok(None) => {
                if let State::Idle { head_began, held } = state {
                    self.unproven.hold_head(held, input.len(), io.handle());
                    if !*head_began {
                        *head_began = true;
                        io.set_timer(Some(self.shared.config.head));
                    }
                }
                Step::Wait(0)
            }
            Err(offence) => self.refuse_request(state, offence, io),
        }
    }

    fn begin_request(&mut self, state: &mut State, head: &Head<'_>, io: &mut Io<'_>) -> Step {
        if let Some(other) = self.shared.config.xmpp
            && (other.takes_path)(head.path)
            && io.hand_over(other.number)
        {
            return Step::Wait(0);
        }
        if !self.count_client(head, io) {
            return self.refuse_request(state, Offence::TooManyConnections, io);
        }
        let route = self.route(head);
        let frame_bytes = self.shared.config.frame_bytes as usize;
        let limit = match route {
            // The router counts them.
            Route::Pieces => usize::MAX,
            Route::Rest => self.shared.config.rest_body_bytes,
            Route::Send | Route::Poll if self.has_session(head) => frame_bytes,
            _ => HELLO_BYTES.min(frame_bytes),
        };
        let reader = match Reader::new(head.framing, limit) {
            Ok(reader) => reader,
            Err(Offence::BodyTooLarge) => return self.body_is_too_large(state, head, route, io),
            Err(offence) => return self.refuse_request(state, offence, io),
        };
        io.set_timer(None);
        self.count(route);
        if route == Route::Pieces {
            if head.expects_continue {
                io.send(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            io.set_timer(Some(self.shared.config.body));
            let address = Visitor::of(head, &self.shared, io).address(io);
            let (forward, pending) = (Forward::of(head, address), Pending::of(head, Awaited::Rest));
            let incoming = Incoming::begin(reader, forward, pending, &self.shared, self.worker, io.handle());
            *state = State::Incoming(Box::new(incoming));
            return Step::Again(head.bytes);
        }
        let upload = || {
            let visitor = Visitor::of(head, &self.shared, io);
            let forward =
                matches!(route, Route::Rest).then(|| Box::new(Forward::of(head, visitor.address(io))));
            Upload {
                reader,
                body: Vec::new(),
                route,
                pending: Pending::of(head, Awaited::Rest),
                authorization: head.authorization.map(Into::into),
                visitor,
                held: None,
                forward,
            }
        };
        match route {
            Route::Socket => self.open_socket(state, head, io),
            Route::Echo => self.open_echo(state, head, io),
            Route::Asset if head.framing == Framing::Length(0) => self.answer_asset(state, head, io),
            _ => {
                let upload = upload();
                if upload.reader.is_done() {
                    self.dispatch(state, upload, io);
                } else {
                    if head.expects_continue {
                        io.send(b"HTTP/1.1 100 Continue\r\n\r\n");
                    }
                    io.set_timer(Some(self.shared.config.body));
                    *state = State::Upload(Box::new(upload));
                }
            }
        }
        Step::Again(head.bytes)
    }

    fn read_body(&mut self, state: &mut State, input: &[u8], io: &mut Io<'_>) -> Step {
        let State::Upload(upload) = state else { return Step::Wait(0) };
        let used = match upload.reader.read(input, &mut upload.body) {
            Ok(used) => used,
            Err(Offence::BodyTooLarge) => return self.upload_is_too_large(state, io),
            Err(offence) => return self.refuse_request(state, offence, io),
        };
        if !upload.reader.is_done() {
            if upload.route == Route::Rest {
                self.unproven.hold(&mut upload.held, upload.body.capacity(), io.handle());
            }
            return Step::Wait(used);
        }
        let State::Upload(upload) = std::mem::replace(state, State::Closing) else { return Step::Wait(used) };
        io.set_timer(None);
        self.dispatch(state, *upload, io);
        Step::Again(used)
    }

    /// Counts the connection of a trusted proxy for the client whose request it carries. False: that client has too many.
    fn count_client(&self, head: &Head<'_>, io: &mut Io<'_>) -> bool {
        let proxies = &self.shared.config.trusted_proxies;
        if !head.forwarded || proxies.are_none() {
            return true;
        }
        let client = io.peer().filter(|peer| proxies.contain(peer.ip())).and_then(|_| proxies.client(head));
        client.is_none_or(|client| io.count_for(client))
    }

    /// Its key is valid, so the sender may send more.
    fn has_session(&self, head: &Head<'_>) -> bool {
        let origin = head.origin.filter(|origin| !is_own_origin(origin, head.host));
        head.authorization.is_some_and(|key| self.shared.keys.check(key, origin).is_some())
    }

    fn body_is_too_large(
        &mut self,
        state: &mut State,
        head: &Head<'_>,
        route: Route,
        io: &mut Io<'_>,
    ) -> Step {
        let visitor = Visitor::of(head, &self.shared, io);
        let has_session = self.has_session(head);
        let pending = Pending::of(head, Awaited::Rest);
        self.too_large(
            state,
            TooLarge { route, pending, visitor, has_key: head.authorization.is_some(), has_session },
            io,
        )
    }

    fn upload_is_too_large(&mut self, state: &mut State, io: &mut Io<'_>) -> Step {
        let State::Upload(upload) = std::mem::replace(state, State::Closing) else { return Step::Wait(0) };
        let Upload { route, pending, visitor, authorization, .. } = *upload;
        let key = authorization.as_deref();
        let has_session =
            key.is_some_and(|key| self.shared.keys.check(key, visitor.origin.as_deref()).is_some());
        self.too_large(state, TooLarge { route, pending, visitor, has_key: key.is_some(), has_session }, io)
    }

    /// The following bytes are the rest of the body, so the connection ends. A session continues: it is on another
    /// connection.
    fn too_large(&mut self, state: &mut State, request: TooLarge, io: &mut Io<'_>) -> Step {
        let TooLarge { route, mut pending, visitor, has_key, has_session } = request;
        pending.what = match route {
            Route::Stream => Awaited::Stream,
            Route::Sse => Awaited::Sse,
            Route::Poll if !has_key => Awaited::PollHello,
            Route::Poll | Route::Send => Awaited::Posted,
            _ => return self.refuse_request(state, Offence::BodyTooLarge, io),
        };
        self.shared.counters.offence(Offence::BodyTooLarge);
        pending.keep_alive = false;
        pending.cors = self.known(visitor.origin);
        let code =
            if pending.what == Awaited::Posted && !has_session { Code::NoSession } else { Code::TooLarge };
        self.answer_code(state, &pending, code, code.meaning().trim(), io);
        Step::Wait(0)
    }

    /// A whole request on its way.
    fn dispatch(&mut self, state: &mut State, upload: Upload, io: &mut Io<'_>) {
        let Upload { route, mut pending, body, authorization, visitor, forward, .. } = upload;
        match route {
            Route::Stream | Route::Sse => {
                pending.what = if route == Route::Stream { Awaited::Stream } else { Awaited::Sse };
                let handle = SessionHandle(io.handle().to_bits());
                self.enter(state, pending, &body, visitor, handle, io);
            }
            Route::Poll if authorization.is_none() => {
                pending.what = Awaited::PollHello;
                let handle = self.polls.open(io.handle(), io.now());
                if !self.enter(state, pending, &body, visitor, handle, io) {
                    self.polls.close(handle);
                }
            }
            Route::Poll | Route::Send => {
                let key = authorization.as_deref();
                let session = key.and_then(|key| self.shared.keys.check(key, visitor.origin.as_deref()));
                pending.cors = self.known(visitor.origin);
                let Some(session) = session else {
                    return self.answer_code(state, &pending, Code::NoSession, "no such session", io);
                };
                let owner = Handle::from_bits(session.handle.0).worker();
                if owner >= self.shared.mailboxes.workers() {
                    return self.answer_code(state, &pending, Code::NoSession, "no such session", io);
                }
                let from = io.handle();
                let mail = if route == Route::Poll {
                    pending.what = Awaited::Poll;
                    io.set_timer(Some(self.shared.config.poll_wait));
                    Mail::Poll { session, from }
                } else {
                    pending.what = Awaited::Posted;
                    io.set_timer(Some(ANSWER_TIME));
                    Mail::Posted { session, commands: body, from }
                };
                *state = State::Waiting(Box::new(Waiting { pending, session: Some(session.handle) }));
                self.send_mail(owner, mail);
            }
            Route::Preflight => {
                pending.cors = self.known(visitor.origin);
                let fields = "access-control-allow-methods: POST\r\naccess-control-allow-headers: authorization, \
                              content-type\r\naccess-control-max-age: 7200\r\n";
                pending.send(io, 204, fields, b"");
                next_request(state, &pending, &self.shared.config, io);
            }
            Route::WrongMethod(allowed) => {
                pending.send(
                    io,
                    405,
                    &format!("{TEXT}allow: {allowed}\r\n"),
                    b"this path takes another method\n",
                );
                next_request(state, &pending, &self.shared.config, io);
            }
            Route::Rest | Route::Asset | Route::Socket | Route::Echo | Route::Pieces => {
                let Some(forward) = forward else { return io.close() };
                io.set_timer(Some(ANSWER_TIME));
                forward.begin(&self.shared, self.worker, io.handle(), body.into());
                *state = State::Waiting(Box::new(Waiting { pending, session: None }));
            }
        }
    }

    /// A hello in the body of a POST. False where it was refused at once.
    fn enter(
        &mut self,
        state: &mut State,
        mut pending: Pending,
        body: &[u8],
        visitor: Visitor,
        handle: SessionHandle,
        io: &mut Io<'_>,
    ) -> bool {
        let hello = match read_hello(body) {
            Ok(hello) => hello,
            Err((code, text)) => {
                // The site is not known.
                pending.cors = self.known(visitor.origin);
                self.answer_code(state, &pending, code, &text, io);
                return false;
            }
        };
        let readable = |origin: &str| self.shared.node.origin_allowed(&hello.site, origin) != Ok(false);
        pending.cors = visitor.origin.clone().filter(|origin| readable(origin));
        io.set_timer(Some(self.shared.config.hello));
        let session = (pending.what == Awaited::PollHello).then_some(handle);
        *state = State::Waiting(Box::new(Waiting { pending, session }));
        self.sign_in(&hello, &visitor, handle, io);
        true
    }

    pub(crate) fn sign_in(
        &mut self,
        hello: &Hello<'_>,
        visitor: &Visitor,
        handle: SessionHandle,
        io: &Io<'_>,
    ) {
        let Some(device) = DeviceId::parse(&hello.device) else { return };
        let needs_address = hello.token.is_none() || self.shared.node.logs_sign_ins();
        let hello = chat::Hello {
            site_key: (&*hello.site).into(),
            credential: chat::Credential::of_token(hello.token.as_deref().map(Into::into)),
            device,
            position: hello.position.as_deref().and_then(crate::wire::parse_position),
            origin: visitor.origin.as_deref().map(Into::into),
            // Looked up only where it is needed: it may be a call to the system.
            address: if needs_address { visitor.address(io) } else { None },
            agent: visitor.agent,
            announced: None,
        };
        self.shared.node.sign_in(hello, handle, timestamp(io.now()));
    }

    fn answer_asset(&mut self, state: &mut State, head: &Head<'_>, io: &mut Io<'_>) {
        let Some(asset) = self.shared.assets.get(head.path) else { return };
        let pending = Pending::of(head, Awaited::Rest);
        let found = asset.find(head);
        let rest = pending.send_ready(io, &mut self.date, found.status, found.rest);
        after_answer(state, pending, rest, &self.shared.config, io);
    }

    /// Answers with one error frame and the status of its code. The connection stays.
    pub(crate) fn answer_code(
        &mut self,
        state: &mut State,
        pending: &Pending,
        code: Code,
        text: &str,
        io: &mut Io<'_>,
    ) {
        self.shared.counters.code(code);
        let event = if pending.what.is_hello() {
            crate::wire::session::own_bye(code, text, None)
        } else {
            let retry_after = (code == Code::Unavailable).then_some(3_000);
            Event::Error { code, text: text.into(), re: None, id: None, retry_after }
        };
        pending.send_event(io, code, &event);
        next_request(state, pending, &self.shared.config, io);
    }

    pub(crate) fn answer_posted(
        &mut self,
        to: Handle,
        outcome: Result<(), Code>,
        conns: &mut Conns<'_, Conn>,
    ) {
        let Some((conn, mut io)) = conns.get(to) else { return };
        let Some(waiting) = take_waiting(&mut conn.state) else { return };
        let pending = &waiting.pending;
        match outcome {
            Ok(()) => {
                pending.send(&mut io, 204, "cache-control: no-store\r\n", b"");
                next_request(&mut conn.state, pending, &self.shared.config, &mut io);
            }
            Err(code) => self.answer_code(&mut conn.state, pending, code, code.meaning().trim(), &mut io),
        }
        read_on(&mut io);
    }

    /// No answer in time.
    /// The connection does not wait for its welcome any longer.
    pub(crate) fn give_up_sign_in(&mut self, state: &State, handle: Handle) {
        let own = SessionHandle(handle.to_bits());
        let session = match state {
            State::Socket(socket) if socket.is_signing_in() => own,
            State::Waiting(waiting) => match (waiting.pending.what, waiting.session) {
                (Awaited::Stream | Awaited::Sse, _) => own,
                (Awaited::PollHello, Some(session)) => {
                    // Nobody learns the key of the session.
                    self.polls.close(session);
                    session
                }
                _ => return,
            },
            _ => return,
        };
        self.shared.node.gave_up(session);
    }

    pub(crate) fn answer_is_late(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        self.give_up_sign_in(&conn.state, io.handle());
        let Some(mut waiting) = take_waiting(&mut conn.state) else { return };
        let pending = &mut waiting.pending;
        match pending.what {
            Awaited::Poll => {
                pending.send(io, 200, JSON, b"[]");
                next_request(&mut conn.state, pending, &self.shared.config, io);
            }
            // A late answer must not meet the next request.
            Awaited::Rest => {
                pending.keep_alive = false;
                pending.send(io, 504, TEXT, b"no answer in time\n");
                next_request(&mut conn.state, pending, &self.shared.config, io);
            }
            // The store did not answer: the client tries again elsewhere or later.
            Awaited::Stream | Awaited::Sse | Awaited::PollHello | Awaited::Posted => {
                pending.keep_alive = false;
                self.answer_code(&mut conn.state, pending, Code::Unavailable, "no answer in time", io);
            }
        }
        read_on(io);
    }

    pub(crate) fn request_is_late(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match conn.state {
            // No request is open, so there is no answer.
            State::Idle { head_began: false, .. } => io.close(),
            State::Upload(_) => drop(self.refuse_request(&mut conn.state, Offence::SlowBody, io)),
            _ => drop(self.refuse_request(&mut conn.state, Offence::SlowHead, io)),
        }
    }

    fn refuse_request(&mut self, state: &mut State, offence: Offence, io: &mut Io<'_>) -> Step {
        refuse_request(&self.shared, state, offence, io)
    }

    /// An origin that some site allows. Its pages may read an answer before the site is known.
    fn known(&self, origin: Option<Box<str>>) -> Option<Box<str>> {
        origin.filter(|origin| self.shared.node.origin_known(origin))
    }

    fn count(&self, route: Route) {
        let counters = &self.shared.counters;
        match route {
            Route::Rest | Route::Pieces => counters.requests_rest.add(1),
            Route::Asset => counters.requests_assets.add(1),
            _ => counters.requests_realtime.add(1),
        }
    }
}

pub(crate) fn refuse_request(shared: &Shared, state: &mut State, offence: Offence, io: &mut Io<'_>) -> Step {
    shared.counters.offence(offence);
    *state = State::Closing;
    refuse(io, offence);
    Step::Wait(0)
}

/// Leaves `Closing` in its place, so that whoever takes it must say what comes next.
pub(crate) fn take_waiting(state: &mut State) -> Option<Box<Waiting>> {
    if !matches!(state, State::Waiting(_)) {
        return None;
    }
    match std::mem::replace(state, State::Closing) {
        State::Waiting(waiting) => Some(waiting),
        _ => None,
    }
}

/// The hello, or the reason against it.
pub(crate) fn read_hello(frame: &[u8]) -> Result<Box<Hello<'_>>, (Code, Cow<'static, str>)> {
    match Command::parse(frame) {
        Ok(Command::Hello(hello)) if hello.v != VERSION => {
            Err((Code::BadVersion, "this server speaks version 1".into()))
        }
        Ok(Command::Hello(hello)) if DeviceId::parse(&hello.device).is_none() => {
            Err((Code::BadValue, "device: 1 to 64 bytes of A-Za-z0-9_-".into()))
        }
        Ok(Command::Hello(hello)) => Ok(hello),
        Ok(_) => Err((Code::NotNow, "the first frame must be hello".into())),
        Err(reject) => Err((reject.code, reject.text)),
    }
}

/// Whether the request comes from a page of this server.
pub(crate) fn is_own_origin(origin: &str, host: &str) -> bool {
    let authority = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}
