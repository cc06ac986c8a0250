//! The repository's address, and links to pages of our crates.
//!
//! The address is in the root manifest alone, because the repository moves and no compiler finds its copies. Pages of our
//! crates on docs.rs, crates.io and shields.io do not exist before the first release, so no file links to them.

use std::path::Path;
use std::process::Command;

use agentwire_test_support::process;
use anyhow::{Context as _, Result};
use cargo_metadata::Metadata;

use super::violation::Violation;

/// The only file with the address.
const MANIFEST: &str = "Cargo.toml";

/// Sites with pages of published crates.
const SITES: [&str; 3] = ["docs.rs/", "crates.io/", "shields.io/"];

/// The prefix of the names of our packages, and the name of the façade.
const PACKAGES: &str = "agentwire";

/// The characters that end a URL in Markdown, TOML, YAML and Rust.
const URL_ENDS: [char; 7] = ['"', '\'', '`', ')', '>', ']', ' '];

/// Checks every tracked text file.
pub(super) fn check(root: &Path, metadata: &Metadata) -> Result<Vec<Violation>> {
    let mut urls = metadata.packages.iter().filter_map(|package| package.repository.as_deref());
    let address = Address::parse(urls.next().context("no package has a repository")?);
    let mut violations = Vec::new();
    for path in tracked(root)? {
        // A deleted file is still in git's index. Files that are not UTF-8, such as pictures, have no links.
        let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
        violations.extend(check_file(&address, &path, &text));
    }
    Ok(violations)
}

/// The paths of the files that git tracks, or would track after `git add`.
fn tracked(root: &Path) -> Result<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let paths = process::output(Command::new("git").current_dir(root).args(arguments))?;
    Ok(paths.split_terminator('\0').map(str::to_owned).collect())
}

/// The forms of the repository's address.
struct Address {
    /// The host and the path, as in a URL and as in `git@host:path`.
    locations: [String; 2],
    /// A step of a workflow that names the repository by its path alone.
    action: String,
}

impl Address {
    fn parse(url: &str) -> Self {
        let location = url.split_once("://").map_or(url, |(_, location)| location);
        let location = location.trim_end_matches('/').trim_end_matches(".git");
        let path = location.split_once('/').map_or(location, |(_, path)| path);
        let locations = [location.to_owned(), location.replacen('/', ":", 1)];
        Self { locations, action: format!("uses: {path}/") }
    }

    fn is_in(&self, line: &str) -> bool {
        self.locations.iter().any(|location| line.contains(location)) || line.contains(&self.action)
    }
}

fn check_file(address: &Address, path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut report =
            |what| violations.push(Violation::new(format!("{path}:{number}"), "addresses", what));
        if path != MANIFEST && address.is_in(line) {
            report(format!("the repository's address, which belongs in {MANIFEST} alone"));
        }
        if links_to_our_crates(line) {
            report("a link to a page of our crates, which are not published".to_owned());
        }
    }
    violations
}

fn links_to_our_crates(line: &str) -> bool {
    SITES.iter().any(|site| {
        let pages = line.split(site).skip(1).filter_map(|rest| rest.split(URL_ENDS).next());
        pages.flat_map(|page| page.split('/')).any(|part| part.starts_with(PACKAGES))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let address = Address::parse("https://r.example/owner/name");
        check_file(&address, path, text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn address_is_reported_outside_of_the_root_manifest() {
        let expected =
            ["README.md:2: addresses: the repository's address, which belongs in Cargo.toml alone"];
        assert_eq!(found("README.md", "\n[a](https://r.example/owner/name/issues)"), expected);
        assert_eq!(found("Cargo.toml", "repository = \"https://r.example/owner/name\"").len(), 0);
        for line in ["uses: other/name/a@v1", "https://r.example/owner/other"] {
            assert_eq!(found("a.yml", line).len(), 0, "{line}");
        }
        for line in [
            "git clone ssh://git@r.example/owner/name.git",
            "git@r.example:owner/name",
            "- uses: owner/name/.github/actions/a@main",
        ] {
            assert_eq!(found("a.yml", line).len(), 1, "{line}");
        }
    }

    #[test]
    fn address_is_read_without_scheme_and_ending() {
        for url in
            ["https://r.example/owner/name", "https://r.example/owner/name.git", "r.example/owner/name/"]
        {
            let address = Address::parse(url);
            assert_eq!(address.locations, ["r.example/owner/name", "r.example:owner/name"]);
            assert_eq!(address.action, "uses: owner/name/");
        }
    }

    #[test]
    fn links_to_pages_of_our_crates_are_reported() {
        let page = |site: &str, path: &str| format!("[page](https://{site}/{path}) agentwire");
        for (site, path) in [
            ("docs.rs", concat!("agent", "wire-mcp-server")),
            ("crates.io", concat!("crates/agent", "wire")),
            ("img.shields.io", concat!("crates/v/agent", "wire")),
        ] {
            assert_eq!(found("Cargo.toml", &page(site, path)).len(), 1, "{site}");
            assert_eq!(found("README.md", &page(site, "crates/v/loom")).len(), 0, "{site}");
        }
    }
}
