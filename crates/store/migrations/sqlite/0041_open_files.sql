-- Complete files without a conversation (file.conversation is 0) live longer than others that are in no message. So that the
-- sweep reads only what has ended, each kind has an index of its own.
DROP INDEX file_stale;
CREATE INDEX file_stale ON file (created) WHERE message <= 0 AND (message < 0 OR conversation <> 0 OR complete = 0);
CREATE INDEX file_open ON file (created) WHERE message = 0 AND conversation = 0 AND complete = 1;
