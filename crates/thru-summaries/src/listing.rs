//! The listing of a folder of summaries: its index, and the link to the newest.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use thru_core::Timestamp;
use thru_journal::files;

use crate::index::{Index, Metadata, VERSION, json};
use crate::safely::{is_file, is_folder, is_name, names, read, remove, replace};
use crate::{Result, SummariesError};

pub(crate) const SUMMARY: &str = "summary.md";
pub(crate) const METADATA: &str = "metadata.json";
const INDEX: &str = "index.json";
const LATEST: &str = "latest";
/// Prefix of the names of unfinished files.
pub(crate) const UNFINISHED: &str = ".new-";

/// Rebuilds the index and the link to the newest, and changes it: one session from its files, the others from the old index
/// if it is valid; without a session, everything is read again. The caller holds the lock.
pub(crate) fn change(
    path: &Path,
    id: Option<&str>,
    max: usize,
    change: impl FnOnce(&mut Index),
) -> Result<()> {
    remove_unfinished(path)?;
    let known = match id {
        Some(id) => without_reading_all(path, id, max)?,
        None => None,
    };
    let summaries = known.map_or_else(|| summaries(path), Ok)?;
    let (last_loaded, removed) = (last_loaded(path), removed(path));
    let mut index = Index { summaries, last_loaded, removed, ..Index::default() };
    index.summaries.truncate(max);
    change(&mut index);
    let newest = index.summaries.first().map(|newest| newest.session_id.clone());
    replace(&path.join(INDEX), &json(&index))?;
    point(&path.join(LATEST), newest.as_deref())
}

/// Returns the index with one session read anew. Returns `None` if the index does not match the files: it
/// was damaged, or summaries were removed or added by hand.
fn without_reading_all(path: &Path, id: &str, max: usize) -> Result<Option<Vec<Metadata>>> {
    let Some(index) = read_index(path).filter(|index| index.version == VERSION) else {
        return Ok(None);
    };
    let was_full = index.summaries.len() >= max;
    let mut known = index.summaries;
    known.retain(|known| known.session_id != id);
    if !known.iter().all(|known| is_there(path, known)) {
        return Ok(None);
    }
    if is_folder(&path.join(id)).unwrap_or(false) {
        known.extend(of_session(&path.join(id), id)?);
    }
    sort(&mut known);
    // Summaries that a full index leaves out are older than all in it, and stay out as long as it is full.
    let is_whole = || -> Result<bool> {
        let mut listed: HashMap<&str, usize> = HashMap::new();
        for one in &known {
            *listed.entry(&one.session_id).or_default() += 1;
        }
        for name in names(path)?.iter().filter(|name| is_name(name) && *name != id) {
            let Some(listed) = listed.get(name.as_str()) else { return Ok(false) };
            let older = names(&path.join(name))?.iter().filter(|name| is_name(name)).count();
            if *listed != older + 1 {
                return Ok(false);
            }
        }
        Ok(true)
    };
    let holds = was_full && known.len() >= max || is_whole()?;
    Ok(holds.then_some(known))
}

/// Returns true if a summary of the index exists, at a path that we would have chosen.
fn is_there(path: &Path, about: &Metadata) -> bool {
    let id = &about.session_id;
    let below = about.summary_path.strip_prefix(id.as_str());
    let is_ours = is_name(id)
        && match below.and_then(|below| below.strip_prefix('/')) {
            Some(SUMMARY) => true,
            Some(older) => older
                .strip_suffix(SUMMARY)
                .and_then(|name| name.strip_suffix('/'))
                .is_some_and(is_name),
            None => false,
        };
    is_ours && is_file(&path.join(&about.summary_path)).unwrap_or(false)
}

/// Removes the oldest summaries of a session beyond the maximum. The caller holds the lock.
pub(crate) fn prune(session: &Path, max: usize) -> Result<()> {
    let mut older = names(session)?;
    older.retain(|name| is_time(name) && is_folder(&session.join(name)).unwrap_or(false));
    // The newest one is in the folder above them.
    let surplus = older.len().saturating_sub(max.saturating_sub(1));
    for name in older.drain(..surplus) {
        discard(session, &name)?;
    }
    Ok(())
}

