-- The phase of each session's conversation as it was last noted, for surfaces that follow what changes.
CREATE TABLE phases (
    -- Grows with every change of a phase.
    row     INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL UNIQUE REFERENCES sessions (id),
    phase   TEXT NOT NULL
) STRICT;
