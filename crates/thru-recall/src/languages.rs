//! The common words of languages beside English: a query loses them, and shows its language by them.

use thru_store::index::tokenizer::Language;

use crate::query::is_stop_word;

/// Fewest common words of a language that a query in it has.
const FEWEST: usize = 2;

/// Returns the language of a query (its words, in lower case), if it is not English but one whose words are known.
pub(crate) fn language_of(words: &[String]) -> Option<Language> {
    let counted = LANGUAGES.iter().map(|(language, common)| (Count::of(words, common), *language));
    // Of equal ones the first.
    let best = counted.reduce(|best, next| if next.0.own > best.0.own { next } else { best });
    best.filter(|(count, _)| count.is_enough()).map(|(_, language)| language)
}

/// The words of a query that tell its language.
#[derive(Clone, Copy, Default)]
struct Count {
    /// Common words of the language, and those of them that are no English words.
    own: usize,
    clear: usize,
    /// Common words of English, and those that the language has, too.
    english: usize,
    shared: usize,
}

impl Count {
    fn of(words: &[String], common: &[&str]) -> Self {
        let mut count = Self::default();
        for word in words.iter().map(String::as_str) {
            match (common.contains(&word), is_stop_word(word)) {
                (true, true) => count.shared += 1,
                (true, false) => {
                    count.own += 1;
                    count.clear += usize::from(!ALSO_ENGLISH.contains(&word));
                }
                (false, true) => count.english += 1,
                (false, false) => {}
            }
        }
        count
    }

    fn is_enough(self) -> bool {
        let is_clear = self.clear >= FEWEST && self.own > self.english;
        is_clear || self.own >= FEWEST && self.own > self.english + self.shared
    }
}

/// Common words of other languages that are English words, too.
const ALSO_ENGLISH: [&str; 14] = [
    "ante", "bin", "come", "comment", "den", "die", "hat", "man", "par", "per", "plus", "pour",
    "son", "war",
];

/// Returns true if a word (in lower case) of a language says nothing about the subject of a query.
pub(crate) fn is_common(word: &str, language: Language) -> bool {
    let mut known = LANGUAGES.iter();
    known.any(|(one, common)| *one == language && common.contains(&word))
}

