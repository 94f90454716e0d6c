-- `--file lib.rs` finds files by their last component without reading every path.
ALTER TABLE files ADD COLUMN name TEXT NOT NULL DEFAULT '';
