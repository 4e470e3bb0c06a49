//! A stress without sockets: the members of `load` call `chat` in this process.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;

use chat::token::{Claims, sign};
use chat::{
    Delivery, DeviceId, Event, Hello, Limits, Node, NodeConfig, Outbox, Refusal, Secret, SessionHandle,
    SessionId, Store, Sub, To, messages, session,
};
use load::report::Run;
use load::stress::StressPlan;
use load::stress::core::{self, Core, CoreEvent, CoreOptions, EventSink};
use load::{Observer, Plan};
use rand::RngCore;
use store::Sqlite;

use crate::config::{self, Layers};
use crate::data_lock::DataLock;
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, demo};

/// Runs a plan. In memory, as Chut's own bench; else in SQLite, durable, as a node has it.
pub(super) fn carry_out(
    plan: &StressPlan,
    name: &str,
    observer: Arc<dyn Observer>,
    stop: &Arc<AtomicBool>,
) -> Outcome<Run> {
    let folder = Folder::new()?;
    let store: Arc<dyn Store> = if plan.memory {
        Arc::new(Sqlite::in_memory())
    } else {
        let data = toml::Value::String(folder.0.display().to_string());
        let loaded = config::load(Layers { flags: vec![("data", data)], ..Layers::default() })?;
        data_dir::open(&loaded, &DataLock::acquire(&folder.0, crate::now())?, None)?
    };
    // All members may write to each other, and none has history.
    demo::settle(&*store, chat::Settings::default(), demo::Community::Plain, crate::now())?;
    let secret = data_dir::site(&*store, demo::SITE)?.secrets.into_iter().next();
    let secret = secret.ok_or_else(|| Trouble::new("the site has no secret"))?;
    let options = CoreOptions {
        threads: thread::available_parallelism().map_or(1, usize::from),
        store: if plan.memory { "SQLite in memory" } else { "SQLite, every commit synced" },
        stop: Arc::clone(stop),
        observer,
    };
    let make = |sink| -> Arc<dyn Core> { Arc::new(InProcess::new(plan.members(), &store, secret, sink)) };
    let unmade = |error: load::LoadError| Trouble::new(format!("cannot run {name}")).because(error);
    core::run(plan, &options, make).map_err(unmade)
}

/// Holds the database; removed after the run.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Outcome<Folder> {
        let path = std::env::temp_dir().join(format!("kith-core-{}-{}", std::process::id(), crate::now().0));
        let made = fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            Trouble::new(format!("cannot create the folder {}", path.display())).because(error)
        })?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A node of `chat` without gateways. A member's number is its handle.
struct InProcess {
    node: Node,
    secret: Secret,
    sessions: Arc<Sessions>,
}

/// Delivers events to members: like a gateway's mailbox, but without encoding them.
struct Sessions {
    by_member: Vec<OnceLock<SessionId>>,
    sink: Arc<dyn EventSink>,
}

impl InProcess {
    fn new(members: u32, store: &Arc<dyn Store>, secret: Secret, sink: Arc<dyn EventSink>) -> InProcess {
        let by_member = (0..members).map(|_| OnceLock::new()).collect();
        let sessions = Arc::new(Sessions { by_member, sink });
        let mut seed = [0; 32];
        rand::rng().fill_bytes(&mut seed);
        // Without limits, because the run would measure them.
        let defaults = config::Limits::default();
        let limits = Limits {
            body_bytes: defaults.body_bytes,
            page: defaults.page,
            watch: defaults.watch,
            contacts: defaults.contacts,
            sessions_per_user: defaults.sessions_per_user,
            ..Limits::without_rates()
        };
        let config = NodeConfig {
            limits,
            presence_grace_ms: 15_000,
            presence_coalesce_ms: 500,
            clock_skew_ms: 30_000,
            calls: chat::CallConfig::default(),
            app_passwords: false,
        };
        let outbox = Arc::clone(&sessions) as Arc<dyn Outbox>;
        InProcess { node: Node::new(config, Arc::clone(store), outbox, seed), secret, sessions }
    }
}

impl Core for InProcess {
    fn sign_in(&self, member: u32, user: &str) {
        let now = crate::now();
        let claims = Claims {
            sub: user.to_owned(),
            name: Some(user.to_owned()),
            exp: (now.0 / 1_000 + 3_600) as f64,
            ..Claims::default()
        };
        let token = sign(&claims, &self.secret);
        let hello = Hello {
            site_key: demo::SITE.into(),
            credential: chat::Credential::of_token(token.as_deref().map(Into::into)),
            device: DeviceId::parse("load").expect("four letters"),
            position: None,
            origin: None,
            address: None,
            agent: chat::Agent::default(),
            announced: None,
        };
        self.node.sign_in(hello, SessionHandle(member.into()), now);
    }

    fn send(&self, member: u32, id: String, to: &str, body: &str) {
        let session = self.sessions.by_member.get(member as usize).and_then(OnceLock::get);
        let (Some(session), Some(to)) = (session, Sub::parse(to)) else {
            return self.sessions.sink.deliver(member, CoreEvent::Refused(Refusal::NoSession.word()));
        };
        let send = messages::Command::Send {
            client_id: id.into(),
            to: To::User(to),
            body: body.into(),
            extension: None,
            reply_to: None,
            files: Vec::new(),
            rich: None,
        };
        self.node.command(*session, send.into(), crate::now());
    }
}

impl Outbox for Sessions {
    fn deliver(&self, to: &[SessionHandle], delivery: Delivery) {
        for to in to {
            self.receive(*to, &delivery.event);
        }
    }
}

impl Sessions {
    fn receive(&self, to: SessionHandle, event: &Event) {
        let received = match event {
            Event::Session(session::Event::Welcome(welcome)) => {
                if let Some(place) = self.by_member.get(to.0 as usize) {
                    let _ = place.set(welcome.session);
                }
                CoreEvent::Welcome
            }
            Event::Session(session::Event::SendRefused { refusal, .. } | session::Event::Bye(refusal)) => {
                CoreEvent::Refused(refusal.word())
            }
            Event::Messages(messages::Event::Ack { client_id, conversation, seq, .. }) => {
                CoreEvent::Acknowledged {
                    id: client_id.clone(),
                    conversation: conversation.key.to_string().into(),
                    seq: seq.0,
                }
            }
            Event::Messages(messages::Event::Message(message)) => CoreEvent::Message {
                id: message.client_id.clone(),
                conversation: message.conversation.key.to_string().into(),
                seq: message.seq.0,
            },
            _ => return,
        };
        // Handles are the numbers from `sign_in`.
        self.sink.deliver(to.0 as u32, received);
    }
}
