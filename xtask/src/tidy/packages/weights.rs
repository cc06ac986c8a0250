//! Limits the number of crates that a package compiles: a user has to wait for them and to trust them.

use crate::tidy::violation::Violation;

/// The most crates that building a package compiles on Linux, with itself and what its build scripts and macros need.
pub(super) struct Weight {
    pub(super) package: &'static str,
    /// Arguments of cargo that choose features; without any, the default ones.
    pub(super) features: &'static [&'static str],
    pub(super) most: usize,
}

const fn weight(package: &'static str, features: &'static [&'static str], most: usize) -> Weight {
    Weight { package, features, most }
}

/// The bounds. A number that falls is lowered here; one that rises needs a reason in `docs/dependencies.md`.
pub(super) const WEIGHTS: &[Weight] = &[
    weight("agentwire-acp-agent", &[], 33),
    weight("agentwire-acp-client", &[], 32),
    weight("agentwire-acp-sessions", &[], 97),
    weight("agentwire-agent-registry", &[], 89),
    weight("agentwire-cli", &[], 140),
    weight("agentwire-cli", &["--features", "full"], 241),
    weight("agentwire-mcp-auth", &[], 56),
    weight("agentwire-mcp-client", &[], 38),
    weight("agentwire-mcp-hub", &[], 92),
    weight("agentwire-mcp-server", &[], 54),
    weight("agentwire-mcp-redis", &[], 98),
    weight("agentwire-mcp-redis", &["--no-default-features"], 81),
    weight("agentwire-mcp-redis", &["--no-default-features", "--features", "tls"], 96),
    weight("agentwire-store", &["--all-features"], 35),
    weight("agentwire-otel", &[], 32),
    weight("agentwire-transport-http", &[], 86),
    weight("agentwire-transport-stdio", &[], 35),
    weight("agentwire-mcp-server", &["--no-default-features", "--features", "chacha20poly1305"], 62),
    weight("agentwire-transport-http", &["--features", "reqwest"], 125),
];

/// A package that compiles more crates than it may.
pub(super) fn check(weight: &Weight, crates: usize) -> Option<Violation> {
    let Weight { package, features, most } = weight;
    (crates > *most).then(|| {
        let what = format!("`{package}` {features:?} compiles {crates} crates, at most {most}");
        Violation::new("xtask/src/tidy/packages/weights.rs", "weight", what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_crate_too_many_is_a_violation() {
        let bound = weight("agentwire-x", &[], 3);
        assert_eq!(check(&bound, 3), None);
        let violation = check(&bound, 4).unwrap();
        assert!(violation.what.contains("`agentwire-x` [] compiles 4 crates, at most 3"), "{violation}");
    }
}
