//! Order on a site in memory: the plain reading of what `ModerationStore` promises.

use std::collections::{BTreeMap, HashMap};

use super::Tables;
use crate::moderation::{
    EVIDENCE_AFTER_ERASURE_MS, LINES_AROUND, MOST_OPEN_REPORTS, kept_with_report, may_decide_report,
};
use crate::{
    Act, AuditEntry, AuditPage, By, ConversationId, DeviceBan, Ended, KeptSanction, LeftReason,
    MemberChanged, MemberRow, MemberSanction, Moderated, ModeratorAct, NewReport, Notice, Refusal,
    ReportAbout, ReportLine, ReportRow, ReportState, ReportsPage, Role, RoomKind, Sanction, SanctionKind,
    Seq, Settings, Site, SiteAct, SiteAuthor, SiteChange, SiteId, SiteNotChanged, SiteRole, SiteStanding,
    Sub, Timestamp, TokenUser, UserId, UserRow, may_on_site,
};

/// The stored state of moderation.
#[derive(Default)]
pub(super) struct Kept {
    sanctions: Vec<Sanction>,
    reports: BTreeMap<(SiteId, u64), Report>,
    audit: Vec<(SiteId, AuditEntry)>,
    devices: Vec<DeviceBan>,
    /// When the role of an id was last set by hand, or its user erased.
    role_decisions: HashMap<(SiteId, [u8; 16]), Timestamp>,
    erased_sanctions: Vec<ErasedSanction>,
}

/// The author, the messages around the reported one, and its former bodies.
type Seen = (Option<UserId>, Vec<ReportLine>, Vec<crate::Revision>);

pub(super) struct Report {
    pub(super) row: ReportRow,
    pub(super) by: UserId,
    /// It is about a user who was erased, and keeps the user's words until then.
    pub(super) evidence_ends: Option<Timestamp>,
}

/// A sanction of a user who was erased.
struct ErasedSanction {
    site: SiteId,
    sub: [u8; 16],
    room: Option<ConversationId>,
    kind: SanctionKind,
    until: Timestamp,
}

impl Report {
    /// Removes what it keeps of an author's words.
    fn forget(&mut self, author: &Sub) {
        if self.row.user.as_ref() == Some(author) {
            self.row.former.clear();
        }
        let lines = self.row.lines.iter_mut().filter(|line| line.from == *author);
        lines.for_each(|line| line.body = "".into());
    }

    fn end_evidence(&mut self) {
        if self.evidence_ends.take().is_some()
            && let Some(user) = self.row.user.clone()
        {
            self.forget(&user);
        }
    }
}

impl Kept {
    pub(super) fn decide_role(&mut self, site: SiteId, sub: &Sub, now: Timestamp) {
        self.role_decisions.insert((site, sub.digest()), now);
    }

    pub(super) fn forget_devices(&mut self, user: UserId) {
        self.devices.retain(|ban| ban.user != user);
    }

    pub(super) fn forget(&mut self, site: SiteId) {
        self.sanctions.retain(|sanction| sanction.user.site != site);
        self.reports.retain(|(of, _), _| *of != site);
        self.audit.retain(|(of, _)| *of != site);
        self.devices.retain(|ban| ban.site != site);
        self.role_decisions.retain(|(of, _), _| *of != site);
        self.erased_sanctions.retain(|kept| kept.site != site);
    }
}

impl Tables {
    #[allow(clippy::too_many_arguments, reason = "the columns of a record")]
    pub(super) fn note(
        &mut self,
        site: SiteId,
        by: By,
        act: &str,
        user: Option<UserId>,
        conversation: Option<ConversationId>,
        detail: &str,
        time: Timestamp,
    ) {
        let by = match by {
            By::User(id) => self.user_by_id(id).map(|row| row.profile.sub),
            By::Site => None,
        };
        let number = self.moderation.audit.iter().filter(|(of, _)| *of == site).count() as u64 + 1;
        let user = user.and_then(|id| self.user_by_id(id)).map(|row| row.profile.sub);
        let entry =
            AuditEntry { number, time, by, act: act.into(), user, conversation, detail: detail.into() };
        self.moderation.audit.push((site, entry));
    }

