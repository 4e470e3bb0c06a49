-- The whole schema of version 50, as SQLite's migrations 1 to 50 make it; their files explain the columns. Integers have 64
-- bits and texts are compared by their bytes, as in SQLite. Later versions have a file here and one beside SQLite's.

CREATE TABLE meta (
    name TEXT COLLATE "C" NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE site (
    id BIGINT NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    mode BIGINT NOT NULL,
    guests BIGINT NOT NULL,
    origins TEXT COLLATE "C" NOT NULL,
    created BIGINT NOT NULL,
    settings TEXT COLLATE "C" NOT NULL DEFAULT '{}',
    public_url TEXT COLLATE "C",
    domain TEXT COLLATE "C",
    PRIMARY KEY (id)
);
CREATE UNIQUE INDEX site_key ON site (key);

CREATE TABLE removed_site (
    site BIGINT NOT NULL,
    PRIMARY KEY (site)
);

CREATE TABLE secret (
    site BIGINT NOT NULL,
    number BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT,
    kid TEXT COLLATE "C",
    not_before BIGINT,
    of_guests BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, number)
);

CREATE TABLE "user" (
    site BIGINT NOT NULL,
    sub TEXT COLLATE "C" NOT NULL,
    num BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    folded TEXT COLLATE "C" NOT NULL,
    avatar TEXT COLLATE "C",
    guest BIGINT NOT NULL,
    presence BIGINT NOT NULL,
    banned BIGINT NOT NULL,
    created BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    standing BIGINT NOT NULL DEFAULT 0,
    choices BIGINT NOT NULL DEFAULT 0,
    level BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, sub)
);
CREATE UNIQUE INDEX user_num ON "user" (site, num);
CREATE INDEX user_name ON "user" (site, folded, sub);
CREATE INDEX user_standing ON "user" (site, num) WHERE standing <> 0;
CREATE INDEX user_banned ON "user" (site, num) WHERE banned <> 0;
CREATE INDEX user_choices ON "user" (site, num) WHERE choices <> 0;

CREATE TABLE name_word (
    site BIGINT NOT NULL,
    rest TEXT COLLATE "C" NOT NULL,
    sub TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, rest, sub)
);

CREATE TABLE message (
    position BIGINT NOT NULL,
    site BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    previous BIGINT NOT NULL,
    sender BIGINT NOT NULL,
    mention BIGINT NOT NULL,
    time BIGINT NOT NULL,
    reply_to BIGINT,
    client_id TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    changed BIGINT NOT NULL DEFAULT 0,
    files BIGINT NOT NULL DEFAULT 0,
    rich BIGINT NOT NULL DEFAULT 0,
    kind BIGINT NOT NULL DEFAULT 0,
    extension TEXT COLLATE "C",
    PRIMARY KEY (position)
);

CREATE TABLE milestone (
    site BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (site, conversation, seq)
);

CREATE TABLE sent (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (site, "user", client_id)
);

CREATE TABLE conversation (
    site BIGINT NOT NULL,
    key BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    active BIGINT NOT NULL,
    low_received BIGINT NOT NULL,
    low_read BIGINT NOT NULL,
    low_mentions BIGINT NOT NULL,
    low_muted_until BIGINT NOT NULL,
    low_marks BIGINT NOT NULL,
    low_archived BIGINT NOT NULL,
    low_changed BIGINT NOT NULL,
    high_received BIGINT NOT NULL,
    high_read BIGINT NOT NULL,
    high_mentions BIGINT NOT NULL,
    high_muted_until BIGINT NOT NULL,
    high_marks BIGINT NOT NULL,
    high_archived BIGINT NOT NULL,
    high_changed BIGINT NOT NULL,
    request BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, key)
);
CREATE INDEX conversation_high ON conversation (site, (key & 4294967295));

CREATE TABLE used_token (
    site BIGINT NOT NULL,
    jti TEXT COLLATE "C" NOT NULL,
    expires BIGINT NOT NULL,
    PRIMARY KEY (site, jti)
);
CREATE INDEX used_token_expires ON used_token (expires);

CREATE TABLE contact (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    other BIGINT NOT NULL,
    state BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    sub TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    avatar TEXT COLLATE "C",
    guest BIGINT NOT NULL,
    own_name TEXT COLLATE "C",
    own_groups TEXT COLLATE "C",
    PRIMARY KEY (site, "user", other)
);
CREATE INDEX contact_changed ON contact (site, "user", changed) WHERE changed > 0;
CREATE INDEX contact_blocked ON contact (site, "user", other) WHERE state = 4;

