-- What the first link of a message leads to (bit 16 of `message.rich`). Its picture is a file of the message in place -1.
CREATE TABLE preview (
    site        INTEGER NOT NULL,
    message     INTEGER NOT NULL, -- position
    url         TEXT NOT NULL,
    title       TEXT NOT NULL,
    description TEXT NOT NULL,
    name        TEXT NOT NULL,    -- of the page's site
    PRIMARY KEY (site, message)
) WITHOUT ROWID;
