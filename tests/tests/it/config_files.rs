//! Servers and agents by the names that configuration files have for them: those of editors, and our own.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use agentwire_test_support::write_program;
use serde_json::json;
use tempfile::TempDir;

use crate::binaries::{acting, agentwire};
use crate::program::{Ended, Program, SETTINGS, SOON};

const SECRET: &str = "planted-s3cret-value";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("there is room"))
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("there is room");
        fs::write(&path, text).expect("there is room");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("it is there").join(name)
    }

    /// A program that writes its directory and its arguments before it becomes our server.
    fn program(&self, name: &str) -> String {
        let ours = agentwire().display();
        let environment = self.path("environment");
        let script =
            format!("#!/bin/sh\necho \"$PWD $0 $KEY\" > '{}'\nexec '{ours}' server\n", environment.display());
        let path = self.write(name, "");
        write_program(path.as_ref(), &script);
        path
    }

    fn environment(&self) -> String {
        fs::read_to_string(self.path("environment")).expect("the program was started")
    }
}

fn run(arguments: &[&str]) -> Ended {
    run_with(&[], arguments)
}

fn run_with(variables: &[(&str, &str)], arguments: &[&str]) -> Ended {
    let variables: Vec<_> = variables.iter().map(|(name, value)| (*name, OsStr::new(value))).collect();
    let mut program = Program::start_with(&variables, arguments);
    program.close_stdin();
    let ended = program.end(SOON);
    assert!(!ended.stdout.contains(SECRET) && !ended.stderr.contains(SECRET), "a secret is shown: {ended}");
    ended
}

fn demo() -> serde_json::Value {
    json!({ "command": agentwire(), "args": ["server"] })
}

