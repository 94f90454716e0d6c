//! The events of a session, under one name for all agents.

/// An event of a session. The journal has it by its [name](Self::as_str).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A session starts, resumes, or has a new context.
    SessionStart,
    /// A person, or a machine in the person's name, submitted a prompt.
    UserPromptSubmit,
    /// A tool ran.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// The agent ended its turn.
    Stop,
    /// An error of the provider ended the turn.
    StopFailure,
    /// The user interrupted the turn.
    Interrupt,
    /// A subagent ended.
    SubagentStop,
    /// The context is about to be compacted.
    PreCompact,
    /// The context was compacted.
    PostCompact,
    /// The session ends, as far as the agent knows.
    SessionEnd,
    /// Any other event, recorded by the agent's name for it.
    Unknown(String),
}

impl Event {
    /// Every known event, in the order of a session.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Stop,
        Self::StopFailure,
        Self::Interrupt,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::SessionEnd,
    ];

    /// Returns the event with this name.
    pub fn named(name: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|event| event.as_str() == name)
            .unwrap_or_else(|| Self::Unknown(name.to_owned()))
    }

    /// Returns the name of the event: that of Claude Code, which most agents share.
    pub fn as_str(&self) -> &str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::Interrupt => "Interrupt",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::SessionEnd => "SessionEnd",
            Self::Unknown(name) => name,
        }
    }

    /// True if a tool ran.
    pub const fn is_tool_use(&self) -> bool {
        matches!(self, Self::PostToolUse | Self::PostToolUseFailure)
    }

    /// True if it ends a turn.
    pub const fn ends_turn(&self) -> bool {
        matches!(self, Self::Stop | Self::StopFailure | Self::Interrupt)
    }

    /// True if it is answered with a context or a message.
    pub const fn takes_context(&self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// True if the agent shows the user a message in its answer.
    pub const fn takes_message(&self) -> bool {
        self.takes_context() || matches!(self, Self::Stop | Self::PostToolUse)
    }

    /// True if its record must survive a power cut: these are few, and much depends on them.
    pub const fn is_momentous(&self) -> bool {
        matches!(
            self,
            Self::UserPromptSubmit
                | Self::Stop
                | Self::StopFailure
                | Self::Interrupt
                | Self::PreCompact
                | Self::PostCompact
                | Self::SessionEnd
        )
    }
}
