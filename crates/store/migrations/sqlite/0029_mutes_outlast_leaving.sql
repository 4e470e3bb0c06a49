-- Members whom an owner muted before mutes were kept as sanctions: the mute outlasts leaving, too. Without an end, and without a notice.
INSERT OR IGNORE INTO sanction (site, user, room, kind, until, reason, created, told)
    SELECT site, user, room, 1, 253402300799999, '', 0, 0 FROM membership WHERE state = 3;
