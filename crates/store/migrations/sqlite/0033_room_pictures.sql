-- A file may be the picture of its room: `file.message` is -2 then, and `room.avatar` is `upload:` and its id in hexadecimal digits. The
-- housekeeping leaves such files alone.
DROP INDEX file_stale;
CREATE INDEX file_stale ON file (created) WHERE message <= 0 AND message >= -1;
