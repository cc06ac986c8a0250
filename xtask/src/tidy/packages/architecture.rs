//! Reads the layers and the rules of dependencies from the page of layers, so that the page is the rule.
//!
//! The drawing is a fenced block whose lines begin with `L0`, `L1`, …. The names that follow are crates, up to the first
//! word that is not one. The table's columns are the crates, what they are, and what they must never depend on. The last
//! column is a list of phrases from a small vocabulary; a phrase outside it is itself a violation.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::violation::Violation;

/// The document, by its path from the project's root.
pub(in crate::tidy) const LAYERS: &str = "docs/layers.md";

/// The rules of the document.
#[derive(Debug, Default)]
pub(super) struct Architecture {
    layers: BTreeMap<String, u32>,
    same_layer: BTreeSet<(String, String)>,
    banned: BTreeMap<String, Vec<Ban>>,
    problems: Vec<String>,
}

/// One thing that a crate must not depend on, with the phrase of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ban {
    pub(super) phrase: String,
    pub(super) what: Banned,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Banned {
    /// Crates of ours, by name.
    Ours(Vec<String>),
    /// Published crates, and those whose names begin with one of them and a dash.
    Family(&'static [&'static str]),
    /// The same for one published crate.
    Named(String),
    /// Reading the time: it is an argument in this crate.
    Clock,
}

const RUNTIMES: [&str; 4] = ["acp-agent", "acp-client", "mcp-server", "mcp-client"];
const SCHEMAS: [&str; 2] = ["acp-schema", "mcp-schema"];
const WEB_FRAMEWORKS: &[&str] = &["actix-web", "axum", "poem", "rocket", "salvo", "warp"];

impl Architecture {
    /// Reads the document; `ours` are the packages of the workspace without their prefix.
    pub(super) fn parse(text: &str, ours: &[String]) -> Self {
        let mut this = Self::default();
        let rows = table_rows(text);
        let known: BTreeSet<&str> = ours
            .iter()
            .map(String::as_str)
            .chain(rows.iter().flat_map(|row| row.crates.iter().copied()))
            .collect();
        this.read_layers(text, &known);
        this.read_same_layer(text, &known);
        let mut above = "";
        for row in &rows {
            let rules = if row.rules == "as above" { above } else { row.rules };
            above = rules;
            for name in &row.crates {
                if !ours.iter().any(|ours| ours == name) {
                    this.problems.push(format!("the table has a row for `{name}`, which is not a package"));
                }
                let bans = this.read_rules(rules, name, row, &known);
                this.banned.insert((*name).to_owned(), bans);
            }
        }
        for name in this.layers.keys().filter(|name| !ours.contains(name)) {
            this.problems.push(format!("the drawing has `{name}`, which is not a package"));
        }
        if this.layers.is_empty() || this.banned.is_empty() {
            this.problems.push("found no drawing of layers or no table of rules".into());
        }
        this
    }

    /// The places where the document contradicts itself or the workspace.
    pub(super) fn problems(&self) -> Vec<Violation> {
        self.problems.iter().map(|problem| Violation::new(LAYERS, "architecture", problem)).collect()
    }

    pub(super) fn layer(&self, name: &str) -> Option<u32> {
        self.layers.get(name).copied()
    }

    pub(super) fn may_point_sideways(&self, from: &str, to: &str) -> bool {
        self.same_layer.contains(&(from.to_owned(), to.to_owned()))
    }

    pub(super) fn banned(&self, name: &str) -> Vec<Ban> {
        self.banned.get(name).cloned().unwrap_or_default()
    }

    fn read_layers(&mut self, text: &str, known: &BTreeSet<&str>) {
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let level =
                words.next().and_then(|word| word.strip_prefix('L')).and_then(|level| level.parse().ok());
            let Some(level) = level else { continue };
            for name in words.take_while(|word| known.contains(word)) {
                if self.layers.insert(name.to_owned(), level).is_some() {
                    self.problems.push(format!("the drawing has `{name}` twice"));
                }
            }
        }
    }

    /// `` Same-layer arrows: `a` → `b`, `c` → `d`. ``
    fn read_same_layer(&mut self, text: &str, known: &BTreeSet<&str>) {
        let list = text.lines().find_map(|line| line.trim().strip_prefix("Same-layer arrows:"));
        for arrow in list.unwrap_or_default().split(',').filter(|arrow| !arrow.trim().is_empty()) {
            let names: Vec<&str> = code_spans(arrow);
            match names.as_slice() {
                [from, to] if known.contains(from) && known.contains(to) => {
                    self.same_layer.insert(((*from).to_owned(), (*to).to_owned()));
                }
                _ => self.problems.push(format!("not an arrow between two crates: {}", arrow.trim())),
            }
        }
    }

    fn read_rules(
        &mut self,
        rules: &str,
        name: &str,
        row: &TableRow<'_>,
        known: &BTreeSet<&str>,
    ) -> Vec<Ban> {
        let others = |wanted: &dyn Fn(&str) -> bool| {
            let names = known.iter().filter(|other| **other != name && wanted(other));
            Banned::Ours(names.map(|other| (*other).to_owned()).collect())
        };
        let mut bans = Vec::new();
        for phrase in phrases(rules) {
            let what = match phrase.as_str() {
                "—" | "-" | "nothing" => continue,
                "any crate of ours" => others(&|_| true),
                "schema crates" | "any schema" => others(&|other| SCHEMAS.contains(&other)),
                "runtimes" | "any runtime" | "every runtime of ours" => {
                    others(&|other| RUNTIMES.contains(&other))
                }
                "any concrete transport" => others(&|other| other.starts_with("transport-")),
                "each other" => others(&|other| row.crates.contains(&other)),
                "a web framework" => Banned::Family(WEB_FRAMEWORKS),
                "a clock" | "Instant::now()" => Banned::Clock,
                word if known.contains(word) => others(&|other| other == word),
                word if word.ends_with("-*") => {
                    others(&|other| other.starts_with(word.trim_end_matches('*')))
                }
                word => match word.strip_suffix(" by default").unwrap_or(word) {
                    word if word.contains(char::is_whitespace) || word.contains('/') => {
                        self.problems.push(format!(
                            "the row of `{name}` says `{phrase}`, which tidy does not understand"
                        ));
                        continue;
                    }
                    word => Banned::Named(word.to_owned()),
                },
            };
            bans.push(Ban { phrase, what });
        }
        bans
    }
}

