//! Jingle Message Initiation (XEP-0353): a call rings on all devices before a session begins.

use crate::ns;
use crate::sdp::Kind;
use crate::xml::{Element, Open};

use super::jingle::{Reason, is_sid};

/// What a message says about a proposed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JingleMessage<'a> {
    /// A call of sound, and of pictures if `video` is set.
    Propose {
        id: &'a str,
        video: bool,
    },
    Ringing {
        id: &'a str,
    },
    Proceed {
        id: &'a str,
    },
    /// Earlier versions of the specification: a device tells the others of its user that it takes the call.
    Accept {
        id: &'a str,
    },
    Reject {
        id: &'a str,
        reason: Option<Reason>,
    },
    Retract {
        id: &'a str,
        reason: Option<Reason>,
    },
    Finish {
        id: &'a str,
        reason: Option<Reason>,
    },
}

impl<'a> JingleMessage<'a> {
    /// None: it has none, or one that proposes something else than a call.
    pub fn of(message: Element<'a>) -> Option<JingleMessage<'a>> {
        let element = message.children().find(|child| child.ns() == ns::JINGLE_MESSAGES)?;
        let id = element.attr("id").filter(|id| is_sid(id))?;
        let reason = || Reason::of(element);
        Some(match element.name() {
            "propose" => {
                let kinds = || {
                    let of_rtp = element.children().filter(|child| child.is("description", ns::JINGLE_RTP));
                    of_rtp.filter_map(|description| Kind::of(description.attr("media")?))
                };
                kinds().next()?;
                JingleMessage::Propose { id, video: kinds().any(|kind| kind == Kind::Video) }
            }
            "ringing" => JingleMessage::Ringing { id },
            "proceed" => JingleMessage::Proceed { id },
            "accept" => JingleMessage::Accept { id },
            "reject" => JingleMessage::Reject { id, reason: reason() },
            "retract" => JingleMessage::Retract { id, reason: reason() },
            "finish" => JingleMessage::Finish { id, reason: reason() },
            _ => return None,
        })
    }

    pub fn id(&self) -> &'a str {
        match self {
            JingleMessage::Propose { id, .. }
            | JingleMessage::Ringing { id }
            | JingleMessage::Proceed { id }
            | JingleMessage::Accept { id }
            | JingleMessage::Reject { id, .. }
            | JingleMessage::Retract { id, .. }
            | JingleMessage::Finish { id, .. } => id,
        }
    }

    pub fn write(&self, out: &mut Vec<u8>) {
        let (name, reason) = match self {
            JingleMessage::Propose { .. } => ("propose", None),
            JingleMessage::Ringing { .. } => ("ringing", None),
            JingleMessage::Proceed { .. } => ("proceed", None),
            JingleMessage::Accept { .. } => ("accept", None),
            JingleMessage::Reject { reason, .. } => ("reject", *reason),
            JingleMessage::Retract { reason, .. } => ("retract", *reason),
            JingleMessage::Finish { reason, .. } => ("finish", *reason),
        };
        Open::new(out, name).attr("xmlns", ns::JINGLE_MESSAGES).attr("id", self.id()).children(|out| {
            if let JingleMessage::Propose { video, .. } = self {
                for kind in
                    [Kind::Audio, Kind::Video].into_iter().filter(|kind| *video || *kind == Kind::Audio)
                {
                    let open = Open::new(out, "description").attr("xmlns", ns::JINGLE_RTP);
                    open.attr("media", kind.name()).empty();
                }
            }
            if let Some(reason) = reason {
                reason.write(out);
            }
        });
    }
}
