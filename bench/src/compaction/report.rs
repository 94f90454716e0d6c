//! The report, in tables or as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use thru_core::estimated_tokens;

use super::boundary::Boundary;
use super::items::{Class, Items};
use super::packs::Packs;
use crate::metrics::{percent, quantile};

/// The texts that are compared.
const TEXTS: [&str; 4] = ["pack", "agent's summary", "without snapshot", "pack and summary"];

/// The items of one boundary that each text holds.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    session: String,
    path: String,
    is_cut: bool,
    /// For each text: items held and items in all, by class; nothing where there is no such text.
    held: [Option<BTreeMap<Class, (usize, usize)>>; TEXTS.len()],
    tokens: [u64; TEXTS.len()],
    took: Duration,
    bytes: usize,
}

/// Means over sessions.
#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    text: &'static str,
    /// Classes alike, sessions alike.
    share: Option<f64>,
    /// Items alike.
    micro: Option<f64>,
    /// Items alike, by class.
    classes: BTreeMap<&'static str, Option<f64>>,
    tokens: Option<f64>,
    /// Share by thousand tokens.
    rate: Option<f64>,
}

pub(super) struct Report {
    split: Option<String>,
    measured: Vec<Measured>,
}

impl Measured {
    pub(super) fn of(boundary: &Boundary, items: &Items, packs: &Packs) -> Self {
        let texts = texts(boundary, packs);
        let held = texts.each_ref().map(|text| {
            let text = text.as_ref()?;
            let mut held: BTreeMap<Class, (usize, usize)> = BTreeMap::new();
            for item in &items.all {
                let class = held.entry(item.class()).or_default();
                class.0 += usize::from(item.is_in(text));
                class.1 += 1;
            }
            Some(held)
        });
        Self {
            session: boundary.session.clone(),
            path: boundary.path.to_string_lossy().into_owned(),
            is_cut: boundary.summary.is_none(),
            held,
            tokens: texts.map(|text| text.map_or(0, |text| estimated_tokens(&text))),
            took: packs.took,
            bytes: boundary.prefix.len(),
        }
    }

    /// Prints what the pack misses, and whether the agent's summary has it.
    pub(super) fn print_misses(&self, boundary: &Boundary, items: &Items, packs: &Packs) {
        let share = |text: usize| percent(self.share(text));
        println!(
            "\n## {}, {:.1} MB: pack {} % in {} tokens, summary {} % in {} tokens\n",
            self.session,
            self.bytes as f64 / 1e6,
            share(0),
            self.tokens[0],
            share(1),
            self.tokens[1]
        );
        for item in items.all.iter().filter(|item| !item.is_in(&packs.now)) {
            let told = boundary.summary.as_ref().is_some_and(|summary| item.is_in(summary));
            let told = if told { " (in the summary)" } else { "" };
            println!("- {}{told}: {}", item.class().name(), item.shown().replace('\n', " "));
        }
    }

    /// The mean of its classes' shares.
    fn share(&self, text: usize) -> Option<f64> {
        let held = self.held[text].as_ref()?;
        mean(held.values().map(|(held, of)| *held as f64 / *of as f64))
    }
}

fn texts(boundary: &Boundary, packs: &Packs) -> [Option<String>; TEXTS.len()] {
    let both = boundary.summary.as_ref().map(|summary| format!("{}\n{summary}", packs.now));
    [Some(packs.now.clone()), boundary.summary.clone(), Some(packs.without.clone()), both]
}

impl Report {
    pub(super) const fn new(split: Option<String>) -> Self {
        Self { split, measured: Vec::new() }
    }

    pub(super) fn add(&mut self, measured: Measured) {
        self.measured.push(measured);
    }

