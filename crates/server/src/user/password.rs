//! `kith user set-password`, `passwords` and `revoke-password`: the app passwords of a user.

use std::io::{self, Read};

use chat::{
    AppCredentials, AppPassword, AppPasswordRow, AppPasswordStore, By, NewAppPassword, Site, Store, UserRow,
    app_password_name,
};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use store::Sqlite;

use crate::cli::{UserOne, UserRevokePassword, UserSetPassword};
use crate::config::Loaded;
use crate::data_dir::{self, wait};
use crate::trouble::{Outcome, Trouble};
use crate::{date, print_json, print_with};

/// More than the longest password and the end of its line.
const STDIN_BYTES: u64 = 1_024;

pub(super) fn set(args: &UserSetPassword, loaded: &Loaded) -> Outcome {
    let refused = || Trouble::new(format!("{} got no password", args.user.user));
    let name = app_password_name(&args.name)
        .ok_or_else(|| refused().because("a name has 1 to 64 bytes, without control characters"))?;
    let (store, site) = data_dir::open_site(loaded, None, &args.user.site)?;
    let user = data_dir::user(&*store, &site, &args.user.user)?;
    let password = match args.stdin {
        true => chosen()?,
        false => AppPassword::random(&mut StdRng::from_os_rng()),
    };
    let keys = credentials(&store, &site, &user)?.keys_of(&password);
    let new = NewAppPassword { name, keys, time: crate::now() };
    let row = wait(|done| store.add_app_password(user.id, new, By::Site, done))?
        .map_err(|why| refused().because(why))?;
    store.flush().map_err(data_dir::unreadable)?;
    let address = site.domain().map(|domain| format!("{}@{domain}", user.profile.sub.address_local()));
    // A chosen password is known, and stays off the screen.
    let shown = (!args.stdin).then(|| password.as_str());
    if args.user.output.json {
        let mut json = as_json(&row);
        (json["address"], json["password"]) = (json!(address), json!(shown));
        return print_json(&json);
    }
    print_with(|out| {
        writeln!(out, "number   {}", row.number)?;
        writeln!(out, "address  {}", address.as_deref().unwrap_or("none: the site has no domain"))?;
        let Some(shown) = shown else { return Ok(()) };
        writeln!(out, "password {shown}")?;
        writeln!(out, "         (It is shown only this once.)")
    })
}

fn chosen() -> Outcome<AppPassword> {
    let mut text = String::new();
    let refused = || Trouble::new("the password was not set");
    io::stdin()
        .lock()
        .take(STDIN_BYTES)
        .read_to_string(&mut text)
        .map_err(|error| refused().because(error).remedy("write the password to standard input"))?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    AppPassword::chosen(text).map_err(|why| {
        refused().because(why).remedy("leave --stdin out, and a random password is made and printed")
    })
}

fn credentials(store: &Sqlite, site: &Site, user: &UserRow) -> Outcome<AppCredentials> {
    let sub = user.profile.sub.clone();
    let stored = wait(|done| store.app_credentials(site.id, sub.clone(), done))?;
    let key = match stored.salt_key {
        Some(key) => key,
        None => wait(|done| store.salt_key(site.id, rand::random(), done))?,
    };
    Ok(AppCredentials::new(&key, &sub, stored.passwords))
}

pub(super) fn list(args: &UserOne, loaded: &Loaded) -> Outcome {
    let (store, site) = data_dir::open_site(loaded, None, &args.site)?;
    let user = data_dir::user(&*store, &site, &args.user)?;
    let rows = wait(|done| store.app_passwords(user.id, done))?;
    if args.output.json {
        return print_json(&rows.iter().map(as_json).collect::<Vec<_>>().into());
    }
    print_with(|out| {
        for row in &rows {
            let used = row.used.map_or("never".to_owned(), date);
            writeln!(out, "{:<6} made {}  used {used}  {}", row.number, date(row.created), row.name)?;
        }
        Ok(())
    })
}

pub(super) fn revoke(args: &UserRevokePassword, loaded: &Loaded) -> Outcome {
    let UserOne { site, user: id, output } = &args.user;
    let (store, site) = data_dir::open_site(loaded, None, site)?;
    let user = data_dir::user(&*store, &site, id)?;
    let done = wait(|done| store.revoke_app_password(user.id, args.number, By::Site, crate::now(), done))?;
    store.flush().map_err(data_dir::unreadable)?;
    let refused = || Trouble::new(format!("no password of {id} was revoked"));
    if !done.map_err(|why| refused().because(why))? {
        return Err(refused()
            .because(format!("{id} has no password {}", args.number))
            .remedy(format!("list them: kith user passwords --site {} {id}", site.key)));
    }
    if output.json {
        return print_json(&json!({ "user": id, "number": args.number, "revoked": true }));
    }
    print_with(|out| writeln!(out, "password {} of {id} is revoked", args.number))
}

fn as_json(row: &AppPasswordRow) -> Value {
    json!({
        "number": row.number,
        "name": row.name,
        "created": row.created.0,
        "used": row.used.map(|at| at.0),
    })
}
