//! Reports, sanctions and the record: the port's promises about moderation.

use chat::{
    Append, By, LeftReason, LinkRule, MessageRequest, MessagesAfterErasure, Moderated, ModeratorAct,
    NewErasure, NewReport, NewRoom, NoticeKind, Post, Refusal, Relation, ReportAbout, ReportReason,
    ReportState, RequestAnswer, RequestNotice, RequestRules, Requested, Role, RoleClaim, RoomKind,
    RoomLimits, RoomName, Sanction, SanctionKind, Seq, Settings, Side, SiteId, SiteRole, Standing, Store,
    Timestamp, TokenUser, UserId, UserRow,
};

use crate::asking::{NOW, add_site, ask, direct, message, profile, put, snapshot, sub};
use crate::{FRIENDS, STRANGERS, relate, two_users};

const RULES: RequestRules = RequestRules { messages: 2, per_day: 2, links: LinkRule::Refused, begin: Ok(()) };
const HOUR: u64 = 3_600_000;

fn later(ms: u64) -> Timestamp {
    Timestamp(NOW.0 + ms)
}

fn write(store: &dyn Store, from: UserId, to: UserId, id: &str, body: &str) -> Result<Requested, Refusal> {
    write_at(store, from, to, id, body, NOW)
}

fn write_at(
    store: &dyn Store,
    from: UserId,
    to: UserId,
    id: &str,
    body: &str,
    time: Timestamp,
) -> Result<Requested, Refusal> {
    let append = Append { time, ..message(from, to, id, body) };
    ask(|done| store.append_request(append, RULES, done))
}

fn seen(store: &dyn Store, user: UserId, other: UserId) -> chat::ConversationRow {
    ask(|done| store.conversation(user, direct(user, other), done)).expect("it exists")
}

fn answer(store: &dyn Store, user: UserId, other: UserId, answer: RequestAnswer) -> Result<bool, Refusal> {
    let answered = ask(|done| store.answer_request(direct(user, other), user, answer, done));
    answered.map(|answered| answered.changed)
}

fn user(store: &dyn Store, id: UserId) -> UserRow {
    ask(|done| store.users_by_id(vec![id], done)).remove(0)
}

pub(crate) fn act(store: &dyn Store, site: SiteId, by: By, what: ModeratorAct) -> Result<Moderated, Refusal> {
    ask(|done| store.moderate(site, by, what, NOW, done))
}

fn moderator(store: &dyn Store, site: SiteId, id: &str, role: SiteRole) -> UserId {
    let user = put(store, site, id);
    act(store, site, By::Site, ModeratorAct::SetRole(user, role)).expect("the site may everything");
    user
}

fn sanction(user: UserId, kind: SanctionKind, until: Timestamp) -> ModeratorAct {
    ModeratorAct::Sanction(Sanction {
        user,
        room: None,
        kind,
        until,
        reason: "Insults".into(),
        notified: true,
    })
}

fn room(store: &dyn Store, owner: UserId, kind: RoomKind) -> chat::ConversationId {
    let new = NewRoom { name: "Bikers".into(), kind, topic: None, alias: None };
    ask(|done| store.create_room(owner, new, RoomLimits::default(), NOW, done)).expect("it is made").row.id
}

fn post(store: &dyn Store, room: chat::ConversationId, from: UserId, id: &str) -> Result<Seq, Refusal> {
    let post = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(room),
        from,
        client_id: id.into(),
        body: "hello".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: None,
    };
    ask(|done| store.post(post, RoomLimits::default(), done)).map(|posted| posted.appended.seq)
}

fn join(store: &dyn Store, room: chat::ConversationId, user: UserId) -> Result<(), Refusal> {
    ask(|done| store.join_room(RoomName::Id(room), user, RoomLimits::default(), NOW, done)).map(drop)
}

pub(crate) fn a_stranger_asks_until_the_other_one_answers(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    let first = write(store, ann, bob, "1", "Hello @bob").expect("a stranger may ask");
    assert!(first.pending && first.appended.seq == Seq(1));
    let RequestNotice::Request(told) = first.notice else { panic!("it is new") };
    assert_eq!((told.request, told.unread, told.mentions), (Some(MessageRequest::Received), 1, 1));
    assert_eq!(told, Box::new(seen(store, bob, ann)));
    let again = write(store, ann, bob, "1", "Hello @bob").expect("it was stored");
    assert!(again.appended.repeated && again.pending && again.appended.seq == Seq(1));
    let second = write(store, ann, bob, "2", "It is about the bike").expect("two are allowed");
    assert!(matches!(second.notice, RequestNotice::Message) && second.pending);
    assert_eq!(write(store, ann, bob, "3", "?").err(), Some(Refusal::RequestPending));
    assert_eq!(seen(store, ann, bob).request, Some(MessageRequest::Sent));
    let reply = write(store, bob, ann, "1", "Which one? See www.bikes.example")
        .expect("who was asked may everything");
    assert!(!reply.pending && matches!(reply.notice, RequestNotice::Message));
    assert_eq!((seen(store, ann, bob).request, seen(store, bob, ann).request), (None, None));
    let on = write(store, ann, bob, "3", "www.bikes.example/3").expect("they know each other");
    assert!(!on.pending && on.appended.seq == Seq(4));
}