    pub(in crate::memory) fn put_token_user(
        &mut self,
        site: SiteId,
        user: TokenUser,
        now: Timestamp,
    ) -> UserRow {
        let row = self.put_user(site, user.profile, now);
        let Some(claim) = user.role.filter(|_| row.differs_in_role(user.role) && !row.banned) else {
            return row;
        };
        let key = (site, row.profile.sub.digest());
        if !claim.holds(self.moderation.role_decisions.get(&key).copied()) {
            return row;
        }
        if let Some(row) = self.users.get_mut(&row.id) {
            row.on_site.role = claim.role;
        }
        self.revision += 1;
        self.note(site, By::Site, "set_role", Some(row.id), None, claim.role.word(), now);
        self.user_by_id(row.id).unwrap_or(row)
    }

    pub(super) fn may_on_site(
        &self,
        site: SiteId,
        by: By,
        act: SiteAct,
        of: SiteRole,
    ) -> Result<(), Refusal> {
        let By::User(id) = by else { return Ok(()) };
        let row = self.user_by_id(id).filter(|row| row.id.site == site && !row.banned);
        may_on_site(row.ok_or(Refusal::NotAllowed)?.on_site.role, act, of)
    }

    // ---- reports ----

    pub(in crate::memory) fn report(&mut self, new: NewReport) -> Result<(ReportRow, bool), Refusal> {
        let site = new.by.site;
        let (user, lines, former) = self.seen_by(&new)?;
        let is_open = |report: &&Report| report.row.state != ReportState::Closed && report.by == new.by;
        let mut open = self.moderation.reports.values().filter(is_open);
        if let Some(same) = open.clone().find(|report| report.row.about == new.about) {
            return Ok((same.row.clone(), false));
        }
        let is_filter = new.by == UserId::nobody(site);
        if !is_filter && open.by_ref().count() >= MOST_OPEN_REPORTS as usize {
            return Err(Refusal::TooManyReports);
        }
        let sub = |id: UserId| self.user_by_id(id).map(|row| row.profile.sub);
        let by = sub(new.by);
        if by.is_none() && !is_filter {
            return Err(Refusal::NotAllowed);
        }
        let number = self.next_report(site);
        let row = ReportRow {
            number,
            state: ReportState::Open,
            about: new.about,
            user: user.and_then(sub),
            by,
            reason: new.reason,
            text: new.text,
            lines,
            former,
            time: new.time,
            moderator: None,
            note: "".into(),
        };
        self.keep_report(site, Report { row: row.clone(), by: new.by, evidence_ends: None });
        Ok((row, true))
    }

    /// Keeps the sanctions of a user who is being erased.
    pub(super) fn keep_sanctions(&mut self, before: &UserRow, now: Timestamp) {
        let id = before.id;
        let of_user = self.moderation.sanctions.iter().filter(|kept| kept.user == id && kept.until > now);
        let mut kept: Vec<_> = of_user.map(|one| (one.room, one.kind, one.until)).collect();
        let of_rooms = self.rooms.iter().filter_map(|(room, entry)| match entry.state(id)? {
            Ok(Role::Muted) => Some((Some(*room), SanctionKind::Mute, Timestamp::MAX)),
            Err(LeftReason::Banned) => Some((Some(*room), SanctionKind::Ban, Timestamp::MAX)),
            Ok(_) | Err(_) => None,
        });
        let of_site = before.banned.then_some((None, SanctionKind::Ban, Timestamp::MAX));
        let others: Vec<_> = of_rooms.chain(of_site).collect();
        for one in others {
            if !kept.iter().any(|(room, kind, _)| (*room, *kind) == (one.0, one.1)) {
                kept.push(one);
            }
        }
        let (site, sub) = (id.site, before.profile.sub.digest());
        let kept = kept.into_iter().filter(|(_, kind, _)| kind.outlives_erasure());
        let kept = kept.map(|(room, kind, until)| ErasedSanction { site, sub, room, kind, until });
        self.moderation.erased_sanctions.extend(kept);
        self.moderation.sanctions.retain(|kept| kept.user != id);
    }

