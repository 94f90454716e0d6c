//! Our MCP server among those of a file: put in and taken out, everything else byte for byte as it was. For
//! agents that take servers as JSON below `mcpServers`.
//!
//! A server of our name that runs another program is not ours.

use serde_json::Value;

use super::command::is_own_program;
use super::document::{Member, Node, is_blank};
use super::merge::{Cuts, Layout, Refusal, cut_out, cuts_in, quote, root_of, unexpected, value_of};

/// The name of our server.
pub const SERVER_NAME: &str = "throughline";

/// The key below which servers stand.
const SERVERS: &str = "mcpServers";

/// The command that makes our program a server.
const CALL: &str = "mcp";

/// The server that stands in a file under our name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Server {
    /// Ours, with the program that it runs.
    Ours(String),
    /// Another program.
    Foreign,
}

/// Returns the server that stands in a text under our name, if one does.
///
/// # Errors
/// Returns [`Refusal`] if the text is no JSON object.
pub fn server(text: &str) -> Result<Option<Server>, Refusal> {
    if is_blank(text) {
        return Ok(None);
    }
    let root = root_of(text)?;
    let entry = root.get(SERVERS).and_then(|servers| servers.get(SERVER_NAME));
    Ok(entry.map(|entry| of_entry(text, entry)))
}

fn of_entry(text: &str, entry: &Node) -> Server {
    let value = value_of(text, entry).unwrap_or_default();
    let program = value.get("command").and_then(Value::as_str).unwrap_or_default();
    let first = value.get("args").and_then(|arguments| arguments.get(0)).and_then(Value::as_str);
    match is_own_program(program) && first == Some(CALL) {
        true => Server::Ours(program.to_owned()),
        false => Server::Foreign,
    }
}

/// Returns the text with our server in it; `None` stands for a file that is not there. A server that runs this
/// program already stays as it is, to the byte, and so does one that is not ours.
///
/// # Errors
/// Returns [`Refusal`] if the text is not what the agent takes.
pub fn add_server(text: Option<&str>, program: &str) -> Result<String, Refusal> {
    let whole = || {
        let layout = Layout::usual();
        format!("{{\n  {}\n}}\n", servers(&layout, program, "  "))
    };
    let Some(text) = text else { return Ok(whole()) };
    if is_blank(text) {
        return Ok(format!("{text}\n{}", whole()));
    }
    match server(text)? {
        Some(Server::Foreign) => return Ok(text.to_owned()),
        Some(Server::Ours(known)) if known == program => return Ok(text.to_owned()),
        Some(Server::Ours(_)) => {
            let rest = remove_server(text)?;
            return add_server(rest.as_deref(), program);
        }
        None => {}
    }
    let root = root_of(text)?;
    let layout = Layout::found_in(text, &root);
    let (at, piece) = match root.get(SERVERS) {
        None => layout.append(text, &root, root.members().unwrap_or_default(), |indent| {
            vec![servers(&layout, program, indent)]
        }),
        Some(known) => {
            let members = known.members().ok_or_else(|| unexpected(SERVERS, "an object"))?;
            layout.append(text, known, members, |_| vec![member(program)])
        }
    };
    let mut changed = text.to_owned();
    changed.insert_str(at, &piece);
    Ok(changed)
}

/// Returns the text without our server; `None` if nothing is left of a file that we made.
///
/// # Errors
/// Returns [`Refusal`] if the text is no JSON object.
pub fn remove_server(text: &str) -> Result<Option<String>, Refusal> {
    if is_blank(text) {
        return Ok(Some(text.to_owned()));
    }
    let root = root_of(text)?;
    let members = root.members().unwrap_or_default();
    let cuts = cuts_in(text, &root, members, |known| match known.key == SERVERS {
        true => {
            let is_ours = |one: &Member| {
                one.key == SERVER_NAME && matches!(of_entry(text, &one.value), Server::Ours(_))
            };
            let servers = known.value.members().unwrap_or_default();
            cuts_in(text, &known.value, servers, |one| match is_ours(one) {
                true => Cuts::All,
                false => Cuts::Some(Vec::new()),
            })
        }
        false => Cuts::Some(Vec::new()),
    });
    Ok(cut_out(text, &root, cuts))
}

/// The member that holds all servers.
fn servers(layout: &Layout, program: &str, indent: &str) -> String {
    let Layout { newline, unit } = layout;
    format!("{}: {{{newline}{indent}{unit}{}{newline}{indent}}}", quote(SERVERS), member(program))
}

