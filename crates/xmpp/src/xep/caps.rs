//! Entity Capabilities (XEP-0115, XEP-0390): which lists of items a client wants (XEP-0163 §4.3, features that end in `+notify`), and
//! the hash of this server's features.
//!
//! A client announces a hash. If the worker does not know it, the client is asked for the features behind it (XEP-0030). An answer with
//! that hash is kept for all sessions of the worker; another one holds for its session alone, so no client can speak for others.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use xmpp_proto::ns;
use xmpp_proto::payload::caps::Caps;
use xmpp_proto::payload::disco::Info;
use xmpp_proto::xml::{Element, Limits, Open, document};

use crate::extensions::{Extension, Spec};
use crate::gateway::Gateway;
use crate::session::{Flags, Turn};
use crate::xep::disco;

pub(crate) const EXTENSION: Extension = Extension {
    spec: Spec::Xep(115),
    name: "Entity Capabilities",
    version: "1.6.0",
    scenario: "caps",
    server_features: &[ns::CAPS],
    account_features: &[],
    iq: &[],
};

pub(crate) const VERSION_2: Extension = Extension {
    spec: Spec::Xep(390),
    name: "Entity Capabilities 2.0",
    version: "0.3.2",
    scenario: "caps",
    server_features: &[ns::CAPS_2],
    account_features: &[],
    iq: &[],
};

/// XEP-0115 §4: names the software.
const NODE: &str = "https://kith.chat";
/// Lists that one client may want, and the longest name: an entry of the cache has at most 4 KiB.
const MOST_WANTED: usize = 32;
const MOST_NAME_BYTES: usize = 128;
/// Entries of each half of the cache.
const MOST_CACHED: usize = 1_024;
/// Other hashes that one session may announce: each costs a question, or a read of the latest items. After that the lists stay.
const MOST_QUESTIONS: u8 = 8;

/// Names of lists, sorted.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Wanted(Vec<Box<str>>);

impl Wanted {
    fn of(info: &Info<'_>) -> Wanted {
        let names = info.features.iter().filter_map(|feature| feature.strip_suffix("+notify"));
        let mut names: Vec<Box<str>> =
            names.filter(|name| name.len() <= MOST_NAME_BYTES).map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        names.truncate(MOST_WANTED);
        Wanted(names)
    }

    pub(crate) fn has(&self, list: &str) -> bool {
        self.0.binary_search_by(|one| (**one).cmp(list)).is_ok()
    }

    pub(crate) fn names(&self) -> &[Box<str>] {
        &self.0
    }
}

/// What clients with a hash want, and the hashes of this server. Of two halves the older one is dropped when the newer one is full.
#[derive(Default)]
pub(crate) struct Cache {
    newer: HashMap<Caps, Arc<Wanted>>,
    older: HashMap<Caps, Arc<Wanted>>,
    /// None: not computed yet.
    of_server: Option<Option<Arc<[Caps; 2]>>>,
}

impl Cache {
    fn find(&mut self, caps: &Caps) -> Option<Arc<Wanted>> {
        if let Some(found) = self.newer.get(caps) {
            return Some(found.clone());
        }
        let found = self.older.remove(caps)?;
        self.keep(caps.clone(), found.clone());
        Some(found)
    }

    fn keep(&mut self, caps: Caps, wanted: Arc<Wanted>) {
        if self.newer.len() >= MOST_CACHED {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(caps, wanted);
    }
}

/// A question to the client about its hash.
pub(crate) struct Question {
    id: Box<str>,
    caps: Caps,
}

impl Turn<'_, '_> {
    /// Finds out what the client wants. A presence without a hash changes nothing.
    pub(crate) fn learn_caps(&mut self, presence: Element<'_>) {
        let Some(caps) = Caps::of(presence) else { return };
        let known = self.gateway.caps.find(&caps);
        let is_same = match &known {
            Some(known) => self.session.wanted.as_ref().is_some_and(|wanted| Arc::ptr_eq(wanted, known)),
            None => self.session.question().is_some_and(|question| question.caps == caps),
        };
        if is_same || self.session.questions >= MOST_QUESTIONS {
            return;
        }
        self.session.questions += 1;
        if let Some(wanted) = known {
            self.session.take_question();
            return self.wants(&wanted);
        }
        let id = format!("caps-{}", self.push_id());
        let (from, to) = (self.domain().to_owned(), self.session.jid.as_str().to_owned());
        let node = caps.node();
        self.session.ask_caps(Question { id: id.as_str().into(), caps });
        self.send(|out| {
            let iq = Open::new(out, "iq").attr("type", "get").attr("id", &id).attr("from", &from);
            iq.attr("to", &to).children(|out| {
                Open::new(out, "query").attr("xmlns", ns::DISCO_INFO).attr("node", &node).empty();
            });
        });
    }