    /// Gives a new user the sanctions that an erased user of the same id had.
    pub(super) fn restore_sanctions(&mut self, user: UserId, now: Timestamp) {
        let Some(row) = self.user_by_id(user) else { return };
        let digest = row.profile.sub.digest();
        let all = std::mem::take(&mut self.moderation.erased_sanctions);
        let (kept, others) = all.into_iter().partition(|one| one.site == user.site && one.sub == digest);
        self.moderation.erased_sanctions = others;
        let kept: Vec<ErasedSanction> = kept;
        for ErasedSanction { room, kind, until, .. } in kept.into_iter().filter(|one| one.until > now) {
            if room.is_none_or(|room| self.rooms.contains_key(&room)) {
                self.moderation.sanctions.push(Sanction {
                    user,
                    room,
                    kind,
                    until,
                    reason: "".into(),
                    told: true,
                });
                self.hold(user, room, kind);
            }
        }
    }

    /// Removes the words of an erased user from reports. Open reports about the user keep them for now.
    pub(super) fn remove_words(&mut self, user: UserId, sub: &Sub, now: Timestamp) {
        let ends = Timestamp(now.0.saturating_add(EVIDENCE_AFTER_ERASURE_MS));
        let reports = self.moderation.reports.iter_mut().filter(|((site, _), _)| *site == user.site);
        for (_, report) in reports {
            if report.by == user {
                report.row.text = "".into();
            }
            let is_about = report.row.user.as_ref() == Some(sub);
            if is_about && report.row.state != ReportState::Closed {
                report.evidence_ends = Some(ends);
                continue;
            }
            report.forget(sub);
        }
    }

    pub(super) fn next_report(&self, site: SiteId) -> u64 {
        self.moderation.reports.keys().filter(|(of, _)| *of == site).count() as u64 + 1
    }

    pub(super) fn keep_report(&mut self, site: SiteId, report: Report) {
        self.moderation.reports.insert((site, report.row.number), report);
    }

    fn seen_by(&self, new: &NewReport) -> Result<Seen, Refusal> {
        let (id, seq) = match new.about {
            ReportAbout::User(user) => {
                let row = self.user_by_id(user).filter(|_| user.site == new.by.site);
                return row.map(|row| (Some(row.id), Vec::new(), Vec::new())).ok_or(Refusal::NoSuchUser);
            }
            ReportAbout::Room(id) if new.by == UserId::nobody(id.site) && self.rooms.contains_key(&id) => {
                return Ok((None, Vec::new(), Vec::new()));
            }
            ReportAbout::Room(id) => {
                return self.allowed(id, new.by, Act::Read).map(|_| (None, Vec::new(), Vec::new()));
            }
            ReportAbout::Held(_) => return Err(Refusal::NoSuchMessage),
            ReportAbout::Message(id, seq) => (id, seq),
        };
        match id.is_room() {
            _ if new.by == UserId::nobody(new.by.site) => {}
            true => {
                self.allowed(id, new.by, Act::Read)?;
            }
            false => {
                super::member_index(id, new.by).ok_or(Refusal::NoSuchConversation)?;
            }
        }
        let around = seq.0.saturating_sub(LINES_AROUND).max(1)..=seq.0.saturating_add(LINES_AROUND);
        let lines = around.filter_map(|seq| self.message(id, Seq(seq), new.by));
        let lines: Vec<_> = lines.filter(|line| !line.deleted || line.seq == seq).collect();
        let reported = lines.iter().find(|line| line.seq == seq).ok_or(Refusal::NoSuchMessage)?;
        let user = reported.from;
        let revisions = self.revisions(id, seq);
        let former = kept_with_report(revisions, reported.deleted, new.time).ok_or(Refusal::NoSuchMessage)?;
        let line = |line: &crate::StoredMessage| ReportLine {
            seq: line.seq,
            from: line.from_sub.clone(),
            time: line.time,
            body: line.body.clone(),
        };
        Ok((Some(user), lines.iter().map(line).collect(), former))
    }

    pub(in crate::memory) fn reports(
        &self,
        site: SiteId,
        asker: By,
        state: Option<ReportState>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ReportsPage, Refusal> {
        self.may_on_site(site, asker, SiteAct::Look, SiteRole::Member)?;
        let before = after.and_then(|after| after.parse().ok()).unwrap_or(u64::MAX);
        let me = asker.user().and_then(|id| self.user_by_id(id)).map(|row| row.profile.sub);
        let mut rows: Vec<ReportRow> = self
            .moderation
            .reports
            .iter()
            .rev()
            .filter(|((of, number), _)| *of == site && *number < before)
            .map(|(_, report)| report.row.clone())
            .filter(|row| state.is_none_or(|state| state == row.state))
            // Nobody reads who has reported them.
            .filter(|row| me.is_none() || row.user != me)
            .collect();
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| more).map(|row| row.number.to_string());
        Ok(ReportsPage { rows, next })
    }

