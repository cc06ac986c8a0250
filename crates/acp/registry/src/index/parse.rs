//! Reads an index. Each entry is read by itself, so that a damaged one costs only itself.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{RawJson, read};
use serde::Deserialize;

use super::entry::{Archive, Entry, Package};

/// How many agents an index may have.
const MAX_AGENTS: usize = 4096;
/// How many bytes a name, a URL, a package, an executable or a licence may have.
const MAX_NAME: usize = 512;
/// How many bytes a description may have.
const MAX_DESCRIPTION: usize = 4096;
/// How many arguments, variables, authors or systems an entry may have.
const MAX_ITEMS: usize = 64;
/// How many bytes an argument or the value of a variable may have.
const MAX_VALUE: usize = 4096;
/// How many bytes all arguments and variables of a distribution may have together: a person reads them before an install.
const MAX_VALUES: usize = 8 << 10;

#[derive(Deserialize)]
struct Document {
    agents: Vec<RawJson>,
}

#[derive(Deserialize)]
struct RawEntry {
    id: String,
    name: String,
    version: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    repository: Option<String>,
    #[serde(default)]
    website: Option<String>,
    #[serde(default)]
    authors: Vec<String>,
    #[serde(default)]
    license: Option<String>,
    distribution: Distribution,
}

/// Each kind is read by itself: an unknown or damaged one is left out.
#[derive(Deserialize)]
struct Distribution {
    #[serde(default)]
    npx: Option<RawJson>,
    #[serde(default)]
    uvx: Option<RawJson>,
    #[serde(default)]
    binary: Option<BTreeMap<String, RawJson>>,
}

/// The agents, and how many entries were left out.
pub(super) fn agents(text: &str) -> Result<(Vec<Entry>, usize), String> {
    // A network that wants a login answers for any server with its page.
    if text.trim_start().starts_with('<') {
        return Err("it is a web page".to_owned());
    }
    let document: Document = read(text).map_err(|error| error.to_string())?;
    let count = document.agents.len();
    if count > MAX_AGENTS {
        return Err(format!("it has {count} agents, and the limit is {MAX_AGENTS}"));
    }
    let mut agents: Vec<Entry> = Vec::with_capacity(count);
    for raw in document.agents {
        let entry = raw.decode::<RawEntry>().ok().and_then(entry);
        // The first entry of an id is used. Otherwise a second entry could replace a reviewed one.
        if let Some(entry) = entry.filter(|entry| agents.iter().all(|known| known.id != entry.id)) {
            agents.push(entry);
        }
    }
    let skipped = count - agents.len();
    if agents.is_empty() && skipped > 0 {
        return Err(format!("none of its {count} agents can be read"));
    }
    Ok((agents, skipped))
}

/// The checked entry. None if it is damaged or nothing of it can be installed.
fn entry(raw: RawEntry) -> Option<Entry> {
    let RawEntry { id, name, version, description, repository, website, authors, license, distribution } =
        raw;
    let is_sound = is_id(&id)
        && is_short(&name, MAX_NAME)
        && crate::version::is_plain(&version)
        && description.len() <= MAX_DESCRIPTION
        && authors.len() <= MAX_ITEMS
        && authors.iter().all(|author| author.len() <= MAX_NAME)
        && [&repository, &website, &license].into_iter().flatten().all(|text| text.len() <= MAX_NAME);
    let package = |raw: Option<RawJson>| raw?.decode::<Package>().ok().filter(is_package);
    let (npx, uvx) = (package(distribution.npx), package(distribution.uvx));
    let archives = distribution.binary.unwrap_or_default();
    let few = archives.len() <= MAX_ITEMS;
    let archive = |(system, raw): (String, RawJson)| {
        let archive = raw.decode::<Archive>().ok().filter(is_archive)?;
        is_id(&system.replace('_', "-")).then_some((system, archive))
    };
    let binary: BTreeMap<String, Archive> = archives.into_iter().filter_map(archive).collect();
    let is_installable = npx.is_some() || uvx.is_some() || !binary.is_empty();
    (is_sound && few && is_installable).then_some(Entry {
        id,
        name,
        version,
        description,
        repository,
        website,
        authors,
        license,
        npx,
        uvx,
        binary,
    })
}

/// `^[a-z][a-z0-9-]*$`, as the registry has it, and no longer than 64 bytes: it becomes the name of a folder.
pub(crate) fn is_id(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    id.len() <= 64 && id.starts_with(|first: char| first.is_ascii_lowercase()) && id.bytes().all(allowed)
}

fn is_short(text: &str, limit: usize) -> bool {
    !text.is_empty() && text.len() <= limit
}

fn is_package(package: &Package) -> bool {
    is_short(&package.package, MAX_NAME)
        && package.cmd.as_ref().is_none_or(|cmd| is_short(cmd, MAX_NAME))
        && are_values(&package.args, &package.env)
}

