//! Messages beside the log in memory: the plain reading of what `HeldStore` promises.

use super::{Tables, moderation::Report};
use crate::messages::held::{Held, HeldPlace, HeldState, HeldWhy, Kept, MOST_HELD, MOST_WAITING, NewHeld};
use crate::moderation::{LINES_AROUND, may_decide_report};
use crate::{
    Act, By, ConversationId, Refusal, ReportAbout, ReportLine, ReportReason, ReportRow, ReportState, Role,
    Seq, SiteAct, SiteId, SiteRole, Standing, Timestamp, UserId, may,
};

/// One of them, and the report that it waits with.
pub(super) struct Entry {
    pub(super) held: Held,
    pub(super) report: Option<u64>,
}

impl Tables {
    pub(in crate::memory) fn hold_message(&mut self, new: NewHeld) -> Result<Kept, Refusal> {
        let same = |entry: &&Entry| entry.held.from == new.from && entry.held.client_id == new.client_id;
        if let Some(entry) = self.held.iter().find(same) {
            let user = self.user_by_id(new.from).ok_or(Refusal::NoSuchUser)?;
            return Ok(Kept::Held { held: entry.held.clone(), report: None, user: Box::new(user) });
        }
        if let Some(&(conversation, seq)) = self.message_by_client_id.get(&(new.from, new.client_id.clone()))
        {
            return Ok(Kept::Sent(self.repeated(conversation, seq)));
        }
        let conversation = self.place_of(&new)?;
        let of_user = |entry: &&Entry| entry.held.from == new.from;
        let waiting = |entry: &&Entry| of_user(entry) && entry.held.state == HeldState::Waiting;
        if new.why != HeldWhy::Shadow && self.held.iter().filter(waiting).count() >= MOST_WAITING as usize {
            return Err(Refusal::Filtered);
        }
        let other = conversation.other(new.from).and_then(|id| self.user_by_id(id));
        let held = Held {
            from: new.from,
            conversation,
            other: other.map(|row| row.profile.sub),
            client_id: new.client_id,
            body: new.body,
            time: new.time,
            reply_to: new.reply_to,
            files: new.files,
            thread: new.thread,
            state: if new.why == HeldWhy::Shadow { HeldState::Shadow } else { HeldState::Waiting },
            reason: "".into(),
        };
        let report = match new.why {
            HeldWhy::Filter(text) => Some(self.report_held(&held, text)?),
            HeldWhy::Shadow => None,
        };
        self.held.push(Entry { held: held.clone(), report: report.as_ref().map(|row| row.number) });
        let from = new.from;
        let shadows =
            self.held.iter().filter(|entry| entry.held.from == from && entry.held.state == HeldState::Shadow);
        if shadows.count() > MOST_HELD as usize {
            let is_one = |entry: &Entry| entry.held.from == from && entry.held.state == HeldState::Shadow;
            let oldest = self.held.iter().position(is_one).expect("there is one");
            self.held.remove(oldest);
        }
        self.stand(from);
        let user = self.user_by_id(from).ok_or(Refusal::NoSuchUser)?;
        Ok(Kept::Held { held, report: report.map(Box::new), user: Box::new(user) })
    }

    /// Where it would be sent, if it may be.
    fn place_of(&self, new: &NewHeld) -> Result<ConversationId, Refusal> {
        let room = match &new.place {
            HeldPlace::Direct(id) => return Ok(*id),
            HeldPlace::Room(room) => room,
        };
        let id = self.room_id(room).filter(|id| id.site == new.from.site);
        let id = id.ok_or(Refusal::NoSuchConversation)?;
        let entry = &self.rooms[&id];
        match entry.standing(new.from) {
            // Writing in a page's room joins it.
            Standing::Out if entry.room.page.is_some() => {
                may(Standing::In(Role::Member), Act::Post, entry.room.rules(Timestamp(0), new.time))?;
            }
            _ => self.may_post(id, new.from, new.time)?,
        }
        Ok(id)
    }

    fn report_held(&mut self, held: &Held, text: Box<str>) -> Result<ReportRow, Refusal> {
        let (id, site) = (held.conversation, held.from.site);
        let newest = self.newest(id);
        let around = newest.saturating_sub(LINES_AROUND - 1).max(1)..=newest;
        let before = around.filter_map(|seq| self.message(id, Seq(seq), held.from));
        let line = |line: crate::StoredMessage| ReportLine {
            seq: line.seq,
            from: line.from_sub,
            time: line.time,
            body: line.body,
        };
        let mut lines: Vec<ReportLine> = before.filter(|line| !line.deleted).map(line).collect();
        let from = self.user_by_id(held.from).ok_or(Refusal::NoSuchUser)?.profile.sub;
        lines.push(ReportLine {
            seq: Seq(newest + 1),
            from: from.clone(),
            time: held.time,
            body: held.body.clone(),
        });
        let row = ReportRow {
            former: Vec::new(),
            number: self.next_report(site),
            state: ReportState::Open,
            about: ReportAbout::Held(id),
            user: Some(from),
            by: None,
            reason: ReportReason::Filter,
            text,
            lines,
            time: held.time,
            moderator: None,
            note: "".into(),
        };
        self.keep_report(site, Report { row: row.clone(), by: UserId::nobody(site), evidence_ends: None });
        Ok(row)
    }

    fn newest(&self, id: ConversationId) -> u64 {
        match self.rooms.get(&id) {
            Some(entry) => entry.messages.len() as u64,
            None => self.conversations.get(&id).map_or(0, |direct| direct.messages.len() as u64),
        }
    }

    pub(in crate::memory) fn held_by(&self, user: UserId) -> Vec<Held> {
        self.held.iter().filter(|entry| entry.held.from == user).map(|entry| entry.held.clone()).collect()
    }

    pub(in crate::memory) fn held_of_report(
        &self,
        site: SiteId,
        asker: By,
        report: u64,
    ) -> Result<Held, Refusal> {
        self.may_on_site(site, asker, SiteAct::Look, SiteRole::Member)?;
        let at = self.waiting_with(site, report).ok_or(Refusal::NoSuchReport)?;
        let held = &self.held[at].held;
        may_decide_report(asker.user().as_ref(), Some(&held.from))?;
        Ok(held.clone())
    }

    fn waiting_with(&self, site: SiteId, report: u64) -> Option<usize> {
        self.held.iter().position(|entry| entry.held.from.site == site && entry.report == Some(report))
    }

    /// It was sent, and stands beside the log no more.
    pub(super) fn release_held(&mut self, site: SiteId, report: u64) {
        if let Some(at) = self.waiting_with(site, report) {
            let from = self.held.remove(at).held.from;
            self.stand(from);
        }
    }

    pub(super) fn refuse_held(&mut self, site: SiteId, report: u64, reason: &str) -> Option<Held> {
        let at = self.waiting_with(site, report)?;
        let entry = &mut self.held[at];
        (entry.report, entry.held.state, entry.held.reason) = (None, HeldState::Refused, reason.into());
        Some(entry.held.clone())
    }

    /// Its sender has seen that it was refused.
    pub(super) fn forget_refused(&mut self, user: UserId) {
        self.held.retain(|entry| entry.held.from != user || entry.held.state != HeldState::Refused);
    }
}