CREATE TABLE message_change (
    site BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    position BIGINT NOT NULL,
    message BIGINT NOT NULL,
    edited BIGINT,
    deleted BIGINT NOT NULL,
    pinned BIGINT NOT NULL DEFAULT 0,
    unpublished BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, conversation, position)
);
CREATE INDEX message_pinned ON message_change (site, conversation, message) WHERE pinned = 1;
CREATE INDEX message_unpublished ON message_change (site, position) WHERE unpublished = 1;

CREATE TABLE message_revision (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    number BIGINT NOT NULL,
    until BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, message, number)
);

CREATE TABLE reaction (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    reaction TEXT COLLATE "C" NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (site, message, "user", reaction)
);
CREATE INDEX reaction_order ON reaction (site, message, reaction, position);
CREATE INDEX reaction_user ON reaction (site, "user", message);

CREATE TABLE reaction_count (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    first BIGINT NOT NULL,
    reaction TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (site, message, first)
);

CREATE TABLE room (
    site BIGINT NOT NULL,
    key BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    position BIGINT NOT NULL,
    active BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    members BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    slow_ms BIGINT NOT NULL,
    frozen BIGINT NOT NULL,
    created BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    folded TEXT COLLATE "C" NOT NULL,
    topic TEXT COLLATE "C",
    avatar TEXT COLLATE "C",
    page TEXT COLLATE "C",
    max_members BIGINT NOT NULL DEFAULT 0,
    alias TEXT COLLATE "C",
    nicknames BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, key)
);
CREATE UNIQUE INDEX room_page ON room (site, page) WHERE page IS NOT NULL;
CREATE INDEX room_name ON room (site, folded, key) WHERE page IS NULL AND kind <> 1;
CREATE UNIQUE INDEX room_alias ON room (site, alias) WHERE alias IS NOT NULL;

CREATE TABLE membership (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    room BIGINT NOT NULL,
    state BIGINT NOT NULL,
    received BIGINT NOT NULL,
    read BIGINT NOT NULL,
    sent BIGINT NOT NULL,
    muted_until BIGINT NOT NULL,
    marks BIGINT NOT NULL,
    archived BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    folded TEXT COLLATE "C" NOT NULL,
    sub TEXT COLLATE "C" NOT NULL,
    nick TEXT COLLATE "C",
    nick_folded TEXT COLLATE "C",
    PRIMARY KEY (site, "user", room)
);
CREATE INDEX membership_room ON membership (site, room, state, folded, sub) WHERE state < 8;
CREATE INDEX membership_banned ON membership (site, room, "user") WHERE state = 10;
CREATE UNIQUE INDEX membership_nick ON membership (site, room, nick_folded) WHERE nick_folded IS NOT NULL;

CREATE TABLE mention (
    site BIGINT NOT NULL,
    room BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    author BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, room, "user", seq)
);

CREATE TABLE request_day (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    day BIGINT NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (site, "user")
);

CREATE TABLE sanction (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    room BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    until BIGINT NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    created BIGINT NOT NULL,
    told BIGINT NOT NULL DEFAULT 1,
    PRIMARY KEY (site, "user", room, kind)
);
CREATE INDEX sanction_until ON sanction (until) WHERE until < 253402300799999;

CREATE TABLE report (
    site BIGINT NOT NULL,
    number BIGINT NOT NULL,
    state BIGINT NOT NULL,
    about BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    reporter BIGINT NOT NULL,
    reason BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    created BIGINT NOT NULL,
    moderator BIGINT NOT NULL,
    note TEXT COLLATE "C" NOT NULL,
    evidence_ends BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, number)
);
CREATE INDEX report_state ON report (site, state, number);
CREATE INDEX report_open ON report (site, reporter, conversation, seq, "user") WHERE state < 2;
CREATE INDEX report_message ON report (site, conversation, seq);
CREATE INDEX report_evidence ON report (evidence_ends) WHERE evidence_ends > 0;
CREATE INDEX report_user ON report (site, "user");
CREATE INDEX report_reporter ON report (site, reporter);

