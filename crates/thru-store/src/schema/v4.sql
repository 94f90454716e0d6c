-- What hooks recorded of sessions, one row per event. The journal holds all of it.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    -- The key of the journal's record.
    key         TEXT NOT NULL UNIQUE,
    session     INTEGER NOT NULL REFERENCES sessions (id),
    -- The event, as the agent names it.
    event       TEXT NOT NULL,
    at          INTEGER NOT NULL,
    -- Which prompt of the session, as hooks counted.
    prompt      INTEGER,
    tool        TEXT,
    -- The hash of what the agent sent, where that has no id of its own.
    hash        BLOB,
    -- What the passage of the event is known by in a transcript; nothing where it is no passage.
    fingerprint INTEGER,
    -- What else is worth knowing, as JSON: source, reason, trigger, error.
    detail      TEXT NOT NULL DEFAULT '{}',
    -- What the agent sent, as JSON, while no transcript tells it better.
    payload     TEXT
) STRICT;
CREATE INDEX events_by_session ON events (session, at);

-- Whether the session has events that were not compared with its transcript yet.
ALTER TABLE sessions ADD COLUMN unsettled INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sessions_to_settle ON sessions (id) WHERE unsettled = 1;
-- When and why the agent said that the session is over, unless it went on.
ALTER TABLE sessions ADD COLUMN closed INTEGER;
ALTER TABLE sessions ADD COLUMN closed_reason TEXT;

-- What the event of a passage is known by to hooks: see Passage::fingerprint.
ALTER TABLE passages ADD COLUMN fingerprint INTEGER;

-- What sessions were given from memory.
CREATE TABLE injections (
    id       INTEGER PRIMARY KEY,
    key      TEXT NOT NULL UNIQUE,
    session  INTEGER NOT NULL REFERENCES sessions (id),
    at       INTEGER NOT NULL,
    occasion TEXT NOT NULL,
    tokens   INTEGER NOT NULL
) STRICT;
CREATE INDEX injections_by_session ON injections (session, at);

CREATE TABLE injected_memories (
    injection INTEGER NOT NULL REFERENCES injections (id),
    place     INTEGER NOT NULL,
    memory    BLOB NOT NULL,
    reason    TEXT NOT NULL,
    PRIMARY KEY (injection, place)
) STRICT, WITHOUT ROWID;
