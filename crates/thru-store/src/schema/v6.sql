-- Where contexts were compacted: what the agent's transcript says of it, and what hooks told.
CREATE TABLE compactions (
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (id),
    -- The transcript that tells of it; what stands for hooks where none does.
    source  INTEGER NOT NULL REFERENCES sources (id),
    -- The record that tells of it: the boundary in the transcript, else the key of the hook's record.
    record  TEXT NOT NULL,
    -- Passages of its source before it.
    ordinal INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    -- What it was for: manual or auto.
    cause   TEXT NOT NULL,
    -- What the context came to in tokens, before and after.
    before  INTEGER,
    after   INTEGER,
    -- The agent's own summary, as the transcript has it.
    summary TEXT,
    -- What hooks told of it, computed anew whenever more is known: the key of the record made before it,
    -- what the user asked it to keep, the agent's own summary.
    event   TEXT,
    asked   TEXT,
    told    TEXT,
    UNIQUE (session, record)
) STRICT;
CREATE INDEX compactions_by_session ON compactions (session, at);
CREATE INDEX compactions_by_time ON compactions (at);

-- What sessions held when their contexts were compacted. The journal holds all of it.
CREATE TABLE snapshots (
    id      INTEGER PRIMARY KEY,
    -- The key of the journal's record.
    key     TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (id),
    -- The event that it was made for: the key of the hook's record, or the boundary in the transcript.
    event   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    -- A Snapshot as JSON.
    body    TEXT NOT NULL,
    UNIQUE (session, event)
) STRICT;
CREATE INDEX snapshots_by_session ON snapshots (session, at);

-- The turns of sessions, as far as a model may be asked about them.
CREATE TABLE turns (
    session INTEGER NOT NULL REFERENCES sessions (id),
    turn    INTEGER NOT NULL,
    -- The hash of what the filter keeps of it, and how many messages that is.
    content  BLOB NOT NULL,
    messages INTEGER NOT NULL,
    -- Tokens (estimated) of its passages.
    tokens  INTEGER NOT NULL,
    -- The latest record in it.
    at      INTEGER,
    PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_by_time ON turns (at);

-- What models made of turns, and of whole sessions. The journal holds all of it.
CREATE TABLE refinements (
    id       INTEGER PRIMARY KEY,
    -- The key of the journal's record.
    key      TEXT NOT NULL UNIQUE,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    -- Whether it is about the session as a whole.
    whole    INTEGER NOT NULL,
    -- The hash of what it is about: it holds for nothing else.
    content  BLOB NOT NULL,
    -- What stands for all that was sent: the same is never sent twice.
    input    BLOB NOT NULL,
    at       INTEGER NOT NULL,
    -- All of it, as JSON.
    body     TEXT NOT NULL
) STRICT;
CREATE INDEX refinements_by_session ON refinements (session, whole, content);
CREATE INDEX refinements_by_input ON refinements (input);

-- Few among many are superseded.
CREATE INDEX memories_superseded ON memories (row) WHERE flags & 128;

-- What models were asked, and what it cost. The journal holds all of it.
CREATE TABLE spending (
    -- The key of the journal's record of the question.
    key      TEXT PRIMARY KEY,
    at       INTEGER NOT NULL,
    -- Nothing where the session belongs to none, or there is none.
    project  TEXT,
    provider TEXT NOT NULL,
    model    TEXT NOT NULL,
    purpose  TEXT NOT NULL,
    input    INTEGER NOT NULL,
    output   INTEGER NOT NULL,
    -- Millionths of a dollar, where anybody knows.
    cost     INTEGER,
    -- 0 nobody knows what became of it, 1 answered, 2 paid for nothing, 3 nothing was spent.
    state    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_by_time ON spending (at);

-- What was delivered to a server of the user's choice. The journal holds all of it.
CREATE TABLE deliveries (
    -- Stands for one thing: it is delivered once.
    key      BLOB PRIMARY KEY,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A job may be about one turn of its session.
ALTER TABLE jobs RENAME TO jobs_before;
CREATE TABLE jobs (
    id       INTEGER PRIMARY KEY,
    kind     TEXT NOT NULL,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    turn     INTEGER NOT NULL DEFAULT 0,
    reason   TEXT NOT NULL,
    created  INTEGER NOT NULL,
    -- Not before.
    due      INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- 1 nobody tries it again by himself; 2 a question that is not asked, kept so that it is not noted again.
    dead     INTEGER NOT NULL DEFAULT 0,
    error    TEXT,
    -- The hash of what it is about, where it is about that and nothing else.
    content  BLOB,
    UNIQUE (kind, session, turn)
) STRICT;
INSERT INTO jobs (id, kind, session, reason, created, due, attempts, dead, error)
    SELECT id, kind, session, reason, created, due, attempts, dead, error FROM jobs_before;
DROP TABLE jobs_before;
CREATE INDEX jobs_by_due ON jobs (due) WHERE dead = 0;

-- Every session is distilled once more, which gives its turns. Where contexts were compacted before, a
-- rebuild finds out.
UPDATE sessions SET stale = 1;
