//! Writing: everything that one step of intake produces, in one transaction.

mod commits;
mod compactions;
mod events;
mod forgotten;
mod graph;
mod imports;
mod jobs;
mod memories;
mod projects;
mod refinements;
mod sessions;

use rusqlite::{Params, Transaction};
use serde::Serialize;
use thru_core::{
    Access, Agent, Amendment, Diagnostic, FileTouch, Id, Outcome, Passage, ReadBatch, RecordId,
    SessionFacts, SessionKey, SourceKind, Timestamp,
};
use thru_redact::Clean;

use crate::error::Result;
use crate::index::Collection;
use crate::query::passage_place;
use crate::statements::Statements;
use crate::store::Store;
use crate::text::{TextPlace, TextReader, TextWriter};

/// The state of a source file when it was last read. If it is unchanged, there is nothing new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SourceStamp {
    /// Length in bytes.
    pub size: u64,
    /// Time of the last change, in nanoseconds since 1970.
    pub modified: i64,
}

pub use compactions::{CompactionEvent, ReportedCompaction};
pub use events::{NewEvent, OpenEvent, TranscriptPassage};
pub(crate) use graph::OPEN;
pub use graph::{NewOpening, StoredOpening, UnfoldedKey};
pub use imports::NewImport;
pub use memories::NewMemory;
pub(crate) use memories::outcome_of_code;
pub use refinements::{Fate, NewRefinement, NewTurn};
pub use sessions::LifecycleEvent;

/// Counts of what a batch wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The number of new passages.
    pub passages: u64,
    /// The number of passages whose text grew by a result.
    pub amended: u64,
    /// The number of passages left to the session that they were copied from.
    pub copies: u64,
}

/// A write transaction. Nothing of it is visible, or survives, before [`Batch::commit`].
pub struct Batch<'store> {
    pub(crate) transaction: Transaction<'store>,
    texts: &'store TextReader,
    pub(crate) writer: TextWriter,
    /// Texts that no passage uses any more, to be overwritten when the batch commits.
    dropped: Vec<TextPlace>,
}

impl Store {
    /// Begins a write transaction.
    ///
    /// # Errors
    /// [`Busy`](crate::StoreError::Busy) if another process is writing; other errors if the database
    /// cannot be written.
    pub fn begin(&mut self) -> Result<Batch<'_>> {
        let writer = TextWriter::new(&self.connection)?;
        let transaction =
            self.connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        Ok(Batch { transaction, texts: &self.texts, writer, dropped: Vec::new() })
    }
}

