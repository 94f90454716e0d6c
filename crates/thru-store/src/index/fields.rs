//! The columns of the index, and the conversion of a passage into a document.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{Index, TantivyDocument};

use thru_core::PassageKind;

use super::collection::Document;
use super::tokenizer::Terms;

/// The name of our tokenizer inside the index. A different tokenization needs a different name.
const TOKENIZER: &str = "throughline-1";

/// The columns.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    /// The row of the passage: the only link to the store.
    pub(super) row: Field,
    /// The first eight bytes of the passage's id: breaks ties, the same way in every build of the
    /// store.
    pub(super) key: Field,
    pub(super) session: Field,
    pub(super) project: Field,
    /// See [`thru_core::Agent::code`].
    pub(super) agent: Field,
    pub(super) source: Field,
    pub(super) ordinal: Field,
    /// See [`kind_code`].
    pub(super) kind: Field,
    /// Milliseconds since 1970; 0 if unknown.
    pub(super) at: Field,
    /// Every file that was touched, by each suffix of its path.
    pub(super) file: Field,
    /// Concepts of an observation.
    pub(super) tag: Field,
    /// The text.
    pub(super) text: Field,
    /// The key of the text among the vectors; 0 if it has none.
    pub(super) text_key: Field,
    /// The turn of a passage or a memory in its session.
    pub(super) turn: Field,
}

impl Fields {
    pub(super) fn schema() -> Schema {
        let mut schema = Schema::builder();
        for name in ["row", "session", "project", "agent", "kind", "text_key"] {
            schema.add_u64_field(name, INDEXED | FAST);
        }
        for name in ["key", "source", "ordinal", "turn"] {
            schema.add_u64_field(name, FAST);
        }
        schema.add_i64_field("at", FAST);
        schema.add_text_field("file", STRING);
        schema.add_text_field("tag", STRING);
        let terms = TextFieldIndexing::default()
            .set_tokenizer(TOKENIZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        schema.add_text_field("text", TextOptions::default().set_indexing_options(terms));
        schema.build()
    }

    pub(super) fn from_schema(schema: &Schema) -> tantivy::Result<Self> {
        let field = |name| schema.get_field(name);
        Ok(Self {
            row: field("row")?,
            key: field("key")?,
            session: field("session")?,
            project: field("project")?,
            agent: field("agent")?,
            source: field("source")?,
            ordinal: field("ordinal")?,
            kind: field("kind")?,
            at: field("at")?,
            file: field("file")?,
            tag: field("tag")?,
            text: field("text")?,
            text_key: field("text_key")?,
            turn: field("turn")?,
        })
    }

    pub(super) fn document(&self, of: &Document) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        for (field, value) in [
            (self.row, of.row),
            (self.session, of.session),
            (self.project, of.project),
            (self.agent, i64::from(of.agent)),
            (self.source, of.source),
            (self.ordinal, i64::from(of.ordinal)),
            (self.kind, i64::from(of.kind)),
            (self.turn, i64::from(of.turn)),
        ] {
            document.add_u64(field, value.max(0) as u64);
        }
        document.add_u64(self.key, id_key(&of.id));
        document.add_u64(self.text_key, of.text_key);
        document.add_i64(self.at, of.at.map_or(0, thru_core::Timestamp::as_millisecond));
        for end in of.files.iter().flat_map(|path| path_ends(path)) {
            document.add_text(self.file, end);
        }
        for tag in &of.tags {
            document.add_text(self.tag, tag);
        }
        document.add_text(self.text, &of.text);
        document
    }
}

/// Packs the kind, whether a subagent spoke, and whether it only repeats memories, into one number.
pub(super) fn kind_code(kind: PassageKind, is_subagent: bool, is_echo: bool) -> u8 {
    let kinds = PassageKind::ALL.len() as u8;
    kind.code() + kinds * (u8::from(is_subagent) + 2 * u8::from(is_echo))
}

/// Returns all codes that hold a kind of passage.
pub(super) fn codes_of(kind: PassageKind) -> impl Iterator<Item = u8> {
    let flags = [(false, false), (false, true), (true, false), (true, true)];
    flags.into_iter().map(move |(is_subagent, is_echo)| kind_code(kind, is_subagent, is_echo))
}

