//! The quotes of the conformance suite's requirements: a requirement quotes the sentence of the specification that demands it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Deserialize;

use super::violation::Violation;

/// The folder with a folder for each protocol.
const REQUIREMENTS: &str = "crates/tools/conformance/requirements";

/// The most words of a quote.
const MAX_WORDS: usize = 15;

#[derive(Deserialize)]
struct File {
    requirement: Vec<Entry>,
}

/// The members of a requirement that the rule needs.
#[derive(Deserialize)]
struct Entry {
    id: String,
    level: String,
    #[serde(default)]
    implied: bool,
    page: String,
    quote: Option<String>,
    #[serde(default)]
    earlier_quotes: BTreeMap<String, String>,
}

/// Checks every file of requirements.
pub(super) fn check(root: &Path) -> Result<Vec<Violation>> {
    let mut violations = Vec::new();
    for protocol in ["acp", "mcp"] {
        let folder = format!("{REQUIREMENTS}/{protocol}");
        let mut files: Vec<_> =
            fs::read_dir(root.join(&folder))?.map(|file| Ok(file?.file_name())).collect::<Result<_>>()?;
        files.sort();
        for name in files {
            let path = format!("{folder}/{}", name.to_string_lossy());
            let text = fs::read_to_string(root.join(&path)).with_context(|| path.clone())?;
            violations.extend(check_file(&path, protocol == "mcp", &text)?);
        }
    }
    Ok(violations)
}

/// By MCP's pages, key words count in capitals only. ACP's pages have no such rule.
fn check_file(path: &str, only_capitals: bool, text: &str) -> Result<Vec<Violation>> {
    let file: File = toml::from_str(text).with_context(|| path.to_owned())?;
    let wrong = file.requirement.iter().filter_map(|entry| {
        let why = problem(entry, only_capitals)?;
        Some(Violation::new(path, "quote", format!("{}: {why}", entry.id)))
    });
    Ok(wrong.collect())
}

fn problem(entry: &Entry, only_capitals: bool) -> Option<String> {
    let Some(quote) = &entry.quote else {
        let why = "an entry without the words that demand it has `implied = true`";
        return (!entry.implied).then(|| why.to_owned());
    };
    if entry.implied {
        return Some("what is implied has no words that demand it, so it has no quote".to_owned());
    }
    entry.earlier_quotes.values().chain([quote]).find_map(|quote| problem_of(quote, entry, only_capitals))
}

fn problem_of(quote: &str, entry: &Entry, only_capitals: bool) -> Option<String> {
    let words = quote.split_whitespace().count();
    if words > MAX_WORDS {
        return Some(format!("the quote has {words} words, and {MAX_WORDS} are the most"));
    }
    let key_words: &[&str] = match entry.level.as_str() {
        "must" => &["MUST", "REQUIRED", "SHALL"],
        "should" => &["SHOULD", "RECOMMENDED"],
        _ => &["MAY", "OPTIONAL"],
    };
    // In a schema, these words demand.
    let of_schema = entry.page.starts_with("schema") && entry.level == "must";
    let schema_words: &[&str] = if of_schema { &["required", "const", "type"] } else { &[] };
    let is_key_word = |word: &str| {
        let is_known = |known: &&str| *known == word || !only_capitals && known.eq_ignore_ascii_case(word);
        key_words.iter().any(is_known) || schema_words.contains(&word)
    };
    let has_one = quote.split(|char: char| !char.is_alphanumeric()).any(is_key_word);
    (!has_one).then(|| format!("the quote has no key word of the level {}", entry.level))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reason why an entry of MCP or ACP is wrong.
    fn why(only_capitals: bool, members: &str) -> Option<String> {
        let text = format!("[[requirement]]\nid = \"X-1\"\n{members}\n");
        let violations = check_file("x.toml", only_capitals, &text).unwrap();
        violations.first().map(|violation| violation.what.clone())
    }

    #[test]
    fn a_demand_has_its_key_word() {
        let must = "level = \"must\"\npage = \"basic\"\nquote = \"Servers MUST answer\"";
        assert_eq!(why(true, must), None);
        assert_eq!(why(true, "level = \"should\"\nimplied = true\npage = \"basic\""), None);
        let should = must.replace("\"must\"", "\"should\"");
        assert_eq!(why(true, &should).unwrap(), "X-1: the quote has no key word of the level should");
        let lower = must.replace("MUST", "must");
        assert!(why(true, &lower).is_some());
        assert_eq!(why(false, &lower), None);
        let part = must.replace("MUST", "MUSTARD");
        assert!(why(false, &part).is_some());
        let schema = must.replace("basic", "schema/v1/X").replace("Servers MUST answer", "required: [a]");
        assert_eq!(why(true, &schema), None);
        assert!(why(true, &schema.replace("schema/v1/X", "basic")).is_some());
    }

    #[test]
    fn quote_is_short_and_absent_from_implied_requirements() {
        assert!(why(true, "level = \"must\"\npage = \"basic\"").unwrap().contains("`implied = true`"));
        let both = "level = \"should\"\nimplied = true\npage = \"basic\"\nquote = \"Servers SHOULD answer\"";
        assert!(why(true, both).unwrap().contains("has no quote"));
        let long = format!("level = \"may\"\npage = \"basic\"\nquote = \"MAY{}\"", " word".repeat(15));
        assert!(why(true, &long).unwrap().contains("16 words"));
    }
}
