-- How well a user is known, as far as it was reached: 0 new, 1 basic, 2 trusted. What a moderator has set is in `standing`, whose bits are
-- now, above the role: 4 muted, 8 something is to be told, 16 in the shadow, 32 the level is set.
ALTER TABLE user ADD COLUMN level INTEGER NOT NULL DEFAULT 0;

-- Messages beside the log, which only their sender sees.
CREATE TABLE held_message (
    site         INTEGER NOT NULL,
    user         INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    state        INTEGER NOT NULL, -- 0 waits for a moderator, 1 refused and not yet seen, 2 in the shadow
    report       INTEGER NOT NULL, -- with which it waits; 0: none
    conversation INTEGER NOT NULL,
    client_id    TEXT NOT NULL,
    time         INTEGER NOT NULL,
    reply_to     INTEGER NOT NULL, -- 0: none
    files        BLOB NOT NULL,    -- numbers, 8 bytes each
    thread       INTEGER NOT NULL, -- seq of its root; 0: in none
    body         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    PRIMARY KEY (site, user, number)
) WITHOUT ROWID;
CREATE UNIQUE INDEX held_message_id ON held_message (site, user, client_id);
CREATE INDEX held_message_report ON held_message (site, report) WHERE report > 0;

-- Devices from which nobody may come.
CREATE TABLE device_ban (
    site   INTEGER NOT NULL,
    device INTEGER NOT NULL, -- fingerprint; 0: none was here, the next one of the user
    user   INTEGER NOT NULL, -- because of whom
    until  INTEGER NOT NULL,
    PRIMARY KEY (site, device, user)
) WITHOUT ROWID;
