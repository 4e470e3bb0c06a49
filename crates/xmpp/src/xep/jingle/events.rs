//! Events of the domain's call, as steps and messages for the app.

use chat::calls::Event as CallsEvent;
use chat::{CallEvent, CallNews, CallStep, Delivery, Event, Outcome};
use serde_json::Value;
use xmpp_proto::payload::jingle::{Info, Reason};
use xmpp_proto::payload::jingle_messages::JingleMessage;
use xmpp_proto::sdp::{Candidate, Description};

use super::{Call, Restart, Stage};
use crate::session::Turn;

impl Turn<'_, '_> {
    /// The answer of the domain to a step.
    pub(super) fn call_delivery(&mut self, delivery: &Delivery) {
        if let Event::Calls(CallsEvent::Call(event)) = &delivery.event {
            self.call_event(event);
        }
    }

    pub(crate) fn call_event(&mut self, event: &CallEvent) {
        if let CallNews::Ring { .. } = event.news {
            return self.call_rings(event);
        }
        let Some(mut call) = self.session.take_call() else { return };
        // The first event of an invitation tells the id of the call.
        let is_invitation = matches!(call.stage, Stage::Inviting { .. }) && call.id.is_none();
        if call.id != Some(event.call) && !is_invitation {
            return self.session.put_call(call);
        }
        call.id = Some(event.call);
        match self.call_goes_on(&mut call, &event.news) {
            true => self.session.put_call(call),
            false => self.session.drop_empty_extra(),
        }
    }

    fn call_rings(&mut self, event: &CallEvent) {
        let CallNews::Ring { from, media, offer, .. } = &event.news else { return };
        if let Some(mut call) = self.session.take_call() {
            if call.id == Some(event.call) {
                // The caller has come back with another offer.
                if let Stage::Ringing { offer: known, .. } = &mut call.stage {
                    *known = offer.clone();
                }
                return self.session.put_call(call);
            }
            match call.stage {
                // Both users have called each other, and the other one was first (XEP-0353 §3.8).
                Stage::Inviting { .. } => {
                    let reject = JingleMessage::Reject { id: &call.sid, reason: Some(Reason::Expired) };
                    self.send_jingle_message(&call.user, &reject);
                }
                Stage::Ringing { is_shown, .. } => self.stop_ringing(&call, is_shown, Reason::Expired),
                _ => return self.session.put_call(call),
            }
        }
        let sid = event.call.to_string();
        let stage = Stage::Ringing { offer: offer.clone(), is_shown: false };
        let mut call = Box::new(Call::new(&sid, from.clone(), *media, false, stage));
        call.id = Some(event.call);
        self.session.put_call(call);
        self.show_ringing_call();
    }

    /// The app gets the proposal of a call that rings, once it is available.
    pub(crate) fn show_ringing_call(&mut self) {
        if !self.session.is_available() {
            return;
        }
        let Some(mut call) = self.session.take_call() else { return };
        if let Stage::Ringing { is_shown: is_shown @ false, .. } = &mut call.stage {
            *is_shown = true;
            let propose = JingleMessage::Propose { id: &call.sid, video: call.media == chat::Media::Video };
            self.send_jingle_message(&call.user, &propose);
        }
        self.session.put_call(call);
    }

    fn stop_ringing(&mut self, call: &Call, is_shown: bool, reason: Reason) {
        if is_shown {
            let retract = JingleMessage::Retract { id: &call.sid, reason: Some(reason) };
            self.send_jingle_message(&call.user, &retract);
        }
    }

    /// False: the call is over for this session.
    fn call_goes_on(&mut self, call: &mut Call, news: &CallNews) -> bool {
        match news {
            CallNews::Calling { ticket, .. } => {
                call.ticket = Some(*ticket);
                if matches!(call.stage, Stage::Inviting { cancelled: true }) {
                    self.app_leaves(call, None);
                    return false;
                }
                match call.offer {
                    Some(_) => call.stage = Stage::Offered,
                    None => {
                        call.stage = Stage::Calling;
                        // For every callee: it tells nothing about their devices.
                        self.send_jingle_message(&call.user, &JingleMessage::Ringing { id: &call.sid });
                    }
                }
                self.place_is_taken(call);
            }
            CallNews::Joined { ticket } => {
                call.ticket = Some(*ticket);
                if let Stage::Accepting = call.stage {
                    call.stage = Stage::Up;
                }
                self.place_is_taken(call);
            }
            CallNews::Accepted { answer } if answer.is_empty() => {
                call.stage = Stage::Proceeding;
                self.send_jingle_message(&call.user, &JingleMessage::Proceed { id: &call.sid });
            }
            CallNews::Accepted { answer } | CallNews::Answer(answer) => match call.stage {
                Stage::Offered => return self.answer_to_app(call, answer),
                Stage::Up if call.restart == Some(Restart::OtherUser) => {
                    self.restart_is_answered(call, answer)
                }
                _ => {}
            },
            CallNews::Offer(offer) => match call.stage {
                Stage::AwaitingOffer => {
                    return self.offer_to_app(call, offer, false) || self.end_unusable(call);
                }
                Stage::Up => self.other_restarts(call, offer),
                _ => {}
            },
            CallNews::Candidate(candidate) => self.candidate_to_app(call, candidate),
            CallNews::Hold(on) if call.has_session() => {
                let info = if *on { Info::Hold } else { Info::Unhold };
                self.send_step(call, |out, step| step.write_info(out, info));
            }
            // An app cannot take a new certificate in a session.
            CallNews::Back { offer } if !offer.is_empty() => return self.end_unusable(call),
            CallNews::Elsewhere => {
                self.taken_elsewhere(call);
                return false;
            }
            CallNews::Over { outcome, .. } => {
                self.call_is_over(call, *outcome);
                return false;
            }
            CallNews::Ring { .. }
            | CallNews::Hold(_)
            | CallNews::Away
            | CallNews::Back { .. }
            | CallNews::Rejoined { .. }
            | CallNews::Done => {}
        }
        true
    }

