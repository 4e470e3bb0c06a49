//! Push Notifications (XEP-0357): an app names a service, which wakes it when a message would notify its user.
//!
//! The domain decides when. This file reads the requests of apps, and talks with the services: each is another server, or a component.
//! A service gets the number of messages, and neither their text nor their author. Before the first notification it must
//! say that it is a push service, so that no app can send notifications to somebody else.

use std::collections::HashMap;

use chat::notifications::Command;
use chat::{AppPush, AppWake, AppWaker, UserId};
use edge::{Mailboxes, Now};
use xmpp_proto::ns;
use xmpp_proto::payload::data_forms::Form;
use xmpp_proto::payload::push::{Notification, Request};
use xmpp_proto::stanza::{Condition, ErrorKind, StanzaError};
use xmpp_proto::xml::{Element, Open, document};

use crate::address::Target;
use crate::extensions::{Extension, Spec};
use crate::gateway::{Gateway, Mail};
use crate::refusal::stanza_error;
use crate::s2s::{self, Content, Letter, Pair};
use crate::session::{Iq, IqHandler, IqKind, Turn};

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(357),
    name: "Push Notifications",
    version: "0.4.1",
    scenario: "push",
    server_features: &[],
    // §4: of the account.
    account_features: &[ns::PUSH],
    iq: &[
        IqHandler { name: "enable", ns: ns::PUSH, handle: request },
        IqHandler { name: "disable", ns: ns::PUSH, handle: request },
    ],
};

fn request(turn: &mut Turn<'_, '_>, iq: &Iq<'_>) -> Result<(), StanzaError> {
    if iq.target != Target::Account || iq.kind != IqKind::Set {
        return Err(StanzaError::new(Condition::BadRequest));
    }
    let request = Request::of(iq.payload).ok_or_else(|| StanzaError::new(Condition::BadRequest))?;
    let command = match request.map_err(StanzaError::new)? {
        Request::Disable { service, node } => {
            Command::EndAppPush { service: service.domain().into(), node: node.map(Into::into) }
        }
        Request::Enable { service, node, .. } => {
            let domain = service.domain();
            let shared = &turn.gateway.shared;
            // A user, or this server itself, is no service.
            if service.local().is_some() || !service.is_bare() || domain == turn.session.jid.domain() {
                return Err(StanzaError::new(Condition::NotAcceptable).text("a push service is a domain"));
            }
            if !shared.talks_with(turn.session.user.site, domain) {
                return Err(StanzaError::new(Condition::RemoteServerNotFound));
            }
            let options = iq.payload.child("x", ns::DATA_FORMS).map_or_else(String::new, |form| {
                let mut out = Vec::new();
                form.write(&mut out, "");
                String::from_utf8(out).unwrap_or_default()
            });
            let (node, options) = (node.unwrap_or_default().into(), options.into());
            Command::PushApp(Box::new(AppPush { service: domain.into(), node, options }))
        }
    };
    turn.ask_then(iq, command, |turn, asked, answer| match answer {
        Ok(_) => turn.answer(asked, |_| {}),
        Err(refusal) => turn.answer_error(&asked, &stanza_error(refusal)),
    });
    Ok(())
}

/// Hands the notifications of the domain to the workers that own the domains of their services. At the bound of a mailbox they are
/// dropped.
pub struct AppPushes {
    mailboxes: Mailboxes<Mail>,
}

impl AppPushes {
    pub fn new(mailboxes: Mailboxes<Mail>) -> AppPushes {
        AppPushes { mailboxes }
    }
}

impl AppWaker for AppPushes {
    fn wake(&self, wake: AppWake) {
        let worker = s2s::owner(&wake.push.service, self.mailboxes.workers());
        let letter = Mail::Servers(Box::new(Letter(Content::Wake(wake))));
        // A lost notification loses no message.
        let _ = self.mailboxes.offer(worker, letter, 1);
    }
}

/// Services of a worker, and those of one site among them. Beyond that, a further one gets nothing.
const MOST_SERVICES: usize = 4_096;
const MOST_SERVICES_OF_SITE: usize = 256;
/// Notifications of one service without an answer; further ones are dropped.
const MOST_PENDING: usize = 256;
/// Notifications that wait until a service has said what it is.
const MOST_WAITING: usize = 64;
/// A service that has not answered by then has lost the question.
const ANSWERS_MS: u64 = 60_000;
/// How long its word counts: that it is a push service, or that it is none.
const ACCEPTED_MS: u64 = 24 * 3_600_000;
const REFUSED_MS: u64 = 3_600_000;
/// Ids of our requests.
const QUESTION: &str = "push-info-";
const NOTIFICATION: &str = "push-";

