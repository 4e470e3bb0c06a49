//! A summary of the events in one piece of input.

use web_proto::Event;

use crate::latency_stamp::Stamps;

#[derive(Default)]
pub(super) struct EventSummary {
    pub(super) welcome: bool,
    pub(super) bye: Option<&'static str>,
    /// By rid, with the code of a refusal.
    pub(super) answered: Vec<(u64, Option<&'static str>)>,
    pub(super) messages: u64,
}

impl EventSummary {
    pub(super) fn note(&mut self, event: &Event<'_>, stamps: Stamps) {
        let of_message = |id: &str| stamps.read(id).map(|stamp| stamp.number);
        match event {
            Event::Welcome(_) => self.welcome = true,
            Event::Bye { code, .. } => self.bye = Some(code.word()),
            Event::Contacts { re, .. } | Event::History { re, .. } => self.answered.push((*re, None)),
            Event::Ack { id, .. } => self.answered.extend(of_message(id).map(|rid| (rid, None))),
            Event::Error { code, re, id, .. } => {
                let rid = re.or_else(|| of_message(id.as_deref()?));
                self.answered.extend(rid.map(|rid| (rid, Some(code.word()))));
            }
            Event::Message { .. } => self.messages += 1,
            _ => {}
        }
    }
}
