//! The vocabulary of Throughline: the types shared by all other crates.
//!
//! This crate holds plain values and pure functions only. It must not read or write anything: no files,
//! no environment, no clock of its own (invariant I-9).

mod agent;
mod batch;
mod chunks;
mod clock;
mod commit;
mod echo;
mod event;
mod fact;
mod file_id;
mod foreign;
mod git;
mod id;
mod layout;
mod memory;
mod model;
mod object;
mod passage;
mod plain;
mod project;
mod refined;
pub mod rpc;
mod rule;
mod session;
mod shell;
mod snapshot;
mod spares;
mod text;
mod work_record;

pub use agent::{Agent, UnknownAgent};
pub use batch::{
    Access, Amendment, Boundary, CompactSummary, Diagnostic, FileTouch, Passage, ReadBatch,
    SessionFacts, Usage,
};
pub use chunks::chunks;
pub use clock::{Clock, FixedClock, SystemClock, Timestamp};
pub use commit::{HeadLog, SeenCommit};
pub use echo::{ASKING_TOOLS, is_echo, is_memory_question, is_own_tool, loads_tools};
pub use event::{CapturedEvent, HOOK_RECORD, INJECTED_RECORD, InjectedMemory, Injection};
pub use fact::{
    ClaimedRelation, EndReason, Entity, EntityKind, Evidence, EvidenceRole, Fact, FactEnd, Object,
    Relation,
};
pub use file_id::FileId;
pub use foreign::{ForeignName, ForeignSource};
pub use git::{Paths, Undoing};
pub use id::{Id, IdPrefix, InvalidIdPrefix};
pub use layout::Layout;
pub use memory::{
    Certainty, Concept, Digest, Distillate, FileState, MemoryDecision, MemoryEdit, MemoryKind,
    Merged, Observation, ObservationType, PLAN_APPROVED, Speaker, Statement, Summary, UnknownName,
    WorkOutcome, content_hash, estimated_tokens, quarter_tokens,
};
pub use model::{Made, Micros, Purpose, Question, RefinedTurn, Spent};
pub use object::find_object;
pub use passage::{Outcome, PassageKind, RecordId};
pub use plain::{
    bare_words, cut, defused, head, is_invisible, may_be_shown, one_line, plain_line, plain_lines,
    sequence_length, unstyled_parts, visible,
};
pub use project::{ProjectKey, holds_projects, is_trunk, worktree_names, worktree_root};
pub use refined::{CodeChange, ErrorResolved, KeyDecision, RefinedSession, SessionSections};
pub use rule::{Saying, telling_words};
pub use session::{SessionId, SessionKey, SourceKind, is_timed_uuid, is_uuid, short_id};
pub use shell::{ShellCommand, git_order, shell_commands};
pub use snapshot::{FileInPlay, SNAPSHOT_RECORD, Snapshot, SnapshotContent};
pub use spares::Spares;
pub use text::{
    TITLE_LENGTH, file_name, first_names, is_made_by_tools, percent_encoded, plural_noun,
};
pub use work_record::WorkRecord;
