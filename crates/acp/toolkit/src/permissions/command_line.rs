//! Compares the command of a tool call with a pattern.

use agentwire_acp_schema::v1::ToolCallUpdate;
use agentwire_jsonrpc::RawObject;

use super::command_pattern::CommandPattern;
use super::command_words::simple_command;

/// Characters that separate commands, redirect them or run others, if words are joined for a shell.
const OPERATORS: &str = ";&|<>()$`";

/// Returns whether the call executes a single command, which begins with the pattern. The pattern must name arguments that
/// run other programs.
pub(super) fn is_command(call: &ToolCallUpdate, pattern: &CommandPattern) -> bool {
    let words = || {
        let input = RawObject::try_from(call.raw_input.clone()?).ok()?;
        // Readers disagree on the value of a repeated member. The environment can change the effect of the words.
        let once = |name: &str| input.iter().filter(|(other, _)| other == name).count() <= 1;
        if !once("command") || !once("args") || input.contains_key("env") {
            return None;
        }
        let command = input.get("command")?;
        let (mut words, mut list): (_, Vec<String>) = match command.decode::<String>() {
            Ok(text) => (simple_command(&text)?, Vec::new()),
            Err(_) => (Vec::new(), command.decode().ok()?),
        };
        if let Some(arguments) = input.get("args").filter(|arguments| !arguments.is_null()) {
            list.extend(arguments.decode::<Vec<String>>().ok()?);
        }
        // An agent may join the words and pass them to a shell.
        let is_operator = |character: char| character.is_control() || OPERATORS.contains(character);
        if list.iter().any(|word| word.contains(is_operator)) {
            return None;
        }
        words.extend(list);
        Some(words)
    };
    words().is_some_and(|words| pattern.begins(&words) && pattern.names_arguments(&words))
}

/// Returns whether the command of the call contains the pattern. The first word of the pattern also matches the last
/// component of a path.
pub(super) fn has_command(call: &ToolCallUpdate, pattern: &CommandPattern) -> bool {
    let Some(Ok(input)) = call.raw_input.clone().map(RawObject::try_from) else { return false };
    let texts = |name: &str| -> Vec<String> {
        let values = input.iter().filter(|(other, _)| other == name).map(|(_, value)| value);
        let words = values.map(|value| match value.decode::<String>() {
            Ok(text) => text,
            Err(_) => value.decode::<Vec<String>>().unwrap_or_default().join(" "),
        });
        words.collect()
    };
    pattern.occurs(&[texts("command"), texts("args")].concat().join(" "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn words(text: &str) -> CommandPattern {
        CommandPattern::new(text).unwrap()
    }

    fn call(input: Value) -> ToolCallUpdate {
        ToolCallUpdate::new("1").raw_input(input)
    }

    #[test]
    fn single_command_is_distinguished_from_several() {
        let status = words("git status");
        for (input, is, has) in [
            (json!({ "command": "git status" }), true, true),
            (json!({ "command": "git status -s" }), true, true),
            (json!({ "command": ["git", "status", "; rm"] }), false, true),
            (json!({ "command": ["git", "status", "a\nb"] }), false, true),
            (json!({ "command": ["git", "status", "*.rs"] }), true, true),
            (json!({ "command": "git", "args": ["status", "$(rm x)"] }), false, true),
            (json!({ "command": "git status 'a; b'" }), true, true),
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
        for (pattern, command, is) in [
            ("git", "git -c alias.x='!id' x", false),
            ("git -c", "git -c alias.x='!id' x", true),
            ("git *", "git fetch --upload-pack=id", false),
            ("git * --output=x", "git diff --output=x", true),
            ("git * --output=x", "git diff --output=x --output=y", false),
            ("git -c a=b", "git -c a=b -c c=d log", false),
            ("env", "env sh -c id", false),
            ("env rm", "env rm x", true),
            ("env *", "env rm x", false),
            ("timeout 5 git", "timeout 5 git -c a.b=c x", false),
            ("find", "find . -exec id +", false),
            ("*", "xargs rm", false),
        ] {
            let call = call(json!({ "command": command }));
            assert_eq!(is_command(&call, &words(pattern)), is, "{pattern}: {command}");
        }
        let mut twice = ToolCallUpdate::new("1");
        let text = r#"{"command":"rm x","command":"git status"}"#;
        twice.raw_input = Some(agentwire_jsonrpc::RawJson::parse(text.into()).expect("it is JSON"));
        assert!(!is_command(&twice, &status));
        assert!(has_command(&twice, &status) && has_command(&twice, &words("rm")));
        assert!(!is_command(&ToolCallUpdate::new("1"), &status));
    }
}
