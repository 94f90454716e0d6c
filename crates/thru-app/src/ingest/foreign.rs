//! Importing the memories of other programs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thru_core::{
    ForeignName, ForeignSource, Id, ObservationType, ProjectKey, TITLE_LENGTH, one_line,
};
use thru_foreign::{ForeignMemories, ForeignMemory, Holds};
use thru_intake::{ImportedMemory, Intake, IntakeLock, Operation};
use thru_redact::Redactor;
use thru_store::{ProjectName, SessionFilter, Store};

use crate::answer;
use crate::app::App;
use crate::ask::ProjectScope;
use crate::call::Call;
use crate::keep::remember::{self, ScopedProject, title_and_text};
use crate::trouble::{Result, Trouble};
use crate::words::printable;

/// The folder of claude-mem in a home directory, and its database there.
const CLAUDE_MEM: (&str, &str) = (".claude-mem", "claude-mem.db");
/// The variable that says where claude-mem keeps its data.
const CLAUDE_MEM_VARIABLE: &str = "CLAUDE_MEM_DATA_DIR";

/// A request to import memories of another program.
#[derive(Clone, Debug)]
pub struct ImportForeign {
    /// The program.
    pub source: ForeignSource,
    /// Its files. Without any, the usual ones.
    pub paths: Vec<PathBuf>,
    /// The projects in which the memories hold. If not given: the projects that claude-mem names, every project for notes
    /// of basic-memory, the caller's for other notes.
    pub scope: Option<ProjectScope>,
}

/// The plan of an import, or its result. Its numbers are of things as the other program counts them, but for the memories.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(tag = "kind", rename = "foreign-import")]
pub struct ForeignPlan {
    version: u32,
    /// The program.
    pub from: Option<ForeignSource>,
    /// Its files.
    pub paths: Vec<PathBuf>,
    /// Observations.
    pub observations: u64,
    /// Summaries of sessions.
    pub summaries: u64,
    /// Prompts that come, …
    pub prompts: u64,
    /// … of so many sessions, …
    pub sessions: u64,
    /// … and those that are here already, in the transcripts of their sessions.
    pub prompts_here: u64,
    /// Notes, and parts of long ones.
    pub notes: u64,
    /// Rows and files without text.
    pub empty: u64,
    /// Memories that are wholly private.
    pub private: u64,
    /// Memories that are new.
    pub new: u64,
    /// Memories that changed there since they were imported.
    pub changed: u64,
    /// Memories that are here already.
    pub known: u64,
    /// Memories that were forgotten here.
    pub forgotten: u64,
    /// Projects that only the other program knows.
    pub unknown_projects: BTreeSet<String>,
    /// Files that could not be read, and why.
    pub problems: Vec<(PathBuf, String)>,
}

impl ForeignPlan {
    /// The number of memories that an import brings.
    pub const fn coming(&self) -> u64 {
        self.new + self.changed
    }
}

/// Memories that were read, and not imported yet.
pub struct PlannedForeign {
    intake: Intake,
    lock: Option<IntakeLock>,
    /// The operations that the memories' project begins with.
    placing: Vec<Operation>,
    memories: Vec<ImportedMemory>,
    /// The plan.
    pub plan: ForeignPlan,
}

/// Reads the memories of another program, and compares them with those that are here.
///
/// # Errors
/// Fails if there is nothing at a path or it cannot be read, if there is no such project, and if the store cannot be read.
pub fn plan(app: &App, request: &ImportForeign) -> Result<PlannedForeign> {
    let paths = paths(app, request)?;
    let intake = app.intake()?;
    let store = Store::open_if_there(&app.layout)?;
    let mut plan = ForeignPlan {
        version: answer::VERSION,
        from: Some(request.source),
        ..ForeignPlan::default()
    };
    let mut found = ForeignMemories::default();
    for path in &paths {
        let read = read(request.source, path)?;
        found.memories.extend(read.memories);
        found.problems.extend(read.problems);
        found.empty += read.empty;
    }
    (plan.paths, plan.empty, plan.problems) = (paths, found.empty, found.problems);
    let projects = Projects::new(app, request, store.as_ref(), &found.memories)?;
    let known = store.as_ref().map(Store::imported).transpose()?.unwrap_or_default();
    let decided = store.as_ref().map(Store::memory_decisions).transpose()?.unwrap_or_default();
    let redactor = Redactor::builtin();
    let mut memories = Vec::new();
    for memory in found.memories {
        if projects.holds_prompts_of(&memory, &mut plan) {
            continue;
        }
        count(&memory, &mut plan);
        let project = projects.of(&memory, &mut plan);
        let imported = imported(request.source, memory, project);
        let is_private = |text: &str| redactor.is_wholly_private(text);
        if is_private(&imported.title)
            || imported.facts.is_empty() && imported.text.as_deref().is_some_and(is_private)
        {
            plan.private += 1;
            continue;
        }
        match known.get(&imported.memory) {
            _ if decided.get(&imported.memory).is_some_and(|one| one.forgotten) => {
                plan.forgotten += 1;
                continue;
            }
            Some(content) if *content == imported.content => {
                plan.known += 1;
                continue;
            }
            Some(_) => plan.changed += 1,
            None => plan.new += 1,
        }
        memories.push(imported);
    }
    let placing = match projects {
        Projects::Chosen(Some(scoped)) => scoped.placing(),
        Projects::Chosen(None) | Projects::Named { .. } => Vec::new(),
    };
    Ok(PlannedForeign { intake, lock: None, placing, memories, plan })
}

