//! Words, identifiers, prose, code and logs that look like the real thing and mean nothing.

use crate::rng::Rng;

/// Different words.
const VOCABULARY: usize = 60_000;

/// The most frequent words are the same in every project; behind them each project has its own.
const COMMON: usize = 2_000;

const FUNCTION_WORDS: [&str; 40] = [
    "the", "to", "and", "of", "a", "in", "is", "it", "that", "for", "this", "we", "with", "be",
    "on", "not", "are", "as", "should", "now", "was", "can", "from", "when", "all", "so", "but",
    "if", "an", "then", "have", "I", "by", "use", "will", "test", "file", "code", "error", "fix",
];
const ONSETS: [&str; 24] = [
    "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "st",
    "tr", "pl", "gr", "sh", "ch", "br",
];
const VOWELS: [&str; 9] = ["a", "e", "i", "o", "u", "ai", "ea", "ou", "io"];
const CODAS: [&str; 12] = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "ck", "x"];
const FOLDERS: [&str; 10] =
    ["src", "lib", "tests", "core", "api", "ui", "store", "utils", "server", "docs"];
const EXTENSIONS: [&str; 8] = ["rs", "ts", "tsx", "py", "go", "md", "json", "toml"];

/// The vocabulary, by frequency.
pub(super) struct Words(Vec<String>);

impl Words {
    /// The same for the same seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::part(seed, u64::MAX);
        let mut words: Vec<String> = FUNCTION_WORDS.iter().map(|&word| word.to_owned()).collect();
        let mut known: std::collections::HashSet<String> = words.iter().cloned().collect();
        while words.len() < VOCABULARY {
            // Frequent words are short.
            let syllables = if words.len() < 400 { 1 } else { rng.between(2, 4) };
            let mut word = String::new();
            for _ in 0..syllables {
                word.push_str(rng.pick(&ONSETS));
                word.push_str(rng.pick(&VOWELS));
            }
            word.push_str(rng.pick(&CODAS));
            // One-syllable words run out before there are enough of them.
            if known.contains(&word) {
                word.push_str(rng.pick(&VOWELS));
                word.push_str(rng.pick(&ONSETS));
            }
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        Self(words)
    }
}

/// A project: its folder, its own words, its identifiers and files.
pub(super) struct Project {
    pub(super) name: String,
    number: usize,
    identifiers: Vec<String>,
    files: Vec<String>,
}

impl Project {
    pub(super) fn new(words: &Words, seed: u64, number: usize) -> Self {
        let mut rng = Rng::part(seed, 1_000_000_007 + number as u64);
        let word = |rng: &mut Rng| words.0[rng.between(200, COMMON * 3)].clone();
        let name = format!("{}-{}{number}", word(&mut rng), word(&mut rng));
        let identifiers: Vec<String> = (0..300)
            .map(|_| {
                let parts: Vec<String> = (0..rng.between(2, 3)).map(|_| word(&mut rng)).collect();
                match rng.below(3) {
                    0 => parts.join("_"),
                    1 => camel(&parts),
                    _ => format!("{}::{}", parts[0], parts[1..].join("_")),
                }
            })
            .collect();
        let files = (0..120)
            .map(|_| {
                let folders = [rng.pick(&FOLDERS), rng.pick(&FOLDERS)].join("/");
                format!("{folders}/{}_{}.{}", word(&mut rng), word(&mut rng), rng.pick(&EXTENSIONS))
            })
            .collect();
        Self { name, number, identifiers, files }
    }

    /// The directory that its sessions run in.
    pub(super) fn directory(&self) -> String {
        format!("/home/dev/src/{}", self.name)
    }

    /// The folder of its transcripts.
    pub(super) fn slug(&self) -> String {
        self.directory().replace('/', "-")
    }
}

/// Makes texts for one session, and remembers what in them is worth asking for.
pub(super) struct Writer<'w> {
    words: &'w Words,
    project: &'w Project,
    /// The place in the vocabulary and the word of the least frequent word in prose.
    pub(super) rarest: (usize, usize),
    /// The last piece of prose, as words that say something.
    pub(super) said: Vec<&'w str>,
    pub(super) identifier: &'w str,
    pub(super) error_code: String,
}

impl<'w> Writer<'w> {
    pub(super) fn new(words: &'w Words, project: &'w Project) -> Self {
        let identifier = project.identifiers.first().map_or("", String::as_str);
        Self {
            words,
            project,
            rarest: (0, 0),
            said: Vec::new(),
            identifier,
            error_code: String::new(),
        }
    }

