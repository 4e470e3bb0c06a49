//! Jingle (XEP-0166): calls of an app with users of the widget, and of other apps, through the domain's calls.
//!
//! An app's session of Jingle is with this server, which speaks for the other user with the widget's resource. Each step of the app becomes a
//! step of the domain's call, and each event of the call a step for the app. Descriptions of the domain are SDP.
//!
//! [`jingle_messages`](super::jingle_messages) is the ringing before a session. Sessions between two full JIDs of apps, as for files, are
//! relayed unread and do not come here.

mod discovery;
mod events;
mod sdp_text;

use std::sync::Arc;

use chat::calls::Command;
use chat::{CANDIDATE_BYTES, CallAction, CallId, CallStep, CallTicket, Delivery, Media, Refusal, Sub};
use serde::{Deserialize, Serialize};
use serde_json::json;
use xmpp_proto::ns;
use xmpp_proto::payload::jingle::{
    Action, Author, Info, Outgoing, Reason, Step, out_of_order, unknown_session,
};
use xmpp_proto::sdp::{Candidate, Description, Kind, Setup};
use xmpp_proto::stanza::{Condition, StanzaError};
use xmpp_proto::xml::{Element, Open};

use crate::address;
use crate::extensions::{Extension, Spec};
use crate::refusal::stanza_error;
use crate::session::{Asked, Turn};

pub(crate) use discovery::write_caps;

const fn of_calls(number: u16, name: &'static str, version: &'static str) -> Extension {
    let spec = Spec::Xep(number);
    Extension { spec, name, version, scenario: "calls", server_features: &[], account_features: &[], iq: &[] }
}

pub(crate) const EXTENSION: Extension = of_calls(166, "Jingle", "1.1.2");
pub(crate) const RTP: Extension = of_calls(167, "Jingle RTP Sessions", "1.2.3");
pub(crate) const ICE: Extension = of_calls(176, "Jingle ICE-UDP Transport Method", "1.1.1");
pub(crate) const FEEDBACK: Extension = of_calls(293, "Jingle RTP Feedback Negotiation", "1.0.1");
pub(crate) const HEADER_EXTENSIONS: Extension =
    of_calls(294, "Jingle RTP Header Extensions Negotiation", "1.1.1");
pub(crate) const DTLS: Extension = of_calls(320, "Use of DTLS-SRTP in Jingle Sessions", "1.0.0");
pub(crate) const GROUPING: Extension = of_calls(338, "Jingle Grouping Framework", "1.0.0");
pub(crate) const SOURCES: Extension = of_calls(339, "Source-Specific Media Attributes in Jingle", "1.0.1");

/// Candidates of an app that wait until the domain takes them. Later ones are dropped: the first ones are those of the local network,
/// and the others are found during the checks (RFC 8445 §7.3.1.3).
const MOST_EARLY: usize = 64;

/// The call in which a session is, or which rings there. A user is in one call at a time.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call {
    /// None until the domain has answered the invitation.
    id: Option<CallId>,
    pub(super) sid: Box<str>,
    /// The other user.
    pub(super) user: Sub,
    media: Media,
    /// The app began the session of Jingle.
    is_initiator: bool,
    pub(super) stage: Stage,
    ticket: Option<CallTicket>,
    /// The last offer, with the places of its sections.
    #[serde(with = "sdp_text")]
    offer: Option<Description>,
    /// What the app has described last, without candidates.
    #[serde(with = "sdp_text")]
    app: Option<Description>,
    /// ICE restarts, and this party has still to answer.
    restart: Option<Restart>,
    /// The ICE credentials of the other side, by the name of the content.
    credentials: Vec<(Box<str>, Box<str>, Box<str>)>,
    early: Vec<Arc<str>>,
    /// Candidates that the app has got: each has an id.
    candidates: u32,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Stage {
    /// The invitation is with the domain. `cancelled`: the app has given up meanwhile.
    Inviting {
        cancelled: bool,
    },
    /// It rings on the devices of the other user.
    Calling,
    /// Accepted. The app will begin a session.
    Proceeding,
    /// The app's offer waits for an answer.
    Offered,
    /// An incoming call. `is_shown`: the app has got the proposal.
    Ringing {
        offer: Arc<str>,
        is_shown: bool,
    },
    /// Accepted by this app. The other user will send an offer.
    AwaitingOffer,
    /// The app has got the offer. `accepts`: its answer accepts the call.
    Initiated {
        accepts: bool,
    },
    /// The app's answer is with the domain.
    Accepting,
    Up,
}

