//! The bus on NATS: one thread for all links of a process.
//!
//! Core NATS is enough: the store is the truth, and a lost envelope costs one adoption. While NATS is away, envelopes are
//! dropped, and links end by silence. The client has only what a node needs: one connection, and a new one after each loss.

mod protocol;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use chat::Timestamp;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Url;

use self::protocol::{Credentials, Parser, Received};
use crate::{Fronts, Home, Send, Subject};

const TICK: Duration = Duration::from_millis(100);
/// Between two attempts to connect.
const AGAIN: Duration = Duration::from_millis(250);
/// For the connection, TLS and the sign-in.
const CONNECT: Duration = Duration::from_secs(5);
/// A connection that takes nothing for so long is given up.
const WRITE: Duration = Duration::from_secs(5);
/// Without a word from the server for so long, the node asks; after twice the time, the connection is given up.
const SILENCE: Duration = Duration::from_secs(5);
const PORT: u16 = 4_222;
/// Bytes that are read before answers are sent.
const READ_BYTES: usize = 256 * 1024;

/// The address of NATS, and how the node signs in there.
#[derive(Clone)]
pub struct Place {
    /// `nats://` or `tls://`, with a user and a password or a token. Several servers are separated by commas.
    pub url: String,
    /// PEM certificates of authorities that are trusted for `tls://`, beside the public ones.
    pub authority: Option<PathBuf>,
    /// The name of this node, for people who look at NATS.
    pub name: String,
}

/// The address of NATS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadPlace {
    #[error("an address of NATS begins with nats:// or tls://, and has a host")]
    Address,
    #[error("cannot read the certificates of {0}: {1}")]
    Authority(PathBuf, String),
}

/// The bus before it runs. Make it before the [`Home`] or the [`Fronts`], which wake it, and before threads with private tables of
/// descriptors start: a table that was copied earlier lacks the descriptor that wakes the runtime.
pub struct Bus {
    runtime: tokio::runtime::Runtime,
    wake: Wake,
}

impl Bus {
    pub fn new() -> io::Result<Bus> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Bus { runtime, wake: Wake::default() })
    }

    pub fn wake(&self) -> Wake {
        self.wake.clone()
    }
}

/// Wakes the thread of the bus, from any thread.
#[derive(Clone, Default)]
pub struct Wake(Arc<Notify>);

impl Wake {
    pub fn wake(&self) {
        self.0.notify_one();
    }
}

/// One server, checked.
struct Server {
    host: String,
    port: u16,
    is_tls: bool,
    credentials: Credentials,
}

impl Place {
    fn servers(&self) -> Result<Vec<Server>, BadPlace> {
        let urls = self.url.split(',').map(str::trim).filter(|url| !url.is_empty());
        let servers: Vec<Server> =
            urls.map(|url| Server::parse(url).ok_or(BadPlace::Address)).collect::<Result<_, _>>()?;
        if servers.is_empty() { Err(BadPlace::Address) } else { Ok(servers) }
    }

