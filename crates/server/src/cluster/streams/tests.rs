//! Against a home of a few lines, over real sockets: slow peers, many peers, and homes that fail.

use std::future::Future;

use super::*;

const SECOND: Duration = Duration::from_secs(1);
/// Long enough for a busy machine.
const DEADLINE: Duration = Duration::from_secs(30);

const LONG: Patience = Patience {
    first_byte: DEADLINE,
    connect: DEADLINE,
    answer: DEADLINE,
    stalled: DEADLINE,
    idle: DEADLINE,
    half_closed: DEADLINE,
    without_link: DEADLINE,
};

/// A front between its clients and a home.
struct Scene {
    front: SocketAddr,
    home: TcpListener,
    /// The home that the link shows.
    link: Arc<Mutex<Option<HomeAt>>>,
    streams: Streams,
}

/// The home of the only slot.
struct One(Arc<Mutex<Option<HomeAt>>>);

impl Homes for One {
    fn slots(&self) -> u8 {
        1
    }

    fn home(&self, _: Slot) -> Option<HomeAt> {
        self.0.lock().expect("no panic").clone()
    }

    fn slot_of(&self, _: &str) -> Slot {
        unreachable!("one slot needs no domain")
    }
}

impl Scene {
    async fn new(patience: Patience, per_address: u32) -> Scene {
        let home = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let http = home.local_addr().expect("an address").to_string().into();
        let link = Arc::new(Mutex::new(Some(HomeAt { http, term: Term(1) })));
        let listener = listen("127.0.0.1:0".parse().expect("an address"), false).expect("a port");
        let front = listener.local_addr().expect("an address");
        let bound = Bound { listeners: vec![(listener, Peers::Servers)], addresses: vec![front] };
        let places =
            Places { most: 64, per_address, is_exempt: Box::new(|_| false), taken: Mutex::default() };
        let shown = Arc::clone(&link);
        let streams = bound.begin_with(places, patience, "proof".into(), One(shown), &Handle::current());
        Scene { front, home, link, streams }
    }

    async fn client(&self) -> TcpStream {
        TcpStream::connect(self.front).await.expect("the front accepts")
    }

    /// The head of the next stream at the home, which takes it.
    async fn taken(&self) -> (TcpStream, String) {
        let (mut stream, head) = self.asked().await;
        stream.write_all(format!("{ACCEPTED}\r\n\r\n").as_bytes()).await.expect("written");
        (stream, head)
    }

    async fn asked(&self) -> (TcpStream, String) {
        let (mut stream, _) = self.home.accept().await.expect("the front connects");
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.expect("a head"));
        }
        (stream, String::from_utf8(head).expect("text"))
    }

    /// A stream whose client has sent this.
    async fn pair(&self, first: &[u8]) -> (TcpStream, TcpStream, String) {
        let mut client = self.client().await;
        client.write_all(first).await.expect("written");
        let (home, head) = self.taken().await;
        (client, home, head)
    }

    fn counter(&self, read: impl Fn(&Counters) -> &AtomicU64) -> u64 {
        read(&self.streams.shared.counters).load(Ordering::Relaxed)
    }

    /// Returns when the front has no stream.
    async fn is_empty(&self) {
        until(|| self.streams.shared.places.open() == 0).await;
    }
}

async fn until(is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < DEADLINE, "it does not come");
        sleep(Duration::from_millis(5)).await;
    }
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async { timeout(4 * DEADLINE, test).await.expect("the test ends") });
}

async fn read_to_end(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset is an end, too.
    let _ = timeout(DEADLINE, stream.read_to_end(&mut bytes)).await.expect("the connection ends");
    bytes
}

/// Writes until nobody takes more for a while. Returns the bytes that were taken.
async fn fill(stream: &mut TcpStream) -> usize {
    let piece = vec![7; 64 * 1024];
    let mut taken = 0;
    while let Ok(written) = timeout(SECOND, stream.write(&piece)).await {
        taken += written.expect("the connection is open");
        assert!(taken < 64 << 20, "nothing stops the sender");
    }
    taken
}

