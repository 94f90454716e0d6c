//! Draws made-up secrets from the labelled lists. Contains no tests.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

/// A small random number generator, so that every run draws the same.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap()
    }

    fn characters(&mut self, set: &str, count: usize) -> String {
        const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
        let capitals = SMALL.to_uppercase();
        let digits = "0123456789";
        let set: Vec<char> = match set {
            "62" => format!("{SMALL}{capitals}{digits}"),
            "64" => format!("{SMALL}{capitals}{digits}-_"),
            "b64" => format!("{SMALL}{capitals}{digits}+/"),
            "hex" => format!("abcdef{digits}"),
            "HEX" => format!("ABCDEF{digits}"),
            "36" => format!("{SMALL}{digits}"),
            "U" => format!("{capitals}{digits}"),
            "32" => format!("{capitals}234567"),
            "d" => digits.to_owned(),
            other => panic!("no such set: {other}"),
        }
        .chars()
        .collect();
        // The ends are letters or digits: a mark there could belong to the surroundings.
        let plain: Vec<char> = set.iter().copied().filter(char::is_ascii_alphanumeric).collect();
        (0..count)
            .map(|at| {
                let set = if at == 0 || at + 1 == count { &plain } else { &set };
                set[self.next() % set.len()]
            })
            .collect()
    }
}

/// Replaces `{SET:N}` by drawn characters, and `\n` and `\t` by what they stand for.
pub(crate) fn expand(template: &str, draw: &mut Draw) -> String {
    let template = template.replace(r"\\n", "\u{1}").replace(r"\n", "\n").replace(r"\t", "\t");
    let template = template.replace('\u{1}', r"\n");
    let mut text = String::new();
    let mut rest = template.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let drawn = after.split_once('}').and_then(|(inside, rest)| {
            let (set, count) = inside.split_once(':')?;
            if set.is_empty() && count.is_empty() {
                return Some((String::new(), rest));
            }
            // A literal brace of the text.
            if !set.chars().all(char::is_alphanumeric) {
                return None;
            }
            let count = count.parse().ok()?;
            Some((draw.characters(set, count), rest))
        });
        match drawn {
            Some((drawn, after)) => {
                text.push_str(&drawn);
                rest = after;
            }
            None => {
                text.push('{');
                rest = after;
            }
        }
    }
    text + rest
}

/// Returns the entries of a list.
pub(crate) fn entries(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter(|line| !line.is_empty() && !line.starts_with("# "))
}
