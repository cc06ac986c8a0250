//! Builds the command line's help: adds examples to each command, and names the common options in one line of the short help.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory as _};

use crate::arguments::Arguments;
use crate::features;

/// The examples of each command, by its path.
const EXAMPLES: [(&str, [&str; 2]); 32] = [
    (
        "",
        [
            "agentwire chat --agent 'my-agent --acp'",
            "agentwire tools 'npx -y @modelcontextprotocol/server-everything'",
        ],
    ),
    (
        "chat",
        [
            "agentwire chat --agent 'my-agent --acp' 'What does this folder hold?'",
            "git diff | agentwire chat --agent my-agent --approve-reads 'Review this'",
        ],
    ),
    ("agents", ["agentwire agents search code", "agentwire agents install opencode"]),
    ("agents list", ["agentwire agents list", "agentwire agents list --json"]),
    ("agents search", ["agentwire agents search code", "agentwire agents search --json"]),
    ("agents show", ["agentwire agents show opencode", "agentwire agents show opencode --json"]),
    (
        "agents install",
        ["agentwire agents install opencode", "agentwire agents install --yes --kind npx opencode@1.0.0"],
    ),
    ("agents update", ["agentwire agents update", "agentwire agents update --yes opencode"]),
    ("agents remove", ["agentwire agents remove opencode", "agentwire agents remove --json opencode"]),
    ("agents doctor", ["agentwire agents doctor", "agentwire agents doctor opencode"]),
    (
        "agent",
        [
            "agentwire agent --store ~/.local/share/sessions",
            "agentwire chat --agent 'agentwire agent --timeout 5'",
        ],
    ),
    ("server", ["agentwire server --http 8080 --log", "agentwire tools 'agentwire server'"]),
    ("tools", ["agentwire tools http://localhost:8080/mcp", "agentwire tools .mcp.json:files read"]),
    (
        "call",
        ["agentwire call 'agentwire server' add a=2 b=40", "agentwire call add a=2 b=40 -- agentwire server"],
    ),
    (
        "inspect",
        [
            "agentwire inspect http://localhost:8080/mcp",
            "agentwire inspect -- npx -y @modelcontextprotocol/server-everything",
        ],
    ),
    (
        "resources",
        ["agentwire resources 'agentwire server'", "agentwire resources --json http://localhost:8080/mcp"],
    ),
    (
        "read",
        [
            "agentwire read 'agentwire server' file:///notes.txt",
            "agentwire read --save files http://localhost:8080/mcp file:///logo.png",
        ],
    ),
    (
        "prompts",
        ["agentwire prompts 'agentwire server'", "agentwire prompts --json http://localhost:8080/mcp"],
    ),
    (
        "prompt",
        [
            "agentwire prompt 'agentwire server' greet name=Ada",
            "agentwire prompt http://localhost:8080/mcp review code@main.rs",
        ],
    ),
    (
        "complete",
        [
            "agentwire complete 'agentwire server' greet name A",
            "agentwire complete http://localhost:8080/mcp 'file:///{path}' path src/",
        ],
    ),
    (
        "request",
        [
            "agentwire request 'agentwire server' tools/list",
            "agentwire request http://localhost:8080/mcp tools/call '{\"name\": \"now\"}'",
        ],
    ),
    (
        "login",
        [
            "agentwire login https://example.com/mcp",
            "agentwire login --scope read --client-id my-client https://example.com/mcp",
        ],
    ),
    (
        "logout",
        ["agentwire logout https://example.com/mcp", "agentwire logout --json https://example.com/mcp"],
    ),
    (
        "check",
        [
            "agentwire check mcp-server -- my-server --stdio",
            "agentwire check acp-agent --junit report.xml -- my-agent --acp",
        ],
    ),
    ("sessions", ["agentwire sessions check --store sessions", "agentwire sessions repair --store sessions"]),
    (
        "sessions check",
        ["agentwire sessions check --store sessions", "agentwire sessions check --json --store sessions"],
    ),
    (
        "sessions repair",
        ["agentwire sessions repair --store sessions", "agentwire sessions repair --json --store sessions"],
    ),
    (
        "record",
        [
            "agentwire record --record session.jsonl -- my-server",
            "agentwire chat --agent 'agentwire record --trace log.jsonl -- my-agent'",
        ],
    ),
    ("replay", ["agentwire replay session.jsonl -- my-server", "agentwire replay session.jsonl"]),
    (
        "reduce",
        [
            "agentwire reduce session.jsonl -- my-server",
            "agentwire reduce --out small.jsonl session.jsonl -- my-server",
        ],
    ),
    (
        "completions",
        [
            "agentwire completions bash > ~/.local/share/bash-completion/completions/agentwire",
            "agentwire completions zsh",
        ],
    ),
    ("man", ["agentwire man ~/.local/share/man/man1", "agentwire man | man -l -"]),
];

