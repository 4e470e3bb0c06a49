ALTER TABLE message ADD COLUMN kind INTEGER NOT NULL DEFAULT 0; -- 0 what a user wrote, 1 what stays of a call

-- What stays of a call had a client id that begins so. One search per user, not one per message; the newest messages, some thousand, are not
-- in the index of client ids yet.
UPDATE message SET kind = 1 WHERE position IN (
    SELECT sent.position FROM user CROSS JOIN sent
    WHERE sent.site = user.site AND sent.user = user.num AND sent.client_id >= 'call:' AND sent.client_id < 'call;'
);
UPDATE message SET kind = 1
WHERE position > coalesce((SELECT value FROM meta WHERE name = 'sent_indexed'), 0)
    AND client_id >= 'call:' AND client_id < 'call;';