    // ---- acts ----

    pub(in crate::memory) fn moderate(
        &mut self,
        site: SiteId,
        by: By,
        act: &ModeratorAct,
        now: Timestamp,
    ) -> Result<Moderated, Refusal> {
        self.may(site, by, act)?;
        let mut done = Moderated::default();
        let about = match act {
            ModeratorAct::Sanction(wanted) => {
                let same = |kept: &Sanction| {
                    kept.user == wanted.user && kept.room == wanted.room && kept.kind == wanted.kind
                };
                self.moderation.sanctions.retain(|kept| !same(kept));
                let until = if wanted.kind == SanctionKind::Warning { Timestamp::MAX } else { wanted.until };
                self.moderation.sanctions.push(Sanction { until, ..wanted.clone() });
                done.member = self.hold(wanted.user, wanted.room, wanted.kind);
                Some(wanted.user)
            }
            ModeratorAct::Lift { user, room, kind } => {
                done.member = self.lift(*user, *room, *kind);
                Some(*user)
            }
            ModeratorAct::Kick(user) => Some(*user),
            ModeratorAct::SetRole(user, role) => {
                if let Some(row) = self.users.get_mut(user) {
                    row.on_site.role = *role;
                    self.moderation.decide_role(site, &row.profile.sub, now);
                    self.revision += 1;
                }
                Some(*user)
            }
            ModeratorAct::DeleteMessage(id, seq) => {
                done.message = Some(self.tidy(*id, *seq, now)?);
                None
            }
            ModeratorAct::TakeReport(number) => {
                done.report = self.set_report(site, *number, ReportState::Taken, by, None);
                None
            }
            ModeratorAct::CloseReport(number, note) => {
                done.held = self.refuse_held(site, *number, "");
                done.report = self.set_report(site, *number, ReportState::Closed, by, Some(note));
                None
            }
            ModeratorAct::ReopenReport(number) => {
                done.report = self.set_report(site, *number, ReportState::Open, By::Site, None);
                None
            }
            ModeratorAct::Approved(number) => {
                self.release_held(site, *number);
                done.report = self.set_report(site, *number, ReportState::Closed, by, None);
                None
            }
            ModeratorAct::RefuseHeld(number, reason) => {
                done.held = Some(self.refuse_held(site, *number, reason).ok_or(Refusal::NoSuchReport)?);
                done.report = self.set_report(site, *number, ReportState::Closed, by, None);
                None
            }
            ModeratorAct::SetLevel(user, level) => {
                if let Some(row) = self.users.get_mut(user) {
                    row.on_site.fixed = level.is_some();
                    row.on_site.level = level.unwrap_or_default();
                    self.revision += 1;
                }
                Some(*user)
            }
            ModeratorAct::BanDevices { user, devices, until } => {
                for &device in devices {
                    self.moderation.devices.retain(|ban| (ban.site, ban.device) != (site, device));
                    self.moderation.devices.push(DeviceBan { site, device, user: *user, until: *until });
                }
                self.revision += 1;
                None
            }
            ModeratorAct::StickerAdded(_) | ModeratorAct::StickerRemoved(_) => None,
            ModeratorAct::Configure(_) | ModeratorAct::Raid(_) => {
                done.settings = self.configure(site, act)?;
                None
            }
        };
        done.user = about.and_then(|user| self.user_by_id(user));
        self.record(site, by, act, now);
        Ok(done)
    }

    fn configure(&mut self, site: SiteId, act: &ModeratorAct) -> Result<Option<Box<Settings>>, Refusal> {
        let before = &self.sites.get(&site).ok_or(Refusal::NoSuchSite)?.settings;
        let Some(after) = act.configured(before) else { return Ok(None) };
        let settings = after.map_err(|_| Refusal::BadValue)?;
        self.put_settings(site, &settings);
        Ok(Some(Box::new(settings)))
    }

