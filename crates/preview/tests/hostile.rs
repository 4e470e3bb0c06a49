//! Hostile pages on a local server, and the client's results.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use preview::{Client, Page, Trouble, WebAddress};
use reach::{Reach, Unreached};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::rustls::RootCertStore;

/// A server that answers each connection with `answer` of the request's path, and counts connections.
struct Server {
    port: u16,
    asked: Arc<AtomicUsize>,
}

impl Server {
    async fn start(answer: impl Fn(&str, u16) -> Vec<u8> + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(AtomicUsize::new(0));
        let (count, answer) = (asked.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::Relaxed);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let mut bytes = vec![0; 4_096];
                    let read = socket.read(&mut bytes).await.unwrap_or(0);
                    let request = String::from_utf8_lossy(&bytes[..read]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    _ = socket.write_all(&answer(&path, port)).await;
                });
            }
        });
        Server { port, asked }
    }

    fn address(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    fn requests(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

fn anywhere() -> Client {
    Client::with(RootCertStore::empty(), Reach::Anywhere, Duration::from_secs(2))
}

async fn page(client: &Client, address: &str) -> Result<Page, Trouble> {
    let address = client.parse(address)?;
    client.page(&address, &|_| true).await.map(|(page, _)| page)
}

fn html(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

#[tokio::test]
async fn a_page_is_read_through_redirects() {
    let server = Server::start(|path, port| match path {
        "/start" => b"HTTP/1.1 302 Found\r\nlocation: /middle\r\n\r\n".to_vec(),
        "/middle" => format!("HTTP/1.1 301 Moved\r\nlocation: http://localhost:{port}/end\r\n\r\n").into_bytes(),
        "/chunked" => b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n7\r\n<title>\r\n6\r\nChunks\r\n0\r\n\r\n".to_vec(),
        _ => html("<title>The end</title><meta property=og:image content=/lake.png>"),
    })
    .await;
    let client = anywhere();
    let found = page(&client, &server.address("/start")).await.unwrap();
    assert_eq!((found.title.as_str(), found.picture.as_deref()), ("The end", Some("/lake.png")));
    assert_eq!(page(&client, &server.address("/chunked")).await.unwrap().title, "Chunks");
}

#[tokio::test]
async fn an_unwanted_address_is_not_called() {
    let server = Server::start(|path, port| match path {
        "/start" => {
            format!("HTTP/1.1 302 Found\r\nlocation: http://LOCALH%6fST:{port}/bad\r\n\r\n").into_bytes()
        }
        _ => html("<title>Bad</title>"),
    })
    .await;
    let client = anywhere();
    let start = client.parse(&server.address("/start")).unwrap();
    let may = |at: &WebAddress| !(at.host() == "localhost" && at.as_str().ends_with("/bad"));
    assert_eq!(client.page(&start, &may).await.err(), Some(Trouble::Unwanted));
    assert_eq!(server.requests(), 1, "the redirect was not followed");
    assert_eq!(client.picture(&start, "/bad", &may).await, Err(Trouble::Unwanted));
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn private_addresses_are_not_called() {
    let server = Server::start(|_, _| html("<title>secret</title>")).await;
    let public = Client::public();
    for address in [server.address("/"), format!("http://127.0.0.1:{}/", server.port), "http://[::1]/".into()]
    {
        assert!(matches!(page(&public, &address).await, Err(Trouble::WrongAddress(_))), "{address}");
    }
    // A name that looks public but resolves to this machine: the client looks it up and refuses to connect.
    let looked = reach::connect(&reach::Lookups::default(), "localhost", server.port, Reach::Public).await;
    assert_eq!(looked.err(), Some(Unreached::NotPublic));
    assert_eq!(server.requests(), 0);
}

#[tokio::test]
async fn endless_responses_and_redirects_end() {
    let server = Server::start(|path, _| match path {
        "/round" => b"HTTP/1.1 302 Found\r\nlocation: /round\r\n\r\n".to_vec(),
        "/head" => [b"HTTP/1.1 200 OK\r\n".to_vec(), b"x: y\r\n".repeat(10_000)].concat(),
        "/long" => {
            let start = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<title>Long</title>".to_vec();
            [start, b" ".repeat(3_000_000)].concat()
        }
        "/picture" => {
            let start = b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n\r\n".to_vec();
            [start, b"x".repeat(6_000_000)].concat()
        }
        "/said" => b"HTTP/1.1 200 OK\r\ncontent-type: image/png\r\ncontent-length: 999999999999\r\n\r\n".to_vec(),
        "/claim" => b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 999999999999\r\n\r\n<title>Claim</title>".to_vec(),
        "/length" => b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 18446744073709551615\r\n\r\n<title>Much</title>".to_vec(),
        _ => b"SSH-2.0-OpenSSH_9.2\r\n\r\n".to_vec(),
    })
    .await;
    let client = anywhere();
    assert_eq!(page(&client, &server.address("/round")).await, Err(Trouble::TooManyRedirects));
    assert_eq!(page(&client, &server.address("/head")).await, Err(Trouble::NoHttp));
    assert_eq!(page(&client, &server.address("/long")).await.unwrap().title, "Long");
    assert_eq!(page(&client, &server.address("/ssh")).await, Err(Trouble::NoHttp));
    let at = client.parse(&server.address("/")).unwrap();
    assert_eq!(client.picture(&at, "/picture", &|_| true).await, Err(Trouble::TooLarge));
    assert_eq!(client.picture(&at, "/said", &|_| true).await, Err(Trouble::TooLarge));
    assert_eq!(
        page(&client, &server.address("/claim")).await.unwrap().title,
        "Claim",
        "its start is good enough"
    );
    let much = page(&client, &server.address("/length")).await;
    assert!(matches!(much, Ok(_) | Err(Trouble::Broken(_) | Trouble::NoHttp)), "{much:?}");
}

#[tokio::test]
async fn other_media_types_are_refused() {
    let server = Server::start(|path, _| match path {
        "/zip" => b"HTTP/1.1 200 OK\r\ncontent-type: application/zip\r\ncontent-length: 2\r\n\r\nPK".to_vec(),
        "/gzip" => b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx".to_vec(),
        "/svg" => b"HTTP/1.1 200 OK\r\ncontent-type: image/svg+xml\r\ncontent-length: 1\r\n\r\nx".to_vec(),
        "/gone" => b"HTTP/1.1 404 Not Found\r\n\r\n".to_vec(),
        "/out" => b"HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\n\r\n".to_vec(),
        "/nowhere" => b"HTTP/1.1 302 Found\r\n\r\n".to_vec(),
        _ => html("x"),
    })
    .await;
    let client = anywhere();
    for (path, why) in [
        ("/zip", Trouble::WrongKind),
        ("/gzip", Trouble::WrongKind),
        ("/gone", Trouble::Status(404)),
        ("/nowhere", Trouble::Status(302)),
    ] {
        assert_eq!(page(&client, &server.address(path)).await, Err(why), "{path}");
    }
    assert!(matches!(page(&client, &server.address("/out")).await, Err(Trouble::WrongAddress(_))));
    let at = client.parse(&server.address("/")).unwrap();
    assert_eq!(client.picture(&at, "/svg", &|_| true).await, Err(Trouble::WrongKind));
    assert!(matches!(
        client.picture(&at, "file:///etc/passwd", &|_| true).await,
        Err(Trouble::WrongAddress(_))
    ));
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = Client::with(RootCertStore::empty(), Reach::Anywhere, Duration::from_millis(100));
    assert_eq!(page(&client, &format!("http://localhost:{port}/")).await, Err(Trouble::Late));
    drop(listener);
}
