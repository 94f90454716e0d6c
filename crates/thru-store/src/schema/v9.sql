-- Memories that were imported from other programs, as they were when they came. The journal holds all of it.
CREATE TABLE imports (
    memory  BLOB PRIMARY KEY,
    -- The key of the journal's record.
    key     TEXT NOT NULL,
    at      INTEGER NOT NULL,
    -- The name of the memory in the program that it comes from.
    source  TEXT NOT NULL,
    name    TEXT NOT NULL,
    -- The hash of the memory there.
    content BLOB NOT NULL,
    body    TEXT NOT NULL
) STRICT;
CREATE INDEX imports_by_name ON imports (name);
