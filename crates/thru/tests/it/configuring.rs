//! `thru config`.

use insta::assert_snapshot;
use thru_config::Owner;

use crate::home::Home;

#[test]
fn settings_are_shown_with_where_they_come_from() {
    let home = Home::new();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["config", "show"]), @r#"
    # The project that this directory belongs to. Directories with the same name share one memory, once
    # you trust them (`thru projects trust`).
    project.name = ""

    # Globs of transcript files and project directories that are never read, such as
    # `/home/me/private/**`.
    capture.ignore = []

    # Record nothing of sessions that run in this directory.
    capture.off = false

    # Tools whose calls hooks do not record and search does not show. Answers to questions
    # (`AskUserQuestion`) are always kept.
    capture.skip_tools = ["ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite"]

    # Track sessions: hooks record, transcripts are watched. If off, only `thru import` brings anything
    # in, and no daemon runs, which `thru view` needs.
    session_tracking.enabled = true

    # Seconds without activity after which a session that was not closed is indexed. On machines that
    # work unattended, 300 is a good value.
    session_tracking.inactivity_timeout = 1800

    # Longest time in seconds between the daemon's checks for sessions that have timed out.
    session_tracking.check_interval = 60

    # More directories with transcripts for the daemon to watch, beside those that agents use.
    session_tracking.watch_directories = []

    # Minutes without activity after which a session is idle. After twice that it has ended.
    session.idle_timeout_minutes = 30

    # Hours after its last start or resume at which a session ends, however busy it is.
    session.max_session_duration_hours = 8

    # Number of a session's last actions that `thru session show` lists.
    session.max_hot_entries = 5

    # Index a session when it ends or is left. If off, it waits for the first question, or for `thru
    # close`.
    session.auto_archive_on_end = true

    # Let hooks record and answer. If off, they do nothing; transcripts are read all the same.
    hooks.enabled = true

    # Let programs of this user close and list sessions through the daemon's socket.
    hooks.socket_enabled = true

    # Path of the daemon's socket. Empty means `run` in the data directory.
    hooks.socket_path = ""

    # Seconds after which an agent abandons a hook, as `thru install` writes it into the agent's
    # settings. Hooks themselves end within one second.
    hooks.hook_timeout = 10

    # Let the daemon index a session that ends, without waiting. If off, the hook tries to index it
    # before the agent continues, for at most 700 milliseconds.
    hooks.async_indexing = true

    # Start the daemon when a session starts and, with hooks installed or `daemon.watch`, when a command
    # that reads memory runs. If off, recorded events wait for the next command or session, and `thru
    # view` has no page to open.
    daemon.enabled = true

    # Let commands start the daemon, which reads transcripts as they are written, even where no hooks
    # are installed.
    daemon.watch = false

    # Minutes without work after which the daemon exits. It starts again when needed.
    daemon.idle_exit_minutes = 120

    # Serve the page, the API and MCP over HTTP on this machine while the daemon runs. If off, the
    # daemon listens on no port until `thru view` asks for the page.
    http.enabled = false

    # Port of the page. If it is taken, the next free one.
    http.port = 37777

    # Serve the routes of claude-mem's worker, for editors and clients that use them: `read` serves
    # those that only read, `full` also those that record and remember. They need no token: every
    # program of every user of this machine can use them. The daemon listens as with `http.enabled`.
    http.worker_api = "off"

    # Warn when the journal takes more than this many megabytes. Nothing is ever dropped from it.
    journal.alarm_mb = 4096

    # Archive transcripts exactly as they are, including secrets and private text. Store, index and
    # output are redacted all the same.
    archive.verbatim = false

    # Texts that look like secrets and are not: a text that one of these matches as a whole is never
    # redacted.
    redact.allow = []

    # Make observations and summaries of sessions. If off, history can only be searched.
    distil.enabled = true

    # Provider of the model that improves memories in the background. `thru models set` sets it. With
    # `none`, memories are made without a model.
    models.provider = "none"

    # The model. Empty means the provider's default, as `thru models list` shows it.
    models.model = ""

    # The model for summaries of sessions. Empty means the same model.
    models.session_model = ""

    # Address of the provider. Empty means its usual one.
    models.url = ""

    # A model on this machine to ask when the provider does not answer.
    models.fallback = "none"

    # The fallback's model.
    models.fallback_model = ""

    # Address of the fallback, which must be on this machine. Empty means its usual one.
    models.fallback_url = ""

    # Time from which models are asked (RFC 3339); `thru models set` writes it. Nothing older is sent
    # automatically; `thru distil --run` sends it.
    models.since = ""

    # Send nothing of sessions that run in this directory to a model or to an embedding server.
    models.off = false

    # Seconds after which a model that does not answer is given up.
    models.timeout_seconds = 120

    # Context size that Ollama allocates (`num_ctx`), for prompt and answer.
    models.context_tokens = 8192

    # Upper limit, in estimated tokens, of a request about a turn.
    models.turn_tokens = 4000

    # Upper limit, in estimated tokens, of a request about a session.
    models.session_tokens = 6000

    # Tokens that an answer may have.
    models.answer_tokens = 1500

    # Requests in progress at a time.
    models.concurrency = 1

    # Upper limit of requests per minute to a model that is not on this machine.
    models.requests_per_minute = 30

    # Price of a million input tokens in cents, if it is unknown or differs. -1 means the known price.
    models.input_price_cents = -1

    # Price of a million output tokens in cents. -1 means the known price.
    models.output_price_cents = -1

    # Let the `claude` program use `ANTHROPIC_API_KEY` from the environment. If off, it uses the account
    # it is signed in to.
    models.claude_api_key = false

    # Where vectors come from, so that search finds what means the same in other words: the bundled
    # model, a server, or nowhere. A server sees all that is said in sessions, every memory and every
    # question.
    embedding.provider = "bundled"

    # The server's model, such as `nomic-embed-text`.
    embedding.model = ""

    # Address of the server, without `/v1` or `/api`. Empty means its usual one: Ollama on this machine,
    # or OpenAI.
    embedding.url = ""

    # Seconds after which a server that does not answer is given up.
    embedding.timeout_seconds = 60

    # Folder with other copies of the bundled model's files. Empty means those in the program.
    embedding.folder = ""

    # Tokens that models may use per day (UTC), input and output. What is left waits for the next day.
    budget.daily_tokens = 500000

    # Tokens that models may use per month.
    budget.monthly_tokens = 5000000

    # US cents that models may cost per day.
    budget.daily_cents = 100

    # US cents that models may cost per month.
    budget.monthly_cents = 1000

    # Tokens that models may use per day for one project.
    budget.project_daily_tokens = 500000

    # Tokens that models may use per month for one project.
    budget.project_monthly_tokens = 5000000

    # US cents that models may cost per day for one project.
    budget.project_daily_cents = 100

    # US cents that models may cost per month for one project.
    budget.project_monthly_cents = 1000

    # An MCP server that receives finished summaries and what was learned: a URL, or a command. Empty
    # means none.
    sinks.mcp = ""

    # Deliver to a server that is not on this machine.
    sinks.mcp_allow_remote = false

    # The server's tool for summaries.
    sinks.mcp_summary_tool = "thread_persist"

    # The server's tool for what was learned and decided.
    sinks.mcp_memory_tool = "memory_add"

    # Give no memory to sessions that start in this directory.
    context.off = false

    # Budget, in estimated tokens, for a session that starts or was compacted.
    context.tokens = 900

    # Budget, in estimated tokens, for a prompt that something in memory bears on.
    context.prompt_tokens = 500

    # Maximum number of observations that a session is given.
    context.observations = 50

    # Number of earlier sessions that a starting session's pack considers.
    context.sessions = 10

    # Only observations of these types: bugfix, feature, refactor, change, discovery, decision.
    context.types = []

    # Only observations with one of these concepts: how-it-works, why-it-exists, what-changed,
    # problem-solution, gotcha, pattern, trade-off.
    context.concepts = []

    # Tell a session that starts how the last one ended.
    context.last_summary = true

    # Tell the user in one line what a session that starts was given.
    context.message = true

    # Write what a session held when its context was compacted into its project, under
    # `.claude/summaries`. If off, only the store has it. A project can switch it off, not on.
    summaries.enabled = true

    # One directory for the summaries of all projects, instead of one in each. Empty means in the
    # project.
    summaries.location = ""

    # Maximum number of summaries in a project's index, the newest first. A project can have fewer.
    summaries.max = 50

    # Give a session what it held before its context was compacted. A project can switch it off, not on.
    summaries.auto_reload = true

    # Put short pieces of the code that was written into summaries. A project can switch it off, not on.
    summaries.code_snippets = true

    # Folder of the notes that `thru vault init` made.
    vault.path = ""

    # Number of lines from which the note of an ended session is compacted and archived.
    vault.compact_lines = 500

    # Days after which the note of an ended session is compacted and archived.
    vault.compact_days = 3

    # Leave a short note that shows the archived one in its place.
    vault.keep_original = false

    # Number of sessions of other projects that recall a note of one project before it is proposed as a
    # note of all.
    vault.promote_recalls = 3

    # Effect of deleting a line that Throughline wrote from a note: `hide` leaves it out of that note,
    # `forget` forgets the memory.
    vault.delete_means = "hide"

    # Milliseconds that a question waits for recent sessions to be indexed. The answer names those that
    # were not done in time.
    search.index_deadline_ms = 2000

    # Number of passages that `thru search` shows.
    search.limit = 10

    # When to use colour; `auto` means on a terminal only. `--color WHEN` on any command overrides it.
    output.color = "auto"

    # Show output that is longer than the terminal in `$PAGER`, or `less`.
    output.pager = true
    "#);
    home.thru(&["config", "set", "search.limit", "7"]).expect(0);
    let shown = home.thru(&["config", "show", "--origin"]).expect(0).stdout;
    let limit = shown.lines().find(|line| line.starts_with("search.limit")).unwrap();
    assert_snapshot!(limit, @"search.limit = 7  # [folder]/home/config.toml");
    let json = home.json(&["config", "show", "--json", "--origin"]);
    assert_eq!(json["settings"].as_array().unwrap().len(), shown.matches(" = ").count());
}

