//! The gateway of a front: the domain is on another node, which may answer a sign-in much later, or never.

use std::mem;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chat::{
    Hello, PortAnswer, PortNote, PortQuestion, PublishedSites, Refusal, RemoteNode, Request, SessionHandle,
    SessionId, SitesOfSlot, Timestamp,
};
use web::WebConfig;

use crate::scene::{CARRIERS, Carrier, Client, Scene};

/// A domain that answers nothing.
#[derive(Default)]
pub(crate) struct Silent {
    sites: Arc<PublishedSites>,
    pub(crate) signing_in: Mutex<Vec<SessionHandle>>,
    given_up: Mutex<Vec<SessionHandle>>,
    /// It is crowded as soon as it has got so many sign-ins.
    pub(crate) crowd: Mutex<Option<usize>>,
}

impl RemoteNode for Silent {
    fn sites(&self) -> Arc<PublishedSites> {
        Arc::clone(&self.sites)
    }

    fn is_crowded(&self) -> bool {
        self.crowd.lock().unwrap().is_some_and(|crowd| self.signing_in.lock().unwrap().len() >= crowd)
    }

    fn sign_in(&self, _: &Hello<'_>, handle: SessionHandle, _: Timestamp) {
        self.signing_in.lock().unwrap().push(handle);
    }

    fn gave_up(&self, handle: SessionHandle) {
        self.given_up.lock().unwrap().push(handle);
    }

    fn command(&self, _: SessionId, _: Request, _: Timestamp) {}

    fn disconnected(&self, _: SessionId, _: bool, _: Timestamp) {}

    fn behind(&self, _: SessionId) {}

    fn presence_missed(&self, _: SessionId) {}

    fn note(&self, _: PortNote) {}

    fn ask(&self, _: PortQuestion, then: Box<dyn FnOnce(Result<PortAnswer, Refusal>) + Send>) {
        then(Err(Refusal::Unavailable));
    }
}

impl Silent {
    pub(crate) fn scene() -> (Arc<Silent>, Scene) {
        let mut made = None;
        let scene = Scene::of_a_front(|node| {
            let sites = node.published_sites().into_iter().map(Arc::new).collect();
            let sites = PublishedSites::new([Some(&SitesOfSlot { sites, logs_sign_ins: false })]);
            let sites = Arc::new(sites);
            let silent = Arc::new(Silent { sites, ..Silent::default() });
            made = Some(Arc::clone(&silent));
            chat::Port::There(silent)
        });
        (made.unwrap(), scene)
    }

    /// The one sign-in of a client.
    fn one(&self) -> SessionHandle {
        let handles = mem::take(&mut *self.signing_in.lock().unwrap());
        assert_eq!(handles.len(), 1);
        handles[0]
    }

    fn given_up(&self) -> Vec<SessionHandle> {
        mem::take(&mut *self.given_up.lock().unwrap())
    }
}

#[test]
fn a_connection_that_closes_while_it_signs_in_gives_its_sign_in_up() {
    let (domain, mut scene) = Silent::scene();
    for carrier in CARRIERS {
        let hello = scene.hello("anna", "phone", None);
        let client = Client::open(&mut scene, carrier, &hello);
        let handle = domain.one();
        assert_eq!(domain.given_up(), [], "{carrier:?}: it waits");
        scene.reset(client.down);
        assert_eq!(domain.given_up(), [handle], "{carrier:?}");
    }
}

#[test]
fn a_connection_that_has_waited_too_long_gives_its_sign_in_up_once() {
    let (domain, mut scene) = Silent::scene();
    for carrier in CARRIERS {
        let hello = scene.hello("anna", "phone", None);
        let client = Client::open(&mut scene, carrier, &hello);
        let handle = domain.one();
        scene.wait(WebConfig::default().hello + Duration::from_secs(1));
        assert_eq!(domain.given_up(), [handle], "{carrier:?}");
        scene.reset(client.down);
        assert_eq!(domain.given_up(), [], "{carrier:?}");
    }
}

#[test]
fn a_connection_without_a_hello_has_nothing_to_give_up() {
    let (domain, mut scene) = Silent::scene();
    let line = scene.connect(0);
    scene.reset(line);
    let hello = scene.hello("anna", "phone", None);
    let mut client = Client::open(&mut scene, Carrier::WebSocket, &hello);
    domain.one();
    scene.end(client.down);
    domain.given_up();
    client = Client::open(&mut scene, Carrier::WebSocket, "no hello");
    scene.reset(client.down);
    assert_eq!(domain.given_up(), []);
}
