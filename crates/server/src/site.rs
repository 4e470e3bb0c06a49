//! `kith site`: the operator's view of the communities.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::{
    By, CompiledFilters, FilterAct, Hit, Mode, ModeratorAct, Secret, SecretKind, Settings, Site, SiteId,
    Store, Timestamp,
};
use rand::RngCore;
use serde_json::{Value, json};

use crate::cli::{SiteAdd, SiteCommand, SiteMode, SiteRaid, SiteRemove, SiteRotate, SiteSet, SiteTestFilter};
use crate::config::Loaded;
use crate::data_dir::{self, wait};
use crate::trouble::{Outcome, Trouble};
use crate::{date, print_json, print_with};

/// Carries out one command.
pub(crate) fn run(command: &SiteCommand, loaded: &Loaded) -> Outcome {
    let store = data_dir::open_existing(loaded, None)?;
    match command {
        SiteCommand::Add(args) => add(args, loaded, &*store),
        SiteCommand::List(output) => list(output.json, &*store),
        SiteCommand::Show(args) => show(&data_dir::site(&*store, &args.key)?, args.output.json),
        SiteCommand::Set(args) => set(args, &*store),
        SiteCommand::Raid(args) => raid(args, &*store),
        SiteCommand::TestFilter(args) => test_filter(args, &*store),
        SiteCommand::RotateSecret(args) => rotate(args, &*store),
        SiteCommand::Remove(args) => remove(args, &*store),
    }
}

fn add(args: &SiteAdd, loaded: &Loaded, store: &dyn Store) -> Outcome {
    check_key(&args.key)?;
    args.origins.iter().try_for_each(|origin| check_origin(origin))?;
    let now = crate::now();
    let secret = new_secret(now);
    let shown = shown(&secret);
    let site = Site {
        id: SiteId(0),
        key: args.key.as_str().into(),
        name: args.name.clone().unwrap_or_else(|| args.key.clone()),
        mode: match args.mode {
            SiteMode::Open => Mode::Open,
            SiteMode::Contacts => Mode::Contacts,
        },
        guests: args.guests,
        origins: args.origins.clone(),
        secrets: vec![secret],
        settings: chat::Settings::of_new_site(),
        created: now,
    };
    if store.add_site(&site).map_err(data_dir::unreadable)?.is_none() {
        return Err(Trouble::new(format!("there is a site {} already", args.key))
            .remedy(format!("choose another key, or look at it with `kith site show {}`", args.key)));
    }
    let snippet = snippet(&args.key, args.public_url.as_ref().or(loaded.config.public_url.as_ref()));
    if args.output.json {
        let mut json = as_json(&site);
        json["secret"] = json!(shown);
        json["embed"] = json!(snippet);
        return print_json(&json);
    }
    print_with(|out| {
        writeln!(out, "key      {}", args.key)?;
        writeln!(out, "secret   {shown}")?;
        writeln!(out, "         (HS256; keep it on your server. It is shown only this once.)")?;
        if args.origins.is_empty() {
            writeln!(
                out,
                "origins  none yet: pages of other servers may not connect (--origin https://...)"
            )?;
        }
        writeln!(
            out,
            "safety   strangers ask first, and new members have less to say: kith site show {}",
            args.key
        )?;
        writeln!(
            out,
            "\nPut this into your pages, and let /kith-token sign a token for whoever is signed in:\n"
        )?;
        writeln!(out, "  {snippet}\n")?;
        writeln!(out, "docs/embed.md shows how to sign a token in Node, PHP, Python and Ruby.")
    })
}

fn list(json: bool, store: &dyn Store) -> Outcome {
    let sites = store.sites().map_err(data_dir::unreadable)?;
    if json {
        return print_json(&sites.iter().map(as_json).collect::<Vec<_>>().into());
    }
    print_with(|out| {
        for site in &sites {
            let guests = if site.guests { "guests" } else { "no guests" };
            writeln!(out, "{:<24} {:<9} {guests:<10} {}", site.key, mode(site), site.name)?;
        }
        Ok(())
    })
}

fn show(site: &Site, json: bool) -> Outcome {
    if json {
        return print_json(&as_json(site));
    }
    print_with(|out| {
        writeln!(out, "key      {}\nname     {}\nmode     {}", site.key, site.name, mode(site))?;
        writeln!(out, "guests   {}", if site.guests { "yes" } else { "no" })?;
        writeln!(
            out,
            "origins  {}",
            if site.origins.is_empty() { "none".into() } else { site.origins.join(" ") }
        )?;
        for secret in &site.secrets {
            let until = secret.expires.map_or("no end".into(), |expires| format!("until {}", date(expires)));
            writeln!(out, "secret   {} made {} {until}", kind(secret), date(secret.created))?;
        }
        for line in lines_of(&site.settings.document(), "") {
            writeln!(out, "setting  {line}")?;
        }
        Ok(())
    })
}

