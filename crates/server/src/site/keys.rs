//! `kith site key`, `rotate-secret` and `sign-out`: the keys that sign a site's tokens, and the end of keys and sessions.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{Secret, SecretKind, SignOut, Site, SiteAuthor, SiteChange, Store, Timestamp, public_key};
use rand::RngCore;
use serde_json::{Value, json};

use crate::cli::{SiteKeyAdd, SiteKeyCommand, SiteKeyEnd, SiteRotate, SiteSignOut};
use crate::span::Span;
use crate::trouble::{Outcome, Trouble};
use crate::{data_dir, date, print_json, print_with};

pub(super) fn run(command: &SiteKeyCommand, store: &dyn Store) -> Outcome {
    match command {
        SiteKeyCommand::List(args) => list(&data_dir::site(store, &args.key)?, args.output.json),
        SiteKeyCommand::Add(args) => add(args, store),
        SiteKeyCommand::End(args) => end(args, store),
    }
}

/// Creates the missing guest keys of older sites, at the start of a node and before a change of keys.
pub(crate) fn give_guest_keys(store: &dyn Store) -> Outcome {
    for site in store.sites().map_err(data_dir::unreadable)? {
        if site.guest_keys.is_empty() {
            let now = crate::now();
            change(store, &site, SiteChange::AddGuestKey { key: new_secret(now), others_end: None })?;
        }
    }
    Ok(())
}

pub(super) fn change(store: &dyn Store, site: &Site, change: SiteChange) -> Outcome<Site> {
    let changed = store.change_site(site.id, change, SiteAuthor::Operator, crate::now());
    changed.map_err(data_dir::unreadable)?.map_err(|why| {
        Trouble::new(format!("{} was not changed", site.key))
            .because(why)
            .remedy(format!("show the site: kith site show {}", site.key))
    })
}

fn list(site: &Site, json: bool) -> Outcome {
    if json {
        let (members, guests) = (as_json(&site.secrets), as_json(&site.guest_keys));
        return print_json(&json!({ "secrets": members, "guest_keys": guests }));
    }
    print_with(|out| lines(site).iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// One line for each key; never the key.
pub(super) fn lines(site: &Site) -> Vec<String> {
    let line = |key: &Secret, of: &str| {
        let until = key.expires.map_or("no end".into(), |expires| format!("until {}", date(expires)));
        let signed_out = key.not_before.map(|at| format!(", signed out {}", date(at))).unwrap_or_default();
        let (kid, kind, made) = (&key.kid, key.kind.word(), date(key.created));
        format!("{kid:<14} {kind:<6} {of} made {made} {until}{signed_out}")
    };
    let members = site.secrets.iter().map(|key| line(key, "members"));
    members.chain(site.guest_keys.iter().map(|key| line(key, "guests "))).collect()
}

pub(super) fn as_json(keys: &[Secret]) -> Vec<Value> {
    let one = |key: &Secret| {
        json!({
            "kid": key.kid,
            "kind": key.kind.word(),
            "created": key.created.0,
            "expires": key.expires.map(|at| at.0),
            "signed_out": key.not_before.map(|at| at.0),
        })
    };
    keys.iter().map(one).collect()
}

fn add(args: &SiteKeyAdd, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let now = crate::now();
    let pem = std::fs::read_to_string(&args.file)
        .map_err(|error| Trouble::new(format!("cannot read {}", args.file.display())).because(error))?;
    let key = public_key(&pem, now).map_err(|why| {
        Trouble::new(format!("{} is not a usable key", args.file.display()))
            .because(why)
            .remedy("for example: openssl genpkey -algorithm ed25519 | openssl pkey -pubout")
    })?;
    let kid = args.kid.as_deref().map_or_else(|| key.kid.clone(), Into::into);
    let key = Secret { kid: kid.clone(), ..key };
    let others_end = args.overlap.map(|overlap| end_of(overlap, now));
    change(store, &site, SiteChange::AddKey { key, others_end })?;
    print_with(|out| writeln!(out, "{}: the node accepts tokens signed by the key {kid}", args.key))
}

fn end(args: &SiteKeyEnd, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let at = end_of(args.after, crate::now());
    change(store, &site, SiteChange::EndKey { kid: args.kid.as_str().into(), at })?;
    print_with(|out| writeln!(out, "{}: the key {} ends {}", args.key, args.kid, date(at)))
}

/// The old secrets get an end; the new one is first.
pub(super) fn rotate(args: &SiteRotate, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let now = crate::now();
    let (secret, end) = (new_secret(now), end_of(args.overlap, now));
    let (shown, kid) = (shown(&secret), secret.kid.clone());
    let others_end = Some(end);
    let rotation = match args.guests {
        true => SiteChange::AddGuestKey { key: secret, others_end },
        false => SiteChange::AddKey { key: secret, others_end },
    };
    change(store, &site, rotation)?;
    if args.guests {
        return print_with(|out| {
            writeln!(
                out,
                "{}: the node signs guests' tokens by a new key; old ones end {}",
                args.key,
                date(end)
            )
        });
    }
    if args.output.json {
        let json = json!({ "site": args.key, "secret": shown, "kid": kid, "old_secrets_end": end.0 });
        return print_json(&json);
    }
    print_with(|out| {
        writeln!(out, "secret   {shown}\nkid      {kid}")?;
        match args.overlap.as_millis() {
            0 => writeln!(
                out,
                "         (HS256; it is shown only this once. The sessions of old secrets end.)"
            ),
            _ => writeln!(
                out,
                "         (HS256; it is shown only this once. The old secret is valid for another {}.)",
                args.overlap
            ),
        }
    })
}

pub(super) fn sign_out(args: &SiteSignOut, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let whom = match (&args.kid, args.guests, args.everybody) {
        (Some(kid), ..) => SignOut::Key(kid.as_str().into()),
        (None, _, true) => SignOut::Everybody,
        (None, true, false) => SignOut::Guests,
        (None, false, false) => SignOut::Members,
    };
    change(store, &site, SiteChange::SignOut { whom, at: crate::now() })?;
    print_with(|out| {
        writeln!(out, "{}: sessions end, and tokens that were signed before now are refused", args.key)?;
        writeln!(out, "         (from now on, tokens need `iat`)")
    })
}

fn end_of(span: Span, now: Timestamp) -> Timestamp {
    Timestamp(now.0 + span.as_millis())
}

pub(crate) fn new_secret(now: Timestamp) -> Secret {
    let mut random = [0; 32];
    rand::rng().fill_bytes(&mut random);
    // Letters, because sites paste the secret into settings and sign with its text.
    Secret::new(SecretKind::Hs256, URL_SAFE_NO_PAD.encode(random).into_bytes(), now)
}

pub(super) fn shown(secret: &Secret) -> String {
    String::from_utf8_lossy(&secret.bytes).into_owned()
}
