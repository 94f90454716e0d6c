//! Vectors of what people and agents said, and of memories: a cache beside the store, filled in the
//! background.
//!
//! Nothing here takes the intake lock, so that neither hooks nor imports nor questions wait. Who embeds
//! holds a lock of its own; who adds vectors holds the writer's for that moment, and looks with it in hand
//! whether the texts are still kept. Forgetting takes the vectors out after the texts: either it finds
//! what was added, or the adding finds that the text is gone.

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

use crate::{Intake, IntakeError, Result};

/// Texts that are embedded, and made durable, together: what is lost at most when somebody pulls the plug.
const TOGETHER: usize = 64;
/// Texts that are listed at a time: some minutes of work.
const LISTED: usize = 4_096;
/// How long another one that adds or removes vectors is waited for; that takes moments.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// How texts are embedded.
pub struct Embedding<'a> {
    /// Who does it.
    pub embedder: &'a dyn Embedder,
    /// At most so many texts.
    pub most: Option<usize>,
    /// Whether what was said in sessions of this directory may be given to it.
    pub may_see: &'a dyn Fn(Option<&str>) -> bool,
    /// Set by who wants it to end. What was done by then is kept.
    pub stop: &'a AtomicBool,
}

/// What was embedded, so far or in all.
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
    /// Whether it was stopped.
    pub stopped: bool,
}

/// How far the vectors of a model are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Different texts that may have vectors.
    pub texts: u64,
    /// Those that have.
    pub embedded: u64,
    /// Bytes on the disk.
    pub bytes: u64,
}

/// With or without what the index on disk does not hold yet.
type OpenIndex = fn(&Layout, &Store, Collection) -> thru_store::Result<TextIndex>;

/// Texts by their keys, each with a vector for each of its pieces.
type Made = Vec<(u64, Vec<Vec<f32>>)>;

/// Texts of one collection that are embedded together.
type Together<'t> = (Collection, &'t [IndexedText]);

/// What is to be embedded next.
struct Listing {
    /// What was told most first, then the newest first; memories before passages.
    texts: Vec<(Collection, Vec<IndexedText>)>,
    count: usize,
}

impl Intake {
    /// Makes vectors of texts that have none of this embedder's model: memories first, then what was said,
    /// the newest first. Every batch is on the disk before the next one begins.
    ///
    /// # Errors
    /// [`IntakeError::Embedding`] where another process does it; where the embedder fails, and where the
    /// disk cannot be written. What was done by then is kept.
    pub fn embed(
        &self,
        how: &Embedding<'_>,
        progress: &mut dyn FnMut(&Embedded),
    ) -> Result<Embedded> {
        // A home that was removed is not to come back by a lock.
        if !self.layout.database().exists() {
            return Ok(Embedded::default());
        }
        let _turn = self.embedding_turn()?;
        self.redactor.expect_much();
        let mut done = Embedded::default();
        // Refused, or gone since they were listed: not to be tried again in this run.
        let mut passed_over = HashSet::new();
        while let Some(listing) = self.texts_to_embed(how, &passed_over)? {
            done.waiting = listing.count as u64;
            progress(&done);
            for (collection, texts) in &listing.texts {
                for texts in texts.chunks(TOGETHER) {
                    let room = how.most.map_or(usize::MAX, |most| most - done.texts as usize);
                    done.stopped = how.stop.load(Ordering::Relaxed);
                    if done.stopped || room == 0 {
                        return Ok(done);
                    }
                    let texts = &texts[..texts.len().min(room)];
                    match self.embed_together(how, (*collection, texts), &mut done) {
                        Err(IntakeError::Embed(EmbedError::Stopped)) => {
                            done.stopped = true;
                            return Ok(done);
                        }
                        // It works, so that the trouble is with these.
                        Err(IntakeError::Embed(EmbedError::Refused {
                            may_pass: false, ..
                        })) if done.texts > 0 => {
                            done.left_out += texts.len() as u64;
                        }
                        outcome => outcome?,
                    }
                    passed_over.extend(texts.iter().map(|text| text.key));
                    done.waiting = done.waiting.saturating_sub(texts.len() as u64);
                    progress(&done);
                }
            }
        }
        Ok(done)
    }

    /// How many texts may have vectors, and how many have them of the model of this name.
    ///
    /// # Errors
    /// Where store, index or vectors cannot be read.
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

    /// Takes out the vectors, of all models, of texts that are not kept any more; says how many. Files of
    /// vectors that nobody can read are removed where a model has no others.
    ///
    /// # Errors
    /// [`IntakeError::NotSwept`] where the index is not up to the store; [`StoreError::Busy`] where somebody goes on writing; and where the disk cannot be written. Calling
    /// it again goes on.
    pub fn sweep_vectors(&self) -> Result<u64> {
        let mut removed = 0;
        for folder in ModelFolder::all(&self.layout.vectors())? {
            let Some(dimensions) = folder.dimensions else {
                // Nobody can tell what is in it, and it can be made again.
                if folder.bytes > 0 {
                    patiently(|| folder.remove_segments())?;
                }
                continue;
            };
            let mut writer = self.vector_writer(&folder.model, dimensions)?;
            // With the lock in hand: nobody adds any of a text that is not among these.
            let Some(store) = Store::open_if_there(&self.layout)? else { break };
            let (keys, is_complete) = self.text_keys(&store, TextIndex::open_collection)?;
            if !is_complete {
                return Err(IntakeError::NotSwept);
            }
            removed += writer.retain(|key| keys.binary_search(&key).is_ok())? as u64;
        }
        Ok(removed)
    }

