//! The words of a command, as a shell reads them.

use std::mem;

use agentwire_acp_schema::v1::ToolCallUpdate;
use agentwire_jsonrpc::RawObject;

/// Characters that separate commands, or have a meaning to a shell outside of quotes.
const SPECIAL: &str = ";&|<>(){}[]$`\\!*?#~^\r\n";

/// Characters that have a meaning to a shell within double quotes.
const SPECIAL_IN_QUOTES: &str = "$`\\!";

/// Returns the words of a text that is one simple command: without operators, expansions, escapes and line ends. Quotes are
/// taken off.
pub(super) fn simple_command(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next()? {
                        end if end == character => break,
                        special if character == '"' && SPECIAL_IN_QUOTES.contains(special) => return None,
                        inside => word.push(inside),
                    }
                }
            }
            other if other.is_control() || SPECIAL.contains(other) => return None,
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Some(words)
}

/// Returns each run of words between the operators of a text, without quotes and escapes.
fn all_commands(text: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    for character in text.chars() {
        match character {
            '\'' | '"' | '\\' => {}
            _ if character.is_whitespace() && character != '\n' => push(&mut words, &mut word),
            _ if SPECIAL.contains(character) => {
                push(&mut words, &mut word);
                commands.push(mem::take(&mut words));
            }
            _ => word.push(character),
        }
    }
    push(&mut words, &mut word);
    commands.push(words);
    commands
}

fn push(words: &mut Vec<String>, word: &mut String) {
    if !word.is_empty() {
        words.push(mem::take(word));
    }
}

/// Returns whether the call executes one command that begins with these words, and nothing else.
pub(super) fn is_command(call: &ToolCallUpdate, prefix: &[String]) -> bool {
    let words = || {
        let input = RawObject::try_from(call.raw_input.clone()?).ok()?;
        // A repeated member means one thing to one reader and another to the next. The environment can change what the
        // words do.
        let once = |name: &str| input.iter().filter(|(other, _)| other == name).count() <= 1;
        if !once("command") || !once("args") || input.contains_key("env") {
            return None;
        }
        let command = input.get("command")?;
        let mut words = match command.decode::<String>() {
            Ok(text) => simple_command(&text)?,
            Err(_) => command.decode().ok()?,
        };
        if let Some(arguments) = input.get("args").filter(|arguments| !arguments.is_null()) {
            words.extend(arguments.decode::<Vec<String>>().ok()?);
        }
        Some(words)
    };
    words().is_some_and(|words| words.starts_with(prefix))
}

/// Returns whether these words stand in a row in one of the commands of the call. The first of them may be the name of a
/// program that is given by its path.
pub(super) fn has_command(call: &ToolCallUpdate, prefix: &[String]) -> bool {
    let Some(Ok(input)) = call.raw_input.clone().map(RawObject::try_from) else { return false };
    let texts = |name: &str| -> Vec<String> {
        let values = input.iter().filter(|(other, _)| other == name).map(|(_, value)| value);
        let words = values.map(|value| match value.decode::<String>() {
            Ok(text) => text,
            Err(_) => value.decode::<Vec<String>>().unwrap_or_default().join(" "),
        });
        words.collect()
    };
    let text = [texts("command"), texts("args")].concat().join(" ");
    let program = |word: &str| word.rsplit(['/', '\\']).next().map(str::to_owned);
    all_commands(&text).iter().any(|command| {
        command.windows(prefix.len()).any(|words| {
            words[1..] == prefix[1..]
                && (words[0] == prefix[0] || program(&words[0]).as_ref() == Some(&prefix[0]))
        })
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn call(input: Value) -> ToolCallUpdate {
        ToolCallUpdate::new("1").raw_input(input)
    }

    #[test]
    fn quotes_make_one_word() {
        let read = |text| simple_command(text).map(|words| words.join("|"));
        assert_eq!(read("git  commit\t-m 'a; b' \"c d\"e").as_deref(), Some("git|commit|-m|a; b|c de"));
        assert_eq!(read("a '' b").as_deref(), Some("a||b"));
        assert_eq!(read("").as_deref(), Some(""));
        for text in [
            "git status; rm x",
            "git status & rm x",
            "git status | sh",
            "git status\nrm x",
            "git status > x",
            "git $(rm x)",
            "git `rm x`",
            "git \"$(rm x)\"",
            "git \"`rm x`\"",
            "git $X",
            "git \\\nstatus",
            "git {a,b}",
            "git *",
            "git 'unclosed",
            "git \u{7f}",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn one_command_is_told_from_several() {
        let status = words("git status");
        for (input, is, has) in [
            (json!({ "command": "git status" }), true, true),
            (json!({ "command": "git status -s" }), true, true),
            (json!({ "command": ["git", "status", "; rm"] }), true, true),
            (json!({ "command": "git", "args": ["status"] }), true, true),
            (json!({ "command": "git", "args": null }), false, false),
            (json!({ "command": "git statusx" }), false, false),
            (json!({ "command": "gıt status" }), false, false),
            (json!({ "command": "cd x && git status" }), false, true),
            (json!({ "command": "git status; rm x" }), false, true),
            (json!({ "command": "/usr/bin/git status" }), false, true),
            (json!({ "command": "\"git\" 'status'" }), true, true),
            (json!({ "command": "g\\it status" }), false, true),
            (json!({ "command": "sh -c 'git status'" }), false, true),
            (json!({ "command": ["sh", "-c", "git status"] }), false, true),
            (json!({ "command": "git status", "env": { "PATH": "." } }), false, true),
            (json!({ "command": "git status", "args": 7 }), false, true),
            (json!({ "command": 7 }), false, false),
            (json!({ "cmd": "git status" }), false, false),
            (json!("git status"), false, false),
        ] {
            let call = call(input);
            assert_eq!((is_command(&call, &status), has_command(&call, &status)), (is, has), "{call:?}");
        }
        let mut twice = ToolCallUpdate::new("1");
        let text = r#"{"command":"rm x","command":"git status"}"#;
        twice.raw_input = Some(agentwire_jsonrpc::RawJson::parse(text.into()).expect("it is JSON"));
        assert!(!is_command(&twice, &status));
        assert!(has_command(&twice, &status) && has_command(&twice, &words("rm")));
        assert!(!is_command(&ToolCallUpdate::new("1"), &status));
    }
}