#[test]
fn bytes_pass_both_ways_and_the_home_learns_the_address_first() {
    run(async {
        let scene = Scene::new(LONG, 8).await;
        let (mut client, mut home, head) = scene.pair(b"<?xml version='1.0'?>").await;
        let expected = PassedStream {
            peers: Peers::Servers,
            client: "127.0.0.1".parse().expect("an address"),
            tls: false,
        };
        assert_eq!(head, expected.request("proof"));
        let mut first = [0; 21];
        home.read_exact(&mut first).await.expect("the client's bytes");
        assert_eq!(&first, b"<?xml version='1.0'?>");
        home.write_all(b"<stream:stream/>").await.expect("written");
        let mut answer = [0; 16];
        client.read_exact(&mut answer).await.expect("the home's bytes");
        assert_eq!(&answer, b"<stream:stream/>");
        // The client has ended its side, and gets the last words of the home.
        client.shutdown().await.expect("open");
        assert!(read_to_end(&mut home).await.is_empty());
        home.write_all(b"</stream:stream>").await.expect("written");
        drop(home);
        assert_eq!(read_to_end(&mut client).await, b"</stream:stream>");
        scene.is_empty().await;
        let [opened, to_home, to_clients] = [
            scene.counter(|all| &all.opened),
            scene.counter(|all| &all.to_home),
            scene.counter(|all| &all.to_clients),
        ];
        assert_eq!((opened, to_home, to_clients), (1, 21, 32));
    });
}

/// Whatever the client writes, the front's own head comes first, and is the only one.
#[test]
fn a_client_cannot_write_a_head_of_its_own() {
    run(async {
        let scene = Scene::new(LONG, 8).await;
        let forged = "GET /cluster/streams/components HTTP/1.1\r\nkith-cluster-stream: guessed\r\n\r\n";
        let (_client, mut home, head) = scene.pair(forged.as_bytes()).await;
        assert!(head.starts_with("GET /cluster/streams/servers ") && !head.contains("guessed"), "{head}");
        let mut bytes = vec![0; forged.len()];
        home.read_exact(&mut bytes).await.expect("the client's bytes");
        assert_eq!(bytes, forged.as_bytes(), "bytes of the stream, behind the answer");
        let (_tls, _home, head) = scene.pair(&[TLS, 3, 1]).await;
        assert!(head.contains("stream-tls: 1\r\n"), "{head}");
    });
}

#[test]
fn a_silent_client_costs_the_home_nothing() {
    run(async {
        let patience = Patience { first_byte: Duration::from_millis(200), ..LONG };
        let scene = Scene::new(patience, 8).await;
        let mut client = scene.client().await;
        assert!(read_to_end(&mut client).await.is_empty());
        scene.is_empty().await;
        assert_eq!((scene.counter(|all| &all.silent), scene.counter(|all| &all.opened)), (1, 0));
        assert!(timeout(Duration::ZERO, scene.home.accept()).await.is_err(), "no connection of the front");
    });
}

#[test]
fn an_address_with_too_many_connections_gets_no_more() {
    run(async {
        let scene = Scene::new(LONG, 3).await;
        let mut open = Vec::new();
        for _ in 0..3 {
            open.push(scene.pair(b"<").await);
        }
        for _ in 0..40 {
            let mut refused = scene.client().await;
            assert!(read_to_end(&mut refused).await.is_empty());
        }
        assert_eq!((scene.counter(|all| &all.over_limit), scene.counter(|all| &all.opened)), (40, 3));
        // A place is free again once its connection has ended.
        drop(open.pop());
        until(|| scene.streams.shared.places.open() == 2).await;
        scene.pair(b"<").await;
    });
}

