//! The settings, one row each: name, type, default, limits, description, and who may set it. Everything
//! else is made of these rows: the structs, the table that `thru config` shows, reading and writing by name.

use std::collections::BTreeMap;

use crate::resolve::Origin;
use crate::types::{
    Color, EmbeddingProvider, Hours, Megabytes, Milliseconds, Minutes, Seconds, Typed, WorkerApi,
};
use crate::value::{Kind, Value};

/// One setting, as a row of [`SETTINGS`].
#[derive(Debug)]
pub struct Setting {
    /// Its name: `section.key` in the file.
    pub key: &'static str,
    /// The values that it takes.
    pub kind: Kind,
    /// The value that holds where no file sets it.
    pub default: fn() -> Value,
    /// Its effect, in a sentence or two.
    pub doc: &'static str,
    /// True if a project's own `.throughline.toml` may set it. Such a file comes with any repository
    /// that is cloned: it may make us keep less, never more, and never send anything anywhere.
    pub project: bool,
}

/// Makes structs and [`SETTINGS`] of rows `key: Type = default, Kind, owner, "description";` in sections. The owner is
/// `project` where a project's file may set it as well, else `user`.
macro_rules! settings {
    (@is_for_projects user) => { false };
    (@is_for_projects project) => { true };
    ($(
        $(#[$about:meta])*
        $section:ident: $Section:ident {
            $($key:ident: $Type:ty = $default:expr, $kind:expr, $owner:ident, $doc:literal;)*
        }
    )*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $Section {
                $(#[doc = $doc] pub $key: $Type,)*
            }

            impl Default for $Section {
                fn default() -> Self {
                    Self { $($key: $default,)* }
                }
            }
        )*

        /// The settings in force.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Config {
            $($(#[$about])* pub $section: $Section,)*
            /// The files that set something, by key. What is missing here has its default.
            pub(crate) origins: BTreeMap<&'static str, Origin>,
        }

        impl Config {
            /// Returns the value of a setting by its name.
            pub(crate) fn value(&self, key: &str) -> Option<Value> {
                $($(
                    if key == concat!(stringify!($section), ".", stringify!($key)) {
                        return Some(self.$section.$key.to_value());
                    }
                )*)*
                None
            }

            /// Changes a setting by its name. Returns false, and changes nothing, if there is no such setting or
            /// its type does not take the value.
            pub(crate) fn assign(&mut self, key: &str, value: &Value) -> bool {
                $($(
                    if key == concat!(stringify!($section), ".", stringify!($key)) {
                        let value = <$Type as Typed>::from_value(value);
                        return value.map(|value| self.$section.$key = value).is_some();
                    }
                )*)*
                false
            }
        }

        /// Every setting there is.
        pub static SETTINGS: &[Setting] = &[$($(
            Setting {
                key: concat!(stringify!($section), ".", stringify!($key)),
                kind: $kind,
                default: || $Section::default().$key.to_value(),
                doc: $doc,
                project: settings!(@is_for_projects $owner),
            },
        )*)*];
    };
}

settings! {
    /// The project of a directory.
    project: Project {
        name: Option<String> = None, Kind::Text, project,
            "What project this directory belongs to. Directories with the same name share one memory.";
    }
    /// Recording of sessions.
    capture: Capture {
        ignore: Vec<String> = Vec::new(), Kind::List, user,
            "Globs of transcript files and project directories that are never read, such as \
             `/home/me/private/**`.";
        off: bool = false, Kind::Bool, project,
            "Read and keep nothing of sessions that run in this directory.";
        skip_tools: Vec<String> = texts(&["ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite"]), Kind::List, project,
            "Tools whose calls hooks do not record. Of questions to the user (AskUserQuestion) the \
             answers are always recorded; transcripts are kept whole all the same.";
    }
    /// Discovery and closing of sessions.
    session_tracking: SessionTracking {
        enabled: bool = true, Kind::Bool, user,
            "Keep track of sessions: hooks record, transcripts are watched. Without, nothing is brought in \
             but what `thru import` is told to.";
        inactivity_timeout: Seconds = Seconds(1_800), Kind::Integer { min: 10, max: 604_800 }, user,
            "Seconds without activity after which a session is indexed although it was not closed. For \
             machines that work alone, 300 is a good value.";
        check_interval: Seconds = Seconds(60), Kind::Integer { min: 1, max: 3_600 }, user,
            "Seconds after which the daemon looks for sessions that time has closed, at the latest.";
        watch_directories: Vec<String> = Vec::new(), Kind::List, user,
            "More directories with transcripts that the daemon watches, beside those that agents use.";
    }
    /// The life of a session.
    session: Session {
        idle_timeout_minutes: Minutes = Minutes(30), Kind::Integer { min: 1, max: 10_080 }, user,
            "Minutes without activity after which a session is idle. After twice that it is over.";
        max_session_duration_hours: Hours = Hours(8), Kind::Integer { min: 1, max: 720 }, user,
            "Hours after its last start or resume at which a session is over, whatever happens in it.";
        max_hot_entries: usize = 5, Kind::Integer { min: 0, max: 50 }, user,
            "How many of a session's last doings are told to the next one.";
        auto_archive_on_end: bool = true, Kind::Bool, user,
            "Index a session when it ends or is left. Without, it waits for the first question, or for \
             `thru close`.";
    }
    /// Hooks of agents, and the socket of the daemon.
    hooks: Hooks {
        enabled: bool = true, Kind::Bool, user,
            "Let hooks record and answer. Without, they do nothing, and transcripts are read all the same.";
        socket_enabled: bool = true, Kind::Bool, user,
            "Let programs of this user close and list sessions through the daemon's socket.";
        socket_path: Option<String> = None, Kind::Text, user,
            "Where the daemon's socket lies. Empty means in the data directory, under `run`.";
        hook_timeout: Seconds = Seconds(10), Kind::Integer { min: 1, max: 60 }, user,
            "Seconds after which an agent gives a hook up, as `thru install` writes it into the agent's \
             settings. Hooks themselves end within one second.";
        async_indexing: bool = true, Kind::Bool, user,
            "Let the daemon index a session that ends, and wait for nothing. Without, the hook tries to do \
             it before the agent goes on, for at most 700 milliseconds.";
    }
    /// The background process.
    daemon: Daemon {
        enabled: bool = true, Kind::Bool, user,
            "Start the daemon when a session starts; with hooks installed or `daemon.watch`, also when a \
             command is run. Without, what was recorded waits for the next command or session.";
        watch: bool = false, Kind::Bool, user,
            "Let commands start the daemon, which reads transcripts as they are written, where no hooks \
             are installed.";
        idle_exit_minutes: Minutes = Minutes(120), Kind::Integer { min: 1, max: 100_000 }, user,
            "Minutes without anything to do after which the daemon ends. It is started again when it is \
             needed.";
    }
    /// The page, the API and MCP over HTTP, on this machine.
    http: Http {
        enabled: bool = false, Kind::Bool, user,
            "Serve the page, the API and MCP over HTTP on this machine as long as the daemon runs. Without, the daemon \
             listens on no port until `thru view` asks for the page.";
        port: u16 = 37_777, Kind::Integer { min: 1_024, max: 65_000 }, user,
            "Port of the page. Where it is taken, the next free one.";
        worker_api: WorkerApi = WorkerApi::Off, Kind::Choice(WorkerApi::NAMES), user,
            "Serve the routes of claude-mem's worker, for editors and clients that use them: `read` those that only \
             read, `full` those that record and remember, too. They need no token: every program of every user of \
             this machine can use them. The daemon listens as with `http.enabled`.";
    }
    /// The journal.
    journal: Journal {
        alarm_mb: Megabytes = Megabytes(4_096), Kind::Integer { min: 1, max: 1_000_000 }, user,
            "Say so when the journal takes more than this many megabytes. Nothing is ever dropped from it.";
    }
    /// The archive of transcripts.
    archive: Archive {
        verbatim: bool = false, Kind::Bool, user,
            "Keep transcripts in the archive exactly as they are, secrets and private text included. \
             Store, index and output are redacted all the same.";
    }
    /// Redaction.
    redact: Redact {
        allow: Vec<String> = Vec::new(), Kind::List, user,
            "Regular expressions of texts that look like secrets and are not: what one of them \
             matches whole is never redacted.";
    }
    /// Distillation.
    distil: Distil {
        enabled: bool = true, Kind::Bool, user,
            "Make observations and summaries of sessions. Without, history can only be searched.";
    }
    /// The language model that refines memories.
    models: Models {
        provider: String = "none".to_owned(), Kind::Choice(&["none", "anthropic", "openai", "openrouter", "lmstudio", "llamacpp", "vllm", "ollama", "claude-cli"]), user,
            "Whose model makes memories better, in the background. `thru models set` sets it. \
             Without, memories are made without any model.";
        model: Option<String> = None, Kind::Text, user,
            "Which model. Empty means the provider's default, as `thru models list` shows it.";
        session_model: Option<String> = None, Kind::Text, user,
            "Which model for the summaries of sessions. Empty means the same.";
        url: Option<String> = None, Kind::Text, user,
            "Where the provider answers. Empty means its usual address.";
        fallback: String = "none".to_owned(), Kind::Choice(&["none", "ollama", "lmstudio", "llamacpp", "vllm"]), user,
            "A model on this machine that is asked when the provider does not answer.";
        fallback_model: Option<String> = None, Kind::Text, user,
            "Which model of the fallback.";
        fallback_url: Option<String> = None, Kind::Text, user,
            "Where the fallback answers. It must be on this machine. Empty means its usual address.";
        since: Option<String> = None, Kind::Text, user,
            "Since when models are asked (RFC 3339): `thru models set` writes it. What happened \
             before is never sent by itself; `thru distil --run` sends it.";
        off: bool = false, Kind::Bool, project,
            "Send nothing of sessions that run in this directory to any model, nor to a server of \
             `embedding`.";
        timeout_seconds: Seconds = Seconds(120), Kind::Integer { min: 1, max: 3_600 }, user,
            "Seconds after which a model that does not answer is given up.";
        context_tokens: u32 = 8_192, Kind::Integer { min: 2_048, max: 1_000_000 }, user,
            "The context that Ollama is told to make room for (`num_ctx`): prompt and answer.";
        turn_tokens: u64 = 4_000, Kind::Integer { min: 500, max: 100_000 }, user,
            "Tokens (estimated) that a question about a turn has at most, all told.";
        session_tokens: u64 = 6_000, Kind::Integer { min: 500, max: 100_000 }, user,
            "Tokens (estimated) that a question about a session has at most, all told.";
        answer_tokens: u32 = 1_500, Kind::Integer { min: 200, max: 32_000 }, user,
            "Tokens that an answer may have.";
        concurrency: usize = 1, Kind::Integer { min: 1, max: 8 }, user,
            "Questions under way at a time.";
        requests_per_minute: usize = 30, Kind::Integer { min: 1, max: 1_000 }, user,
            "Questions in a minute at most, to a model that is not on this machine.";
        input_price_cents: i64 = -1, Kind::Integer { min: -1, max: 1_000_000 }, user,
            "Cents for a million tokens sent, where the price is not known or another one holds. -1 \
             means as known.";
        output_price_cents: i64 = -1, Kind::Integer { min: -1, max: 1_000_000 }, user,
            "Cents for a million tokens answered. -1 means as known.";
        claude_api_key: bool = false, Kind::Bool, user,
            "Let the `claude` program use `ANTHROPIC_API_KEY` from the environment. Without, it uses \
             the account that it is signed in to.";
    }
    /// The model that embeds texts.
    embedding: Embedding {
        provider: EmbeddingProvider = EmbeddingProvider::Bundled, Kind::Choice(EmbeddingProvider::NAMES), user,
            "Who turns texts into vectors, so that what means the same is found whatever words it uses: \
             the model that comes with the program, a server, or none. A server sees what is said in \
             every session, every memory and every question.";
        model: Option<String> = None, Kind::Text, user,
            "Which model of the server, such as `nomic-embed-text`.";
        url: Option<String> = None, Kind::Text, user,
            "Where the server answers, without `/v1` or `/api`. Empty means its usual address: Ollama on \
             this machine, or OpenAI.";
        timeout_seconds: Seconds = Seconds(60), Kind::Integer { min: 1, max: 3_600 }, user,
            "Seconds after which a server that does not answer is given up.";
        folder: Option<String> = None, Kind::Text, user,
            "Folder with other copies of the bundled model's files. Empty means those in the program.";
    }
    /// Limits on the cost of models.
    budget: Budget {
        daily_tokens: u64 = 500_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, user,
            "Tokens that models may cost in a day (UTC), both ways. What is over waits for the next \
             day.";
        monthly_tokens: u64 = 5_000_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, user,
            "Tokens that models may cost in a month.";
        daily_cents: u64 = 100, Kind::Integer { min: 0, max: 1_000_000_000 }, user,
            "US cents that models may cost in a day.";
        monthly_cents: u64 = 1_000, Kind::Integer { min: 0, max: 1_000_000_000 }, user,
            "US cents that models may cost in a month.";
        project_daily_tokens: u64 = 500_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, project,
            "Tokens that models may cost in a day for one project.";
        project_monthly_tokens: u64 = 5_000_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, project,
            "Tokens that models may cost in a month for one project.";
        project_daily_cents: u64 = 100, Kind::Integer { min: 0, max: 1_000_000_000 }, project,
            "US cents that models may cost in a day for one project.";
        project_monthly_cents: u64 = 1_000, Kind::Integer { min: 0, max: 1_000_000_000 }, project,
            "US cents that models may cost in a month for one project.";
    }
    /// Delivery of insights to other programs.
    sinks: Sinks {
        mcp: Option<String> = None, Kind::Text, user,
            "An MCP server that finished summaries and what was learned are delivered to: a URL, or a \
             command. Empty means none.";
        mcp_allow_remote: bool = false, Kind::Bool, user,
            "Deliver to a server that is not on this machine.";
        mcp_summary_tool: String = "thread_persist".to_owned(), Kind::Text, user,
            "The server's tool for summaries.";
        mcp_memory_tool: String = "memory_add".to_owned(), Kind::Text, user,
            "The server's tool for what was learned and decided.";
    }
    /// Packs: memory for sessions that start or go on.
    context: Context {
        off: bool = false, Kind::Bool, project,
            "Give sessions that start in this directory nothing from memory.";
        tokens: u64 = 900, Kind::Integer { min: 200, max: 10_000 }, user,
            "Tokens (estimated) that a session is given from memory when it starts or was compacted.";
        prompt_tokens: u64 = 500, Kind::Integer { min: 200, max: 4_000 }, user,
            "Tokens (estimated) that a prompt is given from memory, where anything bears on it.";
        observations: usize = 50, Kind::Integer { min: 0, max: 200 }, user,
            "How many observations a session is given at most.";
        sessions: usize = 10, Kind::Integer { min: 0, max: 50 }, user,
            "How many earlier sessions are looked at for work that was left open.";
        types: Vec<String> = Vec::new(), Kind::List, user,
            "Types of observations that a session is given: bugfix, feature, refactor, change, \
             discovery, decision. Empty means all.";
        concepts: Vec<String> = Vec::new(), Kind::List, user,
            "Concepts of observations that a session is given: how-it-works, why-it-exists, \
             what-changed, problem-solution, gotcha, pattern, trade-off. Empty means all.";
        last_summary: bool = true, Kind::Bool, user,
            "Tell a session that starts how the last one ended.";
        message: bool = true, Kind::Bool, project,
            "Tell the user in one line what a session that starts was given from memory.";
    }
    /// Files with the summaries of compacted sessions.
    summaries: Summaries {
        enabled: bool = true, Kind::Bool, project,
            "Write what a session held when its context was compacted into its project, under \
             `.claude/summaries`. Without, only the store has it. A project can switch it off, not on.";
        location: Option<String> = None, Kind::Text, user,
            "A directory for the summaries of all projects, instead of one in each. Empty means in the project.";
        max: usize = 50, Kind::Integer { min: 1, max: 1_000 }, project,
            "How many summaries the index of a project lists, the newest first. A project can have fewer.";
        auto_reload: bool = true, Kind::Bool, project,
            "Give a session what it held after its context was compacted. A project can switch it off, not on.";
        code_snippets: bool = true, Kind::Bool, project,
            "Put short pieces of the code that was written into summaries. A project can switch it off, not on.";
    }
    /// The vault: memory as notes.
    vault: Vault {
        path: Option<String> = None, Kind::Text, user,
            "The folder of the notes that `thru vault init` made. Empty means that none are written.";
        compact_lines: u64 = 500, Kind::Integer { min: 50, max: 100_000 }, user,
            "Lines at which the note of a session that is over is compacted and archived.";
        compact_days: u64 = 3, Kind::Integer { min: 1, max: 3_650 }, user,
            "Days after which the note of a session that is over is compacted and archived.";
        keep_original: bool = false, Kind::Bool, user,
            "Leave a short note that shows the archived one in the place of each note that is archived.";
        promote_recalls: u64 = 3, Kind::Integer { min: 1, max: 1_000 }, user,
            "Sessions of other projects that are given or ask for something in a note of one project before it is \
             proposed as a note of all.";
        delete_means: String = "hide".to_owned(), Kind::Choice(&["hide", "forget"]), user,
            "What it means that a line of ours is gone from a note: `hide` leaves it out of that note, \
             `forget` has the memory forgotten.";
    }
    /// Search.
    search: Search {
        index_deadline_ms: Milliseconds = Milliseconds(2_000), Kind::Integer { min: 0, max: 60_000 }, user,
            "Milliseconds that a question waits for recent sessions to be indexed. What is not done by then \
             is named in the answer.";
        limit: usize = 10, Kind::Integer { min: 1, max: 1000 }, user,
            "How many passages `thru search` shows.";
    }
    /// Output in the terminal.
    output: Output {
        color: Color = Color::Auto, Kind::Choice(Color::NAMES), user,
            "When to use colour: `auto` is on a terminal only.";
        pager: bool = true, Kind::Bool, user,
            "Show output that is longer than the terminal in `$PAGER` (or `less`).";
    }
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

/// Returns the setting of this name.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
