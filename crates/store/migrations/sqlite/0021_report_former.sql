-- What a reported message said before, as it was when it was reported.
CREATE TABLE report_former (
    site   INTEGER NOT NULL,
    report INTEGER NOT NULL,
    number INTEGER NOT NULL, -- oldest first
    until  INTEGER NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (site, report, number)
) WITHOUT ROWID;