    /// The domain takes candidates of this session now.
    fn place_is_taken(&mut self, call: &mut Call) {
        let Some(id) = call.id else { return };
        for text in std::mem::take(&mut call.early) {
            self.call_step(id, CallStep::Candidate(text));
        }
    }

    fn answer_to_app(&mut self, call: &mut Call, sdp: &str) -> bool {
        let answer = Description::parse(sdp).map(|answer| answer.only(call.kinds()));
        let Some(answer) = answer.filter(|answer| !answer.sections.is_empty()) else {
            return self.end_unusable(call);
        };
        call.note_credentials(&answer);
        call.stage = Stage::Up;
        self.send_step(call, |out, step| step.write_accept(out, &answer));
        true
    }

    fn restart_is_answered(&mut self, call: &mut Call, sdp: &str) {
        call.restart = None;
        let Some(answer) = Description::parse(sdp).map(|answer| answer.only(call.kinds())) else { return };
        call.note_credentials(&answer);
        self.send_step(call, |out, step| step.write_restart(out, &answer));
    }

    /// The other side sends what no app can use.
    fn end_unusable(&mut self, call: &Call) -> bool {
        self.say_over(call, Reason::FailedApplication);
        if let Some(id) = call.id {
            self.call_step(id, CallStep::HangUp);
        }
        false
    }

    fn candidate_to_app(&mut self, call: &mut Call, text: &str) {
        // A browser may still send those of the connection before.
        if !call.has_session() {
            return;
        }
        let Some((name, candidate)) = candidate(text) else { return };
        let known = call.credentials.iter().find(|(content, ..)| name.as_deref() == Some(content));
        // With one transport for all contents, that of the first is theirs.
        let Some((content, ufrag, pwd)) = known.or(call.credentials.first().filter(|_| name.is_none()))
        else {
            return;
        };
        call.candidates += 1;
        let id = format!("c{}", call.candidates);
        let credentials = Some((&**ufrag, &**pwd));
        self.send_step(call, |out, step| step.write_candidate(out, content, credentials, &candidate, &id));
    }

    /// Another device of the user has accepted, or has taken the place of this one.
    fn taken_elsewhere(&mut self, call: &Call) {
        match call.stage {
            Stage::Ringing { is_shown: true, .. } => {
                self.copy_jingle_message(&call.user, &JingleMessage::Proceed { id: &call.sid });
            }
            Stage::Ringing { .. } => {}
            _ => self.say_over(call, Reason::Gone),
        }
    }

    fn call_is_over(&mut self, call: &Call, outcome: Outcome) {
        match (&call.stage, outcome) {
            (Stage::Ringing { is_shown: true, .. }, Outcome::Declined | Outcome::Busy) => {
                let reject = JingleMessage::Reject { id: &call.sid, reason: None };
                self.copy_jingle_message(&call.user, &reject);
            }
            (Stage::Ringing { is_shown, .. }, _) => self.stop_ringing(call, *is_shown, reason(outcome)),
            _ => self.say_over(call, reason(outcome)),
        }
    }

    /// Tells the app that the call is over, in the form that fits the stage.
    pub(super) fn say_over(&mut self, call: &Call, reason: Reason) {
        let (id, why) = (&*call.sid, Some(reason));
        match &call.stage {
            Stage::Inviting { cancelled: true } => {}
            _ if call.has_session() => self.terminate(call, reason),
            Stage::Inviting { .. } | Stage::Calling => {
                self.send_jingle_message(&call.user, &JingleMessage::Reject { id, reason: why });
            }
            Stage::Ringing { is_shown, .. } => self.stop_ringing(call, *is_shown, reason),
            _ => self.send_jingle_message(&call.user, &JingleMessage::Finish { id, reason: why }),
        }
    }
}

fn reason(outcome: Outcome) -> Reason {
    match outcome {
        Outcome::Ended => Reason::Success,
        Outcome::Lost => Reason::Gone,
        Outcome::Declined => Reason::Decline,
        Outcome::Busy => Reason::Busy,
        Outcome::Cancelled => Reason::Cancel,
        Outcome::Missed => Reason::Timeout,
    }
}

/// A candidate of a browser, in JSON or as its line, with the name of its section if that is known.
fn candidate(text: &str) -> Option<(Option<String>, Candidate)> {
    if !text.starts_with('{') {
        return Candidate::parse(text).map(|candidate| (None, candidate));
    }
    let json: Value = serde_json::from_str(text).ok()?;
    let name = json.get("sdpMid").and_then(Value::as_str).map(str::to_owned);
    Candidate::parse(json.get("candidate")?.as_str()?).map(|candidate| (name, candidate))
}

#[cfg(test)]
mod tests {
    use super::candidate;

    #[test]
    fn candidates_come_in_two_forms() {
        let line = "candidate:1 1 udp 2 192.0.2.1 9 typ host";
        assert!(candidate(line).is_some_and(|(name, one)| name.is_none() && one.port == 9));
        let json = format!("{{\"candidate\":\"{line}\",\"sdpMid\":\"0\",\"sdpMLineIndex\":0}}");
        assert!(candidate(&json).is_some_and(|(name, _)| name.as_deref() == Some("0")));
        for wrong in ["", "{", "{}", "{\"candidate\":7}", "{\"candidate\":\"x\"}", "[]"] {
            assert!(candidate(wrong).is_none(), "{wrong}");
        }
    }
}
