//! Manifests and the files beside them.

use cargo_metadata::Package;

use crate::tidy::sources::Source;
use crate::tidy::violation::Violation;

/// Every manifest inherits its lints and its dependencies' versions from the workspace.
pub(super) fn inherits(file: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut section = "";
    let mut lints = false;
    for line in text.lines().map(str::trim_end) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            continue;
        }
        lints |= section == "lints" && line.replace(' ', "") == "workspace=true";
        let (kind, _) = section.rsplit_once('.').map_or((section, ""), |(before, after)| (after, before));
        let table = kind.ends_with("dependencies") && !section.starts_with("workspace");
        // A key is at the left edge; an indented line continues the value before it.
        let entry = line.chars().next().is_some_and(|first| first.is_ascii_alphanumeric());
        if table && entry && !line.replace(' ', "").contains("workspace=true") {
            violations.push(Violation::new(file, "workspace", format!("not `workspace = true`: {line}")));
        }
        let single = section.split('.').rev().nth(1).is_some_and(|before| before.ends_with("dependencies"));
        if single && entry && line.starts_with("version") {
            violations.push(Violation::new(
                file,
                "workspace",
                format!("not `workspace = true`: [{section}]"),
            ));
        }
    }
    if !lints {
        violations.push(Violation::new(file, "lints", "no `[lints] workspace = true`"));
    }
    violations
}

/// Each external dependency has a line with the reason why it was chosen.
pub(super) fn reason(file: &str, document: &str, reasons: &str, dependency: &str) -> Option<Violation> {
    let named = format!("`{dependency}`");
    let has_one = reasons.lines().any(|line| line.contains(&named));
    (!has_one).then(|| Violation::new(file, "reason", format!("{document} has no line for `{dependency}`")))
}

/// A library with `test = false` has no tests in `src`: nothing would run them.
pub(super) fn untested<'a>(
    file: &str,
    package: &Package,
    sources: impl Iterator<Item = &'a Source>,
) -> Vec<Violation> {
    if package.targets.iter().find(|target| target.is_lib()).is_none_or(|library| library.test) {
        return Vec::new();
    }
    let folder = format!("{}src/", file.trim_end_matches("Cargo.toml"));
    let has_tests = |source: &Source| {
        ["#[cfg(test)]", "#[test]", "#[tokio::test"].iter().any(|mark| source.text.contains(mark))
    };
    let sources = sources.filter(|source| source.path.starts_with(&folder) && has_tests(source));
    let what = |source: &Source| format!("`test = false`, but {} has tests", source.path);
    sources.map(|source| Violation::new(file, "untested", what(source))).collect()
}

/// A crate has a package name that ends with its folder, a description, a README that names its default features, a changelog and
/// crate docs. On its page every feature is shown.
pub(super) fn presentation(
    file: &str,
    package: &Package,
    read: impl Fn(&str) -> Option<String>,
) -> Vec<Violation> {
    let folder = file.trim_end_matches("Cargo.toml");
    let mut violations = Vec::new();
    let mut require = |held: bool, what: String| {
        if !held {
            violations.push(Violation::new(file, "presentation", what));
        }
    };
    let own = folder.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let is_named = match package.name.strip_prefix(FACADE) {
        Some("") => own == FACADE,
        Some(rest) => rest.starts_with('-') && rest.ends_with(&format!("-{own}")),
        None => false,
    };
    require(is_named, format!("the package `{}` is not `{FACADE}-…-{own}`", package.name));
    let description = package.description.as_deref().unwrap_or_default();
    require(
        description.split_whitespace().count() >= 3,
        format!("the description is too short: {description:?}"),
    );
    let readme = read(&format!("{folder}README.md"));
    require(readme.is_some(), "no README.md".into());
    require(read(&format!("{folder}CHANGELOG.md")).is_some(), "no CHANGELOG.md".into());
    let root = ["src/lib.rs", "src/main.rs"].into_iter().find_map(|root| read(&format!("{folder}{root}")));
    let documented = root.as_deref().is_some_and(|text| text.trim_start().starts_with("//!"));
    require(documented, "the crate's root does not begin with `//!` docs".into());
    if !package.features.is_empty() {
        let page = &package.metadata["docs"]["rs"];
        let shown =
            page["all-features"] == true && page["rustdoc-args"] == serde_json::json!(["--cfg", "docsrs"]);
        let labelled =
            root.as_deref().is_some_and(|text| text.contains("#![cfg_attr(docsrs, feature(doc_cfg))]"));
        require(shown && labelled, "the page on docs.rs does not show each feature".into());
    }
    for feature in package.features.get("default").into_iter().flatten() {
        let named = readme.as_deref().is_some_and(|readme| readme.contains(&format!("`{feature}`")));
        require(named, format!("the README does not name the default feature `{feature}`"));
    }
    violations
}

/// The crate that is one name for the others, and its folder.
const FACADE: &str = "agentwire";

/// The façade holds modules and re-exports alone.
pub(super) fn facade(file: &str, text: &str) -> Vec<Violation> {
    let allowed = ["//", "#[", "#![", "pub mod ", "pub use ", "}"];
    let code = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let other = code.filter(|line| !allowed.iter().any(|start| line.starts_with(start)));
    other.map(|line| Violation::new(file, "facade", format!("not a re-export: {line}"))).collect()
}

