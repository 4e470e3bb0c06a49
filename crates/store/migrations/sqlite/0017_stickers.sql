-- Pictures that the members of a site may send: its owner's. The bytes are last, so that who lists the others reads none of them.
CREATE TABLE sticker (
    site   INTEGER NOT NULL,
    id     INTEGER NOT NULL, -- drawn by lot
    series TEXT NOT NULL,    -- those that are shown together
    words  TEXT NOT NULL,    -- what it says
    type   TEXT NOT NULL,
    width  INTEGER NOT NULL,
    height INTEGER NOT NULL,
    added  INTEGER NOT NULL, -- time
    bytes  BLOB NOT NULL,
    PRIMARY KEY (site, id)
);

-- The sticker that a message is (bit 32 of `message.rich`), whether there still is one or not. Its words are the message's body.
CREATE TABLE message_sticker (
    site    INTEGER NOT NULL,
    message INTEGER NOT NULL, -- position
    sticker INTEGER NOT NULL,
    PRIMARY KEY (site, message)
) WITHOUT ROWID;
