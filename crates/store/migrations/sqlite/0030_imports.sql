-- Things that were imported from another system. The key is a hash of kind and id there, so nothing readable of an erased user stays.
CREATE TABLE imported (
    site   INTEGER NOT NULL,
    key    BLOB    NOT NULL, -- 16 bytes
    number INTEGER NOT NULL, -- a user's number, a room's key, a message's position
    PRIMARY KEY (site, key)
) WITHOUT ROWID;
-- Devices with a position before the floor of their site begin with a first page.
CREATE TABLE import_floor (
    site        INTEGER PRIMARY KEY,
    number      INTEGER NOT NULL,
    unpublished INTEGER NOT NULL -- 1: devices that are online do not know yet
);
