//! tokio-xmpp against a running node: sign-in, roster, presence, messages both ways, discovery, ping, and stream management.
//!
//! Arguments: host, port, domain, and for each of two users: name and password. Prints one line per check; exits with 1 if one fails.

use std::future::Future;
use std::process::exit;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use tokio::time::timeout;
use tokio_xmpp::connect::{DnsConfig, ServerConnector, TcpServerConnector};
use tokio_xmpp::jid::{BareJid, Jid};
use tokio_xmpp::parsers::disco::{DiscoInfoQuery, DiscoInfoResult};
use tokio_xmpp::parsers::message::{Lang, Message};
use tokio_xmpp::parsers::ns;
use tokio_xmpp::parsers::ping::Ping;
use tokio_xmpp::parsers::presence::Presence;
use tokio_xmpp::parsers::roster::Roster;
use tokio_xmpp::parsers::sasl::{Auth, DefinedCondition, Mechanism, Nonza};
use tokio_xmpp::stanzastream::{StanzaStage, StanzaState};
use tokio_xmpp::xmlstream::{Timeouts, XmppStreamElement};
use tokio_xmpp::{Client, Event, IqRequest, IqResponse, Stanza};

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Checks {
    failures: usize,
}

impl Checks {
    fn check(&mut self, name: &str, passed: bool) {
        println!("{}  {name}", if passed { "ok    " } else { "FAILED" });
        self.failures += usize::from(!passed);
    }
}

struct Session {
    client: Client,
    bound: Jid,
}

impl Session {
    async fn sign_in(address: &str, own: &BareJid, password: &str) -> Option<Self> {
        let dns = DnsConfig::addr(address);
        let mut client = Client::new_plaintext(own.clone(), password, dns, Timeouts::tight());
        let online = async {
            while let Some(event) = client.next().await {
                if let Event::Online { bound_jid, .. } = event {
                    return Some(bound_jid);
                }
            }
            None
        };
        let bound = within(online).await?;
        Some(Self { client, bound })
    }

    /// The first stanza that `wanted` accepts. Drops the stanzas before it.
    async fn receives<T>(&mut self, wanted: impl Fn(Stanza) -> Option<T>) -> Option<T> {
        within(async {
            while let Some(event) = self.client.next().await {
                if let Event::Stanza(stanza) = event
                    && let Some(found) = wanted(stanza)
                {
                    return Some(found);
                }
            }
            None
        })
        .await
    }

    /// The payload of the answer. Drops the stanzas that arrive before it.
    async fn asks<Payload>(&mut self, to: Option<Jid>, request: IqRequest) -> Option<Payload>
    where
        Payload: TryFrom<tokio_xmpp::minidom::Element>,
    {
        let mut answer = self.client.send_iq(to, request).await;
        within(async {
            loop {
                tokio::select! {
                    answer = &mut answer => return match answer {
                        Ok(IqResponse::Result(payload)) => payload?.try_into().ok(),
                        _ => None,
                    },
                    _ = self.client.next() => {}
                }
            }
        })
        .await
    }

    async fn pings(&mut self, to: Jid) -> bool {
        let answer = self.client.send_iq(Some(to), IqRequest::Get(Ping.into())).await;
        matches!(timeout(PATIENCE, answer).await, Ok(Ok(IqResponse::Result(_))))
    }

    /// Whether the server acknowledges the message by stream management.
    async fn says(&mut self, to: &BareJid, text: &str) -> bool {
        let message = Message::chat(Some(Jid::from(to.clone()))).with_body(Lang::default(), text.into());
        let Ok(mut token) = self.client.send_stanza(message.into()).await else { return false };
        let state = timeout(PATIENCE, token.wait_for(StanzaStage::Acked)).await;
        matches!(state, Ok(Some(StanzaState::Acked { .. })))
    }

    async fn sees(&mut self, other: &Jid) -> bool {
        let presence = self.receives(|stanza| match stanza {
            Stanza::Presence(presence) if presence.from.as_ref() == Some(other) => Some(()),
            _ => None,
        });
        presence.await.is_some()
    }