/// The services of the domains that a worker owns.
#[derive(Default)]
pub(crate) struct Services {
    by_pair: HashMap<Pair, Service>,
    last: u64,
    swept: u64,
}

struct Service {
    stage: Stage,
    /// Notifications without an answer, by the number in their id.
    pending: HashMap<u64, Pending>,
}

enum Stage {
    Asked { number: u64, since: u64, waiting: Vec<AppWake> },
    Accepted { until: u64 },
    Refused { until: u64 },
}

struct Pending {
    user: UserId,
    node: Box<str>,
    since: u64,
}

/// The next thing to do about a service.
#[derive(Debug, PartialEq, Eq)]
enum Act {
    /// Ask whether it is a push service.
    Ask(u64),
    Notify(u64, AppWake),
    /// The service wakes this app no longer.
    Forget(UserId, Box<str>),
}

/// The answer of a service.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Said {
    Yes,
    No,
    /// It, or its server, is out of order.
    Later,
}

impl Services {
    fn wake(&mut self, pair: &Pair, wake: AppWake, now: u64) -> Vec<Act> {
        self.sweep(now);
        let is_known = self.by_pair.contains_key(pair);
        if !is_known && !self.has_place(&pair.local) {
            return Vec::new();
        }
        self.last += 1;
        let number = self.last;
        let service = self.by_pair.entry(pair.clone()).or_insert_with(|| Service {
            stage: Stage::Asked { number, since: now, waiting: Vec::new() },
            pending: HashMap::new(),
        });
        match &mut service.stage {
            Stage::Asked { waiting, .. } => {
                if waiting.len() < MOST_WAITING {
                    waiting.push(wake);
                }
                if is_known { Vec::new() } else { vec![Act::Ask(number)] }
            }
            Stage::Accepted { .. } => service.notify(number, wake, now).into_iter().collect(),
            Stage::Refused { .. } => vec![Act::Forget(wake.user, wake.push.node)],
        }
    }

    fn has_place(&self, local: &str) -> bool {
        let of_site = || self.by_pair.keys().filter(|pair| &*pair.local == local).count();
        self.by_pair.len() < MOST_SERVICES && of_site() < MOST_SERVICES_OF_SITE
    }

    /// The answer to the question about a service.
    fn described(&mut self, pair: &Pair, number: u64, said: Said, now: u64) -> Vec<Act> {
        let Some(service) = self.by_pair.get_mut(pair) else { return Vec::new() };
        let waiting = match &mut service.stage {
            Stage::Asked { number: asked, waiting, .. } if *asked == number => std::mem::take(waiting),
            _ => return Vec::new(),
        };
        match said {
            Said::Yes => {
                service.stage = Stage::Accepted { until: now + ACCEPTED_MS };
                let mut acts = Vec::new();
                for wake in waiting {
                    self.last += 1;
                    acts.extend(service.notify(self.last, wake, now));
                }
                acts
            }
            Said::No => {
                service.stage = Stage::Refused { until: now + REFUSED_MS };
                waiting.into_iter().map(|wake| Act::Forget(wake.user, wake.push.node)).collect()
            }
            Said::Later => {
                self.by_pair.remove(pair);
                Vec::new()
            }
        }
    }

    /// The answer to a notification.
    fn answered(&mut self, pair: &Pair, number: u64, said: Said) -> Vec<Act> {
        let service = self.by_pair.get_mut(pair);
        let Some(pending) = service.and_then(|service| service.pending.remove(&number)) else {
            return Vec::new();
        };
        match said {
            Said::No => vec![Act::Forget(pending.user, pending.node)],
            Said::Yes | Said::Later => Vec::new(),
        }
    }

    /// Forgets questions without an answer, and words that no longer count.
    fn sweep(&mut self, now: u64) {
        if now < self.swept + ANSWERS_MS {
            return;
        }
        self.swept = now;
        self.by_pair.retain(|_, service| {
            service.pending.retain(|_, pending| now < pending.since + ANSWERS_MS);
            match service.stage {
                Stage::Asked { since, .. } => now < since + ANSWERS_MS,
                Stage::Accepted { until } | Stage::Refused { until } => {
                    now < until || !service.pending.is_empty()
                }
            }
        });
    }
}

