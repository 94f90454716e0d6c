//! The bundled model: sentence-transformers/all-MiniLM-L6-v2 with weights of eight bits, run by `rten`.
//!
//! `tools/make-embedding-model` made its files; `models/all-MiniLM-L6-v2` holds them. They are part of the program,
//! which maps its own file: nothing of them is read before it is needed, nothing lies on the heap, and the system shares
//! or drops their pages. A folder can be named in their place; files that differ are refused, since their vectors would lie among
//! others that mean something else.

mod vocabulary;

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, op_registry};
use rten_tensor::NdTensor;
use rten_tensor::prelude::*;
use tantivy::Directory;
use tantivy::directory::{MmapDirectory, OwnedBytes};

use self::vocabulary::Vocabulary;
use crate::{EmbedError, Embedder, normalise};

/// A file of the model.
struct File {
    name: &'static str,
    /// Bytes.
    length: u64,
    /// BLAKE3.
    hash: &'static str,
    /// The file as it is part of the program.
    bytes: &'static [u8],
}

/// The network without its large weights: it holds their offsets in [`WEIGHTS`].
static NETWORK: File = File {
    name: "network.onnx",
    length: 396_137,
    hash: "19cf9cd95e5864b156763638a528eb8837d6c6380f56a727985e279323bf7603",
    bytes: include_bytes!("../../../../models/all-MiniLM-L6-v2/network.onnx"),
};

/// The same network with its weights.
static WEIGHTS: File = File {
    name: "model.onnx",
    length: 22_927_825,
    hash: "ced5dee9f40cb3a9ad3c9fa208fb8631401451d14bdfcad57ea403b241af59b5",
    bytes: include_bytes!("../../../../models/all-MiniLM-L6-v2/model.onnx"),
};

static WORDS: File = File {
    name: "vocab.txt",
    length: 231_508,
    hash: "29a772c92cf4b7bc8f4c52d801f03d36ad8528ef964f856dadc4c4e7cb14e451",
    bytes: include_bytes!("../../../../models/all-MiniLM-L6-v2/vocab.txt"),
};

/// Returns true for a word in lower case that the vocabulary of the bundled model has whole: ordinary English, and widely known
/// names.
pub fn is_word(word: &str) -> bool {
    place_of(word).is_some()
}

/// Returns true for a word in lower case that is among the most frequent of English.
pub fn is_common_word(word: &str) -> bool {
    place_of(word).is_some_and(|place| place < COMMON)
}

/// Pieces of the vocabulary that stand for common words and what comes before them: it is ordered by frequency. "Picture" and
/// "movies" are before, "expense", "cookie" and "telegram" behind.
const COMMON: usize = 8_000;

fn place_of(word: &str) -> Option<usize> {
    WORDS.bytes.split(|byte| *byte == b'\n').position(|known| known == word.as_bytes())
}

/// The file name of the weights inside the network, which `rten` requires.
const NAME_OF_WEIGHTS: &str = "model.data";

/// The name of the model. Other weights, or another tokenisation, need another name.
pub const NAME: &str = "minilm-l6-v2-int8";
/// Components of a vector of the bundled model.
pub const DIMENSIONS: usize = 384;
/// Most tokens of a text; the model was trained with no more.
const MOST_TOKENS: usize = 256;
/// Tokens per run of the network, padding included: what a run computes then stays in the processor's caches. Eight times as
/// many take a third more time and twice the memory.
const TOKENS_AT_ONCE: usize = MOST_TOKENS;

/// The place of the model's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelFiles {
    /// In the program itself.
    BuiltIn,
    /// In this folder.
    Folder(PathBuf),
}

/// The way that the model is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadMode {
    /// For questions: loads as fast as possible. The weights of a folder are memory-mapped, not read, and stay
    /// mapped until the process ends. Only the lengths of its files are checked, since these vectors are not stored.
    Quick,
    /// For many texts, or a long-lived process: the files of a folder are verified byte by byte, since these
    /// vectors are stored. The weights are packed first, which takes as long as loading them and makes every
    /// question about three times as fast.
    Verified,
}

/// The bundled model, ready to run.
pub struct MiniLm {
    loaded: Arc<Loaded>,
    threads: Arc<ThreadPool>,
}

/// The loaded files, shared by all users.
struct Loaded {
    network: Model,
    inputs: [NodeId; 2],
    output: NodeId,
    vocabulary: Vocabulary<'static>,
}

