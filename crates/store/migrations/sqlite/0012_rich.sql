-- What a message bears besides body and files, as bits: 1 a poll, 2 it was forwarded, 4 it is a reply in a thread, 8 a thread hangs
-- below it. 0, which takes no room in the row, for nearly all; only another value leads to the tables below.
ALTER TABLE message ADD COLUMN rich INTEGER NOT NULL DEFAULT 0;

-- The question is the message's body.
CREATE TABLE poll (
    site      INTEGER NOT NULL,
    message   INTEGER NOT NULL, -- position
    multiple  INTEGER NOT NULL,
    anonymous INTEGER NOT NULL,
    ends      INTEGER,          -- time
    closed    INTEGER NOT NULL,
    voters    INTEGER NOT NULL, -- users who have voted
    PRIMARY KEY (site, message)
) WITHOUT ROWID;

-- With the votes counted: a page of history must not count them.
CREATE TABLE poll_choice (
    site    INTEGER NOT NULL,
    message INTEGER NOT NULL,
    number  INTEGER NOT NULL, -- from 0
    text    TEXT NOT NULL,
    votes   INTEGER NOT NULL,
    PRIMARY KEY (site, message, number)
) WITHOUT ROWID;

-- Who has voted for what. The index has the first voters of each choice in order.
CREATE TABLE vote (
    site     INTEGER NOT NULL,
    message  INTEGER NOT NULL,
    user     INTEGER NOT NULL,
    choice   INTEGER NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (site, message, user, choice)
) WITHOUT ROWID;
CREATE INDEX vote_order ON vote (site, message, choice, position);

CREATE TABLE forward (
    site    INTEGER NOT NULL,
    message INTEGER NOT NULL,
    author  INTEGER,          -- who has said it first; NULL: those who read it here may not know them
    PRIMARY KEY (site, message)
) WITHOUT ROWID;

-- Files that are in forwarded messages too. The file's own row names one message; where that is deleted, it gets another of these.
CREATE TABLE file_copy (
    site         INTEGER NOT NULL,
    file         INTEGER NOT NULL,
    message      INTEGER NOT NULL,
    place        INTEGER NOT NULL, -- in that message
    conversation INTEGER NOT NULL, -- of that message
    PRIMARY KEY (site, file, message)
) WITHOUT ROWID;
CREATE INDEX file_copy_message ON file_copy (site, message, place);

-- A thread, under the seq of the message below which it hangs.
CREATE TABLE thread (
    site    INTEGER NOT NULL,
    room    INTEGER NOT NULL,
    root    INTEGER NOT NULL,
    replies INTEGER NOT NULL,
    last    INTEGER NOT NULL, -- time of the newest reply
    PRIMARY KEY (site, room, root)
) WITHOUT ROWID;

-- Its replies, in order: a page of a thread is a range.
CREATE TABLE thread_reply (
    site    INTEGER NOT NULL,
    room    INTEGER NOT NULL,
    root    INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    number  INTEGER NOT NULL, -- among the replies, from 1
    message INTEGER NOT NULL, -- position
    PRIMARY KEY (site, room, root, seq)
) WITHOUT ROWID;
CREATE INDEX thread_reply_message ON thread_reply (site, message);

-- Who follows which thread, and up to which reply they have read it.
CREATE TABLE thread_follow (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    room INTEGER NOT NULL,
    root INTEGER NOT NULL,
    read INTEGER NOT NULL, -- number
    PRIMARY KEY (site, user, room, root)
) WITHOUT ROWID;
