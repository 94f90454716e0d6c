//! Proof by type that a value went through the redactor.

use schemars::JsonSchema;
use serde::Serialize;

/// A value that went through the [`Redactor`](crate::Redactor).
///
/// There is no public constructor. Values derived from a clean value, or composed of clean values, are
/// clean too: see [`Clean::derive`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Clean<T: ?Sized>(T);

impl<T> Clean<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value without its proof. The type no longer tracks its use.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Returns a value made from this one alone: a part, a rearrangement, a parse of it. The function
    /// must not bring in text from elsewhere.
    pub fn derive<U>(&self, function: impl FnOnce(&T) -> U) -> Clean<U> {
        Clean(function(&self.0))
    }

    /// As [`Clean::derive`], consuming the value.
    pub fn map<U>(self, function: impl FnOnce(T) -> U) -> Clean<U> {
        Clean(function(self.0))
    }
}

impl<T: ?Sized> Clean<T> {
    /// Returns a reference to the value.
    pub const fn get(&self) -> &T {
        &self.0
    }
}

impl<T: AsRef<str>> AsRef<str> for Clean<T> {
    fn as_ref(&self) -> &str {
        self.0.as_ref()
    }
}

impl<T> Clean<T> {
    /// Collects clean values: a collection of clean parts is clean.
    pub fn gather<'t>(parts: impl IntoIterator<Item = &'t Self>) -> Clean<Vec<&'t T>>
    where
        T: 't,
    {
        Clean(parts.into_iter().map(|part| &part.0).collect())
    }
}

impl Clean<Vec<u8>> {
    /// Concatenates clean pieces, each followed by `end`.
    pub fn join(pieces: &[Self], end: u8) -> Self {
        let mut joined = Vec::with_capacity(pieces.iter().map(|piece| piece.0.len() + 1).sum());
        for piece in pieces {
            joined.extend_from_slice(&piece.0);
            joined.push(end);
        }
        Self(joined)
    }
}
