-- Moderators of a room sanction, too: a user who was not in the room is not told.
ALTER TABLE sanction ADD COLUMN told INTEGER NOT NULL DEFAULT 1;
-- Members that a room takes at most, beside the limit of the site; 0: no limit of its own.
ALTER TABLE room ADD COLUMN max_members INTEGER NOT NULL DEFAULT 0;