    pub(super) fn print(&self, as_json: bool) -> Result<()> {
        let mut groups: Vec<(String, Vec<&Measured>)> = Vec::new();
        for (is_cut, name) in [(false, "compactions"), (true, "cuts")] {
            let all: Vec<&Measured> =
                self.measured.iter().filter(|one| one.is_cut == is_cut).collect();
            if let Some(split) = &self.split {
                let (those, others): (Vec<_>, Vec<_>) =
                    all.iter().partition(|one| one.path.contains(split.as_str()));
                groups.push((format!("{name}, {split}"), those));
                groups.push((format!("{name}, others"), others));
            }
            groups.push((format!("{name}, all"), all));
        }
        groups.retain(|(_, group)| !group.is_empty());
        if as_json {
            let groups: Vec<_> = groups
                .iter()
                .map(|(name, group)| {
                    json!({
                        "name": name, "boundaries": group.len(), "items": items(group),
                        "texts": rows(group),
                    })
                })
                .collect();
            let answer = json!({ "version": 1, "kind": "compaction", "groups": groups });
            println!("{}", serde_json::to_string_pretty(&answer)?);
            return Ok(());
        }
        for (name, group) in &groups {
            print_group(name, group);
        }
        self.print_time();
        Ok(())
    }

    fn print_time(&self) {
        let took: Vec<f64> =
            self.measured.iter().map(|one| one.took.as_secs_f64() * 1_000.0).collect();
        let largest = self.measured.iter().max_by_key(|one| one.bytes);
        if let (Some(median), Some(largest)) = (quantile(&took, 0.5), largest) {
            println!(
                "Content of a snapshot: median {median:.0} ms, of the largest transcript ({:.1} MB) {:.0} ms.",
                largest.bytes as f64 / 1e6,
                largest.took.as_secs_f64() * 1_000.0
            );
        }
    }
}

fn print_group(name: &str, group: &[&Measured]) {
    let all = items(group);
    let counts: Vec<String> = all.iter().map(|(class, count)| format!("{count} {class}")).collect();
    println!("{name}: {} boundaries, {}\n", group.len(), counts.join(", "));
    println!(
        "| text | share, % | micro, % | files | identifiers | commands | decisions | tokens | by 1,000 tokens |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for row in rows(group) {
        let classes: Vec<String> = Class::ALL
            .into_iter()
            .map(|class| percent(row.classes.get(class.name()).copied().flatten()))
            .collect();
        println!(
            "| {} | {} | {} | {} | {:.0} | {} |",
            row.text,
            percent(row.share),
            percent(row.micro),
            classes.join(" | "),
            row.tokens.unwrap_or_default(),
            percent(row.rate),
        );
    }
    println!();
}

fn items(group: &[&Measured]) -> BTreeMap<&'static str, usize> {
    let count = |class: Class| {
        let of = |one: &&Measured| Some(one.held[0].as_ref()?.get(&class)?.1);
        group.iter().filter_map(of).sum()
    };
    Class::ALL.into_iter().map(|class| (class.name(), count(class))).collect()
}

fn rows(group: &[&Measured]) -> Vec<Row> {
    let texts = TEXTS.iter().enumerate();
    let rows = texts.map(|(text, name)| row(name, text, group));
    rows.filter(|row| row.share.is_some()).collect()
}

fn row(name: &'static str, text: usize, group: &[&Measured]) -> Row {
    let with: Vec<&&Measured> = group.iter().filter(|one| one.held[text].is_some()).collect();
    let sum = |class: Option<Class>| {
        let held = with.iter().filter_map(|one| one.held[text].as_ref()).flatten();
        let held = held.filter(|(one, _)| class.is_none_or(|class| class == **one));
        let (held, of) = held.fold((0, 0), |sum, (_, held)| (sum.0 + held.0, sum.1 + held.1));
        (of > 0).then(|| held as f64 / of as f64)
    };
    let by_session = |value: &dyn Fn(&Measured) -> Option<f64>| {
        let mut sessions: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for one in &with {
            sessions.entry(&one.session).or_default().extend(value(one));
        }
        mean(sessions.into_values().filter_map(|values| mean(values.into_iter())))
    };
    Row {
        text: name,
        share: by_session(&|one| one.share(text)),
        micro: sum(None),
        classes: Class::ALL.into_iter().map(|class| (class.name(), sum(Some(class)))).collect(),
        tokens: by_session(&|one| Some(one.tokens[text] as f64)),
        rate: by_session(&|one| {
            (one.tokens[text] > 0)
                .then(|| Some(one.share(text)? * 1_000.0 / one.tokens[text] as f64))
                .flatten()
        }),
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    (count > 0.0).then(|| sum / count)
}
