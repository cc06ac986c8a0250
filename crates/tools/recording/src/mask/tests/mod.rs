//! Tests the values that are masked, and those that are not.

mod tables;
mod times;

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
fn names_beside_secrets_stay_readable() {
    for json in [
        r#"{"usage":{"tokens":{"input":12,"output":3},"total_tokens":15}}"#,
        r#"{"properties":{"tokens":{"type":"array","items":{"type":"string"},"description":"all of them"}}}"#,
        r#"{"headers":[{"name":"Accept","value":"text/html"},["Content-Type","text/plain"]]}"#,
        r#"{"name":"get_token","arguments":{"id":"seven"}}"#,
        r#"{"name":"password","description":"The password.","required":true}"#,
        r#"{"text":"exit code=137 and key=value"}"#,
    ] {
        assert_eq!(masked(json), json);
    }
    let pair = r#"{"tokens":[{"name":"first","value":"abcdef"}]}"#;
    assert_eq!(masked(pair), r#"{"tokens":[{"name":"first","value":"«secret 1»"}]}"#);
}

#[test]
fn lines_of_a_known_private_key_are_found_one_by_one() {
    let mut masker = Masker::new();
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
    masker.text(&format!("-----BEGIN PRIVATE KEY-----\n{line}\n{line}x\n-----END PRIVATE KEY-----"));
    assert!(!masker.text(&format!("read {line}")).contains(line));
}

#[test]
fn private_key_that_is_printed_line_by_line_is_masked() {
    use crate::event::{Event, EventKind, Line, Side};

    let mut masker = Masker::new();
    let lines = [
        ("key: -----BEGIN RSA PRIVATE KEY-----", false),
        ("DEK-Info: AES-128-CBC,0A1B2C3D", true),
        ("", false),
        ("MIIEpAIBAAKCAQEAshort", true),
        ("a+/b==", true),
        ("-----END RSA PRIVATE KEY-----", false),
        ("all of it is read", false),
    ];
    for (text, is_masked) in lines {
        let mut event = Event::new(None, Side::Server, EventKind::Stderr(Line::new(text)));
        masker.event(&mut event);
        let EventKind::Stderr(line) = event.kind else { panic!("it stays a line") };
        assert_eq!(line.bytes != text.as_bytes(), is_masked, "{text}");
    }
}

#[test]
fn secrets_beyond_the_numbered_ones_are_masked() {
    let mut masker = Masker::new();
    for number in 0..3000 {
        let shown = masker.message(&format!("{{\"token\":\"planted-{number}\"}}"));
        assert!(!shown.contains("planted"), "{shown}");
    }
    assert_eq!(masker.message(r#"{"token":"planted-2999"}"#), r#"{"token":"«secret»"}"#);
    assert_eq!(masker.message(r#"{"token":"planted-5"}"#), r#"{"token":"«secret 6»"}"#);
}

#[test]
fn value_in_many_lists_is_masked() {
    let json = format!("{}\"LEAK\"{}", "[".repeat(300), "]".repeat(300));
    assert!(!masked(&json).contains("LEAK"));
}

/// Each has `LEAK` in all that must not be seen.
#[test]
fn secrets_in_less_common_places_are_found() {
    let messages = [
        r#"{"arguments":{"properties":{"password":"LEAK-2"}}}"#,
        r#"{"text":"log {\"password\":\"ab'LEAK\"}"}"#,
        r#"{"text":"DB_PASSWORD=\"correct LEAK horse\" and DB_SECRET='two LEAK'"}"#,
        r#"{"text":"http://user:p@LEAK@host/x http://user:it'LEAK@host http://user:pa/LEAK@host/x"}"#,
        r#"{"text":"api-key=LEAK-8 --api-key=LEAK-8 --token LEAK-8x pwd=LEAK-8 credential=LEAK"}"#,
        r#"{"password":"known-9","text":"password=known-9-LEAK"}"#,
        r#"{"text":"log {\"password\":98765LEAK4321,\"n\":1}"}"#,
        r#"{"text":"log {\\\"password\\\":\\\"LEAK-12\\\"}"}"#,
        r#"{"text":"Bearer LeakWithoutDigLEAK"}"#,
        r#"{"password":"«LEAK-25»","text":"password=a«LEAK-26"}"#,
        r#"{"text":"password: S31\"quoted-LEAK"}"#,
        r#"{"text":"_sk-LEAKabcdefghijklmnopqrstuv AKIALEAKBCDEFGHIJKLMx"}"#,
        r#"{"secrets":["LEAK-1"],"passwords":"LEAK-2","tokens":"LEAK-3","apiKeys":"LEAK-4"}"#,
        r#"{"token":{"value":"LEAK-obj"},"mcpServers":[{"args":["--token","LEAK-arg","--api-key=LEAK-arg2"]}]}"#,
        r#"{"text":"<password>LEAK-xml</password> name=\"password\"\r\n\r\nLEAK-form\r\n--b--"}"#,
        r#"{"text":"\ufeff{\"p\\u0061ssword\":\"LEAK-bom\"}"}"#,
        r#"{"text":"{\"p\\u0061ssword\":\"LEAK-cut\",\"x\":"}"#,
        r#"{"method":"terminal/create","params":{"env":[{"name":"GITHUB_TOKEN","value":"LEAK-env"},{"value":"LEAK-env2","name":"DATABASE_URL"}]}}"#,
        r#"{"headers":[{"value":"LEAK-h","name":"X-Api-Key"},["Authorization","LEAK-h2"]],"rawHeaders":["Accept","*/*","Cookie","LEAK-h3"]}"#,
        r#"{"a":{"Key":"client_secret","Value":["LEAK-list",{"x":"LEAK-deep"}]}}"#,
        r#"{"text":"spawn with {\"name\":\"GITHUB_TOKEN\",\"value\":\"LEAK-t\"} and {'value': 'LEAK-u', 'name': 'DB_PASSWORD'}"}"#,
        r#"{"text":"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,LEAK\n\nLEAKabc+/=\n-----END RSA PRIVATE KEY-----"}"#,
        r#"{"text":"cut -----BEGIN OPENSSH PRIVATE KEY-----\nLEAKabc"}"#,
        r#"{"text":"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nLEAK\n-----END PGP PRIVATE KEY BLOCK-----"}"#,
        r#"{"tokens":{"access":"LEAK-a","list":[{"value":"LEAK-b"}]},"credentials":{"user":{"pin":"LEAK-c"}},"token":{"access":"LEAK-d"}}"#,
        r#"{"password2":"LEAK-2","token_1":"LEAK-1","passwordConfirmation":"LEAK-c","OPENAI_KEY":"LEAK-k"}"#,
        r#"{"text":"code=LEAK-form&grant_type=authorization_code&client_id=x"}"#,
        r#"{"text":"glpat-LEAKabcdefghijklmnop npm_LEAKabcdefghijklmnopqrstuvwxyz012345 AIzaLEAKabcdefghijklmnopqrstuvwxyz0123456789"}"#,
        r#"{"text":"/echo?acc%65ss_tok%65n=LEAK-13&key=LEAK-21&auth=LEAK&pwd=LEAK&sid=LEAK&access_key=LEAK"}"#,
    ];
    for message in messages {
        let shown = masked(message);
        assert!(!shown.contains("LEAK"), "{message}\n{shown}");
    }
    let headers = [
        ("authorization", "ApiKey LEAK-15-x"),
        ("authorization", "Own\tLEAK-16-x"),
        ("cookie", "a=b; sid=LEAK-24-x"),
    ];
    for (name, value) in headers {
        let mut masker = Masker::new();
        let alone = value.split([' ', '\t', '=']).next_back().unwrap();
        assert!(!masker.header(name, value).contains("LEAK"));
        assert!(!masker.text(&format!("x {alone} y")).contains("LEAK"), "{value}");
    }
}

#[test]
fn the_forms_of_a_secret_in_urls_and_in_base64_are_found() {
    for (secret, forms) in [
        ("S14/value/0001", &["S14%2fvalue%2f0001", "S14%2Fvalue%2F0001"][..]),
        ("S17~~~???>>>", &["UzE3fn5-Pz8_Pj4-", "UzE3fn5+Pz8/Pj4+"]),
        ("S18-hunter2-00011", &["UzE4LWh1bnRlcjItMDAwMTE", "UzE4LWh1bnRlcjItMDAwMTE="]),
        ("S28 a+b", &["S28+a%2Bb", "S28%20a%2bb"]),
    ] {
        for form in forms {
            let mut masker = Masker::new();
            masker.message(&format!("{{\"password\":{}}}", encoded(secret)));
            assert_eq!(masker.text(form), "«secret 1»", "{form}");
        }
    }
    let mut masker = Masker::new();
    assert_eq!(masker.text("x?token=S14%2Fvalue%2F0001"), "x?token=«secret 1»");
    assert_eq!(masker.text("S14/value/0001"), "«secret 1»");
    let shown = masker.text("Authorization: Basic dXNlcjpTMzJwYXNzMDAwMQ== S32pass0001");
    assert_eq!(shown, "Authorization: Basic «secret 2» «secret 3»");
}

#[test]
fn a_word_of_the_protocols_is_masked_only_in_its_place() {
    for word in ["client", "message", "secret", "tools/call"] {
        let message = format!(
            r#"{{"method":"tools/call","message":"client","password":"{word}","client_secret":"other-1"}}"#
        );
        let expected = r#"{"method":"tools/call","message":"client","password":"«secret 1»","client_secret":"«secret 2»"}"#;
        assert_eq!(masked(&message), expected);
    }
}

#[test]
fn the_longest_of_secrets_with_the_same_beginning_is_found() {
    let mut masker = Masker::new();
    let long = "ab".repeat(2000);
    for secret in
        ["secret-9", "secret-9-long", "secret-9-long-more", "secret-9-lz", &*(long.clone() + "c"), &long]
    {
        masker.message(&format!("{{\"password\":\"{secret}\"}}"));
    }
    let text = "secret-9-longer secret-9-long-more secret-9-lo secret-9-lz secret- secret-9";
    let expected = "«secret 2»er «secret 3» «secret 1»-lo «secret 4» secret- «secret 1»";
    assert_eq!(masker.text(text), expected);
    assert_eq!(
        masker.text(&format!("{long}d {long}c {}", &long[1..])),
        format!("«secret 6»d «secret 5» {}", &long[1..])
    );
}

#[test]
fn searched_secrets_have_a_limit() {
    let mut masker = Masker::new();
    for number in 0..200 {
        masker.message(&format!("{{\"password\":\"{number}{}\"}}", "long".repeat(1900)));
    }
    assert!(masker.generation() <= 1 << 20);
    let long = "x1".repeat(100_000);
    assert_eq!(masker.message(&format!("{{\"password\":\"{long}\"}}")), r#"{"password":"«secret»"}"#);
}
