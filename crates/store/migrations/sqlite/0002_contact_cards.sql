-- A contact row carries the card of the other (sub, name, avatar, guest): a whole list is one range of one table, read
-- from a few pages side by side instead of one search per contact. There is a row for each side of a pair, if need be
-- with state 0, so that whoever shows a user's card is found through that user's own rows.
CREATE TABLE contact_card (
    site    INTEGER NOT NULL,
    user    INTEGER NOT NULL,
    other   INTEGER NOT NULL,
    state   INTEGER NOT NULL, -- 0 none, 1 request sent, 2 request received, 3 contact, 4 blocked
    changed INTEGER NOT NULL, -- position; 0: before every device
    sub     TEXT NOT NULL,
    name    TEXT NOT NULL,
    avatar  TEXT,
    guest   INTEGER NOT NULL,
    PRIMARY KEY (site, user, other)
) WITHOUT ROWID;
INSERT INTO contact_card
    SELECT c.site, c.user, c.other, c.state, c.changed, u.sub, u.name, u.avatar, u.guest
    FROM contact c JOIN user u ON u.site = c.site AND u.num = c.other
    ORDER BY c.site, c.user, c.other;
INSERT OR IGNORE INTO contact_card
    SELECT c.site, c.other, c.user, 0, 0, u.sub, u.name, u.avatar, u.guest
    FROM contact c JOIN user u ON u.site = c.site AND u.num = c.user;
DROP TABLE contact;
ALTER TABLE contact_card RENAME TO contact;
-- Rows of an import are not in it: after one, every device begins afresh.
CREATE INDEX contact_changed ON contact (site, user, changed) WHERE changed > 0;
