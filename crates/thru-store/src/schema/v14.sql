-- Passages that left with a forgotten session: a copy of one in another session is not read again.
CREATE TABLE forgotten_passages (
    id BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;
