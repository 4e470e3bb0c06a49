//! The archive of a user, as sessions ask for it.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::scene;

use chat::messages::{ArchiveEnd, ArchiveOf, ArchiveQuery, MessageName};
use chat::*;
use scene::*;

fn query(of: ArchiveOf) -> ArchiveQuery {
    ArchiveQuery {
        of,
        start: None,
        end: None,
        after: None,
        before: None,
        from: ArchiveEnd::Oldest,
        limit: Some(2),
    }
}

/// The bodies of a page, each with its author and receiver.
fn read(
    scene: &Scene,
    device: &Device,
    command: messages::Command,
) -> Result<(Vec<String>, Option<String>), Refusal> {
    match scene.ask(device, Request::new(7, command)).as_slice() {
        [event!(Some(7), messages::Found { hits, next })] => {
            let line = |one: &std::sync::Arc<Message>| {
                format!("{}>{} {}", one.from, one.to.as_ref().map_or("", Sub::as_str), one.body)
            };
            Ok((hits.iter().map(line).collect(), next.clone()))
        }
        [event!(Some(7), session::Refused(refusal))] => Err(*refusal),
        other => panic!("no answer: {other:?}"),
    }
}

#[test]
fn a_client_reads_all_conversations_page_by_page() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob, carl] = ["ann", "bob", "carl"].map(|name| scene.sign_in(name, "d"));
    scene.post(&ann, to("bob"), "1", "one").unwrap();
    scene.post(&carl, to("ann"), "2", "two").unwrap();
    // An answer, so that neither is a pending request.
    scene.post(&ann, to("carl"), "3", "three").unwrap();
    scene.post(&carl, to("bob"), "4", "not hers").unwrap();
    let mut all = query(ArchiveOf::Direct);
    let (first, next) = read(&scene, &ann, messages::Command::Archive(all.clone())).unwrap();
    assert_eq!(first, ["ann>bob one", "carl>ann two"]);
    all.after = next.map(|next| next.parse().unwrap());
    assert_eq!(
        read(&scene, &ann, messages::Command::Archive(all)),
        Ok((vec!["ann>carl three".to_owned()], None))
    );
    let one = query(ArchiveOf::One(to("carl")));
    let (with_carl, next) = read(&scene, &ann, messages::Command::Archive(one)).unwrap();
    assert_eq!((with_carl.len(), next), (2, None));
    let nobody = messages::Command::Archive(query(ArchiveOf::One(to("zoe"))));
    assert_eq!(read(&scene, &bob, nobody), Err(Refusal::NoSuchUser));
    let beyond = ArchiveQuery { after: Some(1 << 40), ..query(ArchiveOf::Direct) };
    assert_eq!(read(&scene, &bob, messages::Command::Archive(beyond)), Err(Refusal::NoSuchMessage));
}

#[test]
fn a_message_is_found_at_once_by_the_id_of_its_author() {
    let scene = Scene::new(Mode::Open);
    let [ann, bob] = ["ann", "bob"].map(|name| scene.sign_in(name, "d"));
    scene.post(&ann, to("bob"), "1", "one").unwrap();
    let find = |device: &Device, name: MessageName, other: &str| {
        read(&scene, device, messages::Command::Find { to: to(other), name }).map(|(found, _)| found)
    };
    assert_eq!(find(&ann, MessageName::Mine("1".into()), "bob"), Ok(vec!["ann>bob one".to_owned()]));
    assert_eq!(find(&bob, MessageName::Theirs("1".into()), "ann"), Ok(vec!["ann>bob one".to_owned()]));
    assert_eq!(find(&bob, MessageName::Mine("1".into()), "ann"), Err(Refusal::NoSuchMessage));
    let many = messages::Command::AtPositions { positions: vec![1; messages::MOST_POSITIONS + 1] };
    assert_eq!(read(&scene, &bob, many), Err(Refusal::BadValue));
}

#[test]
fn queries_over_all_conversations_count_as_searches() {
    let limits =
        Limits { requests: RequestRates { user_per_minute: 8, ..RequestRates::UNLIMITED }, ..limits() };
    let scene = Scene::with(Mode::Open, NodeConfig { limits, ..config() }, store::Sqlite::in_memory());
    let ann = scene.sign_in("ann", "d");
    let outcomes: Vec<bool> = (0..8)
        .map(|_| read(&scene, &ann, messages::Command::Archive(query(ArchiveOf::All))).is_ok())
        .collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false), "{outcomes:?}");
}
