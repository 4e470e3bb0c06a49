-- Text of a gateway beside the body, which only gateways read. NULL for nearly all messages: one byte of the row.
ALTER TABLE message ADD COLUMN extension TEXT;
ALTER TABLE held_message ADD COLUMN extension TEXT;
