-- What sessions show of the world, in their order: facts are folded of them.
CREATE TABLE openings (
    session INTEGER NOT NULL REFERENCES sessions (id),
    place   INTEGER NOT NULL,
    -- The hash of the key of the facts that it bears on.
    fold    BLOB NOT NULL,
    -- All of it, as JSON.
    body    TEXT NOT NULL,
    PRIMARY KEY (session, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX openings_by_fold ON openings (fold);

-- Keys whose openings changed since their facts were made.
CREATE TABLE unfolded (
    fold BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- What facts are about. The project is 0 where a session belongs to none.
CREATE TABLE entities (
    id      INTEGER PRIMARY KEY,
    project INTEGER NOT NULL,
    -- A code of thru_core::EntityKind.
    kind    INTEGER NOT NULL,
    key     TEXT NOT NULL,
    -- As people see it, where that is not the key.
    name    TEXT NOT NULL,
    UNIQUE (project, kind, key)
) STRICT;
CREATE INDEX entities_by_key ON entities (key);

-- What held of them, and when: from a moment on, up to another one, else 9223372036854775807.
CREATE TABLE facts (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE,
    fold       BLOB NOT NULL,
    project    INTEGER NOT NULL,
    subject    INTEGER NOT NULL REFERENCES entities (id),
    -- A code of thru_core::Relation.
    relation   INTEGER NOT NULL,
    -- Either an entity or a value.
    object     INTEGER REFERENCES entities (id),
    literal    TEXT,
    scope      TEXT NOT NULL,
    note       TEXT NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to   INTEGER NOT NULL,
    -- A code of thru_core::EndReason, and the id of the fact that took its place.
    reason     INTEGER,
    ended_by   BLOB,
    CHECK (valid_from < valid_to AND (object IS NULL) <> (literal IS NULL))
) STRICT;
CREATE INDEX facts_by_fold ON facts (fold);
CREATE INDEX facts_by_subject ON facts (subject, valid_from);
CREATE INDEX facts_by_object ON facts (object, valid_from) WHERE object IS NOT NULL;
CREATE INDEX facts_by_start ON facts (project, valid_from);
CREATE INDEX facts_by_end ON facts (project, valid_to) WHERE reason IS NOT NULL;
CREATE INDEX facts_in_force ON facts (project, relation, valid_from) WHERE reason IS NULL;

-- The passages that show them.
CREATE TABLE evidence (
    fact    INTEGER NOT NULL REFERENCES facts (row),
    -- A code of thru_core::EvidenceRole.
    role    INTEGER NOT NULL,
    passage BLOB NOT NULL,
    PRIMARY KEY (fact, role, passage)
) STRICT, WITHOUT ROWID;
