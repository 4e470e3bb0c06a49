//! Users who hide from others send them no signal of their presence.

use crate::scene;

use chat::*;
use scene::{Device, Scene, event, sub, to};

fn welcome(device: Device) -> Delivery {
    let event = Event::Session(session::Event::Welcome(Box::new(device.welcome)));
    Delivery { re: None, position: None, event }
}

/// Every signal that others receive of a user whose client does everything that it does by itself: sign-in,
/// typing, receiving, reading, being in a call.
fn signals_of_all_that_clients_do(hide: impl Fn(&mut Scene, &Device), are_contacts: bool) -> Vec<Signal> {
    let mut scene = Scene::new(Mode::Open);
    let (tom, ann) = (scene.sign_in("tom", "t"), scene.sign_in("ann", "a"));
    if are_contacts {
        scene.befriend(&tom, &ann);
    }
    hide(&mut scene, &ann);
    scene.wait(1_000);
    let room = CreateRoomFor { scene: &scene, owner: &tom, member: &ann }.make();
    let (direct, _) = scene.post(&tom, to("ann"), "1", "hi").expect("tom may write");
    scene.post(&tom, To::Conversation(room), "2", "hi all").expect("tom owns the room");
    scene.leave(&ann);
    scene.wait(1_000);
    scene.take(&tom);
    scene.command(&tom, presence::Command::Watch { contacts: true, users: vec![sub("ann")] });

    let ann = scene.sign_in("ann", "a");
    scene.wait(1_000);
    for conversation in [direct, room] {
        scene.command(&ann, messages::Command::Typing { to: To::Conversation(conversation), on: true });
        let set = MarkerSet::Received(Seq(1));
        scene.command(&ann, messages::Command::Mark { conversation, set });
        scene.command(&ann, messages::Command::Mark { conversation, set: MarkerSet::Read(Seq(1)) });
    }
    let page = PageOf::default();
    for ask in [
        Request::new(
            1,
            messages::Command::ListConversations { list: ConversationList::Main, page: page.clone() },
        ),
        Request::new(1, contacts::Command::List { page: page.clone() }),
        Request::new(1, contacts::Command::ListPeople { query: None, page: page.clone() }),
        Request::new(1, contacts::Command::Profiles { users: vec![sub("ann")] }),
        Request::new(
            1,
            rooms::Command::ListMembers {
                conversation: room,
                list: MemberList::Members,
                query: Some("ann".into()),
                page,
            },
        ),
        Request::new(1, sign_in::Command::Resume { position: None }),
        Request::new(
            1,
            messages::Command::ChangeConversation {
                conversation: direct,
                change: ConversationChange::default(),
            },
        ),
    ] {
        scene.command(&tom, ask);
    }
    let mut heard = scene.take(&tom);
    scene.leave(&ann);
    scene.wait(20_000);
    heard.extend(scene.ask(&tom, Request::new(1, account::Command::Profile { user: Some(sub("ann")) })));
    heard.push(welcome(scene.sign_in("tom", "t2")));
    let mut signals = Vec::new();
    for event in &heard {
        signals.extend(event.event.signal().filter(|signal| !signals.contains(signal)));
    }
    signals
}

struct CreateRoomFor<'a> {
    scene: &'a Scene,
    owner: &'a Device,
    member: &'a Device,
}

impl CreateRoomFor<'_> {
    fn make(self) -> ConversationId {
        let create = Request::new(
            1,
            rooms::Command::Create {
                name: "Bikers".into(),
                kind: RoomKind::Public,
                topic: None,
                alias: None,
            },
        );
        let id = match self.scene.ask(self.owner, create).as_slice() {
            [event!(messages::Conversation(conversation))] => conversation.id,
            other => panic!("no room but {other:?}"),
        };
        self.scene.ask(self.member, Request::new(2, rooms::Command::Join { to: To::Conversation(id) }));
        id
    }
}

fn hide_from(who: Audience) -> impl Fn(&mut Scene, &Device) {
    move |scene, ann| {
        let change = ProfileChange { presence: Some(who), ..ProfileChange::default() };
        scene.ask(ann, Request::new(3, account::Command::ChangeProfile { change: Box::new(change) }));
    }
}

fn invisible(scene: &mut Scene, ann: &Device) {
    scene.command(ann, presence::Command::Set(SetPresence::Invisible));
}