    pub(in crate::memory) fn change_site(
        &mut self,
        site: SiteId,
        change: &SiteChange,
        author: SiteAuthor,
        now: Timestamp,
    ) -> Result<Site, SiteNotChanged> {
        let may = self.may_on_site(site, author.by(), SiteAct::Configure, SiteRole::Member);
        may.map_err(|_| SiteNotChanged::NotAllowed)?;
        let before = self.sites.get(&site).ok_or(SiteNotChanged::NoSuchSite)?;
        let after = change.apply(author, before, now)?;
        self.sites.insert(site, after.clone());
        self.revision += 1;
        let (act, detail) = change.recorded();
        self.note(site, author.by(), act, None, None, &detail, now);
        Ok(after)
    }

    /// With what they end.
    pub(in crate::memory) fn put_settings(&mut self, site: SiteId, settings: &Settings) {
        if let Some(row) = self.sites.get_mut(&site) {
            row.settings = settings.clone();
        }
        if !settings.members.rename {
            self.unname_all(site);
        }
        self.end_links(site);
        self.revision += 1;
    }

    pub(in crate::memory) fn device_bans(&self) -> Vec<DeviceBan> {
        self.moderation.devices.clone()
    }

    fn may(&self, site: SiteId, by: By, act: &ModeratorAct) -> Result<(), Refusal> {
        let (wanted, of) = match act {
            ModeratorAct::Sanction(Sanction { user, .. })
            | ModeratorAct::Lift { user, .. }
            | ModeratorAct::Kick(user)
            | ModeratorAct::SetLevel(user, _)
            | ModeratorAct::BanDevices { user, .. } => (SiteAct::Sanction, Some(user)),
            ModeratorAct::Configure(_) | ModeratorAct::StickerAdded(_) | ModeratorAct::StickerRemoved(_) => {
                (SiteAct::Configure, None)
            }
            ModeratorAct::Raid(_) => (SiteAct::Guard, None),
            ModeratorAct::SetRole(user, role) => (SiteAct::SetRole(*role), Some(user)),
            ModeratorAct::DeleteMessage(..) => (SiteAct::Tidy, None),
            _ => (SiteAct::Look, None),
        };
        let of = match of {
            Some(user) => {
                let row = self.user_by_id(*user).filter(|row| row.id.site == site);
                row.ok_or(Refusal::NoSuchUser)?.on_site.role
            }
            None => SiteRole::Member,
        };
        self.may_on_site(site, by, wanted, of)?;
        match act {
            ModeratorAct::Sanction(Sanction { room: Some(room), .. })
            | ModeratorAct::Lift { room: Some(room), .. }
                if !self.rooms.contains_key(room) =>
            {
                Err(Refusal::NoSuchConversation)
            }
            ModeratorAct::DeleteMessage(id, seq) if by != By::Site => {
                let is_open = self.rooms.get(id).is_some_and(|entry| entry.room.kind != RoomKind::Private);
                let is_near = |about: ReportAbout| matches!(about, ReportAbout::Message(of, at) if of == *id && at.0.abs_diff(seq.0) <= LINES_AROUND);
                let was_reported = self.moderation.reports.values().any(|report| is_near(report.row.about));
                if is_open || was_reported { Ok(()) } else { Err(Refusal::NoSuchConversation) }
            }
            ModeratorAct::TakeReport(number)
            | ModeratorAct::CloseReport(number, _)
            | ModeratorAct::ReopenReport(number)
            | ModeratorAct::Approved(number)
            | ModeratorAct::RefuseHeld(number, _) => {
                let report = self.moderation.reports.get(&(site, *number)).ok_or(Refusal::NoSuchReport)?;
                let moderator = by.user().and_then(|id| self.user_by_id(id)).map(|row| row.profile.sub);
                may_decide_report(moderator.as_ref(), report.row.user.as_ref())
            }
            _ => Ok(()),
        }
    }

    fn set_report(
        &mut self,
        site: SiteId,
        number: u64,
        state: ReportState,
        by: By,
        note: Option<&str>,
    ) -> Option<ReportRow> {
        let moderator = match by {
            By::User(id) => self.user_by_id(id).map(|row| row.profile.sub),
            By::Site => None,
        };
        let report = self.moderation.reports.get_mut(&(site, number))?;
        if state == ReportState::Closed {
            report.end_evidence();
        }
        let row = &mut report.row;
        (row.state, row.moderator) = (state, moderator);
        if let Some(note) = note {
            row.note = note.into();
        }
        Some(row.clone())
    }

