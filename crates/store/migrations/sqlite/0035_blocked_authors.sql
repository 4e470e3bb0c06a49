-- Whom a user has blocked: read with each list of rooms in which something is unread.
CREATE INDEX contact_blocked ON contact (site, user, other) WHERE state = 4;
