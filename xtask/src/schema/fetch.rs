//! Reads the published schemas from a folder, or from registry packages of exact versions.
//!
//! No package has all of them. ACP's SDK has ACP's; the MCP conformance suite has four revisions, as literals in its
//! bundle; the oldest revision is in a crate. Packages are kept below the target folder, so only the first run needs the
//! network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentwire_test_support::process::output;
use anyhow::{Context as _, Result, ensure};
use cargo_metadata::MetadataCommand;
use serde_json::Value;

const SDK: (&str, &str) = ("@agentclientprotocol/sdk", "2.4.0");
const CONFORMANCE: (&str, &str) = ("@modelcontextprotocol/conformance", "0.2.0-alpha.12");
const TYPES: (&str, &str) = ("mcp-types", "0.1.1");

/// ACP's documents: our name, and the path in a folder of schemas.
const ACP: [(&str, &str); 4] = [
    ("v1", "v1/schema.json"),
    ("v1-unstable", "v1/schema.unstable.json"),
    ("v2", "v2/schema.json"),
    ("v2-unstable", "v2/schema.unstable.json"),
];
/// MCP's revisions, oldest first.
const MCP: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// A schema that a protocol publishes.
#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) protocol: &'static str,
    pub(super) version: String,
    /// The package with its version; none for a folder.
    pub(super) package: Option<String>,
    pub(super) document: Value,
}

/// The published schemas in a folder: `acp/v1/schema.json`, `acp/v1/schema.unstable.json`, `mcp/2025-06-18/schema.json`, ….
pub(super) fn folder(folder: &Path) -> Result<Vec<Upstream>> {
    let acp = ACP.iter().map(|(version, path)| ("acp", *version, folder.join("acp").join(path)));
    let mcp =
        MCP.iter().map(|version| ("mcp", *version, folder.join("mcp").join(version).join("schema.json")));
    let read = |(protocol, version, path): (_, &str, PathBuf)| {
        Ok(Upstream { protocol, version: version.to_owned(), package: None, document: read(&path)? })
    };
    acp.chain(mcp).map(read).collect()
}

/// The published schemas in registry packages, which are downloaded into `cache` unless they are there.
pub(super) fn registries(cache: &Path) -> Result<Vec<Upstream>> {
    fs::create_dir_all(cache)?;
    let mut all = Vec::new();
    let sdk = npm(cache, SDK)?.join("schema");
    for (version, path) in ACP {
        all.push(upstream("acp", version, SDK, read(&sdk.join(path))?));
    }
    all.push(upstream(
        "mcp",
        MCP[0],
        TYPES,
        read(&crate_folder(cache, TYPES)?.join("spec/2024-11-05-schema.json"))?,
    ));
    let schemas = extract(cache, &npm(cache, CONFORMANCE)?.join("dist/index.js"))?;
    let newer = &MCP[1..];
    ensure!(schemas.len() == newer.len(), "{} has {} schemas of MCP", CONFORMANCE.0, schemas.len());
    for (version, document) in newer.iter().zip(schemas) {
        all.push(upstream("mcp", version, CONFORMANCE, document));
    }
    Ok(all)
}

fn upstream(
    protocol: &'static str,
    version: &str,
    (name, release): (&str, &str),
    document: Value,
) -> Upstream {
    Upstream { protocol, version: version.to_owned(), package: Some(format!("{name}@{release}")), document }
}

fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

/// The unpacked folder of an npm package.
fn npm(cache: &Path, (name, version): (&str, &str)) -> Result<PathBuf> {
    let short = name.rsplit('/').next().unwrap_or(name);
    let folder = cache.join(format!("{short}-{version}"));
    if !folder.exists() {
        let place = tempfile::tempdir_in(cache)?;
        let packed = format!("{name}@{version}");
        // `npm pack` verifies the registry's checksum and runs no scripts of the package.
        let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
        let file = output(Command::new(npm).args(["pack", "--silent", &packed]).current_dir(place.path()))?;
        output(Command::new("tar").args(["-xzf", file.trim()]).current_dir(place.path()))?;
        // Atomic, in case this process is interrupted.
        fs::rename(place.path().join("package"), &folder)?;
    }
    Ok(folder)
}

/// The unpacked folder of a crate, which cargo fetches as a dependency of an empty package.
fn crate_folder(cache: &Path, (name, version): (&str, &str)) -> Result<PathBuf> {
    let package = cache.join(format!("{name}-{version}"));
    fs::create_dir_all(package.join("src"))?;
    fs::write(package.join("src/lib.rs"), "")?;
    let manifest = package.join("Cargo.toml");
    let text = format!(
        "[package]\nname = \"upstream\"\nedition = \"2021\"\n\n[dependencies]\n{name} = \"={version}\"\n\n[workspace]\n"
    );
    fs::write(&manifest, text)?;
    let mut command = MetadataCommand::new();
    command.manifest_path(&manifest);
    if package.join("Cargo.lock").exists() {
        command.other_options(["--offline".to_owned()]);
    }
    let metadata = command.exec().or_else(|_| MetadataCommand::new().manifest_path(&manifest).exec())?;
    let found = metadata.packages.iter().find(|package| package.name.as_str() == name);
    let found =
        found.and_then(|package| package.manifest_path.parent()).context("cargo fetched another crate")?;
    Ok(found.into())
}

/// The schemas in a bundle, oldest first.
fn extract(cache: &Path, bundle: &Path) -> Result<Vec<Value>> {
    let program = cache.join("extract.mjs");
    fs::write(&program, include_str!("extract.mjs"))?;
    Ok(serde_json::from_str(&output(Command::new("node").arg(program).arg(bundle))?)?)
}
