-- Users who are banned from a room, for those who keep order in it.
CREATE INDEX membership_banned ON membership (site, room, user) WHERE state = 10;
