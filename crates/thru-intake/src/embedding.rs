//! Vectors of messages and of memories: a cache beside the store, filled in the background.
//!
//! Nothing here takes the intake lock, so hooks, imports and questions never wait for it. Embedding has a lock
//! of its own. Vectors are added under the writer's lock for a moment, and only for texts that are still kept.
//! Forgetting removes vectors after texts: either it finds the vectors that were added, or the adding finds
//! that the text is gone.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use thru_core::{Layout, chunks};
use thru_embed::{EmbedError, Embedder};
use thru_redact::Report;
use thru_store::index::{Collection, IndexedText, KeyedText, TextIndex};
use thru_store::vectors::{ModelFolder, VectorWriter, Vectors};
use thru_store::{Store, StoreError};

use crate::{Intake, IntakeError, Result, indexing};

/// Texts that are embedded and made durable together: the most that a power cut can lose.
const BATCH_TEXTS: usize = 64;
/// Texts that are listed at a time: some minutes of work.
const LISTED: usize = 4_096;
/// The time to wait for another writer of vectors, which takes moments.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Options of an embedding run.
pub struct Embedding<'a> {
    /// The embedder.
    pub embedder: &'a dyn Embedder,
    /// The maximum number of texts.
    pub most: Option<usize>,
    /// Returns true if texts from sessions in this directory may be sent to the embedder.
    pub may_see: &'a dyn Fn(Option<&str>) -> bool,
    /// Set to end the run early. The vectors made by then are kept.
    pub stop: &'a AtomicBool,
}

/// Counts of an embedding run, so far or in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Embedded {
    /// Texts that have vectors now.
    pub texts: u64,
    /// Vectors made for them.
    pub vectors: u64,
    /// Texts that the embedder refused.
    pub left_out: u64,
    /// Texts that are still to be embedded.
    pub waiting: u64,
    /// True if it was stopped early.
    pub stopped: bool,
}

/// Coverage of the vectors of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Distinct texts that may have vectors.
    pub texts: u64,
    /// Texts that have them.
    pub embedded: u64,
    /// Bytes on the disk.
    pub bytes: u64,
}

/// Opens an index with or without the rows that its copy on disk lacks.
type OpenIndex = fn(&Layout, &Store, Collection) -> thru_store::Result<TextIndex>;

/// Keys of texts, each with the vectors of its pieces.
type Made = Vec<(u64, Vec<Vec<f32>>)>;

/// A batch of texts of one collection.
type TextBatch<'t> = (Collection, &'t [IndexedText]);

/// The texts to embed next.
struct Listing {
    /// Most often injected first, then newest first; memories before passages.
    texts: Vec<(Collection, Vec<IndexedText>)>,
    count: usize,
}

impl Intake {
    /// Makes the missing vectors of this embedder's model: memories first, then messages, newest first. Every
    /// batch is durable before the next one begins.
    ///
    /// # Errors
    /// Returns [`IntakeError::Embedding`] if another process is embedding. Fails if the embedder fails or the
    /// disk cannot be written; the vectors made by then are kept.
    pub fn embed(
        &self,
        how: &Embedding<'_>,
        progress: &mut dyn FnMut(&Embedded),
    ) -> Result<Embedded> {
        // A removed home must not come back because of a lock file.
        if !self.layout.database().exists() {
            return Ok(Embedded::default());
        }
        let _turn = self.embedding_turn()?;
        let mut done = Embedded::default();
        // Refused, or gone since they were listed; not tried again in this run.
        let mut skipped = HashSet::new();
        while let Some(listing) = self.texts_to_embed(how, &skipped)? {
            done.waiting = listing.count as u64;
            progress(&done);
            for (collection, texts) in &listing.texts {
                for texts in texts.chunks(BATCH_TEXTS) {
                    let room = how.most.map_or(usize::MAX, |most| most - done.texts as usize);
                    done.stopped = how.stop.load(Ordering::Relaxed);
                    if done.stopped || room == 0 {
                        return Ok(done);
                    }
                    let texts = &texts[..texts.len().min(room)];
                    match self.embed_batch(how, (*collection, texts), &mut done) {
                        Err(IntakeError::Embed(EmbedError::Stopped)) => {
                            done.stopped = true;
                            return Ok(done);
                        }
                        // The embedder works, so the fault is with these texts.
                        Err(IntakeError::Embed(EmbedError::Refused {
                            may_pass: false, ..
                        })) if done.texts > 0 => {
                            done.left_out += texts.len() as u64;
                        }
                        outcome => outcome?,
                    }
                    skipped.extend(texts.iter().map(|text| text.key));
                    done.waiting = done.waiting.saturating_sub(texts.len() as u64);
                    progress(&done);
                }
            }
        }
        Ok(done)
    }

