//! Choices that a person makes, and what is told of them later: with their object, as the agent took them up, and only as
//! long as they stand.

use thru_core::{ObservationType, Outcome};

use super::Story;

/// Returns the titles of the decisions of a story.
fn decisions(story: &Story) -> Vec<String> {
    let told = story.observations().into_iter();
    told.filter(|one| one.kind == ObservationType::Decision).map(|one| one.title).collect()
}

/// Returns the decisions of a prompt between two texts of the agent.
fn decided(before: &str, prompt: &str, after: &str) -> Vec<String> {
    let mut story = Story::default();
    story.asks("what about the bakery?").says(before).asks(prompt).says(after);
    decisions(&story)
}

/// Returns the decisions of an answer to a question of the client.
fn answered(question: &str, header: &str, options: &[&str], answer: &str) -> Vec<String> {
    let options: Vec<String> =
        options.iter().map(|one| format!("label: {one}\ndescription: As it says.\n")).collect();
    let call = format!(
        "questions: question: {question}\nheader: {header}\noptions: {}User has answered your questions: \"{question}\"=\"{answer}\". You can now continue with the user's answers in mind.",
        options.concat()
    );
    let mut story = Story::default();
    story.asks("Plan the bakery").calls("AskUserQuestion", &call);
    decisions(&story)
}

#[test]
fn a_wish_is_told_as_the_agent_says_it_again() {
    let said = "because we want the oven doing the choosing of the tray";
    assert_eq!(
        decided(
            "We could script it.",
            said,
            "You're right. You want the **oven to choose the tray by its weight** with the Scale driver - no fixed list."
        ),
        ["We want the oven to choose the tray by its weight with the Scale driver - no fixed list"]
    );
    assert_eq!(
        decided("We could script it.", said, "You want the oven to choose the tray? That is slow."),
        ["We want the oven doing the choosing of the tray"]
    );
}

#[test]
fn a_correction_that_says_what_holds_is_a_decision() {
    for (said, told) in [
        ("no, use tabs instead of spaces", "Use tabs instead of spaces"),
        ("No, use the long paddle instead of the peel.", "Use the long paddle instead of the peel"),
        ("use the long paddle instead of the peel", "Use the long paddle instead of the peel"),
    ] {
        assert_eq!(decided("I took the peel for the oven.", said, "Right."), [told], "{said}");
    }
}

#[test]
fn a_pick_is_told_as_the_agent_took_it_up() {
    let before = "Two ways:\n\n1. **Print the price on the slip of the counter** (it knows it)\n2. **Add a `/price` page** with all of them\n\nDo you want me to keep the weekly list inside the till, or do you want a proper `/price` page?";
    assert_eq!(
        decided(
            before,
            "1 seems fine for now",
            "Agreed — keeping the weekly list inside the till is the quick fix, and a `/price` page comes later."
        ),
        ["Keep the weekly list inside the till"]
    );
    let told = decided(
        before,
        "1 seems fine for now",
        "Agreed — the slip of the counter prints the price.",
    );
    assert!(told.iter().all(|one| one.contains("Print the price")), "{told:?}");
}

#[test]
fn an_option_is_told_with_the_heading_above_it() {
    let before = "## What to decide\n\n**1. The first flour**\n\nOptions:\n- **Bought flour** (like rye, spelt) - quick but dear\n- **Mill some** - slow\n- **Use what you have**\n\n**2. The shape**\n\nWhich of them fits?";
    assert_eq!(
        decided(before, "bought flour is great. let's keep it simple", "Good."),
        ["First flour: bought flour (like rye, spelt)"]
    );
}

#[test]
fn a_decision_is_told_with_its_reason_its_lead_or_its_order() {
    for (said, told) in [
        (
            "is another - for yeasts, i know some shops that have none. i feel like we want either dry or fresh",
            "We want either dry or fresh (for yeasts)",
        ),
        (
            "ask the apprentice to move the small tins to the upper rack we no longer need the lower rack this aligns better with the mill.",
            "Move the small tins to the upper rack: we no longer need the lower rack",
        ),
        (
            "Given the heat of the shop, I think its better not to store any butter in the front window",
            "Do not store any butter in the front window (given the heat of the shop)",
        ),
        (
            "I reverted your changes - focus only on the scale driver and the tray sensor",
            "I reverted your changes - focus only on the scale driver and the tray sensor",
        ),
    ] {
        assert_eq!(decided("The bakery has two rooms.", said, "Noted."), [told], "{said}");
    }
}

