-- Commits that the repository of a session's directory told of. The journal holds all of it.
CREATE TABLE commits (
    session  INTEGER NOT NULL REFERENCES sessions (id),
    hash     TEXT NOT NULL,
    at       INTEGER NOT NULL,
    -- The first line of the message.
    subject  TEXT NOT NULL,
    PRIMARY KEY (session, hash)
) STRICT, WITHOUT ROWID;
