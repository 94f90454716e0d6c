//! The table of settings. One row per setting; nothing else knows a key by name.

use crate::value::{Kind, Value};

/// One setting.
#[derive(Debug)]
pub struct Setting {
    /// Its name: `section.key` in the file.
    pub key: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What holds when nobody sets it.
    pub default: fn() -> Value,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Whether a project's own `.throughline.toml` may set it. Such a file comes with any repository
    /// that is cloned: it may make us keep less, never more, and never send anything anywhere.
    pub project: bool,
}

/// Every setting there is.
pub static SETTINGS: &[Setting] = &[
    Setting {
        key: "project.name",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "What project this directory belongs to. Directories with the same name share one memory.",
        project: true,
    },
    Setting {
        key: "capture.ignore",
        kind: Kind::List,
        default: || Value::List(Vec::new()),
        doc: "Globs of transcript files and project directories that are never read, such as \
              `/home/me/private/**`.",
        project: false,
    },
    Setting {
        key: "capture.off",
        kind: Kind::Bool,
        default: || Value::Bool(false),
        doc: "Read and keep nothing of sessions that run in this directory.",
        project: true,
    },
    Setting {
        key: "capture.skip_tools",
        kind: Kind::List,
        default: || {
            let tools = ["ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite"];
            Value::List(tools.map(str::to_owned).to_vec())
        },
        doc: "Tools whose calls hooks do not record. Of questions to the user (AskUserQuestion) the \
              answers are always recorded; transcripts are kept whole all the same.",
        project: true,
    },
    Setting {
        key: "session_tracking.enabled",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Keep track of sessions: hooks record, transcripts are watched. Without, nothing is brought in \
              but what `thru import` is told to.",
        project: false,
    },
    Setting {
        key: "session_tracking.inactivity_timeout",
        kind: Kind::Integer { min: 10, max: 604_800 },
        default: || Value::Integer(1_800),
        doc: "Seconds without activity after which a session is indexed although nobody closed it. For \
              machines that work alone, 300 is a good value.",
        project: false,
    },
    Setting {
        key: "session_tracking.check_interval",
        kind: Kind::Integer { min: 1, max: 3_600 },
        default: || Value::Integer(60),
        doc: "Seconds after which the daemon looks for sessions that time has closed, at the latest.",
        project: false,
    },
    Setting {
        key: "session_tracking.watch_directories",
        kind: Kind::List,
        default: || Value::List(Vec::new()),
        doc: "More directories with transcripts that the daemon watches, beside those that agents use.",
        project: false,
    },
    Setting {
        key: "session.idle_timeout_minutes",
        kind: Kind::Integer { min: 1, max: 10_080 },
        default: || Value::Integer(30),
        doc: "Minutes without activity after which a session is idle. After twice that it is over.",
        project: false,
    },
    Setting {
        key: "session.max_session_duration_hours",
        kind: Kind::Integer { min: 1, max: 720 },
        default: || Value::Integer(8),
        doc: "Hours after its last start or resume at which a session is over, whatever happens in it.",
        project: false,
    },
    Setting {
        key: "session.max_hot_entries",
        kind: Kind::Integer { min: 0, max: 50 },
        default: || Value::Integer(5),
        doc: "How many of a session's last doings are told to the next one.",
        project: false,
    },
    Setting {
        key: "session.auto_archive_on_end",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Index a session when it ends or is left. Without, it waits for the first question, or for \
              `thru close`.",
        project: false,
    },
    Setting {
        key: "hooks.enabled",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Let hooks record and answer. Without, they do nothing, and transcripts are read all the same.",
        project: false,
    },
    Setting {
        key: "hooks.socket_enabled",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Let programs of this user close and list sessions through the daemon's socket.",
        project: false,
    },
    Setting {
        key: "hooks.socket_path",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Where the daemon's socket lies. Empty means in the data directory, under `run`.",
        project: false,
    },
    Setting {
        key: "hooks.hook_timeout",
        kind: Kind::Integer { min: 1, max: 60 },
        default: || Value::Integer(10),
        doc: "Seconds after which an agent gives a hook up, as `thru install` writes it into the agent's \
              settings. Hooks themselves end within one second.",
        project: false,
    },
    Setting {
        key: "hooks.async_indexing",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Let the daemon index a session that ends, and wait for nothing. Without, the hook tries to do \
              it before the agent goes on, for at most 700 milliseconds.",
        project: false,
    },
    Setting {
        key: "daemon.enabled",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Start the daemon when a session starts or a command is run. Without, what was recorded waits \
              for the next command or session.",
        project: false,
    },
    Setting {
        key: "daemon.idle_exit_minutes",
        kind: Kind::Integer { min: 1, max: 100_000 },
        default: || Value::Integer(120),
        doc: "Minutes without anything to do after which the daemon ends. It is started again when it is \
              needed.",
        project: false,
    },
    Setting {
        key: "search.index_deadline_ms",
        kind: Kind::Integer { min: 0, max: 60_000 },
        default: || Value::Integer(2_000),
        doc: "Milliseconds that a question waits for recent sessions to be indexed. What is not done by then \
              is named in the answer.",
        project: false,
    },
    Setting {
        key: "journal.alarm_mb",
        kind: Kind::Integer { min: 1, max: 1_000_000 },
        default: || Value::Integer(4_096),
        doc: "Say so when the journal takes more than this many megabytes. Nothing is ever dropped from it.",
        project: false,
    },
    Setting {
        key: "archive.verbatim",
        kind: Kind::Bool,
        default: || Value::Bool(false),
        doc: "Keep transcripts in the archive exactly as they are, secrets and private text included. \
              Store, index and output are redacted all the same.",
        project: false,
    },
    Setting {
        key: "redact.allow",
        kind: Kind::List,
        default: || Value::List(Vec::new()),
        doc: "Regular expressions of texts that look like secrets and are not: what one of them \
              matches whole is never redacted.",
        project: false,
    },
    Setting {
        key: "distil.enabled",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Make observations and summaries of sessions. Without, history can only be searched.",
        project: false,
    },
    Setting {
        key: "models.provider",
        kind: Kind::Choice(&[
            "none",
            "anthropic",
            "openai",
            "openrouter",
            "lmstudio",
            "llamacpp",
            "vllm",
            "ollama",
            "claude-cli",
        ]),
        default: || Value::Text("none".to_owned()),
        doc: "Whose model makes memories better, in the background. `thru models set` sets it. \
              Without, memories are made without any model.",
        project: false,
    },
    Setting {
        key: "models.model",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Which model. Empty means the provider's default, as `thru models list` shows it.",
        project: false,
    },
    Setting {
        key: "models.session_model",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Which model for the summaries of sessions. Empty means the same.",
        project: false,
    },
    Setting {
        key: "models.url",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Where the provider answers. Empty means its usual address.",
        project: false,
    },
    Setting {
        key: "models.fallback",
        kind: Kind::Choice(&["none", "ollama", "lmstudio", "llamacpp", "vllm"]),
        default: || Value::Text("none".to_owned()),
        doc: "A model on this machine that is asked when the provider does not answer.",
        project: false,
    },
    Setting {
        key: "models.fallback_model",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Which model of the fallback.",
        project: false,
    },
    Setting {
        key: "models.fallback_url",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Where the fallback answers. It must be on this machine. Empty means its usual address.",
        project: false,
    },
    Setting {
        key: "models.since",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Since when models are asked (RFC 3339): `thru models set` writes it. What happened \
              before is never sent by itself; `thru distil --run` sends it.",
        project: false,
    },
    Setting {
        key: "models.off",
        kind: Kind::Bool,
        default: || Value::Bool(false),
        doc: "Send nothing of sessions that run in this directory to any model, nor to a server of \
              `embedding`.",
        project: true,
    },
    Setting {
        key: "models.timeout_seconds",
        kind: Kind::Integer { min: 1, max: 3_600 },
        default: || Value::Integer(120),
        doc: "Seconds after which a model that does not answer is given up.",
        project: false,
    },
    Setting {
        key: "models.context_tokens",
        kind: Kind::Integer { min: 2_048, max: 1_000_000 },
        default: || Value::Integer(8_192),
        doc: "The context that Ollama is told to make room for (`num_ctx`): prompt and answer.",
        project: false,
    },
    Setting {
        key: "models.turn_tokens",
        kind: Kind::Integer { min: 500, max: 100_000 },
        default: || Value::Integer(4_000),
        doc: "Tokens (estimated) that a question about a turn has at most, all told.",
        project: false,
    },
    Setting {
        key: "models.session_tokens",
        kind: Kind::Integer { min: 500, max: 100_000 },
        default: || Value::Integer(6_000),
        doc: "Tokens (estimated) that a question about a session has at most, all told.",
        project: false,
    },
    Setting {
        key: "models.answer_tokens",
        kind: Kind::Integer { min: 200, max: 32_000 },
        default: || Value::Integer(1_500),
        doc: "Tokens that an answer may have.",
        project: false,
    },
    Setting {
        key: "models.concurrency",
        kind: Kind::Integer { min: 1, max: 8 },
        default: || Value::Integer(1),
        doc: "Questions under way at a time.",
        project: false,
    },
    Setting {
        key: "models.requests_per_minute",
        kind: Kind::Integer { min: 1, max: 1_000 },
        default: || Value::Integer(30),
        doc: "Questions in a minute at most, to a model that is not on this machine.",
        project: false,
    },
    Setting {
        key: "models.input_price_cents",
        kind: Kind::Integer { min: -1, max: 1_000_000 },
        default: || Value::Integer(-1),
        doc: "Cents for a million tokens sent, where the price is not known or another one holds. -1 \
              means as known.",
        project: false,
    },
    Setting {
        key: "models.output_price_cents",
        kind: Kind::Integer { min: -1, max: 1_000_000 },
        default: || Value::Integer(-1),
        doc: "Cents for a million tokens answered. -1 means as known.",
        project: false,
    },
    Setting {
        key: "models.claude_api_key",
        kind: Kind::Bool,
        default: || Value::Bool(false),
        doc: "Let the `claude` program use `ANTHROPIC_API_KEY` from the environment. Without, it uses \
              the account that it is signed in to.",
        project: false,
    },
    Setting {
        key: "embedding.provider",
        kind: Kind::Choice(&["bundled", "ollama", "openai", "none"]),
        default: || Value::Text("bundled".to_owned()),
        doc: "Who turns texts into vectors, so that what means the same is found whatever words it uses: \
              the model that comes with the program, a server, or nobody. A server sees what is said in \
              every session, every memory and every question.",
        project: false,
    },
    Setting {
        key: "embedding.model",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Which model of the server, such as `nomic-embed-text`.",
        project: false,
    },
    Setting {
        key: "embedding.url",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Where the server answers, without `/v1` or `/api`. Empty means its usual address: Ollama on \
              this machine, or OpenAI.",
        project: false,
    },
    Setting {
        key: "embedding.timeout_seconds",
        kind: Kind::Integer { min: 1, max: 3_600 },
        default: || Value::Integer(60),
        doc: "Seconds after which a server that does not answer is given up.",
        project: false,
    },
    Setting {
        key: "embedding.folder",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "Where the files of the bundled model lie. Empty means beside the program.",
        project: false,
    },
    Setting {
        key: "budget.daily_tokens",
        kind: Kind::Integer { min: 0, max: 1_000_000_000_000 },
        default: || Value::Integer(500_000),
        doc: "Tokens that models may cost in a day (UTC), both ways. What is over waits for the next \
              day.",
        project: false,
    },
    Setting {
        key: "budget.monthly_tokens",
        kind: Kind::Integer { min: 0, max: 1_000_000_000_000 },
        default: || Value::Integer(5_000_000),
        doc: "Tokens that models may cost in a month.",
        project: false,
    },
    Setting {
        key: "budget.daily_cents",
        kind: Kind::Integer { min: 0, max: 1_000_000_000 },
        default: || Value::Integer(100),
        doc: "US cents that models may cost in a day.",
        project: false,
    },
    Setting {
        key: "budget.monthly_cents",
        kind: Kind::Integer { min: 0, max: 1_000_000_000 },
        default: || Value::Integer(1_000),
        doc: "US cents that models may cost in a month.",
        project: false,
    },
    Setting {
        key: "budget.project_daily_tokens",
        kind: Kind::Integer { min: 0, max: 1_000_000_000_000 },
        default: || Value::Integer(500_000),
        doc: "Tokens that models may cost in a day for one project.",
        project: true,
    },
    Setting {
        key: "budget.project_monthly_tokens",
        kind: Kind::Integer { min: 0, max: 1_000_000_000_000 },
        default: || Value::Integer(5_000_000),
        doc: "Tokens that models may cost in a month for one project.",
        project: true,
    },
    Setting {
        key: "budget.project_daily_cents",
        kind: Kind::Integer { min: 0, max: 1_000_000_000 },
        default: || Value::Integer(100),
        doc: "US cents that models may cost in a day for one project.",
        project: true,
    },
    Setting {
        key: "budget.project_monthly_cents",
        kind: Kind::Integer { min: 0, max: 1_000_000_000 },
        default: || Value::Integer(1_000),
        doc: "US cents that models may cost in a month for one project.",
        project: true,
    },
    Setting {
        key: "sinks.mcp",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "An MCP server that finished summaries and what was learned are delivered to: a URL, or a \
              command. Empty means none.",
        project: false,
    },
    Setting {
        key: "sinks.mcp_allow_remote",
        kind: Kind::Bool,
        default: || Value::Bool(false),
        doc: "Deliver to a server that is not on this machine.",
        project: false,
    },
    Setting {
        key: "sinks.mcp_summary_tool",
        kind: Kind::Text,
        default: || Value::Text("thread_persist".to_owned()),
        doc: "The server's tool for summaries.",
        project: false,
    },
    Setting {
        key: "sinks.mcp_memory_tool",
        kind: Kind::Text,
        default: || Value::Text("memory_add".to_owned()),
        doc: "The server's tool for what was learned and decided.",
        project: false,
    },
    Setting {
        key: "context.off",
        kind: Kind::Bool,
        default: || Value::Bool(false),
        doc: "Give sessions that start in this directory nothing from memory.",
        project: true,
    },
    Setting {
        key: "context.tokens",
        kind: Kind::Integer { min: 200, max: 10_000 },
        default: || Value::Integer(2_000),
        doc: "Tokens (estimated) that a session is given from memory when it starts or was compacted.",
        project: false,
    },
    Setting {
        key: "context.prompt_tokens",
        kind: Kind::Integer { min: 200, max: 4_000 },
        default: || Value::Integer(500),
        doc: "Tokens (estimated) that a prompt is given from memory, where anything bears on it.",
        project: false,
    },
    Setting {
        key: "context.observations",
        kind: Kind::Integer { min: 0, max: 200 },
        default: || Value::Integer(50),
        doc: "How many observations a session is given at most.",
        project: false,
    },
    Setting {
        key: "context.sessions",
        kind: Kind::Integer { min: 0, max: 50 },
        default: || Value::Integer(10),
        doc: "How many earlier sessions are looked at for work that was left open.",
        project: false,
    },
    Setting {
        key: "context.types",
        kind: Kind::List,
        default: || Value::List(Vec::new()),
        doc: "Types of observations that a session is given: bugfix, feature, refactor, change, \
              discovery, decision. Empty means all.",
        project: false,
    },
    Setting {
        key: "context.concepts",
        kind: Kind::List,
        default: || Value::List(Vec::new()),
        doc: "Concepts of observations that a session is given: how-it-works, why-it-exists, \
              what-changed, problem-solution, gotcha, pattern, trade-off. Empty means all.",
        project: false,
    },
    Setting {
        key: "context.last_summary",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Tell a session that starts how the last one ended.",
        project: false,
    },
    Setting {
        key: "context.message",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Tell the user in one line what a session that starts was given from memory.",
        project: true,
    },
    Setting {
        key: "summaries.enabled",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Write what a session held when its context was compacted into its project, under \
              `.claude/summaries`. Without, only the store has it. A project can switch it off, not on.",
        project: true,
    },
    Setting {
        key: "summaries.location",
        kind: Kind::Text,
        default: || Value::Text(String::new()),
        doc: "A directory for the summaries of all projects, instead of one in each. Empty means in the project.",
        project: false,
    },
    Setting {
        key: "summaries.max",
        kind: Kind::Integer { min: 1, max: 1_000 },
        default: || Value::Integer(50),
        doc: "How many summaries the index of a project lists, the newest first. A project can have fewer.",
        project: true,
    },
    Setting {
        key: "summaries.auto_reload",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Give a session what it held after its context was compacted. A project can switch it off, not on.",
        project: true,
    },
    Setting {
        key: "summaries.code_snippets",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Put short pieces of the code that was written into summaries. A project can switch it off, not on.",
        project: true,
    },
    Setting {
        key: "search.limit",
        kind: Kind::Integer { min: 1, max: 1000 },
        default: || Value::Integer(10),
        doc: "How many passages `thru search` shows.",
        project: false,
    },
    Setting {
        key: "output.color",
        kind: Kind::Choice(&["auto", "always", "never"]),
        default: || Value::Text("auto".to_owned()),
        doc: "When to use colour: `auto` is on a terminal only.",
        project: false,
    },
    Setting {
        key: "output.pager",
        kind: Kind::Bool,
        default: || Value::Bool(true),
        doc: "Show output that is longer than the terminal in `$PAGER` (or `less`).",
        project: false,
    },
];

/// The setting of this name.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