impl Service {
    fn notify(&mut self, number: u64, wake: AppWake, now: u64) -> Option<Act> {
        if self.pending.len() >= MOST_PENDING {
            return None;
        }
        self.pending.insert(number, Pending { user: wake.user, node: wake.push.node.clone(), since: now });
        Some(Act::Notify(number, wake))
    }
}

impl Gateway {
    /// A notification for a service of this worker's domains.
    pub(crate) fn wake_app(&mut self, wake: AppWake, now: Now) {
        let site = wake.user.site;
        let Some(local) = self.shared.node.domain(site) else { return };
        // The site may have changed its mind since the app has named the service.
        if !self.shared.talks_with(site, &wake.push.service) {
            return;
        }
        let pair = Pair { local, remote: wake.push.service.clone() };
        let acts = self.federation.push_services.wake(&pair, wake, now.steady_ms);
        self.act_on_service(&pair, acts, now);
    }

    /// Whether the stanza is the answer of a service.
    pub(crate) fn is_of_service(&mut self, pair: &Pair, iq: Element<'_>, now: Now) -> bool {
        let (Some(id), Some(kind)) = (iq.attr("id"), iq.attr("type")) else { return false };
        if iq.name() != "iq" || !matches!(kind, "result" | "error") || iq.attr("from") != Some(&*pair.remote)
        {
            return false;
        }
        let said = match StanzaError::of(iq).filter(|_| kind == "error") {
            Some(error) => refusal(&error),
            None if kind == "error" => Said::Later,
            None => Said::Yes,
        };
        let number = |prefix| id.strip_prefix(prefix).and_then(|number| number.parse().ok());
        let services = &mut self.federation.push_services;
        let acts = if let Some(number) = number(QUESTION) {
            let said = if said == Said::Yes && !is_push_service(iq) { Said::No } else { said };
            services.described(pair, number, said, now.steady_ms)
        } else if let Some(number) = number(NOTIFICATION) {
            services.answered(pair, number, said)
        } else {
            return false;
        };
        self.act_on_service(pair, acts, now);
        true
    }

    fn act_on_service(&mut self, pair: &Pair, acts: Vec<Act>, now: Now) {
        let limits = self.shared.config.limits;
        for act in acts {
            let mut out = Vec::new();
            match act {
                Act::Ask(number) => iq(&mut out, pair, "get", &format!("{QUESTION}{number}"), |out| {
                    Open::new(out, "query").attr("xmlns", ns::DISCO_INFO).empty();
                }),
                Act::Notify(number, wake) => {
                    let AppPush { node, options, .. } = &wake.push;
                    let tree = document(options.as_bytes(), &limits).ok();
                    let options = tree.as_ref().and_then(|tree| Form::read(tree.root()));
                    let messages = u32::try_from(wake.messages).unwrap_or(u32::MAX);
                    let node = Some(&**node).filter(|node| !node.is_empty());
                    let notification = Notification { node, messages, sender: None };
                    iq(&mut out, pair, "set", &format!("{NOTIFICATION}{number}"), |out| {
                        notification.write(out, options.as_ref());
                    });
                }
                Act::Forget(user, node) => {
                    self.shared.node.app_push_is_gone(user, &pair.remote, &node);
                    continue;
                }
            }
            self.send_to_server(pair, out, now.steady_ms);
        }
    }
}

fn iq(out: &mut Vec<u8>, pair: &Pair, kind: &str, id: &str, payload: impl FnOnce(&mut Vec<u8>)) {
    let open = Open::new(out, "iq").attr("type", kind).attr("id", id);
    open.attr("from", &pair.local).attr("to", &pair.remote).children(payload);
}

/// §6: an error can mean that the app is gone. Not if the service is out of order, or cannot be reached.
fn refusal(error: &StanzaError) -> Said {
    match (error.kind, error.condition) {
        (ErrorKind::Wait, _)
        | (
            _,
            Condition::RemoteServerNotFound | Condition::RemoteServerTimeout | Condition::InternalServerError,
        ) => Said::Later,
        _ => Said::No,
    }
}