#[test]
fn a_setting_is_set_and_read_back() {
    let home = Home::new();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["config", "get", "search.limit"]), @"10");
    assert_snapshot!(home.shown(&["config", "set", "search.limit", "25"]), @"Set search.limit in [folder]/home/config.toml.");
    assert_snapshot!(home.shown(&["config", "get", "search.limit"]), @"25");
    home.thru(&["config", "set", "capture.ignore", "/a/**,/b c/*"]).expect(0);
    assert_snapshot!(home.shown(&["config", "get", "capture.ignore"]), @r#"["/a/**", "/b c/*"]"#);
    assert_snapshot!(home.shown(&["config", "path"]), @r"
    configuration  [folder]/home/config.toml
    data           [folder]/home
    ");
}

#[test]
fn comments_and_order_of_the_file_stay() {
    let home = Home::new();
    std::fs::create_dir(home.data()).unwrap();
    let file = home.data().join("config.toml");
    std::fs::write(&file, "# mine\n[output]\npager = false # no pager\n\n[search]\nlimit = 3\n")
        .unwrap();
    home.thru(&["config", "set", "search.limit", "4"]).expect(0);
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, "# mine\n[output]\npager = false # no pager\n\n[search]\nlimit = 4\n");
}

#[test]
fn what_cannot_be_set_is_an_error_that_helps() {
    let home = Home::new();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["config", "set", "serch.limit", "3"]), @r"
    -- stderr --
    error: there is no setting `serch.limit`.
    hint: did you mean `search.limit`?
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["config", "set", "project.name", "rocket"]), @r#"
    -- stderr --
    error: `project.name` has no effect in settings that apply to every project.
    hint: write `project.name = "rocket"` in the project's `.throughline.toml`.
    -- exit 2 --
    "#);
    assert_snapshot!(home.shown(&["config", "get", "search.limt"]), @r"
    -- stderr --
    error: there is no setting `search.limt`.
    hint: did you mean `search.limit`?
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["config", "set", "zzz", "3"]), @r"
    -- stderr --
    error: there is no setting `zzz`.
    hint: `thru config show` lists the settings.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["config", "set", "search.limit", "many"]), @r"
    -- stderr --
    error: `search.limit` takes a whole number from 1 to 1000.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["config", "set", "search.limit", "0"]), @r"
    -- stderr --
    error: `search.limit` takes a whole number from 1 to 1000.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["config", "set", "output.color", "blue"]), @r"
    -- stderr --
    error: `output.color` takes one of `auto`, `always`, `never`.
    -- exit 2 --
    ");
    assert!(!home.data().join("config.toml").exists());
}

