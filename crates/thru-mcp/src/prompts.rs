//! Prompts that a person chooses: recall and handoff.

use rmcp::model::{Prompt, PromptArgument};

/// The name of the prompt that answers from memory.
pub(crate) const RECALL: &str = "recall";
/// The name of the prompt that hands work over.
pub(crate) const HANDOFF: &str = "handoff";

/// Returns all prompts, as clients see them.
pub(crate) fn all() -> Vec<Prompt> {
    vec![
        Prompt::new(
            RECALL,
            Some("Answer a question from what earlier sessions said and did"),
            Some(vec![
                PromptArgument::new("question")
                    .with_description("What you want to know")
                    .with_required(true),
            ]),
        )
        .with_title("Recall"),
        Prompt::new(HANDOFF, Some("Close this session so that the next one can go on"), None)
            .with_title("Hand off"),
    ]
}

/// Returns the prompt about a question, with the fenced results of a search.
pub(crate) fn recall(question: &str, found: &str) -> String {
    format!(
        "Answer this question from the memory of earlier sessions:\n\n{question}\n\n\
         A first search found this:\n\n{found}\n\
         Read what bears on the question with get_observations (all ids in one call), look around it with \
         timeline where order matters, and search again in other words where nothing fits. Then answer briefly, \
         with the ids in brackets, and say so where memory does not know."
    )
}

/// The prompt that hands over.
pub(crate) const HANDOFF_TEXT: &str = "\
Hand this session over to the next one:\n\n\
1. Keep each decision, cause or trap of this session that a later one needs and could not read from the code: one \
remember call each, with its reason. Keep no secrets.\n\
2. Call session_tracking_close with reason \"handoff\", so that this session is indexed.\n\
3. Then say in a few lines: the objective, what is done, what is open, the next step, and the files in play.";
