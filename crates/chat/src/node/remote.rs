//! The port of a gateway to the domain, which runs in this process or on another node.

use std::net::IpAddr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    AppCredentials, AppDeviceOf, AppToken, AppTokenFor, AppTokens, Hello, Node, PublishedSites, Refusal,
    Request, SessionHandle, SessionId, SiteId, Sub, Timestamp, UserId,
};

/// The domain, as gateways call it. With [`Here`](Port::Here), each call is a direct call of the [`Node`].
#[derive(Clone)]
pub enum Port {
    Here(Arc<Node>),
    There(Arc<dyn RemoteNode>),
}

/// A [`Node`] in another process. No call blocks. Each function means what the function of the same name of [`Node`] means.
pub trait RemoteNode: Send + Sync + 'static {
    /// The sites, as the node has published them last. Empty before its first answer, and [incomplete](PublishedSites::is_complete)
    /// until the homes of all slots have answered.
    fn sites(&self) -> Arc<PublishedSites>;
    fn is_crowded(&self) -> bool;
    fn sign_in(&self, hello: &Hello<'_>, handle: SessionHandle, now: Timestamp);
    /// The connection of this handle has closed, or does not wait any longer, before its sign-in had an answer. So a sign-in that was not
    /// sent yet never is, and one that was sent ends with its welcome.
    fn gave_up(&self, handle: SessionHandle);
    fn command(&self, session: SessionId, request: Request, now: Timestamp);
    fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp);
    fn behind(&self, session: SessionId);
    fn presence_missed(&self, session: SessionId);
    fn note(&self, note: PortNote);
    /// `then` is called once: with [`Refusal::Unavailable`] if the node does not answer.
    fn ask(&self, question: PortQuestion, then: Box<dyn FnOnce(Result<PortAnswer, Refusal>) + Send>);
}

/// A fact that a gateway reports without a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum PortNote {
    PasswordFailed { site: SiteId, sub: Sub, address: Option<IpAddr>, now: Timestamp },
    AppPushIsGone { user: UserId, service: Box<str>, node: Box<str> },
}

impl PortNote {
    /// The time at which the gateway has reported it, if that matters.
    pub fn time_mut(&mut self) -> Option<&mut Timestamp> {
        match self {
            PortNote::PasswordFailed { now, .. } => Some(now),
            PortNote::AppPushIsGone { .. } => None,
        }
    }
}

/// A question of a gateway before a sign-in.
#[derive(Clone, Serialize, Deserialize)]
pub enum PortQuestion {
    TokenUser { site_key: Box<str>, token: Box<str>, now: Timestamp },
    AppCredentials { site: SiteId, sub: Sub, address: Option<IpAddr>, now: Timestamp },
    AppTokens(AppDeviceOf),
    RenewAppToken { of: AppDeviceOf, why: AppTokenFor, now: Timestamp },
}

impl PortQuestion {
    /// The time at which the gateway has asked, if the answer depends on it.
    pub fn time_mut(&mut self) -> Option<&mut Timestamp> {
        match self {
            PortQuestion::TokenUser { now, .. }
            | PortQuestion::AppCredentials { now, .. }
            | PortQuestion::RenewAppToken { now, .. } => Some(now),
            PortQuestion::AppTokens(_) => None,
        }
    }
}

/// The answer to the [`PortQuestion`] of the same name.
#[derive(Clone, Serialize, Deserialize)]
pub enum PortAnswer {
    TokenUser(Sub),
    AppCredentials(AppCredentials),
    AppTokens(Option<AppTokens>),
    RenewAppToken(Option<AppToken>),
}

impl From<Arc<Node>> for Port {
    fn from(node: Arc<Node>) -> Port {
        Port::Here(node)
    }
}

impl Port {
    /// The site with this XMPP domain, and its key for a hello.
    pub fn site_of_domain(&self, domain: &str) -> Option<(SiteId, Arc<str>)> {
        match self {
            Port::Here(node) => node.site_of_domain(domain),
            Port::There(node) => node.sites().by_domain(domain).map(|site| (site.id, site.key.clone())),
        }
    }

    /// For a client whose site is not known here.
    pub fn refusal_of_unknown_site(&self) -> Refusal {
        match self {
            Port::Here(_) => Refusal::NoSuchSite,
            Port::There(node) => node.sites().refusal_of_unknown(),
        }
    }

    /// See [`Node::talks_with`].
    pub fn talks_with(&self, site: SiteId, domain: &str) -> bool {
        match self {
            Port::Here(node) => node.talks_with(site, domain),
            Port::There(node) => {
                node.sites().by_id(site).is_some_and(|site| site.federation.talks_with(domain))
            }
        }
    }

    /// See [`Node::is_federated`].
    pub fn is_federated(&self, site: SiteId) -> bool {
        match self {
            Port::Here(node) => node.is_federated(site),
            Port::There(node) => node.sites().by_id(site).is_some_and(|site| site.federation.on),
        }
    }

