-- Messages that are kept at hand above their conversation: few, so the index has no others.
ALTER TABLE message_change ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_pinned ON message_change (site, conversation, message) WHERE pinned = 1;