    /// Removes what is damaged of the vectors of the model of this name, after reading all of them, so that
    /// its texts are embedded again; says how many files that were.
    ///
    /// # Errors
    /// As of [`Intake::sweep_vectors`].
    pub fn mend_vectors(&self, model: &str) -> Result<u64> {
        let folder = ModelFolder::at(&self.layout.vectors(), model)?;
        let Some(dimensions) = folder.dimensions else { return Ok(0) };
        let mut writer = self.vector_writer(model, dimensions)?;
        writer.remove_damaged()?;
        Ok(writer.problems().len() as u64)
    }

    /// The keys of all texts that may have vectors, sorted, and whether the index knows all of them.
    fn text_keys(&self, store: &Store, open: OpenIndex) -> Result<(Vec<u64>, bool)> {
        let (mut keys, mut is_complete) = (Vec::new(), true);
        for collection in Collection::ALL {
            let index = open(&self.layout, store, collection)?;
            keys.extend(index.text_keys(store)?);
            is_complete &= index.rows_left_out == 0;
        }
        keys.sort_unstable();
        keys.dedup();
        Ok((keys, is_complete))
    }

    /// What has no vectors yet; nothing where all have.
    fn texts_to_embed(
        &self,
        how: &Embedding<'_>,
        passed_over: &HashSet<u64>,
    ) -> Result<Option<Listing>> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(None) };
        // One of an older version is upgraded by whoever writes to it next.
        if store.schema_version()? != thru_store::SCHEMA_VERSION {
            return Ok(None);
        }
        let model = how.embedder.model();
        let vectors = open(&ModelFolder::at(&self.layout.vectors(), model)?)?;
        let is_done = |key| {
            vectors.as_ref().is_some_and(|vectors| vectors.contains(key))
                || passed_over.contains(&key)
        };
        // A text that several sessions hold may be given if one of them may.
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
            // What is not in there yet, is soon.
            let index = TextIndex::open_committed(&self.layout, &store, collection)?;
            // What was told outside of any session is judged by where its project is worked on.
            let may_be_told = |row| {
                let directories = store.directories_of_memory(row);
                directories.is_ok_and(|all| match all.as_slice() {
                    [] => (how.may_see)(None),
                    all => all.iter().all(|directory| (how.may_see)(Some(directory))),
                })
            };
            let mut waiting = index.newest_texts(&store, LISTED, |text| {
                !is_done(text.key)
                    && match (collection, text.session) {
                        (Collection::Memories, 0) => may_be_told(text.row),
                        (_, session) => may_be_given(session),
                    }
            })?;
            if collection == Collection::Memories && !waiting.newest.is_empty() {
                let told = store.times_told()?;
                waiting.newest.sort_by_key(|text| Reverse(told.get(&text.row).copied()));
            }
            listing.count += waiting.count;
            listing.texts.push((collection, waiting.newest));
        }
        Ok((listing.count > 0).then_some(listing))
    }

    fn embed_together(
        &self,
        how: &Embedding<'_>,
        (collection, wanted): Together<'_>,
        done: &mut Embedded,
    ) -> Result<()> {
        let Some(store) = Store::open_if_there(&self.layout)? else { return Ok(()) };
        let generation = store.generation()?;
        let texts = still_kept(&store, collection, wanted)?;
        drop(store);
        // Once more: rules may have been added that the store does not follow yet.
        let clean = |text: &KeyedText| {
            self.redactor.clean_text(&text.text, &mut Report::default()).into_inner()
        };
        let clean: Vec<(&KeyedText, String)> = texts.iter().map(|t| (t, clean(t))).collect();
        let made = embed_texts(how, &clean)?;
        done.left_out += (texts.len() - made.len()) as u64;
        self.keep_vectors(how.embedder.model(), &generation, (collection, wanted), made, done)
    }

    /// Adds vectors, but of texts that were taken out since they were read.
    fn keep_vectors(
        &self,
        model: &str,
        generation: &str,
        (collection, wanted): Together<'_>,
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
        // Rows of a store that was made again are others.
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

    /// The right to write vectors of a model, as soon as it is free.
    fn vector_writer(&self, model: &str, dimensions: usize) -> Result<VectorWriter> {
        let folder = self.layout.vectors().join(model);
        patiently(|| VectorWriter::open(&folder, dimensions, model))
    }

    /// The right to embed, which one process at a time has: two would do the same work.
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

/// Does what needs a writer's lock, as soon as it is free.
fn patiently<T>(mut attempt: impl FnMut() -> thru_store::Result<T>) -> Result<T> {
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

/// The vectors in a folder, where there are any.
fn open(folder: &ModelFolder) -> Result<Option<Vectors>> {
    let open = |dimensions| Vectors::open(&folder.path, dimensions, &folder.model);
    Ok(folder.dimensions.map(open).transpose()?)
}

/// Those of the texts that the store holds as they were indexed.
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

/// The vectors of texts, by their keys. Texts that the embedder refuses are left out; it fails where it
/// refuses all.
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
        // One that is too long for it, say, must not keep the others waiting for ever.
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
