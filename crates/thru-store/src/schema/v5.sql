-- What hooks and people told of the course of a session: thru_lifecycle::Conversation as JSON. Nothing
-- where only a transcript tells of it. When it is read, the time that has passed is added.
ALTER TABLE sessions ADD COLUMN conversation TEXT;
-- When time alone changes something next: the session is idle, or over.
ALTER TABLE sessions ADD COLUMN due INTEGER;
-- The hash of the filtered conversation, and how many messages it has: of all that was distilled.
ALTER TABLE sessions ADD COLUMN content BLOB;
ALTER TABLE sessions ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
-- How far our work on it is, a code of thru_lifecycle::Indexing: 0 unindexed, 1 and 4 running,
-- 2 indexed, 3 failed.
ALTER TABLE sessions ADD COLUMN indexing INTEGER NOT NULL DEFAULT 0;
-- Sessions are named by the start of their ids.
CREATE INDEX sessions_by_name ON sessions (session);
CREATE INDEX sessions_by_due ON sessions (due) WHERE due IS NOT NULL;
CREATE INDEX sessions_to_index ON sessions (ended) WHERE indexing <> 2;
-- Both are part of `conversation` now.
ALTER TABLE sessions DROP COLUMN closed;
ALTER TABLE sessions DROP COLUMN closed_reason;
UPDATE sessions SET unsettled = 1 WHERE EXISTS (SELECT 1 FROM events WHERE session = sessions.id);

-- Sessions as they were indexed, each a whole. One that was replaced stays, retired: what cites it
-- finds it.
CREATE TABLE episodes (
    id       INTEGER PRIMARY KEY,
    uuid     BLOB NOT NULL UNIQUE,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    -- The hash of the filtered conversation, by which version of the filter, and how many messages.
    content  BLOB NOT NULL,
    filter   INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    -- The latest record in it.
    as_of    INTEGER,
    -- When it was made, and what for.
    indexed  INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    -- When it was replaced.
    retired  INTEGER
) STRICT;
CREATE INDEX episodes_by_session ON episodes (session);
-- A session has one episode that counts.
CREATE UNIQUE INDEX episodes_in_use ON episodes (session) WHERE retired IS NULL;

-- Work that is to be done, or that failed and is tried again.
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    reason   TEXT NOT NULL,
    created  INTEGER NOT NULL,
    -- Not before.
    due      INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- Whether nobody tries it again by himself.
    dead     INTEGER NOT NULL DEFAULT 0,
    error    TEXT,
    UNIQUE (kind, session)
) STRICT;
CREATE INDEX jobs_by_due ON jobs (due) WHERE dead = 0;

-- Every session is distilled once more, which gives the hash of its content.
UPDATE sessions SET stale = 1;
