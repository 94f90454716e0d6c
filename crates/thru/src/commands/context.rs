//! `thru context`: exactly what a session that starts here now would be given.

use clap::ValueEnum;
use thru_app::Result;
use thru_app::ask::context::{AskContext, ContextMoment, SessionBriefing, context};

use super::shared;
use crate::environment::Environment;
use crate::ui::{Outcome, Page, Tone, one_line, plural, printable};

/// Prints what a session that starts here now would be given; nothing where there is nothing to say.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    thru context                                what a session that starts here is given\n  \
    thru context --prompt 'why is the lock per file'\n  \
    thru context --explain                      why each line is there")]
pub(crate) struct ContextArguments {
    /// For this project instead of the current one
    #[arg(long, short)]
    project: Option<String>,
    /// What this prompt would be given
    #[arg(long, conflicts_with = "source")]
    prompt: Option<String>,
    /// How the session starts
    #[arg(long, value_enum, default_value = "startup")]
    source: Source,
    /// The session that it is given to (the start of its id is enough)
    #[arg(long, short)]
    session: Option<String>,
    /// Say why each line is there
    #[arg(long)]
    explain: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

/// Stands where a line tells of the session itself and there is no memory to show.
const SESSION_ITSELF: &str = "–";

/// The note where a project has no memory.
const NOTHING: &str = "Nothing is known about this project yet";

/// How a session starts, in the agents' own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Source {
    Startup,
    Resume,
    Clear,
    Compact,
}

impl ContextArguments {
    /// What a session that starts in this project is given.
    pub(crate) fn at_start(project: &str) -> Self {
        Self {
            project: Some(project.to_owned()),
            prompt: None,
            source: Source::Startup,
            session: None,
            explain: false,
            json: false,
        }
    }

    fn request(&self) -> AskContext {
        AskContext {
            project: self.project.clone(),
            moment: match (&self.prompt, self.source) {
                (Some(prompt), _) => ContextMoment::Prompt(prompt.clone()),
                (None, Source::Startup | Source::Clear) => ContextMoment::Start,
                (None, Source::Resume) => ContextMoment::Resume,
                (None, Source::Compact) => ContextMoment::Compact,
            },
            session: self.session.clone(),
        }
    }
}

pub(crate) fn run(arguments: &ContextArguments, environment: &Environment) -> Result<Outcome> {
    let context = context(environment, &arguments.request(), environment.progress().call())?;
    environment.answer(arguments.json, &context, |page| {
        if arguments.explain {
            explain(page, &context);
            shared::show_prepared(page, &context.preparation);
        } else {
            for line in context.text.get().lines() {
                page.line(line);
            }
        }
    })?;
    // Standard output stays as an agent is given it: empty.
    let is_asked = arguments.json || arguments.explain;
    if context.lines.is_empty() && !is_asked {
        let note = match context.note.strip_prefix("silent: ") {
            Some(why) => {
                let given =
                    if arguments.prompt.is_some() { "This prompt" } else { "A session here" };
                format!("{given} would be given nothing: {why}")
            }
            None if arguments.prompt.is_some() => "This prompt would be given nothing".to_owned(),
            None => NOTHING.to_owned(),
        };
        environment.tell(&format!("{}.", note.trim_end_matches('.')))?;
    }
    Ok(Outcome::found(!context.lines.is_empty()))
}

fn explain(page: &mut Page, context: &SessionBriefing) {
    for line in &context.lines {
        let short_id = line.id.as_deref().unwrap_or(SESSION_ITSELF);
        let id = page.paint(Tone::Id, short_id);
        let room = page.columns().saturating_sub(short_id.len() + 2);
        page.line(format!("{id}  {}", one_line(&printable(line.title.get()), room)));
        page.line(format!(
            "{:width$}  {}",
            "",
            page.paint(Tone::Quiet, &line.reason),
            width = short_id.len()
        ));
    }
    page.gap();
    let note = if context.note.is_empty() { String::new() } else { format!("; {}", context.note) };
    let lines = plural(context.lines.len() as u64, "line");
    let line = format!("{lines}, about {} tokens{note}.", context.tokens);
    page.toned(Tone::Quiet, &line);
}
