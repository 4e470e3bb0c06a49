//! Creates the demo community in an empty store.

use std::sync::Arc;

use chat::{
    Append, Blobs, ConversationId, MessageKind, Mode, Profile, Secret, SecretKind, Seq, Settings, Site,
    SiteId, Store, Sub, Timestamp, UserId,
};
use rand::RngCore;

use super::SITE;
use super::people::{MEMBERS, Member, TALKS, Talk, member};
use super::{showcase, stickers};
use crate::data_dir::wait;
use crate::trouble::{Outcome, Trouble};

/// Interval between two lines of a conversation.
const PACE_MS: u64 = 3 * 60_000;

/// The amount of demo data.
#[derive(Clone, Copy)]
pub(crate) enum Community<'a> {
    /// Direct conversations only: for load runs and tests, which begin with an empty site otherwise.
    Plain,
    /// Also rooms, contacts, requests, a moderator, and a picture, whose bytes go into this folder.
    Full(&'a dyn Blobs),
}

/// Creates the site, its members and their messages, unless the site exists already.
pub(crate) fn settle(
    store: &dyn Store,
    settings: Settings,
    community: Community<'_>,
    now: Timestamp,
) -> Outcome {
    let failed = |error: chat::StoreError| Trouble::new("cannot set up the demo community").because(error);
    let Some(site) = store.add_site(&site(settings, now)).map_err(failed)? else { return Ok(()) };
    for member in MEMBERS {
        put(store, site, member, now)?;
    }
    for talk in TALKS {
        append_conversation(store, site, talk, now)?;
    }
    if let Community::Full(blobs) = community {
        showcase::furnish(store, blobs, site, now)?;
    }
    for sticker in stickers::of(site, now) {
        // The flush waits for all of them.
        store.add_sticker(sticker, Box::new(|_| ()));
    }
    store.flush().map_err(failed)
}

fn site(settings: Settings, now: Timestamp) -> Site {
    let mut secret = [0; 32];
    rand::rng().fill_bytes(&mut secret);
    Site {
        id: SiteId(0),
        key: SITE.into(),
        name: "Millbrook Allotments".into(),
        mode: Mode::Open,
        guests: true,
        // Its pages are the server's own.
        origins: Vec::new(),
        secrets: vec![Secret::new(SecretKind::Hs256, secret.to_vec(), now)],
        guest_keys: vec![crate::site::keys::new_secret(now)],
        public_url: None,
        domain: None,
        settings,
        created: now,
    }
}

fn put(store: &dyn Store, site: SiteId, member: &Member, now: Timestamp) -> Outcome<UserId> {
    let profile = Profile {
        sub: Sub::parse(member.id).expect("the ids of our members are valid, as a test says"),
        name: member.name.into(),
        avatar: Some(Arc::from(member.avatar())),
        guest: false,
    };
    wait(|done| store.put_user(site, profile, now, done)).map(|row| row.id)
}

fn append_conversation(store: &dyn Store, site: SiteId, talk: &Talk, now: Timestamp) -> Outcome {
    let mut last = None;
    for (index, (by, body)) in talk.lines.iter().enumerate() {
        let from = user(store, site, by, now)?;
        let other = talk.lines.iter().map(|(id, _)| *id).find(|id| id != by);
        let to = user(store, site, other.expect("a talk has two sides, as a test says"), now)?;
        let conversation = ConversationId::direct(from, to).expect("two users of one site");
        let later_lines = (talk.lines.len() - 1 - index) as u64;
        let message = Append {
            kind: MessageKind::Text,
            conversation,
            from,
            client_id: format!("demo-{index}-{by}-{}", talk.minutes_ago).into(),
            body: (*body).into(),
            extension: None,
            time: Timestamp(now.0.saturating_sub(talk.minutes_ago * 60_000 + later_lines * PACE_MS)),
            reply_to: None,
            rich: None,
        };
        let appended = wait(|done| store.append(message, done))?;
        last = Some((conversation, to, from, appended.seq));
    }
    let Some((conversation, reader, writer, newest)) = last else { return Ok(()) };
    let read = Seq(newest.0.saturating_sub(talk.unread as u64));
    wait(|done| store.mark(conversation, reader, newest, read, done))?;
    wait(|done| store.mark(conversation, writer, newest, newest, done))?;
    Ok(())
}

fn user(store: &dyn Store, site: SiteId, id: &str, now: Timestamp) -> Outcome<UserId> {
    put(store, site, member(id).expect("everybody who speaks is a member, as a test says"), now)
}
