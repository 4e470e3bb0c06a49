-- The number of the last commit that changed a nickname in the room; 0: nobody has had one. Clients compare it with the one of the
-- nicknames that they know. Rooms with nicknames from before get 1.
ALTER TABLE room ADD COLUMN nicknames INTEGER NOT NULL DEFAULT 0;
UPDATE room SET nicknames = 1 WHERE EXISTS
    (SELECT 1 FROM membership WHERE membership.site = room.site AND membership.room = room.key AND nick_folded IS NOT NULL);
