//! Questions in other languages whose verb says what they ask for, in the English words that are read.

use thru_store::index::tokenizer::Language;

use crate::languages::{is_common, language_of};

/// The words of a question in another language, and the English question that it stands for.
struct Frame {
    language: Language,
    /// One word of each of these stands in the question.
    words: &'static [&'static [&'static str]],
    /// Words that say no more than the frame does.
    beside: &'static [&'static str],
    /// The English question, before its subject, and without one.
    english: (&'static str, &'static str),
}

/// All of them. The first that fits is taken.
#[rustfmt::skip]
const FRAMES: [Frame; 11] = [
    Frame {
        language: Language::German,
        words: &[&["entschieden", "beschlossen", "festgelegt", "vereinbart", "entscheidung", "entscheidungen"]],
        beside: &["wofür", "bezüglich", "wegen"],
        english: ("what did we decide about ", "decisions"),
    },
    Frame {
        language: Language::German,
        words: &[&["zuletzt"], &["wann"], &["geändert", "angefasst", "bearbeitet", "gearbeitet", "angerührt", "verändert"]],
        beside: &["daran", "woran"],
        english: ("when did we last change ", "when did we last change"),
    },
    Frame {
        language: Language::German,
        words: &[&["noch", "übrig"], &["tun", "offen", "fehlt", "erledigen", "machen", "übrig"]],
        beside: &["bleibt", "gilt"],
        english: ("what is still to do in ", "what is still to do"),
    },
    Frame {
        language: Language::French,
        words: &[&["décidé", "décision", "décisions", "convenu", "choisi"]],
        beside: &["propos", "concernant", "sujet"],
        english: ("what did we decide about ", "decisions"),
    },
    Frame {
        language: Language::French,
        words: &[&["reste", "restent"], &["faire", "ouvert", "terminer"]],
        beside: &[],
        english: ("what is still to do in ", "what is still to do"),
    },
    Frame {
        language: Language::French,
        words: &[&["comment"], &["lancer", "démarrer", "exécuter", "lance", "démarre"]],
        beside: &["peut", "peux"],
        english: ("how do I start ", "how do I start"),
    },
    Frame {
        language: Language::French,
        words: &[&["quand"], &["dernière", "dernièrement"], &["modifié", "changé", "touché", "travaillé"]],
        beside: &["fois"],
        english: ("when did we last change ", "when did we last change"),
    },
    Frame {
        language: Language::Spanish,
        words: &[&["decidimos", "decidido", "decidió", "decisión", "decisiones", "acordamos", "acordado"]],
        beside: &["hemos", "acerca", "respecto"],
        english: ("what did we decide about ", "decisions"),
    },
    Frame {
        language: Language::Spanish,
        words: &[&["queda", "quedan", "falta", "faltan"], &["hacer", "pendiente", "pendientes", "terminar"]],
        beside: &[],
        english: ("what is still to do in ", "what is still to do"),
    },
    Frame {
        language: Language::Spanish,
        words: &[&["cómo"], &["inicio", "inicia", "iniciar", "arranco", "arrancar", "ejecuto", "ejecutar", "lanzo", "lanzar"]],
        beside: &["puedo", "podemos"],
        english: ("how do I start ", "how do I start"),
    },
    Frame {
        language: Language::Spanish,
        words: &[&["cuándo"], &["última", "últimamente"], &["cambiamos", "modificamos", "tocamos", "trabajamos"]],
        beside: &["vez"],
        english: ("when did we last change ", "when did we last change"),
    },
];

/// Returns a question about decisions, open work or commands in English; `None` if it is in English, or asks for something else.
///
/// Its subject stays as it was written.
pub fn in_english(query: &str) -> Option<String> {
    let is_mark = |c: char| c.is_whitespace() || ",;:!?¿¡\"'’()".contains(c);
    let written: Vec<&str> = query
        .split(is_mark)
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .collect();
    let words: Vec<String> = written.iter().map(|word| word.to_lowercase()).collect();
    // "Reste-t-il" is three words.
    let parts: Vec<String> =
        words.iter().flat_map(|word| word.split('-')).map(str::to_owned).collect();
    let language = language_of(&parts)?;
    let has = |one: &&[&str]| parts.iter().any(|word| one.contains(&word.as_str()));
    let frame =
        FRAMES.iter().find(|frame| frame.language == language && frame.words.iter().all(has))?;
    let is_of_frame = |word: &str| {
        is_common(word, language)
            || frame.beside.contains(&word)
            || frame.words.iter().any(|words| words.contains(&word))
    };
    let subject: Vec<&str> = words
        .iter()
        .zip(&written)
        .filter(|(word, _)| !word.split('-').all(is_of_frame))
        .map(|(_, written)| *written)
        .collect();
    let (with, without) = frame.english;
    Some(if subject.is_empty() {
        without.to_owned()
    } else {
        format!("{with}{}", subject.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn questions_with_their_verb_at_the_end_are_read() {
        let read: Vec<String> = [
            "was haben wir zu MFA entschieden",
            "Was hatten wir zum Format der Ergebnisse beschlossen?",
            "wann haben wir die e2e tests zuletzt angefasst",
            "wann haben wir zuletzt src/main.rs geändert?",
            "Was ist noch zu tun?",
            "was ist bei rocket noch offen",
            "qu'avons-nous décidé pour le cache",
            "que reste-t-il à faire sur le cache",
            "comment je peux lancer le serveur",
            "¿Qué decidimos sobre el formato de los resultados?",
            "qué queda por hacer en rocket",
            "what did we decide about MFA",
            "warum schlug das umbenennen fehl",
        ]
        .iter()
        .map(|query| in_english(query).unwrap_or_else(|| "–".to_owned()))
        .collect();
        insta::assert_snapshot!(read.join("\n"), @r"
        what did we decide about MFA
        what did we decide about Format Ergebnisse
        when did we last change e2e tests
        when did we last change src/main.rs
        what is still to do
        what is still to do in rocket
        what did we decide about cache
        what is still to do in cache
        how do I start serveur
        what did we decide about formato resultados
        what is still to do in rocket
        –
        –
        ");
    }

    proptest! {
        #[test]
        fn any_text_is_read(query in "(\\PC|[\u{3000}\u{a0}]|was |wir |noch |entschieden ){0,40}") {
            in_english(&query);
        }
    }
}
