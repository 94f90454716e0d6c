-- Facts that were taken out of the graph, one by one.
CREATE TABLE hidden_facts (
    id BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Projects whose graph was cleared: what began before that moment is left out.
CREATE TABLE cleared_graphs (
    project INTEGER PRIMARY KEY,
    before  INTEGER NOT NULL
) STRICT;
