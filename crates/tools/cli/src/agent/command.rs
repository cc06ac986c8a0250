//! The commands of the agent, which begin with `/`.

use std::path::PathBuf;

use agentwire_acp_sessions::schema::{AvailableCommand, UnstructuredCommandInput};
use agentwire_jsonrpc::RawJson;

use crate::arguments::values::json_object;

/// The command of a prompt.
#[derive(Debug, PartialEq)]
pub(crate) enum SlashCommand {
    /// `/tools`: lists the tools of the session's MCP servers.
    Tools,
    /// `/call TOOL JSON`: calls one of these tools.
    Call { tool: String, arguments: Option<RawJson> },
    /// `/read PATH`: reads a file through the client.
    Read { path: PathBuf },
    /// `/write PATH TEXT`: writes a file through the client.
    Write { path: PathBuf, text: String },
    /// `/run COMMAND`: runs a shell command in a terminal of the client.
    Run { command: String },
    /// `/plan`: sends a plan and updates it, step by step.
    Plan,
    /// `/slow SECONDS`: waits for this time.
    Slow { seconds: f64 },
    /// `/burst N`: sends this number of updates.
    Burst { count: u64 },
    /// `/history`: lists the conversation so far.
    History,
    /// Any other text: sends it back.
    Echo,
}

/// Name, description, hint.
const COMMANDS: [(&str, &str, Option<&str>); 9] = [
    ("tools", "List the tools of the session's MCP servers", None),
    ("call", "Call a tool", Some("TOOL {\"argument\": …}")),
    ("read", "Read a file through the editor", Some("PATH")),
    ("write", "Write a file through the editor", Some("PATH TEXT")),
    ("run", "Run a shell command in a terminal of the editor", Some("COMMAND")),
    ("plan", "Show a plan and work it off", None),
    ("slow", "Take so many seconds", Some("SECONDS")),
    ("burst", "Send so many updates", Some("N")),
    ("history", "Tell what was said so far", None),
];

/// The commands as a client offers them.
pub(crate) fn available() -> Vec<AvailableCommand> {
    COMMANDS
        .iter()
        .map(|(name, description, hint)| {
            let command = AvailableCommand::new(*name, *description);
            match hint {
                Some(hint) => command.input(UnstructuredCommandInput::new(*hint)),
                None => command,
            }
        })
        .collect()
}

impl SlashCommand {
    /// Reads a prompt.
    ///
    /// # Errors
    ///
    /// When the prompt begins with `/` and is not a complete command. The error's text is for the user.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let Some(line) = text.trim().strip_prefix('/') else {
            return Ok(Self::Echo);
        };
        let (name, rest) = split_word(line);
        let Some((name, _, hint)) = COMMANDS.iter().find(|(known, ..)| *known == name) else {
            let names: Vec<_> = COMMANDS.iter().map(|(name, ..)| format!("/{name}")).collect();
            return Err(format!("There is no command /{name}. There are {}.", names.join(", ")));
        };
        let wanted = || format!("Write /{name} {}", hint.unwrap_or_default());
        let needed = |value: &str| if value.is_empty() { Err(wanted()) } else { Ok(value.to_owned()) };
        let (first, more) = split_word(rest);
        match *name {
            "tools" => Ok(Self::Tools),
            "call" => {
                let arguments = match more {
                    "" => None,
                    json => Some(
                        json_object(json).map_err(|why| format!("{}. The arguments are {why}", wanted()))?,
                    ),
                };
                Ok(Self::Call { tool: needed(first)?, arguments })
            }
            "read" => Ok(Self::Read { path: needed(rest)?.into() }),
            "write" => Ok(Self::Write { path: needed(first)?.into(), text: more.to_owned() }),
            "run" => Ok(Self::Run { command: needed(rest)? }),
            "plan" => Ok(Self::Plan),
            "history" => Ok(Self::History),
            "slow" => match needed(rest)?.parse() {
                Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => Ok(Self::Slow { seconds }),
                _ => Err(wanted()),
            },
            _ => needed(rest)?.parse().map(|count| Self::Burst { count }).map_err(|_| wanted()),
        }
    }
}

/// The first word, and what follows it.
fn split_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::SlashCommand;

    #[test]
    fn reads_commands() {
        let read = |text| SlashCommand::parse(text).unwrap();
        assert_eq!(read("hello /tools"), SlashCommand::Echo);
        assert_eq!(read(" /tools "), SlashCommand::Tools);
        assert_eq!(
            read("/write a.txt two  words"),
            SlashCommand::Write { path: "a.txt".into(), text: "two  words".into() }
        );
        assert_eq!(read("/run ls -l | wc"), SlashCommand::Run { command: "ls -l | wc".into() });
        assert_eq!(read("/slow 0.5"), SlashCommand::Slow { seconds: 0.5 });
        let SlashCommand::Call { tool, arguments } = read("/call add {\"a\": 1}") else { panic!() };
        assert_eq!((&*tool, arguments.unwrap().as_str()), ("add", r#"{"a": 1}"#));
        let SlashCommand::Call { arguments, .. } = read("/call add {\"a\": 18446744073709551616}") else {
            panic!()
        };
        assert_eq!(arguments.unwrap().as_str(), r#"{"a": 18446744073709551616}"#);
    }

    #[test]
    fn errors_name_the_wrong_part() {
        for (text, part) in [
            ("/nothing", "no command /nothing"),
            ("/call", "Write /call TOOL"),
            ("/call add [1]", "not a JSON object"),
            ("/slow -1", "Write /slow SECONDS"),
            ("/burst many", "Write /burst N"),
        ] {
            let error = SlashCommand::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
