//! Features: none changes serde_json for other crates, and each has an effect alone.
//!
//! A feature without an effect compiles, so no compiler finds it. It may reach a dependency weakly (`a?/b`) that another feature
//! compiles in a roundabout way, or its code may be in a module of another feature.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{Dependency, DependencyKind, Package};

use crate::tidy::cfg::Predicates;
use crate::tidy::sources::Source;
use crate::tidy::violation::Violation;

/// Features of serde_json that change it for every other crate of a program.
const FAR_REACHING: [&str; 2] = ["preserve_order", "arbitrary_precision"];

/// Checks the features of a package. `ours` are the packages of the workspace.
pub(super) fn check(file: &str, package: &Package, ours: &[Package], sources: &[Source]) -> Vec<Violation> {
    let folder = format!("{}src/", file.trim_end_matches("Cargo.toml"));
    let files = sources.iter().filter(|source| source.is_in_crate());
    let files = files.filter_map(|source| Some((source.path.strip_prefix(&folder)?, source.text.as_str())));
    let predicates = Predicates::read(files);
    let all =
        far_reaching(package).into_iter().chain(idle(package, &predicates)).chain(bypassed(package, ours));
    all.map(|what| Violation::new(file, "features", what)).collect()
}

fn far_reaching(package: &Package) -> Vec<String> {
    let enabled = package
        .features
        .iter()
        .flat_map(|(name, enables)| enables.iter().map(move |enabled| (name, enabled)));
    let through_features = enabled.filter_map(|(name, enabled)| {
        let feature = enabled.strip_prefix("serde_json")?.trim_start_matches('?').strip_prefix('/')?;
        FAR_REACHING.contains(&feature).then(|| format!("the feature `{name}` enables `{enabled}`"))
    });
    let dependencies = package.dependencies.iter().filter(|dependency| dependency.name == "serde_json");
    let through_dependency = dependencies.flat_map(|dependency| &dependency.features);
    let through_dependency = through_dependency
        .filter(|feature| FAR_REACHING.contains(&feature.as_str()))
        .map(|feature| format!("the dependency on serde_json enables `{feature}`"));
    through_features.chain(through_dependency).collect()
}

/// Features that do nothing without another: no `cfg` depends on them alone. If the code names none, the manifest has to enable
/// something else than parts of dependencies that may be absent.
fn idle(package: &Package, predicates: &Predicates<'_>) -> Vec<String> {
    let has_effect = |name: &str, enables: &[String]| {
        let is_named = predicates.names(name);
        if !is_named {
            return name == "default" || enables.iter().any(|enabled| !enabled.contains("?/"));
        }
        let mut build = Build::new(std::slice::from_ref(package));
        build.add(&package.name, Some(name));
        let with = build.features.remove(package.name.as_str()).unwrap_or_default();
        let without = with.iter().copied().filter(|other| *other != name).collect();
        predicates.differ(&with, &without)
    };
    let idle = package.features.iter().filter(|(name, enables)| !has_effect(name, enables));
    idle.map(|(name, _)| format!("the feature `{name}` does nothing without another")).collect()
}

/// Optional dependencies that a feature compiles by way of another crate. Features that name such a dependency weakly do not
/// reach it.
fn bypassed(package: &Package, ours: &[Package]) -> Vec<String> {
    let mut weak: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, enables) in &package.features {
        for (dependency, feature) in enables.iter().filter_map(|enabled| enabled.split_once("?/")) {
            weak.entry(dependency).or_default().push((name, feature));
        }
    }
    let mut found = Vec::new();
    for name in package.features.keys() {
        let mut build = Build::new(ours);
        build.add(&package.name, Some(name));
        for (dependency, by) in &weak {
            let Some(features) = build.features.get(dependency) else { continue };
            let unreached = by.iter().find(|(_, feature)| !features.contains(feature));
            let is_enabled = build.enabled.contains(&(package.name.as_str(), *dependency));
            if let Some((other, _)) = unreached.filter(|_| !is_enabled) {
                found.push(format!(
                    "the feature `{name}` compiles `{dependency}` and does not enable it, so `{other}` does not reach it"
                ));
            }
        }
    }
    found
}

