-- A site's key pair for push services (RFC 8292), as PKCS #8: made when somebody asks for it first, and kept, because browsers
-- bind their subscription to it.
CREATE TABLE push_key (
    site INTEGER PRIMARY KEY,
    pair BLOB NOT NULL
);

-- Browsers that take notifications. An endpoint is one browser, and of one user of a site at a time.
CREATE TABLE push_device (
    site     INTEGER NOT NULL,
    user     INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    key      BLOB NOT NULL,
    auth     BLOB NOT NULL,
    language TEXT NOT NULL,
    created  INTEGER NOT NULL,
    PRIMARY KEY (site, user, endpoint)
) WITHOUT ROWID;
CREATE UNIQUE INDEX push_device_endpoint ON push_device (site, endpoint);

-- What a user has chosen of notifications; who has chosen nothing has no row.
CREATE TABLE notify_setting (
    site         INTEGER NOT NULL,
    user         INTEGER NOT NULL,
    quiet_from   INTEGER, -- minutes of the day, by the user's clock
    quiet_to     INTEGER,
    quiet_offset INTEGER, -- minutes by which that clock is ahead of UTC
    bodies       INTEGER NOT NULL,
    PRIMARY KEY (site, user)
) WITHOUT ROWID;