    fn record(&mut self, site: SiteId, by: By, act: &ModeratorAct, time: Timestamp) {
        let (word, user, conversation, detail) = act.recorded();
        self.note(site, by, word, user, conversation, &detail, time);
    }

    pub(in crate::memory) fn audit(
        &self,
        site: SiteId,
        asker: By,
        after: Option<&str>,
        limit: u32,
    ) -> Result<AuditPage, Refusal> {
        self.may_on_site(site, asker, SiteAct::Look, SiteRole::Member)?;
        let before = after.and_then(|after| after.parse().ok()).unwrap_or(u64::MAX);
        let of_site =
            self.moderation.audit.iter().rev().filter(|(of, _)| *of == site).map(|(_, entry)| entry);
        let mut rows: Vec<AuditEntry> = of_site.filter(|entry| entry.number < before).cloned().collect();
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| more).map(|entry| entry.number.to_string());
        Ok(AuditPage { rows, next })
    }

    // ---- sanctions ----

    /// The end of a user's sanction in a room.
    pub(super) fn sanction_until(
        &self,
        room: ConversationId,
        user: UserId,
        kind: SanctionKind,
    ) -> Option<Timestamp> {
        let is_it = |kept: &&Sanction| kept.user == user && kept.room == Some(room) && kept.kind == kind;
        self.moderation.sanctions.iter().find(is_it).map(|kept| kept.until)
    }

    /// The stored sanction behind a mute or a ban in a room. Without one, it has no end.
    pub(super) fn member_sanction(
        &self,
        room: ConversationId,
        user: UserId,
        kind: SanctionKind,
    ) -> MemberSanction {
        let is_it = |kept: &&Sanction| kept.user == user && kept.room == Some(room) && kept.kind == kind;
        let kept = self.moderation.sanctions.iter().find(is_it);
        kept.map_or_else(MemberSanction::without_end, |kept| MemberSanction {
            until: kept.until,
            reason: kept.reason.clone(),
        })
    }

    /// Stores or removes a user's sanction for a moderator of the room.
    pub(super) fn keep_sanction(&mut self, room: ConversationId, user: UserId, kept: KeptSanction) {
        let (kind, new) = match kept {
            KeptSanction::Put(sanction) => (sanction.kind, Some(sanction)),
            KeptSanction::Forget(kind) => (kind, None),
        };
        self.moderation
            .sanctions
            .retain(|kept| (kept.user, kept.room, kept.kind) != (user, Some(room), kind));
        self.moderation.sanctions.extend(new);
        self.stand(user);
    }

    fn hold(
        &mut self,
        user: UserId,
        room: Option<ConversationId>,
        kind: SanctionKind,
    ) -> Option<MemberChanged> {
        self.stand(user);
        match (kind, room) {
            (SanctionKind::Mute, Some(room)) => {
                self.set_state(room, user, Ok(Role::Muted), |state| state == Some(Ok(Role::Member)))
            }
            (SanctionKind::Ban, Some(room)) => {
                let banned = Err(LeftReason::Banned);
                self.set_state(room, user, banned, |state| state != Some(Err(LeftReason::Banned)))
            }
            (SanctionKind::Ban, None) => {
                self.set_banned(user, true);
                None
            }
            (SanctionKind::Mute, None) | (SanctionKind::Warning | SanctionKind::Shadow, _) => None,
        }
    }

    fn lift(
        &mut self,
        user: UserId,
        room: Option<ConversationId>,
        kind: SanctionKind,
    ) -> Option<MemberChanged> {
        let lifted = |kept: &Sanction| kept.user == user && kept.room == room && kept.kind == kind;
        self.moderation.sanctions.retain(|kept| !lifted(kept));
        self.stand(user);
        match (kind, room) {
            (SanctionKind::Mute, Some(room)) => {
                self.set_state(room, user, Ok(Role::Member), |state| state == Some(Ok(Role::Muted)))
            }
            (SanctionKind::Ban, Some(room)) => {
                let removed = Err(LeftReason::Removed);
                self.set_state(room, user, removed, |state| state == Some(Err(LeftReason::Banned)))
            }
            (SanctionKind::Ban, None) => {
                self.set_banned(user, false);
                self.moderation.devices.retain(|ban| ban.user != user);
                None
            }
            (SanctionKind::Mute, None) | (SanctionKind::Warning | SanctionKind::Shadow, _) => None,
        }
    }

    pub(super) fn stand(&mut self, user: UserId) {
        let of_site =
            self.moderation.sanctions.iter().filter(|kept| kept.user == user && kept.room.is_none());
        let muted = of_site.clone().any(|kept| kept.kind == SanctionKind::Mute);
        let shadowed = of_site.clone().any(|kept| kept.kind == SanctionKind::Shadow);
        let noticed = self.moderation.sanctions.iter().any(|kept| kept.user == user && kept.is_noticed())
            || self.held.iter().any(|entry| entry.held.from == user);
        if let Some(row) = self.users.get_mut(&user) {
            row.on_site = SiteStanding { muted, noticed, shadowed, ..row.on_site };
            self.revision += 1;
        }
    }

    fn set_state(
        &mut self,
        id: ConversationId,
        user: UserId,
        state: Result<Role, LeftReason>,
        from: impl Fn(Option<Result<Role, LeftReason>>) -> bool,
    ) -> Option<MemberChanged> {
        let was = self.rooms.get(&id)?.state(user);
        if !from(was) {
            return None;
        }
        self.put_member(id, user, state);
        let (seen, left) = match state {
            Ok(_) => (self.room_row(user, id), None),
            Err(reason) => (None, was.is_some_and(|was| was.is_ok()).then_some(reason)),
        };
        let member = MemberRow { user: self.user_by_id(user)?, standing: self.rooms[&id].standing(user) };
        Some(MemberChanged { member, position: self.position(), seen, left, requested: false })
    }

    pub(in crate::memory) fn moderators(&self, site: SiteId) -> Vec<UserId> {
        let looks = |row: &&crate::UserRow| row.id.site == site && row.on_site.role >= SiteRole::Moderator;
        self.users.values().filter(looks).map(|row| row.id).collect()
    }

    pub(in crate::memory) fn notices(&self, user: UserId) -> Vec<Notice> {
        let of_user = self.moderation.sanctions.iter().filter(|kept| kept.user == user);
        let mut notices: Vec<Notice> = of_user.filter_map(Sanction::notice).collect();
        notices.sort_by_key(|notice| notice.room.is_some());
        notices
    }

    pub(in crate::memory) fn notices_seen(&mut self, user: UserId) {
        let is_seen = |kept: &Sanction| kept.user == user && kept.kind == SanctionKind::Warning;
        self.moderation.sanctions.retain(|kept| !is_seen(kept));
        self.forget_refused(user);
        if self.users.get(&user).is_some_and(|row| row.on_site.noticed) {
            self.stand(user);
        }
    }

    pub(in crate::memory) fn end_sanctions(&mut self, now: Timestamp) -> (Vec<Ended>, Option<Timestamp>) {
        let is_over = |kept: &&Sanction| kept.until <= now && kept.until < Timestamp::MAX;
        let over: Vec<Sanction> = self.moderation.sanctions.iter().filter(is_over).cloned().collect();
        let mut ended = Vec::new();
        for Sanction { user, room, kind, .. } in over {
            let member = self.lift(user, room, kind);
            self.note(user.site, By::Site, kind.lifted(), Some(user), room, "ended", now);
            if let Some(user) = self.user_by_id(user) {
                ended.push(Ended { user, room, kind, member });
            }
        }
        for report in self.moderation.reports.values_mut() {
            if report.evidence_ends.is_some_and(|end| end <= now) {
                report.end_evidence();
            }
        }
        self.moderation.erased_sanctions.retain(|kept| kept.until > now);
        (ended, self.next_sanction_end())
    }

    pub(in crate::memory) fn next_sanction_end(&self) -> Option<Timestamp> {
        let ends = self.moderation.sanctions.iter().map(|kept| kept.until);
        let evidence = self.moderation.reports.values().filter_map(|report| report.evidence_ends);
        ends.filter(|until| *until < Timestamp::MAX).chain(evidence).min()
    }
}
