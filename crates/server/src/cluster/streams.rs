//! Connections of other XMPP servers and of components at a front, which passes their bytes on to the home.
//!
//! A front reads nothing of a stream but its first byte, so it needs neither certificates nor secrets of components. It tells the home the
//! client's address in a head that it writes itself, before any byte of the client ([`PassedStream`]). With homes of several slots it also
//! reads the domain in the head of the stream, which says whose home it is.
//!
//! | what | bound | at the bound |
//! |---|---|---|
//! | connections of a front | 4,096, and a 16th of its descriptors | closed at once |
//! | connections of an address | `edge.connections_per_address` | closed at once |
//! | bytes of a connection on their way, each way | 16 KiB, and the system's buffers | the other side is not read |
//! | a client that sends nothing, or no whole head | 10 s | closed, before the home learns of it |
//! | a side that takes nothing | 60 s | closed |
//! | no byte either way | 2 h; the home closes silent streams after one | closed |
//! | one side has ended | 30 s for the other | closed |
//! | another home, or no link for 10 s | | closed |

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ::cluster::{Slot, Term};
use ::xmpp::{ACCEPTED, PassedStream, Peers};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::domain_of_stream::{Found, HEAD_BYTES, TLS, domain};
use crate::config::Config;
use crate::metrics::{Sample, Source};
use crate::take_over;
use crate::trouble::{Outcome, Trouble};

const MOST: usize = 4_096;
/// A connection takes two descriptors, and all of them an eighth of the process'.
const PART_OF_DESCRIPTORS: u64 = 16;
const BACKLOG: u32 = 1_024;
/// Read at once from one side.
const PIECE: usize = 16 * 1024;
/// Longest head of the home's answer.
const ANSWER_BYTES: usize = 1_024;
/// How often the home is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// After an error of `accept`, such as the lack of a descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// Times after which a connection ends.
#[derive(Debug, Clone, Copy)]
struct Patience {
    first_byte: Duration,
    connect: Duration,
    answer: Duration,
    stalled: Duration,
    idle: Duration,
    half_closed: Duration,
    without_link: Duration,
}

const PATIENCE: Patience = Patience {
    first_byte: Duration::from_secs(10),
    connect: Duration::from_secs(3),
    answer: Duration::from_secs(5),
    stalled: Duration::from_secs(60),
    idle: Duration::from_secs(2 * 3_600),
    half_closed: Duration::from_secs(30),
    without_link: Duration::from_secs(10),
};

/// The homes of all slots.
pub(crate) trait Homes: Send + Sync + 'static {
    fn slots(&self) -> u8;
    /// None without a link.
    fn home(&self, slot: Slot) -> Option<HomeAt>;
    /// The slot of the site with this domain, or with a host below it.
    fn slot_of(&self, domain: &str) -> Slot;
}

/// A home, as the link of a front knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HomeAt {
    pub(crate) http: Arc<str>,
    pub(crate) term: Term,
}

/// The listeners, before anything is accepted.
pub(crate) struct Bound {
    listeners: Vec<(TcpListener, Peers)>,
    addresses: Vec<SocketAddr>,
}

/// The open connections.
pub(crate) struct Streams {
    addresses: Vec<SocketAddr>,
    shared: Arc<Shared>,
}

struct Shared {
    proof: Arc<str>,
    /// By slot. None: no link for some time.
    known: Vec<watch::Sender<Option<HomeAt>>>,
    homes: Box<dyn Homes>,
    places: Places,
    patience: Patience,
    counters: Counters,
}

#[derive(Default)]
struct Counters {
    opened: AtomicU64,
    to_home: AtomicU64,
    to_clients: AtomicU64,
    over_limit: AtomicU64,
    silent: AtomicU64,
    not_taken: AtomicU64,
}

/// Most connections that are passed on at once.
pub(crate) fn most(descriptors: u64) -> usize {
    MOST.min(usize::try_from(descriptors / PART_OF_DESCRIPTORS).unwrap_or(MOST))
}

/// Whether the settings of a front name a listener for servers or components.
pub(crate) fn are_wanted(config: &Config) -> Outcome<bool> {
    Ok(!addresses(config)?.is_empty())
}