pub(crate) fn a_request_has_no_links_now_or_later(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    assert_eq!(write(store, ann, bob, "1", "see evil.com").err(), Some(Refusal::FirstContact));
    assert!(ask(|done| store.conversation(bob, direct(ann, bob), done)).is_none(), "nothing was stored");
    write(store, ann, bob, "1", "Hello").expect("no link");
    let edit = |by: UserId, body: &str| {
        let change = chat::ChangeMessage {
            conversation: direct(ann, bob),
            seq: Seq(1),
            by,
            change: chat::MessageChange::edit(body),
            time: NOW,
        };
        ask(|done| store.change_message(change, done)).map(|changed| changed.changed)
    };
    assert_eq!(edit(ann, "see https://evil.com"), Err(Refusal::FirstContact));
    assert_eq!(edit(ann, "Hello!"), Ok(true));
    answer(store, bob, ann, RequestAnswer::Accept).expect("he was asked");
    assert_eq!(edit(ann, "see https://fine.com"), Ok(true));
}

pub(crate) fn a_request_does_not_show_whether_it_was_read(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    write(store, ann, bob, "1", "Hello").expect("a stranger may ask");
    let read = ask(|done| store.mark(direct(ann, bob), bob, Seq(1), Seq(1), done));
    assert!(read.moved && !read.notifies_other);
    let row = seen(store, ann, bob);
    assert_eq!((row.their_received, row.their_read), (Seq(0), Seq(0)));
    assert_eq!(answer(store, bob, ann, RequestAnswer::Accept), Ok(true));
    let row = seen(store, ann, bob);
    assert_eq!((row.their_received, row.their_read), (Seq(1), Seq(1)), "now they know each other");
    assert_eq!(answer(store, bob, ann, RequestAnswer::Accept), Ok(false), "it is none any more");
}

pub(crate) fn a_dismissed_asker_reaches_nobody(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    write(store, ann, bob, "1", "Hello").expect("a stranger may ask");
    assert_eq!(answer(store, ann, bob, RequestAnswer::Accept), Err(Refusal::NotAllowed), "not by oneself");
    let position = snapshot(store, ann, None).position;
    assert_eq!(answer(store, bob, ann, RequestAnswer::Dismiss), Ok(true));
    assert_eq!(answer(store, bob, ann, RequestAnswer::Dismiss), Ok(false));
    let of_ann = snapshot(store, ann, Some(position));
    assert!(of_ann.conversations.rows.is_empty(), "nothing has changed for who has asked");
    let second = write(store, ann, bob, "2", "Are you there?").expect("she does not know");
    assert!(matches!(second.notice, RequestNotice::Nothing) && second.pending);
    let row = seen(store, bob, ann);
    assert!(row.archived && row.request == Some(MessageRequest::Received), "{row:?}");
    write(store, bob, ann, "1", "Yes").expect("he may change his mind");
    let row = seen(store, bob, ann);
    assert!(!row.archived && row.request.is_none());
}

pub(crate) fn contacts_wait_for_no_answer(store: &dyn Store) {
    let (_, ann, bob) = two_users(store);
    write(store, ann, bob, "1", "Hello").expect("a stranger may ask");
    let asked = Relation { of_a: Side::REQUESTED, of_b: Side::ASKS };
    relate(store, ann, bob, asked).expect("there is room");
    assert_eq!(seen(store, bob, ann).request, Some(MessageRequest::Received));
    relate(store, bob, ann, FRIENDS).expect("there is room");
    assert_eq!((seen(store, ann, bob).request, seen(store, bob, ann).request), (None, None));
    relate(store, ann, bob, STRANGERS).expect("there is room");
    let on = write(store, ann, bob, "2", "still here").expect("they knew each other");
    assert!(!on.pending);
}

pub(crate) fn a_user_begins_so_many_a_day(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let [carl, dora] = ["carl", "dora"].map(|id| put(store, site, id));
    for (number, other) in [bob, carl].into_iter().enumerate() {
        write(store, ann, other, &number.to_string(), "Hello").expect("two a day");
    }
    assert_eq!(write(store, ann, dora, "5", "Hello").err(), Some(Refusal::TooManyRequests));
    write(store, ann, bob, "6", "still you").expect("it is no new one");
    write(store, bob, dora, "1", "Hello").expect("each has their own measure");
    let tomorrow = later(25 * HOUR);
    write_at(store, ann, dora, "5", "Hello", tomorrow).expect("a day has passed");
}

