//! `kith site`: administration of sites.

pub(crate) mod keys;

use chat::{
    By, CompiledFilters, FilterAct, Hit, Mode, ModeratorAct, Settings, Site, SiteChange, SiteId, SiteProfile,
    SiteStore, Store, Timestamp, is_origin,
};
use serde_json::{Value, json};

use crate::cli::{SiteAdd, SiteCommand, SiteDomain, SiteMode, SiteRaid, SiteRemove, SiteSet, SiteTestFilter};
use crate::config::Loaded;
use crate::data_dir::{self, wait};
use crate::trouble::{Outcome, Trouble};
use crate::{date, print_json, print_with, run_file};
use keys::{new_secret, shown};

/// Runs one command.
pub(crate) fn run(command: &SiteCommand, loaded: &Loaded) -> Outcome {
    let store = match command {
        SiteCommand::Add(args) => data_dir::open_for_new_site(loaded, &args.key, args.slot)?,
        SiteCommand::List(output) => return list(output.json, loaded),
        _ => data_dir::open_with(loaded, None, command.key().unwrap_or_default())?,
    };
    match command {
        SiteCommand::Add(args) => add(args, loaded, &*store),
        SiteCommand::List(_) => Ok(()),
        SiteCommand::Show(args) => show(&data_dir::site(&*store, &args.key)?, args.output.json, loaded),
        SiteCommand::Set(args) => set(args, &*store),
        SiteCommand::Raid(args) => raid(args, &*store),
        SiteCommand::TestFilter(args) => test_filter(args, &*store),
        SiteCommand::RotateSecret(args) => keys::rotate(args, &*store),
        SiteCommand::Key(command) => keys::run(command, &*store),
        SiteCommand::SignOut(args) => keys::sign_out(args, &*store),
        SiteCommand::Domain(args) => domain(args, loaded, &*store),
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
        mode: domain_mode(args.mode),
        guests: args.guests,
        origins: args.origins.clone(),
        secrets: vec![secret],
        guest_keys: vec![new_secret(now)],
        public_url: None,
        domain: None,
        settings: chat::Settings::of_new_site(),
        created: now,
    };
    if store.add_site(&site).map_err(data_dir::unreadable)?.is_none() {
        return Err(Trouble::new(format!("the site {} exists already", args.key))
            .remedy(format!("choose another key, or show the site with `kith site show {}`", args.key)));
    }
    if args.public_url.is_some() {
        let added = data_dir::site(store, &args.key)?;
        let public_url = Some(args.public_url.clone());
        keys::change(
            store,
            &added,
            SiteChange::Profile(SiteProfile { public_url, ..SiteProfile::default() }),
        )?;
    }
    let snippet = snippet(&args.key, args.public_url.clone().or_else(|| url_of_node(loaded)).as_ref());
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
                "origins  none yet: only pages of this server can connect (add --origin https://...)"
            )?;
        }
        writeln!(
            out,
            "safety   message requests and limits for new members are on: kith site show {}",
            args.key
        )?;
        writeln!(
            out,
            "\nPut this tag into your pages. Let /kith-token answer a token for the signed-in visitor:\n"
        )?;
        writeln!(out, "  {snippet}\n")?;
        writeln!(out, "docs/embed.md shows how to sign a token in Node, PHP, Python and Ruby.")
    })
}

fn list(json: bool, loaded: &Loaded) -> Outcome {
    let mut sites = Vec::new();
    for store in data_dir::open_all(loaded)? {
        sites.extend(store.sites().map_err(data_dir::unreadable)?);
    }
    if json {
        return print_json(&sites.iter().map(as_json).collect::<Vec<_>>().into());
    }
    print_with(|out| {
        for site in &sites {
            let guests = if site.guests { "guests" } else { "no guests" };
            let domain = site.domain().unwrap_or("-");
            writeln!(out, "{:<24} {:<9} {guests:<10} {domain:<24} {}", site.key, mode(site), site.name)?;
        }
        Ok(())
    })
}

fn show(site: &Site, json: bool, loaded: &Loaded) -> Outcome {
    let snippet = snippet(&site.key, site.public_url.clone().or_else(|| url_of_node(loaded)).as_ref());
    if json {
        let mut json = as_json(site);
        json["embed"] = json!(snippet);
        return print_json(&json);
    }
    print_with(|out| {
        writeln!(out, "key      {}\nname     {}\nmode     {}", site.key, site.name, mode(site))?;
        writeln!(out, "guests   {}", if site.guests { "yes" } else { "no" })?;
        writeln!(
            out,
            "origins  {}",
            if site.origins.is_empty() { "none".into() } else { site.origins.join(" ") }
        )?;
        writeln!(out, "domain   {}", site.domain().unwrap_or("none"))?;
        for line in keys::lines(site) {
            writeln!(out, "key of   {line}")?;
        }
        writeln!(out, "embed    {snippet}")?;
        for line in lines_of(&site.settings.document(), "") {
            writeln!(out, "setting  {line}")?;
        }
        Ok(())
    })
}

