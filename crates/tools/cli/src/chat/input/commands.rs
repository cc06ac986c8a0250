//! The commands of `chat` itself, which begin with `:`. Commands with `/` belong to the agent.

use agentwire_jsonrpc::nearest;

/// A command of `chat` itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::chat) enum ColonCommand {
    /// `:mode [ID]`
    Mode(Option<String>),
    /// `:option [ID VALUE]`
    Option(Option<(String, String)>),
    /// `:new`
    New,
    /// `:resume ID`
    Resume(String),
    /// `:sessions`
    Sessions,
    /// `:delete ID`
    Delete(String),
    /// `:last`
    Last,
    /// `:help`
    Help,
    /// `:quit`
    Quit,
}

/// The commands, for `:help` and completion: name, arguments, description.
pub(in crate::chat) const COMMANDS: [(&str, &str, &str); 9] = [
    ("mode", " [ID]", "show the modes, or change to one"),
    ("option", " [ID VALUE]", "show the options, or set one"),
    ("new", "", "begin a new session"),
    ("resume", " ID", "go on with another session"),
    ("sessions", "", "list the agent's sessions of this directory; * marks this one"),
    ("delete", " ID", "delete a session"),
    ("last", "", "show all of the last output that was shown in part"),
    ("help", "", "show this"),
    ("quit", "", "end the conversation; ^D does too"),
];

impl ColonCommand {
    /// Reads a line that begins with `:`.
    ///
    /// # Errors
    ///
    /// When the line is not such a command. The error's text is for the person.
    pub(in crate::chat) fn read(line: &str) -> Result<Self, String> {
        let mut words = line.trim_start_matches(':').split_whitespace();
        let name = words.next().unwrap_or_default();
        let rest: Vec<_> = words.map(str::to_owned).collect();
        let usage = || {
            let known = COMMANDS.iter().find(|(known, ..)| *known == name);
            known.map_or_else(|| unknown(name), |(name, arguments, _)| format!("it is `:{name}{arguments}`"))
        };
        match (name, &*rest) {
            ("mode", []) => Ok(Self::Mode(None)),
            // A name may have spaces.
            ("mode", words) => Ok(Self::Mode(Some(joined(words)))),
            ("option", []) => Ok(Self::Option(None)),
            ("option", [id, value @ ..]) if !value.is_empty() => {
                Ok(Self::Option(Some((id.clone(), joined(value)))))
            }
            ("new", []) => Ok(Self::New),
            // The id of an agent's session may have spaces too.
            ("resume", words @ [_, ..]) => Ok(Self::Resume(joined(words))),
            ("sessions", []) => Ok(Self::Sessions),
            ("delete", words @ [_, ..]) => Ok(Self::Delete(joined(words))),
            ("last", []) => Ok(Self::Last),
            ("help", []) => Ok(Self::Help),
            ("quit", []) => Ok(Self::Quit),
            _ => Err(usage()),
        }
    }
}

/// The error for an unknown command.
fn unknown(name: &str) -> String {
    let advice = match nearest(name, COMMANDS.iter().map(|(known, ..)| *known)) {
        Some(meant) => format!("did you mean `:{meant}`?"),
        None => "`:help` lists the commands, and a space before the colon makes it a prompt".into(),
    };
    format!("there is no command `:{name}`; {advice}")
}

/// The words as one text, without the quotes around it that a shell would need.
fn joined(words: &[String]) -> String {
    let text = words.join(" ");
    let unquoted = ['"', '\''].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    unquoted.unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        assert_eq!(ColonCommand::read(":mode plan"), Ok(ColonCommand::Mode(Some("plan".into()))));
        for line in [":mode Code Mode", ":mode \"Code Mode\"", ":mode 'Code  Mode' "] {
            assert_eq!(ColonCommand::read(line), Ok(ColonCommand::Mode(Some("Code Mode".into()))), "{line}");
        }
        let option = Some(("model".into(), "large one".into()));
        for line in [":option model large one", ":option model 'large one'"] {
            assert_eq!(ColonCommand::read(line), Ok(ColonCommand::Option(option.clone())), "{line}");
        }
        assert_eq!(ColonCommand::read(":quit"), Ok(ColonCommand::Quit));
        let halp = "there is no command `:halp`; did you mean `:help`?";
        assert_eq!(ColonCommand::read(":halp"), Err(halp.into()));
        assert_eq!(ColonCommand::read(":delete"), Err("it is `:delete ID`".into()));
        assert_eq!(ColonCommand::read(":resume s1"), Ok(ColonCommand::Resume("s1".into())));
        for line in [":resume a b'c", ":resume \"a b'c\""] {
            assert_eq!(ColonCommand::read(line), Ok(ColonCommand::Resume("a b'c".into())));
        }
        assert_eq!(ColonCommand::read(":new s1"), Err("it is `:new`".into()));
        assert!(ColonCommand::read(":)").is_err_and(|why| why.contains("there is no command `:)`")));
    }
}