/// §3: the identity of a push service.
fn is_push_service(iq: Element<'_>) -> bool {
    let Some(query) = iq.child("query", ns::DISCO_INFO) else { return false };
    query.children().any(|one| match one.name() {
        "identity" => one.attr("category") == Some("pubsub") && one.attr("type") == Some("push"),
        "feature" => one.attr("var") == Some(ns::PUSH),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use chat::SiteId;

    use super::*;

    fn pair() -> Pair {
        Pair { local: "a.example".into(), remote: "push.example".into() }
    }

    fn wake(num: u32) -> AppWake {
        let push = AppPush { service: "push.example".into(), node: "n".into(), options: "".into() };
        AppWake { user: UserId { site: SiteId(1), num }, push, messages: 1 }
    }

    fn accepted(now: u64) -> Services {
        let mut services = Services::default();
        assert_eq!(services.wake(&pair(), wake(1), now), [Act::Ask(1)]);
        assert_eq!(services.described(&pair(), 1, Said::Yes, now), [Act::Notify(2, wake(1))]);
        services
    }

    /// Somebody names a domain that is no push service: it gets one question in an hour.
    #[test]
    fn a_domain_that_is_no_service_gets_no_notification() {
        let mut services = Services::default();
        assert_eq!(services.wake(&pair(), wake(1), 0), [Act::Ask(1)]);
        for num in 2..1_000 {
            assert_eq!(services.wake(&pair(), wake(num), 0), []);
        }
        let forgotten = services.described(&pair(), 1, Said::No, 0);
        assert_eq!(forgotten.len(), MOST_WAITING);
        assert_eq!(services.wake(&pair(), wake(1), 1), [Act::Forget(wake(1).user, "n".into())]);
        assert_eq!(services.described(&pair(), 1, Said::Yes, 1), [], "it was asked once");
        assert!(matches!(services.wake(&pair(), wake(1), REFUSED_MS + ANSWERS_MS)[..], [Act::Ask(_)]));
    }

    #[test]
    fn a_service_that_never_answers_gets_few() {
        let mut services = Services::default();
        let asked = (0..1_000).map(|num| services.wake(&pair(), wake(num), 100).len());
        assert_eq!(asked.sum::<usize>(), 1);
        assert!(matches!(services.wake(&pair(), wake(1), 100 + 2 * ANSWERS_MS)[..], [Act::Ask(_)]));

        let mut services = accepted(100_000);
        let sent = (0..1_000).map(|num| services.wake(&pair(), wake(num), 100_000).len()).sum::<usize>();
        assert_eq!(sent, MOST_PENDING - 1);
        assert_eq!(
            services.wake(&pair(), wake(1), 100_000 + 2 * ANSWERS_MS).len(),
            1,
            "they are lost by then"
        );
    }

    #[test]
    fn an_error_of_the_service_ends_the_push_of_that_app() {
        let mut services = accepted(0);
        assert_eq!(services.answered(&pair(), 2, Said::No), [Act::Forget(wake(1).user, "n".into())]);
        assert_eq!(services.answered(&pair(), 2, Said::No), [], "once");
        for said in [Said::Yes, Said::Later] {
            let [Act::Notify(number, _)] = services.wake(&pair(), wake(1), 0)[..] else { panic!() };
            let other = Pair { local: "b.example".into(), ..pair() };
            assert_eq!(services.answered(&other, number, Said::No), [], "another site's service");
            assert_eq!(services.answered(&pair(), number, said), []);
        }
    }

    #[test]
    fn only_lasting_errors_count() {
        for (kind, condition, expected) in [
            (ErrorKind::Cancel, Condition::ItemNotFound, Said::No),
            (ErrorKind::Modify, Condition::NotAcceptable, Said::No),
            (ErrorKind::Wait, Condition::ResourceConstraint, Said::Later),
            (ErrorKind::Cancel, Condition::RemoteServerNotFound, Said::Later),
            (ErrorKind::Cancel, Condition::InternalServerError, Said::Later),
        ] {
            assert_eq!(
                refusal(&StanzaError { kind, ..StanzaError::new(condition) }),
                expected,
                "{condition:?}"
            );
        }
    }

    #[test]
    fn services_are_bounded() {
        let mut services = Services::default();
        let mut of_site = |local: &str| {
            let wake_one = |number| {
                let pair = Pair { local: local.into(), remote: format!("d{number}.example").into() };
                services.wake(&pair, wake(1), 0).len()
            };
            (0..2 * MOST_SERVICES_OF_SITE).map(wake_one).sum::<usize>()
        };
        assert_eq!(of_site("a.example"), MOST_SERVICES_OF_SITE, "the other places are for other sites");
        for number in 1..MOST_SERVICES / MOST_SERVICES_OF_SITE {
            assert_eq!(of_site(&format!("{number}.example")), MOST_SERVICES_OF_SITE);
        }
        assert_eq!(of_site("last.example"), 0);
    }
}
