//! Metrics of answers. Every function takes plain lists, so that each can be checked by
//! hand.

use std::collections::{BTreeMap, HashSet};

/// The place, from 0, of the first gold item; what comes twice counts once.
pub(crate) fn place<'t>(
    ranked: impl IntoIterator<Item = &'t str>,
    gold: &HashSet<String>,
) -> Option<usize> {
    let mut seen = HashSet::new();
    ranked.into_iter().filter(|item| seen.insert(*item)).position(|item| gold.contains(item))
}

/// 1 if the place is among the first `k`.
pub(crate) fn hit(place: Option<usize>, k: usize) -> f64 {
    f64::from(u8::from(place.is_some_and(|place| place < k)))
}

/// One by the rank, 0 where nothing was found.
pub(crate) fn reciprocal_rank(place: Option<usize>) -> f64 {
    place.map_or(0.0, |place| 1.0 / (place + 1) as f64)
}

/// The share of `wanted` gold records among the first `k` ranks, each of which holds some records.
pub(crate) fn evidence(
    ranked: &[Vec<String>],
    gold: &HashSet<String>,
    wanted: usize,
    k: usize,
) -> f64 {
    let found: HashSet<&String> =
        ranked.iter().take(k).flatten().filter(|record| gold.contains(*record)).collect();
    if wanted == 0 { 0.0 } else { found.len() as f64 / wanted as f64 }
}

/// Returns the share of pairs in which the positive has the higher value; a tie counts half.
pub(crate) fn auroc(positive: &[f64], negative: &[f64]) -> Option<f64> {
    if positive.is_empty() || negative.is_empty() {
        return None;
    }
    let mut won = 0.0;
    for a in positive {
        for b in negative {
            won += if a > b {
                1.0
            } else if a < b {
                0.0
            } else {
                0.5
            };
        }
    }
    Some(won / (positive.len() * negative.len()) as f64)
}

/// The value below which this share of the values lies (nearest rank).
pub(crate) fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => sorted.get(middle).copied(),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Measurements by group and column, to be averaged.
#[derive(Debug, Default)]
pub(crate) struct Table {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    name: String,
    questions: usize,
    /// Sum and count by column.
    columns: BTreeMap<&'static str, (f64, usize)>,
}

impl Table {
    /// Adds the measurements of one question to a group.
    pub(crate) fn add(&mut self, group: &str, values: &[(&'static str, f64)]) {
        let at = match self.groups.iter().position(|known| known.name == group) {
            Some(at) => at,
            None => {
                let (name, columns) = (group.to_owned(), BTreeMap::new());
                self.groups.push(Group { name, questions: 0, columns });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[at];
        group.questions += 1;
        for (column, value) in values {
            let (sum, count) = group.columns.entry(column).or_default();
            *sum += value;
            *count += 1;
        }
    }

    /// The mean of a column of a group.
    pub(crate) fn mean(&self, group: &str, column: &str) -> Option<f64> {
        let group = self.groups.iter().find(|known| known.name == group)?;
        group.columns.get(column).map(|(sum, count)| sum / *count as f64)
    }

    /// Prints the groups in the order in which they were first met, in percent.
    pub(crate) fn print(&self, label: &str, columns: &[&str]) {
        print!("| {label} | n |");
        for column in columns {
            print!(" {column} |");
        }
        println!("\n|---|---|{}", "---|".repeat(columns.len()));
        for Group { name, questions, .. } in &self.groups {
            print!("| {name} | {questions} |");
            for column in columns {
                print!(" {} |", percent(self.mean(name, column)));
            }
            println!();
        }
    }

    /// Groups by name.
    pub(crate) fn sort(&mut self, key: impl Fn(&str) -> usize) {
        self.groups.sort_by(|a, b| (key(&a.name), &a.name).cmp(&(key(&b.name), &b.name)));
    }
}

/// A share in percent, with one digit; a dash for nothing.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1}", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(items: &[&str]) -> HashSet<String> {
        items.iter().map(|item| (*item).to_owned()).collect()
    }

    #[test]
    fn places_count_each_item_once() {
        assert_eq!(place(["a", "a", "b"], &set(&["b"])), Some(1));
        assert_eq!(place(["a"], &set(&["b"])), None);
        assert_eq!(place([], &set(&["b"])), None);
    }

    #[test]
    fn hits_and_ranks() {
        assert_eq!(
            [hit(Some(0), 1), hit(Some(1), 1), hit(Some(4), 5), hit(None, 5)],
            [1.0, 0.0, 1.0, 0.0]
        );
        assert_eq!(
            [reciprocal_rank(Some(0)), reciprocal_rank(Some(3)), reciprocal_rank(None)],
            [1.0, 0.25, 0.0]
        );
    }

    #[test]
    fn evidence_is_the_share_of_gold_records() {
        let ranked: Vec<Vec<String>> = [vec!["s#1", "s#2"], vec!["s#1"], vec!["t#4"]]
            .iter()
            .map(|rank| rank.iter().map(|record| (*record).to_owned()).collect())
            .collect();
        let gold = set(&["s#1", "s#3", "t#4", "s#9"]);
        assert_eq!(evidence(&ranked, &gold, 4, 1), 0.25);
        assert_eq!(evidence(&ranked, &gold, 4, 2), 0.25);
        assert_eq!(evidence(&ranked, &gold, 4, 10), 0.5);
        assert_eq!(evidence(&ranked, &gold, 0, 10), 0.0);
    }

    #[test]
    fn auroc_by_hand() {
        // Pairs: 3>1, 3>2, 2>1, 2=2: three and a half of four.
        assert_eq!(auroc(&[3.0, 2.0], &[1.0, 2.0]), Some(0.875));
        assert_eq!(auroc(&[], &[1.0]), None);
    }

    #[test]
    fn quantiles_and_medians() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(median(&values), Some(3.0));
        assert_eq!(median(&values[..4]), Some(3.0));
        assert_eq!([quantile(&values, 0.5), quantile(&values, 0.95)], [Some(3.0), Some(5.0)]);
        assert_eq!(quantile(&[], 0.5), None);
    }

    #[test]
    fn tables_average_what_was_measured() {
        let mut table = Table::default();
        table.add("all", &[("hit@1", 1.0), ("ev@10", 0.5)]);
        table.add("all", &[("hit@1", 0.0)]);
        assert_eq!([table.mean("all", "hit@1"), table.mean("all", "ev@10")], [Some(0.5); 2]);
        assert_eq!(table.mean("none", "hit@1"), None);
    }
}
