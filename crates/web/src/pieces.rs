//! Bodies too large to be held, piece by piece between a worker and the router, in both directions.
//!
//! A piece is passed on when the one before was taken: a slow disk slows the sender, a slow reader slows the disk, and
//! memory stays with two pieces per connection.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::http::Response;
use bytes::Bytes;
use edge::{Conns, Handle, Io, Mailboxes};
use http_body::Frame;
use http_proto::body::Reader;
use http_proto::head::Offence;
use tokio::sync::mpsc;

use crate::answer::Pending;
use crate::config::Shared;
use crate::gateway::{Conn, Gateway, Mail, State, Step, next_request, read_on};
use crate::request::{ANSWER_TIME, Waiting, refuse_request};
use crate::rest::{Answer, Forward};

/// Most of a request's body that is passed on at once.
const PIECE_BYTES: usize = 64 * 1024;

/// A client that sends so much after a refusal does not read it.
const UNHEARD_BYTES: usize = 1 << 20;

/// On an answer of the router: see [`pass_on_in_pieces`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streamed;

/// A request whose body goes to the router piece by piece.
pub(crate) struct Incoming {
    reader: Reader,
    /// None: the answer has come already, and the rest of the body is dropped.
    pieces: Option<mpsc::Sender<Bytes>>,
    unheard: usize,
    pending: Option<Pending>,
}

/// The router's end of it.
struct IncomingBody {
    pieces: mpsc::Receiver<Bytes>,
    mailboxes: Mailboxes<Mail>,
    worker: usize,
    from: Handle,
}

impl HttpBody for IncomingBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let piece = ready!(self.pieces.poll_recv(context));
        if piece.is_some() {
            self.mailboxes.send(self.worker, Mail::ReadOn { to: self.from });
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }
}

impl Incoming {
    pub(crate) fn begin(
        reader: Reader,
        forward: Forward,
        pending: Pending,
        shared: &Arc<Shared>,
        worker: usize,
        from: Handle,
    ) -> Incoming {
        let (give, take) = mpsc::channel(1);
        let body = IncomingBody { pieces: take, mailboxes: shared.mailboxes.clone(), worker, from };
        forward.begin(shared, worker, from, Body::new(body));
        Incoming { reader, pieces: Some(give), unheard: 0, pending: Some(pending) }
    }
}

impl Gateway {
    pub(crate) fn read_pieces(&mut self, state: &mut State, input: &[u8], io: &mut Io<'_>) -> Step {
        let State::Incoming(incoming) = state else { return Step::Wait(0) };
        let permit = match incoming.pieces.clone().map(mpsc::Sender::try_reserve_owned) {
            Some(Ok(permit)) => Some(permit),
            Some(Err(mpsc::error::TrySendError::Full(_))) => {
                io.set_reading(false);
                return Step::Wait(0);
            }
            // The router has stopped reading: its answer is on the way.
            Some(Err(mpsc::error::TrySendError::Closed(_))) | None => None,
        };
        let input = &input[..input.len().min(PIECE_BYTES)];
        let mut piece = Vec::with_capacity(input.len());
        let used = match incoming.reader.read(input, &mut piece) {
            Ok(used) => used,
            Err(_) if incoming.pending.is_none() => {
                *state = State::Closing;
                io.close();
                return Step::Wait(0);
            }
            Err(offence) => {
                return refuse_request(&self.shared, state, offence, io);
            }
        };
        match permit {
            Some(permit) if !piece.is_empty() => {
                drop(permit.send(piece.into()));
                io.set_timer(Some(self.shared.config.body));
            }
            Some(_) => {}
            None => incoming.unheard += piece.len(),
        }
        let (is_done, is_unheard) = (incoming.reader.is_done(), incoming.unheard > UNHEARD_BYTES);
        if is_done {
            self.all_came(state, io);
            return Step::Again(used);
        }
        if is_unheard {
            *state = State::Closing;
            io.close();
            return Step::Wait(used);
        }
        if used > 0 { Step::Again(used) } else { Step::Wait(0) }
    }

