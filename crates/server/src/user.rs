//! `kith user`: administration of a site's users.

mod password;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use chat::{
    By, ERASE_SLICE, EraseStore, GuestProof, Level, Merge, MergeStore, MessagesAfterErasure, ModerationStore,
    ModeratorAct, NewErasure, OwnPictureId, Sanction, SanctionKind, SiteRole, Store, Sub, Timestamp, UserRow,
    UserStore, token,
};
use serde_json::{Value, json};

use crate::cli::{
    Role, TrustLevel, UserBan, UserCommand, UserErase, UserLevel, UserList, UserMerge, UserOne, UserRole,
    UserShadow,
};
use crate::config::Loaded;
use crate::data_dir::{self, wait};
use crate::trouble::{Outcome, Trouble};
use crate::{date, print_json, print_with};

/// Runs one command.
pub(crate) fn run(command: &UserCommand, loaded: &Loaded) -> Outcome {
    match command {
        UserCommand::List(args) => list(args, loaded),
        UserCommand::Show(args) => show(args, loaded),
        UserCommand::Ban(args) => ban(args, loaded),
        UserCommand::Unban(args) => unban(args, loaded),
        UserCommand::Erase(args) => erase(args, loaded),
        UserCommand::Merge(args) => merge(args, loaded),
        UserCommand::Role(args) => set_role(args, loaded),
        UserCommand::ShadowBan(args) => shadow_ban(args, loaded),
        UserCommand::LiftShadowBan(args) => {
            let lift = |user| ModeratorAct::Lift { user, room: None, kind: SanctionKind::Shadow };
            let user = moderate(args, loaded, lift)?;
            report(args, &user, "is not shadow-banned any more")
        }
        UserCommand::Level(args) => set_level(args, loaded),
        UserCommand::SetPassword(args) => password::set(args, loaded),
        UserCommand::Passwords(args) => password::list(args, loaded),
        UserCommand::RevokePassword(args) => password::revoke(args, loaded),
    }
}

fn list(args: &UserList, loaded: &Loaded) -> Outcome {
    let (store, site) = data_dir::open_site(loaded, None, &args.site)?;
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
    let (store, site) = data_dir::open_site(loaded, None, &args.site)?;
    let user = data_dir::user(&*store, &site, &args.user)?;
    if args.output.json {
        return print_json(&as_json(&user));
    }
    print_with(|out| {
        writeln!(out, "user       {}\nname       {}", user.profile.sub, user.profile.name)?;
        let (avatar, picture) = pictures(&user);
        writeln!(out, "avatar     {}", avatar.or(picture.as_deref()).unwrap_or("none"))?;
        writeln!(out, "guest      {}\nbanned     {}", yes(user.profile.guest), yes(user.banned))?;
        writeln!(out, "role       {}\nmuted      {}", user.on_site.role.word(), yes(user.on_site.muted))?;
        let set = if user.on_site.fixed { " (set by a moderator)" } else { "" };
        writeln!(out, "level      {}{set}", user.on_site.level.word())?;
        writeln!(out, "shadow ban {}", yes(user.on_site.shadowed))?;
        writeln!(out, "created    {}\nlast seen  {}", date(user.created), date(user.last_seen))
    })
}

fn ban(args: &UserBan, loaded: &Loaded) -> Outcome {
    let until = args.time.map_or(Timestamp::MAX, |time| Timestamp(crate::now().0 + time.as_millis()));
    let (reason, kind) = (args.reason.as_str().into(), SanctionKind::Ban);
    if args.devices {
        // A running node bans the devices of present sessions; this marks the user, so that devices of later attempts are banned, too.
        moderate(&args.user, loaded, |user| ModeratorAct::BanDevices { user, devices: vec![0], until })?;
    }
    let user = moderate(&args.user, loaded, |user| {
        ModeratorAct::Sanction(Sanction { user, room: None, kind, until, reason, notified: true })
    })?;
    report(&args.user, &user, "is banned")
}

fn unban(args: &UserOne, loaded: &Loaded) -> Outcome {
    let lift = |user| ModeratorAct::Lift { user, room: None, kind: SanctionKind::Ban };
    let user = moderate(args, loaded, lift)?;
    report(args, &user, "is not banned any more")
}

fn set_role(args: &UserRole, loaded: &Loaded) -> Outcome {
    let role = match args.role {
        Role::Member => SiteRole::Member,
        Role::Moderator => SiteRole::Moderator,
        Role::Admin => SiteRole::Admin,
    };
    let user = moderate(&args.user, loaded, |user| ModeratorAct::SetRole(user, role))?;
    report(&args.user, &user, &format!("is {} now", role.word()))
}

/// Erases everything here; a node on the same data ends the sessions, and completes the work of a killed command.
fn erase(args: &UserErase, loaded: &Loaded) -> Outcome {
    let UserOne { site, user: id, output } = &args.user;
    if !args.yes {
        return Err(Trouble::new(format!("{id} was not erased"))
            .because("this removes the user's profile, contacts and memberships, and cannot be undone")
            .remedy(format!("to confirm: kith user erase --site {site} {id} --yes")));
    }
    let (store, site) = data_dir::open_site(loaded, None, site)?;
    let user = data_dir::user(&*store, &site, id)?;
    let alias = format!("deleted-{:016x}", rand::random::<u64>());
    let erasure = NewErasure {
        user: user.id,
        alias: Sub::parse(&alias).expect("letters and a hyphen are a sub"),
        name: site.settings.members.deleted_name.as_str().into(),
        messages: if args.keep_messages { MessagesAfterErasure::Kept } else { MessagesAfterErasure::Erased },
        by: By::Site,
        time: crate::now(),
    };
    wait(|done| store.begin_erasure(erasure, done))?
        .map_err(|_| Trouble::new(format!("{id} was erased before")))?;
    while wait(|done| store.erase_some(crate::now(), ERASE_SLICE, done))?.more {}
    store.flush().map_err(data_dir::unreadable)?;
    if output.json {
        return print_json(&json!({ "user": id, "erased": true, "now": alias }));
    }
    print_with(|out| writeln!(out, "{id} is erased"))
}

