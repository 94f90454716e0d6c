-- Made by claude-mem 13.25.3 (schema 52) itself, through its HTTP interface; tables that are not read are left out.
CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT,
        started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL,
        completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
      , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO sdk_sessions VALUES (1, '7d0c1f52-5a0e-4a57-9f0e-3a1b52c0a001', NULL, 'harbor', 'claude', 'The queue drops jobs when two workers start at once. Find out why.', '2026-11-22T19:26:06.705Z', 1795375566705, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
INSERT INTO sdk_sessions VALUES (2, 'manual-content-harbor-claude', 'manual-harbor-claude', 'harbor', 'claude', NULL, '2026-11-22T19:26:06.728Z', 1795375566728, NULL, NULL, 'active', NULL, 0, NULL, NULL, NULL);
INSERT INTO sdk_sessions VALUES (3, '0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f001', 'm-1', 'lantern', 'claude', 'Make the search fast', '2025-08-19T11:40:00.000Z', 1755603600000, '2025-08-19T11:41:00.000Z', 1755603660000, 'completed', NULL, 0, NULL, NULL, NULL);
INSERT INTO sdk_sessions VALUES (4, '0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f002', 'm-2', 'harbor', 'codex', 'Why is the build red?', '2025-08-19T12:40:00.000Z', 1755607200000, '2025-08-19T12:41:00.000Z', 1755607260000, 'completed', NULL, 0, NULL, NULL, NULL);
CREATE TABLE "observations" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        text TEXT,
        type TEXT NOT NULL,
        title TEXT,
        subtitle TEXT,
        facts TEXT,
        narrative TEXT,
        concepts TEXT,
        files_read TEXT,
        files_modified TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO observations VALUES (1, 'manual-harbor-claude', 'harbor', NULL, 'discovery', 'Deploys go through staging', 'Manual memory', '[]', 'Deploys of harbor go through the staging cluster first; production needs a second approval.', '[]', '[]', '[]', NULL, '2026-11-22T19:26:06.729Z', 1795375566729, 0, '359f04e14d9be755', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (2, 'm-1', 'lantern', NULL, 'discovery', 'Search scans every row', 'No index on notes.body', '["The table notes has no index on body", "EXPLAIN shows a full scan of 1.2 million rows"]', 'The search page runs LIKE ''%word%'' over notes.body. SQLite has to read each row.', '["how-it-works", "gotcha"]', '["src/search.py"]', '[]', 1, '2025-08-19T10:41:00.000Z', 1755600060000, 1200, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (3, 'm-1', 'lantern', NULL, 'feature', 'Full-text index added for notes', 'FTS5, external content', '["Migration 14 creates notes_fts", "Triggers keep it up to date"]', 'Search goes through notes_fts now; the page answers in 12 ms instead of 900 ms.', '["what-changed", "trade-off"]', '["src/search.py"]', '["src/search.py", "migrations/014_fts.sql"]', 2, '2025-08-19T10:42:00.000Z', 1755600120000, 1200, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (4, 'm-2', 'harbor', NULL, 'bugfix', 'Build fails on the pinned compiler', 'The lint was renamed', '["clippy::mem_forget moved"]', 'The lint was renamed in the new compiler; the pinned one does not know it.', '["problem-solution"]', '[".github/workflows/ci.yml"]', '["clippy.toml"]', 1, '2025-08-19T10:43:00.000Z', 1755600180000, 1200, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (5, 'm-2', 'harbor', NULL, 'security_note', 'Token printed in the build log', 'ci.yml echoes the environment', '["Step `env` prints DEPLOY_TOKEN=ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"]', 'The step prints its whole environment.', '["gotcha"]', '[".github/workflows/ci.yml"]', '[]', 1, '2025-08-19T10:44:00.000Z', 1755600240000, 1200, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
INSERT INTO observations VALUES (6, 'm-2', 'harbor', NULL, 'decision', 'Keep the compiler pinned', 'Upgrade once a quarter', '[]', 'We upgrade by hand once a quarter, so that the build does not break by itself.', '["why-it-exists"]', '[]', '[]', 1, '2025-08-19T10:45:00.000Z', 1755600300000, 1200, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "session_summaries" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        request TEXT,
        investigated TEXT,
        learned TEXT,
        completed TEXT,
        next_steps TEXT,
        files_read TEXT,
        files_edited TEXT,
        notes TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO session_summaries VALUES (1, 'm-1', 'lantern', 'Make the search fast', 'How the search page reads notes', 'LIKE with a leading wildcard cannot use an index', 'Full-text index with triggers; search answers in 12 ms', 'Rank by recency', '["src/search.py"]', '["migrations/014_fts.sql"]', 'Old SQLite versions lack FTS5', 2, '2025-08-19T10:50:00.000Z', 1755600600000, 500, NULL, NULL, NULL, NULL, '1');
CREATE TABLE "user_prompts" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER,
        content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
INSERT INTO user_prompts VALUES (1, 1, '7d0c1f52-5a0e-4a57-9f0e-3a1b52c0a001', 1, 'The queue drops jobs when two workers start at once. Find out why.', '2026-11-22T19:26:06.706Z', 1795375566706, NULL, NULL, NULL, '1');
INSERT INTO user_prompts VALUES (2, 1, '7d0c1f52-5a0e-4a57-9f0e-3a1b52c0a001', 2, 'Fix it, and add a test that starts two workers.', '2026-11-22T19:26:06.720Z', 1795375566720, NULL, NULL, NULL, '1');
INSERT INTO user_prompts VALUES (3, 3, '0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f001', 1, 'Make the search fast', '2025-08-19T10:40:01.000Z', 1755600001000, NULL, NULL, NULL, '1');
INSERT INTO user_prompts VALUES (4, 3, '0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f001', 2, 'Use FTS5, not an external engine.
Keep the page as it is.', '2025-08-19T10:40:02.000Z', 1755600002000, NULL, NULL, NULL, '1');
INSERT INTO user_prompts VALUES (5, 4, '0b7b5a8e-2f58-4d0b-8a37-51b1c9d6f002', 1, 'Why is the build red?', '2025-08-19T10:40:03.000Z', 1755600003000, NULL, NULL, NULL, '1');
