//! Jingle (XEP-0166): the steps of a session between two clients.
//!
//! Sessions of calls have contents of [`super::jingle_rtp`]; the reader of a step leaves contents of other applications out.

use crate::ns;
use crate::sdp::{Candidate, Description, is_ice_text, is_name};
use crate::stanza::{Condition, ErrorKind, StanzaError};
use crate::xml::{Element, Open};

use super::jingle_rtp;

/// Longest session id.
const SID_BYTES: usize = 128;

/// §7.2, as far as calls use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    SessionInitiate,
    SessionAccept,
    SessionInfo,
    SessionTerminate,
    TransportInfo,
    ContentReject,
    ContentAdd,
}

const ACTIONS: [(Action, &str); 7] = [
    (Action::SessionInitiate, "session-initiate"),
    (Action::SessionAccept, "session-accept"),
    (Action::SessionInfo, "session-info"),
    (Action::SessionTerminate, "session-terminate"),
    (Action::TransportInfo, "transport-info"),
    (Action::ContentReject, "content-reject"),
    (Action::ContentAdd, "content-add"),
];

impl Action {
    pub fn name(self) -> &'static str {
        ACTIONS.iter().find(|(action, _)| *action == self).map_or("", |(_, name)| name)
    }

    pub fn of(name: &str) -> Option<Action> {
        ACTIONS.iter().find(|(_, one)| *one == name).map(|(action, _)| *action)
    }
}

/// §7.4: why a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Success,
    Busy,
    Cancel,
    Decline,
    Expired,
    FailedApplication,
    FailedTransport,
    Gone,
    GeneralError,
    Timeout,
}

const REASONS: [(Reason, &str); 10] = [
    (Reason::Success, "success"),
    (Reason::Busy, "busy"),
    (Reason::Cancel, "cancel"),
    (Reason::Decline, "decline"),
    (Reason::Expired, "expired"),
    (Reason::FailedApplication, "failed-application"),
    (Reason::FailedTransport, "failed-transport"),
    (Reason::Gone, "gone"),
    (Reason::GeneralError, "general-error"),
    (Reason::Timeout, "timeout"),
];

impl Reason {
    pub fn name(self) -> &'static str {
        REASONS.iter().find(|(reason, _)| *reason == self).map_or("general-error", |(_, name)| name)
    }

    /// Of an element with a `reason`. An unknown reason counts as a general error; None: no reason is given.
    pub fn of(element: Element<'_>) -> Option<Reason> {
        let reason = element.child("reason", ns::JINGLE)?;
        let known =
            |child: Element<'_>| REASONS.iter().find(|(_, name)| *name == child.name()).map(|(one, _)| *one);
        Some(reason.children().find_map(known).unwrap_or(Reason::GeneralError))
    }

    pub fn write(self, out: &mut Vec<u8>) {
        Open::new(out, "reason").attr("xmlns", ns::JINGLE).children(|out| self.write_name(out));
    }

    fn write_name(self, out: &mut Vec<u8>) {
        Open::new(out, self.name()).empty();
    }
}

/// The party that wrote a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    Initiator,
    Responder,
}

/// XEP-0167 §7.1, §7.2: what a party does with the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Info {
    Ringing,
    Hold,
    Unhold,
}

const INFOS: [(Info, &str, &str); 4] = [
    (Info::Ringing, "ringing", "ringing"),
    (Info::Hold, "hold", "hold"),
    (Info::Unhold, "unhold", "unhold"),
    // After a hold.
    (Info::Unhold, "active", "active"),
];

/// A step of a session, from the payload of a set.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    pub action: Action,
    pub sid: &'a str,
    element: Element<'a>,
}

