-- Which device of the user the browser is (`device.id`), so that one that is signed out is told no more. NULL: told before this was
-- kept, or the site keeps no devices; the browser says it again when it comes next.
ALTER TABLE push_device ADD COLUMN device INTEGER;
