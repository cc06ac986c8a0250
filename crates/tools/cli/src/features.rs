//! The parts of the command that cargo features add, and the errors of a build without them.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// A feature of this package.
struct Feature {
    name: &'static str,
    is_on: bool,
    commands: &'static [&'static str],
    options: &'static [&'static str],
}

/// The features, and the commands and options that only they add.
const FEATURES: [Feature; 7] = [
    Feature { name: "agents", is_on: cfg!(feature = "agents"), commands: &["agents"], options: &[] },
    Feature { name: "check", is_on: cfg!(feature = "check"), commands: &["check", "stand-in"], options: &[] },
    Feature { name: "editor", is_on: cfg!(feature = "editor"), commands: &[], options: &[] },
    Feature {
        name: "manual",
        is_on: cfg!(feature = "manual"),
        commands: &["completions", "man"],
        options: &[],
    },
    Feature {
        name: "nodes",
        is_on: cfg!(feature = "nodes"),
        commands: &[],
        options: &["redis", "redis-prefix"],
    },
    Feature {
        name: "record",
        is_on: cfg!(feature = "record"),
        commands: &["record", "replay", "reduce"],
        options: &["record", "trace", "mask", "no-mask"],
    },
    Feature {
        name: "telemetry",
        is_on: cfg!(feature = "telemetry"),
        commands: &[],
        options: &["otlp", "metrics"],
    },
];

/// The error that this build lacks a feature, with the command for a build that adds it to the present features.
pub(crate) fn missing(what: &str, feature: &str) -> String {
    let features: Vec<_> = FEATURES
        .iter()
        .filter(|known| known.is_on || known.name == feature)
        .map(|known| known.name)
        .collect();
    format!(
        "{what} is not in this build: `cargo install --path crates/tools/cli --features {}` adds it",
        features.join(",")
    )
}

/// The error for a command or an option that this build lacks. `None` for other errors.
pub(crate) fn missing_in(error: &clap::Error) -> Option<String> {
    let kind = match error.kind() {
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        _ => return None,
    };
    let Some(ContextValue::String(word)) = error.get(kind) else { return None };
    let option = word.strip_prefix("--");
    let adds = |feature: &&Feature| match option {
        Some(option) => feature.options.contains(&option),
        None => feature.commands.contains(&&**word),
    };
    let feature = FEATURES.iter().filter(|feature| !feature.is_on).find(adds)?;
    let what = if option.is_some() { format!("`{word}`") } else { format!("`agentwire {word}`") };
    Some(missing(&what, feature.name))
}

/// The line of `--help` that names the features that this build lacks.
pub(crate) fn help() -> Option<String> {
    let off: Vec<_> = FEATURES.iter().filter(|feature| !feature.is_on).map(|feature| feature.name).collect();
    let text = format!(
        "Not in this build: {}. `cargo install --path crates/tools/cli --features full` adds all of them.",
        off.join(", ")
    );
    (!off.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Args, Command, CommandFactory as _, Subcommand};

    use super::*;
    use crate::arguments::Arguments;
    use crate::server::{NodeOptions, Pages};
    use crate::{agents, check, manual, recording, telemetry};

    type Names = BTreeSet<String>;

    /// The commands of a command line, and its options but for those of clap.
    fn names(command: &Command) -> (Names, Names) {
        let commands = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let options = command.get_opts().filter_map(|option| option.get_long().map(str::to_owned)).collect();
        (commands, options)
    }

    fn owned(names: &[&str]) -> Names {
        names.iter().map(ToString::to_string).collect()
    }

    fn commands<C: Subcommand>(command: Command) -> Command {
        C::augment_subcommands(command)
    }

    fn options<A: Args>(command: Command) -> Command {
        A::augment_args(command)
    }

    /// The part of the command line that a feature's modules add. Each is empty in a build without it.
    fn part(feature: &str) -> Command {
        let none = Command::new("part");
        match feature {
            "agents" => commands::<agents::Commands>(none),
            "check" => commands::<check::Commands>(none),
            "editor" => none,
            "manual" => commands::<manual::Commands>(none),
            "nodes" => options::<NodeOptions>(none),
            "record" => options::<recording::RecordingOptions>(commands::<recording::Commands>(none)),
            "telemetry" => options::<Pages>(options::<telemetry::TelemetryOptions>(none)),
            other => panic!("no test knows the feature {other}"),
        }
    }

    #[test]
    fn table_has_the_commands_and_options_of_each_feature() {
        for Feature { name, is_on, commands, options } in FEATURES {
            let expected = if is_on { (owned(commands), owned(options)) } else { Default::default() };
            assert_eq!(names(&part(name)), expected, "{name}");
        }
    }

    #[test]
    fn command_line_has_exactly_the_parts_of_the_features_that_are_on() {
        let whole = Arguments::command();
        let (all_commands, mut all_options) = names(&whole);
        all_options.extend(whole.get_subcommands().flat_map(|command| names(command).1));
        for Feature { name, is_on, commands, options } in FEATURES {
            for command in commands {
                assert_eq!(all_commands.contains(*command), is_on, "{name}: {command}");
            }
            for option in options {
                assert_eq!(all_options.contains(*option), is_on, "{name}: --{option}");
            }
        }
        // Guards against a search that finds no commands at all.
        assert!(all_commands.contains("chat") && all_options.contains("grace"), "{all_options:?}");
    }

    #[test]
    fn table_has_the_features_of_the_manifest() {
        let manifest: toml::Table = toml::from_str(include_str!("../Cargo.toml")).unwrap();
        let features = manifest["features"].as_table().unwrap();
        let known: Names = FEATURES.iter().map(|feature| feature.name.to_owned()).collect();
        let full = features["full"].as_array().unwrap();
        let full: Names = full.iter().map(|name| name.as_str().unwrap().to_owned()).collect();
        let all: Names =
            features.keys().filter(|name| !["default", "full"].contains(&&***name)).cloned().collect();
        assert_eq!((&all, &full), (&known, &known));
        assert_eq!(features["default"].as_array().unwrap().len(), 0);
    }

    #[test]
    fn command_line_has_no_conflicting_definitions() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn help_names_the_features_that_are_off() {
        let help = super::help().unwrap_or_default();
        for feature in FEATURES {
            let line = help.lines().find(|line| line.starts_with("Not in this build: "));
            let names = |line: &str| line.split(['.', ',', ' ']).any(|word| word == feature.name);
            assert_eq!(line.is_some_and(names), !feature.is_on, "{}: {help}", feature.name);
        }
    }
}
