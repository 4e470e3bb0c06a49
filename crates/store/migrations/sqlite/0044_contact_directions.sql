-- `state` is a set of flags: 1 the user sees the other one, 2 the other one sees the user, 4 the user blocks, 8 the user has asked
-- to see the other one, 16 the other one asks to see the user, 32 the user lets the other one in as soon as they ask, 64 an app has
-- put the other one on the list. Contacts (3) and blocks (4) keep their codes. A request of the widget asks and lets in.
UPDATE contact SET state = 40 WHERE state = 1;
UPDATE contact SET state = 16 WHERE state = 2;
-- The own name and groups (one a line) of the user for the other one.
ALTER TABLE contact ADD COLUMN own_name TEXT;
ALTER TABLE contact ADD COLUMN own_groups TEXT;
