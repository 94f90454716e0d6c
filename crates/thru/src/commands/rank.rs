//! The reasons for a rank: `thru search QUERY --explain-id ID`.

use thru_app::Result;
use thru_app::ask::rank::{ExplainRank, RankReasons, Ranking, explain_rank};

use crate::environment::Environment;
use crate::ui::{Outcome, Tone, count, made_of, meaning};

pub(super) fn run(request: &ExplainRank, json: bool, environment: &Environment) -> Result<Outcome> {
    let ranking = explain_rank(environment, request, environment.progress().call())?;
    environment.answer(json, &ranking, |page| {
        for (number, line) in lines(&ranking).iter().enumerate() {
            let tone = if number == 0 { Tone::Heading } else { Tone::Quiet };
            page.toned(tone, line);
        }
    })?;
    Ok(Outcome::found(ranking.rank.is_some()))
}

fn lines(ranking: &Ranking) -> Vec<String> {
    let rank = ranking.rank.unwrap_or_default();
    let considered = ranking.considered.unwrap_or_default();
    let mut lines = match &ranking.reasons {
        Some(RankReasons::Memory { score, coverage, words }) => vec![
            format!("Memory {rank} of {considered}, with {score:.2}"),
            format!(
                "  It holds {words} of the question's words: {:.0} % of them, weighted by how rare they are.",
                coverage * 100.0
            ),
        ],
        Some(RankReasons::Passage { score, features, similarity, session, .. }) => {
            let mut lines = vec![
                format!("Passage {rank} of {}, with {score:.2}", count(considered as u64)),
                format!("  {}", made_of(&features.0)),
            ];
            lines.extend(similarity.map(|similarity| {
                format!("  The cosine of its meaning and the question's is {similarity:.2}.")
            }));
            if let Some(session) = session {
                lines.push(format!(
                    "Its session is number {} of {}, with {:.2}",
                    session.rank,
                    count(session.considered as u64),
                    session.score
                ));
                lines.push(format!("  {}", made_of(&session.features.0)));
            }
            lines
        }
        None => vec![match ranking.considered {
            Some(considered) => format!(
                "It is none of the {} passages that were looked at closely: it neither holds enough of \
                 the question's words, nor means nearly the same, nor stands beside one that does.",
                count(considered as u64)
            ),
            None => "It is none of the memories that answer this question.".to_owned(),
        }],
    };
    lines.extend(ranking.meaning.as_ref().map(meaning));
    lines
}
