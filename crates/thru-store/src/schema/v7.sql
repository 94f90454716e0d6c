-- A hash of the block as it was written, and of its length: a flipped bit gives another text, and no error.
ALTER TABLE text_blocks ADD COLUMN hash INTEGER;
