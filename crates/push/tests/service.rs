//! A local push service that checks the signature, decrypts as a browser does, and can misbehave.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::time::Duration;

use push::testing::{Browser, Service};
use push::{Client, Endpoint, NoAuthority, Outcome, Reach, Request, Trouble, Urgency, Vapid, seal};
use tokio::net::TcpListener;
use tokio_rustls::rustls::RootCertStore;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_message_arrives_sealed_signed_and_whole() {
    let service = Service::begin("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await;
    let browser = Browser::new();
    let vapid = Vapid::new(&Vapid::generate().unwrap()).unwrap();
    let to = service.endpoint("/p/a-secret-path?x=1");
    let authorization = vapid.authorization(&to, Some("mailto:ops@example.com"), 1_900_000_000).unwrap();
    let body = seal("Grüße, Anna".as_bytes(), &browser.receiver()).unwrap();
    let request = Request {
        to: &to,
        authorization: &authorization,
        ttl: Duration::from_secs(86_400),
        urgency: Urgency::High,
        topic: Some("c7k2"),
        body: &body,
    };
    assert_eq!(service.client(PATIENCE).send(&request).await, Ok(Outcome::Taken));

    let (head, body) = service.next_request().await.unwrap();
    let lines: Vec<&str> = head.lines().collect();
    assert_eq!(lines[0], "POST /p/a-secret-path?x=1 HTTP/1.1");
    let field = |name: &str| {
        lines
            .iter()
            .filter_map(|line| line.split_once(": "))
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .unwrap()
            .1
            .to_owned()
    };
    assert_eq!(field("Host"), format!("localhost:{}", to.origin().rsplit(':').next().unwrap()));
    assert_eq!(
        (field("TTL"), field("Urgency"), field("Topic")),
        ("86400".into(), "high".into(), "c7k2".into())
    );
    assert_eq!(field("Content-Encoding"), "aes128gcm");
    assert_eq!(field("Authorization"), authorization);
    assert_eq!(browser.open(&body), "Grüße, Anna".as_bytes());
}

#[tokio::test]
async fn each_answer_of_the_service_has_its_outcome() {
    for (answer, expected) in [
        ("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", Ok(Outcome::Gone)),
        ("HTTP/1.1 200 OK\r\n\r\nleft unread", Ok(Outcome::Taken)),
        ("HTTP/1.1 200 OK\r\nX: half a he", Err(Trouble::NoHttp)),
        ("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\n\r\n", Ok(Outcome::Later(Some(Duration::from_secs(7))))),
        // A redirect to this machine, which a client that follows redirects would call.
        ("HTTP/1.1 307 Away\r\nLocation: http://127.0.0.1:1/\r\n\r\n", Ok(Outcome::Refused(307))),
        ("220 smtp.example ESMTP\r\n", Err(Trouble::NoHttp)),
        ("", Err(Trouble::NoHttp)),
    ] {
        let service = Service::begin(answer).await;
        assert_eq!(send(&service).await, expected, "{answer}");
    }
    let endless = format!("HTTP/1.1 201 Created\r\nX: {}", "x".repeat(100_000));
    let service = Service::begin(&endless).await;
    assert_eq!(send(&service).await, Err(Trouble::NoHttp));
}

#[tokio::test]
async fn a_silent_service_times_out() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let text = format!("https://localhost:{}/x", silent.local_addr().unwrap().port());
    let to = Endpoint::parse(&text, Reach::Anywhere).unwrap();
    let client = Client::with(RootCertStore::empty(), Reach::Anywhere, Duration::from_millis(200));
    assert_eq!(client.send(&request(&to)).await, Err(Trouble::Late));
}

#[tokio::test]
async fn a_service_with_an_untrusted_certificate_gets_nothing() {
    let service = Service::begin("HTTP/1.1 201 Created\r\n\r\n").await;
    let to = service.endpoint("/x");
    let client = Client::with(RootCertStore::empty(), Reach::Anywhere, PATIENCE);
    assert!(matches!(client.send(&request(&to)).await, Err(Trouble::Connection(_))));
}

#[tokio::test]
async fn an_operators_own_service_is_reached_with_its_authority() {
    let service = Service::begin("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await;
    let to = service.endpoint("/x");
    let client = Client::own(service.authority().as_bytes()).unwrap();
    assert_eq!(client.send(&request(&to)).await, Ok(Outcome::Taken));
    for wrong in ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert_eq!(Client::own(wrong.as_bytes()).err(), Some(NoAuthority), "{wrong}");
    }
}

/// A name that looks public but resolves to this machine, as after DNS rebinding.
#[tokio::test]
async fn a_name_that_resolves_to_a_private_address_is_refused() {
    let service = Service::begin("HTTP/1.1 201 Created\r\n\r\n").await;
    let to = service.endpoint("/x");
    let public = Client::with(service.roots(), Reach::Public, PATIENCE);
    assert_eq!(public.send(&request(&to)).await, Err(Trouble::Unreached(reach::Unreached::NotPublic)));
    assert!(service.has_no_request(), "nothing was sent");
}

async fn send(service: &Service) -> Result<Outcome, Trouble> {
    let to = service.endpoint("/x");
    service.client(PATIENCE).send(&request(&to)).await
}

fn request(to: &Endpoint) -> Request<'_> {
    Request {
        to,
        authorization: "vapid t=x, k=y",
        ttl: Duration::from_secs(60),
        urgency: Urgency::Normal,
        topic: None,
        body: b"sealed",
    }
}