/// Who answers to a restart of ICE.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Restart {
    App,
    OtherUser,
}

impl Call {
    pub(super) fn new(sid: &str, user: Sub, media: Media, is_initiator: bool, stage: Stage) -> Call {
        Call {
            id: None,
            sid: sid.into(),
            user,
            media,
            is_initiator,
            stage,
            ticket: None,
            offer: None,
            app: None,
            restart: None,
            credentials: Vec::new(),
            early: Vec::new(),
            candidates: 0,
        }
    }

    fn is_of(&self, user: &Sub, sid: &str) -> bool {
        self.user == *user && *self.sid == *sid
    }

    /// A session of Jingle exists.
    fn has_session(&self) -> bool {
        match self.stage {
            Stage::Inviting { .. } => self.offer.is_some(),
            Stage::Offered | Stage::Initiated { .. } | Stage::Accepting | Stage::Up => true,
            Stage::Calling | Stage::Proceeding | Stage::Ringing { .. } | Stage::AwaitingOffer => false,
        }
    }

    /// The kinds of sections that the app has agreed to.
    fn kinds(&self) -> &'static [Kind] {
        match self.media {
            Media::Audio => &[Kind::Audio],
            Media::Video => &[Kind::Audio, Kind::Video],
        }
    }

    fn note_credentials(&mut self, description: &Description) {
        let known = description.media().filter_map(|media| {
            let transport = &media.transport;
            Some((media.name.clone(), transport.ufrag.clone()?, transport.pwd.clone()?))
        });
        self.credentials = known.collect();
    }
}

impl Turn<'_, '_> {
    /// A request to the widget's resource of a user, or an answer. False: this server does not answer it.
    pub(crate) fn for_widget(&mut self, element: Element<'_>, user: &Sub) -> bool {
        match (element.attr("type"), element.attr("id"), element.first()) {
            (Some("result"), ..) => true,
            (Some("error"), id, _) => {
                self.step_failed(user, id.unwrap_or_default());
                true
            }
            (Some("get"), Some(_), Some(payload)) => self.discover_widget(element, payload),
            (Some("set"), Some(_), Some(payload)) => {
                let Some(step) = Step::of(payload) else { return false };
                let outcome =
                    step.map_err(StanzaError::new).and_then(|step| self.app_step(element, user, &step));
                if let Err(error) = outcome {
                    self.refuse(element, &error);
                }
                true
            }
            _ => false,
        }
    }

    fn acknowledge(&mut self, element: Element<'_>) {
        self.send(|out| {
            Open::new(out, "iq")
                .attr("type", "result")
                .opt("id", element.attr("id"))
                .opt("from", element.attr("to"))
                .empty();
        });
    }

    fn app_step(&mut self, element: Element<'_>, user: &Sub, step: &Step<'_>) -> Result<(), StanzaError> {
        let bad = || StanzaError::new(Condition::BadRequest);
        let Some(mut call) = self.session.take_call() else {
            return match step.action {
                Action::SessionInitiate => {
                    let offer = step.description(Author::Initiator).ok_or_else(bad)?;
                    self.acknowledge(element);
                    self.begin_session(step.sid, user.clone(), offer);
                    Ok(())
                }
                _ => Err(unknown_session()),
            };
        };
        if !call.is_of(user, step.sid) {
            self.session.put_call(call);
            return Err(match step.action {
                Action::SessionInitiate => StanzaError::new(Condition::ResourceConstraint),
                _ => unknown_session(),
            });
        }
        if step.action == Action::SessionTerminate {
            self.acknowledge(element);
            self.app_gives_up(call, step.reason());
            return Ok(());
        }
        let outcome = self.app_step_of(&mut call, element, step);
        self.session.put_call(call);
        outcome
    }

