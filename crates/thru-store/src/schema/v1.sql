-- Everything here is a projection of journal and archive; `thru rebuild` makes it again.
-- Times are milliseconds since 1970 (UTC).

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE projects (
    id          INTEGER PRIMARY KEY,
    key         TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    -- The project that this one was merged into; its sessions count as that one's.
    merged_into INTEGER REFERENCES projects (id)
) STRICT;

-- Which project a working directory belongs to, as it was found when first seen.
CREATE TABLE directories (
    path    TEXT PRIMARY KEY,
    project INTEGER NOT NULL REFERENCES projects (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id        INTEGER PRIMARY KEY,
    agent     TEXT NOT NULL,
    session   TEXT NOT NULL,
    project   INTEGER REFERENCES projects (id),
    title     TEXT,
    started   INTEGER,
    ended     INTEGER,
    -- SessionFacts of all its sources together, as JSON.
    facts     TEXT NOT NULL DEFAULT '{}',
    UNIQUE (agent, session)
) STRICT;
CREATE INDEX sessions_by_project ON sessions (project, ended);
CREATE INDEX sessions_by_end ON sessions (ended);

-- One row per archived file: how far it was read, and what the file looked like.
CREATE TABLE sources (
    id       INTEGER PRIMARY KEY,
    entry    TEXT NOT NULL UNIQUE,
    path     TEXT NOT NULL,
    kind     TEXT NOT NULL,
    session  INTEGER REFERENCES sessions (id),
    -- Lines of the archived file that the rows below come from.
    lines    INTEGER NOT NULL DEFAULT 0,
    -- The reader's state behind those lines.
    reader   TEXT,
    -- Size and time of the source file when it was last read: unchanged means nothing to do.
    size     INTEGER,
    modified INTEGER,
    -- Bytes of the archived file at that time: fewer means that a power cut took some.
    archived INTEGER
) STRICT;
CREATE INDEX sources_by_session ON sources (session);
CREATE INDEX sources_by_path ON sources (path);

-- What each source says of a session, as SessionFacts in JSON. (A list of prompts tells of many.)
CREATE TABLE source_facts (
    session INTEGER NOT NULL REFERENCES sessions (id),
    source  INTEGER NOT NULL REFERENCES sources (id),
    facts   TEXT NOT NULL,
    PRIMARY KEY (session, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE record_types (
    source INTEGER NOT NULL REFERENCES sources (id),
    type   TEXT NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (source, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE diagnostics (
    source INTEGER NOT NULL REFERENCES sources (id),
    kind   TEXT NOT NULL,
    -- The first line (1-based) it was met on, and how often it was met in all.
    line   INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    PRIMARY KEY (source, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE passages (
    -- Grows with every row written: the index knows by it how far it has come.
    row      INTEGER PRIMARY KEY AUTOINCREMENT,
    id       BLOB NOT NULL UNIQUE,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    source   INTEGER NOT NULL REFERENCES sources (id),
    -- Whether the record was copied into this session from another one (a resume or a fork).
    copied   INTEGER NOT NULL,
    turn     INTEGER NOT NULL,
    ordinal  INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    -- The subagent that spoke, if one did.
    agent    TEXT,
    tool     TEXT,
    command  TEXT,
    outcome  INTEGER,
    at       INTEGER,
    -- [[record id, line in the archived file], …]
    records  TEXT NOT NULL,
    -- Where the text lies: a block, and a byte range of it once unpacked.
    block    INTEGER NOT NULL REFERENCES text_blocks (id),
    start    INTEGER NOT NULL,
    length   INTEGER NOT NULL
) STRICT;
CREATE INDEX passages_by_session ON passages (session, source, ordinal);

-- Texts of passages, many to a block, compressed together.
CREATE TABLE text_blocks (
    id     INTEGER PRIMARY KEY,
    -- Bytes once unpacked.
    length INTEGER NOT NULL,
    data   BLOB NOT NULL
) STRICT;

CREATE TABLE files (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE touches (
    row      INTEGER NOT NULL REFERENCES passages (row),
    file     INTEGER NOT NULL REFERENCES files (id),
    modified INTEGER NOT NULL,
    PRIMARY KEY (row, file)
) STRICT, WITHOUT ROWID;

-- Rows that the index may still hold although they were replaced since.
CREATE TABLE retired_rows (
    row INTEGER PRIMARY KEY
) STRICT;

-- Sessions that the user had forgotten: never read again.
CREATE TABLE forgotten (
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;
