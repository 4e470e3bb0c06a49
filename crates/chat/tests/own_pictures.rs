//! Own pictures: who may have one, who sees a new one, and what a hostile member can cost others.

use crate::scene;

use std::sync::{Arc, Mutex};

use chat::items::{Command as Items, ItemAccess, ItemListChange, PutItem};
use chat::*;
use scene::*;
use store::Sqlite;

const LIST: &str = "avatar";

/// Keeps what it should make.
#[derive(Default)]
struct Wishes(Mutex<Vec<(UserId, PublishedPicture)>>);

impl PictureMaker for Wishes {
    fn wanted(&self, by: UserId, picture: PublishedPicture) -> Result<(), Refusal> {
        self.0.lock().unwrap().push((by, picture));
        Ok(())
    }
}

struct Studio {
    scene: Scene,
    wishes: Arc<Wishes>,
}

impl Studio {
    fn new(mode: Mode, config: NodeConfig) -> Studio {
        let scene = Scene::with(mode, config, Sqlite::in_memory());
        let wishes = Arc::<Wishes>::default();
        scene.node.pictures_by(wishes.clone());
        Studio { scene, wishes }
    }

    /// As the gateway of an app does. Answers whether the picture is made.
    fn publish(&self, by: &Device, bytes: &[u8]) -> Result<bool, Refusal> {
        let (list, id, payload) = (LIST.into(), "i".into(), "<a/>".into());
        let (requires, default) = (ItemListChange::default(), ItemAccess::Everybody);
        let put = Items::Put(PutItem { list, id, payload, requires, default });
        let version = match &*self.scene.ask(by, Request::new(9, put)) {
            [.., event!(account::Items(items::Event::Done { version: Some(version) }))] => *version,
            [event!(session::Refused(refusal))] => return Err(*refusal),
            other => panic!("{other:?}"),
        };
        let source = PictureSource { list: LIST.into(), version };
        let follow = account::Command::FollowPicture { source: source.clone() };
        if !self.is_wanted(by, follow)? {
            return Ok(false);
        }
        let picture = Box::new(PublishedPicture { source, bytes: bytes.into() });
        self.is_wanted(by, account::Command::MakePicture(picture)).map(|_| true)
    }

    fn is_wanted(&self, by: &Device, command: account::Command) -> Result<bool, Refusal> {
        for event in self.scene.ask(by, Request::new(9, command)) {
            match event {
                event!(Some(9), account::Picture { wanted }) => return Ok(wanted),
                event!(Some(9), session::Refused(refusal)) => return Err(refusal),
                _ => {}
            }
        }
        panic!("no answer")
    }

    /// Makes what waits. A picture that begins with `x` cannot be read.
    fn make(&self) {
        for (user, PublishedPicture { source, bytes }) in std::mem::take(&mut *self.wishes.0.lock().unwrap())
        {
            let kind = FileType::named("image/png");
            let made = (!bytes.starts_with(b"x")).then(|| MadePicture { kind, bytes: bytes.into() });
            self.scene.node.own_picture_made(user, source, made, |_| ());
        }
    }

    /// The pictures in new cards.
    fn seen(&self, by: &Device) -> Vec<Option<String>> {
        let cards = self.scene.take(by).into_iter().filter_map(|event| match event {
            event!(account::Card(card)) => Some(card.avatar.as_deref().map(str::to_owned)),
            _ => None,
        });
        cards.collect()
    }

    fn set(&self, pictures: &str) {
        let site = self.scene.store.sites().unwrap().remove(0);
        let settings = site.settings.with("members.pictures", pictures).unwrap();
        self.scene.store.set_settings(site.id, &settings).unwrap();
        self.scene.node.refresh_sites().unwrap();
    }

    fn bytes(&self, id: OwnPictureId) -> Result<Vec<u8>, Refusal> {
        let (sender, receiver) = std::sync::mpsc::channel();
        self.scene.node.own_picture(id, Box::new(move |found| sender.send(found).unwrap()));
        receiver.recv().unwrap().map(|(_, bytes)| bytes)
    }

    fn act(&self, act: Moderate) {
        let server = Caller::Site(SiteId(1));
        self.scene.node.moderate(&server, act, self.scene.now(), Box::new(|done| drop(done.unwrap())));
    }
}

fn sanction(user: &str, kind: SanctionKind) -> Moderate {
    Moderate::Sanction { user: sub(user), room: None, kind, until: Timestamp::MAX, reason: "Spam".into() }
}

fn own(user: &Device, bytes: &[u8]) -> Option<String> {
    Some(OwnPictureId::of(user.session.user, bytes).avatar().to_string())
}

#[test]
fn contacts_and_watchers_see_a_new_picture_and_a_blocked_user_does_not() {
    let mut studio = Studio::new(Mode::Open, config());
    let [ann, bob, eve] = ["ann", "bob", "eve"].map(|user| studio.scene.sign_in(user, "tab"));
    studio.scene.befriend(&ann, &bob);
    studio.scene.watch_contacts(&bob);
    studio.scene.watch(&eve, &["ann"]);
    studio.scene.wait(600);
    assert_eq!(studio.publish(&ann, b"a"), Ok(true));
    assert!(studio.seen(&bob).is_empty(), "it is not made yet");
    studio.make();
    let picture = own(&ann, b"a");
    let all = [&ann, &bob, &eve].map(|device| studio.seen(device));
    assert_eq!(all, [vec![picture.clone()], vec![picture.clone()], vec![picture]]);
    studio.scene.contact(&ann, ContactAction::Block, "eve").unwrap();
    studio.scene.wait(600);
    studio.scene.take(&eve);
    assert_eq!(studio.publish(&ann, b"b"), Ok(true));
    studio.make();
    assert_eq!((studio.seen(&bob), studio.seen(&eve)), (vec![own(&ann, b"b")], vec![]));
}

