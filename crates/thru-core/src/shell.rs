//! Command lines of a POSIX shell, taken apart as far as a reader of transcripts needs it.

/// One command of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// Its words without quotes, with assignments and redirections. Empty between two separators.
    pub words: Vec<String>,
    /// True if it reads what the command before it prints.
    pub is_piped: bool,
    /// True if it runs only if the command before it succeeded: `&&`.
    pub is_conditional: bool,
}

/// Returns the commands of a line, one more than it has separators: `|`, `||`, `&&`, `&`, `;`, line ends and
/// parentheses. A quote that is never closed ends with the line.
pub fn shell_commands(line: &str) -> Vec<ShellCommand> {
    let mut commands = Vec::new();
    let mut command = ShellCommand::default();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars().peekable();
    loop {
        let next = characters.next();
        match next {
            Some(character) if quote == Some(character) => quote = None,
            Some('\\') if quote != Some('\'') => {
                if let Some(escaped) = characters.next().filter(|escaped| *escaped != '\n') {
                    word.get_or_insert_default().push(escaped);
                }
            }
            Some(character) if quote.is_some() => word.get_or_insert_default().push(character),
            Some(character @ ('\'' | '"')) => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            Some('#') if word.is_none() => while characters.next_if(|c| *c != '\n').is_some() {},
            // `2>&1` and `&>file` are one word.
            Some('&')
                if characters.peek() == Some(&'>')
                    || characters.peek() != Some(&'&')
                        && word.as_ref().is_some_and(|word| word.ends_with('>')) =>
            {
                word.get_or_insert_default().push('&');
            }
            None | Some('|' | '&' | ';' | '\n' | '(' | ')') => {
                command.words.extend(word.take());
                commands.push(std::mem::take(&mut command));
                match next {
                    None => return commands,
                    Some('|') => command.is_piped = characters.next_if_eq(&'|').is_none(),
                    Some('&') => command.is_conditional = characters.next_if_eq(&'&').is_some(),
                    Some(_) => {}
                }
            }
            Some(character) if character.is_whitespace() => command.words.extend(word.take()),
            Some(character) => word.get_or_insert_default().push(character),
        }
    }
}

/// Returns what `git` is told to do, with the arguments of that, from the words behind the program. Options before it name
/// another directory or set something.
pub fn git_order(words: &[String]) -> Option<(&str, &[String])> {
    let mut is_value = false;
    let at = words.iter().position(|word| {
        let was_value = std::mem::replace(&mut is_value, matches!(word.as_str(), "-C" | "-c"));
        !was_value && !word.starts_with('-')
    })?;
    Some((words[at].as_str(), &words[at + 1..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn taken_apart(line: &str) -> Vec<(String, bool)> {
        let commands = shell_commands(line).into_iter();
        commands.map(|command| (command.words.join("_"), command.is_piped)).collect()
    }

    #[test]
    fn a_line_is_taken_apart() {
        let commands =
            [("cd_/x", false), ("A=1_make_a b_2>&1", false), ("tail_-5", true), ("ls", false)];
        let commands = commands.map(|(words, is_piped)| (words.to_owned(), is_piped));
        assert_eq!(taken_apart("cd /x && A=1 make 'a b' 2>&1 | tail -5 || ls"), commands);
        assert_eq!(taken_apart("echo \"a && b\" # c && d\nls").len(), 2);
        let conditional = shell_commands("a && b; c & d || e").into_iter();
        let conditional: Vec<bool> = conditional.map(|command| command.is_conditional).collect();
        assert_eq!(conditional, [false, true, false, false, false]);
        assert_eq!(taken_apart("make &> log & 'open ; quote").len(), 2);
        assert_eq!(taken_apart(""), [(String::new(), false)]);
    }

    proptest! {
        #[test]
        fn words_are_taken_apart_as_they_were_put_together(
            words in prop::collection::vec("[a-z' |&;>ä\n]{1,6}", 1..5)
        ) {
            let quoted: Vec<String> =
                words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
            let commands = shell_commands(&quoted.join(" "));
            prop_assert_eq!(commands, [ShellCommand { words, ..ShellCommand::default() }]);
        }
    }
}