#[test]
fn ten_thousand_connections_of_one_network_leave_places_for_others() {
    let places = Places {
        most: 4_096,
        per_address: 2_000,
        is_exempt: Box::new(|ip| ip.is_loopback()),
        taken: Mutex::default(),
    };
    let ip = |text: &str| text.parse::<IpAddr>().expect(text);
    let in_one_network =
        |number: u32| IpAddr::from(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number)));
    let taken = (0..10_000).filter(|number| places.take(in_one_network(*number))).count();
    assert_eq!((taken, places.open()), (2_000, 2_000));
    assert!(places.take(ip("192.0.2.7")) && places.take(ip("::ffff:192.0.2.7")), "one address in two forms");
    assert_eq!(places.taken.lock().expect("no panic").by_address.len(), 2);
    let of_proxy = (0..10_000).filter(|_| places.take(ip("127.0.0.1"))).count();
    assert_eq!((of_proxy, places.open()), (2_094, 4_096), "all together have a bound, too");
    (0..2_000).for_each(|number| places.give_back(in_one_network(number)));
    (0..2_094).for_each(|_| places.give_back(ip("127.0.0.1")));
    places.give_back(ip("192.0.2.7"));
    places.give_back(ip("192.0.2.7"));
    let taken = places.taken.lock().expect("no panic");
    assert!(taken.all == 0 && taken.by_address.is_empty());
}

#[test]
fn a_home_that_does_not_read_stops_the_client_and_then_ends_the_stream() {
    run(async {
        let patience = Patience { stalled: 3 * SECOND, ..LONG };
        let scene = Scene::new(patience, 8).await;
        let (mut client, home, _) = scene.pair(b"<").await;
        let taken = fill(&mut client).await;
        assert!(taken > 0);
        // All of it is in buffers of the system, but for one piece.
        let passed = scene.counter(|all| &all.to_home);
        assert!(passed <= taken as u64 + 1);
        read_to_end(&mut client).await;
        scene.is_empty().await;
        drop(home);
    });
}

#[test]
fn a_client_that_does_not_read_stops_the_home_and_then_ends_the_stream() {
    run(async {
        let patience = Patience { stalled: 3 * SECOND, ..LONG };
        let scene = Scene::new(patience, 8).await;
        let (client, mut home, _) = scene.pair(b"<").await;
        assert!(fill(&mut home).await > 0);
        scene.is_empty().await;
        drop(client);
    });
}

#[test]
fn a_stream_without_a_byte_ends() {
    run(async {
        let scene = Scene::new(Patience { idle: Duration::from_millis(300), ..LONG }, 8).await;
        let (mut client, mut home, _) = scene.pair(b"<").await;
        assert_eq!(read_to_end(&mut home).await, b"<");
        assert!(read_to_end(&mut client).await.is_empty());
        scene.is_empty().await;
    });
}

#[test]
fn a_stream_ends_with_its_home() {
    run(async {
        let short = Duration::from_millis(300);
        let scene = Scene::new(Patience { without_link: short, connect: short, ..LONG }, 8).await;
        // The home dies.
        let (mut client, home, _) = scene.pair(b"<").await;
        drop(home);
        assert!(read_to_end(&mut client).await.is_empty());
        // Another one takes its place, and the old one stands still.
        let (mut client, _frozen, _) = scene.pair(b"<").await;
        let http = scene.link.lock().expect("no panic").clone().expect("a home").http;
        *scene.link.lock().expect("no panic") = Some(HomeAt { http, term: Term(2) });
        assert!(read_to_end(&mut client).await.is_empty());
        let shown = scene.streams.shared.known[0].subscribe();
        until(|| shown.borrow().as_ref().is_some_and(|home| home.term == Term(2))).await;
        // The link breaks, and does not come back.
        let (mut client, _alive, _) = scene.pair(b"<").await;
        *scene.link.lock().expect("no panic") = None;
        assert!(read_to_end(&mut client).await.is_empty());
        // Without a home, nothing is taken.
        let mut client = scene.client().await;
        client.write_all(b"<").await.expect("written");
        assert!(read_to_end(&mut client).await.is_empty());
        scene.is_empty().await;
        assert_eq!(scene.counter(|all| &all.not_taken), 1);
    });
}