    /// See [`Node::site_key`].
    pub fn site_key(&self, site: SiteId) -> Option<Arc<str>> {
        match self {
            Port::Here(node) => node.site_key(site),
            Port::There(node) => node.sites().by_id(site).map(|site| site.key.clone()),
        }
    }

    /// See [`Node::domain`].
    pub fn domain(&self, site: SiteId) -> Option<Box<str>> {
        match self {
            Port::Here(node) => node.domain(site),
            Port::There(node) => node.sites().by_id(site)?.domain.as_deref().map(Into::into),
        }
    }

    /// See [`Node::page`].
    pub fn page(&self, site: SiteId) -> Option<String> {
        match self {
            Port::Here(node) => node.page(site),
            Port::There(node) => node.sites().by_id(site)?.page().map(str::to_owned),
        }
    }

    /// See [`Node::keeps_devices`].
    #[inline]
    pub fn keeps_devices(&self) -> bool {
        match self {
            Port::Here(node) => node.keeps_devices(),
            Port::There(node) => node.sites().keep_devices(),
        }
    }

    /// See [`Node::origin_allowed`].
    #[inline]
    pub fn origin_allowed(&self, site_key: &str, origin: &str) -> Result<bool, Refusal> {
        match self {
            Port::Here(node) => node.origin_allowed(site_key, origin),
            Port::There(node) => {
                let sites = node.sites();
                let site = sites.by_key(site_key).ok_or_else(|| sites.refusal_of_unknown())?;
                Ok(site.allows_origin(origin))
            }
        }
    }

    /// See [`Node::origin_known`].
    #[inline]
    pub fn origin_known(&self, origin: &str) -> bool {
        match self {
            Port::Here(node) => node.origin_known(origin),
            Port::There(node) => node.sites().know_origin(origin),
        }
    }

    /// See [`Node::logs_sign_ins`].
    #[inline]
    pub fn logs_sign_ins(&self) -> bool {
        match self {
            Port::Here(node) => node.logs_sign_ins(),
            Port::There(node) => node.sites().logs_sign_ins(),
        }
    }

    /// See [`Node::is_crowded`].
    #[inline]
    pub fn is_crowded(&self) -> bool {
        match self {
            Port::Here(node) => node.is_crowded(),
            Port::There(node) => node.is_crowded(),
        }
    }

    /// See [`Node::sign_in`].
    #[inline]
    #[allow(clippy::needless_pass_by_value, reason = "a hello is said once")]
    pub fn sign_in(&self, hello: Hello<'_>, handle: SessionHandle, now: Timestamp) {
        match self {
            Port::Here(node) => node.sign_in(hello, handle, now),
            Port::There(node) => node.sign_in(&hello, handle, now),
        }
    }

    /// Nobody waits for the answer to this sign-in any more. A node has begun it by now, and its gateway ends the session when the welcome
    /// comes. Another node may not even know it, and must not let it replace a newer session of the device later.
    pub fn gave_up(&self, handle: SessionHandle) {
        match self {
            Port::Here(_) => {}
            Port::There(node) => node.gave_up(handle),
        }
    }

    /// See [`Node::command`].
    #[inline]
    pub fn command(&self, session: SessionId, request: Request, now: Timestamp) {
        match self {
            Port::Here(node) => node.command(session, request, now),
            Port::There(node) => node.command(session, request, now),
        }
    }

    /// See [`Node::disconnected`].
    #[inline]
    pub fn disconnected(&self, session: SessionId, on_purpose: bool, now: Timestamp) {
        match self {
            Port::Here(node) => node.disconnected(session, on_purpose, now),
            Port::There(node) => node.disconnected(session, on_purpose, now),
        }
    }

    /// See [`Node::behind`].
    pub fn behind(&self, session: SessionId) {
        match self {
            Port::Here(node) => node.behind(session),
            Port::There(node) => node.behind(session),
        }
    }

    /// See [`Node::presence_missed`].
    pub fn presence_missed(&self, session: SessionId) {
        match self {
            Port::Here(node) => node.presence_missed(session),
            Port::There(node) => node.presence_missed(session),
        }
    }

    /// Checks a token before a sign-in: see [`Node::token_user`]. `then` is called once, here or on another thread.
    pub fn token_user(
        &self,
        site_key: &str,
        token: &str,
        now: Timestamp,
        then: impl FnOnce(Result<Sub, Refusal>) + Send + 'static,
    ) {
        match self {
            Port::Here(node) => then(node.token_user(site_key, token, now)),
            Port::There(node) => {
                let question =
                    PortQuestion::TokenUser { site_key: site_key.into(), token: token.into(), now };
                node.ask(
                    question,
                    Box::new(|answer| {
                        then(match answer {
                            Ok(PortAnswer::TokenUser(sub)) => Ok(sub),
                            answer => Err(unexpected(answer)),
                        });
                    }),
                );
            }
        }
    }

