//! The graph, or what lies around one thing, in the forms of other programs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use serde::Serialize;
use serde_json::json;
use thru_core::{EntityKind, one_line};
use thru_store::{FactFilter, FactTime};

use super::{EntityEntry, FactEntry, NAMED, OpenGraph, ProjectScope, relations_about};
use crate::answer;
use crate::app::App;
use crate::call::Call;
use crate::trouble::{Result, Trouble};

/// Longest label, in characters.
const LABEL: usize = 60;

/// Columns of a canvas, and the size of a card on it.
const COLUMNS: usize = 8;
const CARD: (usize, usize) = (320, 80);

/// A request for the graph.
#[derive(Clone, Debug)]
pub struct ExportGraph {
    /// The thing that it is to be around; empty for all of it.
    pub about: String,
    /// The projects to look in.
    pub project: ProjectScope,
    /// True for facts that ended, too.
    pub history: bool,
}

/// Facts as a graph.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedGraph {
    /// The version of this form.
    pub version: u32,
    /// `graph`.
    pub kind: &'static str,
    /// The facts: its edges, and their ends.
    pub facts: Vec<FactEntry>,
}

/// A form of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// The answer itself.
    Json,
    /// GraphML, as graph editors read it.
    GraphMl,
    /// JSON Canvas.
    Canvas,
    /// A Mermaid diagram.
    Mermaid,
}

impl FromStr for GraphFormat {
    type Err = Trouble;

    fn from_str(name: &str) -> Result<Self> {
        Ok(match name {
            "json" => Self::Json,
            "graphml" => Self::GraphMl,
            "canvas" => Self::Canvas,
            "mermaid" => Self::Mermaid,
            _ => {
                return Err(Trouble::invalid(format!(
                    "unknown format `{name}`; known formats: json, graphml, canvas, mermaid"
                )));
            }
        })
    }
}

/// Returns the facts of the graph, or those around one thing.
///
/// # Errors
/// Fails if the name means nothing, a project cannot be understood, or the store cannot be read.
pub fn export(app: &App, request: &ExportGraph, call: Call<'_>) -> Result<ExportedGraph> {
    let graph = OpenGraph::new(app, &request.project, call)?;
    let store = graph.store();
    let mut named = Vec::new();
    if !request.about.trim().is_empty() {
        named = graph.named(&request.about, NAMED)?;
    }
    let facts = store.facts(&FactFilter {
        projects: graph.projects.clone(),
        entities: (!named.is_empty()).then(|| named.iter().map(|one| one.row).collect()),
        relations: relations_about(&named, Vec::new()),
        time: if request.history { FactTime::Ever } else { FactTime::Now },
        ..FactFilter::default()
    })?;
    Ok(ExportedGraph {
        version: answer::VERSION,
        kind: "graph",
        facts: graph.entries(&facts, None)?,
    })
}

/// A node of a drawing: an entity, or a value.
struct Node {
    label: String,
    kind: &'static str,
}

/// A drawing of the graph.
#[derive(Default)]
struct Drawing {
    nodes: Vec<Node>,
    /// Two nodes, and the words between them.
    edges: Vec<(usize, usize, String)>,
}

impl ExportedGraph {
    /// Returns it in a form.
    ///
    /// # Errors
    /// Fails only if a part of it cannot be written as JSON.
    pub fn rendered(&self, format: GraphFormat) -> Result<String> {
        Ok(match format {
            GraphFormat::Json => answer::json(self)?,
            GraphFormat::GraphMl => self.drawing().graphml(),
            GraphFormat::Canvas => answer::json(&self.drawing().canvas())?,
            GraphFormat::Mermaid => self.drawing().mermaid(),
        })
    }