impl Batch<'_> {
    /// Returns the row of a session, creating it if it is new.
    pub fn session(&self, key: &SessionKey) -> Result<i64> {
        let parameters = (key.agent.as_str(), key.id.as_str());
        let known: Option<i64> = self.find(
            "SELECT id FROM sessions WHERE agent = ?1 AND session = ?2",
            parameters,
            |row| row.get(0),
        )?;
        if let Some(id) = known {
            return Ok(id);
        }
        self.run("INSERT INTO sessions (agent, session) VALUES (?1, ?2)", parameters)?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Returns the row of an archived file, creating it if it is new.
    pub fn source(
        &self,
        entry: &str,
        path: &str,
        kind: SourceKind,
        session: Option<i64>,
    ) -> Result<i64> {
        let known: Option<i64> =
            self.find("SELECT id FROM sources WHERE entry = ?1", [entry], |row| row.get(0))?;
        if let Some(id) = known {
            return Ok(id);
        }
        self.run(
            "INSERT INTO sources (entry, path, kind, session) VALUES (?1, ?2, ?3, ?4)",
            (entry, path, kind.as_str(), session),
        )?;
        Ok(self.transaction.last_insert_rowid())
    }

    /// Moves the read cursor of a source, together with what was read (invariant I-3).
    pub fn advance(&self, source: i64, lines: u64, reader: &str) -> Result<()> {
        self.run(
            "UPDATE sources SET lines = ?2, reader = ?3 WHERE id = ?1",
            (source, lines as i64, reader),
        )?;
        Ok(())
    }

    /// Records the current state of the source file, and the length of its archived copy.
    pub fn stamp(&self, source: i64, path: &str, stamp: SourceStamp, archived: u64) -> Result<()> {
        self.run(
            "UPDATE sources SET path = ?2, size = ?3, modified = ?4, archived = ?5 WHERE id = ?1",
            (source, path, stamp.size as i64, stamp.modified, archived as i64),
        )?;
        Ok(())
    }

    /// Writes the passages and amendments that a reader found in the next lines of a source.
    pub fn apply(
        &mut self,
        agent: Agent,
        source: i64,
        session: i64,
        read: &Clean<ReadBatch>,
    ) -> Result<Written> {
        let read = read.get();
        let mut written = Written::default();
        for passage in &read.passages {
            self.passage(agent, source, session, passage, &mut written)?;
        }
        for amendment in &read.amendments {
            if self.amend(source, amendment)? {
                written.amended += 1;
            }
        }
        if written.passages + written.amended > 0 {
            self.mark_stale(session)?;
            self.mark_unsettled(session)?;
        }
        if self.put_compactions(source, session, &read.boundaries, &read.compact_summaries)? {
            self.mark_unsettled(session)?;
        }
        Ok(written)
    }

    /// Counts what was read of a source: records by type, and diagnostics. Apart from [`Batch::apply`],
    /// because it also applies where nothing read is kept.
    pub fn count(&self, source: i64, read: &Clean<ReadBatch>) -> Result<()> {
        let read = read.get();
        for (record_type, count) in &read.record_types {
            self.run(
                "INSERT INTO record_types (source, type, count) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET count = count + excluded.count",
                (source, record_type, *count as i64),
            )?;
        }
        self.note_diagnostics(source, &read.diagnostics)
    }

    /// Counts the diagnostics of a source.
    pub fn note_diagnostics(&self, source: i64, diagnostics: &[Diagnostic]) -> Result<()> {
        for diagnostic in diagnostics {
            self.run(
                "INSERT INTO diagnostics (source, kind, line, count) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO UPDATE SET count = count + excluded.count",
                (source, diagnostic.kind, diagnostic.line as i64, diagnostic.count as i64),
            )?;
        }
        Ok(())
    }

    fn passage(
        &mut self,
        agent: Agent,
        source: i64,
        session: i64,
        passage: &Passage,
        written: &mut Written,
    ) -> Result<()> {
        if self.is_left_out(agent, passage)? {
            return Ok(());
        }
        let known = self.known_passage(&passage.id)?;
        if let Some(known) = &known {
            if known.source == source {
                return Ok(());
            }
            let is_pending = passage.outcome == Some(Outcome::Pending);
            let takes_over = self.takes_over(agent, source, known, passage)?;
            written.copies += u64::from(!takes_over);
            if !takes_over && (is_pending || !known.pending) {
                return Ok(());
            }
            for session in [known.session_row, session] {
                self.mark_stale(session)?;
                self.mark_unsettled(session)?;
            }
            if !takes_over {
                self.borrow(known.row, source, known.place.length)?;
                return self.complete(known, &passage.text, passage.outcome, &passage.files);
            }
            if is_pending && !known.pending {
                return self.hand_over(known, source, session, passage);
            }
            self.settle_borrowed(&passage.id)?;
            self.retire(Collection::Passages, known.row)?;
            self.drop_text(known.place);
        }
        let place = self.writer.push(&self.transaction, &passage.text)?;
        let records = records_json(&passage.records, &passage.lines);
        self.run(
            "INSERT INTO passages (id, session, source, copied, turn, ordinal, kind, agent,
                 tool, command, outcome, at, records, block, start, length, fingerprint)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
                 ?17)",
            rusqlite::params![
                passage.id.as_bytes(),
                session,
                source,
                passage.copied_from.is_some(),
                passage.turn,
                passage.ordinal,
                passage.kind.code(),
                passage.agent_id,
                passage.tool,
                passage.command,
                passage.outcome.map(Outcome::code),
                passage.timestamp.map(thru_core::Timestamp::as_millisecond),
                records,
                place.block,
                place.start,
                place.length,
                passage.fingerprint().cast_signed(),
            ],
        )?;
        let row = self.transaction.last_insert_rowid();
        self.touch(row, &passage.files, passage.written)?;
        written.passages += u64::from(known.is_none());
        Ok(())
    }

    fn known_passage(&self, id: &Id) -> Result<Option<KnownPassage>> {
        self.find(
            "SELECT p.row, p.source, p.copied, p.outcome, s.agent, s.session, f.entry,
                    p.block, p.start, p.length, p.session, p.records
             FROM passages p JOIN sessions s ON s.id = p.session
             JOIN sources f ON f.id = p.source WHERE p.id = ?1",
            [id.as_bytes()],
            |row| {
                Ok(KnownPassage {
                    row: row.get(0)?,
                    source: row.get(1)?,
                    copied: row.get(2)?,
                    pending: row.get::<_, Option<u8>>(3)? == Some(Outcome::Pending.code()),
                    agent: row.get(4)?,
                    session: row.get(5)?,
                    entry: row.get(6)?,
                    place: passage_place(row, 7)?,
                    session_row: row.get(10)?,
                    records: row.get(11)?,
                })
            },
        )
    }

    /// Gives a call its result. The passage gets a new row, so that the index sees it as new.
    fn complete(
        &mut self,
        known: &KnownPassage,
        text: &str,
        outcome: Option<Outcome>,
        files: &[FileTouch],
    ) -> Result<()> {
        let place = self.writer.push(&self.transaction, text)?;
        self.drop_text(known.place);
        let row = self.renew(Collection::Passages, known.row)?;
        self.run(
            "UPDATE passages SET outcome = ?2, block = ?3, start = ?4, length = ?5 WHERE row = ?1",
            (row, outcome.map(Outcome::code), place.block, place.start, place.length),
        )?;
        self.touch(row, files, None)
    }

    /// Moves a call to the file that it belongs to. The result, which that file may hold further down or not at
    /// all, stays.
    fn hand_over(
        &self,
        known: &KnownPassage,
        source: i64,
        session: i64,
        passage: &Passage,
    ) -> Result<()> {
        let row = self.renew(Collection::Passages, known.row)?;
        self.run(
            "UPDATE passages SET session = ?2, source = ?3, copied = ?4, turn = ?5, ordinal = ?6, agent = ?7,
                 at = ?8, records = ?9
             WHERE row = ?1",
            rusqlite::params![
                row,
                session,
                source,
                passage.copied_from.is_some(),
                passage.turn,
                passage.ordinal,
                passage.agent_id,
                passage.timestamp.map(thru_core::Timestamp::as_millisecond),
                records_json(&passage.records, &passage.lines),
            ],
        )?;
        self.touch(row, &passage.files, passage.written)?;
        self.borrow(row, known.source, u32::try_from(passage.text.len()).unwrap_or(u32::MAX))
    }

    /// Notes that a call has the result that this file holds, and the length of its own text. One that had another file's
    /// already still has it.
    fn borrow(&self, row: i64, source: i64, length: u32) -> Result<()> {
        self.run(
            "INSERT INTO borrowed_results (passage, source, length, files)
             SELECT id, ?2, ?3, (SELECT json_group_array(file) FROM touches WHERE row = ?1)
             FROM passages WHERE row = ?1
             ON CONFLICT (passage) DO UPDATE SET length = excluded.length",
            (row, source, length),
        )?;
        Ok(())
    }

    /// Notes that a call has a result of its own.
    fn settle_borrowed(&self, passage: &Id) -> Result<()> {
        self.run("DELETE FROM borrowed_results WHERE passage = ?1", [passage.as_bytes()])?;
        Ok(())
    }

    /// Takes the results that only this file held from the calls of other files.
    pub(crate) fn take_back_results(&mut self, source: i64) -> Result<()> {
        let borrowed: Vec<([u8; Id::BYTES], u32, String)> = self.select(
            "SELECT passage, length, files FROM borrowed_results WHERE source = ?1",
            [source],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        for (passage, length, files) in borrowed {
            let passage = Id::from_bytes(passage);
            self.settle_borrowed(&passage)?;
            let Some(known) = self.known_passage(&passage)? else { continue };
            let text = self.text(known.place)?;
            let own = thru_core::head(&text, length as usize);
            self.complete(&known, own, Some(Outcome::Pending), &[])?;
            self.run(
                "DELETE FROM touches WHERE row = (SELECT row FROM passages WHERE id = ?1)
                 AND file NOT IN (SELECT value FROM json_each(?2))",
                (passage.as_bytes(), &files),
            )?;
            self.mark_stale(known.session_row)?;
            self.mark_unsettled(known.session_row)?;
        }
        Ok(())
    }

    /// True if a passage that was found again in another file belongs there rather than where it was
    /// found first. The result must not depend on the order of reading: an original beats a copy, then
    /// the smaller session id and file name decide. A result is kept whichever file it was read from.
    fn takes_over(
        &self,
        agent: Agent,
        source: i64,
        known: &KnownPassage,
        passage: &Passage,
    ) -> Result<bool> {
        let entry: String =
            self.one("SELECT entry FROM sources WHERE id = ?1", [source], |row| row.get(0))?;
        let new = (
            passage.copied_from.is_some(),
            agent.as_str(),
            passage.session.as_str(),
            entry.as_str(),
        );
        let old =
            (known.copied, known.agent.as_str(), known.session.as_str(), known.entry.as_str());
        Ok(new < old)
    }

    /// Deletes a row and records it as retired, since the index may hold it.
    fn retire(&self, collection: Collection, row: i64) -> Result<()> {
        let (table, files) = (collection.table(), collection.files_table());
        for sql in [
            format!("INSERT OR IGNORE INTO {} (row) VALUES (?1)", collection.retired_table()),
            format!("DELETE FROM {files} WHERE row = ?1"),
            format!("DELETE FROM {table} WHERE row = ?1"),
        ] {
            self.run(&sql, [row])?;
        }
        Ok(())
    }

    /// Appends the result of a call that was read earlier, unless a copy of the call had it.
    fn amend(&mut self, source: i64, amendment: &Amendment) -> Result<bool> {
        let Some(known) = self.known_passage(&amendment.passage)? else { return Ok(false) };
        let is_own = known.source == source;
        if !is_own && !known.pending {
            return Ok(false);
        }
        let mut text = self.text(known.place)?;
        if known.pending || !text.ends_with(&amendment.text) {
            if !text.is_empty() && !amendment.text.is_empty() {
                text.push('\n');
            }
            text.push_str(&amendment.text);
        }
        if !is_own {
            self.borrow(known.row, source, known.place.length)?;
        }
        self.complete(&known, &text, Some(amendment.outcome), &amendment.files)?;
        if is_own {
            self.settle_borrowed(&amendment.passage)?;
            let records = append_record(&known.records, &amendment.record, amendment.line);
            let id = amendment.passage.as_bytes();
            self.run("UPDATE passages SET records = ?2 WHERE id = ?1", (id, records))?;
        } else {
            self.mark_stale(known.session_row)?;
            self.mark_unsettled(known.session_row)?;
        }
        Ok(is_own)
    }

    /// Gives a passage or a memory a new row, so that the index sees it as new; returns that row.
    fn renew(&self, collection: Collection, row: i64) -> Result<i64> {
        let (table, files) = (collection.table(), collection.files_table());
        let new: i64 = self.one(
            "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = ?1 RETURNING seq",
            [table],
            |row| row.get(0),
        )?;
        for sql in [
            format!("UPDATE {table} SET row = ?1 WHERE row = ?2"),
            format!("UPDATE {files} SET row = ?1 WHERE row = ?2"),
            format!("INSERT OR IGNORE INTO {} (row) VALUES (?2)", collection.retired_table()),
        ] {
            self.run(&sql, (new, row))?;
        }
        Ok(new)
    }

    /// Overwrites a text that no passage uses any more, at once or when the batch commits.
    pub(crate) fn drop_text(&mut self, place: TextPlace) {
        if !self.writer.blank(place) {
            self.dropped.push(place);
        }
    }

    fn text(&self, place: TextPlace) -> Result<String> {
        match self.writer.pending_text(place) {
            Some(text) => Ok(text),
            None => self.texts.read(&self.transaction, place),
        }
    }

    fn touch(&self, row: i64, files: &[FileTouch], written: Option<Id>) -> Result<()> {
        for file in files {
            let path = file.path.as_str();
            self.name_file(path)?;
            let modified = file.access == Access::Modified;
            let content = written.filter(|_| modified);
            self.run(
                "INSERT INTO touches (row, file, modified, content)
                 SELECT ?1, id, ?3, ?4 FROM files WHERE path = ?2
                 ON CONFLICT DO UPDATE SET modified = max(modified, excluded.modified)",
                (row, path, modified, content.as_ref().map(Id::as_bytes)),
            )?;
        }
        Ok(())
    }

    pub(crate) fn name_file(&self, path: &str) -> Result<()> {
        self.run(
            "INSERT OR IGNORE INTO files (path, name) VALUES (?1, ?2)",
            (path, thru_core::file_name(path)),
        )?;
        Ok(())
    }

    /// Marks a session that has passages which were not distilled yet.
    pub(crate) fn mark_stale(&self, session: i64) -> Result<()> {
        self.run("UPDATE sessions SET stale = 1 WHERE id = ?1 AND stale = 0", [session])?;
        self.mark_grown(session)
    }

    /// Adds the facts of a session found in one source, and returns the combined facts of all its
    /// sources. The result does not depend on the order in which the sources are read.
    pub fn merge_facts(
        &self,
        session: i64,
        source: i64,
        later: SessionFacts,
    ) -> Result<SessionFacts> {
        let known: Option<String> = self.find(
            "SELECT facts FROM source_facts WHERE session = ?1 AND source = ?2",
            (session, source),
            |row| row.get(0),
        )?;
        let mut own: SessionFacts =
            known.and_then(|facts| serde_json::from_str(&facts).ok()).unwrap_or_default();
        own.merge(later);
        self.put_source_facts(session, source, &own)
    }

    fn put_source_facts(
        &self,
        session: i64,
        source: i64,
        facts: &SessionFacts,
    ) -> Result<SessionFacts> {
        self.run(
            "INSERT OR REPLACE INTO source_facts (session, source, facts) VALUES (?1, ?2, ?3)",
            (session, source, serde_json::to_string(facts).unwrap_or_default()),
        )?;
        self.combine_facts(session)
    }

    fn combine_facts(&self, session: i64) -> Result<SessionFacts> {
        let mut statement = self.transaction.prepare_cached(
            "SELECT f.facts FROM source_facts f JOIN sources s ON s.id = f.source
             WHERE f.session = ?1
             ORDER BY s.kind <> 'main', s.kind = 'prompt-history', s.entry",
        )?;
        let all = statement
            .query_map([session], |row| row.get::<_, String>(0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut facts = SessionFacts::default();
        for one in all {
            facts.merge(serde_json::from_str(&one).unwrap_or_default());
        }
        self.run(
            "UPDATE sessions SET facts = ?2, title = coalesce(?3, summary_title, ?4),
             started = ?5, ended = ?6 WHERE id = ?1",
            (
                session,
                serde_json::to_string(&facts).unwrap_or_default(),
                facts.given_title(),
                facts.first_prompt.as_deref(),
                facts.first.map(thru_core::Timestamp::as_millisecond),
                facts.last.map(thru_core::Timestamp::as_millisecond),
            ),
        )?;
        Ok(facts)
    }

    /// Deletes everything read from one archived file, so that it is read again from the beginning.
    pub fn reset_source(&self, source: i64) -> Result<()> {
        self.run(
            "UPDATE sessions SET stale = 1, indexing = CASE indexing WHEN 2 THEN 0 ELSE indexing END,
                 unsettled = unsettled OR EXISTS (SELECT 1 FROM events WHERE session = sessions.id)
             WHERE id IN (SELECT session FROM passages WHERE source = ?1
                 UNION SELECT session FROM compactions WHERE source = ?1)",
            [source],
        )?;
        self.remove_passages("source = ?1", [source])?;
        for table in ["record_types", "diagnostics", "source_facts", "compactions"] {
            self.transaction
                .execute(&format!("DELETE FROM {table} WHERE source = ?1"), [source])?;
        }
        self.transaction.execute(
            "UPDATE sources SET lines = 0, reader = NULL, size = NULL, modified = NULL WHERE id = ?1",
            [source],
        )?;
        Ok(())
    }

    fn remove_source(&self, source: i64) -> Result<()> {
        self.reset_source(source)?;
        self.transaction.execute("DELETE FROM sources WHERE id = ?1", [source])?;
        Ok(())
    }

    fn remove_passages(&self, which: &str, of: impl Params + Copy) -> Result<()> {
        self.blank_texts("passages", which, of)?;
        let rows = format!("SELECT row FROM passages WHERE {which}");
        for sql in [
            format!("INSERT OR IGNORE INTO retired_rows (row) {rows}"),
            format!("DELETE FROM touches WHERE row IN ({rows})"),
            format!(
                "DELETE FROM borrowed_results
                 WHERE passage IN (SELECT id FROM passages WHERE {which})"
            ),
            format!("DELETE FROM passages WHERE {which}"),
        ] {
            self.transaction.execute(&sql, of)?;
        }
        Ok(())
    }

    /// Overwrites the texts of rows in the blocks that they share with others.
    fn blank_texts(&self, table: &str, which: &str, of: impl Params) -> Result<()> {
        let mut statement = self
            .transaction
            .prepare(&format!("SELECT block, start, length FROM {table} WHERE {which}"))?;
        let places = statement
            .query_map(of, |row| passage_place(row, 0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        crate::text::blank(&self.transaction, places)
    }

    /// Deletes the passages that came from the agent's list of prompts, if the session has a transcript
    /// of its own.
    pub fn drop_prompt_history_of(&self, session: i64) -> Result<()> {
        // Every source of a session has facts of it. This is asked for each step of an import, so it must not take longer
        // for a long session, or where there are many sources.
        let lists: Vec<i64> = self.select(
            "SELECT f.source FROM source_facts f JOIN sources s ON s.id = f.source
             WHERE f.session = ?1 AND s.kind = 'prompt-history'",
            [session],
            |row| row.get(0),
        )?;
        for list in lists {
            let of_list = (session, list);
            self.transaction.execute(
                "INSERT OR IGNORE INTO retired_rows (row)
                 SELECT row FROM passages WHERE session = ?1 AND source = ?2",
                of_list,
            )?;
            let passages = "DELETE FROM passages WHERE session = ?1 AND source = ?2";
            if self.transaction.execute(passages, of_list)? > 0 {
                self.mark_stale(session)?;
            }
            let facts = "DELETE FROM source_facts WHERE session = ?1 AND source = ?2";
            self.transaction.execute(facts, of_list)?;
        }
        Ok(())
    }

    /// True if the session has a transcript of its own.
    pub fn has_transcript(&self, session: i64) -> Result<bool> {
        self.exists(
            "SELECT 1 FROM sources WHERE session = ?1 AND kind = 'main' AND lines > 0",
            [session],
        )
    }

    /// Records the position up to which the journal was applied, together with the results.
    pub fn set_journal_cursor(&self, cursor: &str) -> Result<()> {
        self.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('journal', ?1)", [cursor])?;
        Ok(())
    }

    /// Records the fingerprint of the redaction rules by which everything in the store was cleaned.
    pub fn set_redactor(&self, fingerprint: &str) -> Result<()> {
        self.run(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('redactor', ?1)",
            [fingerprint],
        )?;
        self.transaction.execute("DELETE FROM meta WHERE key = 'cleaning'", [])?;
        Ok(())
    }

    /// Records how far cleaning what is kept by newer rules has come, until [`Batch::set_redactor`] says that it is done.
    pub fn set_cleaning(&self, mark: &str) -> Result<()> {
        self.run("INSERT OR REPLACE INTO meta (key, value) VALUES ('cleaning', ?1)", [mark])?;
        Ok(())
    }

    /// Clears the records of replaced rows that the index no longer holds.
    pub fn clear_retired(&self, rows: &[(Collection, i64)]) -> Result<()> {
        for (collection, row) in rows {
            let table = collection.retired_table();
            self.run(&format!("DELETE FROM {table} WHERE row = ?1"), [row])?;
        }
        Ok(())
    }

    /// Commits the batch, which makes all of it visible at once.
    ///
    /// # Errors
    /// [`DiskFull`](crate::StoreError::DiskFull) or another error if the database cannot be written; nothing of the batch
    /// is kept then.
    pub fn commit(mut self) -> Result<()> {
        self.writer.flush(&self.transaction)?;
        crate::text::blank(&self.transaction, self.dropped)?;
        self.transaction.commit()?;
        Ok(())
    }
}

struct KnownPassage {
    row: i64,
    source: i64,
    copied: bool,
    pending: bool,
    agent: String,
    session: String,
    entry: String,
    place: TextPlace,
    session_row: i64,
    records: String,
}

fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or_default()
}

fn records_json(records: &[RecordId], lines: &[u64]) -> String {
    let pairs: Vec<(&str, u64)> =
        records.iter().map(RecordId::as_str).zip(lines.iter().copied()).collect();
    serde_json::to_string(&pairs).unwrap_or_default()
}

fn append_record(records: &str, record: &RecordId, line: u64) -> String {
    let mut pairs: Vec<(String, u64)> = serde_json::from_str(records).unwrap_or_default();
    pairs.push((record.as_str().to_owned(), line));
    serde_json::to_string(&pairs).unwrap_or_default()
}
