//! A revocation between the two reads of a sign-in, on the threads of a store on disk.

use std::sync::{Arc, mpsc};

use chat::{
    AppPasswordStore, AppPasswordUser, By, ITERATIONS, NewAppPassword, ScramKeys, ScramPair, SignInStore,
    StoredKeys, UserRow,
};
use store::{Options, Sqlite};

use crate::asking::{Directory, NOW, PATIENCE, add_site, ask, put, since, sub};

/// The revocation is stored while the domain adds the session to its table. It found no session to end, so the sign-in must fail.
#[test]
fn a_password_revoked_during_the_sign_in_answers_none() {
    let directory = Directory::quick();
    let store = Arc::new(Sqlite::open(&directory.file(), Options::default()).expect("it opens"));
    let site = add_site(&*store, "forum");
    let ann = put(&*store, site, "ann");
    let scram = ScramKeys {
        sha1: ScramPair { stored: [1; 20], server: [2; 20] },
        sha256: ScramPair { stored: [3; 32], server: [4; 32] },
    };
    let keys = StoredKeys { iterations: ITERATIONS, scram, verifier: None };
    let new = NewAppPassword { name: "Phone".into(), keys, time: NOW };
    let row = ask(|done| store.add_app_password(ann, new, By::User(ann), done)).expect("she may");

    let number = row.number;
    let revoking = Arc::clone(&store);
    let met = move |row: &UserRow| {
        let by = By::User(row.id);
        assert_eq!(ask(|done| revoking.revoke_app_password(row.id, number, by, NOW, done)), Ok(true));
        true
    };
    let (answer, answered) = mpsc::channel();
    let user = AppPasswordUser { site, sub: sub("ann"), number };
    let done = Box::new(move |outcome| answer.send(outcome).expect("the test waits"));
    store.sign_in_with_app_password(user, since(None), NOW, Box::new(met), done);
    let outcome = answered.recv_timeout(PATIENCE).expect("the store answers each request");
    assert!(matches!(outcome, Ok(None)), "{:?}", outcome.map(|found| found.map(|(row, _)| row)));
}
