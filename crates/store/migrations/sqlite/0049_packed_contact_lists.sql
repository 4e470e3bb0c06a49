-- A view of the rows of `contact`: all entries of a user in one value, see `contact/packed.rs`. A user without a row here has none
-- yet. Every change of the user's rows removes it.
CREATE TABLE contact_list (
    site   INTEGER NOT NULL,
    user   INTEGER NOT NULL,
    packed BLOB NOT NULL,
    PRIMARY KEY (site, user)
) WITHOUT ROWID;
-- An entry of state 0 is not on the list.
CREATE TRIGGER contact_added AFTER INSERT ON contact WHEN NEW.state <> 0 BEGIN
    DELETE FROM contact_list WHERE site = NEW.site AND user = NEW.user;
END;
CREATE TRIGGER contact_updated AFTER UPDATE ON contact WHEN OLD.state <> 0 OR NEW.state <> 0 BEGIN
    DELETE FROM contact_list WHERE site = NEW.site AND user = NEW.user;
END;
CREATE TRIGGER contact_removed AFTER DELETE ON contact WHEN OLD.state <> 0 BEGIN
    DELETE FROM contact_list WHERE site = OLD.site AND user = OLD.user;
END;