#[test]
fn an_invisible_member_is_not_revealed_by_a_new_picture() {
    let mut studio = Studio::new(Mode::Open, config());
    let [ann, bob] = ["ann", "bob"].map(|user| studio.scene.sign_in(user, "tab"));
    studio.scene.befriend(&ann, &bob);
    studio.scene.watch_contacts(&bob);
    studio.scene.watch(&bob, &["ann"]);
    studio.scene.command(&ann, presence::Command::Set(SetPresence::Invisible));
    studio.scene.wait(600);
    studio.scene.take(&bob);
    studio.publish(&ann, b"a").unwrap();
    studio.make();
    assert_eq!((studio.seen(&ann), studio.seen(&bob)), (vec![own(&ann, b"a")], vec![]));
}

#[test]
fn a_picture_that_cannot_be_read_ends_the_one_before() {
    let studio = Studio::new(Mode::Open, config());
    let ann = studio.scene.sign_in("ann", "tab");
    studio.publish(&ann, b"a").unwrap();
    studio.make();
    assert_eq!(studio.publish(&ann, b"x"), Ok(true));
    assert!(studio.seen(&ann).is_empty(), "nothing flickers in between");
    studio.make();
    assert_eq!(studio.seen(&ann), [None]);
    let long = vec![b'a'; PUBLISHED_PICTURE_BYTES + 1];
    assert_eq!(studio.publish(&ann, &long), Err(Refusal::BadValue));
    assert!(studio.wishes.0.lock().unwrap().is_empty());
}

#[test]
fn pictures_of_a_member_have_a_rate() {
    let mut config = config();
    config.limits.requests = RequestRates { user_per_minute: 240, ..RequestRates::UNLIMITED };
    let mut studio = Studio::new(Mode::Open, config);
    let ann = studio.scene.sign_in("ann", "tab");
    let made = |studio: &mut Studio| {
        (0..60_u8)
            .filter(|number| {
                studio.scene.wait(1_000);
                studio.publish(&ann, &[*number]).is_ok()
            })
            .count()
    };
    let (first, second) = (made(&mut studio), made(&mut studio));
    assert!(first <= 15 && second <= 12, "{first} and {second} of 60 in a minute");
    assert!(second >= 11, "{second}: the rate, and not an end");
}

#[test]
fn guests_and_muted_members_have_none_and_nobody_sees_that_of_a_shadow_banned_one() {
    let studio = Studio::new(Mode::Open, config());
    let guest = studio.scene.sign_in_guest("g");
    assert_eq!(studio.publish(&guest, b"a"), Err(Refusal::NotAllowed));
    let [ann, bob] = ["ann", "bob"].map(|user| studio.scene.sign_in(user, "tab"));
    studio.act(sanction("ann", SanctionKind::Mute));
    assert_eq!(studio.publish(&ann, b"a"), Err(Refusal::Muted));
    studio.act(sanction("bob", SanctionKind::Shadow));
    assert_eq!(studio.publish(&bob, b"a"), Err(Refusal::NotAllowed), "as every item that others read");
    assert!(studio.wishes.0.lock().unwrap().is_empty());
    let source = PictureSource { list: LIST.into(), version: 1 };
    let picture = Box::new(PublishedPicture { source, bytes: b"a"[..].into() });
    let forced = studio.is_wanted(&bob, account::Command::MakePicture(picture));
    assert_eq!(forced, Err(Refusal::NotAllowed));
}

#[test]
fn a_picture_that_was_made_after_a_ban_or_a_newer_item_is_dropped() {
    let studio = Studio::new(Mode::Open, config());
    let [ann, bob] = ["ann", "bob"].map(|user| studio.scene.sign_in(user, "tab"));
    studio.scene.watch(&bob, &["ann"]);
    studio.publish(&ann, b"a").unwrap();
    studio.publish(&ann, b"b").unwrap();
    studio.wishes.0.lock().unwrap().reverse();
    studio.make();
    assert_eq!(studio.seen(&bob), [own(&ann, b"b")], "the older one was made last");
    studio.act(Moderate::RemovePicture { user: sub("ann") });
    assert_eq!(studio.seen(&bob), [None]);
    assert_eq!(studio.bytes(OwnPictureId::of(ann.session.user, b"b")), Err(Refusal::NoSuchFile));
    studio.publish(&ann, b"c").unwrap();
    studio.act(sanction("ann", SanctionKind::Ban));
    studio.make();
    assert_eq!(studio.bytes(OwnPictureId::of(ann.session.user, b"c")), Err(Refusal::NoSuchFile));
}

#[test]
fn a_site_that_shows_none_makes_and_serves_none() {
    let studio = Studio::new(Mode::Open, config());
    let ann = studio.scene.sign_in("ann", "tab");
    studio.publish(&ann, b"a").unwrap();
    studio.make();
    let id = OwnPictureId::of(ann.session.user, b"a");
    assert_eq!(studio.bytes(id).as_deref(), Ok(&b"a"[..]));
    studio.set("off");
    assert_eq!(studio.bytes(id), Err(Refusal::NoSuchFile), "at once");
    assert_eq!(studio.publish(&ann, b"b"), Ok(false));
    studio.set("fallback");
    assert_eq!(studio.bytes(id), Err(Refusal::NoSuchFile), "the newer item has ended the older picture");
    assert_eq!(studio.bytes(OwnPictureId { site: SiteId(2), ..id }), Err(Refusal::NoSuchFile));
}