    async fn reads(&mut self, text: &str) -> Option<Jid> {
        self.receives(|stanza| match stanza {
            Stanza::Message(message) if message.bodies.values().any(|body| body == text) => message.from,
            _ => None,
        })
        .await
    }
}

async fn within<T>(outcome: impl Future<Output = Option<T>>) -> Option<T> {
    timeout(PATIENCE, outcome).await.ok().flatten()
}

/// Whether the server refuses the password. `Client` would connect again without an end.
async fn refuses(address: &str, own: &BareJid, password: &str) -> bool {
    let connector = TcpServerConnector(DnsConfig::addr(address));
    let outcome = async {
        let jid = Jid::from(own.clone());
        let (stream, _) = connector.connect(&jid, ns::JABBER_CLIENT, Timeouts::tight()).await.ok()?;
        let (_, mut stream) = stream.recv_features().await.ok()?;
        let name = own.node().expect("the address has a name");
        let data = format!("\0{name}\0{password}").into_bytes();
        let auth = Auth { mechanism: Mechanism::Plain, data };
        stream.send(&XmppStreamElement::Sasl(Nonza::Auth(auth))).await.ok()?;
        stream.next().await
    };
    let answer = within(outcome).await;
    matches!(answer, Some(Ok(XmppStreamElement::Sasl(Nonza::Failure(failure))))
        if failure.defined_condition == DefinedCondition::NotAuthorized)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [host, port, domain, first, first_password, second, second_password] = &arguments[..] else {
        println!("arguments: host, port, domain, and for each of two users: name and password");
        exit(2);
    };
    let address = format!("{host}:{port}");
    let jid = |name: &str| BareJid::new(&format!("{name}@{domain}")).expect("the arguments are names");
    let (anna_jid, tom_jid) = (jid(first), jid(second));
    let server: Jid = domain.parse().expect("the domain is an address");
    let mut checks = Checks::default();

    checks.check("a wrong password is refused", refuses(&address, &anna_jid, "a wrong password").await);
    let anna = Session::sign_in(&address, &anna_jid, first_password).await;
    let tom = Session::sign_in(&address, &tom_jid, second_password).await;
    checks.check("sign in with SASL", anna.is_some() && tom.is_some());
    let (Some(mut anna), Some(mut tom)) = (anna, tom) else { exit(1) };
    checks.check("the session is the account's", anna.bound.to_bare() == anna_jid);

    let empty = Roster { ver: None, items: Vec::new() };
    let roster: Option<Roster> = anna.asks(None, IqRequest::Get(empty.into())).await;
    checks.check("the roster has items", roster.is_some_and(|roster| !roster.items.is_empty()));

    let own = anna.bound.clone();
    let announced = anna.client.send_stanza(Presence::available().into()).await.is_ok();
    checks.check("a client gets its own presence", announced && anna.sees(&own).await);
    let announced = tom.client.send_stanza(Presence::available().into()).await.is_ok();
    let other = tom.bound.clone();
    checks.check("the presence of a contact arrives", announced && anna.sees(&other).await);

    checks.check("a message is acknowledged", anna.says(&tom_jid, "Grüße & <b>").await);
    let sender = tom.reads("Grüße & <b>").await;
    checks.check("it arrives unchanged", sender.is_some());
    checks.check("its sender is the account", sender.is_some_and(|from| from.to_bare() == anna_jid));
    checks.check("an answer is acknowledged", tom.says(&anna_jid, "back").await);
    checks.check("it arrives", anna.reads("back").await.is_some());

    let query = IqRequest::Get(DiscoInfoQuery { node: None }.into());
    let info: Option<DiscoInfoResult> = anna.asks(Some(server.clone()), query).await;
    let is_server = info
        .is_some_and(|info| info.identities.iter().any(|one| one.category == "server" && one.type_ == "im"));
    checks.check("the domain is an XMPP server", is_server);
    checks.check("the domain answers a ping", anna.pings(server).await);

    let ended = async { Some(anna.client.send_end().await.is_ok() && tom.client.send_end().await.is_ok()) };
    checks.check("the streams end", within(ended).await.unwrap_or(false));
    exit(i32::from(checks.failures > 0));
}