    /// The client's answer to the question. False: the stanza is another answer.
    pub(crate) fn caps_answered(&mut self, iq: Element<'_>) -> bool {
        let is_answer = self.session.question().is_some_and(|question| iq.attr("id") == Some(&question.id));
        let Some(question) = is_answer.then(|| self.session.take_question()).flatten() else { return false };
        let Some(query) = iq.child("query", ns::DISCO_INFO) else { return true };
        let Some(info) = Info::of(query) else { return true };
        let wanted = Arc::new(Wanted::of(&info));
        if question.caps.is_of(query) {
            self.gateway.caps.keep(question.caps, wanted.clone());
        }
        self.wants(&wanted);
        true
    }

    fn wants(&mut self, wanted: &Arc<Wanted>) {
        let before = self.session.wanted.replace(wanted.clone());
        // Lists that the domain has in another form.
        self.session.set(Flags::BOOKMARKS, self.session.has(Flags::BOOKMARKS) || wanted.has(ns::BOOKMARKS));
        let wants_list = self.session.has(Flags::STORED_BOOKMARKS) || wanted.has(ns::BOOKMARKS_OLD);
        self.session.set(Flags::STORED_BOOKMARKS, wants_list);
        self.session.set(Flags::DISPLAYED, self.session.has(Flags::DISPLAYED) || wanted.has(ns::DISPLAYED));
        let known = before.unwrap_or_default();
        let lists = wanted.names().iter().filter(|list| !known.has(list)).cloned().collect();
        self.send_latest_items(lists, None);
    }
}

impl Gateway {
    /// The hashes of this server, which are the same for all domains. None: its features have none.
    pub(crate) fn server_caps(&mut self) -> Option<Arc<[Caps; 2]>> {
        let files = self.shared.config.files.as_deref();
        let hashes = self.caps.of_server.get_or_insert_with(|| {
            let mut out = Vec::new();
            disco::write_server(&mut out, None, files);
            let tree = document(&out, &Limits::default()).ok()?;
            Caps::of_server(NODE, tree.root()).map(Arc::new)
        });
        hashes.clone()
    }

    /// Whether this node of service discovery is one of the hashes of this server (XEP-0115 §6.2).
    pub(crate) fn is_caps_node(&mut self, node: &str) -> bool {
        self.server_caps().is_some_and(|hashes| hashes.iter().any(|caps| caps.node() == node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caps(number: usize) -> Caps {
        let xml = format!("<p><c xmlns='{}' hash='sha-1' node='n' ver='{number}'/></p>", ns::CAPS);
        let tree = document(xml.as_bytes(), &Limits::default()).unwrap();
        Caps::of(tree.root()).unwrap()
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_used() {
        let mut cache = Cache::default();
        for number in 0..10 * MOST_CACHED {
            cache.keep(caps(number), Arc::default());
            assert!(cache.newer.len() <= MOST_CACHED && cache.older.len() <= MOST_CACHED);
            assert!(cache.find(&caps(0)).is_some(), "it is in use");
        }
        assert!(cache.find(&caps(1)).is_none());
    }

    #[test]
    fn a_client_wants_a_bounded_number_of_lists() {
        let features: Vec<String> = (0..100).map(|number| format!("urn:x:{number:03}+notify")).collect();
        let long = format!("{}+notify", "x".repeat(MOST_NAME_BYTES + 1));
        let mut all: Vec<&str> = features.iter().map(String::as_str).collect();
        all.extend(["urn:x:000", &long]);
        let wanted = Wanted::of(&Info { node: None, identities: Vec::new(), features: all });
        assert_eq!(wanted.names().len(), MOST_WANTED);
        assert!(wanted.has("urn:x:000") && !wanted.has("urn:x:099"));
    }
}
