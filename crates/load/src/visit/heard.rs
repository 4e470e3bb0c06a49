//! What a piece of input has said, in short.

use web_proto::Event;

#[derive(Default)]
pub(super) struct Heard {
    pub(super) welcome: bool,
    pub(super) bye: Option<&'static str>,
    /// By rid, with the code of a refusal.
    pub(super) answered: Vec<(u64, Option<&'static str>)>,
    pub(super) messages: u64,
}

impl Heard {
    pub(super) fn note(&mut self, event: &Event<'_>, run: u64) {
        let of_message = |id: &str| {
            let (of_run, rid) = id.split_once('-')?;
            (u64::from_str_radix(of_run, 16) == Ok(run)).then(|| rid.parse().ok()).flatten()
        };
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
