//! Recognises the remains of a private turn: records whose texts are all `[private]`.

/// The placeholder of a blanked text.
pub(crate) const BLANK: &str = "[private]";

/// True if `text` is empty or consists of placeholders only.
pub(crate) fn is_blank(text: &str) -> bool {
    let text = text.trim();
    text.is_empty()
        // Looking at the start first keeps this from searching through every long text.
        || text.starts_with(BLANK) && text.split(BLANK).all(|between| between.trim().is_empty())
}

/// Returns `text`, unless it is absent, empty or blanked.
pub(crate) fn spoken<T: AsRef<str>>(text: Option<T>) -> Option<T> {
    text.filter(|text| !is_blank(text.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blanks_are_blank() {
        assert!(is_blank("") && is_blank(" \n") && is_blank("[private]\n[private]"));
        assert!(!is_blank("say [private]"));
        assert_eq!(spoken(Some("x")), Some("x"));
        assert_eq!(spoken(Some("[private]")), None);
    }
}