    /// The keys to check an app password, unless too many attempts have failed: see [`Node::password_may_be_tried`] and
    /// [`Node::app_credentials`]. `then` is called once, here or on another thread.
    pub fn app_credentials(
        &self,
        site: SiteId,
        sub: Sub,
        address: Option<IpAddr>,
        now: Timestamp,
        then: impl FnOnce(Result<AppCredentials, Refusal>) + Send + 'static,
    ) {
        match self {
            Port::Here(node) => match node.password_may_be_tried(site, &sub, address, now) {
                Ok(()) => node.app_credentials(site, sub, then),
                Err(refusal) => then(Err(refusal)),
            },
            Port::There(node) => node.ask(
                PortQuestion::AppCredentials { site, sub, address, now },
                Box::new(|answer| {
                    then(match answer {
                        Ok(PortAnswer::AppCredentials(found)) => Ok(found),
                        answer => Err(unexpected(answer)),
                    });
                }),
            ),
        }
    }

    /// See [`Node::app_tokens`].
    pub fn app_tokens(
        &self,
        of: AppDeviceOf,
        then: impl FnOnce(Result<Option<AppTokens>, Refusal>) + Send + 'static,
    ) {
        match self {
            Port::Here(node) => node.app_tokens(of, then),
            Port::There(node) => node.ask(
                PortQuestion::AppTokens(of),
                Box::new(|answer| {
                    then(match answer {
                        Ok(PortAnswer::AppTokens(found)) => Ok(found),
                        answer => Err(unexpected(answer)),
                    });
                }),
            ),
        }
    }

    /// See [`Node::renew_app_token`].
    pub fn renew_app_token(
        &self,
        of: AppDeviceOf,
        why: AppTokenFor,
        now: Timestamp,
        then: impl FnOnce(Option<AppToken>) + Send + 'static,
    ) {
        match self {
            Port::Here(node) => node.renew_app_token(of, why, now, then),
            Port::There(node) => node.ask(
                PortQuestion::RenewAppToken { of, why, now },
                Box::new(|answer| {
                    then(match answer {
                        Ok(PortAnswer::RenewAppToken(given)) => given,
                        // The app signs in with its password next time.
                        Ok(_) | Err(_) => None,
                    });
                }),
            ),
        }
    }

    /// See [`Node::password_failed`].
    pub fn password_failed(&self, site: SiteId, sub: &Sub, address: Option<IpAddr>, now: Timestamp) {
        match self {
            Port::Here(node) => node.password_failed(site, sub, address, now),
            Port::There(node) => {
                node.note(PortNote::PasswordFailed { site, sub: sub.clone(), address, now });
            }
        }
    }

    /// See [`Node::app_push_is_gone`].
    pub fn app_push_is_gone(&self, user: UserId, service: &str, app_node: &str) {
        match self {
            Port::Here(node) => node.app_push_is_gone(user, service, app_node),
            Port::There(node) => {
                node.note(PortNote::AppPushIsGone { user, service: service.into(), node: app_node.into() });
            }
        }
    }
}

fn unexpected(answer: Result<PortAnswer, Refusal>) -> Refusal {
    answer.err().unwrap_or(Refusal::Unavailable)
}

impl Node {
    /// Answers a question from a gateway on another node. `then` is called once, here or on a thread of the store.
    pub fn answer(
        &self,
        question: PortQuestion,
        then: impl FnOnce(Result<PortAnswer, Refusal>) + Send + 'static,
    ) {
        match question {
            PortQuestion::TokenUser { site_key, token, now } => {
                then(self.token_user(&site_key, &token, now).map(PortAnswer::TokenUser));
            }
            PortQuestion::AppCredentials { site, sub, address, now } => {
                match self.password_may_be_tried(site, &sub, address, now) {
                    Ok(()) => {
                        self.app_credentials(site, sub, |found| then(found.map(PortAnswer::AppCredentials)));
                    }
                    Err(refusal) => then(Err(refusal)),
                }
            }
            PortQuestion::AppTokens(of) => {
                self.app_tokens(of, |found| then(found.map(PortAnswer::AppTokens)))
            }
            PortQuestion::RenewAppToken { of, why, now } => {
                self.renew_app_token(of, why, now, |given| then(Ok(PortAnswer::RenewAppToken(given))));
            }
        }
    }

    /// Notes a fact from a gateway on another node.
    pub fn note(&self, note: &PortNote) {
        match note {
            PortNote::PasswordFailed { site, sub, address, now } => {
                self.password_failed(*site, sub, *address, *now);
            }
            PortNote::AppPushIsGone { user, service, node } => self.app_push_is_gone(*user, service, node),
        }
    }

    /// The sites for gateways on other nodes.
    pub fn published_sites(&self) -> Vec<crate::PublishedSite> {
        self.inner.sites.published()
    }

    /// Grows with each change of a site: then [`published_sites`](Self::published_sites) may differ.
    pub fn sites_version(&self) -> u64 {
        self.inner.sites.version()
    }
}
