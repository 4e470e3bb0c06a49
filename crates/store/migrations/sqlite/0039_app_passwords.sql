-- App passwords: keys that check a password, never the password.
CREATE TABLE app_password (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER, -- NULL: never
    iterations INTEGER NOT NULL,
    sha1_stored BLOB NOT NULL,
    sha1_server BLOB NOT NULL,
    sha256_stored BLOB NOT NULL,
    sha256_server BLOB NOT NULL,
    verifier BLOB, -- of random passwords
    PRIMARY KEY (site, user, number)
) WITHOUT ROWID;

-- The secret from which a site's salts are derived.
CREATE TABLE salt_key (
    site INTEGER PRIMARY KEY,
    key BLOB NOT NULL
) WITHOUT ROWID;

-- Passwords that the operator has revoked within a day: a running node ends their sessions.
CREATE TABLE ended_app_password (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    number INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (site, user, number)
) WITHOUT ROWID;

-- The XMPP domain of a site; NULL: its key.
ALTER TABLE site ADD COLUMN domain TEXT;