#[test]
fn an_unknown_key_in_the_file_is_an_error_with_a_suggestion() {
    let home = Home::with_history();
    let _settings = home.settings();
    std::fs::create_dir(home.data()).unwrap();
    std::fs::write(home.data().join("config.toml"), "[search]\nlimmit = 3\n").unwrap();
    assert_snapshot!(home.shown(&["import"]), @r"
    -- stderr --
    error: [folder]/home/config.toml: there is no setting `search.limmit`; did you mean `search.limit`?
    hint: correct the file; `thru config show` lists the settings.
    -- exit 2 --
    ");
    // The hint sends the reader there.
    let config = home.thru(&["config"]).expect(0);
    assert!(config.stderr.contains("there is no setting `search.limmit`"), "{}", config.shown());
    assert!(!config.stdout.contains("default value"), "{}", config.shown());
    // What mends it works.
    assert_eq!(home.thru(&["config", "set", "search.limit", "3"]).code, 0);
    std::fs::write(home.data().join("config.toml"), "project.name = 'rocket'\n").unwrap();
    assert_snapshot!(home.shown(&["sessions"]), @"
    -- stderr --
    error: [folder]/home/config.toml: `project.name` has an effect only in a project's own `.throughline.toml`.
    hint: correct the file; `thru config show` lists the settings.
    -- exit 2 --
    ");
    let doctor = home.thru(&["doctor"]).stdout;
    let problem = "home/config.toml: `project.name` has an effect only in a project's own";
    assert!(doctor.contains(problem), "{doctor}");
    std::fs::write(home.data().join("config.toml"), "not toml at [all\n").unwrap();
    assert_snapshot!(home.shown(&["sessions"]), @"
    -- stderr --
    error: [folder]/home/config.toml cannot be read: line 1: key with no value, expected `=`.
    hint: correct the file; `thru config show` lists the settings.
    -- exit 2 --
    ");
    home.thru(&["config", "path"]).expect(0);
}

#[test]
fn a_project_file_cannot_widen_what_is_kept_or_stop_the_work() {
    let home = Home::imported();
    let _settings = home.settings();
    let file = home.folder().join("work/.throughline.toml");
    std::fs::write(&file, "[archive]\nverbatim = true\n[redact]\nallow = [\".*\"]\n").unwrap();
    home.thru(&["search", "--all", "irrigation"]).expect(0);
    assert_snapshot!(home.shown(&["config", "get", "archive.verbatim"]), @r"
    false
    -- stderr --
    note: [folder]/work/.throughline.toml: a project may not set `archive.verbatim`; only your own configuration may.
    note: [folder]/work/.throughline.toml: a project may not set `redact.allow`; only your own configuration may.
    ");
}

#[test]
fn the_file_can_lie_elsewhere() {
    let home = Home::new();
    let file = home.folder().join("user/elsewhere/thru.toml");
    let set = home
        .command()
        .env("THROUGHLINE_CONFIG", &file)
        .args(["config", "set", "search.limit", "9"])
        .output()
        .unwrap();
    assert!(set.status.success());
    assert_eq!(std::fs::read_to_string(file).unwrap(), "[search]\nlimit = 9\n");
}

#[test]
fn the_documents_list_every_setting_as_it_is() {
    let documented = include_str!("../../../../docs/configuration.md");
    let rows: Vec<Vec<&str>> = documented
        .lines()
        .map(|line| line.split('|').map(str::trim).collect::<Vec<_>>())
        .filter(|cells| cells.len() == 7 && cells[1].contains('.'))
        .collect();
    let keys: Vec<&str> = rows.iter().map(|cells| cells[1].trim_matches('`')).collect();
    for key in &keys {
        assert!(thru_config::find(key).is_some(), "there is no setting {key}");
    }
    for setting in thru_config::SETTINGS {
        let row = keys.iter().position(|key| *key == setting.key);
        let cells = &rows[row.unwrap_or_else(|| panic!("{} is not documented", setting.key))];
        let (takes, default, project) = (cells[2], cells[3], cells[4]);
        if let thru_config::Kind::Integer { min, max } = setting.kind {
            assert_eq!(takes, format!("{min} to {max}"), "{}", setting.key);
        }
        match (setting.default)() {
            thru_config::Value::Text(text) if text.is_empty() => assert_eq!(default, "not set"),
            thru_config::Value::Text(text) => assert_eq!(default, format!("`{text}`")),
            thru_config::Value::List(items) if !items.is_empty() => {
                assert!(items.iter().all(|item| default.contains(item)), "{}", setting.key);
            }
            value => assert_eq!(default, format!("`{value}`"), "{}", setting.key),
        }
        let owner = match project {
            "no" => Owner::User,
            "only" => Owner::Project,
            _ => Owner::Both,
        };
        assert_eq!(setting.owner, owner, "{}", setting.key);
    }
}

#[test]
fn one_setting_is_shown_by_its_name() {
    let home = Home::new();
    assert_snapshot!(home.shown(&["config", "show", "search.limit", "--origin"]), @r"
    # Number of passages that `thru search` shows.
    search.limit = 10  # default
    ");
    let answer = home.json(&["config", "show", "search.limit", "--json"]);
    assert_eq!(answer["settings"].as_array().unwrap().len(), 1);
    let ran = home.thru(&["config", "show", "max_summaries"]).expect(2);
    assert!(ran.stderr.contains("did you mean `summaries.max`?"), "{}", ran.shown());
}

#[test]
fn an_entry_of_the_allow_list_that_cannot_be_used_is_named_with_its_file() {
    let home = Home::imported();
    let _settings = home.settings();
    std::fs::write(home.data().join("config.toml"), "redact.allow = [\"((\"]\n").unwrap();
    let ran = home.thru(&["search", "importer"]).expect(2);
    let named =
        ["config.toml: `redact.allow`", "\"((\"", "`thru config show redact.allow --origin`"];
    assert!(named.iter().all(|part| ran.stderr.contains(part)), "{}", ran.shown());
}
