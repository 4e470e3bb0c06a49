-- Reactions and votes in large rooms are published once per second. Until then the row says so, so that a change is
-- published even if the process ends before.
ALTER TABLE message_change ADD COLUMN unpublished INTEGER NOT NULL DEFAULT 0;
CREATE INDEX message_unpublished ON message_change (position) WHERE unpublished = 1;
