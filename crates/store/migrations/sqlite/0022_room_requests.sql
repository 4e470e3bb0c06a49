-- Room requests: who asked whom into which room, and what became of it. At most 100 pending ones of a user, and 2,000 others.
CREATE TABLE room_request (
    site    INTEGER NOT NULL,
    user    INTEGER NOT NULL, -- who was asked
    room    INTEGER NOT NULL,
    asker   INTEGER NOT NULL,
    state   INTEGER NOT NULL, -- 0 pending, 1 declined or left, 2 withdrawn, 3 accepted
    changed INTEGER NOT NULL, -- number of the commit in which it was made or ended
    time    INTEGER NOT NULL, -- when it was made
    PRIMARY KEY (site, user, room, asker)
) WITHOUT ROWID;
CREATE INDEX room_request_asker ON room_request (site, asker);