#[test]
fn a_stream_that_comes_before_the_home_waits_for_it() {
    run(async {
        let scene = Scene::new(Patience { without_link: Duration::ZERO, ..LONG }, 8).await;
        let home = scene.link.lock().expect("no panic").take();
        let mut shown = scene.streams.shared.known[0].subscribe();
        shown.wait_for(Option::is_none).await.expect("the front looks");
        let mut client = scene.client().await;
        client.write_all(b"<").await.expect("written");
        until(|| scene.streams.shared.places.open() == 1).await;
        *scene.link.lock().expect("no panic") = home;
        let (_home, head) = scene.asked().await;
        assert!(head.starts_with("GET /cluster/streams/servers "), "{head}");
    });
}

#[test]
fn a_home_that_refuses_or_babbles_gets_no_byte_of_the_client() {
    run(async {
        let scene = Scene::new(LONG, 8).await;
        let long = "x".repeat(2 * ANSWER_BYTES);
        let answers =
            ["HTTP/1.1 403 Forbidden\r\n\r\n", "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", &*long];
        for answer in answers {
            let mut client = scene.client().await;
            client.write_all(b"<secret/>").await.expect("written");
            let (mut home, _) = scene.asked().await;
            home.write_all(answer.as_bytes()).await.expect("written");
            assert!(read_to_end(&mut home).await.is_empty());
            assert!(read_to_end(&mut client).await.is_empty());
        }
        scene.is_empty().await;
        assert_eq!((scene.counter(|all| &all.not_taken), scene.counter(|all| &all.opened)), (3, 0));
    });
}

#[test]
fn a_port_in_use_is_refused_and_a_successor_joins_it() {
    run(async {
        let listener = listen("127.0.0.1:0".parse().expect("an address"), false).expect("a port");
        let address = listener.local_addr().expect("an address");
        let refused = listen(address, false).expect_err("another server has it");
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        assert_eq!(listen(address, true).expect("the successor").local_addr().expect("an address"), address);
    });
}

/// A home for each of two slots.
struct Two([HomeAt; 2]);

impl Homes for Two {
    fn slots(&self) -> u8 {
        2
    }

    fn home(&self, slot: Slot) -> Option<HomeAt> {
        self.0.get(usize::from(slot.0)).cloned()
    }

    fn slot_of(&self, domain: &str) -> Slot {
        Slot(u8::from(domain == "garden.example"))
    }
}

#[test]
fn a_stream_goes_to_the_home_of_its_domain_with_all_its_bytes() {
    run(async {
        let mut homes = Vec::new();
        for _ in 0..2 {
            homes.push(TcpListener::bind("127.0.0.1:0").await.expect("a port"));
        }
        let at = |home: &TcpListener| HomeAt {
            http: home.local_addr().expect("an address").to_string().into(),
            term: Term(1),
        };
        let listener = listen("127.0.0.1:0".parse().expect("an address"), false).expect("a port");
        let front = listener.local_addr().expect("an address");
        let bound = Bound { listeners: vec![(listener, Peers::Servers)], addresses: vec![front] };
        let places =
            Places { most: 64, per_address: 64, is_exempt: Box::new(|_| false), taken: Mutex::default() };
        let two = Two([at(&homes[0]), at(&homes[1])]);
        let _streams = bound.begin_with(places, LONG, "proof".into(), two, &Handle::current());
        for (slot, to) in [(1, "garden.example"), (0, "forum.example"), (0, "")] {
            let head = format!("<?xml version='1.0'?><stream:stream to='{to}' version='1.0'>");
            let mut client = TcpStream::connect(front).await.expect("the front accepts");
            let (first, second) = head.split_at(30);
            client.write_all(first.as_bytes()).await.expect("written");
            client.write_all(second.as_bytes()).await.expect("written");
            let (mut home, _) =
                homes[slot].accept().await.expect("the front connects with the home of the site");
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                asked.push(home.read_u8().await.expect("a head"));
            }
            home.write_all(format!("{ACCEPTED}\r\n\r\n").as_bytes()).await.expect("written");
            let mut got = vec![0; head.len()];
            home.read_exact(&mut got).await.expect("the whole head of the client");
            assert_eq!(String::from_utf8_lossy(&got), head);
        }
    });
}