/// Each language with its common words.
#[rustfmt::skip]
const LANGUAGES: [(Language, &[&str]); 6] = [
    (Language::German, &[
        "ab", "aber", "alle", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bin", "bis", "bist", "da",
        "damit", "dann", "das", "dass", "dein", "dem", "den", "denn", "der", "des", "dich", "die", "dies", "diese",
        "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort", "du", "durch", "ein", "eine", "einem", "einen",
        "einer", "eines", "er", "es", "etwas", "für", "gab", "gegen", "gehen", "geht", "gibt", "habe", "haben", "hat",
        "hatte", "hatten", "hier", "ich", "ihm", "ihn", "ihr", "ihre", "im", "in", "ist", "ja", "jede", "jeder",
        "jedes", "jetzt", "kann", "kein", "keine", "können", "könnte", "man", "mehr", "mein", "mich", "mir", "mit",
        "muss", "müssen", "nach", "nicht", "noch", "nun", "nur", "ob", "oder", "ohne", "schon", "sehr", "sein",
        "seine", "seit", "sich", "sie", "sind", "so", "soll", "sollen", "sollte", "stattdessen", "um", "und", "uns",
        "unser", "unsere", "unter", "vom", "von", "vor", "wann", "war", "waren", "warum", "was", "weil", "welche",
        "welchem", "welchen", "welcher", "welches", "wenn", "wer", "werden", "wie", "wieder", "wieso", "wir", "wird",
        "wo", "wobei", "wodurch", "wofür", "wogegen", "woher", "wohin", "womit", "wonach", "woran", "worauf", "woraus",
        "worin", "worum", "wovon", "wozu", "wurde", "wurden", "zu", "zum", "zur", "über",
    ]),
    (Language::French, &[
        "a", "ai", "alors", "au", "aussi", "aux", "avec", "avoir", "avons", "ce", "cela", "ces", "cet", "cette",
        "ceux", "chaque", "chez", "ci", "comme", "comment", "d", "dans", "de", "des", "donc", "dont", "du", "elle",
        "elles", "en", "encore", "est", "et", "eu", "faire", "fait", "faut", "fut", "il", "ils", "j", "jamais", "je",
        "l", "la", "le", "les", "leur", "leurs", "lors", "lui", "là", "ma", "mais", "me", "mes", "moi", "mon", "même",
        "n", "ne", "nos", "notre", "nous", "on", "ont", "ou", "où", "par", "pas", "peu", "peut", "plus", "pour",
        "pourquoi", "qu", "quand", "que", "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa", "sans",
        "se", "sera", "ses", "si", "son", "sont", "sous", "sur", "t", "ta", "te", "tes", "toi", "ton", "tous", "tout",
        "toute", "toutes", "tu", "un", "une", "vers", "vos", "votre", "vous", "y", "à", "été", "être",
    ]),
    (Language::Spanish, &[
        "a", "al", "algo", "ante", "antes", "aquí", "así", "aunque", "cada", "como", "con", "contra", "cual",
        "cuando", "cuál", "cuáles", "cuándo", "cómo", "de", "del", "desde", "donde", "dos", "dónde", "el", "ella",
        "ellas", "ellos", "en", "entre", "era", "eran", "es", "esa", "ese", "eso", "esta", "estaba", "estaban",
        "este", "esto", "está", "están", "fue", "fueron", "ha", "haber", "había", "han", "hasta", "hay", "la", "las",
        "le", "les", "lo", "los", "me", "mi", "mis", "mucho", "muy", "más", "ni", "no", "nos", "nosotros", "nuestra",
        "nuestras", "nuestro", "nuestros", "o", "otra", "otro", "para", "pero", "por", "porque", "pues", "que",
        "quién", "quiénes", "qué", "se", "ser", "si", "sin", "sobre", "son", "su", "sus", "sí", "también", "te",
        "tiene", "todo", "todos", "tu", "tus", "un", "una", "unas", "uno", "unos", "y", "ya", "yo", "él",
    ]),
    (Language::Italian, &[
        "a", "abbiamo", "ai", "al", "alla", "alle", "allo", "anche", "avere", "c", "che", "chi", "ci", "come", "con",
        "cosa", "così", "cui", "da", "dal", "dalla", "dalle", "dallo", "degli", "dei", "del", "della", "delle",
        "dello", "di", "dopo", "dove", "e", "ed", "era", "erano", "essere", "fare", "fatto", "fra", "gli", "ha",
        "hanno", "ho", "i", "il", "in", "io", "l", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "mi", "mia",
        "mio", "nei", "nel", "nella", "nelle", "nello", "noi", "non", "nostra", "nostro", "o", "ogni", "per",
        "perché", "più", "poi", "può", "qual", "quale", "quali", "quando", "quanto", "quella", "quello", "questa",
        "queste", "questi", "questo", "qui", "quindi", "se", "sei", "senza", "si", "sia", "sono", "stata", "stato",
        "su", "sua", "sui", "sul", "sulla", "suo", "sì", "ti", "tra", "tu", "tutti", "tutto", "un", "una", "uno", "è",
    ]),
    (Language::Portuguese, &[
        "a", "ainda", "ao", "aos", "as", "assim", "até", "cada", "com", "como", "da", "das", "de", "dela", "dele",
        "depois", "desde", "do", "dos", "e", "ela", "elas", "ele", "eles", "em", "entre", "era", "eram", "essa",
        "esse", "esta", "estava", "este", "está", "estão", "eu", "fazer", "foi", "fomos", "foram", "há", "isso",
        "isto", "já", "lhe", "mais", "mas", "me", "mesmo", "meu", "minha", "muito", "na", "nas", "nem", "no", "nos",
        "nossa", "nossas", "nosso", "nossos", "não", "nós", "o", "onde", "os", "ou", "para", "pela", "pelo", "por",
        "porque", "porquê", "quais", "qual", "quando", "quanto", "que", "quem", "se", "sem", "ser", "seu", "sua",
        "são", "só", "também", "te", "tem", "temos", "tinha", "um", "uma", "você", "à", "às", "é",
    ]),
    (Language::Dutch, &[
        "aan", "al", "alle", "als", "ben", "bij", "daar", "dan", "dat", "de", "deze", "die", "dit", "doen", "door",
        "dus", "een", "en", "er", "geen", "had", "hadden", "heb", "hebben", "heeft", "hem", "het", "hier", "hij",
        "hoe", "hun", "ik", "in", "is", "je", "kan", "kon", "kunnen", "maar", "me", "meer", "met", "mijn", "moet",
        "moeten", "na", "naar", "niet", "nog", "nu", "of", "om", "omdat", "ons", "onze", "ook", "op", "over", "te",
        "tot", "uit", "van", "veel", "voor", "waar", "waarom", "wanneer", "waren", "was", "wat", "we", "weer", "welk",
        "welke", "werd", "werden", "wie", "wij", "worden", "wordt", "zal", "ze", "zelf", "zich", "zij", "zijn", "zo",
        "zonder", "zou", "zouden",
    ]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_shows_its_language_by_common_words() {
        let read = |query: &str| {
            let words: Vec<String> =
                query.to_lowercase().split_whitespace().map(str::to_owned).collect();
            language_of(&words)
        };
        for (query, language) in [
            ("warum schlug das umbenennen auf dem laufwerk fehl", Some(Language::German)),
            ("pourquoi le renommage a échoué sur le partage", Some(Language::French)),
            ("por qué falló el cambio de nombre en el disco", Some(Language::Spanish)),
            ("perché la rinomina non è riuscita sul disco", Some(Language::Italian)),
            ("por que não foi possível renomear a pasta", Some(Language::Portuguese)),
            ("waarom is de map niet hernoemd", Some(Language::Dutch)),
            ("warum war der index in use", Some(Language::German)),
            ("why was the rename on the drive in use", None),
            ("der lock", None),
            ("an die in de man page", None),
        ] {
            assert_eq!(read(query), language, "{query}");
        }
    }
}
