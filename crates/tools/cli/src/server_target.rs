//! Finds the server of a command line: a URL, a command line in one argument, or a command after `--`, with its environment and
//! directory.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use agentwire_mcp_hub::Target;
use agentwire_transport_stdio::Command;
use anyhow::Result;

use crate::command_line::{self, is_url, other_scheme};
use crate::config::{Config, ConfigArguments};
use crate::failure::{OtherSide, Usage};
use crate::mcp::arguments::{Connect, TargetArgument, unquoted};
use crate::mcp_config;
use crate::output::text::Notes;

/// The server of a command line.
///
/// # Errors
///
/// [`Usage`] if the text is neither a URL, a command line nor the name of a server, and if a URL has options for a command.
pub(crate) fn target_of(connect: &Connect, notes: &Notes) -> Result<Target> {
    let target = match &connect.target_argument {
        TargetArgument::Target(target) => return Ok((**target).clone()),
        TargetArgument::Text(text) => mcp_config::resolve(text, &Config::load(&connect.config)?, notes)?,
        TargetArgument::Command(words) => match &words[..] {
            [url] if url.to_str().is_some_and(|url| is_url(url) || other_scheme(url).is_some()) => {
                command_line::target(&url.to_string_lossy()).map_err(Usage)?
            }
            words => command(words)?.into(),
        },
    };
    match target {
        Target::Stdio(command) => Ok(with_surroundings(command, connect).into()),
        target if connect.environment.is_empty() && connect.cwd.is_none() => Ok(target),
        _ => Err(Usage("-e, --cwd: only a command has an environment and a directory".into()).into()),
    }
}

fn command(words: &[OsString]) -> Result<Command> {
    match words {
        [program, arguments @ ..] if !program.is_empty() => Ok(Command::new(program).args(arguments)),
        _ => Err(Usage("the command behind -- is empty".into()).into()),
    }
}

/// The command with its environment and directory. A relative path of the program is made absolute from our own directory,
/// because systems differ in the directory from which they resolve it.
fn with_surroundings(command: Command, Connect { environment, cwd, .. }: &Connect) -> Command {
    let program = Path::new(command.program());
    let is_path = program.components().count() > 1;
    let command = match cwd {
        Some(directory) => {
            let command = match std::path::absolute(program) {
                Ok(program) if is_path => Command::new(program).args(command.arguments().iter().cloned()),
                _ => command,
            };
            command.current_dir(directory)
        }
        None => command,
    };
    command.envs(environment.iter().map(|variable| (&*variable.name, &*variable.value)))
}

/// The transport to a server, in words for people.
pub(crate) fn transport(target: &Target) -> String {
    match target {
        // Has no secrets of the URL, because people copy this into reports.
        Target::Http(_) => format!("HTTP, {}", OtherSide::server(target)),
        _ => "stdio".into(),
    }
}

/// The advice to quote a command line, if the arguments of this program look like one: clap refuses `tools npx -y server`
/// because of `-y`.
pub(crate) fn unquoted_hint(arguments: &[OsString]) -> Option<String> {
    const COMMANDS: [&str; 9] =
        ["tools", "call", "inspect", "resources", "read", "prompts", "prompt", "complete", "request"];
    let texts: Vec<_> = arguments.iter().skip(1).map(|argument| argument.to_string_lossy()).collect();
    let command = texts.iter().position(|text| COMMANDS.contains(&&**text))?;
    let program = first_positional(&texts[command + 1..])?;
    // A command line in one argument, or a URL, needs no advice.
    let config = texts.iter().enumerate().find_map(|(place, text)| match text.strip_prefix("--config")? {
        "" => texts.get(place + 1).map(|file| PathBuf::from(&**file)),
        file => file.strip_prefix('=').map(PathBuf::from),
    });
    ConfigArguments { config }.is_bare_program(program).then(|| unquoted(program))
}

/// The first word that is neither one of our options nor the value of one, which is often a secret. `None` after an unknown
/// option.
fn first_positional<'a>(words: &'a [Cow<'_, str>]) -> Option<&'a str> {
    const FLAGS: [&str; 4] = ["--json", "--verbose", "-v", "--no-mask"];
    const WITH_VALUE: [&str; 16] = [
        "--config",
        "--header",
        "--header-file",
        "--token",
        "--auth",
        "--root",
        "--env",
        "-e",
        "--cwd",
        "--era",
        "--timeout",
        "--answer",
        "--save",
        "--record",
        "--trace",
        "--mask",
    ];
    let mut words = words.iter().map(|word| &**word);
    loop {
        let word = words.next()?;
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        match name {
            "--" => return None,
            name if !name.starts_with('-') => return Some(word),
            name if FLAGS.contains(&name) || name.starts_with("-e") && name.len() > 2 => {}
            name if WITH_VALUE.contains(&name) && value.is_some() => {}
            name if WITH_VALUE.contains(&name) => drop(words.next()?),
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_is_named_without_secrets() {
        let named = |text: &str| transport(&Target::parse(text).unwrap());
        assert_eq!(named("https://ann:abc@example.com:1/mcp?key=abc"), "HTTP, https://example.com:1/mcp");
        assert_eq!(named("server --key abc"), "stdio");
    }

    #[test]
    fn an_unquoted_command_line_gets_advice() {
        let hint = |line: &str| unquoted_hint(&line.split('|').map(OsString::from).collect::<Vec<_>>());
        let advice = "if this is the command line of a server, quote it, or put -- before it: -- npx …";
        assert_eq!(hint("agentwire|tools|npx|-y|server").as_deref(), Some(advice));
        assert_eq!(hint("agentwire|--json|call|npx|-y|server|add").as_deref(), Some(advice));
        // The value of an option, which may be secret, is not a program.
        for options in
            ["-e|KEY=abc", "-eKEY=abc", "--token|abc", "--timeout|5|-v", "--header=A: abc|--env=KEY=abc"]
        {
            let line = format!("agentwire|tools|{options}|npx|-y|server");
            assert_eq!(hint(&line).as_deref(), Some(advice), "{line}");
        }
        for line in [
            "agentwire|tools|npx -y server|-x",
            "agentwire|tools|https://a/mcp|-x",
            "agentwire|chat|npx|-y",
            "agentwire|tools|--key|abc|npx",
            "agentwire|tools|--token",
            "agentwire|tools|--|npx",
        ] {
            assert_eq!(hint(line), None, "{line}");
        }
    }
}
