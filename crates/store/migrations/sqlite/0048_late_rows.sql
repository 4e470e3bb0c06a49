-- The rows of direct conversations contain every message up to this position. Newer messages are only in the log.
INSERT INTO meta VALUES ('viewed', (SELECT value FROM meta WHERE name = 'position'));