    fn drawing(&self) -> Drawing {
        let mut drawing = Drawing::default();
        let mut known: BTreeMap<i64, usize> = BTreeMap::new();
        let mut node = |drawing: &mut Drawing, entity: &EntityEntry| {
            *known
                .entry(entity.row)
                .or_insert_with(|| drawing.add(entity.name.get(), entity.kind.as_str()))
        };
        for fact in &self.facts {
            let subject = node(&mut drawing, &fact.subject);
            let object = match &fact.object {
                Some(entity) => node(&mut drawing, entity),
                None => drawing.add(fact.object_shown(), "value"),
            };
            let scope = fact.scope.get();
            let label = match scope.is_empty() {
                true => fact.relation.as_str().to_owned(),
                false => format!("{} ({scope})", fact.relation),
            };
            drawing.edges.push((subject, object, one_line(&label, LABEL)));
        }
        drawing
    }
}

impl Drawing {
    fn add(&mut self, label: &str, kind: &'static str) -> usize {
        self.nodes.push(Node { label: one_line(label, LABEL), kind });
        self.nodes.len() - 1
    }

    fn graphml(&self) -> String {
        let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
            <key id=\"label\" for=\"all\" attr.name=\"label\" attr.type=\"string\"/>\n\
            <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n\
            <graph edgedefault=\"directed\">\n"
            .to_owned();
        for (number, Node { label, kind }) in self.nodes.iter().enumerate() {
            let label = xml(label);
            let _ = writeln!(
                text,
                "<node id=\"n{number}\"><data key=\"label\">{label}</data><data key=\"kind\">{kind}</data></node>"
            );
        }
        for (from, to, label) in &self.edges {
            let label = xml(label);
            let _ = writeln!(
                text,
                "<edge source=\"n{from}\" target=\"n{to}\"><data key=\"label\">{label}</data></edge>"
            );
        }
        text + "</graph>\n</graphml>\n"
    }

    fn canvas(&self) -> serde_json::Value {
        let (width, height) = CARD;
        let nodes = self.nodes.iter().enumerate().map(|(number, node)| {
            let (x, y) = (number % COLUMNS * (width + 80), number / COLUMNS * (height + 80));
            json!({
                "id": format!("n{number}"), "type": "text", "text": node.label,
                "x": x, "y": y, "width": width, "height": height,
            })
        });
        let edges = self.edges.iter().enumerate().map(|(number, (from, to, label))| {
            json!({
                "id": format!("e{number}"), "fromNode": format!("n{from}"), "toNode": format!("n{to}"),
                "label": label,
            })
        });
        json!({ "nodes": nodes.collect::<Vec<_>>(), "edges": edges.collect::<Vec<_>>() })
    }

    fn mermaid(&self) -> String {
        let mut text = "graph LR\n".to_owned();
        for (number, Node { label, kind }) in self.nodes.iter().enumerate() {
            // Values have round corners.
            let (open, close) = match *kind == "value" || *kind == EntityKind::Branch.as_str() {
                true => ("(", ")"),
                false => ("[", "]"),
            };
            let _ = writeln!(text, "  n{number}{open}\"{}\"{close}", mermaid(label));
        }
        for (from, to, label) in &self.edges {
            let _ = writeln!(text, "  n{from} -->|\"{}\"| n{to}", mermaid(label));
        }
        text
    }
}

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns a text that ends no label of a diagram.
fn mermaid(text: &str) -> String {
    text.replace('#', "#35;").replace('"', "#quot;").replace('<', "#lt;").replace('>', "#gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawing() -> Drawing {
        let mut drawing = Drawing::default();
        let (file, value) = (drawing.add("a \"b\" <c>", "file"), drawing.add("pass", "value"));
        drawing.edges.push((file, value, "OUTCOME & co".to_owned()));
        drawing
    }

    #[test]
    fn labels_end_nothing() {
        let diagram = drawing().mermaid();
        assert_eq!(
            diagram,
            "graph LR\n  n0[\"a #quot;b#quot; #lt;c#gt;\"]\n  n1(\"pass\")\n  n0 -->|\"OUTCOME & co\"| n1\n"
        );
        let document = drawing().graphml();
        assert!(
            document.contains("<data key=\"label\">a &quot;b&quot; &lt;c&gt;</data>"),
            "{document}"
        );
        assert!(document.contains("OUTCOME &amp; co"), "{document}");
        let canvas = drawing().canvas();
        assert_eq!(canvas["edges"][0]["toNode"], "n1");
        assert_eq!(canvas["nodes"][1]["x"], 400);
    }
}
