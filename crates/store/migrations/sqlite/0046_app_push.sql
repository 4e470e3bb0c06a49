-- The push services that wake apps, as the apps have named them: one for each device and service.
CREATE TABLE push_app (
    site     INTEGER NOT NULL,
    user     INTEGER NOT NULL,
    service  TEXT NOT NULL,
    node     TEXT NOT NULL,
    options  TEXT NOT NULL,
    device   INTEGER NOT NULL,
    password INTEGER, -- number of the app password with which the app had signed in
    created  INTEGER NOT NULL,
    PRIMARY KEY (site, user, service, node)
) WITHOUT ROWID;