#[test]
fn hidden_users_send_no_signals() {
    assert_eq!(signals_of_all_that_clients_do(hide_from(Audience::Nobody), true), []);
    assert_eq!(signals_of_all_that_clients_do(hide_from(Audience::Contacts), false), []);
}

#[test]
fn contacts_receive_permitted_signals() {
    let heard = signals_of_all_that_clients_do(hide_from(Audience::Contacts), true);
    for signal in [Signal::Presence, Signal::LastSeen, Signal::Typing, Signal::Marker, Signal::RoomTyping] {
        assert!(heard.contains(&signal), "{signal:?} of {heard:?}");
    }
}

/// The time of the last connection is from before they became invisible.
#[test]
fn invisible_users_send_no_signals() {
    let heard = signals_of_all_that_clients_do(invisible, true);
    assert_eq!(heard.into_iter().filter(|signal| *signal != Signal::LastSeen).collect::<Vec<_>>(), []);
}

#[test]
fn typing_of_strangers_requires_an_accepted_conversation() {
    let scene = Scene::new(Mode::Open);
    let site = scene.store.sites().unwrap().remove(0);
    let mut settings = site.settings;
    settings.requests.on = true;
    scene.store.set_settings(site.id, &settings).unwrap();
    scene.node.refresh_sites().unwrap();
    let (tom, ann) = (scene.sign_in("tom", "t"), scene.sign_in("ann", "a"));
    let types = || {
        scene.take(&ann);
        scene.command(&tom, messages::Command::Typing { to: to("ann"), on: true });
        scene.take(&ann).len()
    };
    assert_eq!(types(), 0, "there is no conversation");
    let (id, _) = scene.post(&tom, to("ann"), "1", "hello").unwrap();
    assert_eq!(types(), 0, "it waits for an answer");
    scene.ask(&ann, Request::new(1, Command::answer_request(id, RequestAnswer::Accept)));
    assert_eq!(types(), 1);
}

#[test]
fn a_hidden_callee_is_not_busy() {
    for (who, outcome) in [(Audience::Everybody, Outcome::Busy), (Audience::Nobody, Outcome::Missed)] {
        let mut scene = Scene::new(Mode::Open);
        let [tom, ann, bob] = ["tom", "ann", "bob"].map(|name| scene.sign_in(name, name));
        scene.befriend(&tom, &ann);
        scene.befriend(&bob, &ann);
        hide_from(who)(&mut scene, &ann);
        let call = |by: &Device| {
            let action = CallAction::Invite { user: sub("ann"), media: Media::Audio, offer: "v=0".into() };
            scene.ask(by, Request::new(1, calls::Command::Direct { action }))
        };
        call(&bob);
        let heard = call(&tom);
        let over = heard.iter().find_map(|event| match event {
            event!(calls::Call(call)) => match &call.news {
                CallNews::Over { outcome, .. } => Some(*outcome),
                _ => None,
            },
            _ => None,
        });
        assert_eq!(over, Some(outcome), "{heard:?}");
    }
}

#[test]
fn lists_hide_stored_markers_after_a_block() {
    for mode in [Mode::Open, Mode::Contacts] {
        let scene = Scene::new(mode);
        let (tom, ann) = (scene.sign_in("tom", "t"), scene.sign_in("ann", "a"));
        scene.befriend(&tom, &ann);
        let (direct, seq) = scene.post(&tom, to("ann"), "1", "hi").expect("they are contacts");
        scene.command(&ann, messages::Command::Mark { conversation: direct, set: MarkerSet::Read(seq) });
        let seen = |scene: &Scene, re| {
            let list = ConversationList::Main;
            let listed = scene.ask(
                &tom,
                Request::new(re, messages::Command::ListConversations { list, page: PageOf::default() }),
            );
            let resumed = scene.ask(&tom, Request::new(re, sign_in::Command::Resume { position: None }));
            let fresh = welcome(scene.sign_in("tom", "t2"));
            let events = listed.into_iter().chain(resumed).chain([fresh]);
            events.filter(|event| event.event.signal() == Some(Signal::Marker)).count()
        };
        scene.take(&tom);
        assert_eq!(seen(&scene, 2), 3, "{mode:?}: Tom sees that it was read");
        scene.contact(&ann, ContactAction::Block, "tom").expect("she may");
        scene.leave(&ann);
        scene.take(&tom);
        assert_eq!(seen(&scene, 3), 0, "{mode:?}");
    }
}
