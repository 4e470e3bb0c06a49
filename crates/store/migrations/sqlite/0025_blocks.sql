-- A mention is not counted for a member who has blocked its author. 0: an author from before this column.
ALTER TABLE mention ADD COLUMN author INTEGER NOT NULL DEFAULT 0;
-- Bit 8 of the marks: this member has blocked the other one of the direct conversation.
UPDATE conversation SET low_marks = low_marks | 8 WHERE EXISTS (
    SELECT 1 FROM contact WHERE contact.site = conversation.site AND contact.user = conversation.key >> 32
    AND contact.other = conversation.key & 4294967295 AND contact.state = 4
);
UPDATE conversation SET high_marks = high_marks | 8 WHERE EXISTS (
    SELECT 1 FROM contact WHERE contact.site = conversation.site AND contact.user = conversation.key & 4294967295
    AND contact.other = conversation.key >> 32 AND contact.state = 4
);
