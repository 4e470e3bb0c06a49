-- What the owner of a site has decided, as JSON: settings.rs.
ALTER TABLE site ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';

-- What of a user decides on the whole site: role (0 member, 1 moderator, 2 admin) + 4 where muted + 8 where there is something to
-- be told at the next sign-in.
ALTER TABLE user ADD COLUMN standing INTEGER NOT NULL DEFAULT 0;
-- The few for whom it is not 0, and the banned ones.
CREATE INDEX user_standing ON user (site, num) WHERE standing <> 0;
CREATE INDEX user_banned ON user (site, num) WHERE banned <> 0;

-- A direct conversation that waits for an answer: 0 no, 1 the low one has asked, 2 the high one has; + 2 where the other one has put it away.
ALTER TABLE conversation ADD COLUMN request INTEGER NOT NULL DEFAULT 0;

-- How many conversations with strangers a user has begun on the last day on which they did.
CREATE TABLE request_day (
    site  INTEGER NOT NULL,
    user  INTEGER NOT NULL,
    day   INTEGER NOT NULL, -- of UTC, since 1970
    count INTEGER NOT NULL,
    PRIMARY KEY (site, user)
) WITHOUT ROWID;

-- What holds for a user, on the whole site or in a room, and warnings that were not seen.
CREATE TABLE sanction (
    site    INTEGER NOT NULL,
    user    INTEGER NOT NULL,
    room    INTEGER NOT NULL, -- 0: on the whole site
    kind    INTEGER NOT NULL, -- 0 warning, 1 mute, 2 ban
    until   INTEGER NOT NULL, -- 253402300799999: no end
    reason  TEXT NOT NULL,
    created INTEGER NOT NULL,
    PRIMARY KEY (site, user, room, kind)
) WITHOUT ROWID;
CREATE INDEX sanction_until ON sanction (until) WHERE until < 253402300799999;

CREATE TABLE report (
    site         INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    state        INTEGER NOT NULL, -- 0 open, 1 taken, 2 closed
    about        INTEGER NOT NULL, -- 0 a message, 1 a user, 2 a room
    conversation INTEGER NOT NULL, -- 0: none
    seq          INTEGER NOT NULL, -- 0: none
    user         INTEGER NOT NULL, -- who has written it, or is reported; 0: nobody
    reporter     INTEGER NOT NULL,
    reason       INTEGER NOT NULL, -- 0 spam, 1 abuse, 2 sexual, 3 violence, 4 fraud, 5 other
    text         TEXT NOT NULL,
    created      INTEGER NOT NULL,
    moderator    INTEGER NOT NULL, -- who has taken or closed it; 0: nobody
    note         TEXT NOT NULL,
    PRIMARY KEY (site, number)
) WITHOUT ROWID;
CREATE INDEX report_state ON report (site, state, number);
CREATE INDEX report_open ON report (site, reporter, conversation, seq, user) WHERE state < 2;
CREATE INDEX report_message ON report (site, conversation, seq);

-- Messages as they were when one of them was reported.
CREATE TABLE report_line (
    site   INTEGER NOT NULL,
    report INTEGER NOT NULL,
    seq    INTEGER NOT NULL,
    sender INTEGER NOT NULL,
    time   INTEGER NOT NULL,
    body   TEXT NOT NULL,
    PRIMARY KEY (site, report, seq)
) WITHOUT ROWID;

-- What moderators did. Nothing is ever changed in it.
CREATE TABLE audit (
    site         INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    time         INTEGER NOT NULL,
    moderator    INTEGER NOT NULL, -- 0: the site's own server, or the operator
    act          TEXT NOT NULL,
    user         INTEGER NOT NULL, -- 0: nobody
    conversation INTEGER NOT NULL, -- 0: none
    detail       TEXT NOT NULL,
    PRIMARY KEY (site, number)
) WITHOUT ROWID;
