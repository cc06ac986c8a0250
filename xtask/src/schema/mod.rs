//! `cargo xtask schema`: the JSON Schema and the method table of every version of both protocols.
//!
//! The types are the source. Each protocol's module makes one document per version from them. This module writes the
//! documents below `docs/schema/` and reference pages below `docs/reference/`, and finds stale ones. With `--upstream`, it
//! compares each document with the schema that the protocol publishes.

mod acp;
mod compare;
mod document;
mod errata;
mod fetch;
mod mcp;
mod reference;
mod shape;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use agentwire_test_support::cargo;
use anyhow::{Result, bail, ensure};
use serde_json::Value;

use self::document::ProtocolSchema;
use self::errata::Errata;
use self::fetch::Upstream;

const USAGE: &str = "\
cargo xtask schema [--check] [--upstream [DIR]]

                     write docs/schema/ and docs/reference/
  --check            write nothing; fail when a file there is stale, missing or not ours
  --upstream [DIR]   write nothing; compare with the published schemas in DIR, or with those that registry packages carry";

/// The generated folders. A file in them that is not generated is stale.
const FOLDERS: [&str; 2] = ["docs/schema", "docs/reference"];

#[derive(Default)]
struct Options {
    check: bool,
    upstream: bool,
    folder: Option<PathBuf>,
}

/// Writes, checks or compares the schemas.
pub(crate) fn run(root: &Path, arguments: lexopt::Parser) -> Result<()> {
    let options = parse(arguments)?;
    let all = everything()?;
    let files = files(&all)?;
    if options.check {
        check(root, &files)?;
    }
    if options.upstream {
        let upstream = match &options.folder {
            Some(folder) => fetch::folder(folder)?,
            None => fetch::registries(&cargo::target(root)?.join("published-schemas"))?,
        };
        compare_all(&all, &upstream)?;
    }
    if !options.check && !options.upstream {
        write(root, &files)?;
    }
    Ok(())
}

fn parse(mut arguments: lexopt::Parser) -> Result<Options> {
    use lexopt::prelude::*;
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("check") => options.check = true,
            Long("upstream") => {
                options.upstream = true;
                options.folder = arguments.optional_value().map(PathBuf::from);
            }
            Value(folder) if options.upstream && options.folder.is_none() => {
                options.folder = Some(folder.into())
            }
            Long("help") | Short('h') => bail!("{USAGE}"),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    Ok(options)
}

/// Every version of both protocols, oldest first.
fn everything() -> Result<Vec<ProtocolSchema>> {
    let mut all: Vec<ProtocolSchema> = acp::schemas()?.into_iter().chain(mcp::schemas()?).collect();
    for schema in &mut all {
        let prose = reference::Prose::new(&schema.document);
        plain_descriptions(&mut schema.document, &prose);
    }
    Ok(all)
}

/// Rewrites descriptions: they are doc comments, with rustdoc's links to Rust items.
fn plain_descriptions(schema: &mut Value, prose: &reference::Prose) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(text) if keyword == "description" => *text = prose.plain(text),
                    value => plain_descriptions(value, prose),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| plain_descriptions(item, prose)),
        _ => {}
    }
}

/// All generated files, by their path from the project's root.
fn files(all: &[ProtocolSchema]) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for ProtocolSchema { protocol, version, document, meta } in all {
        files.insert(format!("docs/schema/{protocol}/{version}.json"), pretty(document)?);
        files.insert(format!("docs/schema/{protocol}/{version}.meta.json"), pretty(meta)?);
    }
    files.extend(
        reference::pages(all).into_iter().map(|(name, page)| (format!("docs/reference/{name}"), page)),
    );
    Ok(files)
}

fn pretty(value: &Value) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

fn write(root: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    for stranger in present(root)?.iter().filter(|name| !files.contains_key(*name)) {
        fs::remove_file(root.join(stranger))?;
        println!("removed {stranger}");
    }
    let mut written = 0;
    for (name, content) in files {
        let path = root.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *content) {
            continue;
        }
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        fs::write(&path, content)?;
        written += 1;
    }
    println!("{written} of {} files were stale and are written", files.len());
    Ok(())
}

fn check(root: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    let present = present(root)?;
    let mut stale = 0;
    for name in files.keys().chain(present.iter().filter(|name| !files.contains_key(*name))) {
        let problem = match (files.get(name), fs::read_to_string(root.join(name))) {
            (None, _) => "nothing generates it",
            (Some(_), Err(_)) => "is missing",
            // A checkout may have changed the ends of lines.
            (Some(wanted), Ok(found)) if found.replace("\r\n", "\n") != *wanted => "is stale",
            _ => continue,
        };
        println!("{name}: {problem}");
        stale += 1;
    }
    ensure!(stale == 0, "{stale} generated files are not as they should be: run `cargo xtask schema`");
    println!("{} generated files are up to date", files.len());
    Ok(())
}

/// The files in our folders, by their path from the project's root.
fn present(root: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut folders: Vec<String> = FOLDERS.map(str::to_owned).to_vec();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries {
            let entry = entry?;
            let name = format!("{folder}/{}", entry.file_name().display());
            if entry.file_type()?.is_dir() { folders.push(name) } else { found.push(name) }
        }
    }
    found.sort();
    Ok(found)
}

/// Compares each document with the published ones of its version, and prints each difference.
fn compare_all(all: &[ProtocolSchema], upstream: &[Upstream]) -> Result<()> {
    let mut errata = Errata::read()?;
    let mut unexplained = 0;
    let mut totals = [0; 2];
    for other in upstream {
        let ours = all.iter().find(|ours| ours.protocol == other.protocol && ours.version == other.version);
        let name = format!("{} {}", other.protocol, other.version);
        let Some(ours) = ours else {
            println!("{name}: published, and not generated by us");
            unexplained += 1;
            continue;
        };
        let package = other.package.as_deref();
        let comparison = compare::compare(&ours.document, &other.document);
        let (known, unknown): (Vec<_>, Vec<_>) =
            comparison.differences.iter().partition(|difference| errata.explains(&name, package, difference));
        for difference in &unknown {
            println!("{name}: {difference}");
        }
        let stale = errata.stale(&name, package);
        for entry in &stale {
            println!("{name}: errata.json explains what is not so: {entry}");
        }
        println!(
            "{name}: {} definitions, {} properties compared, {} unexplained differences, {} known errata{}",
            comparison.definitions,
            comparison.properties,
            unknown.len(),
            known.len(),
            package.map(|package| format!(" ({package})")).unwrap_or_default(),
        );
        unexplained += unknown.len() + stale.len();
        totals = [totals[0] + comparison.definitions, totals[1] + comparison.properties];
    }
    println!("{} schemas: {} definitions, {} properties compared", upstream.len(), totals[0], totals[1]);
    ensure!(unexplained == 0, "{unexplained} unexplained differences");
    Ok(())
}

#[cfg(test)]
mod tests;