CREATE TABLE report_line (
    site BIGINT NOT NULL,
    report BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    sender BIGINT NOT NULL,
    time BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, report, seq)
);
CREATE INDEX report_line_sender ON report_line (site, sender) WHERE body <> '';

CREATE TABLE audit (
    site BIGINT NOT NULL,
    number BIGINT NOT NULL,
    time BIGINT NOT NULL,
    moderator BIGINT NOT NULL,
    act TEXT COLLATE "C" NOT NULL,
    "user" BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    detail TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, number)
);

CREATE TABLE draft (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, "user", conversation)
);

CREATE TABLE push_key (
    site BIGINT NOT NULL,
    pair BYTEA NOT NULL,
    PRIMARY KEY (site)
);

CREATE TABLE push_device (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL,
    key BYTEA NOT NULL,
    auth BYTEA NOT NULL,
    language TEXT COLLATE "C" NOT NULL,
    created BIGINT NOT NULL,
    device BIGINT,
    PRIMARY KEY (site, "user", endpoint)
);
CREATE UNIQUE INDEX push_device_endpoint ON push_device (site, endpoint);

CREATE TABLE notify_setting (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    quiet_from BIGINT,
    quiet_to BIGINT,
    quiet_offset BIGINT,
    bodies BIGINT NOT NULL,
    PRIMARY KEY (site, "user")
);

CREATE TABLE mail (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    address TEXT COLLATE "C" NOT NULL,
    language TEXT COLLATE "C" NOT NULL,
    after BIGINT,
    due BIGINT NOT NULL,
    sent BIGINT NOT NULL,
    PRIMARY KEY (site, "user")
);
CREATE INDEX mail_due ON mail (due) WHERE due > 0;

CREATE TABLE file (
    site BIGINT NOT NULL,
    id BIGINT NOT NULL,
    owner BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    message BIGINT NOT NULL,
    place BIGINT NOT NULL,
    created BIGINT NOT NULL,
    complete BIGINT NOT NULL,
    kept_bytes BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    width BIGINT,
    height BIGINT,
    blurhash TEXT COLLATE "C",
    thumbnail BIGINT NOT NULL,
    duration BIGINT,
    voice BIGINT NOT NULL,
    peaks TEXT COLLATE "C",
    PRIMARY KEY (site, id)
);
CREATE INDEX file_message ON file (site, message, place) WHERE message > 0;
CREATE INDEX file_loose ON file (site, owner) WHERE message = 0;
CREATE INDEX file_owner ON file (site, owner, id) WHERE message > 0;
CREATE INDEX file_stale ON file (created) WHERE message <= 0 AND (message < 0 OR conversation <> 0 OR complete = 0);
CREATE INDEX file_open ON file (created) WHERE message = 0 AND conversation = 0 AND complete = 1;

CREATE TABLE file_bytes (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (site, "user")
);

CREATE TABLE poll (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    multiple BIGINT NOT NULL,
    anonymous BIGINT NOT NULL,
    ends BIGINT,
    closed BIGINT NOT NULL,
    voters BIGINT NOT NULL,
    PRIMARY KEY (site, message)
);

CREATE TABLE poll_choice (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    number BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    votes BIGINT NOT NULL,
    PRIMARY KEY (site, message, number)
);

CREATE TABLE vote (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    choice BIGINT NOT NULL,
    position BIGINT NOT NULL,
    PRIMARY KEY (site, message, "user", choice)
);
CREATE INDEX vote_order ON vote (site, message, choice, position);
CREATE INDEX vote_user ON vote (site, "user", message);

CREATE TABLE forward (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    author BIGINT,
    PRIMARY KEY (site, message)
);
CREATE INDEX forward_author ON forward (site, author, message) WHERE author IS NOT NULL;

CREATE TABLE file_copy (
    site BIGINT NOT NULL,
    file BIGINT NOT NULL,
    message BIGINT NOT NULL,
    place BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    PRIMARY KEY (site, file, message)
);
CREATE INDEX file_copy_message ON file_copy (site, message, place);

CREATE TABLE thread (
    site BIGINT NOT NULL,
    room BIGINT NOT NULL,
    root BIGINT NOT NULL,
    replies BIGINT NOT NULL,
    last BIGINT NOT NULL,
    position BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, room, root)
);
CREATE INDEX thread_position ON thread (site, room, position);

