-- Tokens that apps have got with an app password, and prove in its place.
CREATE TABLE app_token (
    site INTEGER NOT NULL,
    user INTEGER NOT NULL,
    device BLOB NOT NULL, -- digest of an id that the app has chosen
    number INTEGER NOT NULL, -- of the app password
    mechanism TEXT NOT NULL,
    secret BLOB NOT NULL,
    expires INTEGER NOT NULL,
    next_secret BLOB, -- given to the app, and not used yet
    next_expires INTEGER,
    PRIMARY KEY (site, user, device)
) WITHOUT ROWID;
