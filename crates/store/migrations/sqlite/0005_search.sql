-- The words of messages, filled behind the writer (meta's search_indexed says how far); its rowid is the message's position.
-- `who` holds names of who may find it, see search.rs. No text is kept here: what is found is read from the log.
CREATE VIRTUAL TABLE message_text USING fts5(
    body, who, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);
