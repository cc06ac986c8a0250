//! What is masked, and what is not.

use std::time::{Duration, Instant};

use super::*;

const SECRET: &str = "hunter2-\"and\"/more";

fn masked(json: &str) -> String {
    Masker::new().message(json)
}

#[test]
fn equal_secrets_have_equal_masks_in_every_place() {
    let mut masker = Masker::new();
    let one = masker.message(
        r#"{"params":{"content":"the key is s3cr3t-value","env":{"api_key":"s3cr3t-value"},"b":{"password":"other-s3cret"}}}"#,
    );
    assert_eq!(
        one,
        r#"{"params":{"content":"the key is «secret 1»","env":{"api_key":"«secret 1»"},"b":{"password":"«secret 2»"}}}"#
    );
    let two = masker.message(r#"["s3cr3t-value",{"other-s3cret":"x other-s3cret y"}]"#);
    assert_eq!(two, r#"["«secret 1»",{"«secret 2»":"x «secret 2» y"}]"#);
    assert_eq!(masker.header("Authorization", "Bearer s3cr3t-value"), "Bearer «secret 1»");
    assert_eq!(masker.header("mcp-session-id", "s3cr3t-value"), "«secret 1»");
    assert_eq!(masker.header("content-type", "application/json"), "application/json");
}

#[test]
fn the_settings_of_mcp_servers_are_secret_in_both_forms() {
    let acp = r#"{"mcpServers":[{"name":"web","command":"run","args":["-v"],"env":[{"name":"MODE","value":"fast-one"}],"headers":[{"name":"X-Team","value":"team-seven"}]}]}"#;
    let expected = r#"{"mcpServers":[{"name":"web","command":"run","args":["-v"],"env":[{"name":"MODE","value":"«secret 1»"}],"headers":[{"name":"X-Team","value":"«secret 2»"}]}]}"#;
    assert_eq!(masked(acp), expected);
    let file = r#"{"mcpServers":{"web":{"command":"run","env":{"MODE":"fast-one","N":5}}}}"#;
    assert_eq!(
        masked(file),
        r#"{"mcpServers":{"web":{"command":"run","env":{"MODE":"«secret 1»","N":"«secret 2»"}}}}"#
    );
}

#[test]
fn secrets_within_text_are_found() {
    let mut masker = Masker::new();
    for (text, expected) in [
        ("curl -H 'Authorization: Bearer abc123def456'", "curl -H 'Authorization: Bearer «secret 1»'"),
        ("https://me:pa55word@example.com/x", "https://«secret 2»@example.com/x"),
        (r#"{"access_token":"opaque value","n":1}"#, r#"{"access_token":"«secret 4»","n":1}"#),
        ("client_secret=zyxwvut&x=1", "client_secret=«secret 5»&x=1"),
        ("/messages?sessionId=0a1b2c3d4e", "/messages?sessionId=«secret 6»"),
        ("it said pa55word and zyxwvut", "it said «secret 3» and «secret 5»"),
        ("sk-abcdefghijklmnop1", "«secret 7»"),
        ("/home/somebody/x", "/home/«user 8»/x"),
        (r"C:\Users\somebody\x", r"C:\Users\«user 8»\x"),
    ] {
        assert_eq!(masker.text(text), expected, "{text}");
    }
    // Prose about secrets stays readable.
    for text in ["Bearer authentication is used", "the tokens are counted", "progressToken 7", "a@b.example"]
    {
        assert_eq!(masker.text(text), text);
    }
}

#[test]
fn the_forms_of_a_secret_are_found() {
    let mut masker = Masker::new();
    let json = format!("{{\"token\":{}}}", encoded(SECRET));
    assert_eq!(masker.message(&json), r#"{"token":"«secret 1»"}"#);
    let inner = encoded(&json);
    let url = "q=hunter2-%22and%22%2Fmore";
    let base64 = STANDARD.encode(SECRET);
    for text in [&*inner, url, &base64, SECRET] {
        let masked = masker.text(text);
        assert!(masked.contains("«secret 1»") && !masked.contains("hunter2"), "{masked}");
    }
    // The name and the password of Basic authentication.
    let basic = STANDARD.encode("me:pass-word-9");
    assert_eq!(masker.header("proxy-authorization", &format!("Basic {basic}")), "Basic «secret 2»");
    assert_eq!(masker.text("pass-word-9"), "«secret 3»");
}

use crate::json_text::encoded;

#[test]
fn homes_users_and_hosts_are_masked_in_paths() {
    let mut masker = Masker::new().home("/srv/jane").user("jane").host("build-7");
    assert_eq!(masker.text("cd /srv/jane/project; ls /srv/janet"), "cd «home»/project; ls /srv/janet");
    assert_eq!(masker.text("/var/jane/x and jane"), "/var/«user»/x and jane");
    assert_eq!(masker.text("//build-7/share jane@build-7:"), "//«host»/share jane@«host»:");
    // Neither `/` nor `root` is a name that could be masked.
    let mut masker = Masker::new().home("/").user("root");
    assert_eq!(masker.text("/root/x"), "/root/x");
}

#[test]
fn patterns_of_the_user_are_added() {
    let mut masker = Masker::new().pattern("ticket-([0-9]+)").unwrap().pattern("x{3}").unwrap();
    assert_eq!(masker.text("ticket-1234567 xxx 1234567"), "ticket-«secret 1» «secret 2» «secret 1»");
    assert!(Masker::new().pattern("(").is_err());
}

#[test]
fn schemas_keep_the_properties_that_are_named_like_secrets() {
    let schema = r#"{"inputSchema":{"properties":{"token":{"type":"string"}},"required":["token"]}}"#;
    assert_eq!(masked(schema), schema);
    let params = r#"{"progressToken":7,"_meta":{"progressToken":"abc"},"password":123456,"secret":null,"token":[" a",true]}"#;
    let expected = r#"{"progressToken":7,"_meta":{"progressToken":"abc"},"password":"«secret 1»","secret":null,"token":["«secret 2»",true]}"#;
    assert_eq!(masked(params), expected);
}

#[test]
fn more_secrets_than_are_counted_are_masked_as_well() {
    let mut masker = Masker::new();
    for number in 0..3000 {
        let shown = masker.message(&format!("{{\"token\":\"planted-{number}\"}}"));
        assert!(!shown.contains("planted"), "{shown}");
    }
    assert_eq!(masker.message(r#"{"token":"planted-2999"}"#), r#"{"token":"«secret»"}"#);
    assert_eq!(masker.message(r#"{"token":"planted-5"}"#), r#"{"token":"«secret 6»"}"#);
}

/// The shortest of three runs that mask a text.
fn time_of(text: &str) -> Duration {
    let run = || {
        let start = Instant::now();
        Masker::new().text(text);
        start.elapsed()
    };
    [run(), run(), run()].into_iter().min().expect("three runs")
}

#[test]
fn a_hostile_text_takes_time_in_proportion_to_its_length() {
    let units = [
        "eyJ-",
        "eyJabcdefgh-",
        "eyJabcdefgh.a-",
        "eyJabcdefgh.a.",
        "://a:",
        "://a@",
        "token\" : ",
        "api_key=",
        "secret: ",
        "cookie: ",
        "bearer ",
        "sk-",
        "ghp_",
        "xoxb-",
        "AKIA",
        "/Users/",
        "\\Users",
        "?state=",
        "[",
        "{\"a\":",
    ];
    for unit in units {
        let [short, long] = [500, 500 * 8].map(|count| time_of(&unit.repeat(count)));
        assert!(
            long < short * 32 + Duration::from_millis(20),
            "{unit:?}: {short:?}, eight times as long {long:?}"
        );
    }
}

#[test]
fn a_long_text_without_secrets_is_not_searched() {
    let took = time_of(&"AbCd0+/x".repeat(250_000));
    assert!(took < Duration::from_secs(5), "{took:?}");
}
