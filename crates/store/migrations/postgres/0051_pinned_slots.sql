-- The name of the node that an operator has chosen for the home of the slot; empty: any node.
ALTER TABLE lease ADD COLUMN pinned TEXT COLLATE "C" NOT NULL DEFAULT '';
