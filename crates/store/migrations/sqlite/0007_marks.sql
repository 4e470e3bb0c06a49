-- What was a yes or no is bits now: 1 pinned, 2 marked as unread, 4 has a draft. Who has none of the new ones reads and writes
-- what they did.
ALTER TABLE conversation RENAME COLUMN low_pinned TO low_marks;
ALTER TABLE conversation RENAME COLUMN high_pinned TO high_marks;
ALTER TABLE membership RENAME COLUMN pinned TO marks;

-- What members have begun to write, on all their devices. A row counts only where its bit is set.
CREATE TABLE draft (
    site         INTEGER NOT NULL,
    user         INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    body         TEXT NOT NULL,
    PRIMARY KEY (site, user, conversation)
) WITHOUT ROWID;
