//! Of the site itself: name, mode, guests and origins, and the keys that sign its tokens.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::Uri;
use axum::response::Response;
use chat::{
    Caller, Mode, Refusal, Secret, SignOut, Site, SiteChange, SiteNotChanged, SiteNotSet, SiteProfile,
    Timestamp,
};
use serde::Deserialize;
use serde_json::{Value, json};
use web_proto::Code;

use super::{Answer, Api, Credentials, Refused, answered, field};

/// None: as it is. The public URL is the operator's.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Profile {
    name: Option<String>,
    mode: Option<ModeWord>,
    guests: Option<bool>,
    origins: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ModeWord {
    Open,
    Contacts,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    /// PEM, P-256 or Ed25519.
    public_key: String,
    kid: Option<String>,
    /// The other keys of members end after so many seconds; without it they stay.
    others_end_after: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Whom {
    kid: Option<String>,
    guests: bool,
    everybody: bool,
}

/// Longest time for which an ended key still counts.
const LONGEST_OVERLAP_S: u64 = 30 * 24 * 3600;

fn document(site: &Site) -> Value {
    let key = |key: &Secret, of: &str| {
        json!({
            "kid": key.kid,
            "kind": key.kind.word(),
            "of": of,
            "created": key.created.0,
            "expires": key.expires.map(|at| at.0),
            "signed_out": key.not_before.map(|at| at.0),
        })
    };
    let members = site.secrets.iter().map(|one| key(one, "members"));
    let keys: Vec<Value> = members.chain(site.guest_keys.iter().map(|one| key(one, "guests"))).collect();
    json!({
        "key": &*site.key,
        "name": site.name,
        "mode": site.mode.word(),
        "guests": site.guests,
        "origins": site.origins,
        "public_url": site.public_url,
        "domain": site.domain(),
        "keys": keys,
    })
}

async fn change(api: &Api, caller: Caller, change: SiteChange) -> Answer {
    let (node, now) = (api.node.clone(), (api.clock)());
    // It waits for the disk.
    let changed = tokio::task::spawn_blocking(move || node.change_site(&caller, change, now)).await;
    match changed.map_err(|_| Refusal::Unavailable)? {
        Ok(site) => Ok(document(&site)),
        Err(SiteNotSet::Refused(refusal)) => Err(refusal.into()),
        Err(SiteNotSet::Site(why)) => {
            let code = match why {
                SiteNotChanged::NoSuchSite => Code::NoSuchSite,
                SiteNotChanged::OperatorOnly | SiteNotChanged::SiteOnly | SiteNotChanged::NotAllowed => {
                    Code::NotAllowed
                }
                SiteNotChanged::Name
                | SiteNotChanged::Origins
                | SiteNotChanged::PublicUrl
                | SiteNotChanged::Domain
                | SiteNotChanged::DomainTaken
                | SiteNotChanged::Kid
                | SiteNotChanged::KnownKey
                | SiteNotChanged::Key
                | SiteNotChanged::PrivateKey
                | SiteNotChanged::NoSuchKey
                | SiteNotChanged::LastKey
                | SiteNotChanged::TooManyKeys => Code::BadValue,
            };
            Err(Refused(code, why.to_string(), None))
        }
    }
}

pub(super) async fn read(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
) -> Response {
    answered(do_read(&api, &site, &credentials).await)
}

async fn do_read(api: &Api, site: &str, credentials: &Credentials) -> Answer {
    let caller = api.caller(site, credentials).await?;
    Ok(document(&api.node.site(&caller)?))
}

pub(super) async fn patch(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_patch(&api, &site, &credentials, &body).await)
}

async fn do_patch(api: &Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let Profile { name, mode, guests, origins } = serde_json::from_slice(body).map_err(Refused::value)?;
    let mode = mode.map(|mode| match mode {
        ModeWord::Open => Mode::Open,
        ModeWord::Contacts => Mode::Contacts,
    });
    let profile = SiteProfile { name, mode, guests, origins, public_url: None, domain: None };
    change(api, caller, SiteChange::Profile(profile)).await
}

pub(super) async fn add_key(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_add_key(&api, &site, &credentials, &body).await)
}

async fn do_add_key(api: &Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let NewKey { public_key, kid, others_end_after } =
        serde_json::from_slice(body).map_err(Refused::value)?;
    let now = (api.clock)();
    let key = chat::public_key(&public_key, now).map_err(Refused::value)?;
    let key = Secret { kid: kid.map_or_else(|| key.kid.clone(), Into::into), ..key };
    let others_end = others_end_after.map(|seconds| later(now, seconds));
    change(api, caller, SiteChange::AddKey { key, others_end }).await
}

pub(super) async fn end_key(
    State(api): State<Api>,
    Path((site, kid)): Path<(String, String)>,
    credentials: Credentials,
    uri: Uri,
) -> Response {
    answered(do_end_key(&api, &site, &kid, &credentials, &uri).await)
}

async fn do_end_key(api: &Api, site: &str, kid: &str, credentials: &Credentials, uri: &Uri) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let after = field(uri, "after").map(|after| after.parse()).transpose();
    let after: u64 = after.map_err(|_| Refused::value("after: seconds"))?.unwrap_or(0);
    let at = later((api.clock)(), after);
    change(api, caller, SiteChange::EndKey { kid: kid.into(), at }).await
}

/// The body may be empty: all members.
pub(super) async fn sign_out(
    State(api): State<Api>,
    Path(site): Path<String>,
    credentials: Credentials,
    body: Bytes,
) -> Response {
    answered(do_sign_out(&api, &site, &credentials, &body).await)
}

async fn do_sign_out(api: &Api, site: &str, credentials: &Credentials, body: &[u8]) -> Answer {
    let caller = api.caller(site, credentials).await?;
    let whom: Whom = match body.trim_ascii() {
        b"" => Whom::default(),
        body => serde_json::from_slice(body).map_err(Refused::value)?,
    };
    let whom = match whom {
        Whom { kid: Some(kid), guests: false, everybody: false } => SignOut::Key(kid.into()),
        Whom { kid: None, everybody: true, .. } => SignOut::Everybody,
        Whom { kid: None, guests: true, .. } => SignOut::Guests,
        Whom { kid: None, .. } => SignOut::Members,
        Whom { kid: Some(_), .. } => return Err(Refused::value("kid, or guests, or everybody")),
    };
    change(api, caller, SiteChange::SignOut { whom, at: (api.clock)() }).await
}

fn later(now: Timestamp, seconds: u64) -> Timestamp {
    Timestamp(now.0 + seconds.min(LONGEST_OVERLAP_S) * 1_000)
}
