-- The phase of each session's conversation as it was last noted, for surfaces that follow what changes.
CREATE TABLE phases (
    -- Grows with every change of a phase.
    row     INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL UNIQUE REFERENCES sessions (id),
    phase   TEXT NOT NULL
) STRICT;

-- Calls whose result was read from another file than their own, as long as their own has none.
CREATE TABLE borrowed_results (
    -- The passage of the call.
    passage BLOB PRIMARY KEY,
    -- The file with the result.
    source  INTEGER NOT NULL REFERENCES sources (id),
    -- What the call's own file has: bytes of its text, and the rows of the files that it names, as JSON.
    length  INTEGER NOT NULL,
    files   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX borrowed_results_by_source ON borrowed_results (source);