/// As [`plan`], and keeps other processes from writing until the memories are imported.
///
/// # Errors
/// As [`plan`], and if another process keeps writing, or the call is cancelled.
pub fn plan_locked(app: &App, request: &ImportForeign, call: Call<'_>) -> Result<PlannedForeign> {
    let lock = call.lock(&app.intake()?)?;
    Ok(PlannedForeign { lock: Some(lock), ..plan(app, request)? })
}

impl PlannedForeign {
    /// Imports the memories.
    ///
    /// # Errors
    /// Fails if journal or store cannot be written.
    pub fn import(self, call: Call<'_>) -> Result<ForeignPlan> {
        let lock = match self.lock {
            Some(lock) => lock,
            None => call.lock(&self.intake)?,
        };
        if !self.memories.is_empty() {
            self.intake.record(&self.placing)?;
            self.intake.import_memories(&lock, self.memories)?;
        }
        Ok(self.plan)
    }
}

/// The files to read.
fn paths(app: &App, request: &ImportForeign) -> Result<Vec<PathBuf>> {
    let absolute = |path: &PathBuf| app.directory.join(path);
    let given: Vec<PathBuf> = request.paths.iter().map(absolute).collect();
    let is_default = given.is_empty();
    let paths = match (request.source, is_default) {
        (ForeignSource::ClaudeMem, true) => vec![claude_mem_folder(app)?],
        (ForeignSource::BasicMemory, true) => thru_foreign::basic_memory_folders(home(app)?),
        (ForeignSource::Markdown, true) => {
            return Err(Trouble::invalid("no folder of notes is named")
                .run("import --from markdown docs/decisions", "names one"));
        }
        (_, false) => given,
    };
    if let Some(path) = paths.iter().find(|path| !path.exists()) {
        let message = format!("no {} data found at {}", request.source, path.display());
        return Err(match is_default {
            true => Trouble::not_found(message)
                .run(format!("import --from {} PATH", request.source), "names the place"),
            false => Trouble::not_found(message).advise("check the path"),
        });
    }
    // A note is known by its path, however that was written.
    Ok(paths.into_iter().map(|path| path.canonicalize().unwrap_or(path)).collect())
}

fn home(app: &App) -> Result<&Path> {
    app.home.as_deref().ok_or_else(|| Trouble::not_found("there is no home directory"))
}

fn claude_mem_folder(app: &App) -> Result<PathBuf> {
    match app.machine.variable(CLAUDE_MEM_VARIABLE) {
        Some(folder) => Ok(PathBuf::from(folder)),
        None => Ok(home(app)?.join(CLAUDE_MEM.0)),
    }
}

fn read(source: ForeignSource, path: &Path) -> Result<ForeignMemories> {
    match source {
        ForeignSource::ClaudeMem => {
            let file = if path.is_dir() { path.join(CLAUDE_MEM.1) } else { path.to_owned() };
            Ok(thru_foreign::read_claude_mem(&file)?)
        }
        ForeignSource::BasicMemory | ForeignSource::Markdown => {
            Ok(thru_foreign::read_markdown(source, path))
        }
    }
}

fn count(memory: &ForeignMemory, plan: &mut ForeignPlan) {
    match memory.holds {
        Holds::Observation => plan.observations += 1,
        Holds::Summary => plan.summaries += 1,
        Holds::Prompts(prompts) => {
            plan.prompts += prompts;
            plan.sessions += 1;
        }
        Holds::Note => plan.notes += 1,
    }
}

/// The projects that memories belong to.
enum Projects {
    /// One, or every project.
    Chosen(Option<ScopedProject>),
    /// Those that the other program names.
    Named {
        source: ForeignSource,
        /// Sessions that are here, with their projects.
        sessions: HashMap<String, Option<ProjectKey>>,
        /// Projects by the names that the other program gives them.
        names: HashMap<String, ProjectKey>,
    },
}

impl Projects {
    fn new(
        app: &App,
        request: &ImportForeign,
        store: Option<&Store>,
        memories: &[ForeignMemory],
    ) -> Result<Self> {
        let usual = match request.source {
            ForeignSource::ClaudeMem => None,
            ForeignSource::BasicMemory => Some(ProjectScope::Everywhere),
            ForeignSource::Markdown => Some(ProjectScope::Here),
        };
        if let Some(scope) = request.scope.clone().or(usual) {
            return Ok(Self::Chosen(remember::project(app, &scope)?));
        }
        let projects = store.map(Store::project_names).transpose()?.unwrap_or_default();
        let sessions = sessions(store, &projects)?;
        let names = names(&projects, &sessions, memories);
        Ok(Self::Named { source: request.source, sessions, names })
    }

