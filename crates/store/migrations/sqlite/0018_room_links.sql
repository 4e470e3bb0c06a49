-- Invitations into rooms: who has the code comes in. What ends by its time or by its number stays until the room's next one is made,
-- everything else goes at once; at most 50 rows of a room. In the order in which they came, by rowid.
CREATE TABLE room_link (
    site  INTEGER NOT NULL,
    code  BLOB NOT NULL,    -- 16 bytes, drawn by lot
    room  INTEGER NOT NULL,
    user  INTEGER NOT NULL, -- who has made it
    until INTEGER NOT NULL, -- time from which on nobody comes by it
    uses  INTEGER,          -- so many may come by it; NULL: as many as the room takes
    used  INTEGER NOT NULL,
    PRIMARY KEY (site, code)
);
CREATE INDEX room_link_room ON room_link (site, room);
CREATE INDEX room_link_user ON room_link (site, user, room);
