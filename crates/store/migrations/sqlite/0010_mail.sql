-- Where a user's digests go, as the site says it.
CREATE TABLE mail (
    site     INTEGER NOT NULL,
    user     INTEGER NOT NULL,
    address  TEXT NOT NULL,
    language TEXT NOT NULL,
    after    INTEGER,          -- minutes; 0: never; NULL: as the server says
    due      INTEGER NOT NULL, -- 0: none is coming
    sent     INTEGER NOT NULL, -- the last one; 0: none
    PRIMARY KEY (site, user)
) WITHOUT ROWID;
CREATE INDEX mail_due ON mail (due) WHERE due > 0;
