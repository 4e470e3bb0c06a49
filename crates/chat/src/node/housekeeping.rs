//! Housekeeping: the work of a node without requests, called by threads of the process.

use std::sync::atomic::Ordering;

use crate::messages::files::remove::{EMPTY_LIFE_MS, ROUND, is_removed};
use crate::{Blobs, FileId, Node, StoreError, Timestamp};

impl Node {
    /// Runs timers: presence grace and coalescing, token expiry, unanswered calls, cache expiry. Call it at
    /// least every 100 ms from one thread; more frequent calls do less work each. It touches no disk.
    pub fn tick(&self, now: Timestamp) {
        let Ok(_one) = self.inner.ticking.try_lock() else { return };
        self.run_timers(now);
        self.inner.moderation.end_sanctions(now);
        self.inner.account.end_unanswered(now);
        self.inner.messages.trim_what_is_old(now);
    }

    /// [`tick`](Self::tick) for a time after the clock has jumped: it removes nothing because of its age. Messages, requests without an
    /// answer and sanctions whose time is over stay, because the clock may be wrong, and they would not come back.
    pub fn tick_without_removals(&self, now: Timestamp) {
        let Ok(_one) = self.inner.ticking.try_lock() else { return };
        self.run_timers(now);
    }

    fn run_timers(&self, now: Timestamp) {
        self.inner.sessions.tick(now);
        self.inner.users.recent().age(now);
        self.inner.presences.end_grace(now);
        self.inner.sessions.end_tokens(now);
        self.inner.calls.end_calls(now);
        self.inner.notifications.push_to_away(now);
        self.inner.notifications.mail_due_digests(now);
        self.inner.messages.publish_gathered(now);
        self.inner.rooms.publish_joins(now);
        self.inner.rooms.expire_occupants(now);
        self.inner.rooms.continue_closings();
        self.inner.account.erase_what_is_left(now);
        self.inner.import.publish_imports(now);
        self.inner.presences.publish_due(now);
        self.inner.sign_in.repeat_presence(now);
    }

    /// Applies changes of sites, secrets and bans by other processes. Sessions of removed sites and banned
    /// users get `Event::Bye`. Reads the store and may block: call it about once a second from a housekeeping
    /// thread, and after own changes; never from a worker. Costs one cheap read if nothing changed.
    pub fn refresh_sites(&self) -> Result<(), StoreError> {
        let revision = self.inner.store.revision()?;
        if self.inner.revision.load(Ordering::Acquire) == revision {
            return Ok(());
        }
        let sites = self.inner.store.sites()?;
        let before: Vec<_> = sites.iter().filter_map(|site| self.inner.sites.by_id(site.id)).collect();
        let banned = self.inner.store.banned()?;
        let standings = self.inner.store.standings()?;
        let next_end = self.inner.store.next_sanction_end()?;
        let floors = self.inner.store.import_floors()?;
        let ended = self.inner.store.ended_app_passwords()?;
        self.inner.users.recent().clear();
        self.inner.import.take_over(&floors, self.inner.sessions.last_tick());
        self.inner.account.continue_erasures();
        for gone in self.inner.sites.replace(sites) {
            self.inner.sessions.end_site(gone);
        }
        self.inner.moderation.take_over_standings(&standings);
        self.inner.account.end_merged_guests()?;
        next_end.into_iter().for_each(|until| self.inner.moderation.ends_at(until));
        for user in banned {
            self.inner.moderation.end_banned(user);
        }
        self.inner.moderation.end_closed();
        self.inner.moderation.read_device_bans();
        self.inner.sign_in.end_app_passwords(ended);
        for before in before {
            if let Some(after) = self.inner.sites.by_id(before.site.id) {
                self.inner.sign_in.end_keys(&before, &after);
                self.inner.moderation.end_app_password_sessions(&before, &after);
                self.inner.moderation.send_site_changes(&before, &after);
            }
        }
        // Last: if a step above fails, the next call repeats everything.
        self.inner.revision.store(revision, Ordering::Release);
        Ok(())
    }

    /// Prepares the end of the node. Every session gets `Event::Bye` with its own time to reconnect, spread
    /// over `spread_ms`. New sign-ins are refused.
    pub fn goodbye(&self, spread_ms: u32) {
        self.inner.sign_in.goodbye(spread_ms);
    }

    /// Removes the bytes and then the rows of unneeded files: removed ones, those in no message `life_ms`
    /// after their creation, or `open_life_ms` if they are complete and in
    /// [`FilePlace::Open`](crate::FilePlace::Open), and those without any byte for ten minutes. Answers the number of removed files;
    /// a high number means that more are left. Blocks: call it regularly from a housekeeping thread.
    ///
    /// After a crash in between, the next round finds the row and removes the rest.
    pub fn remove_stale_files(
        &self,
        blobs: &dyn Blobs,
        life_ms: u64,
        open_life_ms: u64,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let store = &self.inner().store;
        let ago = |ms: u64| Timestamp(now.0.saturating_sub(ms));
        let empty_before = ago(EMPTY_LIFE_MS.min(life_ms));
        let stale = store.stale_files(ago(life_ms), ago(open_life_ms), empty_before, ROUND)?;
        if stale.is_empty() {
            return Ok(0);
        }
        // First, so that the files cannot be posted any more.
        store.remove_files(stale.clone(), Box::new(|_| ()));
        store.flush()?;
        let gone: Vec<FileId> = stale.into_iter().filter(|file| is_removed(blobs, *file)).collect();
        store.forget_files(&gone)?;
        Ok(gone.len())
    }

    /// Removes the bytes of sites that no longer exist. Blocks.
    pub fn remove_files_of_lost_sites(&self, blobs: &dyn Blobs) -> Result<(), StoreError> {
        let sites: Vec<_> = self.inner().store.sites()?.into_iter().map(|site| site.id).collect();
        blobs.remove_other_sites(&sites).map_err(|error| StoreError::Failed(error.to_string().into()))
    }
}
