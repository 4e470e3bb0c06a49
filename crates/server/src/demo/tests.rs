//! The demo's pages as a browser asks for them, without a socket.

use axum::body::Body;
use axum::http::Request;
use store::Sqlite;
use tower::ServiceExt;

use super::*;

fn community() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(Sqlite::in_memory());
    settle(&*store, chat::Settings::of_new_site(), Community::Plain, crate::now())
        .expect("a database in memory takes everything");
    store
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

fn ask(store: &Arc<dyn Store>, request: Request<Body>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let response = routes(store.clone()).oneshot(request).await.expect("the router answers everything");
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 1 << 20).await.expect("the body is there");
        let body = String::from_utf8(bytes.to_vec()).expect("pages are UTF-8");
        Answer { status: parts.status, headers: parts.headers, body }
    })
}

fn open(path: &str) -> Answer {
    ask(&community(), Request::get(path).body(Body::empty()).expect("a request"))
}

#[test]
fn every_page_has_a_strict_policy_and_obeys_it() {
    for path in ["/", "/as/anna/", "/as/tom/thread/slugs", "/full/mei", "/visit/", "/visit/thread/compost"] {
        let answer = open(path);
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        let policy = answer.headers[CONTENT_SECURITY_POLICY].to_str().expect("ascii");
        assert!(
            policy.contains("require-trusted-types-for 'script'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(!answer.body.contains("style=\"") && !answer.body.contains("<style"), "{path}");
        for script in answer.body.split("<script").skip(1) {
            let nonce =
                script.split("nonce=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a nonce");
            assert!(policy.contains(&format!("'nonce-{nonce}'")), "{path}");
            assert!(script.contains("></script>"), "no script is inline");
        }
    }
}

#[test]
fn nonces_are_never_the_same() {
    let policy = |answer: Answer| answer.headers[CONTENT_SECURITY_POLICY].clone();
    assert_ne!(policy(open("/as/anna/")), policy(open("/as/anna/")));
}

#[test]
fn a_member_page_embeds_the_widget_with_the_address_of_the_token() {
    let body = open("/as/anna/").body;
    assert!(body.contains(
        "src=\"/kith.js\" data-site=\"demo\" data-user=\"anna\" data-token-url=\"/as/anna/kith-token\""
    ));
    assert!(body.contains("Open a second window as Tom"));
    assert!(open("/full/anna").body.contains("data-mode=\"inbox\""));
    assert!(!open("/visit/").body.contains("data-token-url"), "a guest has no token");
}

#[test]
fn the_token_names_the_member_and_is_signed_with_the_sites_secret() {
    let store = community();
    let answer = ask(&store, Request::post("/as/anna/kith-token").body(Body::empty()).expect("a request"));
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.headers[CACHE_CONTROL], "no-store");
    let json: serde_json::Value = serde_json::from_str(&answer.body).expect("json");
    let site = data_dir::site(&*store, SITE).expect("the site is there");
    let claims = jsonwebtoken::decode::<serde_json::Value>(
        json["token"].as_str().expect("a token"),
        &jsonwebtoken::DecodingKey::from_secret(&site.secrets[0].bytes),
        &jsonwebtoken::Validation::default(),
    )
    .expect("the signature holds")
    .claims;
    assert_eq!((claims["sub"].as_str(), claims["name"].as_str()), (Some("anna"), Some("Anna Lindqvist")));
}

#[test]
fn pages_of_other_sites_get_no_token() {
    let request = Request::post("/as/anna/kith-token").header("sec-fetch-site", "cross-site");
    let answer = ask(&community(), request.body(Body::empty()).expect("a request"));
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
}

#[test]
fn strangers_and_strange_addresses_are_not_found() {
    for path in ["/as/nobody/", "/as/anna/thread/none", "/full/nobody", "/demo/avatar/nobody.svg", "/nothing"]
    {
        assert_eq!(open(path).status, StatusCode::NOT_FOUND, "{path}");
    }
    assert_eq!(open("/as/anna").headers["location"], "/as/anna/");
}

#[test]
fn creating_the_community_twice_changes_nothing() {
    let store = community();
    let users = || {
        let site = data_dir::site(&*store, SITE).expect("the site is there");
        (store.list_users(site.id, None, 100).expect("users"), store.sites().expect("sites"))
    };
    let before = users();
    settle(&*store, chat::Settings::of_new_site(), Community::Plain, chat::Timestamp(1))
        .expect("nothing to do");
    assert_eq!(before, users());
    assert_eq!(before.0.len(), people::MEMBERS.len());
}

#[test]
fn anna_finds_unread_messages() {
    let store = community();
    let site = data_dir::site(&*store, SITE).expect("the site is there");
    let anna = data_dir::wait(|done| store.user(site.id, chat::Sub::parse("anna").expect("an id"), done));
    let anna = anna.expect("the store answers").expect("she is there");
    let page =
        data_dir::wait(|done| store.conversations(anna.id, chat::ConversationList::Main, None, 50, done))
            .expect("a page");
    assert_eq!(page.rows.len(), 4);
    assert_eq!(page.rows.iter().map(|row| row.unread).sum::<u64>(), 2 + 1);
    assert_eq!(page.rows[0].of.other().unwrap().profile.sub.as_str(), "tom");
}

#[test]
fn the_full_community_has_something_of_everything() {
    let folder = std::env::temp_dir().join(format!("kith-demo-{:016x}", rand::random::<u64>()));
    let blobs = store::Folder::open(&folder).expect("a folder of our own");
    let store: Arc<dyn Store> = Arc::new(Sqlite::in_memory());
    settle(&*store, chat::Settings::of_new_site(), Community::Full(&blobs), crate::now())
        .expect("all of it fits");
    let site = data_dir::site(&*store, SITE).expect("the site is there").id;
    let user = |id: &str| {
        data_dir::wait(|done| store.user(site, chat::Sub::parse(id).expect("an id"), done))
            .expect("the store answers")
            .expect("a member")
    };
    assert_eq!(user("ingrid").on_site.role, chat::SiteRole::Moderator);
    let anna = user("anna").id;
    let page =
        |list| data_dir::wait(|done| store.conversations(anna, list, None, 50, done)).expect("a page").rows;
    let main = page(chat::ConversationList::Main);
    let rooms: Vec<_> = main.iter().filter(|row| row.id.is_room()).map(|row| row.id).collect();
    assert_eq!(rooms.len(), 3);
    let contacts =
        data_dir::wait(|done| store.contacts(anna, None, 50, done)).expect("a page of contacts").rows;
    let states = |state| contacts.iter().filter(|row| row.state() == state).count();
    assert_eq!((states(chat::ContactState::Contact), states(chat::ContactState::RequestReceived)), (4, 1));
    let messages: Vec<_> = rooms
        .iter()
        .flat_map(|room| {
            let room = chat::RoomName::Id(*room);
            data_dir::wait(|done| store.room_history(room, anna, None, None, 50, done))
                .expect("the store answers")
                .expect("Anna is a member")
                .1
                .messages
        })
        .collect();
    let rich = |has: fn(&chat::Rich) -> bool| {
        messages.iter().filter(|one| one.rich.as_deref().is_some_and(has)).count()
    };
    assert_eq!((rich(|one| one.poll.is_some()), rich(|one| one.thread.is_some())), (1, 2));
    let files: Vec<_> = messages.iter().flat_map(|one| one.files.iter()).collect();
    assert_eq!(files.len(), 1);
    assert!(chat::Blobs::open(&blobs, files[0].id, chat::Rendition::Picture).is_ok());
    std::fs::remove_dir_all(folder).expect("it was ours");
}
