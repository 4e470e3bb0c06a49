-- By which id guests came who are members now.
CREATE TABLE merged_guest (
    site INTEGER NOT NULL,
    sub  TEXT NOT NULL,
    user INTEGER NOT NULL,
    PRIMARY KEY (site, sub)
) WITHOUT ROWID;