/// Our server, on one line.
fn member(program: &str) -> String {
    format!(
        "{}: {{ \"type\": \"stdio\", \"command\": {}, \"args\": [{}] }}",
        quote(SERVER_NAME),
        quote(program),
        quote(CALL)
    )
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use proptest::prelude::*;

    use super::*;

    const PROGRAM: &str = "/opt/my bin/thru";

    #[test]
    fn a_file_that_is_not_there_is_made_and_goes_again() {
        let made = add_server(None, PROGRAM).unwrap();
        assert_snapshot!(made, @r#"
        {
          "mcpServers": {
            "throughline": { "type": "stdio", "command": "/opt/my bin/thru", "args": ["mcp"] }
          }
        }
        "#);
        assert_eq!(server(&made).unwrap(), Some(Server::Ours(PROGRAM.to_owned())));
        assert_eq!(remove_server(&made).unwrap(), None);
    }

    #[test]
    fn others_stay_as_they_were() {
        for text in [
            "{}",
            "{\"numStartups\":7,\"mcpServers\":{}}",
            "{\n\t\"mcpServers\": {\n\t\t\"github\": {\"command\": \"gh-mcp\"}\n\t},\n\t\"z\": 1\n}\n",
            "{ \"mcpServers\": { \"a\": { \"command\": \"thru\", \"args\": [\"mcp\"] } } }",
            "",
        ] {
            let with = add_server(Some(text), PROGRAM).unwrap();
            assert_eq!(server(&with).unwrap(), Some(Server::Ours(PROGRAM.to_owned())), "{with}");
            assert_eq!(add_server(Some(&with), PROGRAM).unwrap(), with);
            assert_eq!(remove_server(&with).unwrap().as_deref(), Some(text), "{with}");
            let moved = add_server(Some(&with), "/new/thru").unwrap();
            assert_eq!(server(&moved).unwrap(), Some(Server::Ours("/new/thru".to_owned())));
            assert_eq!(remove_server(&moved).unwrap().as_deref(), Some(text), "{moved}");
        }
    }

    #[test]
    fn after_the_client_wrote_the_file_anew_ours_goes_all_the_same() {
        let with = add_server(Some("{\"a\": 1}"), PROGRAM).unwrap();
        let anew = serde_json::from_str::<Value>(&with).unwrap().to_string();
        let rest = remove_server(&anew).unwrap().unwrap();
        assert_eq!(rest, "{\"a\":1}");
    }

    #[test]
    fn what_runs_something_else_under_our_name_is_left_alone() {
        let text =
            "{\"mcpServers\": {\"throughline\": {\"command\": \"npx\", \"args\": [\"mcp\"]}}}";
        assert_eq!(server(text).unwrap(), Some(Server::Foreign));
        assert_eq!(add_server(Some(text), PROGRAM).unwrap(), text);
        assert_eq!(remove_server(text).unwrap().as_deref(), Some(text));
        assert!(add_server(Some("{\"mcpServers\": []}"), PROGRAM).is_err());
        assert!(add_server(Some("[]"), PROGRAM).is_err());
    }

    fn state() -> impl Strategy<Value = String> {
        let entry = prop_oneof![
            Just(r#""github": {"command": "gh"}"#),
            Just("\"throughline-old\": { \"url\": \"x\" }"),
        ];
        let blank = prop_oneof![Just(""), Just(" "), Just("\n\t"), Just("\r\n  ")];
        let servers = prop::collection::vec((blank.clone(), entry), 0..3).prop_map(|entries| {
            let entries: Vec<String> = entries.iter().map(|(b, e)| format!("{b}{e}{b}")).collect();
            format!("\"mcpServers\": {{{}}}", entries.join(","))
        });
        let other = prop_oneof![Just("\"a\": [1, {}]".to_owned()), Just("\"b\":\"}\"".to_owned())];
        let member = prop_oneof![2 => other, 1 => servers];
        prop::collection::vec((blank.clone(), member, blank), 0..4).prop_map(|members| {
            let members: Vec<String> = members
                .iter()
                .map(|(before, one, behind)| format!("{before}{one}{behind}"))
                .collect();
            format!("{{{}}}", members.join(","))
        })
    }

    proptest! {
        #[test]
        fn taking_out_gives_back_every_byte(text in state()) {
            let with = add_server(Some(&text), PROGRAM).unwrap();
            prop_assert_eq!(remove_server(&with).unwrap(), Some(text), "{}", with);
        }

        #[test]
        fn no_text_is_too_odd(text in any::<String>()) {
            let _ = (add_server(Some(&text), PROGRAM), remove_server(&text), server(&text));
        }
    }
}
