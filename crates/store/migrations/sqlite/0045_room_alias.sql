-- The name in the address of a room that an app has created. A closed room keeps it.
-- A closed room has the kind 3. Its former members have the state 11, and its former owners 12.
ALTER TABLE room ADD COLUMN alias TEXT;
CREATE UNIQUE INDEX room_alias ON room (site, alias) WHERE alias IS NOT NULL;
