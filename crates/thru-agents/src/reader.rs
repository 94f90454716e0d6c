//! The transcript reader for all agents.

use thru_core::{Agent, ReadBatch, SessionId, SourceKind};
use thru_redact::Clean;

use crate::{InvalidState, Source, claude_code, codex, copilot};

/// Reads one transcript, from its beginning or from where an earlier reader stopped.
///
/// The passages are the same whether a file is read at once or in blocks, by one reader or by several
/// that resume each other, once later results have joined their calls ([`amend`](crate::amend)).
#[derive(Clone, Debug)]
pub struct Reader(Room);

#[derive(Clone, Debug)]
enum Room {
    ClaudeCode(Box<claude_code::Reader>),
    Codex(Box<codex::Reader>),
    Copilot(Box<copilot::Reader>),
}

impl Reader {
    /// Returns a reader at the beginning of this file.
    pub fn for_source(source: &Source) -> Self {
        Self::for_archived(source.agent, source.kind, source.session.clone(), &source.archive_name)
    }

    /// Returns a reader at the beginning of an archived file of this agent. The archived name tells
    /// which subagent it belongs to.
    pub fn for_archived(
        agent: Agent,
        kind: SourceKind,
        session: SessionId,
        archive_name: &str,
    ) -> Self {
        Self(match agent {
            Agent::ClaudeCode => Room::ClaudeCode(Box::new(claude_code::Reader::for_archived(
                kind,
                session,
                archive_name,
            ))),
            Agent::Codex => {
                Room::Codex(Box::new(codex::Reader::for_archived(kind, session, archive_name)))
            }
            Agent::Copilot => Room::Copilot(Box::new(copilot::Reader::new(kind, session))),
        })
    }

    /// Returns a reader that continues where the reader of this agent that saved `state` stopped.
    ///
    /// # Errors
    /// Fails if `state` was not saved by a reader of this version. The file then has to be read from its
    /// beginning.
    pub fn resume(agent: Agent, state: &str) -> Result<Self, InvalidState> {
        Ok(Self(match agent {
            Agent::ClaudeCode => Room::ClaudeCode(Box::new(claude_code::Reader::resume(state)?)),
            Agent::Codex => Room::Codex(Box::new(codex::Reader::resume(state)?)),
            Agent::Copilot => Room::Copilot(Box::new(copilot::Reader::resume(state)?)),
        }))
    }

    /// Returns the state for [`Reader::resume`]: ids and numbers, no text of the transcript.
    pub fn state(&self) -> String {
        match &self.0 {
            Room::ClaudeCode(reader) => reader.state(),
            Room::Codex(reader) => reader.state(),
            Room::Copilot(reader) => reader.state(),
        }
    }

    /// Reads whole lines. The first has the number `first_line` (1-based) in the file.
    pub fn read(&mut self, block: &Clean<Vec<u8>>, first_line: u64) -> Clean<ReadBatch> {
        match &mut self.0 {
            Room::ClaudeCode(reader) => reader.read(block, first_line),
            Room::Codex(reader) => reader.read(block, first_line),
            Room::Copilot(reader) => reader.read(block, first_line),
        }
    }
}
