-- When the role of a user was last set by hand, or a user with a role was erased: a token from before does not set it again.
CREATE TABLE role_decision (
    site INTEGER NOT NULL,
    sub  BLOB NOT NULL,    -- the first 16 bytes of the SHA-256 of the user's id, because it outlives an erased user
    time INTEGER NOT NULL,
    PRIMARY KEY (site, sub)
) WITHOUT ROWID;
