-- Items of users: small named values in named lists, which apps write and read.
CREATE TABLE item_list (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    list TEXT NOT NULL,
    access INTEGER NOT NULL, -- 0 contacts, 1 nobody, 2 everybody
    most INTEGER NOT NULL,
    persists INTEGER NOT NULL,
    sends_latest INTEGER NOT NULL,
    PRIMARY KEY (site, user, list)
) WITHOUT ROWID;

CREATE TABLE item (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    list TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (site, user, list, id)
);
CREATE INDEX item_version ON item (site, user, list, version);

-- Bytes of items with their names: of each user, and of the site in the row of user 0.
CREATE TABLE item_bytes (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (site, user)
) WITHOUT ROWID;
