//! The model that embeds texts, and the vectors that there are. Search goes on by
//! words alone where they cannot.

use thru_embed::{EmbedError, check_model};
use thru_store::vectors::{ModelFolder, SegmentProblem, Vectors};

use super::finding::Finding;
use super::seen::Seen;
use crate::embedding::{Chosen, State, who_embeds};
use crate::words::one_line;

const CHECK: &str = "meaning";

/// All that is to be said of it.
pub(super) fn embedding(seen: &Seen<'_>) -> Vec<Finding> {
    let Ok(intake) = &seen.intake else { return Vec::new() };
    let state = match State::look(seen.app, intake) {
        Ok(state) => state,
        Err(error) => {
            let line = one_line(&format!("{error:#}"), 120);
            let remedy = "search uses words only; `thru rebuild` rebuilds store and index";
            return vec![Finding::problem(CHECK, line, remedy)];
        }
    };
    let mut findings = vec![current(seen, &state)];
    findings.extend(state.others_line().map(|line| {
        Finding::note(CHECK, format!("vectors take {line}"), "`thru embed --prune` removes them")
    }));
    findings
}

fn current(seen: &Seen<'_>, state: &State) -> Finding {
    let chosen = match &state.current {
        Err(reason) => {
            let line = format!("texts cannot be embedded: {}", one_line(reason, 120));
            return Finding::problem(CHECK, line, "until then search uses words only");
        }
        Ok(None) => return Finding::ok(CHECK, state.line()),
        Ok(Some((chosen, _))) => chosen,
    };
    if let Some(Err(error)) = chosen.folder().map(check_model) {
        return unusable(seen, chosen, &error);
    }
    if let Some(damaged) = damaged(seen, chosen).first() {
        let path = seen.shown(&damaged.path);
        return Finding::problem(
            CHECK,
            format!("{path}: {}", one_line(&damaged.detail, 80)),
            "`thru embed` recreates these vectors; until then search finds their texts by words",
        );
    }
    match state.waiting() {
        0 => Finding::ok(CHECK, state.line()),
        _ => Finding::note(
            CHECK,
            state.line(),
            format!(
                "search finds the others by words until they are embedded: {}",
                who_embeds(seen.app)
            ),
        ),
    }
}

/// Remedy for a model that is not what it should be.
fn unusable(seen: &Seen<'_>, chosen: &Chosen, error: &EmbedError) -> Finding {
    let folder = chosen.folder().map(|folder| seen.shown(folder)).unwrap_or_default();
    Finding::problem(
        CHECK,
        one_line(&error.to_string(), 200),
        format!(
            "put the model's files of this release at {folder}, or use those in the program with `thru config \
             set embedding.folder ''`; until then search uses words only"
        ),
    )
}

fn damaged(seen: &Seen<'_>, chosen: &Chosen) -> Vec<SegmentProblem> {
    let model = chosen.model();
    let Ok(folder) = ModelFolder::at(&seen.app.layout.vectors(), &model) else {
        return Vec::new();
    };
    // Where nothing tells the dimensions, no file can be read.
    let dimensions = folder.dimensions.unwrap_or(thru_embed::BUNDLED_DIMENSIONS);
    match Vectors::open(&folder.path, dimensions, &model) {
        Ok(vectors) => vectors.verify(),
        Err(error) => vec![SegmentProblem { path: folder.path, detail: error.to_string() }],
    }
}
