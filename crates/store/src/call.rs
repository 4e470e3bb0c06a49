//! Log entries of calls: messages of the kind [`MessageKind::Call`](chat::MessageKind).

use chat::{
    Appended, CallStore, Done, MessageStore, NewCallEntry, Post, Posted, PostedCall, Refusal, RoomLimits,
    RoomName,
};

use crate::sqlite::Sqlite;

impl CallStore for Sqlite {
    fn append_call(&self, entry: NewCallEntry, done: Done<Appended>) {
        self.append(entry.message(), done);
    }

    fn post_call(&self, entry: NewCallEntry, limits: RoomLimits, done: Done<Result<PostedCall, Refusal>>) {
        let message = entry.message();
        let post = Post {
            names_author: false,
            room: RoomName::Id(message.conversation),
            from: message.from,
            kind: message.kind,
            client_id: message.client_id,
            body: message.body,
            extension: message.extension,
            time: message.time,
            reply_to: message.reply_to,
            files: Vec::new(),
            rich: message.rich,
        };
        let posted = |posted: Posted| PostedCall { appended: posted.appended, members: posted.members };
        self.post(post, limits, Box::new(move |outcome| done(outcome.map(|result| result.map(posted)))));
    }
}