    fn all_came(&mut self, state: &mut State, io: &mut Io<'_>) {
        let State::Incoming(incoming) = std::mem::replace(state, State::Closing) else { return };
        match incoming.pending {
            Some(pending) => {
                io.set_timer(Some(ANSWER_TIME));
                *state = State::Waiting(Box::new(Waiting { pending, session: None }));
            }
            // It was answered before.
            None => self.go_on(state, io),
        }
    }

    fn go_on(&self, state: &mut State, io: &mut Io<'_>) {
        *state = State::Idle { head_began: false, held: None };
        io.set_timer(Some(self.shared.config.keep_alive));
    }

    /// Sends an answer that came before the end of the body, and drops the rest of the body.
    pub(crate) fn answer_early(&mut self, conn: &mut Conn, answer: &Answer, io: &mut Io<'_>) {
        let State::Incoming(incoming) = &mut conn.state else { return };
        incoming.pieces = None;
        let Some(pending) = incoming.pending.take() else { return };
        answer.send_small(&pending, io);
        if !pending.keep_alive {
            conn.state = State::Closing;
            return io.close();
        }
        io.set_timer(Some(self.shared.config.body));
        read_on(io);
    }

    /// The router has taken a piece and can take the next.
    pub(crate) fn take_more(&mut self, to: Handle, conns: &mut Conns<'_, Conn>) {
        if let Some((conn, mut io)) = conns.get(to)
            && matches!(conn.state, State::Incoming(_))
        {
            read_on(&mut io);
        }
    }

    pub(crate) fn body_is_late(&mut self, conn: &mut Conn, io: &mut Io<'_>) {
        match &conn.state {
            State::Incoming(incoming) if incoming.pending.is_some() => {
                let _ = refuse_request(&self.shared, &mut conn.state, Offence::SlowBody, io);
            }
            _ => io.close(),
        }
    }
}

/// A large answer. The worker requests its pieces one by one.
pub(crate) struct Outgoing {
    pending: Pending,
    asks: mpsc::Sender<()>,
    left: usize,
}

impl Outgoing {
    pub(crate) fn begin(pending: Pending, asks: mpsc::Sender<()>, length: usize) -> Outgoing {
        let outgoing = Outgoing { pending, asks, left: length };
        outgoing.ask();
        outgoing
    }

    /// The worker has one open request at most, so the queue has room. If the receiver is gone, it has reported the end.
    pub(crate) fn ask(&self) {
        let _ = self.asks.try_send(());
    }
}

/// Passes the body of an answer on, one piece per request of the worker. The answer breaks off if its length is wrong.
pub(crate) async fn pass_on(
    mut body: Body,
    mut asked: mpsc::Receiver<()>,
    mailboxes: Mailboxes<Mail>,
    worker: usize,
    to: Handle,
) {
    while asked.recv().await.is_some() {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        let piece = frame.and_then(Result::ok).and_then(|frame| frame.into_data().ok());
        let is_last = piece.is_none();
        mailboxes.send(worker, Mail::Piece { to, piece });
        if is_last {
            return;
        }
    }
}

/// Makes an answer of the router one whose body is passed on as it is read. It must say its `content-length`, and its pieces must
/// be larger than the connection layer's soft limit, but for the last.
pub fn pass_on_in_pieces(response: &mut Response<Body>) {
    response.extensions_mut().insert(Streamed);
}

pub(crate) fn is_streamed(response: &Response<Body>) -> bool {
    response.extensions().get::<Streamed>().is_some()
}

impl Gateway {
    pub(crate) fn send_next(&mut self, to: Handle, piece: Option<Bytes>, conns: &mut Conns<'_, Conn>) {
        let Some((conn, mut io)) = conns.get(to) else { return };
        let State::Outgoing(outgoing) = &mut conn.state else { return };
        let fits = piece.filter(|piece| !piece.is_empty() && piece.len() <= outgoing.left);
        let Some(piece) = fits else { return io.abort() };
        outgoing.left -= piece.len();
        io.send_shared(piece);
        io.set_timer(Some(crate::gateway::PIECE_TIME));
        if outgoing.left == 0
            && let State::Outgoing(outgoing) = std::mem::replace(&mut conn.state, State::Closing)
        {
            next_request(&mut conn.state, &outgoing.pending, &self.shared.config, &mut io);
            read_on(&mut io);
        }
    }
}