/// The command line.
pub(crate) fn command() -> Command {
    let whole = Arguments::command();
    let common = common_options(&whole);
    let notes = features::help();
    let long =
        |examples: &str| [examples, notes.as_deref().unwrap_or_default()].join("\n\n").trim_end().to_owned();
    let examples = examples_of("").unwrap_or_default();
    with_examples(whole.mut_args(hide_common), "", &common)
        .after_help(StyledStr::from(format!("{}\n\n{common}", long(&examples))))
        .after_long_help(StyledStr::from(long(&examples)))
}

/// Adds examples to each command below this one. `path` has the names of this command and those above.
fn with_examples(command: Command, path: &str, common: &str) -> Command {
    command.mut_subcommands(|below| {
        let path = format!("{path} {}", below.get_name());
        let below = with_examples(below, &path, common);
        match examples_of(path.trim_start()) {
            Some(examples) => below
                .after_help(StyledStr::from(format!("{examples}\n\n{common}")))
                .after_long_help(StyledStr::from(examples)),
            None => below.after_help(StyledStr::from(common.to_owned())),
        }
    })
}

fn examples_of(path: &str) -> Option<String> {
    let (_, lines) = EXAMPLES.iter().find(|(known, _)| *known == path)?;
    Some(format!("Examples:\n  {}", lines.join("\n  ")))
}

/// Hides an option that every command has in `-h`, where one line names all of these.
fn hide_common(option: Arg) -> Arg {
    if option.is_global_set() { option.hide_short_help(true) } else { option }
}

/// The line that names the options which every command has.
fn common_options(whole: &Command) -> String {
    let names = whole.get_arguments().filter(|option| option.is_global_set()).filter_map(|option| {
        let long = format!("--{}", option.get_long()?);
        Some(option.get_short().map_or(long.clone(), |short| format!("-{short}, {long}")))
    });
    format!("Options of every command, see --help: {}", names.collect::<Vec<_>>().join(", "))
}

/// Removes `--help` after the command `help`: clap would read it as the name of a command.
pub(crate) fn without_help_flag(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.retain(|word| word != "--help" && word != "-h");
    }
    words
}

/// The sentence of a wrong command line, without the advice and the usage below it.
pub(crate) fn first_paragraph(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = paragraph.split_whitespace().collect();
    words.join(" ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;
    use crate::command_line;

    /// The paths of all commands that the help shows.
    fn paths(command: &Command, path: &str) -> Vec<String> {
        let below =
            command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
        let below = below.flat_map(|below| paths(below, &format!("{path} {}", below.get_name())));
        std::iter::once(path.trim_start().to_owned()).chain(below).collect()
    }

    fn help(path: &str, flag: &str) -> String {
        let words = ["agentwire"].into_iter().chain(path.split_whitespace()).chain([flag]);
        command().try_get_matches_from(words).unwrap_err().to_string()
    }

    #[test]
    fn every_command_has_two_examples_that_it_takes() {
        for path in paths(&command(), "") {
            for flag in ["-h", "--help"] {
                let help = help(&path, flag);
                assert_eq!(help.matches("Examples:\n").count(), 1, "{path} {flag}: {help}");
            }
            let (_, examples) = EXAMPLES.iter().find(|(known, _)| *known == path).unwrap();
            for example in examples {
                let mut commands = example.split(['|', '>']).map(str::trim);
                let line = commands.find(|line| line.starts_with("agentwire ")).unwrap();
                let read = command().try_get_matches_from(command_line::words(line).unwrap());
                let mut arguments = Arguments::from_arg_matches(&read.unwrap()).unwrap();
                arguments.command.take_target().unwrap();
                assert!(example.contains(&format!("agentwire {path}")), "{path}: {example}");
            }
        }
    }

    #[test]
    fn help_flag_after_help_is_ignored() {
        let read = |line: &str| {
            let words = line.split(' ').map(Into::into).collect();
            command().try_get_matches_from(without_help_flag(words)).unwrap_err().to_string()
        };
        assert_eq!(read("agentwire help --help"), read("agentwire help"));
        assert_eq!(read("agentwire help tools -h"), read("agentwire help tools"));
        assert_ne!(read("agentwire help tools"), read("agentwire help"));
    }

    #[test]
    fn short_help_names_the_common_options_in_one_line() {
        for path in paths(&command(), "") {
            let (short, long) = (help(&path, "-h"), help(&path, "--help"));
            let lines = short.lines().filter(|line| line.contains("--json,") && !line.contains("agentwire"));
            assert_eq!(lines.collect::<Vec<_>>(), [common_options(&Arguments::command())], "{path}");
            assert!(!short.contains("Print one JSON object a line"), "{path}: {short}");
            assert!(long.contains("Print one JSON object a line"), "{path}: {long}");
        }
    }
}