#[test]
fn a_question_that_is_cut_still_fits_its_answer() {
    let question =
        "What should happen if the tray is not known or does not belong to any oven of ours?";
    assert_eq!(
        answered(
            question,
            "Unknown tray",
            &["Check the shape", "Ask the known oven"],
            "Ask the known oven"
        ),
        ["If the tray is not known or does not belong to any oven of ours → Ask the known oven"]
    );
    let lists = "The slips are printed at once and the bills at night. With the new printer in the second room, should there be TWO rolls of paper or ONE merged roll?";
    assert_eq!(
        answered(
            lists,
            "Paper strategy",
            &["Two rolls", "Both (merged and by room)"],
            "Both (merged and by room)"
        ),
        ["Paper strategy: Both (merged and by room)"]
    );
}

#[test]
fn an_answer_that_repeats_an_option_is_told_as_that_option() {
    let options = [
        "Yes — the counter slip is the receipt; the till prints no second paper (Recommended)",
        "Yes, but keep the second paper for the books",
        "No — keep both as they are",
    ];
    assert_eq!(
        answered(
            "Should the slip be the receipt, so that the till prints nothing more at all?",
            "Receipt",
            &options,
            "counter slip is reciept and receipt.Should the till ring"
        ),
        [
            "Should the slip be the receipt? → counter slip is reciept and receipt.Should the till ring"
        ]
    );
    assert_eq!(
        answered(
            "Should the slip be the receipt, so that the till prints nothing more at all?",
            "Receipt",
            &options,
            "counter slip is receipt.Sould the till ring then, and who hears it"
        ),
        ["The counter slip is the receipt; the till prints no second paper"]
    );
}

#[test]
fn a_finding_about_what_was_dropped_afterwards_is_no_title() {
    let mut story = Story::default();
    story
        .asks("is the Steam Valve driver any good?")
        .reads("/p/valve.rs")
        .says("The Steam Valve driver trades speed for quiet: `valve.rs` waits a second before every turn. The bakery never turns it at night, so nothing in the shop gains from that second, and the log shows no complaint about noise in any month of the last year.");
    let told = |story: &Story| story.observations().into_iter().map(|one| one.title).next();
    let title = told(&story).unwrap_or_default();
    assert!(title.contains("Steam Valve"), "{title}");
    story
        .asks("can we do without?")
        .says("1. Are you okay replacing the Steam Valve driver entirely?\n2. Do you want a log?")
        .asks("1 - yeah, 2 - later");
    assert_eq!(told(&story).as_deref(), Some(""));
}

#[test]
fn work_that_a_decision_takes_back_is_told_as_reverted() {
    let message = "use shared oven profile";
    let mut story = Story::default();
    story
        .asks("share the profile with the other shop")
        .edits("/p/.bakery/profile.json")
        .runs(
            &format!("git commit -m \"{message}\""),
            &format!("[main 1a2b3c4] {message}\n 1 file changed"),
            Outcome::Succeeded,
        )
        .says("Done.")
        .asks("we may not need it there")
        .says("Since the shop is public, I agree the better setup is: remove `oven_profile` from the shared `.bakery/profile.json`, keep it local.")
        .asks("yes do that");
    let told = story.observations();
    let work = told.iter().find(|one| one.turn == 1).map(|one| one.title.as_str());
    assert_eq!(work, Some("Tried, then reverted: use shared oven profile"));
}

#[test]
fn a_decision_that_points_is_told_as_what_the_agent_does_about_it() {
    assert_eq!(
        decided(
            "The bakery has two price formats.",
            "the two formats are new, so no need for old readers",
            "Agreed. Since nothing reads them, I'm going to merge the price list into one stored format today."
        ),
        ["Merge the price list into one stored format today"]
    );
}

#[test]
fn agreement_to_a_list_tells_its_orders() {
    let before = "The way to go:\n\n1. Use the stone oven (it is there)\n2. Build a small shelter above the stone oven\n3. The shelter keeps the rain off\n\nDoes this work for you?";
    assert_eq!(
        decided(before, "ok", "Let me look at the yard."),
        ["Use the stone oven; build a small shelter above the stone oven"]
    );
}

#[test]
fn an_order_that_the_agent_repeats_is_told_as_an_order() {
    assert_eq!(
        decided(
            "The bakery has two rooms.",
            "I took it back - focus only on the tray sensor",
            "Understood. Focusing only on the tray sensor (`tray.rs`) and its log."
        ),
        ["Focus only on the tray sensor (tray.rs) and its log"]
    );
}