struct TableRow<'a> {
    crates: Vec<&'a str>,
    rules: &'a str,
}

/// The rows of the table whose last heading is "must never depend on".
fn table_rows(text: &str) -> Vec<TableRow<'_>> {
    let lines = text.lines().skip_while(|line| !line.contains("must never depend on"));
    let rows =
        lines.skip_while(|line| !line.starts_with('|')).skip(1).take_while(|line| line.starts_with('|'));
    let mut found = Vec::new();
    for line in rows {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        if let [crates, _, rules] = cells[..]
            && crates.contains('`')
        {
            found.push(TableRow { crates: code_spans(crates), rules });
        }
    }
    found
}

/// The texts between backticks.
pub(in crate::tidy) fn code_spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The phrases of a rule: split at commas, without parentheses and their content, without backticks.
fn phrases(rules: &str) -> Vec<String> {
    let mut plain = String::new();
    let mut depth = 0_u32;
    let mut code = false;
    for character in rules.chars() {
        match character {
            '`' => code = !code,
            '(' if !code => depth += 1,
            ')' if !code => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain.split(',').map(|phrase| phrase.trim().to_owned()).filter(|phrase| !phrase.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "\
```text
L3  peer       transport-stdio      the driver
L1  connection acp-schema           the connection and the types
L0  jsonrpc                         bytes
```

Same-layer arrows: `transport-stdio` → `peer`.

| crate | what it is | must never depend on |
|---|---|---|
| `jsonrpc` | messages | any crate of ours, futures, a clock |
| `peer`, `transport-stdio` | drivers | each other, tokio by default, schema crates (all of them) |
| `connection` | machine | as above |
| `acp-schema` | types | — |
";

    fn ours() -> Vec<String> {
        ["jsonrpc", "peer", "transport-stdio", "connection", "acp-schema"].map(str::to_owned).to_vec()
    }

    #[test]
    fn the_document_is_the_rule() {
        let read = Architecture::parse(DOCUMENT, &ours());
        assert_eq!(read.problems(), []);
        assert_eq!(
            (read.layer("peer"), read.layer("connection"), read.layer("jsonrpc")),
            (Some(3), Some(1), Some(0))
        );
        assert!(
            read.may_point_sideways("transport-stdio", "peer")
                && !read.may_point_sideways("peer", "transport-stdio")
        );
        let peer: Vec<Banned> = read.banned("peer").into_iter().map(|ban| ban.what).collect();
        let others = |names: &[&str]| Banned::Ours(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(
            peer,
            [others(&["transport-stdio"]), Banned::Named("tokio".into()), others(&["acp-schema"])]
        );
        assert_eq!(read.banned("connection").len(), 3, "as above");
        assert_eq!(read.banned("acp-schema"), []);
    }

    #[test]
    fn an_unknown_phrase_is_a_problem() {
        let text = DOCUMENT.replace("| — |", "| anything too heavy |");
        let problems = Architecture::parse(&text, &ours()).problems();
        assert!(problems.iter().any(|problem| problem.what.contains("anything too heavy")), "{problems:?}");
    }

    #[test]
    fn a_crate_that_is_gone_is_a_problem() {
        let without_peer: Vec<String> = ours().into_iter().filter(|name| name != "peer").collect();
        let problems = Architecture::parse(DOCUMENT, &without_peer).problems();
        assert_eq!(problems.len(), 2, "drawn and in the table: {problems:?}");
    }

    #[test]
    fn a_document_without_rules_is_a_problem() {
        assert!(!Architecture::parse("# Nothing", &ours()).problems().is_empty());
    }
}