pub(crate) fn a_report_keeps_the_messages(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    for number in 1..=8 {
        crate::asking::say(store, bob, ann, &number.to_string(), &format!("line {number}"));
    }
    let new =
        |by, about| NewReport { by, about, reason: ReportReason::Abuse, text: "look".into(), time: NOW };
    let report = |by, about| ask(|done| store.report(new(by, about), done));
    let of_message = ReportAbout::Message(direct(ann, bob), Seq(7));
    let (row, is_new) = report(ann, of_message).expect("she can read it");
    assert!(is_new && row.state == ReportState::Open && row.number == 1);
    assert_eq!((&row.user, &row.by), (&Some(sub("bob")), &Some(sub("ann"))));
    let lines: Vec<u64> = row.lines.iter().map(|line| line.seq.0).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8]);
    let edit = chat::ChangeMessage {
        conversation: direct(ann, bob),
        seq: Seq(7),
        by: bob,
        change: chat::MessageChange::edit("nothing at all"),
        time: NOW,
    };
    ask(|done| store.change_message(edit, done)).expect("it is his");
    assert_eq!(report(ann, of_message).map(|(row, is_new)| (row.number, is_new)), Ok((1, false)));
    let page = ask(|done| store.reports(site, By::User(mia), Some(ReportState::Open), None, 10, done));
    let page = page.expect("she looks after them");
    assert_eq!(&*page.rows[0].lines[5].body, "line 7", "as it was then");
    let refused = ask(|done| store.reports(site, By::User(ann), None, None, 10, done));
    assert_eq!(refused.err(), Some(Refusal::NotAllowed));
    let stranger = put(store, site, "eve");
    assert_eq!(report(stranger, of_message).err(), Some(Refusal::NoSuchConversation));
    let none = ReportAbout::Message(direct(ann, bob), Seq(9));
    assert_eq!(report(ann, none).err(), Some(Refusal::NoSuchMessage));
    let hidden = room(store, bob, RoomKind::Private);
    assert_eq!(report(ann, ReportAbout::Room(hidden)).err(), Some(Refusal::NoSuchConversation));
    assert_eq!(report(ann, ReportAbout::User(bob)).map(|(row, _)| row.number), Ok(2));
    let first = ask(|done| store.reports(site, By::Site, None, None, 1, done)).expect("the site may");
    assert_eq!((first.rows[0].number, first.next.is_some()), (2, true));
    let second = ask(|done| store.reports(site, By::Site, None, first.next, 1, done)).expect("the site may");
    assert_eq!((second.rows[0].number, second.next), (1, None));
}

