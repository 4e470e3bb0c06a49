-- A room: a conversation with members. Its key has the top bit set, so here it is a negative number. What a message of a
-- room changes is this one row and the sender's own; no other member's.
CREATE TABLE room (
    site     INTEGER NOT NULL,
    key      INTEGER NOT NULL,
    seq      INTEGER NOT NULL, -- of the newest message
    position INTEGER NOT NULL, -- of the newest message
    active   INTEGER NOT NULL,
    changed  INTEGER NOT NULL, -- position at which what follows changed last
    members  INTEGER NOT NULL,
    kind     INTEGER NOT NULL, -- 0 public, 1 private, 2 announcement
    slow_ms  INTEGER NOT NULL,
    frozen   INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    name     TEXT NOT NULL,
    folded   TEXT NOT NULL,    -- the name as it is compared
    topic    TEXT,
    avatar   TEXT,
    page     TEXT,
    PRIMARY KEY (site, key)
) WITHOUT ROWID;
CREATE UNIQUE INDEX room_page ON room (site, page) WHERE page IS NOT NULL;
-- The directory.
CREATE INDEX room_name ON room (site, folded, key) WHERE page IS NULL AND kind <> 1;

-- A user in a room, now or once: a row of who is out tells a resuming device so, and who is banned. By user, because a
-- member's rooms are read more often than a room's members.
CREATE TABLE membership (
    site        INTEGER NOT NULL,
    user        INTEGER NOT NULL,
    room        INTEGER NOT NULL,
    state       INTEGER NOT NULL, -- 0 owner, 1 moderator, 2 member, 3 muted; out: 8 has left, 9 removed, 10 banned
    received    INTEGER NOT NULL,
    read        INTEGER NOT NULL,
    sent        INTEGER NOT NULL, -- time of the member's newest message; 0: none
    muted_until INTEGER NOT NULL,
    pinned      INTEGER NOT NULL,
    archived    INTEGER NOT NULL, -- 0 no, else the room's seq of then + 1: a newer message brings it back
    changed     INTEGER NOT NULL, -- position at which this row changed last
    folded      TEXT NOT NULL,    -- the user's name as it is compared, and sub: a page of the list is a range
    sub         TEXT NOT NULL,
    PRIMARY KEY (site, user, room)
) WITHOUT ROWID;
CREATE INDEX membership_room ON membership (site, room, state, folded, sub) WHERE state < 8;

-- Unread messages that name a member; user 0: that name all.
CREATE TABLE mention (
    site INTEGER NOT NULL,
    room INTEGER NOT NULL,
    user INTEGER NOT NULL,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (site, room, user, seq)
) WITHOUT ROWID;
