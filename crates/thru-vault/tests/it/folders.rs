//! Files of notes: whole or not at all, and no link followed.

use std::fs;
use std::time::{Duration, Instant};

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
    assert_eq!(folder.read("a/b/note.md").unwrap().unwrap().text, "two");
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

/// An editor saves its buffer again and again, in place and by renaming in turns, while we put a line of ours below what
/// is there. What the editor saved last is there in the end, and nobody ever reads a mixture.
fn saving_while_we_write(pause: Duration, time: Duration) -> u32 {
    let (dir, folder) = folder();
    let path = dir.path().join("note.md");
    folder.create("note.md", "save 0\n").unwrap();
    let began = Instant::now();
    let (last, written) = std::thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let mut number = 0_u32;
            while began.elapsed() < time {
                number += 1;
                let text = format!("save {number}\n");
                if number.is_multiple_of(2) {
                    fs::write(&path, text).unwrap();
                } else {
                    let other = dir.path().join("editor~");
                    fs::write(&other, text).unwrap();
                    fs::rename(&other, &path).unwrap();
                }
                std::thread::sleep(pause);
            }
            number
        });
        let mut written = 0;
        while !editor.is_finished() {
            let known = folder.read("note.md").unwrap().unwrap().text;
            // In place, a file is empty for a moment.
            let is_saved = |text: &str| {
                text.strip_prefix("save ").is_some_and(|rest| {
                    let number = rest.strip_suffix("ours\n").unwrap_or(rest).strip_suffix('\n');
                    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
                })
            };
            assert!(known.is_empty() || is_saved(&known), "{known:?}");
            if known.is_empty() || known.ends_with("ours\n") {
                continue;
            }
            let ours = format!("{known}ours\n");
            written += u32::from(matches!(
                folder.replace("note.md", &known, &ours, &mut |_| None),
                Ok(Some(_))
            ));
        }
        (editor.join().unwrap(), written)
    });
    let text = fs::read_to_string(&path).unwrap();
    let saved = format!("save {last}\n");
    assert!(text == saved || text == format!("{saved}ours\n"), "{text:?} after {saved:?}");
    assert!(folder.scan().unwrap().unfinished.is_empty());
    written
}

#[test]
fn saves_of_an_editor_and_ours_never_mix() {
    let time = Duration::from_millis(60);
    let written: u32 = (0..10).map(|_| saving_while_we_write(time / 60, time)).sum();
    assert!(written > 0, "the editor left no moment for ours");
}

#[test]
#[ignore = "takes a minute"]
fn saves_of_an_editor_and_ours_never_mix_for_a_minute() {
    let written = saving_while_we_write(Duration::from_millis(1), Duration::from_secs(60));
    assert!(written > 0, "the editor left no moment for ours");
}

/// Tags of file managers, and who may read a note.
#[cfg(target_os = "linux")]
#[test]
fn what_a_file_has_beside_its_content_stays() {
    use std::os::unix::fs::PermissionsExt as _;

    let (dir, folder) = folder();
    folder.create("note.md", "one").unwrap();
    let path = dir.path().join("note.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, "user.xdg.tags", b"work", flags).is_err() {
        eprintln!("skipped: this file system has no extended attributes");
        return;
    }
    folder.replace("note.md", "one", "two", &mut |_| None).unwrap().unwrap();
    let mut tags = [0; 16];
    let length = rustix::fs::getxattr(&path, "user.xdg.tags", &mut tags).unwrap();
    assert_eq!(tags.get(..length).unwrap(), b"work");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
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
    // Killed while a note was removed: one that is known goes, and any other comes back.
    let path = dir.path().join(".gone.md.thru-removed-1-1");
    fs::write(&path, "known").unwrap();
    folder.clear_up(&path, |_| true).unwrap();
    assert!(!path.exists() && !dir.path().join("gone.md").exists());
    fs::write(&path, "a person's").unwrap();
    folder.clear_up(&path, |_| false).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("gone.md")).unwrap(), "a person's");
    assert!(!path.exists());
}
