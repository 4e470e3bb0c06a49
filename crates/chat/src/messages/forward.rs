//! Forwarding: sends the body and files of a message as the user's own message to another conversation, with
//! its origin.
//!
//! From there on, the rules of every message apply: rates, filters, requests of strangers, and a room's
//! rules.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::command::AnswerTo;
use crate::messages::Messages;
use crate::messages::send::Draft;
use crate::session::admission::UnderWay;
use crate::session::{Asker, Completion};
use crate::store::unavailable;
use crate::users::peer::{Peer, PeerJob, may_see};
use crate::{
    ConversationId, FileId, MessageKind, Mode, NewRich, Refusal, Relation, Seq, StoredMessage, Sub,
    Timestamp, To, UserId,
};

/// The origin of a forwarded message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forwarded {
    /// The first author; None: readers here may not see the author.
    pub from: Option<(UserId, Sub)>,
}

/// The parts that are forwarded with the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewForward {
    /// The origin, see [`Forwarded`].
    pub author: Option<(UserId, Sub)>,
    /// The files of the forwarded message. Their bytes are shared, and stay while a message has them.
    pub files: Vec<FileId>,
}

/// A message under way to another conversation.
pub(crate) struct Forward {
    pub(crate) draft: Draft,
    /// The first author, unless the author was hidden before.
    author: Option<(UserId, Sub)>,
    files: Vec<FileId>,
}

/// A forwarded message for another user.
pub(crate) struct ForwardJob {
    pub(crate) messages: Arc<Messages>,
    pub(crate) forward: Forward,
}

impl PeerJob for ForwardJob {
    fn begins_conversation(&self) -> bool {
        true
    }

    fn answer_to(&self) -> AnswerTo {
        AnswerTo::Message(self.forward.draft.client_id.clone())
    }

    fn run(self, asker: &Asker, peer: &Peer, now: Timestamp) {
        self.messages.forward_to(asker, peer, self.forward, now);
    }
}

impl Messages {
    /// Reads the message as the user sees it, and then posts it. It may come after later messages of the
    /// session.
    pub(crate) fn forward(
        self: &Arc<Self>,
        asker: Asker,
        client_id: Box<str>,
        to: To,
        from: (ConversationId, Seq),
        under_way: UnderWay,
        now: Timestamp,
    ) {
        let (conversation, seq) = from;
        let reader = asker.session.user;
        let done = self.then(move |this, found| {
            let found = found.unwrap_or_else(|error| Err(unavailable(error)));
            let allowed = found.and_then(may_forward).and_then(|message| {
                // The filters may be newer than the message, and a forwarded message cannot wait for a
                // moderator. So a holding filter refuses it.
                let verdict = asker.may_publish_text(&message.body, now)?;
                Ok((message, verdict))
            });
            let (message, verdict) = match allowed {
                Ok(allowed) => allowed,
                Err(refusal) => {
                    under_way.is_done();
                    return this.sessions.refuse(asker.session.handle, AnswerTo::Message(client_id), refusal);
                }
            };
            let author = match message.rich.as_ref().and_then(|rich| rich.forwarded.as_ref()) {
                // A forwarded message keeps its first author.
                Some(forwarded) => forwarded.from.clone(),
                None => Some((message.from, message.from_sub)),
            };
            let files = message.files.iter().map(|file| file.id).collect();
            let draft = Draft {
                verdict,
                client_id,
                body: message.body,
                extension: None,
                reply_to: None,
                files: Vec::new(),
                rich: None,
                under_way,
            };
            let forward = Forward { draft, author, files };
            match to.room(asker.session.user.site) {
                Ok(room) => {
                    if let Err(refusal) = this.whole_messages.check(&room, now) {
                        let client_id = forward.draft.client_id;
                        return this.sessions.refuse(
                            asker.session.handle,
                            AnswerTo::Message(client_id),
                            refusal,
                        );
                    }
                    let is_same = matches!(room, crate::RoomName::Id(id) if id == conversation);
                    let is_named = asker.site.site.mode == Mode::Open || is_same;
                    this.post(&asker, room, forward.draft(is_named), now);
                }
                // The state of `is_waiting` may have changed during the read, so it is checked again.
                Err(to) => {
                    this.users.for_peer(asker, true, to, ForwardJob { messages: this.clone(), forward }, now)
                }
            }
        });
        self.store.message(reader, conversation, seq.min(Seq::MAX), done);
    }

    /// Forwards to one other user. Shows the author only if that user may see them.
    pub(crate) fn forward_to(self: &Arc<Self>, asker: &Asker, peer: &Peer, forward: Forward, now: Timestamp) {
        let (me, mode) = (asker.session.user, asker.site.site.mode);
        let author = match &forward.author {
            Some((author, _)) if *author != me && *author != peer.id => *author,
            _ => return self.send(asker, peer, forward.draft(true), now),
        };
        let (asker, peer) = (asker.clone(), peer.clone());
        let reader = peer.id;
        let done = self.then::<Relation>(move |this, relation| {
            let is_named = relation.is_ok_and(|relation| may_see(mode, relation.b_views_a()));
            this.send(&asker, &peer, forward.draft(is_named), now);
        });
        self.store.relation(author, reader, done);
    }
}

impl Forward {
    fn draft(self, is_named: bool) -> Draft {
        let forwarded = NewForward { author: self.author.filter(|_| is_named), files: self.files };
        let rich = NewRich { forwarded: Some(forwarded), ..NewRich::default() };
        Draft { rich: rich.boxed(), ..self.draft }
    }
}

/// Polls and entries of calls belong to their conversation and cannot be forwarded. An extension stays behind, because
/// it may refer to its conversation. So a message that has nothing else cannot be forwarded either.
fn may_forward(message: StoredMessage) -> Result<StoredMessage, Refusal> {
    if message.deleted {
        return Err(Refusal::NoSuchMessage);
    }
    let is_poll = message.rich.as_ref().is_some_and(|rich| rich.poll.is_some());
    if is_poll || message.kind == MessageKind::Call || message.is_opaque() {
        return Err(Refusal::NotAllowed);
    }
    Ok(message)
}