fn shadow_ban(args: &UserShadow, loaded: &Loaded) -> Outcome {
    let until = args.time.map_or(Timestamp::MAX, |time| Timestamp(crate::now().0 + time.as_millis()));
    let (reason, kind) = (args.reason.as_str().into(), SanctionKind::Shadow);
    let user = moderate(&args.user, loaded, |user| {
        ModeratorAct::Sanction(Sanction { user, room: None, kind, until, reason, notified: true })
    })?;
    report(&args.user, &user, "is shadow-banned")
}

fn set_level(args: &UserLevel, loaded: &Loaded) -> Outcome {
    let level = match args.level {
        TrustLevel::New => Some(Level::New),
        TrustLevel::Basic => Some(Level::Basic),
        TrustLevel::Trusted => Some(Level::Trusted),
        TrustLevel::Auto => None,
    };
    let user = moderate(&args.user, loaded, |user| ModeratorAct::SetLevel(user, level))?;
    report(&args.user, &user, level.map_or("has the level of their age and activity", Level::word))
}

fn merge(args: &UserMerge, loaded: &Loaded) -> Outcome {
    let UserMerge { site, guest_token_file, account, output } = args;
    let (store, site) = data_dir::open_site(loaded, None, site)?;
    let refused = |why: &str| Trouble::new(format!("no guest was merged into {account}")).because(why);
    let token = read_token(guest_token_file)?;
    let skew_ms = loaded.config.tokens.clock_skew.as_millis();
    let guest = GuestProof::verify(token.trim(), &site, crate::now(), skew_ms)
        .map_err(|refusal| refused(&format!("the guest's token: {refusal}")))?;
    let user = Sub::parse(account).ok_or_else(|| refused("an id has 1 to 128 bytes"))?;
    let id = guest.sub().clone();
    let merge = Merge { guest, user, by: By::Site, time: crate::now() };
    wait(|done| store.merge_guest(merge, done))?.map_err(|refusal| refused(&refusal.to_string()))?;
    store.flush().map_err(data_dir::unreadable)?;
    if output.json {
        return print_json(&json!({ "guest": id.as_str(), "user": account, "merged": true }));
    }
    print_with(|out| writeln!(out, "{id} is now {account}"))
}

/// Not an argument, because every process of the machine can read arguments.
fn read_token(file: &Path) -> Outcome<String> {
    let limit = token::MAX_BYTES as u64 + 2;
    let mut text = String::new();
    let read = match file.to_str() {
        Some("-") => io::stdin().lock().take(limit).read_to_string(&mut text),
        _ => File::open(file).and_then(|file| file.take(limit).read_to_string(&mut text)),
    };
    read.map_err(|error| {
        Trouble::new(format!("cannot read {}", file.display()))
            .because(error)
            .remedy("name a file with the guest's token, or - for standard input")
    })?;
    Ok(text)
}

/// Acts for the operator, and returns the changed user.
fn moderate(
    args: &UserOne,
    loaded: &Loaded,
    act: impl FnOnce(chat::UserId) -> ModeratorAct,
) -> Outcome<UserRow> {
    let (store, site) = data_dir::open_site(loaded, None, &args.site)?;
    let user = data_dir::user(&*store, &site, &args.user)?;
    let done = wait(|done| store.moderate(site.id, By::Site, act(user.id), crate::now(), done))?;
    store.flush().map_err(data_dir::unreadable)?;
    match done {
        Ok(done) => Ok(done.user.unwrap_or(user)),
        Err(refusal) => Err(Trouble::new(format!("{} was not changed", args.user)).because(refusal)),
    }
}

fn report(args: &UserOne, user: &UserRow, what: &str) -> Outcome {
    if args.output.json {
        return print_json(&as_json(user));
    }
    print_with(|out| writeln!(out, "{} {what}", args.user))
}

/// The address that the site gives, or the path of the picture that the user has set in an app.
fn pictures(user: &UserRow) -> (Option<&str>, Option<String>) {
    let avatar = user.profile.avatar.as_deref();
    let own = avatar.and_then(|avatar| OwnPictureId::of_avatar(user.id.site, avatar));
    (avatar.filter(|_| own.is_none()), own.map(web::own_picture_path))
}

fn as_json(user: &UserRow) -> Value {
    let (avatar, picture) = pictures(user);
    json!({
        "user": user.profile.sub.as_str(),
        "name": &*user.profile.name,
        "avatar": avatar,
        "picture": picture,
        "guest": user.profile.guest,
        "banned": user.banned,
        "role": user.on_site.role.word(),
        "muted": user.on_site.muted,
        "shadow_banned": user.on_site.shadowed,
        "level": user.on_site.level.word(),
        "level_is_set": user.on_site.fixed,
        "created": user.created.0,
        "last_seen": user.last_seen.0,
    })
}

fn yes(it: bool) -> &'static str {
    if it { "yes" } else { "no" }
}