/// Unpacks a [`kind_code`].
pub(super) fn kind_of_code(code: u64) -> (PassageKind, bool, bool) {
    let kinds = PassageKind::ALL.len() as u64;
    let kind = u8::try_from(code % kinds).ok().and_then(PassageKind::from_code);
    let flags = code / kinds;
    (kind.unwrap_or(PassageKind::Tool), flags & 1 != 0, flags & 2 != 0)
}

fn id_key(id: &thru_core::Id) -> u64 {
    id.as_bytes().iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

/// Returns every suffix of a path that starts at a component, in the spelling of the index: `lib.rs`,
/// `src/lib.rs`, …
fn path_ends(path: &str) -> impl Iterator<Item = String> {
    let normal = normal_path(path);
    let starts: Vec<usize> = std::iter::once(0)
        .chain(normal.match_indices('/').map(|(at, _)| at + 1))
        .filter(|&at| at < normal.len())
        .collect();
    starts.into_iter().map(move |at| normal[at..].to_owned())
}

/// Normalises the path separators of all systems to one spelling.
pub(super) fn normal_path(path: &str) -> String {
    path.replace('\\', "/").trim_end_matches('/').to_lowercase()
}

pub(super) fn register_tokenizer(index: &Index) {
    index.tokenizers().register(TOKENIZER, TermsTokenizer::default());
}

/// [`Terms`] as a Tantivy tokenizer.
#[derive(Clone, Default)]
struct TermsTokenizer {
    terms: Terms,
    run: Vec<(u32, u32, usize)>,
    buffer: String,
    token: Token,
}

impl Tokenizer for TermsTokenizer {
    type TokenStream<'a> = TermsStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TermsStream<'a> {
        self.run.clear();
        TermsStream { tokenizer: self, text, read: 0, position: 0, next: 0 }
    }
}

/// The terms of a text. It holds those of one run of joined words at a time, which stay in the processor's cache.
struct TermsStream<'a> {
    tokenizer: &'a mut TermsTokenizer,
    text: &'a str,
    read: usize,
    position: usize,
    next: usize,
}

impl TokenStream for TermsStream<'_> {
    fn advance(&mut self) -> bool {
        let TermsTokenizer { terms, run, buffer, token } = &mut *self.tokenizer;
        while self.next == run.len() {
            run.clear();
            buffer.clear();
            self.next = 0;
            let end = terms.run(self.text, self.read, &mut self.position, &mut |term, place| {
                let start = buffer.len() as u32;
                buffer.push_str(term);
                run.push((start, buffer.len() as u32, place.position));
            });
            let Some(end) = end else { return false };
            self.read = end;
        }
        let (start, end, position) = run[self.next];
        self.next += 1;
        token.text.clear();
        token.text.push_str(&buffer[start as usize..end as usize]);
        token.position = position;
        true
    }

    /// The index takes all terms at once, so that none is copied before it is needed.
    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let TermsTokenizer { terms, token, .. } = &mut *self.tokenizer;
        terms.tokenize(self.text, |term, place| {
            token.text.clear();
            token.text.push_str(term);
            token.position = place.position;
            sink(token);
        });
    }

    fn token(&self) -> &Token {
        &self.tokenizer.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.tokenizer.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_the_same_one_by_one_and_all_at_once() {
        let text = "getUserName std::fs::File, ran 数据库 \u{1b}[31mred";
        let mut tokenizer = TermsTokenizer::default();
        let (mut single, mut all) = (Vec::new(), Vec::new());
        let mut stream = tokenizer.token_stream(text);
        while stream.advance() {
            single.push(stream.token().clone());
        }
        tokenizer.token_stream(text).process(&mut |token| all.push(token.clone()));
        assert_eq!(single, all);
        assert!(!all.is_empty());
    }

    #[test]
    fn a_file_is_found_by_every_end_of_its_path() {
        let ends: Vec<String> = path_ends(r"C:\Work\src\Lib.rs").collect();
        assert_eq!(ends, ["c:/work/src/lib.rs", "work/src/lib.rs", "src/lib.rs", "lib.rs"]);
        let ends: Vec<String> = path_ends("/a/b/").collect();
        assert_eq!(ends, ["/a/b", "a/b", "b"]);
    }
}
