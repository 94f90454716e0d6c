-- Keys whose openings changed since their facts were made, with the projects in which they did: facts are made within
-- one project, and other projects have openings of the same key.
ALTER TABLE unfolded RENAME TO unfolded_keys;
CREATE TABLE unfolded (
    fold    BLOB NOT NULL,
    -- 0 where a session belongs to none.
    project INTEGER NOT NULL,
    PRIMARY KEY (fold, project)
) STRICT, WITHOUT ROWID;
INSERT INTO unfolded
    SELECT k.fold, coalesce(s.project, 0)
    FROM unfolded_keys k JOIN openings o ON o.fold = k.fold JOIN sessions s ON s.id = o.session
    UNION SELECT k.fold, f.project FROM unfolded_keys k JOIN facts f ON f.fold = k.fold;
DROP TABLE unfolded_keys;
DROP INDEX facts_by_fold;
CREATE INDEX facts_by_fold ON facts (fold, project);

-- All that an import with nothing new asks of a source, without the state of its reader.
DROP INDEX sources_by_path;
CREATE INDEX sources_by_path ON sources (path, size, modified, archived, entry);
