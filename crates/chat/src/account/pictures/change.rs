//! The commands that make an item the user's own picture, and the notice to those who see the user.

use std::sync::Arc;

use super::{
    MadePicture, NewOwnPicture, OwnPictureChange, OwnPictureId, PUBLISHED_PICTURE_BYTES, PictureMaker,
    PictureSource, PublishedPicture,
};
use crate::account::items::{ItemChange, ItemNews};
use crate::account::{Account, Event};
use crate::command::AnswerTo;
use crate::privacy::{Signal, Visibility};
use crate::session::{Asker, Completion, Handles, Watching};
use crate::store::unavailable;
use crate::users::person;
use crate::{Done, FileType, MemberPictures, Refusal, Respond, UserId, UserRow, Viewpoint};

impl Account {
    pub(crate) fn pictures_by(&self, maker: Arc<dyn PictureMaker>) {
        let _ = self.picture_maker.set(maker);
    }

    /// Answers whether the picture of this item is wanted. One read for a picture that is current.
    pub(in crate::account) fn follow_picture(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        mut source: PictureSource,
    ) {
        let handle = asker.session.handle;
        let user = asker.session.user;
        let may = asker.site.site.settings.members.pictures != MemberPictures::Off
            && !asker.shadowed
            && self.picture_maker.get().is_some();
        if !may {
            // No item: an older picture ends with its own.
            source.version = 0;
        }
        let done = self.on_loaded(handle, AnswerTo::Request(re), move |this, change: OwnPictureChange| {
            this.sessions.answer(handle, re, Event::Picture { wanted: change.wanted });
            this.picture_changed(change.changed);
        });
        self.store.follow_picture(user, source, done);
    }

    /// Answers at once. The picture is shown when it was made.
    pub(in crate::account) fn make_picture(
        self: &Arc<Self>,
        asker: &Asker,
        re: u64,
        picture: PublishedPicture,
    ) {
        let handle = asker.session.handle;
        let is_off = asker.site.site.settings.members.pictures == MemberPictures::Off;
        let outcome = match self.picture_maker.get() {
            // Others would not see it.
            _ if asker.guest || asker.shadowed || is_off => Err(Refusal::NotAllowed),
            None => Err(Refusal::NotAllowed),
            Some(_) if picture.bytes.len() > PUBLISHED_PICTURE_BYTES => Err(Refusal::BadValue),
            Some(maker) => maker.wanted(asker.session.user, picture),
        };
        match outcome {
            Ok(()) => self.sessions.answer(handle, re, Event::Picture { wanted: false }),
            Err(refusal) => self.sessions.refuse(handle, AnswerTo::Request(re), refusal),
        }
    }

    /// The maker is done. `made`: None if the picture cannot be read.
    pub(crate) fn own_picture_made(
        self: &Arc<Self>,
        user: UserId,
        source: PictureSource,
        made: Option<MadePicture>,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        let done = self.then::<OwnPictureChange>(move |this, outcome| {
            let changed = outcome.ok().and_then(|change| change.changed);
            let is_changed = changed.is_some();
            this.picture_changed(changed);
            then(is_changed);
        });
        self.store.put_own_picture(user, NewOwnPicture { source, made }, done);
    }

    /// The bytes of an own picture, for everybody who knows its id, unless the site shows none.
    pub(crate) fn own_picture(&self, id: OwnPictureId, respond: Respond<(FileType, Vec<u8>)>) {
        let is_shown = self
            .sites
            .by_id(id.site)
            .is_some_and(|live| live.site.settings.members.pictures != MemberPictures::Off);
        if !is_shown {
            return respond(Err(Refusal::NoSuchFile));
        }
        let done: Done<Option<(FileType, Vec<u8>)>> = Box::new(move |found| {
            respond(found.map_err(unavailable).and_then(|picture| picture.ok_or(Refusal::NoSuchFile)));
        });
        self.store.own_picture(id, done);
    }

    /// A moderator has removed the picture, and the items of the list from which it came.
    pub(crate) fn picture_removed(self: &Arc<Self>, row: &UserRow, list: Box<str>) {
        let user = row.profile.sub.clone();
        let news = ItemNews { user, list, change: ItemChange::Emptied };
        self.publish_item(row.id, news, true);
        self.publish_card(row, true);
    }

    /// A change of an invisible user would reveal them, so others find it when they read the card next.
    fn picture_changed(self: &Arc<Self>, row: Option<UserRow>) {
        let Some(row) = row else { return };
        let here = self.sessions.lock(row.id).user(row.id).map(|here| (here.privacy, here.chosen));
        let (privacy, chosen) = here.unwrap_or((row.privacy, row.presence));
        let is_shown = self.sites.by_id(row.id.site).is_some_and(|live| {
            Visibility { privacy, chosen }.sends(Signal::Typing, live.site.mode, Viewpoint::CONTACT)
        });
        self.publish_card(&row, is_shown);
    }

    /// Sends the new card to the user's sessions, and to those that show the user now. Not to members of rooms who show somebody else:
    /// they get it when they next ask for it.
    fn publish_card(self: &Arc<Self>, row: &UserRow, to_others: bool) {
        self.users.recent().user_is(row);
        let user = row.id;
        let event = Event::Card(Arc::new(person(row, None)));
        let mut to = Handles::new();
        self.sessions.lock(user).live(user, None, &mut to);
        if !to_others {
            return self.sessions.send_all(&to, event);
        }
        to.extend(self.presences.watching(user));
        let this = Arc::clone(self);
        self.users.with_contacts_of(vec![user], move |contacts| {
            let contacts = contacts.ok().and_then(|all| all.into_iter().next());
            let mut watching = Watching::default();
            for contact in contacts.iter().flat_map(|contacts| this.sessions.of(contacts.seeing())) {
                this.sessions.lock(contact).contact_watchers(contact, &mut watching);
            }
            to.extend(watching.users);
            to.sort_unstable();
            to.dedup();
            this.sessions.send_all(&to, event);
        });
    }
}