    fn app_step_of(
        &mut self,
        call: &mut Call,
        element: Element<'_>,
        step: &Step<'_>,
    ) -> Result<(), StanzaError> {
        let bad = || StanzaError::new(Condition::BadRequest);
        match (step.action, &call.stage) {
            (Action::SessionInitiate, Stage::Proceeding) => {
                // The other user has accepted what was proposed.
                let offer = step.description(Author::Initiator).map(|offer| offer.only(call.kinds()));
                let offer = offer.filter(|offer| !offer.sections.is_empty()).ok_or_else(bad)?;
                self.acknowledge(element);
                self.app_offers(call, offer);
            }
            (Action::SessionAccept, Stage::Initiated { accepts }) => {
                let accepts = *accepts;
                let mut answer = step.description(Author::Responder).ok_or_else(bad)?;
                let candidates = answer.take_candidates();
                let offer = call.offer.as_ref().ok_or_else(out_of_order)?;
                let answer = answer.answering(offer).ok_or_else(bad)?;
                self.acknowledge(element);
                self.app_answers(call, answer, accepts);
                self.app_candidates(call, candidates);
            }
            (Action::TransportInfo, _) if call.has_session() => {
                let candidates = step.candidates().ok_or_else(bad)?;
                self.acknowledge(element);
                if let (Stage::Up, Some((ufrag, pwd))) = (&call.stage, step.credentials()) {
                    self.app_restarts(call, ufrag, pwd);
                }
                self.app_candidates(call, candidates);
            }
            (Action::SessionInfo, _) if call.has_session() => {
                if let (Some(info @ (Info::Hold | Info::Unhold)), Some(id)) = (step.info(), call.id) {
                    self.call_step(id, CallStep::Hold(info == Info::Hold));
                } else if step.info().is_none() && !step.is_empty() {
                    return Err(StanzaError::new(Condition::FeatureNotImplemented)
                        .application("unsupported-info", ns::JINGLE_ERRORS));
                }
                self.acknowledge(element);
            }
            // The widget cannot change what a call consists of.
            (Action::ContentAdd | Action::ContentReject, _) => {
                return Err(StanzaError::new(Condition::FeatureNotImplemented));
            }
            _ => return Err(out_of_order()),
        }
        Ok(())
    }

    /// An app begins a session without a proposal: it rings with the offer. Candidates reach nobody before the call is accepted.
    fn begin_session(&mut self, sid: &str, user: Sub, mut offer: Description) {
        let media = media_of(offer.has(Kind::Video));
        let candidates = offer.take_candidates();
        let sdp = offer.to_sdp();
        let mut call =
            Box::new(Call::new(sid, user.clone(), media, true, Stage::Inviting { cancelled: false }));
        (call.app, call.offer) = (Some(offer.clone()), Some(offer));
        self.app_candidates(&mut call, candidates);
        self.session.put_call(call);
        self.call_user(Asked::internal(), user, media, sdp.into());
    }

    /// Calls a user. An empty offer: the app sends it once the call is accepted.
    pub(super) fn call_user(&mut self, asked: Asked, user: Sub, media: Media, offer: Arc<str>) {
        let action = CallAction::Invite { user, media, offer };
        self.continue_then(asked, Command::Direct { action }, |turn, asked, outcome| {
            turn.invited(&asked, outcome)
        });
    }

    fn invited(&mut self, asked: &Asked, outcome: Result<&Delivery, Refusal>) {
        match outcome {
            Ok(delivery) => self.call_delivery(delivery),
            Err(refusal) => {
                let Some(call) = self.session.take_call() else { return };
                if call.offer.is_some() {
                    self.terminate(&call, Reason::Decline);
                }
                // The app gets its proposal back, with the reason.
                self.answer_error(asked, &stanza_error(refusal));
                self.session.drop_empty_extra();
            }
        }
    }

