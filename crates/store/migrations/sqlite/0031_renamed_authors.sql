-- An erased user, or a guest who became a member, has another id in all messages they wrote, reacted to or voted in. Each of these
-- messages gets a new version, in slices; until then devices that resume are told the former id, which is kept for so long.
ALTER TABLE erasure ADD COLUMN former TEXT NOT NULL DEFAULT '';
ALTER TABLE erasure ADD COLUMN step INTEGER NOT NULL DEFAULT 0;   -- what is done now; see `erase/slice.rs`
ALTER TABLE erasure ADD COLUMN at INTEGER NOT NULL DEFAULT 0;     -- rows of this step up to this number are done
ALTER TABLE erasure ADD COLUMN at_id TEXT NOT NULL DEFAULT '';    -- the same of client ids
ALTER TABLE erasure ADD COLUMN began INTEGER NOT NULL DEFAULT 0;  -- position: later messages have the new id
ALTER TABLE erasure ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0; -- messages up to here are in `sent`
UPDATE erasure SET began = 9223372036854775807;

-- Messages in which a user is named, to find them when the name changes.
CREATE INDEX reaction_user ON reaction (site, user, message);
CREATE INDEX vote_user ON vote (site, user, message);
CREATE INDEX forward_author ON forward (site, author, message) WHERE author IS NOT NULL;
CREATE INDEX file_owner ON file (site, owner, id) WHERE message > 0;

-- The position of the newest reply: threads that have replies since a position are a range.
ALTER TABLE thread ADD COLUMN position INTEGER NOT NULL DEFAULT 0;
UPDATE thread SET position = coalesce((SELECT max(message) FROM thread_reply r WHERE r.site = thread.site
    AND r.room = thread.room AND r.root = thread.root), 0);
CREATE INDEX thread_position ON thread (site, room, position);
