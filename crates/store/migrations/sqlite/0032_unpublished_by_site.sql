-- Unpublished changes are read site by site, so that a site with many of them does not hide the others.
DROP INDEX message_unpublished;
CREATE INDEX message_unpublished ON message_change (site, position) WHERE unpublished = 1;
