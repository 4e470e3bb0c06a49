-- How many files a message has; 0, which takes no room in the row, for nearly all. Only another value leads to `file`.
ALTER TABLE message ADD COLUMN files INTEGER NOT NULL DEFAULT 0;

-- A file of a user: arriving, complete, in a message, removed. Its bytes lie elsewhere, under site and id.
CREATE TABLE file (
    site         INTEGER NOT NULL,
    id           INTEGER NOT NULL, -- random
    owner        INTEGER NOT NULL,
    conversation INTEGER NOT NULL, -- the only one where it may be posted
    message      INTEGER NOT NULL, -- position of its message; 0: in none; -1: removed, its bytes may still be there
    place        INTEGER NOT NULL, -- in its message
    created      INTEGER NOT NULL, -- time; 0 where it is removed
    complete     INTEGER NOT NULL,
    kept_bytes   INTEGER NOT NULL, -- what it takes of the quotas
    bytes        INTEGER NOT NULL,
    name         TEXT NOT NULL,
    type         TEXT NOT NULL,
    width        INTEGER,          -- of a picture, the next three too
    height       INTEGER,
    blurhash     TEXT,
    thumbnail    INTEGER NOT NULL, -- there is one
    duration     INTEGER,          -- milliseconds
    voice        INTEGER NOT NULL,
    PRIMARY KEY (site, id)
) WITHOUT ROWID;
CREATE INDEX file_message ON file (site, message, place) WHERE message > 0;
CREATE INDEX file_loose ON file (site, owner) WHERE message = 0;
CREATE INDEX file_stale ON file (created) WHERE message <= 0;

-- Bytes of files that are kept of a user; of user 0: of the whole site.
CREATE TABLE file_bytes (
    site  INTEGER NOT NULL,
    user  INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (site, user)
) WITHOUT ROWID;
