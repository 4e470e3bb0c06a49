-- Names of keys; NULL: as `Secret::new` calls it.
ALTER TABLE secret ADD COLUMN kid TEXT;
-- Tokens that were signed before are refused.
ALTER TABLE secret ADD COLUMN not_before INTEGER;
-- 1: the server's own key, for the tokens of guests.
ALTER TABLE secret ADD COLUMN of_guests INTEGER NOT NULL DEFAULT 0;
-- Where pages and mails of the site find the server; NULL: as its configuration says.
ALTER TABLE site ADD COLUMN public_url TEXT;
