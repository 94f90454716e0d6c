//! The look of a piece of text, by what it is.

use ratatui::style::{Color, Modifier, Style};

/// The role of a piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Plain text.
    Plain,
    /// A heading.
    Heading,
    /// Something to type or to click: ids, commands.
    Id,
    /// Words that match the query.
    Match,
    /// Less important.
    Quiet,
    /// It went well.
    Good,
    /// It went wrong.
    Bad,
}

/// The colours of a terminal, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    /// True to use colour. Without, text is still bold, dim or reversed.
    pub(crate) color: bool,
}

impl Theme {
    /// The style of a tone.
    pub(crate) fn style(self, tone: Tone) -> Style {
        let colored = |color| if self.color { Style::new().fg(color) } else { Style::new() };
        match tone {
            Tone::Plain => Style::new(),
            Tone::Heading => Style::new().add_modifier(Modifier::BOLD),
            Tone::Id => colored(Color::Cyan),
            Tone::Match => colored(Color::Yellow).add_modifier(Modifier::BOLD),
            Tone::Quiet => Style::new().add_modifier(Modifier::DIM),
            Tone::Good => colored(Color::Green),
            Tone::Bad => colored(Color::Red),
        }
    }
}
