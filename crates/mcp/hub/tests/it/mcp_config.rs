//! Configuration files of other programs.

use agentwire_mcp_hub::{
    DEFAULT_MCP_CONFIG_LIMIT, McpConfig, McpConfigFault, McpConfigReader, Target, connect,
};
use serde_json::json;

use crate::script::server;

fn variables(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("hunter2".into()),
        "EMPTY" => Some(String::new()),
        "HOME" => Some("/home/me".into()),
        _ => None,
    }
}

fn parse(text: &str) -> Result<McpConfig, String> {
    McpConfig::from_str(text, variables).map_err(|error| {
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error:?}");
        error.to_string()
    })
}

/// Each server: its name, and its command line or URL.
fn shown(config: &McpConfig) -> Vec<String> {
    let target = |target: &Target| match target {
        Target::Stdio(command) => {
            let words =
                std::iter::once(command.program()).chain(command.arguments().iter().map(|word| &**word));
            words.map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
        }
        Target::Http(target) => target.url().to_owned(),
        other => format!("{other:?}"),
    };
    config.servers().iter().map(|server| format!("{}: {}", server.name, target(&server.target))).collect()
}

#[test]
fn servers_of_every_kind_are_read_in_order() {
    let config = parse(
        r#"{ "mcpServers": {
            "z": { "command": "files", "args": ["--root", "${ROOT:-/repo}", "${EMPTY:-x}", "${EMPTY}", "$ROOT"] },
            "web": { "url": "https://example.com/${env:TOKEN}", "headers": { "Authorization": "Bearer ${TOKEN}" } },
            "off": { "command": "${UNSET}", "disabled": true },
            "old": { "type": "sse", "url": "http://127.0.0.1:1/sse", "disabled": false },
            "new": { "type": "streamable-http", "url": "http://127.0.0.1:1/mcp", "args": null }
        }, "$schema": "x" }"#,
    )
    .unwrap();
    let expected = [
        "z: files --root /repo x  $ROOT",
        "web: https://example.com/hunter2",
        "old: http://127.0.0.1:1/sse",
        "new: http://127.0.0.1:1/mcp",
    ];
    assert_eq!(shown(&config), expected);
    assert_eq!(config.disabled(), ["off"]);
    assert!(config.warnings().is_empty());
    let debug = format!("{config:?} {:?}", config.servers()[1].target).replace("example.com/hunter2", "");
    assert!(!debug.contains("hunter2"), "{debug}");
}

