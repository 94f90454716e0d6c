//! The permission to call tools of our MCP server without asking, in a file of settings: put in where the user said so,
//! and taken out again, everything else byte for byte as it was.

use super::document::{Node, is_blank};
use super::merge::{Cuts, Layout, Refusal, cut_out, cuts_in, quote, root_of, unexpected, value_of};

/// The keys of the list.
const PERMISSIONS: &str = "permissions";
const ALLOW: &str = "allow";

/// The tools that change nothing, as permissions name them. The others go on asking.
const READING: [&str; 5] = [
    "mcp__throughline__search",
    "mcp__throughline__timeline",
    "mcp__throughline__get_observations",
    "mcp__throughline__get_session",
    "mcp__throughline__facts",
];

/// Returns the text with our reading tools allowed; `None` stands for a file that is not there.
///
/// # Errors
/// Returns [`Refusal`] if the text is not what the agent takes.
pub fn allow_reading(text: Option<&str>) -> Result<String, Refusal> {
    let text = text.unwrap_or_default();
    if is_blank(text) {
        let list = list(&Layout::usual(), "  ", &READING.map(quote));
        return Ok(format!("{text}{}{{\n  {list}\n}}\n", if text.is_empty() { "" } else { "\n" }));
    }
    let root = root_of(text)?;
    let layout = Layout::found_in(text, &root);
    let Some(permissions) = root.get(PERMISSIONS) else {
        let members = root.members().unwrap_or_default();
        return Ok(put(
            text,
            layout.append(text, &root, members, |indent| {
                vec![list(&layout, indent, &READING.map(quote))]
            }),
        ));
    };
    let members = permissions.members().ok_or_else(|| unexpected(PERMISSIONS, "an object"))?;
    let Some(allowed) = permissions.get(ALLOW) else {
        return Ok(put(
            text,
            layout.append(text, permissions, members, |_| {
                vec![format!("{}: [{}]", quote(ALLOW), READING.map(quote).join(", "))]
            }),
        ));
    };
    let items = allowed.items().ok_or_else(|| unexpected("permissions.allow", "a list"))?;
    let missing: Vec<String> = READING
        .into_iter()
        .filter(|rule| !items.iter().any(|item| is_rule(text, item, &[rule])))
        .map(quote)
        .collect();
    match missing.is_empty() {
        true => Ok(text.to_owned()),
        false => Ok(put(text, layout.append(text, allowed, items, |_| missing))),
    }
}

/// Returns the text without the permissions of our reading tools; `None` if nothing is left of a file that we made.
///
/// # Errors
/// Returns [`Refusal`] if the text is no JSON object.
pub fn forbid_reading(text: &str) -> Result<Option<String>, Refusal> {
    if is_blank(text) {
        return Ok(Some(text.to_owned()));
    }
    let root = root_of(text)?;
    let none = || Cuts::Some(Vec::new());
    let cuts = cuts_in(text, &root, root.members().unwrap_or_default(), |member| {
        if member.key != PERMISSIONS {
            return none();
        }
        cuts_in(text, &member.value, member.value.members().unwrap_or_default(), |member| {
            if member.key != ALLOW {
                return none();
            }
            cuts_in(text, &member.value, member.value.items().unwrap_or_default(), |item| {
                match is_rule(text, item, &READING) {
                    true => Cuts::All,
                    false => none(),
                }
            })
        })
    });
    Ok(cut_out(text, &root, cuts))
}

/// Returns true if the text allows all of our reading tools.
pub(super) fn allows_reading(text: &str) -> bool {
    let Ok(root) = root_of(text) else { return false };
    let allowed = root.get(PERMISSIONS).and_then(|permissions| permissions.get(ALLOW)?.items());
    let allowed = allowed.unwrap_or_default();
    READING.iter().all(|rule| allowed.iter().any(|item| is_rule(text, item, &[rule])))
}

fn is_rule(text: &str, item: &Node, rules: &[&str]) -> bool {
    value_of(text, item)
        .is_some_and(|value| value.as_str().is_some_and(|value| rules.contains(&value)))
}

/// The member that holds the list.
fn list(layout: &Layout, indent: &str, rules: &[String]) -> String {
    let Layout { newline, unit } = layout;
    let rules = rules.join(", ");
    let allow = format!("{}: [{rules}]", quote(ALLOW));
    format!("{}: {{{newline}{indent}{unit}{allow}{newline}{indent}}}", quote(PERMISSIONS))
}

fn put(text: &str, (at, piece): (usize, String)) -> String {
    let mut changed = text.to_owned();
    changed.insert_str(at, &piece);
    changed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_made_and_goes_again() {
        let made = allow_reading(None).unwrap();
        assert!(allows_reading(&made), "{made}");
        assert_eq!(forbid_reading(&made).unwrap(), None);
    }

    #[test]
    fn others_stay_as_they_were() {
        for text in [
            "{}",
            "{\"permissions\":{}}",
            "{\"permissions\": {\"allow\": []}, \"z\": 1}",
            "{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Bash(ls)\",\n\t\t\t\"mcp__throughline\"\n\t\t],\n\t\t\"deny\": [\"Read\"]\n\t}\n}\n",
            "{\"permissions\": {\"deny\": [\"mcp__throughline__forget\"]}}",
            "\n",
            "",
        ] {
            let with = allow_reading(Some(text)).unwrap();
            assert!(allows_reading(&with), "{with}");
            assert_eq!(allow_reading(Some(&with)).unwrap(), with);
            let rest = forbid_reading(&with).unwrap().unwrap_or_default();
            assert_eq!(rest, text, "{with}");
        }
    }

    #[test]
    fn what_the_agent_does_not_take_is_refused() {
        for text in ["[]", "{", "{\"permissions\": []}", "{\"permissions\": {\"allow\": {}}}"] {
            assert!(allow_reading(Some(text)).is_err(), "{text}");
        }
    }

    fn settings() -> impl Strategy<Value = String> {
        let blank = prop_oneof![Just(""), Just(" "), Just("\n\t"), Just("\r\n  ")];
        let rule = prop_oneof![Just("\"Bash(ls)\""), Just("\"mcp__throughline\""), Just("1")];
        let rules = prop::collection::vec((blank.clone(), rule), 0..3);
        let permissions = rules.prop_map(|rules| {
            let rules: Vec<String> =
                rules.iter().map(|(b, rule)| format!("{b}{rule}{b}")).collect();
            format!("\"permissions\": {{\"deny\": [], \"allow\": [{}]}}", rules.join(","))
        });
        let other = prop_oneof![
            Just("\"a\": [1, {}]".to_owned()),
            Just("\"permissions\": { }".to_owned()),
        ];
        let member = prop_oneof![other, permissions];
        prop::collection::vec((blank.clone(), member, blank), 0..2).prop_map(|members| {
            let members: Vec<String> =
                members.iter().map(|(a, one, b)| format!("{a}{one}{b}")).collect();
            format!("{{{}}}", members.join(","))
        })
    }

    proptest! {
        #[test]
        fn taking_out_gives_back_every_byte(text in settings()) {
            let with = allow_reading(Some(&text)).unwrap();
            prop_assert_eq!(forbid_reading(&with).unwrap(), Some(text), "{}", with);
        }

        #[test]
        fn no_text_is_too_odd(text in any::<String>()) {
            let _ = (allow_reading(Some(&text)), forbid_reading(&text), allows_reading(&text));
        }
    }
}
