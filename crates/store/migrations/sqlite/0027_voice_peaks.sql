-- How loud a voice message is over its time, as its sender says.
ALTER TABLE file ADD COLUMN peaks TEXT;    -- 1 to 64 digits of 0-9 and a-z
