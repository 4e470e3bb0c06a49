-- The name that a member has chosen for one room, and its form for comparison; NULL: the display name.
ALTER TABLE membership ADD COLUMN nick TEXT;
ALTER TABLE membership ADD COLUMN nick_folded TEXT;
CREATE UNIQUE INDEX membership_nick ON membership (site, room, nick_folded) WHERE nick_folded IS NOT NULL;
