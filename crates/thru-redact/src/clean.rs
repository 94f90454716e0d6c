//! Proof by type that a value went through the redactor.

/// A value that went through the [`Redactor`](crate::Redactor).
///
/// There is no public constructor. What is taken out of a clean value, or put together from clean
/// values, is clean too: see [`Clean::derive`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Clean<T: ?Sized>(T);

impl<T> Clean<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, for good. What is done with it afterwards is no longer watched by the type.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Something made from this value alone: a part of it, a rearrangement, a parse of it. The
    /// function must not bring in text from elsewhere.
    pub fn derive<U>(&self, function: impl FnOnce(&T) -> U) -> Clean<U> {
        Clean(function(&self.0))
    }

    /// As [`Clean::derive`], taking the value.
    pub fn map<U>(self, function: impl FnOnce(T) -> U) -> Clean<U> {
        Clean(function(self.0))
    }
}

impl<T: ?Sized> Clean<T> {
    /// The value, to look at.
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
    /// Clean values together: a whole of clean parts is clean.
    pub fn gather<'t>(parts: impl IntoIterator<Item = &'t Self>) -> Clean<Vec<&'t T>>
    where
        T: 't,
    {
        Clean(parts.into_iter().map(|part| &part.0).collect())
    }
}

impl Clean<Vec<u8>> {
    /// Clean pieces, each followed by `end`, in one piece.
    pub fn join(pieces: &[Self], end: u8) -> Self {
        let mut joined = Vec::with_capacity(pieces.iter().map(|piece| piece.0.len() + 1).sum());
        for piece in pieces {
            joined.extend_from_slice(&piece.0);
            joined.push(end);
        }
        Self(joined)
    }
}