    fn app_offers(&mut self, call: &mut Call, mut offer: Description) {
        let candidates = offer.take_candidates();
        let sdp = offer.to_sdp();
        (call.app, call.offer) = (Some(offer.clone()), Some(offer));
        call.stage = Stage::Offered;
        self.describe(call, CallStep::Offer(sdp.into()));
        self.app_candidates(call, candidates);
    }

    fn app_answers(&mut self, call: &mut Call, answer: Description, accepts: bool) {
        let sdp = answer.to_sdp();
        call.app = Some(answer);
        match accepts {
            true => {
                call.stage = Stage::Accepting;
                self.describe(call, CallStep::Accept { answer: sdp.into() });
            }
            false => {
                call.stage = Stage::Up;
                self.describe(call, CallStep::Answer(sdp.into()));
            }
        }
    }

    /// The app has new credentials of ICE: it looks for another path, or answers the other user who does.
    fn app_restarts(&mut self, call: &mut Call, ufrag: &str, pwd: &str) {
        let Some(app) = &call.app else { return };
        let is_known = |media: &xmpp_proto::sdp::Media| media.transport.ufrag.as_deref() == Some(ufrag);
        if app.media().any(is_known) {
            return;
        }
        let answers = call.restart == Some(Restart::App);
        let app = app.restarted(ufrag, pwd, (!answers).then_some(Setup::Either));
        let sdp = app.to_sdp().into();
        call.app = Some(app.clone());
        match answers {
            true => {
                call.restart = None;
                self.describe(call, CallStep::Answer(sdp));
            }
            false => {
                call.restart = Some(Restart::OtherUser);
                call.offer = Some(app);
                self.describe(call, CallStep::Offer(sdp));
            }
        }
    }

    /// The other user looks for another path.
    fn other_restarts(&mut self, call: &mut Call, sdp: &str) {
        let Some(offer) = Description::parse(sdp) else { return };
        let shown = offer.clone().only(call.kinds());
        // The app agrees to no other media in the course of a call.
        let Some(app) = call.app.clone().and_then(|app| app.answering(&offer)) else { return };
        call.note_credentials(&shown);
        (call.app, call.offer, call.restart) = (Some(app), Some(offer), Some(Restart::App));
        self.send_step(call, |out, step| step.write_restart(out, &shown));
    }

    /// Takes the call up again after the stream was resumed. Media have continued meanwhile.
    pub(crate) fn return_to_call(&mut self, call: Box<Call>) {
        let (id, ticket, is_ringing) = (call.id, call.ticket, matches!(call.stage, Stage::Ringing { .. }));
        if let Some(ticket) = ticket {
            self.describe(&call, CallStep::Rejoin { ticket, offer: "".into() });
        } else if id.is_none() || !is_ringing {
            return self.say_over(&call, Reason::Gone);
        }
        self.session.put_call(call);
    }

    /// Hands a description to the domain. Without it the call cannot go on, so a refusal ends the call on this device.
    fn describe(&mut self, call: &Call, step: CallStep) {
        let Some(id) = call.id else { return };
        let command = Command::Direct { action: CallAction::Of(id, step) };
        self.continue_then(Asked::internal(), command, move |turn, _, outcome| match outcome {
            Ok(delivery) => turn.call_delivery(delivery),
            Err(_) => {
                let Some(call) = turn.session.take_call() else { return };
                if call.id != Some(id) {
                    return turn.session.put_call(call);
                }
                turn.say_over(&call, Reason::Gone);
                turn.call_step(id, CallStep::HangUp);
                turn.session.drop_empty_extra();
            }
        });
    }

    /// Takes a call whose caller sends the offer later.
    pub(super) fn accept_without_offer(&mut self, call: &mut Call) {
        call.stage = Stage::AwaitingOffer;
        self.describe(call, CallStep::Accept { answer: "".into() });
    }