impl MiniLm {
    /// Loads the model, to run on this many threads.
    ///
    /// # Errors
    ///
    /// Returns an error if a file of a folder is missing or is not the one this version was made with: compared byte
    /// by byte for [`LoadMode::Verified`], by length for [`LoadMode::Quick`].
    pub fn load(files: &ModelFiles, threads: usize, mode: LoadMode) -> Result<Self, EmbedError> {
        let [network, weights] = files.open(mode)?;
        let failed = |error: &dyn std::fmt::Display| EmbedError::Failed(error.to_string());
        let mut options = ModelOptions::with_ops(op_registry!(
            Abs,
            Add,
            Cast,
            CumSum,
            Div,
            Gather,
            Gelu,
            LayerNormalization,
            MatMul,
            MatMulInteger,
            Mul,
            ReduceL2,
            ReduceMax,
            ReduceSum,
            Reshape,
            Round,
            Softmax,
            Sub,
            Transpose,
            Unsqueeze
        ));
        options.prepack_weights(mode == LoadMode::Verified);
        match weights {
            Cow::Borrowed(weights) => options.external_data_static(NAME_OF_WEIGHTS, weights),
            Cow::Owned(weights) => options.external_data(NAME_OF_WEIGHTS, weights),
        };
        let network = match network {
            Cow::Borrowed(network) => options.load_static_slice(network),
            Cow::Owned(network) => options.load(network),
        };
        let network = network.map_err(|error| failed(&error))?;
        let words = std::str::from_utf8(WORDS.bytes).map_err(|error| failed(&error))?;
        let node = |name| network.node_id(name).map_err(|error| failed(&error));
        let inputs = [node("input_ids")?, node("attention_mask")?];
        let output = node("sentence_embedding")?;
        let vocabulary =
            Vocabulary::parse(words).ok_or_else(|| failed(&"its vocabulary is none"))?;
        let loaded = Arc::new(Loaded { network, inputs, output, vocabulary });
        Ok(Self { loaded, threads: pool(threads) })
    }

    /// Returns the same model with this many threads of its own, so that the two never wait for each
    /// other. It takes no more memory than the texts it works on.
    pub fn with_threads(&self, threads: usize) -> Self {
        Self { loaded: Arc::clone(&self.loaded), threads: pool(threads) }
    }

    /// Returns the vectors of a batch of token lists.
    fn run(&self, batch: &[&[i32]]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let width = batch.iter().map(|tokens| tokens.len()).max().unwrap_or(0);
        let mut ids = NdTensor::<i32, 2>::zeros([batch.len(), width]);
        let mut mask = NdTensor::<i32, 2>::zeros([batch.len(), width]);
        for (row, tokens) in batch.iter().enumerate() {
            for (column, token) in tokens.iter().enumerate() {
                ids[[row, column]] = *token;
                mask[[row, column]] = 1;
            }
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.threads)));
        let Loaded { network, inputs, output, .. } = self.loaded.as_ref();
        let inputs = vec![(inputs[0], ids.into()), (inputs[1], mask.into())];
        let [vectors] = network
            .run_n(inputs, [*output], Some(options))
            .map_err(|error| EmbedError::Failed(error.to_string()))?;
        let vectors: NdTensor<f32, 2> =
            vectors.try_into().map_err(|_| EmbedError::Failed("it gave no vectors".to_owned()))?;
        let rows = (0..batch.len()).map(|row| {
            let mut vector = vectors.slice([row]).to_vec();
            normalise(&mut vector);
            vector
        });
        Ok(rows.collect())
    }
}

fn pool(threads: usize) -> Arc<ThreadPool> {
    Arc::new(ThreadPool::with_num_threads(threads.max(1)))
}

impl Embedder for MiniLm {
    fn model(&self) -> &str {
        NAME
    }

    fn dimensions(&self) -> Option<usize> {
        Some(DIMENSIONS)
    }

    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        let tokens: Vec<Vec<i32>> =
            texts.iter().map(|text| self.loaded.vocabulary.tokens(text, MOST_TOKENS)).collect();
        // Texts of similar length together: padding is wasted computation.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&at| tokens[at].len());
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut rest = order.as_slice();
        while let Some(longest) = rest.last().map(|&at| tokens[at].len()) {
            if stop.load(Ordering::Relaxed) {
                return Err(EmbedError::Stopped);
            }
            let count = (TOKENS_AT_ONCE / longest).clamp(1, rest.len());
            let (before, now) = rest.split_at(rest.len() - count);
            let batch: Vec<&[i32]> = now.iter().map(|&at| tokens[at].as_slice()).collect();
            for (&at, vector) in now.iter().zip(self.run(&batch)?) {
                vectors[at] = vector;
            }
            rest = before;
        }
        Ok(vectors)
    }
}