fn addresses(config: &Config) -> Outcome<Vec<(SocketAddr, Peers)>> {
    let servers = crate::xmpp::addresses("xmpp.s2s_listen", &config.xmpp.s2s_listen)?.unwrap_or_default();
    let components = crate::components::addresses(&config.xmpp)?;
    let of_servers = servers.into_iter().map(|address| (address, Peers::Servers));
    Ok(of_servers.chain(components.into_iter().map(|address| (address, Peers::Components))).collect())
}

/// Binds the addresses. `old`: those of a process that this one takes over. Call it within the runtime.
pub(crate) fn bind(config: &Config, old: &[SocketAddr]) -> Outcome<Bound> {
    let mut bound = Bound { listeners: Vec::new(), addresses: Vec::new() };
    for (number, (wanted, peers)) in addresses(config)?.into_iter().enumerate() {
        let joined = take_over::joined(wanted, old.get(number));
        let listener = listen(joined.unwrap_or(wanted), joined.is_some());
        let listener = listener.and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) = listener.map_err(|error| {
            Trouble::new(format!("cannot listen on {wanted} for XMPP"))
                .because(error)
                .remedy("stop the other server on this port, or change xmpp.s2s_listen and xmpp.component_listen (off disables them)")
        })?;
        if peers == Peers::Components && !address.ip().is_loopback() {
            tracing::warn!(%address, "components connect without TLS: let nobody else reach this address");
        }
        bound.addresses.push(address);
        bound.listeners.push((listener, peers));
    }
    Ok(bound)
}

/// Shares the address with a process that takes over later. `joins`: with one that runs.
fn listen(address: SocketAddr, joins: bool) -> io::Result<TcpListener> {
    // A second server would silently share the port.
    let address = if joins { address } else { open(address, false)?.local_addr()? };
    open(address, true)
}

fn open(address: SocketAddr, shares: bool) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.set_reuseport(shares)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

impl Bound {
    /// Accepts connections from now on. `proof`: of a node of the cluster.
    pub(crate) fn begin(
        self,
        config: &Config,
        most: usize,
        proof: Arc<str>,
        homes: impl Homes,
        runtime: &Handle,
    ) -> Streams {
        let proxies = config.web.trusted_proxies.0.clone();
        let places = Places {
            most,
            per_address: match config.edge.connections_per_address {
                0 => u32::MAX,
                wanted => wanted.min(u32::try_from(most / 2).unwrap_or(u32::MAX)).max(1),
            },
            is_exempt: Box::new(move |ip| ip.to_canonical().is_loopback() || proxies.contain(ip)),
            taken: Mutex::default(),
        };
        self.begin_with(places, PATIENCE, proof, homes, runtime)
    }

    fn begin_with(
        self,
        places: Places,
        patience: Patience,
        proof: Arc<str>,
        homes: impl Homes,
        runtime: &Handle,
    ) -> Streams {
        let slots = (0..homes.slots()).map(Slot);
        let known = slots.clone().map(|slot| watch::channel(homes.home(slot)).0).collect();
        let homes = Box::new(homes);
        let shared =
            Arc::new(Shared { proof, known, homes, places, patience, counters: Counters::default() });
        for slot in slots {
            runtime.spawn(watch_home(Arc::clone(&shared), slot));
        }
        for (listener, peers) in self.listeners {
            runtime.spawn(accept(listener, peers, Arc::clone(&shared)));
        }
        Streams { addresses: self.addresses, shared }
    }
}

impl Streams {
    /// In the order of the settings, with real ports.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    pub(crate) fn figures(&self) -> Source {
        let shared = Arc::clone(&self.shared);
        Box::new(move || {
            let counters = &shared.counters;
            let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
            let mut samples = vec![
                Sample::gauge(
                    "kith_cluster_streams",
                    "Connections of other servers and components that this front passes on to the home.",
                    shared.places.open() as u64,
                ),
                Sample::counter(
                    "kith_cluster_streams_opened",
                    "Such connections that the home took.",
                    read(&counters.opened),
                ),
            ];
            samples.extend(
                [
                    ("limit", &counters.over_limit),
                    ("silent", &counters.silent),
                    ("home", &counters.not_taken),
                ]
                .map(|(why, count)| {
                    Sample::counter(
                        "kith_cluster_streams_refused",
                        "Such connections that were closed before, by reason.",
                        read(count),
                    )
                    .labelled("why", why)
                }),
            );
            samples.extend([("home", &counters.to_home), ("clients", &counters.to_clients)].map(
                |(to, count)| {
                    Sample::counter(
                        "kith_cluster_streams_bytes",
                        "Bytes passed on, by direction.",
                        read(count),
                    )
                    .labelled("to", to)
                },
            ));
            samples
        })
    }
}