impl<'a> Step<'a> {
    /// None: it is not of Jingle.
    pub fn of(payload: Element<'a>) -> Option<Result<Step<'a>, Condition>> {
        if !payload.is("jingle", ns::JINGLE) {
            return None;
        }
        let sid = payload.attr("sid").filter(|sid| is_sid(sid));
        Some(match (sid, payload.attr("action").map(Action::of)) {
            (Some(sid), Some(Some(action))) => Ok(Step { action, sid, element: payload }),
            (Some(_), Some(None)) => Err(Condition::FeatureNotImplemented),
            _ => Err(Condition::BadRequest),
        })
    }

    /// The description in the contents of this step. None: one of its contents is malformed or no RTP, or they exceed the bounds of
    /// [`crate::sdp`].
    pub fn description(&self, author: Author) -> Option<Description> {
        jingle_rtp::description(self.element, author)
    }

    /// The candidates, each with the name of its content. None: one is malformed.
    pub fn candidates(&self) -> Option<Vec<(Box<str>, Candidate)>> {
        let mut all = Vec::new();
        for content in contents(self.element) {
            let name = content.attr("name").filter(|name| is_name(name))?;
            let transport = content.child("transport", ns::JINGLE_ICE)?;
            all.extend(
                jingle_rtp::candidates(transport)?.into_iter().map(|candidate| (name.into(), candidate)),
            );
        }
        Some(all)
    }

    /// The ICE credentials of the first content. Others are those of an earlier path if ICE restarts.
    pub fn credentials(&self) -> Option<(&'a str, &'a str)> {
        let transport = contents(self.element).next()?.child("transport", ns::JINGLE_ICE)?;
        let credential = |name| transport.attr(name).filter(|value| is_ice_text(value));
        Some((credential("ufrag")?, credential("pwd")?))
    }

    pub fn reason(&self) -> Option<Reason> {
        Reason::of(self.element)
    }

    pub fn info(&self) -> Option<Info> {
        self.element.children().filter(|child| child.ns() == ns::JINGLE_RTP_INFO).find_map(|child| {
            INFOS.iter().find(|(_, name, _)| *name == child.name()).map(|(info, _, _)| *info)
        })
    }

    /// §6.2: a step without content asks whether the session exists.
    pub fn is_empty(&self) -> bool {
        self.element.first().is_none()
    }
}

pub(super) fn is_sid(sid: &str) -> bool {
    (1..=SID_BYTES).contains(&sid.len()) && !sid.chars().any(char::is_control)
}

pub(super) fn contents(jingle: Element<'_>) -> impl Iterator<Item = Element<'_>> {
    jingle.children().filter(|child| child.is("content", ns::JINGLE))
}

/// A step that this side sends.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    pub sid: &'a str,
    /// The full JID of the client that began the session.
    pub initiator: &'a str,
    /// Of the other one.
    pub responder: &'a str,
}

impl Outgoing<'_> {
    fn write(&self, out: &mut Vec<u8>, action: Action, children: impl FnOnce(&mut Vec<u8>)) {
        let (initiator, responder) = match action {
            Action::SessionInitiate => (Some(self.initiator), None),
            Action::SessionAccept => (None, Some(self.responder)),
            _ => (None, None),
        };
        Open::new(out, "jingle")
            .attr("xmlns", ns::JINGLE)
            .attr("action", action.name())
            .opt("initiator", initiator)
            .opt("responder", responder)
            .attr("sid", self.sid)
            .children(children);
    }

    pub fn write_initiate(&self, out: &mut Vec<u8>, description: &Description) {
        self.write(out, Action::SessionInitiate, |out| {
            jingle_rtp::write(out, description, Author::Initiator)
        });
    }

    pub fn write_accept(&self, out: &mut Vec<u8>, description: &Description) {
        self.write(out, Action::SessionAccept, |out| jingle_rtp::write(out, description, Author::Responder));
    }

    /// `credentials`: those of the description to which the candidate belongs.
    pub fn write_candidate(
        &self,
        out: &mut Vec<u8>,
        content: &str,
        credentials: Option<(&str, &str)>,
        candidate: &Candidate,
        id: &str,
    ) {
        self.write(out, Action::TransportInfo, |out| {
            Open::new(out, "content").attr("creator", "initiator").attr("name", content).children(|out| {
                jingle_rtp::write_transport_with(out, credentials, |out| {
                    jingle_rtp::write_candidate(out, candidate, id);
                });
            });
        });
    }

    /// New ICE credentials of each content: a restart, or the answer to one. Conversations and stanza restart in this way.
    pub fn write_restart(&self, out: &mut Vec<u8>, description: &Description) {
        self.write(out, Action::TransportInfo, |out| {
            for media in description.media() {
                let credentials = media.transport.ufrag.as_deref().zip(media.transport.pwd.as_deref());
                let open = Open::new(out, "content").attr("creator", "initiator").attr("name", &media.name);
                open.children(|out| jingle_rtp::write_transport_with(out, credentials, |_| {}));
            }
        });
    }

    pub fn write_info(&self, out: &mut Vec<u8>, info: Info) {
        let name = INFOS.iter().find(|(one, _, _)| *one == info).map_or("active", |(_, _, name)| name);
        self.write(out, Action::SessionInfo, |out| {
            Open::new(out, name).attr("xmlns", ns::JINGLE_RTP_INFO).empty();
        });
    }

    pub fn write_terminate(&self, out: &mut Vec<u8>, reason: Reason) {
        self.write(out, Action::SessionTerminate, |out| {
            Open::new(out, "reason").children(|out| reason.write_name(out));
        });
    }
}

/// §7.3, §10: the error for a step of a session that does not exist.
pub fn unknown_session() -> StanzaError {
    StanzaError::new(Condition::ItemNotFound).application("unknown-session", ns::JINGLE_ERRORS)
}

/// The error for a step that the state of the session does not allow.
pub fn out_of_order() -> StanzaError {
    StanzaError::new(Condition::UnexpectedRequest)
        .kind(ErrorKind::Cancel)
        .application("out-of-order", ns::JINGLE_ERRORS)
}
