//! Pages of lists: a cursor says where the next one begins, whatever comes or goes in between.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::trouble::{Result, Trouble};

/// Cuts a list that was read with one entry more than a page has, and returns the cursor of what follows: the place of the
/// last entry in the order of the list, as text that clients hand back unread.
pub(super) fn cut<T, P: Serialize>(
    entries: &mut Vec<T>,
    limit: usize,
    place: impl Fn(&T) -> P,
) -> Result<Option<String>> {
    if entries.len() <= limit {
        return Ok(None);
    }
    entries.truncate(limit);
    let place = entries.last().map(|last| serde_json::to_vec(&place(last))).transpose()?;
    Ok(place.map(|place| place.iter().map(|byte| format!("{byte:02x}")).collect()))
}

/// Leaves out the entries up to the one with this id: those of the pages before.
pub(super) fn behind<T>(
    all: impl Iterator<Item = T>,
    id: Option<&str>,
    id_of: impl Fn(&T) -> String,
) -> impl Iterator<Item = T> {
    let is_before = move |one: &T| id.is_some_and(|id| id_of(one) != id);
    all.skip_while(is_before).skip(usize::from(id.is_some()))
}

/// Reads the place that a cursor stands for.
///
/// # Errors
/// Fails if it is no cursor of such a list.
pub(super) fn place<P: DeserializeOwned>(cursor: Option<&str>) -> Result<Option<P>> {
    let Some(cursor) = cursor else { return Ok(None) };
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = cursor.as_bytes().chunks(2).map(byte).collect();
    let place = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    place.ok_or_else(|| Trouble::invalid("that is no cursor of this list")).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_back_to_the_last_entry_of_a_page() {
        let mut entries = vec![7, 8, 9];
        assert_eq!(cut(&mut entries, 3, |one| *one).unwrap(), None);
        let cursor = cut(&mut entries, 2, |one| (*one, "ü")).unwrap();
        assert_eq!(entries, [7, 8]);
        let place: Option<(i32, String)> = place(cursor.as_deref()).unwrap();
        assert_eq!(place, Some((8, "ü".to_owned())));
        assert_eq!(super::place::<i32>(None).unwrap(), None);
        for wrong in ["", "5", "5b3", "zz", "-1", "ü", "5b5d"] {
            assert!(super::place::<(i32, String)>(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
