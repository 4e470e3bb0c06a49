//! Previews of links, for the previewer.

use crate::{
    ChangeMessage, ChangedMessage, MessageChange, NewPreview, Node, PreviewWanted, Previewer, Refusal,
    SiteId, StoreError, Timestamp,
};
use std::sync::Arc;

impl Node {
    /// From now on links are previewed by way of this, on sites that want it.
    pub fn preview_by(&self, previewer: Arc<dyn Previewer>) {
        self.inner().messages.preview_by(previewer);
    }

    /// Whether this address may be asked what it is for a message of the site.
    pub fn may_preview(&self, site: SiteId, url: &str) -> bool {
        self.inner().messages.may_preview(site, url)
    }

    /// Puts a preview on a message. Does nothing if the message is gone or its author is not a member any more;
    /// `then` gets whether the preview is there now.
    pub fn put_preview(
        &self,
        of: PreviewWanted,
        preview: NewPreview,
        now: Timestamp,
        then: impl FnOnce(bool) + Send + 'static,
    ) {
        let inner = self.inner().clone();
        let PreviewWanted { conversation, seq, by, by_sub, .. } = of;
        let change = MessageChange::Preview(Some(Box::new(preview)));
        let wanted = ChangeMessage { conversation, seq, by, change, time: now };
        let done = move |outcome: Result<Result<ChangedMessage, Refusal>, StoreError>| match outcome {
            Ok(Ok(told)) if told.changed => {
                inner.messages.tell_changed_message(by, &by_sub, conversation.other(by), told);
                then(true);
            }
            _ => then(false),
        };
        self.inner().store.change_message(wanted, Box::new(done));
    }
}