#[test]
fn the_file_of_vs_code_is_read_with_its_comments() {
    let text = r#"{
        // What it is asked for.
        "inputs": [{ "id": "token", "type": "promptString" }],
        "servers": {
            "a": { "type": "stdio", "command": "${workspaceFolder}/run", "args": ["${workspaceFolderBasename}", "${userHome}${/}x"],
                "envFile": "${workspaceFolder}/.env", "env": { "N": 1, "GONE": null }, }, /* the last */
        },
        "other": 1,
    }"#;
    let reader = McpConfigReader::new().variables(variables).workspace_folder("/work/repo");
    let config = reader.parse(text).unwrap();
    assert_eq!(shown(&config), ["a: /work/repo/run repo /home/me/x"]);
    let warnings: Vec<_> = config.warnings().iter().map(ToString::to_string).collect();
    let expected = [
        "server \"a\": the member \"envFile\" is not known, and is left out",
        "the member \"other\" is not known, and is left out",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn text_that_is_no_file_of_servers_is_refused() {
    let rows = [
        ("[1]", "it must be an object"),
        ("\n// none\n", "it is empty"),
        ("{\n  \"mcpServers\": {,", "it is not JSON: line 2, column 18"),
        ("{}", "it has neither `mcpServers` nor `servers`"),
        (r#"{"servers": 1}"#, "member \"servers\": it must be an object"),
        (r#"{"servers": {"a": "hunter2"}}"#, "server \"a\": it must be an object"),
    ];
    for (text, expected) in rows {
        assert_eq!(parse(text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn an_error_names_the_server_and_the_member_and_no_value() {
    let unset = "the variable \"UNSET\" is not set, and has no default, as in `${NAME:-default}`";
    let rows = [
        (json!({}), "it has neither `command` nor `url`".to_owned()),
        (json!({ "x": "http://x/" }), "it has neither `command` nor `url`".to_owned()),
        (
            json!({ "env": {}, "uri": "http://hunter2/" }),
            "member \"uri\": the server has neither `command` nor `url`; did you mean `url`?".into(),
        ),
        (
            json!({ "Endpoint": "http://x/" }),
            "member \"Endpoint\": the server has neither `command` nor `url`; did you mean `url`?".into(),
        ),
        (
            json!({ "comand": "x" }),
            "member \"comand\": the server has neither `command` nor `url`; did you mean `command`?".into(),
        ),
        (json!({ "command": "a", "url": "b" }), "it has both `command` and `url`".into()),
        (json!({ "url": "http://x/", "serverUrl": "b" }), "it has both `url` and `serverUrl`".into()),
        (json!({ "command": [] }), "member \"command\": it has neither `command` nor `url`".into()),
        (json!({ "command": {} }), "member \"command\": it must be a string".into()),
        (json!({ "command": "a", "args": "hunter2" }), "member \"args\": it must be a list of strings".into()),
        (json!({ "command": "a", "args": [null] }), "member \"args\": it must be a string".into()),
        (json!({ "command": "a", "args": [["hunter2"]] }), "member \"args\": it must be a string".into()),
        (json!({ "command": "a", "enabled": "hunter2" }), "member \"enabled\": it must be true or false".into()),
        (json!({ "command": "a", "disabled": [] }), "member \"disabled\": it must be true or false".into()),
        (
            json!({ "command": "a", "env": [{ "name": "A", "value": "1" }, { "name": "A", "value": "2" }] }),
            "member \"env\": the name \"A\" occurs twice".into(),
        ),
        (
            json!({ "serverUrl": "http://x/", "transport": "carrier-pigeon" }),
            "member \"transport\": the type \"carrier-pigeon\" does not fit the server, or is not supported".into(),
        ),
        (json!({ "command": "a", "disabled": "hunter2" }), "member \"disabled\": it must be true or false".into()),
        (json!({ "command": "a", "env": ["hunter2"] }), "member \"env\": it must be an object of strings".into()),
        (json!({ "command": "a", "env": { "A": ["hunter2"] } }), "member \"env.A\": it must be a string".into()),
        (json!({ "command": "a", "env": { "A": "${UNSET}" } }), format!("member \"env.A\": {unset}")),
        (
            json!({ "command": "a", "type": "${TOKEN}" }),
            "member \"type\": the type \"${TOKEN}\" does not fit the server, or is not supported".into(),
        ),
        (
            json!({ "url": "http://x/", "type": "stdio" }),
            "member \"type\": the type \"stdio\" does not fit the server, or is not supported".into(),
        ),
        (
            json!({ "url": "${TOKEN}" }),
            "member \"url\": it is not the URL of an MCP server, such as `https://host/path`".into(),
        ),
        (
            json!({ "url": "http://x/", "headers": { "A": "${TOKEN}\n" , "B": "a\nb" } }),
            "member \"headers.B\": HTTP does not carry such a header".into(),
        ),
        (
            json!({ "url": "http://x/", "headers": { "A": "Bearer ${input:token}" } }),
            "member \"headers.A\": the input \"token\" is used: inputs are not supported here, so write a variable of the environment instead".into(),
        ),
        (
            json!({ "command": "${workspaceFolder}/x" }),
            "member \"command\": `${workspaceFolder}` is used, and this program has set none".into(),
        ),
        (
            json!({ "command": "${command:pick:-hunter2}" }),
            "member \"command\": `${…}` names \"command:pick\", which is not a variable that is known here".into(),
        ),
        (json!({ "command": "a ${TOKEN" }), "member \"command\": it has `${` without `}`".into()),
    ];
    for (entry, expected) in rows {
        let error = parse(&json!({ "mcpServers": { "a\u{1b}": entry } }).to_string()).unwrap_err();
        assert_eq!(error, format!("server \"a\\u{{1b}}\": {expected}"), "{entry}");
    }
}

#[test]
fn a_file_is_named_and_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".mcp.json");
    let error = McpConfig::read(&path).unwrap_err();
    assert!(matches!(error.fault(), McpConfigFault::Io(_)), "{error}");
    assert!(error.to_string().starts_with(&format!("{path:?}: ")), "{error}");

    let text = r#"{ "mcpServers": { "a": { "command": "b", "args": ["${TOKEN}${TOKEN}"] } } }"#;
    std::fs::write(&path, text).unwrap();
    let reader = McpConfigReader::new().variables(|_| Some("x".repeat(40)));
    assert_eq!(reader.read(&path).unwrap().servers().len(), 1);
    // Once for the file, and once for what its variables become.
    for limit in [text.len() - 1, 79] {
        let error = reader.clone().size_limit(limit).read(&path).unwrap_err();
        assert!(
            matches!(error.fault(), McpConfigFault::TooLong { limit: named, .. } if *named == limit),
            "{error}"
        );
        assert_eq!(error.file(), Some(&*path));
    }
    std::fs::write(&path, " ".repeat(DEFAULT_MCP_CONFIG_LIMIT + 1)).unwrap();
    let error = McpConfig::read(&path).unwrap_err();
    assert!(matches!(error.fault(), McpConfigFault::TooLong { .. }), "{error}");
    std::fs::write(&path, b"\xff").unwrap();
    assert!(matches!(McpConfig::read(&path).unwrap_err().fault(), McpConfigFault::NotUtf8));
}

#[tokio::test]
async fn a_process_gets_its_environment_and_its_directory() {
    let Target::Stdio(command) =
        server("s", "where", r#"*'"tools/call"'*) text "$WORD ${GONE-gone} $PWD" ;;"#).target
    else {
        panic!("it is a process");
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let received = folder.join("received");
    std::fs::create_dir(&received).unwrap();
    let entry = json!({
        "command": command.program().to_str().unwrap(),
        "args": ["-c", "${PROGRAM}"],
        "env": { "WORD": "${TOKEN}", "RECEIVED": received, "GONE": null },
        "cwd": folder,
    });
    let program = command.arguments()[1].to_str().unwrap().to_owned();
    let config = McpConfigReader::new()
        .variables(move |name| if name == "PROGRAM" { Some(program.clone()) } else { variables(name) })
        .parse(&json!({ "servers": { "s": entry } }).to_string())
        .unwrap();
    connect(config, async |hub| {
        hub.ready().await;
        let result = hub.call("where", ()).await.unwrap();
        assert_eq!(result.text(), format!("hunter2 gone {}", folder.display()));
    })
    .await;
}

#[test]
fn only_the_selected_servers_are_read() {
    let text = r#"{ "mcpServers": { "a": { "command": "${UNSET}" }, "b": { "command": "x" }, "c": 1 } }"#;
    let reader = McpConfigReader::new().variables(variables);
    assert!(reader.parse(text).is_err());
    let config = reader.select(|name| name == "b").parse(text).unwrap();
    assert_eq!(shown(&config), ["b: x"]);
    assert_eq!(config.unselected(), ["a", "c"]);
}

#[test]
fn relative_paths_begin_at_the_base_folder() {
    let text = r#"{ "mcpServers": {
        "a": { "command": "./bin/a", "cwd": "d" }, "b": { "command": "b" }, "c": { "command": "/bin/c", "cwd": "/d" }
    } }"#;
    let config = McpConfigReader::new().base_folder("/base").parse(text).unwrap();
    let read = config.servers().iter().map(|server| match &server.target {
        Target::Stdio(command) => {
            (command.program().to_str().unwrap(), command.directory().unwrap().to_str().unwrap())
        }
        other => panic!("{other:?}"),
    });
    let expected = [("/base/./bin/a", "/base/d"), ("b", "/base"), ("/bin/c", "/d")];
    assert_eq!(read.collect::<Vec<_>>(), expected);
    let plain = McpConfigReader::new().parse(text).unwrap();
    assert_eq!(shown(&plain)[0], "a: ./bin/a", "as it is in the file");
}

/// The entries of other programs, whose meaning is clear.
#[test]
fn forms_of_other_programs_are_read() {
    let rows = [
        (json!({ "command": "a", "args": ["-p", 8080, true, 1.5] }), "a -p 8080 true 1.5"),
        (json!({ "command": ["npx", "-y", "a"], "args": ["b"] }), "npx -y a b"),
        (json!({ "command": "a", "type": "local", "env": [] }), "a"),
        (json!({ "command": "a", "env": {}, "headers": {} }), "a"),
        (json!({ "command": "a", "type": "STDIO" }), "a"),
        (json!({ "httpUrl": "http://x/" }), "http://x/"),
        (json!({ "serverUrl": "http://x/", "headers": [{ "name": "N", "value": 1 }] }), "http://x/"),
        (json!({ "url": "http://x/", "type": "streamable_http" }), "http://x/"),
        (json!({ "url": "http://x/", "type": "Streamable HTTP" }), "http://x/"),
        (json!({ "url": "http://x/", "transport": "streamableHttp", "headers": { "A": true } }), "http://x/"),
    ];
    for (entry, expected) in rows {
        let config = parse(&json!({ "mcpServers": { "s": entry } }).to_string());
        let config = config.unwrap_or_else(|why| panic!("{entry}: {why}"));
        assert_eq!(shown(&config), [format!("s: {expected}")], "{entry}");
        assert!(config.warnings().is_empty(), "{entry}");
    }
    let env = json!([{ "name": "A", "value": "${TOKEN}" }, { "name": "B", "value": true }]);
    for env in [env, json!({ "A": "${TOKEN}", "B": true })] {
        let config =
            parse(&json!({ "mcpServers": { "s": { "command": "a", "env": env } } }).to_string()).unwrap();
        let Target::Stdio(command) = &config.servers()[0].target else { panic!("it is a process") };
        let variables: Vec<_> = command.environment().collect();
        assert_eq!(
            variables,
            [("A".as_ref(), Some("hunter2".as_ref())), ("B".as_ref(), Some("true".as_ref()))]
        );
    }
}

#[test]
fn server_that_is_switched_off_is_left_out() {
    // An entry that is switched off may be malformed.
    let off = |switch: &str, value: serde_json::Value| {
        let mut entry = json!({ "command": ["${UNSET}"], "args": 1, "enabled": true });
        entry[switch] = value;
        json!({ "mcpServers": { "s": entry } })
    };
    let entry = json!({ "s": { "command": "a" } });
    let rows = [
        off("enabled", json!(false)),
        off("enabled", json!("false")),
        off("enabled", json!("False")),
        off("enabled", json!(0)),
        off("disabled", json!(true)),
        off("disabled", json!("true")),
        off("disabled", json!(1)),
        off("isActive", json!(false)),
        off("active", json!(false)),
        off("Enabled", json!(false)),
        off("ENABLED", json!("no")),
        off("enable", json!(false)),
        off("isEnabled", json!(false)),
        off("is_enabled", json!("off")),
        off("is_active", json!(false)),
        off("is-active", json!(0)),
        off("Disable", json!(true)),
        off("isDisabled", json!("yes")),
        off("off", json!(true)),
        off("inactive", json!(true)),
        off("status", json!("disabled")),
        off("state", json!("Disabled")),
        off("State", json!("off")),
        off("mode", json!("disabled")),
        off("status", json!("paused")),
        off("mode", json!("suspended")),
        off("paused", json!(true)),
        off("isSuspended", json!(true)),
        json!({ "mcpServers": entry, "disabled_mcp_servers": ["s"] }),
        json!({ "mcpServers": entry, "disabledMcpServers": ["s"] }),
        json!({ "disabledMcpjsonServers": ["x", "s"], "servers": entry }),
        json!({ "mcpServers": entry, "mcp": { "excluded": ["s"] } }),
        json!({ "mcpServers": entry, "mcp": { "allowed": ["x"] } }),
    ];
    for file in rows {
        let config = parse(&file.to_string()).unwrap();
        assert_eq!((shown(&config), config.disabled()), (vec![], &["s".to_owned()][..]), "{file}");
    }
    let on = json!({ "mcpServers": { "s": { "command": "a", "enabled": true, "disabled": null, "active": 1 } },
        "mcp": { "allowed": ["s"], "excluded": [] } });
    let config = parse(&on.to_string()).unwrap();
    assert_eq!((shown(&config), config.warnings().len()), (vec!["s: a".to_owned()], 0));
    // A member that only resembles a switch is ignored.
    let other = json!({ "command": "a", "status": "connected", "state": {}, "disabledTools": ["x"], "enabledTools": [],
        "isEnabled": "yes", "is_active": true, "autoEnable": true });
    let config = parse(&json!({ "mcpServers": { "s": other } }).to_string()).unwrap();
    assert_eq!((shown(&config), config.warnings().len()), (vec!["s: a".to_owned()], 5));
    for (member, fault) in [
        ("enabeld", "it looks like a switch, and is not known; did you mean `enabled`?"),
        ("dissabled", "it looks like a switch, and is not known; did you mean `disabled`?"),
        ("is_active", "it must be true or false"),
    ] {
        let value = if member == "is_active" { json!("hunter2") } else { json!(false) };
        let entry = json!({ "command": "a", member: value });
        assert_eq!(
            parse(&json!({ "mcpServers": { "s": entry } }).to_string()).unwrap_err(),
            format!("server \"s\": member {member:?}: {fault}")
        );
    }
    let wrong = json!({ "mcpServers": entry, "mcp": { "excluded": "s" } });
    assert_eq!(
        parse(&wrong.to_string()).unwrap_err(),
        "member \"mcp.excluded\": it must be a list of strings"
    );
}
