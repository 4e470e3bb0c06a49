-- Sanctions of erased users. They hold again for the next user with the same id.
CREATE TABLE erased_sanction (
    site  INTEGER NOT NULL,
    sub   BLOB NOT NULL,    -- the digest of the id, as in role_decision
    room  INTEGER NOT NULL, -- 0: on the whole site
    kind  INTEGER NOT NULL, -- as in sanction
    until INTEGER NOT NULL, -- 253402300799999: no end
    PRIMARY KEY (site, sub, room, kind)
) WITHOUT ROWID;
CREATE INDEX erased_sanction_until ON erased_sanction (until) WHERE until < 253402300799999;

-- An open report about an erased user keeps the user's words until it is closed, and at most until this time. 0: not erased.
ALTER TABLE report ADD COLUMN evidence_ends INTEGER NOT NULL DEFAULT 0;
CREATE INDEX report_evidence ON report (evidence_ends) WHERE evidence_ends > 0;
CREATE INDEX report_user ON report (site, user);
CREATE INDEX report_reporter ON report (site, reporter);
CREATE INDEX report_line_sender ON report_line (site, sender) WHERE body <> '';
