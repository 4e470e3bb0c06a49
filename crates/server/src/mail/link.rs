//! The unsubscribe link of a member's digests: it works without a sign-in, for that purpose only, and cannot be forged.

use std::sync::Arc;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chat::{Digest, SiteId, Store, UserId};
use push::Vapid;
use ring::{hkdf, hmac};

/// Path of the page.
pub(super) const PATH: &str = "/v1/mail/end";

/// Makes and checks links.
#[derive(Clone)]
pub(super) struct Links {
    store: Arc<dyn Store>,
}

impl Links {
    pub(super) fn new(store: Arc<dyn Store>) -> Links {
        Links { store }
    }

    pub(super) async fn to_end(&self, public_url: &str, digest: &Digest) -> Option<String> {
        let key = self.key(digest.to.site).await?;
        let tag = hmac::sign(&key, &message(digest.to.num));
        let tag = URL_SAFE_NO_PAD.encode(tag);
        let site = &digest.site_key;
        Some(format!("{}{PATH}?m={site}.{}.{tag}", public_url.trim_end_matches('/'), digest.to.num))
    }

    /// The user whose mails a link ends; `site` finds a site by its key.
    pub(super) async fn whose(&self, text: &str, site: impl Fn(&str) -> Option<SiteId>) -> Option<UserId> {
        let (site_key, rest) = text.split_once('.')?;
        let (num, tag) = rest.split_once('.')?;
        let user = UserId { site: site(site_key)?, num: num.parse().ok()? };
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        // Compared in constant time.
        hmac::verify(&self.key(user.site).await?, &message(user.num), &tag).ok()?;
        Some(user)
    }

    /// Derived from the site's secret for push services, with the purpose in the derivation (RFC 5869 §3.2).
    async fn key(&self, site: SiteId) -> Option<hmac::Key> {
        let (sender, outcome) = tokio::sync::oneshot::channel();
        self.store.push_key(site, Vapid::generate().ok()?, Box::new(move |pair| drop(sender.send(pair))));
        let pair = outcome.await.ok()?.ok()?;
        let secret = hkdf::Salt::new(hkdf::HKDF_SHA256, b"kith").extract(&pair);
        let purpose: [&[u8]; 1] = [b"end of mail"];
        let key = secret.expand(&purpose, hmac::HMAC_SHA256).ok()?;
        Some(hmac::Key::from(key))
    }
}

fn message(user: u32) -> [u8; 4] {
    user.to_be_bytes()
}