    /// Returns the project of a memory, noting one that is not known here.
    fn of(&self, memory: &ForeignMemory, plan: &mut ForeignPlan) -> Option<ProjectKey> {
        let (source, sessions, names) = match self {
            Self::Chosen(scoped) => return scoped.as_ref().map(|scoped| scoped.key.clone()),
            Self::Named { source, sessions, names } => (*source, sessions, names),
        };
        let session = memory.session.as_ref().and_then(|session| sessions.get(session));
        let known = session.cloned().flatten();
        known.or_else(|| {
            let name = memory.project.as_ref()?;
            names.get(name).cloned().or_else(|| {
                plan.unknown_projects.insert(one_line(name, TITLE_LENGTH));
                Some(ProjectKey::foreign(source, name))
            })
        })
    }

    /// True for prompts of a session whose transcript is here; they are counted.
    fn holds_prompts_of(&self, memory: &ForeignMemory, plan: &mut ForeignPlan) -> bool {
        let Holds::Prompts(prompts) = memory.holds else { return false };
        let is_here = match self {
            Self::Chosen(_) => false,
            Self::Named { sessions, .. } => {
                memory.session.as_ref().is_some_and(|session| sessions.contains_key(session))
            }
        };
        plan.prompts_here += if is_here { prompts } else { 0 };
        is_here
    }
}

fn sessions(
    store: Option<&Store>,
    projects: &[ProjectName],
) -> Result<HashMap<String, Option<ProjectKey>>> {
    let Some(store) = store else { return Ok(HashMap::new()) };
    let keys: HashMap<i64, &ProjectKey> =
        projects.iter().map(|project| (project.row, &project.key)).collect();
    let sessions = store.sessions(&SessionFilter::default())?.into_iter();
    let project = |row: Option<i64>| row.and_then(|row| keys.get(&row)).map(|key| (*key).clone());
    let named =
        sessions.map(|session| (session.key.id.as_str().to_owned(), project(session.project)));
    Ok(named.collect())
}

/// Finds the projects behind names: the one that most of the sessions are in that are known here, else the one project
/// of that name.
fn names(
    projects: &[ProjectName],
    sessions: &HashMap<String, Option<ProjectKey>>,
    memories: &[ForeignMemory],
) -> HashMap<String, ProjectKey> {
    let mut votes: HashMap<&str, BTreeMap<&ProjectKey, u64>> = HashMap::new();
    let mut seen = HashSet::new();
    for memory in memories {
        let Some(name) = &memory.project else { continue };
        let project = memory.session.as_ref().and_then(|session| sessions.get(session)?.as_ref());
        let votes = votes.entry(name).or_default();
        if let Some(project) = project
            && seen.insert((name, &memory.session))
        {
            *votes.entry(project).or_default() += 1;
        }
    }
    let of_name = |name: &str| {
        let is_named = |project: &&ProjectName| project.name.eq_ignore_ascii_case(name);
        let mut same = projects.iter().filter(|one| !one.key.is_foreign()).filter(is_named);
        let only = same.next()?;
        same.next().is_none().then(|| only.key.clone())
    };
    let project = |(name, votes): (&str, BTreeMap<&ProjectKey, u64>)| {
        let most = votes.into_iter().max_by_key(|(_, votes)| *votes);
        let project = most.map(|(project, _)| project.clone()).or_else(|| of_name(name))?;
        Some((name.to_owned(), project))
    };
    votes.into_iter().filter_map(project).collect()
}

/// Converts a memory into one of ours.
fn imported(
    source: ForeignSource,
    memory: ForeignMemory,
    project: Option<ProjectKey>,
) -> ImportedMemory {
    let (title, rest) = title_and_text(printable(&memory.title));
    let text = memory.text.as_deref().map(printable);
    let text = match (rest, text) {
        (Some(rest), Some(text)) if !text.contains(&rest) => Some(format!("{rest}\n{text}")),
        (rest, text) => text.or(rest),
    };
    let mut imported = ImportedMemory {
        memory: Id::derive(&[b"imported", source.as_str().as_bytes(), memory.identity.as_bytes()]),
        content: Id::derive(&[]),
        named: ForeignName { source, name: printable(&memory.name) },
        at: memory.at,
        // A text that is no more than its title says nothing twice.
        text: text.filter(|text| *text != title),
        title,
        kind: memory.kind.unwrap_or(ObservationType::Discovery),
        facts: memory.facts.iter().map(|fact| printable(fact)).collect(),
        concepts: memory.concepts,
        files_read: memory.files_read.iter().map(|path| printable(path)).collect(),
        files_modified: memory.files_modified.iter().map(|path| printable(path)).collect(),
        project,
    };
    let whole = serde_json::to_vec(&imported).unwrap_or_default();
    imported.content = Id::derive(&[b"content", &whole]);
    imported
}