CREATE TABLE thread_reply (
    site BIGINT NOT NULL,
    room BIGINT NOT NULL,
    root BIGINT NOT NULL,
    seq BIGINT NOT NULL,
    number BIGINT NOT NULL,
    message BIGINT NOT NULL,
    PRIMARY KEY (site, room, root, seq)
);
CREATE INDEX thread_reply_message ON thread_reply (site, message);

CREATE TABLE thread_follow (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    room BIGINT NOT NULL,
    root BIGINT NOT NULL,
    read BIGINT NOT NULL,
    PRIMARY KEY (site, "user", room, root)
);

CREATE TABLE status (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    until BIGINT,
    PRIMARY KEY (site, "user")
);

CREATE TABLE device (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    id BIGINT NOT NULL,
    agent BIGINT NOT NULL,
    created BIGINT NOT NULL,
    used BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    signed_out BIGINT,
    PRIMARY KEY (site, "user", id)
);

CREATE TABLE erasure (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    former TEXT COLLATE "C" NOT NULL DEFAULT '',
    step BIGINT NOT NULL DEFAULT 0,
    at BIGINT NOT NULL DEFAULT 0,
    at_id TEXT COLLATE "C" NOT NULL DEFAULT '',
    began BIGINT NOT NULL DEFAULT 0,
    indexed BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, "user")
);

CREATE TABLE merged_guest (
    site BIGINT NOT NULL,
    sub TEXT COLLATE "C" NOT NULL,
    "user" BIGINT NOT NULL,
    PRIMARY KEY (site, sub)
);

CREATE TABLE held_message (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    number BIGINT NOT NULL,
    state BIGINT NOT NULL,
    report BIGINT NOT NULL,
    conversation BIGINT NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    time BIGINT NOT NULL,
    reply_to BIGINT NOT NULL,
    files BYTEA NOT NULL,
    thread BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    extension TEXT COLLATE "C",
    PRIMARY KEY (site, "user", number)
);
CREATE UNIQUE INDEX held_message_id ON held_message (site, "user", client_id);
CREATE INDEX held_message_report ON held_message (site, report) WHERE report > 0;

CREATE TABLE device_ban (
    site BIGINT NOT NULL,
    device BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (site, device, "user")
);

CREATE TABLE preview (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    description TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, message)
);

CREATE TABLE sticker (
    site BIGINT NOT NULL,
    id BIGINT NOT NULL,
    series TEXT COLLATE "C" NOT NULL,
    words TEXT COLLATE "C" NOT NULL,
    type TEXT COLLATE "C" NOT NULL,
    width BIGINT NOT NULL,
    height BIGINT NOT NULL,
    added BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    number BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, id)
);

CREATE TABLE message_sticker (
    site BIGINT NOT NULL,
    message BIGINT NOT NULL,
    sticker BIGINT NOT NULL,
    PRIMARY KEY (site, message)
);

CREATE TABLE room_link (
    site BIGINT NOT NULL,
    code BYTEA NOT NULL,
    room BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    until BIGINT NOT NULL,
    uses BIGINT,
    used BIGINT NOT NULL,
    number BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (site, code)
);
CREATE INDEX room_link_room ON room_link (site, room);
CREATE INDEX room_link_user ON room_link (site, "user", room);

CREATE TABLE report_former (
    site BIGINT NOT NULL,
    report BIGINT NOT NULL,
    number BIGINT NOT NULL,
    until BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, report, number)
);

CREATE TABLE room_request (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    room BIGINT NOT NULL,
    asker BIGINT NOT NULL,
    state BIGINT NOT NULL,
    changed BIGINT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (site, "user", room, asker)
);
CREATE INDEX room_request_asker ON room_request (site, asker);

CREATE TABLE role_decision (
    site BIGINT NOT NULL,
    sub BYTEA NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (site, sub)
);

CREATE TABLE erased_sanction (
    site BIGINT NOT NULL,
    sub BYTEA NOT NULL,
    room BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    until BIGINT NOT NULL,
    PRIMARY KEY (site, sub, room, kind)
);
CREATE INDEX erased_sanction_until ON erased_sanction (until) WHERE until < 253402300799999;

CREATE TABLE imported (
    site BIGINT NOT NULL,
    key BYTEA NOT NULL,
    number BIGINT NOT NULL,
    PRIMARY KEY (site, key)
);