    /// The domain takes candidates of a party that has its place. Until then they wait.
    fn app_candidates(&mut self, call: &mut Call, candidates: Vec<(Box<str>, Candidate)>) {
        for (content, candidate) in candidates {
            let text = json!({ "candidate": candidate.to_line(), "sdpMid": content }).to_string();
            if text.len() > CANDIDATE_BYTES {
                continue;
            }
            match call.id.filter(|_| call.ticket.is_some()) {
                Some(id) => self.call_step(id, CallStep::Candidate(text.into())),
                None if call.early.len() < MOST_EARLY => call.early.push(text.into()),
                None => {}
            }
        }
    }

    /// The app declines, cancels or ends the call.
    pub(super) fn app_gives_up(&mut self, mut call: Box<Call>, reason: Option<Reason>) {
        if let Stage::Inviting { cancelled } = &mut call.stage {
            *cancelled = true;
            return self.session.put_call(call);
        }
        self.app_leaves(&call, reason);
        self.session.drop_empty_extra();
    }

    pub(super) fn app_leaves(&mut self, call: &Call, reason: Option<Reason>) {
        let Some(id) = call.id else { return };
        let is_declined = matches!(call.stage, Stage::Ringing { .. } | Stage::Initiated { accepts: true });
        self.call_step(
            id,
            match is_declined {
                true => CallStep::Decline { busy: reason == Some(Reason::Busy) },
                false => CallStep::HangUp,
            },
        );
    }

    /// A client answers the beginning of a session by an error: it cannot take the call.
    fn step_failed(&mut self, user: &Sub, id: &str) {
        if let Some(sid) = id.strip_prefix(INITIATE_ID)
            && let Some(call) = self.session.take_call()
        {
            if call.is_of(user, sid) && matches!(call.stage, Stage::Initiated { .. }) {
                self.app_leaves(&call, None);
                self.session.drop_empty_extra();
            } else {
                self.session.put_call(call);
            }
        }
    }

    /// A step whose refusal changes nothing.
    pub(super) fn call_step(&mut self, id: CallId, step: CallStep) {
        self.command(Command::Direct { action: CallAction::Of(id, step) });
    }

    /// Sends a step of the session to the app.
    fn send_step(&mut self, call: &Call, write: impl FnOnce(&mut Vec<u8>, &Outgoing<'_>)) {
        let id = self.push_id();
        self.send_step_as(call, &id, write);
    }

    fn send_step_as(&mut self, call: &Call, id: &str, write: impl FnOnce(&mut Vec<u8>, &Outgoing<'_>)) {
        let theirs = address::user_here(&call.user, self.domain());
        let own = self.session.jid.as_str().to_owned();
        let (initiator, responder) = if call.is_initiator { (&own, &theirs) } else { (&theirs, &own) };
        let out_of = Outgoing { sid: &call.sid, initiator, responder };
        self.send(|out| {
            let open = Open::new(out, "iq").attr("type", "set").attr("id", id);
            open.attr("from", &theirs).attr("to", &own).children(|out| write(out, &out_of));
        });
    }

    fn terminate(&mut self, call: &Call, reason: Reason) {
        self.send_step(call, |out, step| step.write_terminate(out, reason));
    }

    /// Sends an offer to the app, which has agreed to the call. False: the offer has nothing that an app can read.
    pub(super) fn offer_to_app(&mut self, call: &mut Call, sdp: &str, accepts: bool) -> bool {
        let Some(offer) = Description::parse(sdp) else { return false };
        let shown = offer.clone().only(call.kinds());
        if shown.sections.is_empty() {
            return false;
        }
        call.note_credentials(&shown);
        let id = format!("{INITIATE_ID}{}", call.sid);
        self.send_step_as(call, &id, |out, step| step.write_initiate(out, &shown));
        call.offer = Some(offer);
        call.stage = Stage::Initiated { accepts };
        true
    }
}

/// The id of the request that begins a session, before the session's own.
const INITIATE_ID: &str = "initiate-";

pub(super) fn media_of(video: bool) -> Media {
    if video { Media::Video } else { Media::Audio }
}
