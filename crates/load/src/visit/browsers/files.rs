//! The few connections of a browser over which it fetches pages and their files.

use std::time::Instant;

use edge::{Closed, Conns, Handle, Io};

use super::super::Kind;
use super::super::exchange::{self, PACKED, Reading};
use super::super::visitor::{Job, What};
use super::{ANSWER_PATIENCE, Browsers, Conn, Errand};

pub(in super::super) struct Fetch {
    pub(super) visitor: u32,
    pub(super) job: Option<Job>,
    pub(super) reading: Reading,
    /// The connection has carried a request before.
    pub(super) used: bool,
}

impl Browsers {
    /// Assigns connections to waiting jobs.
    pub(super) fn pump(&mut self, number: u32, conns: &mut Conns<'_, Conn>) {
        while let Some(visitor) = self.visitors.get_mut(&number)
            && let Some(job) = visitor.jobs.front().copied()
        {
            if let Some(handle) = visitor.idle.pop() {
                let Some((Conn::Fetch(fetch), mut io)) = conns.get(handle) else { continue };
                visitor.jobs.pop_front();
                visitor.in_flight += 1;
                fetch.job = Some(job);
                self.ask(&job, &mut io);
                continue;
            }
            if visitor.connections >= self.state.plan.connections {
                return;
            }
            visitor.jobs.pop_front();
            visitor.in_flight += 1;
            let fetch = Fetch { visitor: number, job: Some(job), reading: Reading::default(), used: false };
            match conns.connect(self.state.connect(number), Conn::Fetch(fetch)) {
                Ok(_) => visitor.connections += 1,
                Err(error) => self.finish(number, job, Err(format!("connect: {error}"))),
            }
        }
    }

    pub(super) fn ask(&mut self, job: &Job, io: &mut Io<'_>) {
        let (site, target) = (self.state.site(), &self.state.options.target);
        self.out.clear();
        match job.what {
            What::Page(page) => {
                exchange::get(target, &site.pages[page as usize].path, PACKED, None, &mut self.out)
            }
            What::File(file) => {
                let file = &site.files[file as usize];
                let tag = file.caching.tag.as_deref().filter(|_| job.known);
                exchange::get(target, &file.path, PACKED, tag, &mut self.out);
            }
            What::Token => exchange::post(target, site.token.as_deref().unwrap_or("/"), &mut self.out),
        }
        io.send(&self.out);
        io.set_timer(Some(ANSWER_PATIENCE));
    }

    pub(super) fn fetch_input(&mut self, fetch: &mut Fetch, input: &[u8], io: &mut Io<'_>) -> usize {
        let Some(job) = fetch.job else {
            self.fail(Kind::Page, Instant::now(), "bytes that nobody asked for");
            io.abort();
            return input.len();
        };
        let (taken, answer) = match fetch.reading.read(input) {
            Ok((taken, None)) => {
                self.note_bytes(taken);
                return taken;
            }
            Ok((taken, Some(answer))) => (taken, answer),
            Err(fault) => {
                fetch.job = None;
                self.finish(fetch.visitor, job, Err(fault.to_string()));
                io.abort();
                return input.len();
            }
        };
        self.note_bytes(taken);
        fetch.job = None;
        fetch.used = true;
        let outcome = match answer.status {
            200 if job.kind == Kind::Token && !answer.json => Err("it is not JSON".to_owned()),
            200 => Ok(()),
            304 if job.known => {
                self.tally.unchanged += u64::from(self.counts(job.due));
                Ok(())
            }
            status => Err(format!("the status {status}")),
        };
        self.finish(fetch.visitor, job, outcome);
        if answer.closes {
            io.close();
            return taken;
        }
        self.take_next(fetch, io);
        taken
    }

    /// Uses a free connection for the visitor's next job, or keeps it.
    fn take_next(&mut self, fetch: &mut Fetch, io: &mut Io<'_>) {
        let Some(visitor) = self.visitors.get_mut(&fetch.visitor) else { return io.close() };
        let Some(job) = visitor.jobs.pop_front() else {
            visitor.idle.push(io.handle());
            return io.set_timer(None);
        };
        visitor.in_flight += 1;
        fetch.job = Some(job);
        self.ask(&job, io);
    }

    pub(super) fn fetch_closed(&mut self, fetch: &Fetch, handle: Handle, why: Closed) {
        let Some(visitor) = self.visitors.get_mut(&fetch.visitor) else { return };
        visitor.connections -= 1;
        visitor.idle.retain(|idle| *idle != handle);
        if !visitor.jobs.is_empty() {
            self.errands.push(Errand::Pump(fetch.visitor));
        }
        let Some(job) = fetch.job else { return };
        if fetch.used && fetch.reading.is_new() && !job.again {
            visitor.in_flight -= 1;
            visitor.jobs.push_front(Job { again: true, ..job });
            self.tally.again += 1;
            self.errands.push(Errand::Pump(fetch.visitor));
        } else {
            let reason = match why {
                Closed::ByUs { .. } | Closed::ByPeer => {
                    "the server hung up before the end of the answer".to_owned()
                }
                why => format!("closed before the end of the answer: {why:?}"),
            };
            self.finish(fetch.visitor, job, Err(reason));
        }
    }
}
