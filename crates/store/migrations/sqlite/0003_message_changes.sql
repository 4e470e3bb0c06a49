-- Messages that are edited, deleted and reacted to. A message as it was posted costs what it did: `changed` is 0 then,
-- which takes no room in the row, and only another value leads to the tables below. The row has the body as it is now.
ALTER TABLE message ADD COLUMN changed INTEGER NOT NULL DEFAULT 0; -- position of the last change

-- One row for each message that has changed, under its last change, so that what changed since a position is a range.
CREATE TABLE message_change (
    site         INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    position     INTEGER NOT NULL, -- of the last change
    message      INTEGER NOT NULL, -- position of the message
    edited       INTEGER,          -- time of the last edit
    deleted      INTEGER NOT NULL,
    PRIMARY KEY (site, conversation, position)
) WITHOUT ROWID;

-- Bodies that messages had, for moderators.
CREATE TABLE message_revision (
    site    INTEGER NOT NULL,
    message INTEGER NOT NULL,
    number  INTEGER NOT NULL, -- 1 is the first body
    until   INTEGER NOT NULL, -- time
    body    TEXT NOT NULL,
    PRIMARY KEY (site, message, number)
) WITHOUT ROWID;

-- Who has put which reaction on which message. The index has the first users of each in order.
CREATE TABLE reaction (
    site     INTEGER NOT NULL,
    message  INTEGER NOT NULL,
    user     INTEGER NOT NULL,
    reaction TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (site, message, user, reaction)
) WITHOUT ROWID;
CREATE INDEX reaction_order ON reaction (site, message, reaction, position);

-- The different reactions of a message in the order in which they came first: many have put some of them there, and a
-- page of history must not count them.
CREATE TABLE reaction_count (
    site     INTEGER NOT NULL,
    message  INTEGER NOT NULL,
    first    INTEGER NOT NULL, -- position
    reaction TEXT NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (site, message, first)
) WITHOUT ROWID;