/// The workspace's manifest forbids `unsafe`, which no crate can allow again.
pub(super) fn forbids_unsafe(file: &str, text: &str) -> Option<Violation> {
    let lints = text.split("[workspace.lints.rust]").nth(1).and_then(|lints| lints.split("\n[").next());
    let forbids = lints.is_some_and(|lints| lints.lines().any(|line| line == "unsafe_code = \"forbid\""));
    (!forbids).then(|| Violation::new(file, "lints", "`unsafe_code` is not forbidden"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tidy::packages::features::tests::package;

    const GOOD: &str = "[package]\nname = \"x\"\n\n[dependencies]\na.workspace = true\nb = { workspace = true, features = [\n    \"c\",\n] }\n\n\
                        [target.'cfg(unix)'.dependencies]\nd.workspace = true\n\n[lints]\nworkspace = true\n";

    #[test]
    fn manifests_inherit() {
        assert_eq!(inherits("f", GOOD), []);
        assert_eq!(inherits("f", &GOOD.replace("a.workspace = true", "a = \"1\"")).len(), 1);
        assert_eq!(
            inherits("f", &GOOD.replace("d.workspace = true", "d = { version = \"1\" }")).len(),
            1,
            "a target's"
        );
        assert_eq!(inherits("f", &GOOD.replace("[dependencies]", "[dev-dependencies]\ne = \"2\"")).len(), 1);
        assert_eq!(
            inherits("f", &GOOD.replace("[lints]", "[dependencies.g]\nversion = \"1\"\n\n[lints]")).len(),
            1
        );
        assert_eq!(inherits("f", GOOD.trim_end_matches("[lints]\nworkspace = true\n")).len(), 1, "no lints");
    }

    #[test]
    fn unsafe_code_is_forbidden_for_all() {
        let good = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n\n[profile.dev]\n";
        assert_eq!(forbids_unsafe("f", good), None);
        assert!(forbids_unsafe("f", &good.replace("forbid", "deny")).is_some());
        assert!(forbids_unsafe("f", "[profile.dev]\nunsafe_code = \"forbid\"\n").is_some());
    }

    #[test]
    fn reasons_name_the_crate_exactly() {
        assert_eq!(reason("f", "d", "- `serde`: typed JSON", "serde"), None);
        assert!(reason("f", "d", "- `serde_json`: typed JSON", "serde").is_some());
    }

    #[test]
    fn crates_present_themselves() {
        let file = "crates/x/Cargo.toml";
        let good = |path: &str| match path {
            "crates/x/README.md" => Some("On by default: `fast`.".to_owned()),
            "crates/x/CHANGELOG.md" => Some(String::new()),
            "crates/x/src/lib.rs" => {
                Some("//! What it is.\n#![cfg_attr(docsrs, feature(doc_cfg))]\n".to_owned())
            }
            _ => None,
        };
        let mut package = package("x", json!({ "default": ["fast"], "fast": [] }), &[]);
        assert_eq!(presentation(file, &package, good), []);
        assert_eq!(
            presentation(file, &package, |_| None).len(),
            5,
            "README, changelog, docs, the features on the page, the feature's mention"
        );
        assert_eq!(presentation("crates/y/Cargo.toml", &package, |_| good("crates/x/README.md")).len(), 3);
        package.metadata = json!(null);
        assert_eq!(presentation(file, &package, good).len(), 1, "features that docs.rs does not build");
        package.metadata =
            json!({ "docs": { "rs": { "all-features": true, "rustdoc-args": ["--cfg", "docsrs"] } } });
        package.description = Some("TODO".into());
        assert_eq!(presentation(file, &package, good).len(), 1);
    }

    #[test]
    fn the_facade_holds_no_code() {
        let good = "//! What it is.\n#![a]\n\n/// Of ACP.\npub mod acp {\n    #[doc(inline)]\n    pub use x as agent;\n}\n";
        assert_eq!(facade("f", good), []);
        assert_eq!(facade("f", &format!("{good}fn main() {{\n}}\n")).len(), 1);
    }

    #[test]
    fn a_library_that_is_not_built_for_tests_has_none() {
        let library = |test: bool| {
            let target = json!({
                "name": "x", "kind": ["lib"], "crate_types": ["lib"], "required-features": [], "src_path": "/x/src/lib.rs",
                "edition": "2024", "doctest": true, "test": test, "doc": true,
            });
            let mut package = package("x", json!({}), &[]);
            package.targets.push(serde_json::from_value(target).unwrap());
            package
        };
        let sources = ["crates/x/src/a.rs", "crates/x/tests/it/a.rs", "crates/y/src/a.rs"];
        let sources = sources.map(|path| Source::new(path, "#[test]\nfn a() {}\n"));
        let violations = |package: &Package| untested("crates/x/Cargo.toml", package, sources.iter());
        assert_eq!(violations(&library(true)).len(), 0);
        assert_eq!(violations(&package("x", json!({}), &[])).len(), 0, "it is a program");
        let found = violations(&library(false));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].what, "`test = false`, but crates/x/src/a.rs has tests");
    }
}