/// The features and dependencies of our packages that a choice of features enables.
struct Build<'a> {
    ours: &'a [Package],
    /// The features of each package that is compiled.
    features: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// A package, and a dependency that it enables.
    enabled: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Build<'a> {
    fn new(ours: &'a [Package]) -> Self {
        Self { ours, features: BTreeMap::new(), enabled: BTreeSet::new() }
    }

    fn add(&mut self, name: &str, feature: Option<&'a str>) {
        let Some(package) = self.ours.iter().find(|package| package.name == name) else { return };
        if !self.features.contains_key(name) {
            self.features.insert(&package.name, BTreeSet::new());
            for dependency in normal(package).filter(|dependency| !dependency.optional) {
                self.enable(package, &dependency.name);
            }
        }
        let Some(feature) = feature else { return };
        let Some(enables) = package.features.get(feature) else { return };
        if !self.features.entry(&package.name).or_default().insert(feature) {
            return;
        }
        for enabled in enables {
            match (enabled.strip_prefix("dep:"), enabled.split_once('/')) {
                (Some(dependency), _) => self.enable(package, dependency),
                // Reaches the dependency only if it is enabled.
                (_, Some((dependency, _))) if dependency.ends_with('?') => {}
                (_, Some((dependency, feature))) => {
                    self.enable(package, dependency);
                    self.add(dependency, Some(feature));
                }
                _ => self.add(name, Some(enabled)),
            }
        }
    }

    fn enable(&mut self, package: &'a Package, dependency: &str) {
        let Some(dependency) = normal(package).find(|one| one.name == dependency) else { return };
        if self.enabled.insert((&package.name, &dependency.name)) {
            let default = dependency.uses_default_features.then_some("default");
            self.add(&dependency.name, default);
            for feature in &dependency.features {
                self.add(&dependency.name, Some(feature));
            }
        }
    }
}