/// All of them, or none where one is wrong. The record has them as the operator's.
fn set(args: &SiteSet, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let (mut after, mut patch) = (site.settings, json!({}));
    for setting in &args.settings {
        let known = format!("see all of them with `kith site show {}`", args.key);
        let Some((name, value)) = setting.split_once('=') else {
            let trouble = Trouble::new(format!("`{setting}` sets nothing"));
            return Err(trouble.because("a setting is written NAME=VALUE").remedy(known));
        };
        after = after
            .with(name, value)
            .map_err(|why| Trouble::new(format!("`{setting}` cannot be set")).because(why).remedy(known))?;
        lay_over(&mut patch, Settings::patch(name, value));
    }
    act(store, site.id, ModeratorAct::Configure(Box::new(patch)))?;
    if args.output.json {
        return print_json(&after.document());
    }
    print_with(|out| lines_of(&after.document(), "").iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn lay_over(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            over.into_iter()
                .for_each(|(name, value)| lay_over(under.entry(name).or_insert(json!({})), value));
        }
        (under, over) => *under = over,
    }
}

fn act(store: &dyn Store, site: SiteId, act: ModeratorAct) -> Result<(), Trouble> {
    wait(|done| store.moderate(site, By::Site, act, crate::now(), done))?
        .map(drop)
        .map_err(|refusal| Trouble::new("it was not done").because(refusal))
}

/// For a time new members cannot write first or in rooms.
fn raid(args: &SiteRaid, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let now = crate::now();
    let until = if args.end { Timestamp(0) } else { Timestamp(now.0 + args.time.as_millis()) };
    act(store, site.id, ModeratorAct::Raid(until))?;
    print_with(|out| match args.end {
        true => writeln!(out, "{}: the raid mode is over", args.key),
        false => writeln!(out, "{}: raid mode until {}", args.key, date(until)),
    })
}

/// What the filters of the site would do with a text.
fn test_filter(args: &SiteTestFilter, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let filters = &site.settings.filters;
    let unreadable = |why| Trouble::new("the patterns of the site cannot be read").because(why);
    let compiled = match site.settings.is_unreadable("filters") {
        true => CompiledFilters::unreadable(),
        false => CompiledFilters::new(filters).map_err(unreadable)?,
    };
    let hits = filters.hits(&compiled, &args.text);
    let act = hits.iter().map(|hit| hit.act).max();
    if args.output.json {
        let hit = |hit: &Hit| json!({ "kind": hit.kind.word(), "what": hit.what, "act": hit.act.word() });
        let hits: Vec<Value> = hits.iter().map(hit).collect();
        return print_json(&json!({ "act": act.map(FilterAct::word), "hits": hits }));
    }
    print_with(|out| {
        let outcome = match act {
            None => "it would be sent",
            Some(FilterAct::Flag) => "it would be sent, and put before moderators",
            Some(FilterAct::Hold) => "it would wait for a moderator",
            Some(FilterAct::Reject) => "it would be refused",
        };
        writeln!(out, "{outcome}")?;
        hits.iter()
            .try_for_each(|hit| writeln!(out, "{:<8} {:<8} {}", hit.act.word(), hit.kind.word(), hit.what))
    })
}

/// Each setting with its value, as `kith site set` takes it.
fn lines_of(document: &Value, path: &str) -> Vec<String> {
    match document {
        Value::Object(fields) => {
            let join = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            fields.iter().flat_map(|(name, value)| lines_of(value, &join(name))).collect()
        }
        Value::String(text) => vec![format!("{path}={text}")],
        value => vec![format!("{path}={value}")],
    }
}

/// The old secrets get an end, the new one comes before them.
fn rotate(args: &SiteRotate, store: &dyn Store) -> Outcome {
    let mut site = data_dir::site(store, &args.key)?;
    let now = crate::now();
    let end = Timestamp(now.0 + args.overlap.as_millis());
    for old in &mut site.secrets {
        old.expires = Some(old.expires.map_or(end, |expires| expires.min(end)));
    }
    site.secrets.retain(|old| old.expires.is_none_or(|expires| expires > now));
    let secret = new_secret(now);
    let shown = shown(&secret);
    site.secrets.insert(0, secret);
    store.update_site(&site).map_err(data_dir::unreadable)?;
    if args.output.json {
        return print_json(&json!({ "site": args.key, "secret": shown, "old_secrets_end": end.0 }));
    }
    print_with(|out| {
        writeln!(out, "secret   {shown}")?;
        writeln!(
            out,
            "         (HS256; it is shown only this once. The old one is valid for {} more.)",
            args.overlap
        )
    })
}