/// Connections follow one home. They end with it, because another one knows nothing of their streams.
async fn watch_home(shared: Arc<Shared>, slot: Slot) {
    let Some(known) = shared.known.get(usize::from(slot.0)) else { return };
    let mut linked = Instant::now();
    loop {
        sleep(LOOK).await;
        let now = shared.homes.home(slot);
        if now.is_some() {
            linked = Instant::now();
        }
        if now.is_some() || linked.elapsed() >= shared.patience.without_link {
            known.send_if_modified(|known| std::mem::replace(known, now.clone()) != now);
        }
    }
}

async fn accept(listener: TcpListener, peers: Peers, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((client, from)) => match Place::take(&shared, from.ip()) {
                Some(place) => drop(tokio::spawn(carry(client, from, peers, place))),
                None => count(&shared.counters.over_limit),
            },
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection for the home");
                sleep(PAUSE).await;
            }
        }
    }
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// One connection, to its end.
async fn carry(client: TcpStream, from: SocketAddr, peers: Peers, place: Place) {
    let shared = &place.shared;
    let mut client = client;
    let Ok(Ok((head, slot))) =
        timeout(shared.patience.first_byte, head_of(&mut client, &*shared.homes)).await
    else {
        return count(&shared.counters.silent);
    };
    let stream = PassedStream { peers, client: from.ip().to_canonical(), tls: head.first() == Some(&TLS) };
    let Some(mut homes) = shared.known.get(usize::from(slot.0)).map(watch::Sender::subscribe) else {
        return count(&shared.counters.not_taken);
    };
    // A front that has just started has a home soon.
    let found = timeout(shared.patience.connect, homes.wait_for(Option::is_some)).await;
    let Some(home) = found.ok().and_then(Result::ok).and_then(|home| home.clone()) else {
        return count(&shared.counters.not_taken);
    };
    let (to_home, begun) = match reach(&home, &stream, shared).await {
        Ok(reached) => reached,
        Err(error) => {
            tracing::debug!(%error, home = %home.http, client = %stream.client, "the home does not take a stream");
            return count(&shared.counters.not_taken);
        }
    };
    count(&shared.counters.opened);
    let ended = tokio::select! {
        ended = exchange(client, to_home, &head, &begun, shared) => ended,
        _ = homes.wait_for(|now| *now != Some(home.clone())) => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, client = %stream.client, "a stream that was passed on has ended");
    }
}

/// The first bytes of a client, and the slot of the domain that they name. With one slot they are one byte, which the client may have
/// sent alone.
async fn head_of(client: &mut TcpStream, homes: &dyn Homes) -> io::Result<(Vec<u8>, Slot)> {
    let mut head = Vec::new();
    loop {
        let most = if homes.slots() == 1 { 1 } else { HEAD_BYTES - head.len() };
        if (&mut *client).take(most as u64).read_buf(&mut head).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if homes.slots() == 1 {
            return Ok((head, Slot::FIRST));
        }
        match domain(&head) {
            Found::Domain(domain) => return Ok((head, homes.slot_of(&domain))),
            // Its home says what is wrong.
            Found::No => return Ok((head, Slot::FIRST)),
            Found::More => {}
        }
    }
}