    /// Counts the texts that may have vectors, and those that have them, for the model of this name.
    ///
    /// # Errors
    /// Fails if the store, the index or the vectors cannot be read.
    pub fn coverage(&self, model: &str) -> Result<Coverage> {
        let folder = ModelFolder::at(&self.layout.vectors(), model)?;
        let mut coverage = Coverage { bytes: folder.bytes, ..Coverage::default() };
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(coverage) };
        let (keys, _) = self.text_keys(&store, TextIndex::open_committed)?;
        coverage.texts = keys.len() as u64;
        if let Some(vectors) = open(&folder)? {
            coverage.embedded = keys.iter().filter(|key| vectors.contains(**key)).count() as u64;
        }
        Ok(coverage)
    }

    /// Removes the vectors, of all models, whose texts are no longer kept, and returns how many. Unreadable
    /// files of vectors are removed if a model has no others.
    ///
    /// # Errors
    /// Returns [`IntakeError::NotSwept`] if the index is behind the store, and [`StoreError::Busy`] if another
    /// process keeps writing. Fails if the disk cannot be written. A second call resumes.
    pub fn sweep_vectors(&self) -> Result<u64> {
        let mut removed = 0;
        for folder in ModelFolder::all(&self.layout.vectors())? {
            let Some(dimensions) = folder.dimensions else {
                // Its contents are unknown, and it can be made again.
                if folder.bytes > 0 {
                    retry_while_busy(|| folder.remove_segments())?;
                }
                continue;
            };
            let mut writer = self.vector_writer(&folder.model, dimensions)?;
            // With the lock in hand, no text that is missing here can be added.
            let Some(store) = Store::open_if_there(&self.layout)? else { break };
            let (keys, is_complete) = self.text_keys(&store, TextIndex::open_collection)?;
            if !is_complete {
                return Err(IntakeError::NotSwept);
            }
            removed += writer.retain(|key| keys.binary_search(&key).is_ok())? as u64;
        }
        Ok(removed)
    }

    /// Removes damaged vectors of the model of this name, after reading all of them, so that their texts are
    /// embedded again. Returns the number of damaged files.
    ///
    /// # Errors
    /// See [`Intake::sweep_vectors`].
    pub fn mend_vectors(&self, model: &str) -> Result<u64> {
        let folder = ModelFolder::at(&self.layout.vectors(), model)?;
        let Some(dimensions) = folder.dimensions else { return Ok(0) };
        let mut writer = self.vector_writer(model, dimensions)?;
        writer.remove_damaged()?;
        Ok(writer.problems().len() as u64)
    }

    /// The sorted keys of all texts that may have vectors, and true if the index holds all of them.
    fn text_keys(&self, store: &Store, open: OpenIndex) -> Result<(Vec<u64>, bool)> {
        indexing::reading(&self.layout, || {
            let (mut keys, mut is_complete) = (Vec::new(), true);
            for collection in Collection::ALL {
                let index = open(&self.layout, store, collection)?;
                keys.extend(index.text_keys(store)?);
                is_complete &= index.rows_left_out == 0;
            }
            keys.sort_unstable();
            keys.dedup();
            Ok((keys, is_complete))
        })
    }

    /// Lists texts without vectors, or nothing if all have them.
    fn texts_to_embed(
        &self,
        how: &Embedding<'_>,
        skipped: &HashSet<u64>,
    ) -> Result<Option<Listing>> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(None) };
        // A store of an older version is upgraded by its next writer.
        if store.schema_version()? != thru_store::SCHEMA_VERSION {
            return Ok(None);
        }
        let model = how.embedder.model();
        let vectors = open(&ModelFolder::at(&self.layout.vectors(), model)?)?;
        let is_done = |key| {
            vectors.as_ref().is_some_and(|vectors| vectors.contains(key)) || skipped.contains(&key)
        };
        // A text in several sessions may be sent if one of them allows it.
        let known = RefCell::new(HashMap::new());
        let may_be_given = |session: i64| {
            *known.borrow_mut().entry(session).or_insert_with(|| {
                let place = store
                    .places_of_sessions(&[session])
                    .map(|mut places| places.remove(&session).and_then(|place| place.directory));
                place.is_ok_and(|directory| (how.may_see)(directory.as_deref()))
            })
        };
        let mut listing = Listing { texts: Vec::new(), count: 0 };
        for collection in [Collection::Memories, Collection::Passages] {
            // Rows that the index lacks will follow soon.
            let open = || TextIndex::open_committed(&self.layout, &store, collection);
            // A memory recorded directly is judged by the directories of its project.
            let may_be_told = |row| {
                let directories = store.directories_of_memory(row);
                directories.is_ok_and(|all| match all.as_slice() {
                    [] => (how.may_see)(None),
                    all => all.iter().all(|directory| (how.may_see)(Some(directory))),
                })
            };
            let is_wanted = |text: &IndexedText| {
                !is_done(text.key)
                    && match (collection, text.session) {
                        (Collection::Memories, 0) => may_be_told(text.row),
                        (_, session) => may_be_given(session),
                    }
            };
            let mut waiting = indexing::reading(&self.layout, || {
                Ok(open()?.newest_texts(&store, LISTED, is_wanted)?)
            })?;
            if collection == Collection::Memories && !waiting.newest.is_empty() {
                let injected = store.injection_times()?;
                waiting.newest.sort_by_key(|text| Reverse(injected.get(&text.row).copied()));
            }
            listing.count += waiting.count;
            listing.texts.push((collection, waiting.newest));
        }
        Ok((listing.count > 0).then_some(listing))
    }

    fn embed_batch(
        &self,
        how: &Embedding<'_>,
        (collection, wanted): TextBatch<'_>,
        done: &mut Embedded,
    ) -> Result<()> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        let generation = store.generation()?;
        let texts = still_kept(&store, collection, wanted)?;
        drop(store);
        // Cleaned again: rules may have been added that the store does not follow yet.
        let clean = |text: &KeyedText| {
            self.redactor.clean_text(&text.text, &mut Report::default()).into_inner()
        };
        let clean: Vec<(&KeyedText, String)> = texts.iter().map(|t| (t, clean(t))).collect();
        let made = embed_texts(how, &clean)?;
        done.left_out += (texts.len() - made.len()) as u64;
        self.keep_vectors(how.embedder.model(), &generation, (collection, wanted), made, done)
    }

    /// Adds vectors, except those of texts that were removed since they were read.
    fn keep_vectors(
        &self,
        model: &str,
        generation: &str,
        (collection, wanted): TextBatch<'_>,
        mut made: Made,
        done: &mut Embedded,
    ) -> Result<()> {
        let Some(dimensions) = made.iter().flat_map(|(_, vectors)| vectors).map(Vec::len).next()
        else {
            return Ok(());
        };
        if !self.layout.database().exists() {
            return Ok(());
        }
        let mut writer = self.vector_writer(model, dimensions)?;
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        // A rebuilt store has other rows.
        if store.generation()? != generation {
            return Ok(());
        }
        let kept = still_kept(&store, collection, wanted)?;
        made.retain(|(key, _)| kept.iter().any(|text| text.key == *key));
        let texts = made.len() as u64;
        let vectors = made.iter().map(|(_, vectors)| vectors.len() as u64).sum::<u64>();
        writer.add(made)?;
        done.texts += texts;
        done.vectors += vectors;
        Ok(())
    }

    /// Takes the writer's lock of a model's vectors, waiting for it if need be.
    fn vector_writer(&self, model: &str, dimensions: usize) -> Result<VectorWriter> {
        let folder = self.layout.vectors().join(model);
        retry_while_busy(|| VectorWriter::open(&folder, dimensions, model))
    }

    /// Takes the lock that lets one process embed at a time, since two would do the same work.
    fn embedding_turn(&self) -> Result<File> {
        let directory = self.layout.run();
        thru_journal::files::create_dir_private(&directory)?;
        let path = directory.join("embedding.lock");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = thru_journal::files::private(&mut options)
            .open(&path)
            .map_err(|source| IntakeError::io(&path, source))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(IntakeError::Embedding),
            Err(TryLockError::Error(source)) => Err(IntakeError::io(&path, source)),
        }
    }
}