    fn tls(&self) -> Result<TlsConnector, BadPlace> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        if let Some(path) = &self.authority {
            let wrong = |error: String| BadPlace::Authority(path.clone(), error);
            for certificate in certificates(path).map_err(wrong)? {
                roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
            }
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(TlsConnector::from(Arc::new(config)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = CertificateDer::pem_file_iter(path).map_err(|error| error.to_string())?;
    all.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

impl Server {
    fn parse(text: &str) -> Option<Server> {
        let url = Url::parse(text).ok()?;
        let is_tls = match url.scheme() {
            "nats" => false,
            "tls" => true,
            _ => return None,
        };
        let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
        let user = Some(url.username()).filter(|user| !user.is_empty()).map(decoded);
        let credentials = Credentials { user, password: url.password().map(decoded) };
        Some(Server { host, port: url.port().unwrap_or(PORT), is_tls, credentials })
    }
}

/// Without percent-encoding (RFC 3986 §2.1). A wrong escape stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A home or a front on the bus.
trait Peer: std::marker::Send + Sync + 'static {
    fn subjects(&self) -> Vec<Subject>;
    fn receive(&self, bytes: &[u8], now: Timestamp);
    fn tick(&self, now: Timestamp);
    fn flush(&self, now: Timestamp, send: Send<'_>);
}

impl Peer for Home {
    fn subjects(&self) -> Vec<Subject> {
        // Other homes announce themselves to the fronts.
        vec![Subject::Home(self.slot()), Subject::Fronts(self.slot())]
    }

    fn receive(&self, bytes: &[u8], now: Timestamp) {
        Home::receive(self, bytes, now);
    }

    fn tick(&self, now: Timestamp) {
        Home::tick(self, now);
    }

    fn flush(&self, now: Timestamp, send: Send<'_>) {
        Home::flush(self, now, send);
    }
}

impl Peer for Fronts {
    fn subjects(&self) -> Vec<Subject> {
        let of_slots = self.iter().map(|front| Subject::Fronts(front.slot()));
        std::iter::once(Subject::Front(self.id())).chain(of_slots).collect()
    }

    fn receive(&self, bytes: &[u8], now: Timestamp) {
        Fronts::receive(self, bytes, now);
    }

    fn tick(&self, now: Timestamp) {
        Fronts::tick(self, now);
    }

    fn flush(&self, now: Timestamp, send: Send<'_>) {
        Fronts::flush(self, now, send);
    }
}

/// The thread of the bus.
pub struct Running {
    stop: Arc<Notify>,
    is_connected: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// The parts that the thread works with.
struct Carrier {
    place: Place,
    servers: Vec<Server>,
    tls: TlsConnector,
    peer: Arc<dyn Peer>,
    wake: Wake,
    clock: fn() -> Timestamp,
    is_connected: Arc<AtomicBool>,
}

impl Running {
    /// Carries the envelopes of a home. The thread connects by itself, now and after each loss.
    pub fn home(place: Place, home: Arc<Home>, bus: Bus, clock: fn() -> Timestamp) -> io::Result<Running> {
        Running::begin(place, home, bus, clock)
    }

    /// Carries the envelopes of a front.
    pub fn fronts(
        place: Place,
        fronts: Arc<Fronts>,
        bus: Bus,
        clock: fn() -> Timestamp,
    ) -> io::Result<Running> {
        Running::begin(place, fronts, bus, clock)
    }

    fn begin(place: Place, peer: Arc<dyn Peer>, bus: Bus, clock: fn() -> Timestamp) -> io::Result<Running> {
        let Bus { runtime, wake } = bus;
        let stop = Arc::<Notify>::default();
        let is_connected = Arc::<AtomicBool>::default();
        let servers = place.servers().map_err(io::Error::other)?;
        let tls = place.tls().map_err(io::Error::other)?;
        let carrier =
            Carrier { place, servers, tls, peer, wake, clock, is_connected: Arc::clone(&is_connected) };
        let stopped = Arc::clone(&stop);
        let work = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = carrier.carry() => {}
                    () = stopped.notified() => {}
                }
            });
        };
        let thread = thread::Builder::new().name("cluster".into()).spawn(work)?;
        Ok(Running { stop, is_connected, thread })
    }

    pub fn is_connected(&self) -> bool {
        self.is_connected.load(Ordering::Relaxed)
    }

    pub fn stop(self) {
        self.stop.notify_one();
        if self.thread.join().is_err() {
            tracing::error!("the thread of the cluster panicked");
        }
    }
}

impl Carrier {
    /// Connects to one server after the other, again and again.
    async fn carry(&self) {
        let mut is_told = false;
        for server in self.servers.iter().cycle() {
            let error = tokio::select! {
                ended = self.connection(server, &mut is_told) => ended,
                () = self.tick_alone() => continue,
            };
            self.is_connected.store(false, Ordering::Relaxed);
            // The URL contains a password, so it stays out of the log.
            let host = &server.host;
            match std::mem::replace(&mut is_told, true) {
                false => {
                    tracing::warn!(%error, %host, "cannot connect with NATS, or the connection is lost; trying again")
                }
                true => tracing::debug!(%error, %host, "cannot connect with NATS"),
            }
            sleep(AGAIN).await;
        }
    }

    /// Links notice their end also without NATS. What is due is dropped.
    async fn tick_alone(&self) {
        let mut ticks = interval(TICK);
        loop {
            ticks.tick().await;
            if !self.is_connected.load(Ordering::Relaxed) {
                self.peer.tick((self.clock)());
                self.peer.flush((self.clock)(), &mut |_, _| ());
            }
        }
    }

    /// One connection, from its beginning to its end.
    async fn connection(&self, server: &Server, is_told: &mut bool) -> io::Error {
        let connected = timeout(CONNECT, self.connect(server)).await;
        let mut connection = match connected {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => return error,
            Err(_) => return io::ErrorKind::TimedOut.into(),
        };
        self.is_connected.store(true, Ordering::Relaxed);
        *is_told = false;
        tracing::info!(host = %server.host, "connected with NATS");
        match self.exchange(&mut connection).await {
            Ok(()) => io::ErrorKind::ConnectionAborted.into(),
            Err(error) => error,
        }
    }