fn remove(args: &SiteRemove, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    if !args.yes {
        return Err(Trouble::new(format!("{} was not removed", args.key))
            .because("this would remove all its users and messages, and there is no way back")
            .remedy(format!("if that is what you want: kith site remove {} --yes", args.key)));
    }
    store.remove_site(site.id).map_err(data_dir::unreadable)?;
    print_with(|out| writeln!(out, "{} is gone", args.key))
}

fn check_key(key: &str) -> Outcome {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=64).contains(&key.len()) && key.bytes().all(plain) {
        return Ok(());
    }
    Err(Trouble::new(format!("`{key}` cannot be the key of a site"))
        .because("a key has 1 to 64 of a-z, 0-9 and -")
        .remedy("for example: garden-forum"))
}

/// As browsers write it in the Origin header (RFC 6454 §6.2), so that comparing is enough.
fn check_origin(origin: &str) -> Outcome {
    let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    let exact = |host: &str| {
        !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_graphic() && !byte.is_ascii_uppercase())
            && !host.contains(['/', '?', '#', '@', '*', '\\'])
    };
    if origin == "*" || host.is_some_and(exact) {
        return Ok(());
    }
    Err(Trouble::new(format!("`{origin}` is no origin"))
        .because("an origin is scheme and host in lower case, with a port where it is not the usual one, and no path")
        .remedy("for example: https://garden.example"))
}

fn new_secret(now: Timestamp) -> Secret {
    let mut random = [0; 32];
    rand::rng().fill_bytes(&mut random);
    // Letters, because sites paste the secret into settings: its text is what they sign with.
    let bytes = URL_SAFE_NO_PAD.encode(random).into_bytes();
    Secret { kind: SecretKind::Hs256, bytes, created: now, expires: None }
}

fn shown(secret: &Secret) -> String {
    String::from_utf8_lossy(&secret.bytes).into_owned()
}

fn snippet(key: &str, public_url: Option<&String>) -> String {
    let server = public_url.map_or("https://YOUR-KITH-SERVER", |url| url.trim_end_matches('/'));
    format!(
        "<script async src=\"{server}/kith.js\" data-site=\"{key}\" data-token-url=\"/kith-token\"></script>"
    )
}

fn as_json(site: &Site) -> Value {
    let secrets: Vec<Value> = site
        .secrets
        .iter()
        .map(|secret| {
            json!({
                "kind": kind(secret),
                "created": secret.created.0,
                "expires": secret.expires.map(|expires| expires.0),
            })
        })
        .collect();
    json!({
        "key": &*site.key,
        "name": site.name,
        "mode": mode(site),
        "guests": site.guests,
        "origins": site.origins,
        "created": site.created.0,
        "secrets": secrets,
        "settings": site.settings.document(),
    })
}

fn mode(site: &Site) -> &'static str {
    match site.mode {
        Mode::Open => "open",
        Mode::Contacts => "contacts",
    }
}

fn kind(secret: &Secret) -> &'static str {
    match secret.kind {
        SecretKind::Hs256 => "HS256",
        SecretKind::Es256 => "ES256",
        SecretKind::EdDsa => "EdDSA",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_origins_are_checked_before_anything_happens() {
        for good in ["a", "garden-forum", "0"] {
            assert!(check_key(good).is_ok(), "{good}");
        }
        for bad in ["", "Garden", "a b", "ä", &"a".repeat(65)] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
        for good in ["*", "https://garden.example", "http://localhost:3000", "https://[::1]:8443"] {
            assert!(check_origin(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "garden.example",
            "https://",
            "https://Garden.example",
            "https://a/",
            "https://*.a",
            "ftp://a",
        ] {
            assert!(check_origin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn json_has_no_secret() {
        let secret = new_secret(Timestamp(1));
        let text = shown(&secret);
        let site = Site {
            id: SiteId(1),
            key: "garden".into(),
            name: "Garden".into(),
            mode: Mode::Contacts,
            guests: false,
            origins: vec!["https://garden.example".into()],
            secrets: vec![secret],
            settings: chat::Settings::default(),
            created: Timestamp(1),
        };
        let json = as_json(&site).to_string();
        assert!(
            !json.contains(&text) && json.contains("\"HS256\"") && json.contains("\"contacts\""),
            "{json}"
        );
    }

    #[test]
    fn the_snippet_names_server_and_site() {
        let snippet = snippet("garden", Some(&"https://im.example/".to_owned()));
        assert!(snippet.contains("src=\"https://im.example/kith.js\" data-site=\"garden\""), "{snippet}");
    }
}
