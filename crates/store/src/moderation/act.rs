//! One act of a moderator: checks the permission, carries it out, and records it.

use chat::{
    By, ConversationId, Moderated, ModeratorAct, Refusal, ReportState, Sanction, Seq, SiteId, SiteRole,
    SiteStanding, Timestamp, UserId, may_decide_report, may_moderate_message, may_on_site,
};

use super::{audit, guard, number_of, report, role, role_of, sanction};
use crate::fault::Outcome;
use crate::held;
use crate::writer::Batch;
use crate::{message_change, own_picture, room, user};

pub(super) fn moderate(
    batch: &mut Batch<'_>,
    site: SiteId,
    by: By,
    act: &ModeratorAct,
    now: Timestamp,
) -> Outcome<Result<Moderated, Refusal>> {
    if let Err(refusal) = allowed(batch, site, by, act)? {
        return Ok(Err(refusal));
    }
    let done = match act {
        ModeratorAct::Sanction(wanted) => {
            let member = sanction::put(batch, wanted, now)?;
            about(batch, wanted.user, Moderated { member, ..Moderated::default() })?
        }
        ModeratorAct::Lift { user, room, kind } => {
            let member = sanction::lift(batch, *user, *room, *kind)?;
            about(batch, *user, Moderated { member, ..Moderated::default() })?
        }
        ModeratorAct::Kick(user) => about(batch, *user, Moderated::default())?,
        ModeratorAct::RemovePicture(user) => {
            let picture = own_picture::remove(batch, *user)?;
            about(batch, *user, Moderated { picture, ..Moderated::default() })?
        }
        ModeratorAct::SetRole(user, wanted) => {
            if let Some(row) = user::by_id(batch.db, *user)? {
                user::set_standing(batch.db, *user, SiteStanding { role: *wanted, ..row.on_site })?;
                role::decide(batch.db, site, &row.profile.sub, now)?;
            }
            about(batch, *user, Moderated::default())?
        }
        ModeratorAct::DeleteMessage(id, seq) => {
            match message_change::delete_by_moderator(batch, *id, *seq, now)? {
                Ok(message) => Moderated { message: Some(message), ..Moderated::default() },
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        ModeratorAct::TakeReport(number) => {
            report::set_state(batch, site, *number, ReportState::Taken, number_of(by), None)?
        }
        ModeratorAct::CloseReport(number, note) => {
            let held = held::refuse(batch.db, site, *number, "")?;
            let closed =
                report::set_state(batch, site, *number, ReportState::Closed, number_of(by), Some(note))?;
            Moderated { held, ..closed }
        }
        ModeratorAct::ReopenReport(number) => {
            report::set_state(batch, site, *number, ReportState::Open, 0, None)?
        }
        ModeratorAct::Approved(number) => {
            held::release(batch.db, site, *number)?;
            report::set_state(batch, site, *number, ReportState::Closed, number_of(by), None)?
        }
        ModeratorAct::RefuseHeld(number, reason) => {
            let held = held::refuse(batch.db, site, *number, reason)?;
            if held.is_none() {
                return Ok(Err(Refusal::NoSuchReport));
            }
            let closed = report::set_state(batch, site, *number, ReportState::Closed, number_of(by), None)?;
            Moderated { held, ..closed }
        }
        ModeratorAct::SetLevel(user, level) => {
            user::set_level(batch.db, *user, *level)?;
            about(batch, *user, Moderated::default())?
        }
        ModeratorAct::BanDevices { user, devices, until } => {
            guard::ban_devices(batch.db, *user, devices, *until)?;
            Moderated::default()
        }
        ModeratorAct::StickerAdded(_) | ModeratorAct::StickerRemoved(_) => Moderated::default(),
        ModeratorAct::Configure(_) | ModeratorAct::Raid(_) => match guard::configure(batch.db, site, act)? {
            Ok(settings) => Moderated { settings, ..Moderated::default() },
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    record(batch, site, by, act, now)?;
    Ok(Ok(done))
}

fn about(batch: &Batch<'_>, user: UserId, done: Moderated) -> Outcome<Moderated> {
    Ok(Moderated { user: user::by_id(batch.db, user)?, ..done })
}

fn allowed(batch: &mut Batch<'_>, site: SiteId, by: By, act: &ModeratorAct) -> Outcome<Result<(), Refusal>> {
    let who = match role_of(batch.db, site, by)? {
        Ok(who) => who,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (wanted, of) = act.right();
    let of = match of {
        Some(user) => match user::by_id(batch.db, user)?.filter(|row| row.id.site == site) {
            Some(row) => row.on_site.role,
            None => return Ok(Err(Refusal::NoSuchUser)),
        },
        None => SiteRole::Member,
    };
    if let Some(Err(refusal)) = who.map(|who| may_on_site(who, wanted, of)) {
        return Ok(Err(refusal));
    }
    match act {
        ModeratorAct::Sanction(Sanction { room: Some(room), .. })
        | ModeratorAct::Lift { room: Some(room), .. }
            if room::load(batch.db, *room)?.is_none() =>
        {
            Ok(Err(Refusal::NoSuchConversation))
        }
        ModeratorAct::DeleteMessage(id, seq) if who.is_some() => may_see(batch, *id, *seq),
        ModeratorAct::TakeReport(number)
        | ModeratorAct::CloseReport(number, _)
        | ModeratorAct::ReopenReport(number)
        | ModeratorAct::Approved(number)
        | ModeratorAct::RefuseHeld(number, _) => {
            let Some(reported) = report::one(batch.db, site, *number)? else {
                return Ok(Err(Refusal::NoSuchReport));
            };
            let moderator = by.user().map(|id| user::sub_of(batch.db, id)).transpose()?.flatten();
            Ok(may_decide_report(moderator.as_ref(), reported.user.as_ref()))
        }
        _ => Ok(Ok(())),
    }
}

fn may_see(batch: &Batch<'_>, id: ConversationId, seq: Seq) -> Outcome<Result<(), Refusal>> {
    let room = if id.is_room() { room::load(batch.db, id)?.map(|row| row.room.kind) } else { None };
    let may = may_moderate_message(room, false);
    Ok(if may.is_ok() { may } else { may_moderate_message(room, report::is_about(batch.db, id, seq)?) })
}

fn record(batch: &Batch<'_>, site: SiteId, by: By, act: &ModeratorAct, time: Timestamp) -> Outcome<()> {
    let (word, user, conversation, detail) = act.recorded();
    let entry = audit::Entry { site, by, act: word, user, conversation, detail: &detail, time };
    audit::note(batch.db, &entry)
}