/// A connection to the home that has taken the stream, and what it has sent for the client by then.
async fn reach(home: &HomeAt, stream: &PassedStream, shared: &Shared) -> io::Result<(TcpStream, Vec<u8>)> {
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let mut connection =
        timeout(shared.patience.connect, TcpStream::connect(&*home.http)).await.map_err(late)??;
    connection.set_nodelay(true)?;
    let request = stream.request(&shared.proof);
    let asked = async {
        connection.write_all(request.as_bytes()).await?;
        let mut answer = Vec::with_capacity(ANSWER_BYTES);
        loop {
            if let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") {
                let begun = answer.split_off(end + 4);
                return match answer.starts_with(ACCEPTED.as_bytes()) {
                    true => Ok(begun),
                    false => Err(io::Error::other(String::from_utf8_lossy(&answer[..end]).into_owned())),
                };
            }
            if answer.len() >= ANSWER_BYTES || connection.read_buf(&mut answer).await? == 0 {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
    };
    let begun = timeout(shared.patience.answer, asked).await.map_err(late)??;
    Ok((connection, begun))
}

async fn exchange(
    mut client: TcpStream,
    mut home: TcpStream,
    head: &[u8],
    begun: &[u8],
    shared: &Shared,
) -> io::Result<()> {
    client.set_nodelay(true)?;
    let Patience { stalled, idle, half_closed, .. } = shared.patience;
    let active = Active::new();
    let (from_client, mut to_client) = client.split();
    let (from_home, mut to_home) = home.split();
    write(&mut to_client, begun, stalled).await?;
    write(&mut to_home, head, stalled).await?;
    shared.counters.to_home.fetch_add(head.len() as u64, Ordering::Relaxed);
    let up = pump(from_client, to_home, stalled, &active, &shared.counters.to_home);
    let down = pump(from_home, to_client, stalled, &active, &shared.counters.to_clients);
    tokio::pin!(up, down);
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    tokio::select! {
        ended = &mut up => {
            ended?;
            timeout(half_closed, down).await.map_err(late)?
        }
        ended = &mut down => {
            ended?;
            timeout(half_closed, up).await.map_err(late)?
        }
        () = active.ends(idle) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// Passes bytes on in one direction until its end. It reads no more before the other side has taken everything, and owns no buffer
/// while it waits.
async fn pump(
    from: ReadHalf<'_>,
    mut to: WriteHalf<'_>,
    stalled: Duration,
    active: &Active,
    bytes: &AtomicU64,
) -> io::Result<()> {
    loop {
        from.readable().await?;
        let mut piece = vec![0; PIECE];
        let length = match from.try_read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        active.now();
        write(&mut to, &piece[..length], stalled).await?;
        bytes.fetch_add(length as u64, Ordering::Relaxed);
    }
    to.shutdown().await
}

/// Fails if the other side takes nothing for so long.
async fn write(to: &mut WriteHalf<'_>, mut bytes: &[u8], stalled: Duration) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = timeout(stalled, to.write(bytes)).await.map_err(|_| io::ErrorKind::TimedOut)??;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// The time of the last byte.
struct Active {
    begin: Instant,
    /// Milliseconds since then.
    last: AtomicU64,
}

impl Active {
    fn new() -> Active {
        Active { begin: Instant::now(), last: AtomicU64::new(0) }
    }

    fn now(&self) {
        let passed = u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last.store(passed, Ordering::Relaxed);
    }

    /// Returns when there was no byte for so long.
    async fn ends(&self, idle: Duration) {
        loop {
            let end = self.begin + Duration::from_millis(self.last.load(Ordering::Relaxed)) + idle;
            if Instant::now() >= end {
                return;
            }
            tokio::time::sleep_until(end).await;
        }
    }
}

/// The bounds of open connections.
struct Places {
    most: usize,
    per_address: u32,
    /// Addresses of many clients.
    is_exempt: Box<dyn Fn(IpAddr) -> bool + Send + Sync>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    all: usize,
    /// At most as many entries as connections.
    by_address: HashMap<IpAddr, u32>,
}

impl Places {
    /// False: there is no room.
    fn take(&self, address: IpAddr) -> bool {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.all >= self.most {
            return false;
        }
        if !(self.is_exempt)(address) {
            let of_address = taken.by_address.entry(network(address)).or_default();
            if *of_address >= self.per_address {
                return false;
            }
            *of_address += 1;
        }
        taken.all += 1;
        true
    }

    fn give_back(&self, address: IpAddr) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        let network = network(address);
        if let Some(of_address) = taken.by_address.get_mut(&network).filter(|_| !(self.is_exempt)(address)) {
            *of_address -= 1;
            if *of_address == 0 {
                taken.by_address.remove(&network);
            }
        }
    }

    fn open(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

/// The network of one customer: an IPv4 address, or the /64 of an IPv6 one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
        ip => ip,
    }
}

/// The place of one connection, until it is dropped.
struct Place {
    shared: Arc<Shared>,
    address: IpAddr,
}

impl Place {
    fn take(shared: &Arc<Shared>, address: IpAddr) -> Option<Place> {
        shared.places.take(address).then(|| Place { shared: Arc::clone(shared), address })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shared.places.give_back(self.address);
    }
}

#[cfg(test)]
mod tests;
