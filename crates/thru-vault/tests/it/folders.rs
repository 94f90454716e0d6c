//! Files of notes: whole or not at all, and no link followed.

use std::fs;

use thru_vault::{Folder, VaultError};

fn folder() -> (tempfile::TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::new(dir.path());
    (dir, folder)
}

#[test]
fn a_note_is_made_read_replaced_and_removed() {
    let (dir, folder) = folder();
    folder.create("a/b/note.md", "one").unwrap();
    assert!(matches!(folder.create("a/b/note.md", "two"), Err(VaultError::Exists(_))));
    let (text, stamp) =
        folder.replace("a/b/note.md", "one", "two", &mut |_| None).unwrap().unwrap();
    assert_eq!(text, "two");
    let scan = folder.scan().unwrap();
    assert_eq!((scan.notes.len(), scan.notes[0].path.as_str()), (1, "a/b/note.md"));
    assert_eq!(scan.notes[0].stamp, stamp);
    assert_eq!(
        fs::read_dir(dir.path().join("a/b")).unwrap().count(),
        1,
        "nothing is left beside it"
    );
    assert!(folder.remove("a/b/note.md", "other").is_err());
    folder.remove("a/b/note.md", "two").unwrap();
    assert_eq!(folder.read("a/b/note.md").unwrap(), None);
}

#[test]
fn a_write_of_another_program_is_never_lost() {
    let (dir, folder) = folder();
    folder.create("note.md", "known").unwrap();
    fs::write(dir.path().join("note.md"), "edited meanwhile").unwrap();
    let left = folder.replace("note.md", "known", "ours", &mut |_| None).unwrap();
    assert_eq!(left, None);
    assert_eq!(fs::read_to_string(dir.path().join("note.md")).unwrap(), "edited meanwhile");
    let merged =
        folder.replace("note.md", "known", "ours", &mut |disk| Some(format!("{disk}, merged")));
    assert_eq!(merged.unwrap().unwrap().0, "edited meanwhile, merged");
}

/// An editor saves as fast as it can while we write.
#[test]
fn saves_of_an_editor_and_ours_never_mix() {
    let (dir, folder) = folder();
    let path = dir.path().join("note.md");
    folder.create("note.md", "start\n").unwrap();
    std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            for number in 0..300 {
                let text = fs::read_to_string(&path).unwrap();
                let other = dir.path().join("editor~");
                fs::write(&other, format!("{text}editor {number}\n")).unwrap();
                if fs::read_to_string(&path).unwrap() == text {
                    fs::rename(&other, &path).unwrap();
                }
            }
        });
        while !editor.is_finished() {
            let known = folder.read("note.md").unwrap().unwrap().text;
            let _ = folder.replace("note.md", &known, &format!("{known}ours\n"), &mut |_| None);
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.starts_with("start\n") && text.ends_with('\n'));
        }
    });
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let (dir, folder) = folder();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("linked")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.md"), dir.path().join("file.md"))
        .unwrap();
    assert!(folder.scan().unwrap().notes.is_empty());
    for path in ["linked/secret.md", "file.md", "../x.md", "linked/new.md"] {
        assert!(folder.read(path).is_err(), "{path}");
        assert!(folder.create(path, "x").is_err(), "{path}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    fs::write(dir.path().join("a.md"), "a").unwrap();
    fs::hard_link(dir.path().join("a.md"), dir.path().join("b")).unwrap();
    let linked = folder.replace("a.md", "a", "b", &mut |_| None);
    assert!(matches!(linked, Err(VaultError::Linked(_))));
}

#[test]
fn leftovers_of_killed_processes_go_and_lost_edits_come_back() {
    let (dir, folder) = folder();
    folder.create("note.md", "ours").unwrap();
    let hash = thru_core::content_hash(b"ours");
    let leftover = |text: &str, hash: &thru_core::Id| {
        let path = dir.path().join(format!(".note.md.thru-{hash}-1-1"));
        fs::write(&path, text).unwrap();
        path
    };
    // Not exchanged yet: half of what we were writing.
    let path = leftover("half", &thru_core::content_hash(b"half of it"));
    assert_eq!(folder.scan().unwrap().unfinished, std::slice::from_ref(&path));
    assert_eq!(folder.clear_up(&path, |_| false).unwrap(), None);
    // Exchanged: a version that is known goes, …
    let path = leftover("known", &hash);
    assert_eq!(folder.clear_up(&path, |_| true).unwrap(), None);
    assert!(!path.exists());
    // … and one that is not is what a person wrote at that moment.
    let path = leftover("a person's", &hash);
    let kept = folder.clear_up(&path, |_| false).unwrap().unwrap();
    assert_eq!(fs::read_to_string(kept).unwrap(), "a person's");
}
