//! The folders of several models side by side.

use super::*;
use crate::StoreError;

#[test]
fn folders_say_what_they_hold() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(ModelFolder::all(&folder.path().join("none")).unwrap(), []);
    let path = folder.path().join("one");
    let mut writer = VectorWriter::open(&path, 16, "one").unwrap();
    assert_eq!(ModelFolder::at(folder.path(), "one").unwrap().dimensions, None);
    writer.add(texts([1], 16)).unwrap();
    writer.add(texts([2], 16)).unwrap();
    drop(writer);
    // A foreign file, or one with another header, does not decide for the others.
    fs::write(path.join("00000000.vectors"), "thruvecs").unwrap();
    fs::write(folder.path().join("a file"), "").unwrap();
    let found = ModelFolder::all(folder.path()).unwrap();
    let [one] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.model.as_str(), one.dimensions), ("one", Some(16)));
    assert!(one.bytes > 16 * 2, "{one:?}");
}

#[test]
fn a_folder_is_not_removed_while_it_is_being_written() {
    let folder = tempfile::tempdir().unwrap();
    let writer = VectorWriter::open(&folder.path().join("one"), 16, "one").unwrap();
    let one = || ModelFolder::at(folder.path(), "one").unwrap();
    assert!(matches!(one().remove(), Err(StoreError::Busy { .. })));
    drop(writer);
    one().remove().unwrap();
    assert_eq!(ModelFolder::all(folder.path()).unwrap(), []);
}
