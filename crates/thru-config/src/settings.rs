//! The settings, one row each: name, type, default, limits, description, and who may set it. Everything
//! else is made of these rows: the structs, the table that `thru config` shows, reading and writing by name.

use std::collections::BTreeMap;

use thru_core::{Concept, ObservationType};

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
    /// The files that may set it.
    pub owner: Owner,
}

/// The files that may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The user's.
    User,
    /// A project's own `.throughline.toml`.
    Project,
    /// Both. A project's file comes with any repository that is cloned: it may make us keep less, never more, and never
    /// send anything anywhere.
    Both,
}

/// Makes structs and [`SETTINGS`] of rows `key: Type = default, Kind, owner, "description";` in sections. The owner is
/// an [`Owner`] in lower case.
macro_rules! settings {
    (@owner user) => { Owner::User };
    (@owner project) => { Owner::Project };
    (@owner both) => { Owner::Both };
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
                owner: settings!(@owner $owner),
            },
        )*)*];
    };
}

settings! {
    /// The project of a directory.
    project: Project {
        name: Option<String> = None, Kind::Text, project,
            "The project that this directory belongs to. Directories with the same name share one memory, once you trust them (`thru projects trust`).";
    }
    /// Recording of sessions.
    capture: Capture {
        ignore: Vec<String> = Vec::new(), Kind::List, user,
            "Globs of transcript files and project directories that are never read, such as `/home/me/private/**`.";
        off: bool = false, Kind::Bool, both,
            "Record nothing of sessions that run in this directory.";
        skip_tools: Vec<String> = texts(&["ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite"]), Kind::List, both,
            "Tools whose calls hooks do not record and search does not show. Answers to questions (`AskUserQuestion`) \
             are always kept.";
    }
    /// Discovery and closing of sessions.
    session_tracking: SessionTracking {
        enabled: bool = true, Kind::Bool, user,
            "Track sessions: hooks record, transcripts are watched. If off, only `thru import` brings anything in, and no \
             daemon runs, which `thru view` needs.";
        inactivity_timeout: Seconds = Seconds(1_800), Kind::Integer { min: 10, max: 604_800 }, user,
            "Seconds without activity after which a session that was not closed is indexed. On machines that work \
             unattended, 300 is a good value.";
        check_interval: Seconds = Seconds(60), Kind::Integer { min: 1, max: 3_600 }, user,
            "Longest time in seconds between the daemon's checks for sessions that have timed out.";
        watch_directories: Vec<String> = Vec::new(), Kind::List, user,
            "More directories with transcripts for the daemon to watch, beside those that agents use.";
    }
    /// The life of a session.
    session: Session {
        idle_timeout_minutes: Minutes = Minutes(30), Kind::Integer { min: 1, max: 10_080 }, user,
            "Minutes without activity after which a session is idle. After twice that it has ended.";
        max_session_duration_hours: Hours = Hours(8), Kind::Integer { min: 1, max: 720 }, user,
            "Hours after its last start or resume at which a session ends, however busy it is.";
        max_hot_entries: usize = 5, Kind::Integer { min: 0, max: 50 }, user,
            "Number of a session's last actions that `thru session show` lists.";
        auto_archive_on_end: bool = true, Kind::Bool, user,
            "Index a session when it ends or is left. If off, it waits for the first question, or for `thru close`.";
    }
    /// Hooks of agents, and the socket of the daemon.
    hooks: Hooks {
        enabled: bool = true, Kind::Bool, user,
            "Let hooks record and answer. If off, they do nothing; transcripts are read all the same.";
        socket_enabled: bool = true, Kind::Bool, user,
            "Let programs of this user close and list sessions through the daemon's socket.";
        socket_path: Option<String> = None, Kind::Text, user,
            "Path of the daemon's socket. Empty means `run` in the data directory.";
        hook_timeout: Seconds = Seconds(10), Kind::Integer { min: 1, max: 60 }, user,
            "Seconds after which an agent abandons a hook, as `thru install` writes it into the agent's settings. \
             Hooks themselves end within one second.";
        async_indexing: bool = true, Kind::Bool, user,
            "Let the daemon index a session that ends, without waiting. If off, the hook tries to index it before the \
             agent continues, for at most 700 milliseconds.";
    }
    /// The background process.
    daemon: Daemon {
        enabled: bool = true, Kind::Bool, user,
            "Start the daemon when a session starts and, with hooks installed or `daemon.watch`, when a command that reads \
             memory runs. If off, recorded events wait for the next command or session, and `thru view` has no page to \
             open.";
        watch: bool = false, Kind::Bool, user,
            "Let commands start the daemon, which reads transcripts as they are written, even where no hooks are \
             installed.";
        idle_exit_minutes: Minutes = Minutes(120), Kind::Integer { min: 1, max: 100_000 }, user,
            "Minutes without work after which the daemon exits. It starts again when needed.";
    }
    /// The page, the API and MCP over HTTP, on this machine.
    http: Http {
        enabled: bool = false, Kind::Bool, user,
            "Serve the page, the API and MCP over HTTP on this machine while the daemon runs. If off, the daemon \
             listens on no port until `thru view` asks for the page.";
        port: u16 = 37_777, Kind::Integer { min: 1_024, max: 65_000 }, user,
            "Port of the page. If it is taken, the next free one.";
        worker_api: WorkerApi = WorkerApi::Off, Kind::Choice(WorkerApi::NAMES), user,
            "Serve the routes of claude-mem's worker, for editors and clients that use them: `read` serves those that \
             only read, `full` also those that record and remember. They need no token: every program of every user \
             of this machine can use them. The daemon listens as with `http.enabled`.";
    }
    /// The journal.
    journal: Journal {
        alarm_mb: Megabytes = Megabytes(4_096), Kind::Integer { min: 1, max: 1_000_000 }, user,
            "Warn when the journal takes more than this many megabytes. Nothing is ever dropped from it.";
    }
    /// The archive of transcripts.
    archive: Archive {
        verbatim: bool = false, Kind::Bool, user,
            "Archive transcripts exactly as they are, including secrets and private text. Store, index and output are \
             redacted all the same.";
    }
    /// Redaction.
    redact: Redact {
        allow: Vec<String> = Vec::new(), Kind::List, user,
            "Texts that look like secrets and are not: a text that one of these matches as a whole is never redacted.";
    }
    /// Distillation.
    distil: Distil {
        enabled: bool = true, Kind::Bool, user,
            "Make observations and summaries of sessions. If off, history can only be searched.";
    }
    /// The language model that refines memories.
    models: Models {
        provider: String = "none".to_owned(), Kind::Choice(&["none", "anthropic", "openai", "openrouter", "lmstudio", "llamacpp", "vllm", "ollama", "claude-cli"]), user,
            "Provider of the model that improves memories in the background. `thru models set` sets it. With `none`, \
             memories are made without a model.";
        model: Option<String> = None, Kind::Text, user,
            "The model. Empty means the provider's default, as `thru models list` shows it.";
        session_model: Option<String> = None, Kind::Text, user,
            "The model for summaries of sessions. Empty means the same model.";
        url: Option<String> = None, Kind::Text, user,
            "Address of the provider. Empty means its usual one.";
        fallback: String = "none".to_owned(), Kind::Choice(&["none", "ollama", "lmstudio", "llamacpp", "vllm"]), user,
            "A model on this machine to ask when the provider does not answer.";
        fallback_model: Option<String> = None, Kind::Text, user,
            "The fallback's model.";
        fallback_url: Option<String> = None, Kind::Text, user,
            "Address of the fallback, which must be on this machine. Empty means its usual one.";
        since: Option<String> = None, Kind::Text, user,
            "Time from which models are asked (RFC 3339); `thru models set` writes it. Nothing older is sent \
             automatically; `thru distil --run` sends it.";
        off: bool = false, Kind::Bool, both,
            "Send nothing of sessions that run in this directory to a model or to an embedding server.";
        timeout_seconds: Seconds = Seconds(120), Kind::Integer { min: 1, max: 3_600 }, user,
            "Seconds after which a model that does not answer is given up.";
        context_tokens: u32 = 8_192, Kind::Integer { min: 2_048, max: 1_000_000 }, user,
            "Context size that Ollama allocates (`num_ctx`), for prompt and answer.";
        turn_tokens: u64 = 4_000, Kind::Integer { min: 500, max: 100_000 }, user,
            "Upper limit, in estimated tokens, of a request about a turn.";
        session_tokens: u64 = 6_000, Kind::Integer { min: 500, max: 100_000 }, user,
            "Upper limit, in estimated tokens, of a request about a session.";
        answer_tokens: u32 = 1_500, Kind::Integer { min: 200, max: 32_000 }, user,
            "Tokens that an answer may have.";
        concurrency: usize = 1, Kind::Integer { min: 1, max: 8 }, user,
            "Requests in progress at a time.";
        requests_per_minute: usize = 30, Kind::Integer { min: 1, max: 1_000 }, user,
            "Upper limit of requests per minute to a model that is not on this machine.";
        input_price_cents: i64 = -1, Kind::Integer { min: -1, max: 1_000_000 }, user,
            "Price of a million input tokens in cents, if it is unknown or differs. -1 means the known price.";
        output_price_cents: i64 = -1, Kind::Integer { min: -1, max: 1_000_000 }, user,
            "Price of a million output tokens in cents. -1 means the known price.";
        claude_api_key: bool = false, Kind::Bool, user,
            "Let the `claude` program use `ANTHROPIC_API_KEY` from the environment. If off, it uses the account it is \
             signed in to.";
    }
    /// The model that embeds texts.
    embedding: Embedding {
        provider: EmbeddingProvider = EmbeddingProvider::Bundled, Kind::Choice(EmbeddingProvider::NAMES), user,
            "Where vectors come from, so that search finds what means the same in other words: the bundled model, a \
             server, or nowhere. A server sees all that is said in sessions, every memory and every question.";
        model: Option<String> = None, Kind::Text, user,
            "The server's model, such as `nomic-embed-text`.";
        url: Option<String> = None, Kind::Text, user,
            "Address of the server, without `/v1` or `/api`. Empty means its usual one: Ollama on this machine, or \
             OpenAI.";
        timeout_seconds: Seconds = Seconds(60), Kind::Integer { min: 1, max: 3_600 }, user,
            "Seconds after which a server that does not answer is given up.";
        folder: Option<String> = None, Kind::Text, user,
            "Folder with other copies of the bundled model's files. Empty means those in the program.";
    }
    /// Limits on the cost of models.
    budget: Budget {
        daily_tokens: u64 = 500_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, user,
            "Tokens that models may use per day (UTC), input and output. What is left waits for the next day.";
        monthly_tokens: u64 = 5_000_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, user,
            "Tokens that models may use per month.";
        daily_cents: u64 = 100, Kind::Integer { min: 0, max: 1_000_000_000 }, user,
            "US cents that models may cost per day.";
        monthly_cents: u64 = 1_000, Kind::Integer { min: 0, max: 1_000_000_000 }, user,
            "US cents that models may cost per month.";
        project_daily_tokens: u64 = 500_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, both,
            "Tokens that models may use per day for one project.";
        project_monthly_tokens: u64 = 5_000_000, Kind::Integer { min: 0, max: 1_000_000_000_000 }, both,
            "Tokens that models may use per month for one project.";
        project_daily_cents: u64 = 100, Kind::Integer { min: 0, max: 1_000_000_000 }, both,
            "US cents that models may cost per day for one project.";
        project_monthly_cents: u64 = 1_000, Kind::Integer { min: 0, max: 1_000_000_000 }, both,
            "US cents that models may cost per month for one project.";
    }
    /// Delivery of insights to other programs.
    sinks: Sinks {
        mcp: Option<String> = None, Kind::Text, user,
            "An MCP server that receives finished summaries and what was learned: a URL, or a command. Empty means \
             none.";
        mcp_allow_remote: bool = false, Kind::Bool, user,
            "Deliver to a server that is not on this machine.";
        mcp_summary_tool: String = "thread_persist".to_owned(), Kind::Text, user,
            "The server's tool for summaries.";
        mcp_memory_tool: String = "memory_add".to_owned(), Kind::Text, user,
            "The server's tool for what was learned and decided.";
    }
    /// Packs: memory for sessions that start or go on.
    context: Context {
        off: bool = false, Kind::Bool, both,
            "Give no memory to sessions that start in this directory.";
        tokens: u64 = 900, Kind::Integer { min: 200, max: 10_000 }, user,
            "Budget, in estimated tokens, for a session that starts or was compacted.";
        prompt_tokens: u64 = 500, Kind::Integer { min: 200, max: 4_000 }, user,
            "Budget, in estimated tokens, for a prompt that something in memory bears on.";
        observations: usize = 50, Kind::Integer { min: 0, max: 200 }, user,
            "Maximum number of observations that a session is given.";
        sessions: usize = 10, Kind::Integer { min: 0, max: 50 }, user,
            "Number of earlier sessions that a starting session's pack considers.";
        types: Vec<ObservationType> = Vec::new(), Kind::Words(&ObservationType::NAMES), user,
            "Only observations of these types: bugfix, feature, refactor, change, discovery, decision.";
        concepts: Vec<Concept> = Vec::new(), Kind::Words(&Concept::NAMES), user,
            "Only observations with one of these concepts: how-it-works, why-it-exists, what-changed, \
             problem-solution, gotcha, pattern, trade-off.";
        last_summary: bool = true, Kind::Bool, user,
            "Tell a session that starts how the last one ended.";
        message: bool = true, Kind::Bool, both,
            "Tell the user in one line what a session that starts was given.";
    }
    /// Files with the summaries of compacted sessions.
    summaries: Summaries {
        enabled: bool = true, Kind::Bool, both,
            "Write what a session held when its context was compacted into its project, under `.claude/summaries`. If \
             off, only the store has it. A project can switch it off, not on.";
        location: Option<String> = None, Kind::Text, user,
            "One directory for the summaries of all projects, instead of one in each. Empty means in the project.";
        max: usize = 50, Kind::Integer { min: 1, max: 1_000 }, both,
            "Maximum number of summaries in a project's index, the newest first. A project can have fewer.";
        auto_reload: bool = true, Kind::Bool, both,
            "Give a session what it held before its context was compacted. A project can switch it off, not on.";
        code_snippets: bool = true, Kind::Bool, both,
            "Put short pieces of the code that was written into summaries. A project can switch it off, not on.";
    }
    /// The vault: memory as notes.
    vault: Vault {
        path: Option<String> = None, Kind::Text, user,
            "Folder of the notes that `thru vault init` made.";
        compact_lines: u64 = 500, Kind::Integer { min: 50, max: 100_000 }, user,
            "Number of lines from which the note of an ended session is compacted and archived.";
        compact_days: u64 = 3, Kind::Integer { min: 1, max: 3_650 }, user,
            "Days after which the note of an ended session is compacted and archived.";
        keep_original: bool = false, Kind::Bool, user,
            "Leave a short note that shows the archived one in its place.";
        promote_recalls: u64 = 3, Kind::Integer { min: 1, max: 1_000 }, user,
            "Number of sessions of other projects that recall a note of one project before it is proposed as a note \
             of all.";
        delete_means: String = "hide".to_owned(), Kind::Choice(&["hide", "forget"]), user,
            "Effect of deleting a line that Throughline wrote from a note: `hide` leaves it out of that note, `forget` forgets the \
             memory.";
    }
    /// Search.
    search: Search {
        index_deadline_ms: Milliseconds = Milliseconds(2_000), Kind::Integer { min: 0, max: 60_000 }, user,
            "Milliseconds that a question waits for recent sessions to be indexed. The answer names those that were \
             not done in time.";
        limit: usize = 10, Kind::Integer { min: 1, max: 1000 }, user,
            "Number of passages that `thru search` shows.";
    }
    /// Output in the terminal.
    output: Output {
        color: Color = Color::Auto, Kind::Choice(Color::NAMES), user,
            "When to use colour; `auto` means on a terminal only. `--color WHEN` on any command overrides it.";
        pager: bool = true, Kind::Bool, user,
            "Show output that is longer than the terminal in `$PAGER`, or `less`.";
    }
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

/// Returns the setting of this name.
pub fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}
