//! TLS to PostgreSQL: a store encrypts each connection, and refuses a server whose certificate it cannot verify.

use crate::asking::{self, Directory, add_site, direct, put, say};
use crate::postgres::{self, Server};

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use chat::{MessageStore, Slot};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use store::{Options, Sqlite};

/// The name in the certificate of each server.
const NAME: &str = "db.example";

#[test]
fn a_store_writes_and_reads_through_tls() {
    let authority = Authority::new("the authority");
    let server = TcpServer::start();
    server.turn_on_tls(&authority);
    let store = postgres::open(&server.url(NAME, "verify-full", &authority));
    assert_eq!(server.encrypted(), ["true"; 3], "of the writer, of the administration and of one reader");
    let site = add_site(&store, "forum");
    let (ann, bob) = (put(&store, site, "ann"), put(&store, site, "bob"));
    let body = "hello ".repeat(10_000); // several TLS records
    say(&store, ann, bob, "1", &body);
    let page = asking::ask(|done| store.history(bob, direct(ann, bob), None, None, 1, done));
    assert!(*page.messages[0].body == *body, "{} bytes", page.messages[0].body.len());
}

#[test]
fn a_server_without_tls_and_one_with_a_wrong_certificate_are_refused() {
    let (authority, other) = (Authority::new("the authority"), Authority::new("another authority"));
    let server = TcpServer::start();
    for mode in ["require", "verify-ca", "verify-full"] {
        let error = refusal(&server.url(NAME, mode, &authority));
        assert!(error.contains("server does not support TLS"), "{mode}: {error}");
    }
    let plain = postgres::open(&server.url(NAME, "prefer", &authority));
    assert_eq!(server.encrypted(), ["false"; 3], "only TLS was missing");
    drop(plain);

    server.turn_on_tls(&authority);
    // `prefer` does not go on without TLS, and `verify-ca` verifies the name, too.
    for mode in ["prefer", "require", "verify-ca", "verify-full"] {
        let error = refusal(&server.url(NAME, mode, &other));
        assert!(error.contains("invalid peer certificate: UnknownIssuer"), "{mode}: {error}");
        let error = refusal(&server.url("other.example", mode, &authority));
        assert!(error.contains("certificate not valid for name \"other.example\""), "{mode}: {error}");
    }
    let url = format!("postgres://kith@{NAME}/kith?hostaddr={}&sslmode=require", server.address);
    let error = refusal(&url);
    assert!(error.contains("UnknownIssuer"), "by the public authorities: {error}");
}

fn refusal(url: &str) -> String {
    let opened = Sqlite::open_postgres(url, Slot::FIRST, Options::default());
    opened.err().expect("it is refused").to_string()
}

/// Signs certificates, and has a file with its own one.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: Directory,
}

impl Authority {
    fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        let authority = Authority { issuer, directory: Directory::quick() };
        std::fs::write(authority.file(), authority.issuer.pem()).expect("it is written");
        authority
    }

    fn file(&self) -> String {
        self.directory.path().join("authority.pem").display().to_string()
    }

    /// A certificate for [`NAME`] and its key, as PEM.
    fn certify(&self) -> (String, String) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(vec![NAME.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        (certificate.pem(), key.serialize_pem())
    }
}

/// A server that also listens on TCP, because Unix sockets have no TLS. It begins without TLS.
struct TcpServer {
    server: Server,
    address: Ipv4Addr,
}

impl TcpServer {
    fn start() -> TcpServer {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // The script needs port 5432, so each server has an address of its own: Linux has all of 127.0.0.0/8.
        let number = (std::process::id() << 2) | NEXT.fetch_add(1, Relaxed);
        let address = Ipv4Addr::from((127_u32 << 24) | number);
        let options = format!("-c fsync=off -c listen_addresses={address}");
        let server = Server::start(None, &options).expect("a server on port 5432 of this address");
        postgres::run(&format!("{}/postgres", server.url), "CREATE DATABASE kith");
        TcpServer { server, address }
    }

    fn turn_on_tls(&self, authority: &Authority) {
        let (certificate, key) = authority.certify();
        // The server writes both into its directory, because it takes only a key of its own user.
        for (file, pem) in [("server.crt", certificate), ("server.key", key)] {
            let lines = format!("SELECT regexp_split_to_table('{}', '\\n')", pem.trim());
            self.query(&format!("COPY ({lines}) TO PROGRAM 'umask 077; cat >{file}'"));
        }
        self.query("ALTER SYSTEM SET ssl = on");
        self.query("SELECT pg_reload_conf()");
        // The server takes the new setting a moment later.
        let begin = Instant::now();
        while self.query("SHOW ssl") != ["on"] {
            assert!(begin.elapsed() < asking::PATIENCE, "the server does not turn TLS on");
        }
    }

    /// The server's database, where the server must prove this name.
    fn url(&self, name: &str, mode: &str, authority: &Authority) -> String {
        let (address, file) = (self.address, authority.file());
        format!("postgres://kith@{name}/kith?hostaddr={address}&sslmode={mode}&sslrootcert={file}")
    }

    /// Whether each connection of a store uses TLS.
    fn encrypted(&self) -> Vec<String> {
        let of = "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'kith'";
        self.query(&format!("SELECT ssl::text {of}"))
    }

    fn query(&self, sql: &str) -> Vec<String> {
        postgres::query(&format!("{}/kith", self.server.url), sql)
    }
}