/// An author who edits or deletes a message at once removes no evidence, for a week.
pub(crate) fn a_report_keeps_former_bodies(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let id = direct(ann, bob);
    for number in 1..=5 {
        crate::asking::say(store, bob, ann, &number.to_string(), &format!("insult {number}"));
    }
    let change = |seq, change, ms| {
        let wanted =
            chat::ChangeMessage { conversation: id, seq: Seq(seq), by: bob, change, time: later(ms) };
        ask(|done| store.change_message(wanted, done)).expect("it is his");
    };
    let edit = |seq, body: &str, ms| change(seq, chat::MessageChange::edit(body), ms);
    let report = |seq, ms| {
        let about = ReportAbout::Message(id, Seq(seq));
        let new = NewReport { by: ann, about, reason: ReportReason::Abuse, text: "".into(), time: later(ms) };
        ask(|done| store.report(new, done)).map(|(row, _)| row)
    };
    let said = |row: &chat::ReportRow| -> Vec<String> {
        let now = row.lines.iter().find(|line| line.seq.0 == 2).map(|line| line.body.to_string());
        row.former.iter().map(|one| one.body.to_string()).chain(now).collect()
    };
    edit(2, "second thoughts", 10);
    edit(2, "nothing", 20);
    let row = report(2, 30).expect("she can read it");
    assert_eq!(said(&row), ["insult 2", "second thoughts", "nothing"]);
    assert_eq!(row.former.iter().map(|one| one.until).collect::<Vec<_>>(), [later(10), later(20)]);
    edit(2, "harmless", 40);
    let page = ask(|done| store.reports(site, By::User(mia), None, None, 10, done)).expect("she looks");
    assert_eq!(page.rows[0], row, "and it stays");

    change(3, chat::MessageChange::Delete, 50);
    let row = report(3, 60).expect("it was there a moment ago");
    assert_eq!((row.user.clone(), &*row.former[0].body), (Some(sub("bob")), "insult 3"));
    let line = row.lines.iter().find(|line| line.seq.0 == 3).expect("its place is shown");
    assert_eq!(&*line.body, "");
    let around: Vec<u64> = report(4, 70).expect("it is there").lines.iter().map(|line| line.seq.0).collect();
    assert_eq!(around, [1, 2, 4, 5], "beside the reported one, what was taken back is gone");
    change(5, chat::MessageChange::Delete, 80);
    assert_eq!(report(5, 81 + chat::EVIDENCE_MS), Err(Refusal::NoSuchMessage), "a week later it is too late");
    assert_eq!(report(1, 81 + chat::EVIDENCE_MS).expect("unchanged").former, []);

    let erasure = chat::NewErasure {
        user: bob,
        alias: sub("deleted-1"),
        name: "Deleted user".into(),
        messages: chat::MessagesAfterErasure::Erased,
        by: By::Site,
        time: later(90),
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("he exists");
    let erase = || -> chat::EraseSlice { ask(|done| store.erase_some(later(90), 10, done)) };
    assert!((0..50).any(|_| !erase().more), "it comes to an end");
    let evidence = || -> Vec<(u64, usize, usize)> {
        let rows =
            ask(|done| store.reports(site, By::User(mia), None, None, 10, done)).expect("she looks").rows;
        let words = |row: &chat::ReportRow| row.lines.iter().filter(|line| !line.body.is_empty()).count();
        rows.iter().rev().map(|row| (row.number, row.former.len(), words(row))).collect()
    };
    let before = evidence();
    assert_eq!(
        before.iter().map(|(_, former, _)| *former).collect::<Vec<_>>(),
        [2, 1, 0, 0],
        "open reports keep it"
    );
    assert!(before.iter().all(|(.., words)| *words > 0));
    assert_eq!(report(3, 100), Err(Refusal::NoSuchMessage), "an erased message cannot be reported again");
    act(store, site, By::User(mia), ModeratorAct::CloseReport(1, "Banned".into())).expect("it is open");
    assert_eq!(evidence()[0], (1, 0, 0), "a closed report keeps no words of an erased user");
    assert_eq!(evidence()[1..], before[1..]);
    let month = 90 + chat::EVIDENCE_AFTER_ERASURE_MS;
    let next = || store.next_sanction_end().expect("the store works");
    assert_eq!(next(), Some(later(month)));
    ask(|done| store.end_sanctions(later(month - 1), done));
    assert_eq!(evidence()[1..], before[1..]);
    ask(|done| store.end_sanctions(later(month), done));
    assert!(
        evidence().iter().all(|(_, former, words)| (*former, *words) == (0, 0)),
        "nor does an open one in the end"
    );
    assert_eq!(next(), None);
}

/// A report about another user keeps no words of an erased user, and none that the erased user wrote to the moderators.
pub(crate) fn reports_about_others_keep_no_words_of_an_erased_user(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    for (number, from, to) in [(1, ann, bob), (2, bob, ann), (3, ann, bob)] {
        crate::asking::say(store, from, to, &number.to_string(), &format!("line {number}"));
    }
    let about = ReportAbout::Message(direct(ann, bob), Seq(2));
    let new = NewReport { by: ann, about, reason: ReportReason::Abuse, text: "My secret".into(), time: NOW };
    ask(|done| store.report(new, done)).expect("she can read it");
    erase(store, ann, "deleted-1");
    let row =
        ask(|done| store.reports(site, By::Site, None, None, 10, done)).expect("the site may").rows.remove(0);
    let bodies: Vec<&str> = row.lines.iter().map(|line| &*line.body).collect();
    assert_eq!((bodies, &*row.text), (vec!["", "line 2", ""], ""));
}

fn erase(store: &dyn Store, user: UserId, alias: &str) {
    let name = "Deleted user".into();
    let erasure = NewErasure {
        user,
        alias: sub(alias),
        name,
        messages: MessagesAfterErasure::Erased,
        by: By::User(user),
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("they exist");
    let some = || -> chat::EraseSlice { ask(|done| store.erase_some(NOW, 10, done)) };
    assert!((0..50).any(|_| !some().more), "it comes to an end");
}

/// A user cannot escape a mute, a shadow ban or a ban by an erasure.
pub(crate) fn sanctions_hold_for_the_next_user_with_the_same_id(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let place = room(store, ann, RoomKind::Public);
    join(store, place, bob).expect("it is open");
    let day = later(24 * HOUR);
    let site_act = |what| act(store, site, By::Site, what).expect("the site may everything");
    site_act(sanction(bob, SanctionKind::Mute, day));
    site_act(sanction(bob, SanctionKind::Warning, Timestamp::MAX));
    let of_room = Sanction {
        user: bob,
        room: Some(place),
        kind: SanctionKind::Ban,
        until: day,
        reason: "".into(),
        notified: true,
    };
    site_act(ModeratorAct::Sanction(of_room));
    erase(store, bob, "deleted-1");
    let again = put(store, site, "bob");
    assert_ne!(again, bob);
    let row = user(store, again);
    assert!(row.on_site.muted && !row.banned, "the mute holds");
    assert_eq!(join(store, place, again), Err(Refusal::RoomBanned));
    assert!(!user(store, put(store, site, "eve")).on_site.muted, "others are free");
    let told: Vec<NoticeKind> = ask(|done| store.notices(again, done)).iter().map(|one| one.kind).collect();
    assert!(!told.contains(&NoticeKind::Warning), "a warning is over");
    let (ended, _) = ask(|done| store.end_sanctions(day, done));
    assert_eq!(ended.len(), 2);
    assert!(!user(store, again).on_site.muted, "it ends as it would have");
    assert_eq!(join(store, place, again), Ok(()));

    site_act(sanction(again, SanctionKind::Ban, Timestamp::MAX));
    erase_as_site(store, again, "deleted-2");
    let third = put(store, site, "bob");
    assert!(user(store, third).banned, "a ban holds where the site erases, too");
    site_act(ModeratorAct::Lift { user: third, room: None, kind: SanctionKind::Ban });
    erase(store, third, "deleted-3");
    assert!(!user(store, put(store, site, "bob")).banned, "a lifted ban is over");
}

fn erase_as_site(store: &dyn Store, user: UserId, alias: &str) {
    let name = "Deleted user".into();
    let erasure = NewErasure {
        user,
        alias: sub(alias),
        name,
        messages: MessagesAfterErasure::Kept,
        by: By::Site,
        time: NOW,
    };
    ask(|done| store.begin_erasure(erasure, done)).expect("they exist");
}

pub(crate) fn a_report_is_taken_closed_and_opened_again(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let new = NewReport {
        by: ann,
        about: ReportAbout::User(bob),
        reason: ReportReason::Spam,
        text: "".into(),
        time: NOW,
    };
    let number = ask(|done| store.report(new.clone(), done)).expect("he is there").0.number;
    let by = By::User(mia);
    let state = |what| act(store, site, by, what).map(|done| done.report.expect("it was about one"));
    let taken = state(ModeratorAct::TakeReport(number)).expect("it is there");
    assert_eq!((taken.state, taken.moderator), (ReportState::Taken, Some(sub("mia"))));
    let closed = state(ModeratorAct::CloseReport(number, "Warned him".into())).expect("it is there");
    assert_eq!((closed.state, &*closed.note), (ReportState::Closed, "Warned him"));
    let (anew, is_new) = ask(|done| store.report(new, done)).expect("he is there");
    assert!(is_new && anew.number == number + 1, "what is closed is over");
    let opened = state(ModeratorAct::ReopenReport(number)).expect("it is there");
    assert_eq!((opened.state, opened.moderator), (ReportState::Open, None));
    assert_eq!(state(ModeratorAct::TakeReport(99)).err(), Some(Refusal::NoSuchReport));
    let not_hers = act(store, site, By::User(ann), ModeratorAct::TakeReport(number));
    assert_eq!(not_hers.err(), Some(Refusal::NotAllowed));
}

/// A moderator can neither close a report about themselves nor take it from other moderators.
pub(crate) fn moderators_cannot_close_reports_about_themselves(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let noah = moderator(store, site, "noah", SiteRole::Moderator);
    let new = NewReport {
        by: ann,
        about: ReportAbout::User(mia),
        reason: ReportReason::Abuse,
        text: "".into(),
        time: NOW,
    };
    let number = ask(|done| store.report(new, done)).expect("she is there").0.number;
    let listed = |by, state| {
        let page = ask(|done| store.reports(site, by, state, None, 9, done)).expect("one may look");
        page.rows.iter().map(|row| row.number).collect::<Vec<u64>>()
    };
    for state in [None, Some(ReportState::Open)] {
        assert!(listed(By::User(mia), state).is_empty(), "nor reads who has reported them");
        assert_eq!((listed(By::User(noah), state), listed(By::Site, state)), (vec![number], vec![number]));
    }
    let state =
        |by, what| act(store, site, by, what).map(|done| done.report.expect("it was about one").state);
    for what in [
        ModeratorAct::TakeReport(number),
        ModeratorAct::CloseReport(number, "Nothing here".into()),
        ModeratorAct::ReopenReport(number),
        ModeratorAct::Approved(number),
        ModeratorAct::RefuseHeld(number, "".into()),
    ] {
        assert_eq!(state(By::User(mia), what), Err(Refusal::NotAllowed));
    }
    assert_eq!(state(By::User(noah), ModeratorAct::TakeReport(number)), Ok(ReportState::Taken));
    let close = ModeratorAct::CloseReport(number, "".into());
    assert_eq!(state(By::Site, close), Ok(ReportState::Closed), "the site's server may");
    assert_eq!(state(By::User(mia), ModeratorAct::ReopenReport(number)), Err(Refusal::NotAllowed));
}

pub(crate) fn open_reports_of_one_user_are_bounded(store: &dyn Store) {
    let (site, ann, _) = two_users(store);
    let others: Vec<UserId> =
        (0..=chat::MOST_OPEN_REPORTS).map(|n| put(store, site, &format!("u{n}"))).collect();
    let report = |user| {
        let about = ReportAbout::User(user);
        let new = NewReport { by: ann, about, reason: ReportReason::Other, text: "".into(), time: NOW };
        ask(|done| store.report(new, done)).map(|(row, _)| row.number)
    };
    let (last, first) = others.split_last().expect("there are some");
    assert!(first.iter().all(|user| report(*user).is_ok()));
    assert_eq!(report(*last), Err(Refusal::TooManyReports));
}

pub(crate) fn a_sanction_holds_until_its_end_and_has_a_notice(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let revision = || store.revision().expect("the store works");
    let before = revision();
    let by = By::User(mia);
    let muted = act(store, site, by, sanction(bob, SanctionKind::Mute, later(HOUR))).expect("she may");
    let row = muted.user.expect("it was about one");
    assert!(row.on_site.muted && row.on_site.noticed && !row.banned && row == user(store, bob));
    assert_ne!(revision(), before, "other processes learn of it");
    assert_eq!(store.standings().expect("the store works").len(), 2, "mia and bob");
    let notices = ask(|done| store.notices(bob, done));
    let [notice] = &notices[..] else { panic!("{notices:?}") };
    let expected = (NoticeKind::Mute, Some(later(HOUR)), "Insults");
    assert_eq!((notice.kind, notice.until, &*notice.reason), expected);
    act(store, site, by, sanction(ann, SanctionKind::Ban, later(2 * HOUR))).expect("she may");
    assert!(user(store, ann).banned && store.banned().expect("the store works") == [ann]);

    let (ended, next) = ask(|done| store.end_sanctions(later(HOUR - 1), done));
    assert!(ended.is_empty() && next == Some(later(HOUR)));
    let (ended, next) = ask(|done| store.end_sanctions(later(HOUR), done));
    assert_eq!((ended.len(), ended[0].user.id, ended[0].kind), (1, bob, SanctionKind::Mute));
    assert!(!ended[0].user.on_site.muted && next == Some(later(2 * HOUR)));
    let (ended, next) = ask(|done| store.end_sanctions(later(3 * HOUR), done));
    assert_eq!((ended[0].user.id, ended[0].user.banned, next), (ann, false, None));
    assert!(ask(|done| store.notices(bob, done)).is_empty());
}

pub(crate) fn a_warning_stays_until_it_is_seen(store: &dyn Store) {
    let (site, _, bob) = two_users(store);
    act(store, site, By::Site, sanction(bob, SanctionKind::Warning, NOW)).expect("the site may");
    assert!(user(store, bob).on_site.noticed && !user(store, bob).on_site.muted);
    ask(|done| store.end_sanctions(later(HOUR), done));
    assert_eq!(ask(|done| store.notices(bob, done))[0].until, None);
    ask(|done| store.notices_seen(bob, done));
    assert!(!user(store, bob).on_site.noticed && ask(|done| store.notices(bob, done)).is_empty());
}

pub(crate) fn nobody_acts_on_their_equals(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let moe = moderator(store, site, "moe", SiteRole::Moderator);
    let ada = moderator(store, site, "ada", SiteRole::Admin);
    let mute = |user| sanction(user, SanctionKind::Mute, Timestamp::MAX);
    let no = Some(Refusal::NotAllowed);
    assert_eq!(act(store, site, By::User(ann), mute(bob)).err(), no);
    assert_eq!(act(store, site, By::User(mia), mute(moe)).err(), no);
    assert_eq!(act(store, site, By::User(mia), ModeratorAct::SetRole(bob, SiteRole::Moderator)).err(), no);
    assert!(act(store, site, By::User(ada), mute(moe)).is_ok());
    assert!(act(store, site, By::User(ada), ModeratorAct::SetRole(bob, SiteRole::Moderator)).is_ok());
    let other = add_site(store, "other");
    let stranger = put(store, other, "ann");
    assert_eq!(act(store, site, By::User(mia), mute(stranger)).err(), Some(Refusal::NoSuchUser));
    assert_eq!(act(store, other, By::User(mia), mute(stranger)).err(), no, "not of this site");
    let moderators = ask(|done| store.moderators(site, done));
    let mut expected = vec![bob, mia, moe, ada];
    expected.sort();
    let mut moderators = moderators;
    moderators.sort();
    assert_eq!(moderators, expected);
}

pub(crate) fn moderators_of_the_site_keep_order_in_its_rooms(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let (open, hidden) = (room(store, ann, RoomKind::Public), room(store, ann, RoomKind::Private));
    join(store, open, bob).expect("it is public");
    assert_eq!(post(store, open, bob, "1"), Ok(Seq(1)));
    post(store, hidden, ann, "h").expect("it is hers");

    let by = By::User(mia);
    let delete = |room, seq| act(store, site, by, ModeratorAct::DeleteMessage(room, Seq(seq)));
    let gone = delete(open, 1).expect("it is public").message.expect("it was about one");
    assert!(gone.changed && gone.message.deleted && gone.members.len() == 2);
    assert_eq!(delete(hidden, 1).err(), Some(Refusal::NoSuchConversation));
    let new = NewReport {
        by: ann,
        about: ReportAbout::Message(hidden, Seq(1)),
        reason: ReportReason::Other,
        text: "".into(),
        time: NOW,
    };
    ask(|done| store.report(new, done)).expect("she is in it");
    assert!(delete(hidden, 1).is_ok(), "it was reported");

    let in_room = |kind| {
        let (user, room, reason) = (bob, Some(open), "Enough".into());
        ModeratorAct::Sanction(Sanction { user, room, kind, until: later(HOUR), reason, notified: true })
    };
    let muted =
        act(store, site, by, in_room(SanctionKind::Mute)).expect("she may").member.expect("he is in it");
    assert_eq!(muted.member.standing, Standing::In(Role::Muted));
    assert_eq!(post(store, open, bob, "2"), Err(Refusal::Muted));
    assert!(!user(store, bob).on_site.muted, "only here");
    let banned =
        act(store, site, by, in_room(SanctionKind::Ban)).expect("she may").member.expect("he is in it");
    assert_eq!(banned.left, Some(LeftReason::Banned));
    assert_eq!(join(store, open, bob), Err(Refusal::RoomBanned));
    let (ended, _) = ask(|done| store.end_sanctions(later(HOUR), done));
    assert_eq!(ended.len(), 2);
    assert_eq!(join(store, open, bob), Ok(()));

    let member = |action| {
        let limits = RoomLimits::default();
        ask(|done| store.change_member(open, mia, bob, action, limits, NOW, done))
            .map(|done| done.member.standing)
    };
    assert_eq!(member(chat::MemberAction::SetRole(Role::Muted)), Ok(Standing::In(Role::Muted)));
    assert_eq!(member(chat::MemberAction::Remove), Ok(Standing::Out));
}

pub(crate) fn all_that_is_done_is_recorded(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let by = By::User(mia);
    act(store, site, by, sanction(bob, SanctionKind::Mute, later(HOUR))).expect("she may");
    assert!(act(store, site, By::User(ann), sanction(bob, SanctionKind::Ban, later(HOUR))).is_err());
    ask(|done| store.end_sanctions(later(HOUR), done));
    let open = room(store, ann, RoomKind::Public);
    join(store, open, bob).expect("it is public");
    post(store, open, bob, "1").expect("he is in it");
    let change = chat::RoomChange { frozen: Some(true), ..chat::RoomChange::default() };
    ask(|done| store.change_room(open, ann, change, NOW, done)).expect("it is hers");
    let delete = chat::ChangeMessage {
        conversation: open,
        seq: Seq(1),
        by: ann,
        change: chat::MessageChange::Delete,
        time: NOW,
    };
    ask(|done| store.change_message(delete, done)).expect("she keeps order there");
    let limits = RoomLimits::default();
    let ban = chat::MemberAction::Ban;
    ask(|done| store.change_member(open, ann, bob, ban, limits, NOW, done)).expect("she keeps order there");

    let page = |after| ask(|done| store.audit(site, by, after, 4, done)).expect("she may look");
    let first = page(None);
    let words =
        |page: &chat::AuditPage| page.rows.iter().map(|entry| entry.act.to_string()).collect::<Vec<_>>();
    assert_eq!(words(&first), ["ban", "delete", "change_room", "unmute"]);
    assert_eq!((&first.rows[0].by, &first.rows[0].user), (&Some(sub("ann")), &Some(sub("bob"))));
    assert_eq!((first.rows[0].conversation, &*first.rows[2].detail), (Some(open), "frozen"));
    assert_eq!((&first.rows[3].by, &*first.rows[3].detail), (&None, "ended"));
    let rest = page(first.next);
    assert_eq!((words(&rest), rest.next.is_none()), (vec!["mute".to_owned(), "set_role".to_owned()], true));
    assert_eq!(&*rest.rows[0].detail, format!("until {} Insults", later(HOUR).0));
    let refused = ask(|done| store.audit(site, By::User(ann), None, 4, done));
    assert_eq!(refused.err(), Some(Refusal::NotAllowed));
}

/// The record names room moderators who change other users' pins, polls, previews and links.
pub(crate) fn small_acts_of_room_moderators_are_recorded(store: &dyn Store) {
    let (site, ann, bob) = two_users(store);
    let open = room(store, ann, RoomKind::Public);
    join(store, open, bob).expect("it is public");
    let choices = vec!["Yes".into(), "No".into()];
    let poll = chat::NewPoll { choices, multiple: false, anonymous: false, ends: None };
    let rich = chat::NewRich { poll: Some(poll), ..chat::NewRich::default() };
    let asked = Post {
        names_author: false,
        kind: chat::MessageKind::Text,
        room: RoomName::Id(open),
        from: bob,
        client_id: "1".into(),
        body: "See https://bikes.example. Shall we?".into(),
        extension: None,
        time: NOW,
        reply_to: None,
        files: Vec::new(),
        rich: rich.boxed(),
    };
    ask(|done| store.post(asked, RoomLimits::default(), done)).expect("he is in it");
    let change = |by, change| {
        let wanted = chat::ChangeMessage { conversation: open, seq: Seq(1), by, change, time: NOW };
        ask(|done| store.change_message(wanted, done)).expect("one may").changed
    };
    let [url, title, description, site_name] = ["https://bikes.example", "Bikes", "", ""].map(Box::from);
    let preview = chat::NewPreview { url, title, description, site: site_name, picture: None };
    for (by, what) in [
        (bob, chat::MessageChange::Preview(Some(Box::new(preview)))),
        (ann, chat::MessageChange::Preview(None)),
        (ann, chat::MessageChange::Pin(true)),
        (ann, chat::MessageChange::Pin(false)),
        (ann, chat::MessageChange::ClosePoll),
    ] {
        assert!(change(by, what));
    }
    assert!(!change(ann, chat::MessageChange::ClosePoll), "what changes nothing is not recorded");
    let link = |number: u8, by| {
        let code = chat::LinkCode::of([number; 16]);
        let new = chat::NewLink { code, until: later(HOUR), uses: None };
        ask(|done| store.make_link(open, by, new, NOW, done)).expect("one may");
        code
    };
    for (by, code) in [(bob, link(1, bob)), (ann, link(2, bob))] {
        ask(|done| store.take_back_link(open, by, code, NOW, done)).expect("one may");
    }
    let record = ask(|done| store.audit(site, By::Site, None, 10, done)).expect("the site may").rows;
    let said: Vec<_> = record.iter().rev().map(|entry| (&*entry.act, &*entry.detail)).collect();
    let expected =
        [("remove_preview", "1"), ("pin", "1"), ("unpin", "1"), ("close_poll", "1"), ("end_link", "")];
    assert_eq!(said, expected);
    for entry in record {
        assert_eq!(
            (entry.by, entry.user, entry.conversation),
            (Some(sub("ann")), Some(sub("bob")), Some(open))
        );
    }
}

pub(crate) fn settings_belong_to_one_site(store: &dyn Store) {
    let (one, two) = (add_site(store, "one"), add_site(store, "two"));
    let of = |id| {
        let sites = store.sites().expect("the store works");
        sites.into_iter().find(|site| site.id == id).expect("it was added").settings
    };
    let before = store.revision().expect("the store works");
    let settings = Settings::default().with("requests.on", "true").expect("it is sound");
    assert_eq!(store.set_settings(one, &settings), Ok(true));
    assert_eq!((of(one), of(two)), (settings.clone(), Settings::default()));
    assert_ne!(store.revision().expect("the store works"), before);
    assert_eq!(store.set_settings(SiteId(999), &settings), Ok(false));
}

pub(crate) fn a_token_sets_a_role_unless_a_later_decision_exists(store: &dyn Store) {
    let site = add_site(store, "garden");
    let sign_in = |made: Option<Timestamp>, role: SiteRole| {
        let user = TokenUser { profile: profile("ann", "Ann"), role: Some(RoleClaim { role, made }) };
        ask(|done| store.renew_user(site, user, NOW, done))
    };
    let row = sign_in(None, SiteRole::Admin);
    assert_eq!(row.on_site.role, SiteRole::Admin, "with the user, in one go");
    assert_eq!(user(store, row.id).on_site.role, SiteRole::Admin);
    let page = ask(|done| store.audit(site, By::User(row.id), None, 10, done)).expect("an admin may");
    assert_eq!((&*page.rows[0].act, page.rows.len()), ("set_role", 1));
    assert_eq!(sign_in(None, SiteRole::Moderator).on_site.role, SiteRole::Moderator);
    act(store, site, By::Site, ModeratorAct::SetRole(row.id, SiteRole::Member)).expect("the site may");
    for made in [None, Some(Timestamp(NOW.0 - 1))] {
        assert_eq!(sign_in(made, SiteRole::Admin).on_site.role, SiteRole::Member, "{made:?}");
    }
    assert_eq!(sign_in(Some(later(1_000)), SiteRole::Admin).on_site.role, SiteRole::Admin);
}

pub(crate) fn only_admins_erase_others(store: &dyn Store) {
    let site = add_site(store, "garden");
    let [ada, eve] = ["ada", "eve"].map(|id| moderator(store, site, id, SiteRole::Admin));
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let tom = put(store, site, "tom");
    let erase = |user: UserId, by: UserId| {
        let alias = sub(&format!("deleted-{}", user.num));
        let name = "Deleted user".into();
        let by = By::User(by);
        let erasure = NewErasure { user, alias, name, messages: MessagesAfterErasure::Kept, by, time: NOW };
        ask(|done| store.begin_erasure(erasure, done)).map(drop)
    };
    assert_eq!(erase(tom, mia), Err(Refusal::NotAllowed));
    assert_eq!(erase(eve, ada), Err(Refusal::NotAllowed));
    assert_eq!(erase(mia, ada), Ok(()));
    assert_eq!(erase(tom, tom), Ok(()), "oneself");
    assert_eq!(erase(ada, ada), Ok(()), "oneself");
    let back = TokenUser {
        profile: profile("ada", "Ada"),
        role: Some(RoleClaim { role: SiteRole::Admin, made: Some(Timestamp(NOW.0 - 1)) }),
    };
    let row = ask(|done| store.renew_user(site, back, NOW, done));
    assert_eq!(row.on_site.role, SiteRole::Member, "an older token gives an erased admin nothing back");
}

pub(crate) fn only_permitted_moderators_change_a_site_and_the_change_is_recorded(store: &dyn Store) {
    use chat::{SignOut, SiteAuthor, SiteChange, SiteNotChanged, SiteProfile};
    let site = add_site(store, "garden");
    let ada = moderator(store, site, "ada", SiteRole::Admin);
    let mia = moderator(store, site, "mia", SiteRole::Moderator);
    let settings = store.sites().expect("the store works")[0].settings.clone();
    let name =
        |name: &str| SiteChange::Profile(SiteProfile { name: Some(name.into()), ..SiteProfile::default() });
    let change = |change: SiteChange, by: By| {
        store.change_site(site, change, SiteAuthor::Tenant(by), NOW).expect("the store works")
    };
    assert_eq!(change(name("Mia's"), By::User(mia)), Err(SiteNotChanged::NotAllowed));
    assert_eq!(change(name("Ada's"), By::User(ada)).map(|site| site.name), Ok("Ada's".into()));
    let everybody = || SiteChange::SignOut { whom: SignOut::Everybody, at: NOW };
    assert_eq!(change(everybody(), By::User(ada)), Err(SiteNotChanged::SiteOnly));
    let before = store.revision().expect("the store works");
    let changed = change(everybody(), By::Site).expect("the site may");
    assert!(changed.secrets.iter().all(|key| key.not_before == Some(NOW)));
    assert_ne!(store.revision().expect("the store works"), before, "nodes hear of it");
    let kept = store.sites().expect("the store works").remove(0);
    assert_eq!((&kept, &kept.settings), (&changed, &settings));
    let page = ask(|done| store.audit(site, By::Site, None, 2, done)).expect("the site may");
    let rows: Vec<_> = page.rows.iter().map(|row| (&*row.act, row.by.clone())).collect();
    assert_eq!(rows, [("sign_out", None), ("set_site", Some(sub("ada")))]);
}
