//! The terminal: keys in, screens out, and effects outside the application.

use std::io::{Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, enable_raw_mode};
use ratatui::DefaultTerminal;
use thru_app::ask::ProjectScope;
use thru_app::{App, Result};

use crate::ask::Wording;
use crate::draw::draw;
use crate::editor;
use crate::state::{Draft, Effect, Event, Leave, Line, State};
use crate::tone::{Theme, Tone};
use crate::worker::Worker;

/// The time between two looks for answers while no key is pressed.
const LOOK: Duration = Duration::from_millis(40);

/// The start of the terminal UI.
#[derive(Debug)]
pub struct Options {
    /// The query to begin with.
    pub query: String,
    /// The projects to begin with.
    pub project: ProjectScope,
    /// True to use colour.
    pub color: bool,
    /// The wording of errors.
    pub wording: Wording,
}

/// Takes the terminal over until the user leaves, the terminal is gone, or `stop` is set.
///
/// # Errors
/// Fails if standard output is no terminal, or the terminal cannot be read.
pub fn run(app: &App, options: &Options, stop: &AtomicBool) -> Result<Leave> {
    let worker = Worker::start(app.clone(), options.wording)?;
    // A panic gives the terminal back before its message is printed.
    let terminal = ratatui::try_init()?;
    let mut screen = Screen { terminal, theme: Theme { color: options.color } };
    execute!(stdout(), EnableBracketedPaste)?;
    screen.drive(app, &worker, options, stop)
}

/// The terminal while it is ours.
struct Screen {
    terminal: DefaultTerminal,
    theme: Theme,
}

impl Screen {
    fn drive(
        &mut self,
        app: &App,
        worker: &Worker,
        options: &Options,
        stop: &AtomicBool,
    ) -> Result<Leave> {
        let size = self.terminal.size()?;
        let size = (size.width, size.height);
        let (mut state, mut effects) = State::new(&options.query, options.project.clone(), size);
        let mut is_changed = true;
        while !stop.load(Ordering::Relaxed) {
            let mut events = Vec::new();
            for effect in effects.drain(..) {
                match effect {
                    Effect::Ask(request) => worker.ask(request),
                    Effect::Leave(leave) => return Ok(leave),
                    Effect::Copy(text) => {
                        execute!(stdout(), CopyToClipboard::to_clipboard_from(text))?;
                    }
                    Effect::Suspend => self.aside(suspend)?,
                    Effect::Edit(draft) => {
                        events.push(edited(self.aside(|| editor::edit(app, &draft))?));
                    }
                }
            }
            if is_changed {
                self.terminal.draw(|frame| draw(&state, self.theme, frame))?;
            }
            if events.is_empty() {
                if !wait() {
                    break;
                }
                // All of them: crossterm reads ahead, and what it holds is no input to wait for.
                while event::poll(Duration::ZERO)? {
                    events.extend(translated(event::read()?));
                }
            }
            while let Some(answer) = worker.answer()? {
                events.push(Event::Answer(answer));
            }
            is_changed = !events.is_empty();
            effects = events.into_iter().flat_map(|event| state.update(event)).collect();
        }
        Ok(Leave::Quit)
    }

    /// Gives the terminal back while `work` is done.
    fn aside<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        give_back();
        let done = work();
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        self.terminal.clear()?;
        Ok(done)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Leaves the terminal as it was. There is nothing left to do where that fails.
fn give_back() {
    let _ = execute!(stdout(), DisableBracketedPaste);
    let _ = ratatui::try_restore();
    let _ = stdout().flush();
}

/// Waits for input. Returns false once the other end of the terminal is closed: a window, a connection or a multiplexer
/// that ended. Crossterm would read such a terminal for ever.
#[cfg(unix)]
fn wait() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let input = std::io::stdin();
    let mut terminal = [PollFd::new(&input, PollFlags::IN)];
    // A signal may end it early: a resize is one.
    let _ = poll(&mut terminal, Timespec::try_from(LOOK).ok().as_ref());
    !terminal[0].revents().contains(PollFlags::HUP)
}

/// Waits for input.
#[cfg(not(unix))]
fn wait() -> bool {
    let _ = event::poll(LOOK);
    true
}

/// Stops until the shell continues the program.
fn suspend() {
    #[cfg(unix)]
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
}

/// The result of an edit as an event.
fn edited(result: std::result::Result<Option<Draft>, String>) -> Event {
    match result {
        Ok(Some(draft)) => Event::Edited(draft),
        Ok(None) => Event::Said(Line::new(Tone::Quiet, "Nothing was changed.")),
        Err(why) => Event::Said(Line::new(Tone::Bad, why)),
    }
}

/// An event of the terminal as one of ours.
fn translated(event: event::Event) -> Option<Event> {
    match event {
        event::Event::Key(key) => Some(Event::Key(key)),
        event::Event::Paste(text) => Some(Event::Paste(text)),
        event::Event::Resize(columns, lines) => Some(Event::Resized(columns, lines)),
        event::Event::FocusGained | event::Event::FocusLost | event::Event::Mouse(_) => None,
    }
}