    /// The least frequent word of the session's prose.
    pub(super) fn rare_word(&self) -> &'w str {
        &self.words.0[self.rarest.1]
    }

    /// Zipf's law: the frequency of a word is one by its rank.
    fn word(&mut self, rng: &mut Rng) -> (usize, &'w str) {
        let words = &self.words.0;
        let rank = ((words.len() as f64).powf(rng.unit()) as usize).clamp(1, words.len()) - 1;
        let own = words.len() - COMMON;
        let place = match rank.checked_sub(COMMON) {
            Some(beyond) => COMMON + (beyond + self.project.number * 577) % own,
            None => rank,
        };
        if rank > self.rarest.0 {
            self.rarest = (rank, place);
        }
        (rank, &words[place])
    }

    /// Sentences of about this many words in all.
    pub(super) fn prose(&mut self, rng: &mut Rng, words: usize) -> String {
        let mut text = String::with_capacity(words * 8);
        self.said.clear();
        let mut left = 0;
        for number in 0..words.max(3) {
            if left == 0 {
                left = rng.between(5, 18);
                if number > 0 {
                    text.push_str(if rng.chance(0.15) { ".\n\n" } else { ". " });
                }
            } else {
                text.push(' ');
            }
            left -= 1;
            if rng.chance(0.04) {
                self.identifier = self.identifier(rng);
                text.extend(["`", self.identifier, "`"]);
                continue;
            }
            let (rank, word) = self.word(rng);
            if rank > FUNCTION_WORDS.len() {
                self.said.push(word);
            }
            text.push_str(word);
        }
        text.push('.');
        text
    }

    /// Lines that look like code.
    pub(super) fn code(&mut self, rng: &mut Rng, lines: usize) -> String {
        let mut text = String::with_capacity(lines * 44);
        for _ in 0..lines.max(1) {
            text.extend(std::iter::repeat_n("    ", rng.below(4)));
            let (a, b) = (self.identifier(rng), self.identifier(rng));
            let (_, word) = self.word(rng);
            match rng.below(6) {
                0 => text.extend(["let ", word, " = ", a, "(", b, ");\n"]),
                1 => text.extend(["if ", a, " == ", b, " {\n"]),
                2 => text.extend(["return ", word, ".", a, "(\"", word, "\");\n"]),
                3 => {
                    let (_, more) = self.word(rng);
                    text.extend(["// ", word, " ", more, " ", a, "\n"]);
                }
                4 => text.extend(["}\n"]),
                _ => text.extend(["fn ", a, "(", word, ": &str) -> ", b, " {\n"]),
            }
        }
        text
    }

    /// Lines that look like the output of builds, tests and servers.
    pub(super) fn log(&mut self, rng: &mut Rng, lines: usize) -> String {
        let mut text = String::with_capacity(lines * 60);
        for _ in 0..lines.max(1) {
            let name = self.identifier(rng);
            let (_, one) = self.word(rng);
            let (_, two) = self.word(rng);
            match rng.below(8) {
                0 => {
                    self.error_code = format!("E{:06X}", rng.below(1 << 24));
                    text.extend([
                        "error[",
                        &self.error_code,
                        "]: ",
                        one,
                        " ",
                        two,
                        " in ",
                        name,
                        "\n",
                    ]);
                }
                1 => {
                    let file = self.file(rng);
                    text.extend(["    at ", file, ":"]);
                    text.push_str(&rng.between(1, 900).to_string());
                    text.push('\n');
                }
                2..=4 => text.extend(["test ", name, "_", one, " ... ok\n"]),
                _ => {
                    text.extend(["INFO ", name, ": ", one, " ", two, " ("]);
                    text.push_str(&rng.between(1, 5000).to_string());
                    text.push_str(" ms)\n");
                }
            }
        }
        text
    }

    /// The path of one of the project's files, below its directory.
    pub(super) fn file(&self, rng: &mut Rng) -> &'w str {
        // Few files see most of the work.
        let square = rng.unit() * rng.unit();
        let files = &self.project.files;
        &files[((square * files.len() as f64) as usize).min(files.len() - 1)]
    }

    /// One of the project's identifiers.
    pub(super) fn identifier(&self, rng: &mut Rng) -> &'w str {
        &self.project.identifiers[rng.below(self.project.identifiers.len())]
    }
}

fn camel(parts: &[String]) -> String {
    let mut name = String::new();
    for part in parts {
        let mut characters = part.chars();
        name.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(characters.as_str());
    }
    name
}