CREATE TABLE import_floor (
    site BIGINT NOT NULL,
    number BIGINT NOT NULL,
    unpublished BIGINT NOT NULL,
    PRIMARY KEY (site)
);

CREATE TABLE counter (
    site BIGINT NOT NULL,
    kind BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (site, kind)
);

CREATE TABLE app_password (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    number BIGINT NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    created BIGINT NOT NULL,
    used BIGINT,
    iterations BIGINT NOT NULL,
    sha1_stored BYTEA NOT NULL,
    sha1_server BYTEA NOT NULL,
    sha256_stored BYTEA NOT NULL,
    sha256_server BYTEA NOT NULL,
    verifier BYTEA,
    PRIMARY KEY (site, "user", number)
);

CREATE TABLE salt_key (
    site BIGINT NOT NULL,
    key BYTEA NOT NULL,
    PRIMARY KEY (site)
);

CREATE TABLE ended_app_password (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    number BIGINT NOT NULL,
    time BIGINT NOT NULL,
    PRIMARY KEY (site, "user", number)
);

CREATE TABLE app_token (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    device BYTEA NOT NULL,
    number BIGINT NOT NULL,
    mechanism TEXT COLLATE "C" NOT NULL,
    secret BYTEA NOT NULL,
    expires BIGINT NOT NULL,
    next_secret BYTEA,
    next_expires BIGINT,
    PRIMARY KEY (site, "user", device)
);

CREATE TABLE item_list (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    list TEXT COLLATE "C" NOT NULL,
    access BIGINT NOT NULL,
    most BIGINT NOT NULL,
    persists BIGINT NOT NULL,
    sends_latest BIGINT NOT NULL,
    PRIMARY KEY (site, "user", list)
);

CREATE TABLE item (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    list TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    payload TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (site, "user", list, id)
);
CREATE INDEX item_version ON item (site, "user", list, version);

CREATE TABLE item_bytes (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (site, "user")
);

CREATE TABLE push_app (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    service TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    options TEXT COLLATE "C" NOT NULL,
    device BIGINT NOT NULL,
    password BIGINT,
    created BIGINT NOT NULL,
    PRIMARY KEY (site, "user", service, node)
);

CREATE TABLE own_picture (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    list TEXT COLLATE "C" NOT NULL,
    version BIGINT NOT NULL,
    site_avatar TEXT COLLATE "C",
    type TEXT COLLATE "C" NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (site, "user")
);
CREATE UNIQUE INDEX own_picture_id ON own_picture (site, id);

CREATE TABLE contact_list (
    site BIGINT NOT NULL,
    "user" BIGINT NOT NULL,
    packed BYTEA NOT NULL,
    PRIMARY KEY (site, "user")
);

-- The row of a slot: which node may write (its term), which connection wrote last, and how often that changed.
CREATE TABLE lease (
    slot BIGINT NOT NULL,
    term BIGINT NOT NULL,
    holder TEXT COLLATE "C" NOT NULL, -- empty: no node needs a lease
    expires BIGINT NOT NULL,
    version BIGINT NOT NULL,
    writer BIGINT NOT NULL,
    PRIMARY KEY (slot)
);
INSERT INTO lease VALUES (0, 0, '', 0, 0, 0);

-- The words of messages. Words of the body have the weight A, and names of those who may find the message D.
CREATE TABLE message_text (
    position BIGINT NOT NULL,
    words TSVECTOR NOT NULL,
    PRIMARY KEY (position)
);
CREATE INDEX message_text_words ON message_text USING gin (words);

-- An entry of state 0 is not on the list.
CREATE FUNCTION kith_forget_contact_list() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'DELETE' AND NEW.state <> 0 OR TG_OP <> 'INSERT' AND OLD.state <> 0 THEN
        IF TG_OP = 'DELETE' THEN
            DELETE FROM contact_list WHERE site = OLD.site AND "user" = OLD."user";
        ELSE
            DELETE FROM contact_list WHERE site = NEW.site AND "user" = NEW."user";
        END IF;
    END IF;
    RETURN NULL;
END;
$$;
CREATE TRIGGER contact_changed_list AFTER INSERT OR UPDATE OR DELETE ON contact
    FOR EACH ROW EXECUTE FUNCTION kith_forget_contact_list();

INSERT INTO meta VALUES ('position', 0), ('revision', 0), ('next_site', 1), ('viewed', 0);
