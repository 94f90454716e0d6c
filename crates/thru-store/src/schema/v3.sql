-- Observations, summaries, and what people told us. A row space of its own, followed by an index of
-- its own.
CREATE TABLE memories (
    -- Grows with every row written: the index knows by it how far it has come.
    row        INTEGER PRIMARY KEY AUTOINCREMENT,
    id         BLOB NOT NULL UNIQUE,
    -- Nothing where a person told it outside of any session.
    session    INTEGER REFERENCES sessions (id),
    -- The session's project, else the one that a person named; nothing where it holds everywhere.
    project    INTEGER REFERENCES projects (id),
    turn       INTEGER NOT NULL,
    kind       INTEGER NOT NULL,
    -- 1 a rule, 2 uncertain, 4 said by a person, 8 told by a person outside of a session, 16 edited,
    -- 32 a correction of the work of that moment.
    flags      INTEGER NOT NULL,
    -- How the work ended, of a summary.
    outcome    INTEGER,
    at         INTEGER,
    title      TEXT NOT NULL,
    -- Tokens (estimated) of reading it, and of the passages that it stands for.
    tokens     INTEGER NOT NULL,
    raw_tokens INTEGER NOT NULL,
    -- Tells whether a memory that is written again is still the same.
    digest     BLOB NOT NULL,
    -- Where its body lies: JSON in a text block.
    block      INTEGER NOT NULL REFERENCES text_blocks (id),
    start      INTEGER NOT NULL,
    length     INTEGER NOT NULL
) STRICT;
CREATE INDEX memories_by_session ON memories (session, turn);
CREATE INDEX memories_by_project ON memories (project, at);
-- Rules are told to every session, and are few among many.
CREATE INDEX memories_that_rule ON memories (project, at) WHERE flags & 1;

-- Files that a memory names, and what was known of them then.
CREATE TABLE memory_files (
    row      INTEGER NOT NULL REFERENCES memories (row),
    file     INTEGER NOT NULL REFERENCES files (id),
    modified INTEGER NOT NULL,
    at       INTEGER,
    -- The hash of the file's whole content, where it is known.
    content  BLOB,
    PRIMARY KEY (row, file)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_files_by_file ON memory_files (file);

-- Rows that the index of memories may still hold although they were replaced since.
CREATE TABLE retired_memories (
    row INTEGER PRIMARY KEY
) STRICT;

-- What people decided, in the order of the journal: for `thru log` and `thru undo`.
CREATE TABLE operations (
    number INTEGER PRIMARY KEY,
    key    TEXT NOT NULL UNIQUE,
    at     INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    body   TEXT NOT NULL,
    -- The operation that took this one back.
    undone TEXT
) STRICT;

-- What people decided about memories, by the memory's id, as MemoryDecision in JSON.
CREATE TABLE memory_decisions (
    id       BLOB PRIMARY KEY,
    decision TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Whether the session has passages that were not distilled yet.
ALTER TABLE sessions ADD COLUMN stale INTEGER NOT NULL DEFAULT 1;
-- What distilling calls the session.
ALTER TABLE sessions ADD COLUMN summary_title TEXT;
CREATE INDEX sessions_to_distil ON sessions (id) WHERE stale = 1;

-- The hash of what a call wrote, where that is the whole content of the file.
ALTER TABLE touches ADD COLUMN content BLOB;

-- Decisions are listed from now on: the journal is read again from its beginning. The rules of
-- redaction are among them.
DELETE FROM meta WHERE key IN ('journal', 'rules');