fn normal(package: &Package) -> impl Iterator<Item = &Dependency> {
    package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal)
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A dependency as `cargo metadata` prints it.
    fn dependency(name: &str, optional: bool, features: &[&str]) -> Value {
        json!({
            "name": name, "source": null, "req": "^1", "kind": null, "rename": null, "optional": optional,
            "uses_default_features": true, "features": features, "target": null, "registry": null,
        })
    }

    /// The package `agentwire-NAME` as `cargo metadata` prints it.
    pub(in crate::tidy::packages) fn package(name: &str, features: Value, dependencies: &[Value]) -> Package {
        let package = json!({
            "name": format!("agentwire-{name}"), "version": "0.1.0", "id": "x", "license": null, "license_file": null,
            "description": "what it is for", "source": null, "dependencies": dependencies, "targets": [],
            "features": features, "manifest_path": "/x/Cargo.toml",
            "metadata": { "docs": { "rs": { "all-features": true, "rustdoc-args": ["--cfg", "docsrs"] } } }, "publish": null, "authors": [],
            "categories": [], "keywords": [], "readme": null, "repository": null, "homepage": null,
            "documentation": null, "edition": "2024", "links": null, "default_run": null, "rust_version": null,
        });
        serde_json::from_value(package).expect("the shape of cargo metadata")
    }

    /// The texts of the violations of a package whose code is one file.
    fn violations(package: &Package, others: &[Package], code: &str) -> Vec<String> {
        let ours = [std::slice::from_ref(package), others].concat();
        let sources = [Source::new("crates/x/src/lib.rs", code)];
        let found = check("crates/x/Cargo.toml", package, &ours, &sources);
        found.into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn serde_json_is_not_changed_for_others() {
        let count = |features: Value, of_dependency: &[&str]| {
            let package = package("x", features, &[dependency("serde_json", false, of_dependency)]);
            violations(&package, &[], "").len()
        };
        assert_eq!(count(json!({ "schema": ["dep:schemars"] }), &["raw_value"]), 0);
        assert_eq!(count(json!({ "order": ["serde_json/preserve_order"] }), &[]), 1);
        assert_eq!(count(json!({ "order": ["a", "serde_json?/preserve_order"], "a": ["dep:a"] }), &[]), 1);
        assert_eq!(count(json!({}), &["arbitrary_precision"]), 1);
    }

    #[test]
    fn feature_has_an_effect_alone() {
        let nothing = ["the feature `a` does nothing without another"];
        let of = |enables: Value, code: &str| {
            let features = json!({ "default": [], "a": enables, "b": ["dep:b"] });
            violations(&package("x", features, &[]), &[], code)
        };
        let own = r#"#[cfg(feature = "a")]"#;
        let with_b = r#"#[cfg(all(feature = "a", feature = "b"))] #[cfg(feature = "b")]"#;
        for enables in [json!([]), json!(["b?/x", "c?/x"])] {
            assert_eq!(of(enables.clone(), ""), nothing);
            assert_eq!(of(enables.clone(), with_b), nothing);
            assert_eq!(of(enables, own), [""; 0]);
        }
        assert_eq!(of(json!(["b?/x", "b"]), ""), [""; 0]);
        assert_eq!(of(json!(["dep:c"]), with_b), nothing, "a dependency that no code uses");
        assert_eq!(of(json!(["b"]), with_b), [""; 0]);
    }

    #[test]
    fn http2_without_a_client_does_nothing() {
        let features = |http2: Value| json!({ "client": ["dep:http"], "rustls": ["client", "dep:hyper-rustls"], "http2": http2 });
        let sources = [
            ("lib.rs", "#[cfg(feature = \"client\")]\npub mod client;\n"),
            ("client/mod.rs", "#[cfg(feature = \"rustls\")]\nmod connector;\n"),
            (
                "client/connector.rs",
                "#[cfg(feature = \"http2\")]\nfn a() {}\n#[cfg(not(feature = \"http2\"))]\nfn a() {}\n",
            ),
        ];
        let sources = sources.map(|(path, text)| Source::new(format!("crates/x/src/{path}"), text));
        let found = |http2: Value| {
            let package = package("x", features(http2), &[]);
            check("crates/x/Cargo.toml", &package, std::slice::from_ref(&package), &sources)
        };
        for weak in
            [json!(["hyper-rustls?/http2", "hyper-util?/http2"]), json!(["client", "hyper-rustls?/http2"])]
        {
            let found = found(weak);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].what, "the feature `http2` does nothing without another");
        }
        assert_eq!(found(json!(["hyper-rustls/http2", "rustls"])), []);
    }

    #[test]
    fn dependency_that_a_feature_compiles_is_reached() {
        let agent = package("agent", json!({ "unstable": ["dep:a"] }), &[]);
        let sessions = |optional: bool| {
            package(
                "sessions",
                json!({ "v2": ["dep:agentwire-agent"] }),
                &[dependency("agentwire-agent", optional, &[])],
            )
        };
        let dependencies =
            [dependency("agentwire-agent", true, &[]), dependency("agentwire-sessions", true, &[])];
        let facade = |sessions: Value| {
            let features = json!({
                "agent": ["dep:agentwire-agent"],
                "sessions": sessions,
                "unstable": ["dep:a", "agentwire-agent?/unstable"],
            });
            package("x", features, &dependencies)
        };
        let missed = [
            "the feature `sessions` compiles `agentwire-agent` and does not enable it, so `unstable` does not reach it",
        ];
        let through = |sessions_feature: Value, optional: bool| {
            violations(&facade(sessions_feature), &[agent.clone(), sessions(optional)], "")
        };
        assert_eq!(through(json!(["dep:agentwire-sessions"]), false), missed);
        assert_eq!(through(json!(["agentwire-sessions/v2"]), true), missed);
        assert_eq!(through(json!(["dep:agentwire-sessions"]), true), [""; 0], "it is not compiled");
        assert_eq!(through(json!(["agent", "dep:agentwire-sessions"]), false), [""; 0]);
        let unstable = dependency("agentwire-agent", false, &["unstable"]);
        let always = package("sessions", json!({}), &[unstable]);
        assert_eq!(
            violations(&facade(json!(["dep:agentwire-sessions"])), &[agent, always], ""),
            [""; 0],
            "it is on"
        );
    }
}