/// Removes a folder with its content, in one step for readers: half of it must not be listed.
pub(crate) fn discard(folder: &Path, name: &str) -> Result<()> {
    let (found, gone) = (folder.join(name), folder.join(format!("{UNFINISHED}{name}")));
    remove(&gone)?;
    fs::rename(&found, &gone).map_err(|error| SummariesError::io(&found, error))?;
    remove(&gone)
}

/// The folder name of a moment. Names sort by time.
pub(crate) fn folder_name(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}

/// Returns true if a name is that of a moment.
fn is_time(name: &str) -> bool {
    let is_in_place = |(place, byte): (usize, u8)| match place {
        8 => byte == b'T',
        18 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    name.len() == 19 && name.bytes().enumerate().all(is_in_place)
}

/// Removes unfinished files of killed processes. The caller holds the lock.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<()> {
    for name in names(folder)? {
        let is_leftover = [SUMMARY, METADATA, INDEX, LATEST]
            .iter()
            .any(|own| name.strip_prefix(own).is_some_and(|rest| rest.starts_with(".tmp-")));
        if is_leftover || name.starts_with(UNFINISHED) {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Points a link at the newest; without links, a file with its name.
fn point(link: &Path, to: Option<&str>) -> Result<()> {
    match (fs::symlink_metadata(link), to) {
        (Ok(found), _) if found.is_dir() => {
            return Err(SummariesError::Refused(link.to_owned()));
        }
        (Ok(_), Some(to)) if fs::read_link(link).is_ok_and(|known| known == Path::new(to)) => {
            return Ok(());
        }
        (_, None) => return remove(link),
        _ => {}
    }
    let to = to.unwrap_or_default();
    let new = link.with_extension("tmp-link");
    remove(&new)?;
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(to, &new).and_then(|()| fs::rename(&new, link));
    #[cfg(not(unix))]
    let linked: std::io::Result<()> = Err(std::io::ErrorKind::Unsupported.into());
    if linked.is_ok() {
        return Ok(());
    }
    remove(&new)?;
    // A rename replaces a link too.
    Ok(files::replace(link, format!("{to}\n").as_bytes())?)
}

/// Returns all summaries, the newest first.
pub(crate) fn summaries(path: &Path) -> Result<Vec<Metadata>> {
    let mut all = Vec::new();
    for name in names(path)? {
        if is_name(&name) && is_folder(&path.join(&name)).unwrap_or(false) {
            all.extend(of_session(&path.join(&name), &name)?);
        }
    }
    sort(&mut all);
    Ok(all)
}

fn sort(all: &mut [Metadata]) {
    all.sort_by(|a, b| (b.timestamp, &a.session_id).cmp(&(a.timestamp, &b.session_id)));
}

/// Returns the summaries of a session.
pub(crate) fn of_session(session: &Path, id: &str) -> Result<Vec<Metadata>> {
    let mut found: Vec<Metadata> = metadata(session, id)?
        .map(|about| Metadata { summary_path: format!("{id}/{SUMMARY}"), ..about })
        .into_iter()
        .collect();
    for name in names(session)? {
        let folder = session.join(&name);
        if is_name(&name)
            && is_folder(&folder).unwrap_or(false)
            && let Some(about) = metadata(&folder, id)?
            // A killed process may have moved the newest aside without replacing it.
            && !found.iter().any(|known| known.event == about.event)
        {
            found.push(Metadata { summary_path: format!("{id}/{name}/{SUMMARY}"), ..about });
        }
    }
    Ok(found)
}

/// Reads the metadata of the summary in a folder; `None` if it is unreadable, or of another session.
pub(crate) fn metadata(folder: &Path, id: &str) -> Result<Option<Metadata>> {
    let text = match read(&folder.join(METADATA)) {
        Err(SummariesError::Refused(_)) => None,
        text => text?,
    };
    let about = text.and_then(|text| serde_json::from_str::<Metadata>(&text).ok());
    Ok(about.filter(|about| about.session_id == id))
}

/// Returns the session whose summary was last asked for.
pub(crate) fn last_loaded(path: &Path) -> Option<String> {
    read_index(path)?.last_loaded.filter(|id| is_name(id))
}

/// Returns the sessions whose summaries the user removed.
pub(crate) fn removed(path: &Path) -> BTreeMap<String, Timestamp> {
    read_index(path).map(|index| index.removed).unwrap_or_default()
}

fn read_index(path: &Path) -> Option<Index> {
    serde_json::from_str(&read(&path.join(INDEX)).ok().flatten()?).ok()
}