impl ModelFiles {
    /// Returns network and weights.
    fn open(&self, mode: LoadMode) -> Result<[Cow<'static, [u8]>; 2], EmbedError> {
        let Self::Folder(folder) = self else {
            return Ok([&NETWORK, &WEIGHTS].map(|file| Cow::Borrowed(file.bytes)));
        };
        WORDS.in_folder(folder)?;
        if mode == LoadMode::Verified {
            check(folder)?;
        }
        let read = |file: &File| {
            let path = file.in_folder(folder)?;
            fs::read(&path).map(Cow::Owned).map_err(|error| missing(&path, &error))
        };
        let weights = match mode {
            LoadMode::Quick => {
                WEIGHTS.in_folder(folder)?;
                Cow::Borrowed(mapped(folder)?)
            }
            LoadMode::Verified => read(&WEIGHTS)?,
        };
        Ok([read(&NETWORK)?, weights])
    }
}

/// Checks that the model's files are those of this version, byte by byte.
///
/// # Errors
///
/// Returns an error that names the first file that differs.
pub fn check(folder: &Path) -> Result<(), EmbedError> {
    for file in [&NETWORK, &WEIGHTS, &WORDS] {
        let path = file.in_folder(folder)?;
        let bytes = fs::read(&path).map_err(|error| missing(&path, &error))?;
        if blake3::hash(&bytes).to_hex().as_str() != file.hash {
            let detail = "its content is another".to_owned();
            return Err(EmbedError::Foreign { path, detail });
        }
    }
    Ok(())
}

impl File {
    /// Returns the path of the file, if it seems to be the right one.
    fn in_folder(&self, folder: &Path) -> Result<PathBuf, EmbedError> {
        let path = folder.join(self.name);
        let length = fs::metadata(&path).map_err(|error| missing(&path, &error))?.len();
        if length != self.length {
            let detail = format!("it has {length} bytes, not {}", self.length);
            return Err(EmbedError::Foreign { path, detail });
        }
        Ok(path)
    }
}

/// Returns the weights, memory-mapped: a question needs ten rows of the embedding table, which is half
/// of them. Mapped as Tantivy maps its indexes, and never unmapped.
fn mapped(folder: &Path) -> Result<&'static [u8], EmbedError> {
    let failed = |error: &dyn std::fmt::Display| EmbedError::Failed(error.to_string());
    let folder = MmapDirectory::open(folder).map_err(|error| failed(&error))?;
    let file = folder.open_read(Path::new(WEIGHTS.name)).map_err(|error| failed(&error))?;
    let bytes: OwnedBytes = file.read_bytes().map_err(|error| failed(&error))?;
    Ok(Box::leak(Box::new(bytes)))
}

fn missing(path: &Path, error: &std::io::Error) -> EmbedError {
    EmbedError::Missing { path: path.to_owned(), reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_files_in_the_program_are_those_of_this_version() {
        for file in [&NETWORK, &WEIGHTS, &WORDS] {
            assert_eq!(file.bytes.len() as u64, file.length, "{}", file.name);
            assert_eq!(blake3::hash(file.bytes).to_hex().as_str(), file.hash, "{}", file.name);
        }
    }

    #[test]
    fn words_are_told_from_their_misspellings() {
        for word in ["money", "somebody", "replica"] {
            assert!(is_word(word), "{word}");
        }
        for other in ["moeny", "sevrice", "Money"] {
            assert!(!is_word(other), "{other}");
        }
    }

    #[test]
    fn tokens_are_those_of_the_original() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/all-MiniLM-L6-v2");
        let words = std::str::from_utf8(WORDS.bytes).unwrap();
        let vocabulary = Vocabulary::parse(words).unwrap();
        let references = fs::read_to_string(folder.join("references.json")).unwrap();
        let references: Vec<Value> = serde_json::from_str(&references).unwrap();
        assert!(references.len() > 10);
        for reference in references {
            let text = reference["text"].as_str().unwrap();
            let tokens = vocabulary.tokens(text, MOST_TOKENS);
            assert_eq!(reference["ids"], serde_json::json!(tokens), "{text}");
        }
    }
}