/// Changes all settings, or none if one is wrong. The record names the operator.
fn set(args: &SiteSet, store: &dyn Store) -> Outcome {
    let mut site = data_dir::site(store, &args.key)?;
    let profile = SiteProfile {
        name: args.name.clone(),
        mode: args.mode.map(domain_mode),
        guests: args.guests,
        origins: Some(&args.origins)
            .filter(|origins| !origins.is_empty())
            .map(|origins| origins.iter().filter(|origin| *origin != "none").cloned().collect()),
        public_url: args.public_url.clone().map(|url| Some(url).filter(|url| url != "none")),
        domain: None,
    };
    if profile != SiteProfile::default() {
        site = keys::change(store, &site, SiteChange::Profile(profile))?;
        if args.settings.is_empty() {
            return print_with(|out| {
                writeln!(out, "{}: changed; a running node applies it within a second", args.key)
            });
        }
    }
    let (mut after, mut patch) = (site.settings, json!({}));
    for setting in &args.settings {
        let known = format!("list all settings with `kith site show {}`", args.key);
        let Some((name, value)) = setting.split_once('=') else {
            let trouble = Trouble::new(format!("`{setting}` is not a setting"));
            return Err(trouble.because("settings have the form NAME=VALUE").remedy(known));
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
        .map_err(|refusal| Trouble::new("nothing was changed").because(refusal))
}

/// Sets or removes the XMPP domain, or prints it.
fn domain(args: &SiteDomain, loaded: &Loaded, store: &dyn Store) -> Outcome {
    let mut site = data_dir::site(store, &args.key)?;
    if let Some(domain) = &args.domain
        && let Some(slot) = data_dir::slot_of_domain(loaded, domain)?
        && slot != site.id.slot()
    {
        return Err(
            Trouble::new("nothing was changed").because(format!("another site has the domain {domain}"))
        );
    }
    if args.clear || args.domain.is_some() {
        let domain = Some(args.domain.as_deref().map(Into::into));
        site = keys::change(
            store,
            &site,
            SiteChange::Profile(SiteProfile { domain, ..SiteProfile::default() }),
        )?;
    }
    match site.domain() {
        Some(domain) => print_with(|out| writeln!(out, "{domain}")),
        None => Err(Trouble::new(format!("{} has no domain", args.key))
            .because("its key is no host name")
            .remedy(format!("set one: kith site domain {} garden.example", args.key))),
    }
}

/// Starts or ends raid mode: new members cannot write first or in rooms.
fn raid(args: &SiteRaid, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let now = crate::now();
    let until = if args.end { Timestamp(0) } else { Timestamp(now.0 + args.time.as_millis()) };
    act(store, site.id, ModeratorAct::Raid(until))?;
    print_with(|out| match args.end {
        true => writeln!(out, "{}: raid mode is off", args.key),
        false => writeln!(out, "{}: raid mode until {}", args.key, date(until)),
    })
}

/// Tests the filters of the site on a text.
fn test_filter(args: &SiteTestFilter, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    let filters = &site.settings.filters;
    let unreadable = |why| Trouble::new("cannot read the filter patterns of the site").because(why);
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
            Some(FilterAct::Flag) => "it would be sent and reported to moderators",
            Some(FilterAct::Hold) => "it would wait for a moderator",
            Some(FilterAct::Reject) => "it would be refused",
        };
        writeln!(out, "{outcome}")?;
        hits.iter()
            .try_for_each(|hit| writeln!(out, "{:<8} {:<8} {}", hit.act.word(), hit.kind.word(), hit.what))
    })
}

/// Each setting with its value, in the form of `kith site set`.
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

fn remove(args: &SiteRemove, store: &dyn Store) -> Outcome {
    let site = data_dir::site(store, &args.key)?;
    if !args.yes {
        return Err(Trouble::new(format!("{} was not removed", args.key))
            .because("this removes all its users and messages, and cannot be undone")
            .remedy(format!("to confirm: kith site remove {} --yes", args.key)));
    }
    store.remove_site(site.id).map_err(data_dir::unreadable)?;
    print_with(|out| writeln!(out, "{} is removed", args.key))
}

fn check_key(key: &str) -> Outcome {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=64).contains(&key.len()) && key.bytes().all(plain) {
        return Ok(());
    }
    Err(Trouble::new(format!("`{key}` is not a valid key of a site"))
        .because("a key has 1 to 64 of a-z, 0-9 and -")
        .remedy("for example: garden-forum"))
}

fn check_origin(origin: &str) -> Outcome {
    if is_origin(origin) {
        return Ok(());
    }
    Err(Trouble::new(format!("`{origin}` is not an origin"))
        .because("an origin has a scheme and a host in lower case, a port unless it is the default one, and no path")
        .remedy("for example: https://garden.example"))
}

fn snippet(key: &str, public_url: Option<&String>) -> String {
    let server = public_url.map_or("https://YOUR-KITH-SERVER", |url| url.trim_end_matches('/'));
    format!(
        "<script async src=\"{server}/kith.js\" data-site=\"{key}\" data-token-url=\"/kith-token\"></script>"
    )
}

fn as_json(site: &Site) -> Value {
    json!({
        "key": &*site.key,
        "name": site.name,
        "mode": mode(site),
        "guests": site.guests,
        "origins": site.origins,
        "public_url": site.public_url,
        "domain": site.domain(),
        "created": site.created.0,
        "secrets": keys::as_json(&site.secrets),
        "guest_keys": keys::as_json(&site.guest_keys),
        "settings": site.settings.document(),
    })
}

fn mode(site: &Site) -> &'static str {
    site.mode.word()
}

fn domain_mode(mode: SiteMode) -> Mode {
    match mode {
        SiteMode::Open => Mode::Open,
        SiteMode::Contacts => Mode::Contacts,
    }
}

/// The public URL of the configuration; else of the node that runs on this data; else its address.
fn url_of_node(loaded: &Loaded) -> Option<String> {
    if let Some(url) = &loaded.config.public_url {
        return Some(url.clone());
    }
    let data = std::fs::canonicalize(data_dir::locate(loaded, None).ok()?).ok()?;
    let node = run_file::running().into_iter().find(|node| node.data == data)?;
    Some(node.public_url.clone().unwrap_or_else(|| format!("http://{}", node.http)))
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
            guest_keys: vec![],
            public_url: None,
            domain: None,
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
