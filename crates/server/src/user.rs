//! `kith user`: the operator's view of the users of a site.

use chat::{Store, Sub, UserRow};
use serde_json::{Value, json};

use crate::cli::{UserCommand, UserList, UserOne};
use crate::config::Loaded;
use crate::data_dir::{self, wait};
use crate::trouble::Outcome;
use crate::{date, print_json, print_with};

/// Carries out one command.
pub(crate) fn run(command: &UserCommand, loaded: &Loaded) -> Outcome {
    match command {
        UserCommand::List(args) => list(args, loaded),
        UserCommand::Show(args) => show(args, loaded),
        UserCommand::Ban(args) => set_banned(args, loaded, true),
        UserCommand::Unban(args) => set_banned(args, loaded, false),
    }
}

fn list(args: &UserList, loaded: &Loaded) -> Outcome {
    let store = data_dir::open_existing(loaded, None)?;
    let site = data_dir::site(&*store, &args.site)?;
    let after = args.after.as_deref().and_then(Sub::parse);
    let users = store.list_users(site.id, after, args.limit).map_err(data_dir::unreadable)?;
    if args.output.json {
        return print_json(&users.iter().map(as_json).collect::<Vec<_>>().into());
    }
    print_with(|out| {
        for user in &users {
            let banned = if user.banned { "  banned" } else { "" };
            writeln!(out, "{:<32} {}{banned}", user.profile.sub, user.profile.name)?;
        }
        Ok(())
    })
}

fn show(args: &UserOne, loaded: &Loaded) -> Outcome {
    let store = data_dir::open_existing(loaded, None)?;
    let site = data_dir::site(&*store, &args.site)?;
    let user = data_dir::user(&*store, &site, &args.user)?;
    if args.output.json {
        return print_json(&as_json(&user));
    }
    print_with(|out| {
        writeln!(out, "user       {}\nname       {}", user.profile.sub, user.profile.name)?;
        writeln!(out, "avatar     {}", user.profile.avatar.as_deref().unwrap_or("none"))?;
        writeln!(out, "guest      {}\nbanned     {}", yes(user.profile.guest), yes(user.banned))?;
        writeln!(out, "created    {}\nlast seen  {}", date(user.created), date(user.last_seen))
    })
}

fn set_banned(args: &UserOne, loaded: &Loaded, banned: bool) -> Outcome {
    let store = data_dir::open_existing(loaded, None)?;
    let site = data_dir::site(&*store, &args.site)?;
    let user = data_dir::user(&*store, &site, &args.user)?;
    wait(|done| store.set_banned(user.id, banned, done))?;
    store.flush().map_err(data_dir::unreadable)?;
    if args.output.json {
        return print_json(&json!({ "site": args.site, "user": args.user, "banned": banned }));
    }
    print_with(|out| {
        writeln!(out, "{} is {}", args.user, if banned { "banned" } else { "not banned any more" })
    })
}

fn as_json(user: &UserRow) -> Value {
    json!({
        "user": user.profile.sub.as_str(),
        "name": &*user.profile.name,
        "avatar": user.profile.avatar.as_deref(),
        "guest": user.profile.guest,
        "banned": user.banned,
        "created": user.created.0,
        "last_seen": user.last_seen.0,
    })
}

fn yes(it: bool) -> &'static str {
    if it { "yes" } else { "no" }
}
