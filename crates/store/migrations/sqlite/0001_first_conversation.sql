-- Times are Unix milliseconds. `number` and `position` count the commits of this database.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES ('position', 0), ('revision', 0), ('next_site', 1);

CREATE TABLE site (
    id      INTEGER PRIMARY KEY,
    key     TEXT NOT NULL UNIQUE,
    name    TEXT NOT NULL,
    mode    INTEGER NOT NULL, -- 0 open, 1 contacts
    guests  INTEGER NOT NULL,
    origins TEXT NOT NULL,    -- one a line
    created INTEGER NOT NULL
);

-- Sites whose rows are still being removed, or were: what a running node wrote late is removed at the next open.
CREATE TABLE removed_site (
    site INTEGER PRIMARY KEY
);

CREATE TABLE secret (
    site    INTEGER NOT NULL,
    number  INTEGER NOT NULL, -- the newest has the greatest
    kind    INTEGER NOT NULL, -- 0 HS256, 1 ES256, 2 EdDSA
    bytes   BLOB NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (site, number)
) WITHOUT ROWID;

-- By sub, because a login knows the sub: one search.
CREATE TABLE user (
    site      INTEGER NOT NULL,
    sub       TEXT NOT NULL,
    num       INTEGER NOT NULL,
    name      TEXT NOT NULL,
    folded    TEXT NOT NULL,    -- the name as it is compared
    avatar    TEXT,
    guest     INTEGER NOT NULL,
    presence  INTEGER NOT NULL, -- 0 online, 1 away, 2 busy, 3 invisible
    banned    INTEGER NOT NULL,
    created   INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    PRIMARY KEY (site, sub)
) WITHOUT ROWID;
CREATE UNIQUE INDEX user_num ON user (site, num);
CREATE INDEX user_name ON user (site, folded, sub);

-- The rest of a folded name from its second and every later word on; the first is found by user_name.
CREATE TABLE name_word (
    site INTEGER NOT NULL,
    rest TEXT NOT NULL,
    sub  TEXT NOT NULL,
    PRIMARY KEY (site, rest, sub)
) WITHOUT ROWID;

-- All messages in the order of their commits. New rows go to the end, so that a batch of messages for many
-- conversations writes few pages; `previous` leads to the message before in the same conversation.
CREATE TABLE message (
    position     INTEGER PRIMARY KEY,
    site         INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    previous     INTEGER NOT NULL, -- position; 0 for the first
    sender       INTEGER NOT NULL,
    mention      INTEGER NOT NULL, -- names the other member
    time         INTEGER NOT NULL,
    reply_to     INTEGER,
    client_id    TEXT NOT NULL,
    body         TEXT NOT NULL
);

-- Every 32nd message of a conversation, to begin a walk along `previous` near any seq.
CREATE TABLE milestone (
    site         INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    position     INTEGER NOT NULL,
    PRIMARY KEY (site, conversation, seq)
) WITHOUT ROWID;

-- Which client ids a user has sent: a repeated one is answered with the message of then. Messages newer than
-- meta's sent_indexed are not here yet.
CREATE TABLE sent (
    site      INTEGER NOT NULL,
    user      INTEGER NOT NULL,
    client_id TEXT NOT NULL,
    position  INTEGER NOT NULL,
    PRIMARY KEY (site, user, client_id)
) WITHOUT ROWID;

-- A direct conversation. The key has its members: low << 32 | high, so a member's conversations are a range
-- of the primary key and one of the index. Both views are one row: a message updates one place.
CREATE TABLE conversation (
    site             INTEGER NOT NULL,
    key              INTEGER NOT NULL,
    seq              INTEGER NOT NULL, -- of the newest message
    position         INTEGER NOT NULL, -- of the newest message
    active           INTEGER NOT NULL,
    low_received     INTEGER NOT NULL,
    low_read         INTEGER NOT NULL,
    low_mentions     INTEGER NOT NULL,
    low_muted_until  INTEGER NOT NULL,
    low_pinned       INTEGER NOT NULL,
    low_archived     INTEGER NOT NULL,
    low_changed      INTEGER NOT NULL, -- position at which this member's view changed last
    high_received    INTEGER NOT NULL,
    high_read        INTEGER NOT NULL,
    high_mentions    INTEGER NOT NULL,
    high_muted_until INTEGER NOT NULL,
    high_pinned      INTEGER NOT NULL,
    high_archived    INTEGER NOT NULL,
    high_changed     INTEGER NOT NULL,
    PRIMARY KEY (site, key)
) WITHOUT ROWID;
CREATE INDEX conversation_high ON conversation (site, (key & 4294967295));

-- One side of two users' relation. Rows of state 0 (taken off the list) tell a resuming device so.
-- `folded` and `sub` are the other's, so that a page by name is a range.
CREATE TABLE contact (
    site    INTEGER NOT NULL,
    user    INTEGER NOT NULL,
    other   INTEGER NOT NULL,
    state   INTEGER NOT NULL, -- 0 none, 1 request sent, 2 request received, 3 contact, 4 blocked
    changed INTEGER NOT NULL, -- position
    folded  TEXT NOT NULL,
    sub     TEXT NOT NULL,
    PRIMARY KEY (site, user, other)
) WITHOUT ROWID;
CREATE INDEX contact_name ON contact (site, user, folded, sub) WHERE state <> 0;
CREATE INDEX contact_changed ON contact (site, user, changed);
CREATE INDEX contact_other ON contact (site, other);

-- One-time tokens that were used, until they expire.
CREATE TABLE used_token (
    site    INTEGER NOT NULL,
    jti     TEXT NOT NULL,
    expires INTEGER NOT NULL,
    PRIMARY KEY (site, jti)
) WITHOUT ROWID;
CREATE INDEX used_token_expires ON used_token (expires);
