-- What a member has chosen of how others see them: 2 bits each for who may begin to write (0 everybody, 1 contacts, 2 nobody), who
-- sees the presence, who sees when they were here last; + 64 where the name is their own choice.
ALTER TABLE user ADD COLUMN choices INTEGER NOT NULL DEFAULT 0;
CREATE INDEX user_choices ON user (site, num) WHERE choices <> 0;

-- What members say of themselves. Who says nothing has no row.
CREATE TABLE status (
    site  INTEGER NOT NULL,
    user  INTEGER NOT NULL,
    text  TEXT NOT NULL,
    until INTEGER, -- NULL: no end
    PRIMARY KEY (site, user)
) WITHOUT ROWID;

-- Browsers and apps that have signed in, where the site keeps them.
CREATE TABLE device (
    site       INTEGER NOT NULL,
    user       INTEGER NOT NULL,
    id         INTEGER NOT NULL, -- fingerprint of what the client calls itself
    agent      INTEGER NOT NULL, -- browser + 256 * system: agent.rs
    created    INTEGER NOT NULL,
    used       INTEGER NOT NULL, -- when it has signed in last
    expires    INTEGER NOT NULL, -- of the last token that it is known to have had
    signed_out INTEGER,          -- when it was, if it has not come back since
    PRIMARY KEY (site, user, id)
) WITHOUT ROWID;

-- What is left to do of users who were erased: their messages too (1), or not (0), and how far their direct conversations were gone
-- through.
CREATE TABLE erasure (
    site         INTEGER NOT NULL,
    user         INTEGER NOT NULL,
    messages     INTEGER NOT NULL,
    conversation INTEGER NOT NULL, -- key
    PRIMARY KEY (site, user)
) WITHOUT ROWID;