#[test]
fn a_server_of_a_file_is_a_target() {
    let folder = Folder::new();
    let one = folder.write(".mcp.json", &json!({ "mcpServers": { "demo": demo() } }).to_string());
    run(&["tools", &one]).exits(0).prints("Add two numbers");
    run(&["call", &format!("{one}:demo"), "add", r#"{"a":2,"b":40}"#]).exits(0).prints("42");
    let servers = json!({ "demo": demo(), "web": { "type": "http", "url": "http://127.0.0.1:1/mcp" } });
    let text = format!("{{ // those of VS Code\n\"servers\": {servers}, \"inputs\": [], }}");
    let two = folder.write(".vscode/mcp.json", &text);
    run(&["tools", &format!("{two}:demo")]).exits(0).prints("Add two numbers");
    run(&["tools", &format!("{two}:web")]).exits(4);
    let ended = run(&["tools", &two]);
    assert_eq!(
        ended.exits(2).stderr,
        format!("error: {two}: it has demo, web; write one of them, as in {two}:demo\n")
    );
    let ended = run(&["tools", &format!("{two}:x")]);
    assert_eq!(ended.exits(2).stderr, format!("error: {two}: no server `x`; it has demo, web\n"));
    let ended = run(&["tools", "/no/such.json:x"]);
    assert_eq!(ended.exits(2).stderr, "error: /no/such.json: there is no such file\n");
}

#[test]
fn a_relative_command_begins_at_the_folder_of_the_file() {
    let (folder, other) = (Folder::new(), Folder::new());
    folder.program("bin/server");
    let hostile = other.write("bin/server", "");
    write_program(hostile.as_ref(), "#!/bin/sh\necho hostile > /dev/tty\nexit 9\n");
    let server = json!({ "command": "./bin/server", "env": { "KEY": "${MY_KEY:-none}" } });
    for (file, key) in [(".cursor/mcp.json", SECRET), (".mcp.json", "")] {
        let file = folder.write(file, &json!({ "mcpServers": { "s": server } }).to_string());
        let mut command = std::process::Command::new(agentwire());
        command.args(["tools", &file]).current_dir(other.0.path()).env("MY_KEY", key);
        let ended = command.output().expect("it starts");
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        let home = folder.path("");
        let key = if key.is_empty() { "none" } else { key };
        let expected = format!("{} {} {key}\n", home.display(), home.join("./bin/server").display());
        assert_eq!(folder.environment().replace("//", "/"), expected.replace("/ ", " "));
    }
}

#[test]
fn fault_of_a_file_is_reported_without_its_values() {
    let folder = Folder::new();
    let server = |server: serde_json::Value| json!({ "mcpServers": { "s": server } }).to_string();
    let asked = json!({ "command": "x", "env": { "T": "${input:token}" } });
    let header = json!({ "url": "http://127.0.0.1:1/", "headers": { "A": format!("{SECRET}\nx") } });
    let rows = [
        (
            server(asked),
            "server \"s\": member \"env.T\": the input \"token\" is used: inputs are not supported here",
        ),
        (server(header), "server \"s\": member \"headers.A\": HTTP does not carry such a header"),
        (server(json!({ "command": "${UNSET_X}" })), "the variable \"UNSET_X\" is not set"),
        (server(json!({ "command": "x", "disabled": true })), "the server `s` is disabled"),
        (server(json!({ "args": [SECRET] })), "it has neither `command` nor `url`"),
        (format!("{{ \"{SECRET}"), "it is not JSON: line 1, column"),
        ("{}".into(), "it has neither `mcpServers` nor `servers`"),
        (r#"{"mcpServers":{}}"#.into(), "it names no servers"),
    ];
    for (text, words) in rows {
        let file = folder.write("mcp.json", &text);
        run(&["tools", &file]).exits(2).reports(words);
    }
}

#[test]
fn chat_takes_all_servers_of_a_file() {
    let folder = Folder::new();
    let other = folder.program("other/bin/server");
    let servers = json!({ "a": demo(), "b": { "command": other, "cwd": "other", "env": { "KEY": SECRET } } });
    let file = folder.write(".mcp.json", &json!({ "mcpServers": servers }).to_string());
    let ended = run(&["chat", "--cwd", "/", "--mcp-config", &file, "/tools"]);
    ended.exits(0).prints("`a__echo`").prints("`b__echo`");
    assert_eq!(folder.environment(), format!("{} {other} {SECRET}\n", folder.path("other").display()));
    let again = run(&["chat", "--mcp", &format!("a={file}:a"), "--mcp-config", &file, "/tools"]);
    assert_eq!(again.exits(2).stderr, format!("error: --mcp-config {file}: there are two servers `a`\n"));
    let one = run(&["chat", "--mcp", &format!("x={file}:a"), "/call add {\"a\":2,\"b\":40}"]);
    one.exits(0);
    let none = folder.write("none.json", r#"{"mcpServers":{"n":{"command":"/no/such/program"}}}"#);
    run(&["chat", "--mcp-config", &none, "hi"])
        .exits(4)
        .reports("none.json: n: /no/such/program: no such program");
}

/// The command line of an agent that answers with a text of its own.
fn agent(text: &str) -> String {
    let chunk =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    acting(&json!({
        "initialize": [{ "answer": { "protocolVersion": 1, "agentCapabilities": {} } }],
        "session/new": [{ "answer": { "sessionId": "s1" } }],
        "session/prompt": [{ "update": chunk }, { "answer": { "stopReason": "end_turn" } }],
    }))
}

/// Variables, arguments, and words of the answer.
type Row<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str], &'a str);

#[test]
fn a_relative_path_that_holds_in_all_folders_chooses_no_program() {
    let folder = Folder::new();
    let program = folder.program("agent");
    folder.write("c.toml", &format!("[agents.x]\ncommand = '{program}'\n"));
    let file = folder.write("file.toml", "[chat]\nagent = './agent'\n");
    let run = |variables: &[(&str, &str)], arguments: &[&str]| {
        let mut command = std::process::Command::new(agentwire());
        command
            .arg("chat")
            .args(arguments)
            .arg("hi")
            .current_dir(folder.path(""))
            .envs(variables.iter().copied());
        let ended = command.output().expect("it starts");
        assert!(!folder.path("environment").exists(), "{arguments:?}: it ran");
        (ended.status.code(), String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let relative = "its program is a relative path; write an absolute one, `~/…`, or a name in PATH";
    let rows = [
        (
            run(&[("AGENTWIRE_CONFIG", "c.toml")], &["--agent", "x"]),
            "AGENTWIRE_CONFIG: `c.toml` is a relative path".into(),
        ),
        (run(&[("AGENTWIRE_AGENT", "./agent")], &[]), format!("AGENTWIRE_AGENT: {relative}")),
        (run(&[], &["--config", &file]), format!("{file}: chat.agent: {relative}")),
        (
            run(&[("HOME", ".")], &["--agent", "~/agent"]),
            "`$HOME` in the command line is not set; in single quotes it stays as it is".into(),
        ),
    ];
    for ((code, stderr), why) in rows {
        assert!(code == Some(2) && stderr.contains(&why), "{code:?}: {stderr}");
    }
}

#[test]
fn an_agent_is_named_by_the_option_the_environment_or_the_file() {
    let folder = Folder::new();
    // A string of JSON is one of TOML.
    let [one, two] = ["from one", "from two"].map(|text| json!(agent(text)).to_string());
    let text = format!(
        "[chat]\nagent = 'one'\n[agents.one]\ncommand = {one}\n[agents.two]\ncommand = {two}\nenv.KEY = '{SECRET}'\n"
    );
    let file = folder.write("agentwire/config.toml", &text);
    let empty = folder.write("empty.toml", "");
    let settings = folder.path("");
    let home = (SETTINGS, settings.to_str().expect("UTF-8"));
    let three = agent("from three");
    let rows: [Row<'_>; 10] = [
        (&[], &[], "You said: hello"),
        (&[home], &[], "from one"),
        (&[home], &["--agent", "two"], "from two"),
        (&[home], &["--agent", &three], "from three"),
        (&[home, ("AGENTWIRE_AGENT", "two")], &[], "from two"),
        (&[home, ("AGENTWIRE_AGENT", &three)], &[], "from three"),
        (&[home, ("AGENTWIRE_AGENT", &three)], &["--agent", "two"], "from two"),
        (&[("AGENTWIRE_CONFIG", &file)], &[], "from one"),
        (&[home, ("AGENTWIRE_CONFIG", &empty)], &[], "You said: hello"),
        (&[("AGENTWIRE_CONFIG", &empty)], &["--config", &file], "from one"),
    ];
    for (variables, arguments, words) in rows {
        run_with(variables, &[&["chat"], arguments, &["hello"]].concat()).exits(0).prints(words);
    }
    run_with(&[home, ("AGENTWIRE_CONFIG", &empty)], &["chat", "--agent", "two", "hello"]).exits(4);
}

#[test]
fn the_form_of_the_output_is_that_of_the_option_or_the_file() {
    let folder = Folder::new();
    let file = folder.write("c.toml", "[chat]\nformat = 'quiet'\n");
    let quiet = run(&["chat", "--config", &file, "hello"]);
    assert_eq!((quiet.exits(0).stdout.as_str(), quiet.stderr.as_str()), ("You said: hello\n", ""));
    run(&["chat", "--config", &file, "--format", "text", "hello"]).exits(0).reports("agentwire 0.");
    let json = run(&["chat", "--config", &file, "--json", "hello"]);
    assert!(!json.exits(0).objects().is_empty());
}

#[test]
fn a_server_is_named_by_our_own_file() {
    let folder = Folder::new();
    let ours = agentwire().display();
    let text = format!(
        "[servers.demo]\ncommand = '''{ours} server'''\n[servers.web]\nurl = 'http://127.0.0.1:1/'\n"
    );
    let file = folder.write("c.toml", &text);
    run(&["call", "--config", &file, "demo", "add", r#"{"a":2,"b":40}"#]).exits(0).prints("42");
    run(&["tools", "--config", &file, "web"]).exits(4);
    run(&["chat", "--config", &file, "--mcp", "x=demo", "/tools"]).exits(0).prints("echo");
}

#[test]
fn a_bad_file_of_ours_is_wrong_usage() {
    let folder = Folder::new();
    let rows = [
        (
            "[agents.a]\ncommand = 'x'\nkey = '1'",
            "agents.a.key: there is no such member; `command`, `env`, `cwd`, `enabled`, `disabled` are",
        ),
        ("[chat]\nyes = true", "chat.yes: there is no such member; `agent`, `format` are"),
        ("[agents.a", "it is not TOML: line 1, column"),
        (
            "[agents.a]\ncommand = './agent'",
            "agents.a.command: its program is a relative path; write an absolute one, `~/…`, or a name in PATH",
        ),
        (
            "[agents.a]\ncommand = 'x'\nenv.T = '${UNSET_X}'",
            "agents.a.env.T: the variable \"UNSET_X\" is not set",
        ),
    ];
    for (text, words) in rows {
        let file = folder.write("c.toml", text);
        let ended = run(&["chat", "--config", &file, "--agent", "a", "hi"]);
        ended.exits(2).reports(&format!("error: {file}: {words}"));
    }
    run(&["tools", "--config", "/no/such/file", "x"]).exits(2).reports("/no/such/file: it cannot be read");
}
