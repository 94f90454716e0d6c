//! `throughline://session/{id}`, `throughline://memory/{id}`, `throughline://note/{id}`,
//! `throughline://project/{id}/context`.

use thru_core::percent_encoded;

/// The target of a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// A session, by the start of its id.
    Session(String),
    /// A memory or a passage, by the start of its id.
    Memory(String),
    /// The note of a session in the vault, by the start of its id.
    Note(String),
    /// The context of a session that starts in a project.
    Context(String),
}

const SCHEME: &str = "throughline://";

impl Named {
    /// Parses a URI.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let parts: Vec<&str> = uri.strip_prefix(SCHEME)?.split('/').collect();
        match parts[..] {
            ["session", id] => Some(Self::Session(decode(id)?)),
            ["memory", id] => Some(Self::Memory(decode(id)?)),
            ["note", id] => Some(Self::Note(decode(id)?)),
            ["project", id, "context"] => Some(Self::Context(decode(id)?)),
            _ => None,
        }
    }
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Session(id) => write!(f, "{SCHEME}session/{}", percent_encoded(id, b"")),
            Self::Memory(id) => write!(f, "{SCHEME}memory/{}", percent_encoded(id, b"")),
            Self::Note(id) => write!(f, "{SCHEME}note/{}", percent_encoded(id, b"")),
            Self::Context(project) => {
                write!(f, "{SCHEME}project/{}/context", percent_encoded(project, b""))
            }
        }
    }
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let (high, low) = (digit()?, digit()?);
        decoded.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(decoded).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_names_nothing_is_refused() {
        for uri in [
            "",
            "file:///etc/passwd",
            "throughline://session/",
            "throughline://memory/%zz",
            "throughline://session/a/b",
            "throughline://project/a",
            "throughline://memory/%",
        ] {
            assert_eq!(Named::parse(uri), None, "{uri}");
        }
        let context = Named::Context("github.com/ada/rocket".to_owned());
        assert_eq!(context.to_string(), "throughline://project/github.com%2Fada%2Frocket/context");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(text in ".{1,30}") {
            for named in [Named::Session(text.clone()), Named::Memory(text.clone()), Named::Note(text.clone()), Named::Context(text.clone())] {
                prop_assert_eq!(Named::parse(&named.to_string()), Some(named));
            }
        }
    }
}
