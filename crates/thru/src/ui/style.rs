//! Colour, where it is wanted.

use anstyle::{AnsiColor, Style};
use thru_ui::Tone;

/// Paints text, or leaves it plain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    /// Whether to use colour at all.
    pub(crate) color: bool,
}

impl Paint {
    /// The text in a tone.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let style = match tone {
            Tone::Plain => Style::new(),
            Tone::Heading => Style::new().bold(),
            Tone::Id => AnsiColor::Cyan.on_default(),
            Tone::Match => AnsiColor::Yellow.on_default().bold(),
            Tone::Quiet => Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
        };
        format!("{style}{text}{style:#}")
    }
}
