//! The dependencies between crates.

use super::architecture::{Architecture, Ban, Banned};
use crate::tidy::sources::Source;
use crate::tidy::violation::Violation;

/// Arrows point down, or sideways where the page of layers allows it. Only crates under `crates/` have a layer.
pub(super) fn layers(
    architecture: &Architecture,
    file: &str,
    name: &str,
    declared: &[String],
) -> Vec<Violation> {
    if !file.starts_with("crates/") {
        return Vec::new();
    }
    let Some(from) = architecture.layer(name) else {
        return vec![Violation::new(file, "layers", format!("`{name}` is in no layer of docs/layers.md"))];
    };
    let mut violations = Vec::new();
    for dependency in declared {
        let to = architecture.layer(dependency);
        let wrong = match to {
            None => Some("is in no layer"),
            Some(to) if to > from => Some("is in a higher layer"),
            Some(to) if to == from && !architecture.may_point_sideways(name, dependency) => {
                Some("is in the same layer, and this is not an arrow listed as `Same-layer arrows:`")
            }
            Some(_) => None,
        };
        violations
            .extend(wrong.map(|wrong| Violation::new(file, "layers", format!("`{dependency}` {wrong}"))));
    }
    violations
}

/// The dependency tree of a crate, built alone with its default features, has nothing that the table forbids.
pub(super) fn never(file: &str, name: &str, banned: &[Ban], tree: &[String]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for Ban { phrase, what } in banned {
        let mut hits: Vec<&str> =
            tree.iter().map(String::as_str).filter(|found| *found != name && what.covers(found)).collect();
        hits.sort_unstable();
        hits.dedup();
        for hit in hits {
            violations.push(Violation::new(
                file,
                "never",
                format!("depends on `{hit}`, the table says never: {phrase}"),
            ));
        }
    }
    violations
}

impl Banned {
    fn covers(&self, name: &str) -> bool {
        let in_family = |family: &str| {
            name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        match self {
            Self::Ours(names) => names.iter().any(|banned| banned == name),
            Self::Family(families) => families.iter().any(|family| in_family(family)),
            Self::Named(family) => in_family(family),
            Self::Clock => ["chrono", "time", "web-time", "quanta"].contains(&name),
        }
    }
}

/// A crate without a clock does not read the time either; its tests may. `sources` are those of the crate.
pub(super) fn clocks<'a>(
    file: &str,
    banned: &[Ban],
    sources: impl Iterator<Item = &'a Source>,
) -> Vec<Violation> {
    if !banned.iter().any(|ban| ban.what == Banned::Clock) {
        return Vec::new();
    }
    let mut violations = Vec::new();
    for source in sources.filter(|source| source.is_in_crate()) {
        for (number, line) in (1..).zip(source.code.lines()) {
            if line.contains("Instant::now") || line.contains("SystemTime::now") {
                let place = format!("{}:{number} reads a clock", source.path);
                violations.push(Violation::new(file, "never", place));
            }
        }
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn architecture() -> Architecture {
        let text = "L2 cli\nL1 left right\nL0 base\nSame-layer arrows: `left` → `right`\n\
                    | crate | is | must never depend on |\n|---|---|---|\n| `base` | b | any crate of ours |\n";
        Architecture::parse(text, &names(&["cli", "left", "right", "base"]))
    }

    fn wrong(name: &str, declared: &[&str]) -> usize {
        layers(&architecture(), &format!("crates/{name}/Cargo.toml"), name, &names(declared)).len()
    }

    #[test]
    fn arrows_point_down_or_where_listed() {
        assert_eq!(wrong("cli", &["left", "base"]), 0);
        assert_eq!(wrong("base", &["cli"]), 1, "up");
        assert_eq!(wrong("left", &["right"]), 0, "listed");
        assert_eq!(wrong("right", &["left"]), 1, "the listed arrow has one direction");
        assert_eq!(wrong("unknown", &[]), 1, "a crate without a layer");
    }

    #[test]
    fn families_are_banned_whole_and_neighbours_are_not() {
        let ban = |what| [Ban { phrase: "rule".into(), what }];
        let tree = names(&["futures-core", "tokio", "https", "acp-schema", "me"]);
        let hits = |what| never("f", "me", &ban(what), &tree).len();
        assert_eq!(hits(Banned::Named("futures".into())), 1);
        assert_eq!(hits(Banned::Named("http".into())), 0, "https is another family");
        assert_eq!(hits(Banned::Ours(names(&["acp-schema", "me"]))), 1, "itself is not a dependency");
        assert_eq!(hits(Banned::Family(&["axum"])), 0);
    }

    #[test]
    fn the_clock_is_found_outside_of_tests_only() {
        let ban = [Ban { phrase: "a clock".into(), what: Banned::Clock }];
        let found = |ban: &[Ban], text: &str| {
            clocks("f", ban, [Source::new("crates/a/src/lib.rs", text)].iter()).len()
        };
        assert_eq!(found(&ban, "let now = Instant::now();"), 1);
        assert_eq!(found(&ban, "// Instant::now()\n#[cfg(test)]\nmod tests {\nInstant::now()\n}\n"), 0);
        assert_eq!(found(&[], "Instant::now()"), 0);
    }
}