/// Retries an action that needs a writer's lock until the lock is free or the patience ends.
fn retry_while_busy<T>(mut attempt: impl FnMut() -> thru_store::Result<T>) -> Result<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match attempt() {
            Err(StoreError::Busy { .. }) if Instant::now() < deadline => {
                std::thread::sleep(LOOK_AGAIN);
            }
            outcome => return Ok(outcome?),
        }
    }
}

/// Opens the vectors in a folder, if there are any.
fn open(folder: &ModelFolder) -> Result<Option<Vectors>> {
    let open = |dimensions| Vectors::open(&folder.path, dimensions, &folder.model);
    Ok(folder.dimensions.map(open).transpose()?)
}

/// Returns the texts that the store still holds as they were indexed.
fn still_kept(
    store: &Store,
    collection: Collection,
    texts: &[IndexedText],
) -> Result<Vec<KeyedText>> {
    let rows: Vec<i64> = texts.iter().map(|text| text.row).collect();
    let mut kept = store.keyed_texts(collection, &rows)?;
    kept.retain(|kept| texts.iter().any(|text| (text.row, text.key) == (kept.row, kept.key)));
    Ok(kept)
}

/// Embeds texts and returns their vectors by key. Texts that the embedder refuses are left out; it fails if all
/// are refused.
fn embed_texts(how: &Embedding<'_>, texts: &[(&KeyedText, String)]) -> Result<Made, EmbedError> {
    let pieces: Vec<Vec<&str>> = texts.iter().map(|(_, text)| chunks(text)).collect();
    let flat: Vec<&str> = pieces.iter().flatten().copied().collect();
    if flat.is_empty() {
        return Ok(Vec::new());
    }
    match how.embedder.embed(&flat, how.stop) {
        Ok(vectors) => {
            let mut vectors = vectors.into_iter();
            let by_text = texts.iter().zip(&pieces).map(|((text, _), pieces)| {
                (text.key, vectors.by_ref().take(pieces.len()).collect::<Vec<_>>())
            });
            Ok(by_text.filter(|(_, vectors)| !vectors.is_empty()).collect())
        }
        // One text that is too long, say, must not hold up the others.
        Err(error @ EmbedError::Refused { may_pass: false, .. }) if texts.len() > 1 => {
            let mut made = Vec::new();
            for text in texts {
                match embed_texts(how, std::slice::from_ref(text)) {
                    Err(EmbedError::Refused { may_pass: false, .. }) => {}
                    outcome => made.extend(outcome?),
                }
            }
            if made.is_empty() { Err(error) } else { Ok(made) }
        }
        Err(error) => Err(error),
    }
}