fn is_archive(archive: &Archive) -> bool {
    is_short(&archive.archive, MAX_VALUE)
        && is_short(&archive.cmd, MAX_NAME)
        && archive.sha256.as_ref().is_none_or(|digest| digest.len() <= MAX_NAME)
        && are_values(&archive.args, &archive.env)
}

fn are_values(args: &[String], env: &BTreeMap<String, String>) -> bool {
    let is_value = |value: &String| value.len() <= MAX_VALUE && !value.contains('\0');
    let sum: usize = args.iter().chain(env.keys()).chain(env.values()).map(String::len).sum();
    sum <= MAX_VALUES
        && args.len() <= MAX_ITEMS
        && env.len() <= MAX_ITEMS
        && args.iter().chain(env.values()).all(is_value)
        && env.keys().all(|name| is_variable_name(name))
}

/// Whether this is the name of a variable of the environment.
fn is_variable_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    is_short(name, 128)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(entry: &str) -> (Vec<Entry>, usize) {
        agents(&format!(r#"{{"version":"1.0.0","agents":[{entry}]}}"#)).unwrap()
    }

    fn npx(id: &str, version: &str, package: &str) -> String {
        format!(
            r#"{{"id":"{id}","name":"A","version":"{version}","description":"d","icon":"x.svg","distribution":{{"npx":{package}}}}}"#
        )
    }

    #[test]
    fn an_entry_has_its_distributions() {
        let text = r#"{"id":"a-1","name":"A","version":"1.2.3","description":"d","authors":["x"],"distribution":{
            "npx":{"package":"a@1.2.3","args":["--acp"],"env":{"A_B":"1"}},
            "uvx":{"package":"a==1.2.3","cmd":"a-acp"},
            "snap":{"name":"a"},
            "binary":{"linux-x86_64":{"archive":"https://h/a.tgz","cmd":"./a","sha256":"00"}, "linux":{"cmd":"x"}}}}"#;
        let (agents, skipped) = one(text);
        assert_eq!((agents.len(), skipped), (1, 0));
        let entry = &agents[0];
        assert_eq!(entry.npx.as_ref().unwrap().args, ["--acp"]);
        assert_eq!(entry.uvx.as_ref().unwrap().cmd.as_deref(), Some("a-acp"));
        assert_eq!(
            entry.binary.keys().collect::<Vec<_>>(),
            ["linux-x86_64"],
            "one without an archive is left out"
        );
    }

    #[test]
    fn a_damaged_entry_costs_only_itself() {
        let good = npx("good", "1.0.0", r#"{"package":"a@1.0.0"}"#);
        let long = format!(r#"{{"package":"a@1.0.0","args":["{}"]}}"#, "x".repeat(MAX_VALUE + 1));
        let part = format!("\"{}\"", "x".repeat(MAX_VALUES / 3));
        let many = format!(r#"{{"package":"a@1.0.0","args":[{part},{part},{part},"xxx"]}}"#);
        for bad in [
            npx("Bad", "1.0.0", r#"{"package":"a@1.0.0"}"#),
            npx("../bad", "1.0.0", r#"{"package":"a@1.0.0"}"#),
            npx("a/b", "1.0.0", r#"{"package":"a@1.0.0"}"#),
            npx(r"a\u001b[2J", "1.0.0", r#"{"package":"a@1.0.0"}"#),
            npx("bad", "../../1", r#"{"package":"a@1.0.0"}"#),
            npx("bad", "1.0.0/../../x", r#"{"package":"a@1.0.0"}"#),
            npx("bad", "1.0.0", "{}"),
            npx("bad", "1.0.0", r#"{"package":"a@1.0.0","env":{"A B":"1"}}"#),
            npx("bad", "1.0.0", r#"{"package":"a@1.0.0","env":{"A":"1\u0000"}}"#),
            npx("bad", "1.0.0", &long),
            npx("bad", "1.0.0", &many),
            npx("good", "2.0.0", r#"{"package":"b@2.0.0"}"#),
            "7".into(),
        ] {
            let (agents, skipped) = one(&format!("{good},{bad}"));
            assert_eq!((agents.len(), skipped), (1, 1), "{bad}");
            assert_eq!((&*agents[0].id, &*agents[0].version), ("good", "1.0.0"));
        }
    }

    #[test]
    fn too_many_agents_are_no_index() {
        let many = vec!["1"; MAX_AGENTS + 1].join(",");
        assert_eq!(
            agents(&format!(r#"{{"agents":[{many}]}}"#)).unwrap_err(),
            "it has 4097 agents, and the limit is 4096"
        );
        assert!(agents("[]").is_err() && agents("{}").is_err());
        assert_eq!(agents("\n<!DOCTYPE html>").unwrap_err(), "it is a web page");
        assert_eq!(agents(r#"{"agents":[1,{}]}"#).unwrap_err(), "none of its 2 agents can be read");
        let deep = format!(r#"{{"agents":[{}{}]}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert!(agents(&deep).is_err(), "it is read without deep recursion");
    }
}