    async fn connect(&self, server: &Server) -> io::Result<Connection> {
        let stream = TcpStream::connect((server.host.as_str(), server.port)).await?;
        stream.set_nodelay(true)?;
        let mut connection = Connection { stream: Box::new(stream), parser: Parser::default() };
        // NATS speaks first, and TLS begins after its first line.
        let Received::Info(info) = connection.receive().await? else { return Err(offence()) };
        let is_tls = server.is_tls || info.tls_required;
        if is_tls {
            let name = ServerName::try_from(server.host.clone()).map_err(io::Error::other)?;
            let Connection { stream, .. } = connection;
            connection = Connection {
                stream: Box::new(self.tls.connect(name, stream).await?),
                parser: Parser::default(),
            };
        }
        let mut words = protocol::connect(&self.place.name, &server.credentials, is_tls);
        for (number, subject) in self.peer.subjects().into_iter().enumerate() {
            words.extend(protocol::subscribe(&subject.name(), number + 1));
        }
        words.extend_from_slice(b"PING\r\n");
        connection.stream.write_all(&words).await?;
        connection.stream.flush().await?;
        loop {
            match connection.receive().await? {
                Received::Pong => return Ok(connection),
                Received::Error(why) => return Err(io::Error::new(io::ErrorKind::PermissionDenied, why)),
                Received::Ping => connection.stream.write_all(b"PONG\r\n").await?,
                Received::Info(_) => {}
                Received::Message(message) => self.peer.receive(&message, (self.clock)()),
            }
        }
    }

    /// Carries envelopes until the connection ends.
    async fn exchange(&self, connection: &mut Connection) -> io::Result<()> {
        let (mut reader, mut writer) = tokio::io::split(&mut connection.stream);
        let parser = &mut connection.parser;
        let mut input = vec![0; READ_BYTES];
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        let mut asked = Instant::now();
        let mut out = Vec::new();
        loop {
            tokio::select! {
                read = reader.read(&mut input) => match read? {
                    0 => return Ok(()),
                    count => {
                        heard = Instant::now();
                        parser.push(&input[..count]);
                    }
                },
                _ = ticks.tick() => {
                    self.peer.tick((self.clock)());
                    if heard.elapsed() >= 2 * SILENCE {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                    if heard.elapsed() >= SILENCE && asked.elapsed() >= SILENCE {
                        asked = Instant::now();
                        out.extend_from_slice(b"PING\r\n");
                    }
                }
                () = self.wake.0.notified() => {}
            }
            while let Some(received) = parser.next().map_err(io::Error::other)? {
                match received {
                    Received::Message(message) => self.peer.receive(&message, (self.clock)()),
                    Received::Ping => out.extend_from_slice(b"PONG\r\n"),
                    Received::Error(why) => {
                        tracing::warn!(%why, "NATS has refused something");
                    }
                    Received::Info(_) | Received::Pong => {}
                }
            }
            self.peer.flush((self.clock)(), &mut |subject, bytes| {
                protocol::publish(&mut out, &subject.name(), &bytes);
            });
            if !out.is_empty() {
                timeout(WRITE, writer.write_all(&out))
                    .await
                    .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
                writer.flush().await?;
                out.clear();
                out.shrink_to(READ_BYTES);
            }
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + std::marker::Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + std::marker::Send> Stream for T {}

struct Connection {
    stream: Box<dyn Stream>,
    parser: Parser,
}

impl Connection {
    async fn receive(&mut self) -> io::Result<Received> {
        let mut input = [0; 4096];
        loop {
            if let Some(received) = self.parser.next().map_err(io::Error::other)? {
                return Ok(received);
            }
            match self.stream.read(&mut input).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => self.parser.push(&input[..count]),
            }
        }
    }
}

fn offence() -> io::Error {
    io::Error::other(protocol::Offence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrontId, Slot};

    #[test]
    fn an_address_of_nats_is_read_with_its_credentials() {
        let server = Server::parse("tls://kith:p%40ss%2Fword@[::1]:4443").expect("an address");
        assert_eq!((server.host.as_str(), server.port, server.is_tls), ("::1", 4_443, true));
        let credentials = Credentials { user: Some("kith".into()), password: Some("p@ss/word".into()) };
        assert_eq!(server.credentials, credentials);
        assert_eq!(Server::parse("nats://10.0.0.1").expect("an address").port, PORT);
        for wrong in ["http://10.0.0.1", "10.0.0.1:4222", "nats://", ""] {
            assert!(Server::parse(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_front_hears_of_the_homes_of_all_slots() {
        let inbox = crate::attacks::Inbox::default();
        let fronts = Fronts::new(FrontId(7), 2, "front".into(), inbox, Timestamp(0), || ());
        let slots = [Slot(0), Slot(1)].map(Subject::Fronts);
        assert_eq!(fronts.subjects(), [&[Subject::Front(FrontId(7))], &slots[..]].concat());
    }

    #[test]
    fn several_servers_are_separated_by_commas() {
        let place = |url: &str| Place { url: url.into(), authority: None, name: String::new() };
        assert_eq!(place("nats://a, nats://b:1").servers().expect("two").len(), 2);
        assert!(place(" , ").servers().is_err());
    }
}
