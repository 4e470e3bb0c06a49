-- The last number of each kind that a site has given out: `counter.rs` names the kinds.
CREATE TABLE counter (
    site INTEGER NOT NULL,
    kind INTEGER NOT NULL, -- 1 user, 2 room, 3 report, 4 audit, 5 secret, 6 held message, 7 invite link, 8 sticker
    last INTEGER NOT NULL,
    PRIMARY KEY (site, kind)
) WITHOUT ROWID;

-- Invite links and stickers are listed in the order of their making.
ALTER TABLE room_link ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE room_link SET number = rowid;
ALTER TABLE sticker ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE sticker SET number = rowid;

INSERT INTO counter SELECT site, 1, max(num) FROM user GROUP BY site;
-- The key of a room has its top bit set.
INSERT INTO counter SELECT site, 2, max(key) & 9223372036854775807 FROM room GROUP BY site;
INSERT INTO counter SELECT site, 3, max(number) FROM report GROUP BY site;
INSERT INTO counter SELECT site, 4, max(number) FROM audit GROUP BY site;
INSERT INTO counter SELECT site, 5, max(number) FROM secret GROUP BY site;
INSERT INTO counter SELECT site, 6, max(number) FROM held_message GROUP BY site;
INSERT INTO counter SELECT site, 7, max(number) FROM room_link GROUP BY site;
INSERT INTO counter SELECT site, 8, max(number) FROM sticker GROUP BY site;
