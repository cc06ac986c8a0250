//! Tests that masking takes linear time.

use std::time::Duration;

use super::*;

/// The processor time of this thread, to which other tests and other programs add nothing.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.try_into().expect("a time is not negative")
}

/// The time since the first call, where no clock of the thread is known.
#[cfg(not(unix))]
fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

/// The shortest of three runs that mask a text.
fn time_of(text: &str) -> Duration {
    shortest(|| Masker::new().text(text))
}

fn shortest(mask: impl Fn() -> String) -> Duration {
    let run = || {
        let start = thread_time();
        mask();
        thread_time() - start
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
        "token: x ",
        "auth=",
        "auth:",
        "auth=a1b2c3d4(",
        "cookie = ",
        "password: true,",
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
        "\"value\":\"",
        "\"value\":\\\"",
        "\"name\":\"token\",\"value\":'",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "code=",
        "code=a&",
        "hooks.slack.com/services/",
        "(\"token\", \"",
        "value: a\n",
        "v=",
        "secrets:\n  a: b\n",
        "secrets:\n",
        "[secrets]\na=b\n",
        "curl -u a",
        "docker login ",
        "set TOKEN ",
        "token ",
        "secret, a1",
        "token \u{1b}[0m=",
        "aaaaaaaaaaaaaaaaaaaaaaaa.aaaaaa.",
        "Private-Lines: 1\n",
        "private key AAAAAAAAAAAAAAAA ",
        "-----END PRIVATE KEY-----\nAAAAAAAAAAAAAAAA\n",
        "LS0tLS1CRUdJTiBQUklWQVRFIEtFW",
        "token: a ",
        "setToken(\"",
        "<key>token</key> ",
        "identified by '",
        "mysql -u ",
        "_auth ",
        "a8Q~",
        "%3Ftoken",
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
fn hostile_json_takes_time_in_proportion_to_its_length() {
    type Shape = (&'static str, fn(usize) -> String);
    let shapes: [Shape; 4] = [
        ("a long name above many values", |n| format!("{{\"{}\":[{}0]}}", "1".repeat(n), "0,".repeat(n))),
        ("many values in many lists", |n| format!("{}{}1{}", "[".repeat(n), "1,".repeat(n), "]".repeat(n))),
        ("many texts in many objects", |n| {
            format!("{}[{}1]{}", "{\"tokens\":".repeat(n), "\"a\",".repeat(n), "}".repeat(n))
        }),
        ("many pairs below a long name", |n| {
            format!("{{\"{}\":[{}0]}}", "n".repeat(n), "{\"name\":\"token\"},".repeat(n / 8))
        }),
    ];
    for (shape, json) in shapes {
        let [short, long] = [4_000, 4_000 * 8].map(|count| shortest(|| masked(&json(count))));
        assert!(
            long < short * 32 + Duration::from_millis(20),
            "{shape}: {short:?}, eight times as long {long:?}"
        );
    }
}

#[test]
fn a_long_text_without_secrets_is_not_searched() {
    let took = time_of(&"AbCd0+/x".repeat(250_000));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_thousand_secrets_are_looked_for_in_one_pass() {
    let mut masker = Masker::new();
    let start = thread_time();
    for number in 0..999 {
        masker.message(&format!("{{\"password\":\"pw-number-{number:06}/x+y\"}}"));
    }
    let text = masker.text(&"some words without a secret ".repeat(20_000));
    assert!(!text.contains('«'));
    let took = thread_time() - start;
    assert!(took < Duration::from_secs(20), "{took:?}");
}
