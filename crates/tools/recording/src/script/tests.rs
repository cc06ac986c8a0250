//! Tests scripts against peers that send prepared messages, on a paused clock.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::AsyncWrite;
use futures_util::io::Cursor;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

use super::*;
use crate::{Protocol, ReadError, Side};

const HEADER: &str =
    r#"{"recording":1,"protocol":"acp","script":"agent","revision":"1","requirements":["RPC-01"]}"#;

fn script(lines: &str) -> Script {
    Script::read(format!("{HEADER}\n{lines}").as_bytes()).unwrap()
}

/// Keeps each write by itself.
#[derive(Clone, Default)]
struct Writes(Arc<Mutex<Vec<String>>>);

impl AsyncWrite for Writes {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap().push(String::from_utf8_lossy(bytes).into_owned());
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.lock().unwrap().push("closed".into());
        Poll::Ready(Ok(()))
    }
}

/// Plays a script against an agent that has sent everything and closed. Returns the outcome and the written texts.
async fn against(lines: &str, said: &str) -> (Result<(), String>, Vec<String>) {
    let writes = Writes::default();
    let mut wire = LineStreams::new(Cursor::new(said.as_bytes().to_vec()), writes.clone());
    let played = play(&script(lines), &mut wire, ScriptConfig::new(), tokio::time::sleep).await;
    let written = writes.0.lock().unwrap().clone();
    (played.map_err(|failure| failure.to_string()), written)
}

async fn failure(lines: &str, said: &str) -> String {
    against(lines, said).await.0.unwrap_err()
}

const ASKED: &str = r#"{"note":"a question in between"}
{"from":"client","message":{"jsonrpc":"2.0", "id":1,"method":"m\u0061"}}
{"from":"client","text":"nonsense"}
{"from":"client","text":{"base64":"/w=="}}
{"from":"agent","message":{"id":"$asked","method":"ask"}}
{"from":"client","message":{"id":"$asked","result":"$other"}}
{"note":"more"}
{"from":"client","message":[]}
{"from":"agent","message":{"id":1,"result":{"...":0}}}
"#;

#[tokio::test(start_paused = true)]
async fn lines_of_the_player_are_sent_unchanged_in_one_write() {
    let said = "{\"id\":\"x\",\"method\":\"ask\"}\r\n{\"id\":1,\"result\":{\"a\":2}}";
    let (played, written) = against(ASKED, said).await;
    assert_eq!(played, Ok(()));
    let first = "{\"jsonrpc\":\"2.0\", \"id\":1,\"method\":\"m\\u0061\"}\nnonsense\n\u{fffd}\n";
    assert_eq!(written, [first, "{\"id\":\"x\",\"result\":\"$other\"}\n", "[]\n", "closed"]);
}

#[tokio::test(start_paused = true)]
async fn each_event_can_fail() {
    let ask = "{\"id\":\"x\",\"method\":\"ask\"}";
    let answer = "{\"id\":1,\"result\":{\"a\":2}}";
    let expected = r#"event 5: expected {"id":"$asked","method":"ask"}, seen "#;
    let other = format!("{answer}\n{ask}\n");
    assert_eq!(failure(ASKED, &other).await, format!("{expected}{answer}"));
    assert_eq!(failure(ASKED, "").await, format!("{expected}the end"));
    assert_eq!(failure(ASKED, "\n").await, format!("{expected}not JSON: "));
    assert_eq!(failure(ASKED, "\u{1b}[2J\n").await, format!("{expected}not JSON: ^[[2J"));
    let missing = r#"event 9: expected {"id":1,"result":{"...":0}}, seen the end"#;
    assert_eq!(failure(ASKED, ask).await, missing);
    let more = format!("{ask}\n{answer}\n{{}}\n");
    assert_eq!(failure(ASKED, &more).await, "after the last event: expected silence, seen {}");
    let quiet = format!("{}{{\"quiet\":true}}\n", ASKED);
    assert_eq!(failure(&quiet, &more).await, "event 10: expected silence, seen {}");
    assert_eq!(against(&quiet, &format!("{ask}\n{answer}\n")).await.0, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn set_limits_apply() {
    let config = ScriptConfig::new()
        .message(Duration::from_secs(3))
        .first_message(Duration::from_secs(7))
        .quiet(Duration::from_secs(2));
    let waits = async |lines: &str, said: &str| {
        let (near, mut far) = tokio::io::duplex(1 << 10);
        tokio::io::AsyncWriteExt::write_all(&mut far, said.as_bytes()).await.unwrap();
        let (read, write) = tokio::io::split(near);
        let mut wire = LineStreams::new(read.compat(), write.compat_write());
        let begun = tokio::time::Instant::now();
        let played = play(&script(lines), &mut wire, config, tokio::time::sleep).await;
        (played.map_err(|failure| failure.seen), begun.elapsed().as_secs())
    };
    let one = "{\"from\":\"agent\",\"message\":1}\n";
    assert_eq!(waits(one, "").await, (Err("nothing within 7000 ms".into()), 7));
    assert_eq!(waits(&one.repeat(2), "1\n").await, (Err("nothing within 3000 ms".into()), 3));
    assert_eq!(waits("{\"quiet\":true}", "").await, (Ok(()), 4), "once, and at the end");
    // An agent that does not read.
    let long = format!("{{\"from\":\"client\",\"text\":\"{}\"}}\n", "x".repeat(2 << 10));
    assert_eq!(waits(&long, "").await, (Ok(()), 5), "the write, and the silence at the end");
}

#[tokio::test(start_paused = true)]
async fn a_line_beyond_the_limit_fails() {
    let script = script("{\"from\":\"agent\",\"message\":1}\n");
    let mut wire = LineStreams::new(Cursor::new(vec![b'1'; 20_000]), Writes::default()).line_limit(10_000);
    let failure = play(&script, &mut wire, ScriptConfig::new(), tokio::time::sleep).await.unwrap_err();
    assert_eq!(failure.seen, "a line is longer than the limit of 10000 bytes");
}

#[tokio::test(start_paused = true)]
async fn lines_may_come_in_pieces_and_late() {
    let (near, mut far) = tokio::io::duplex(1 << 10);
    let (read, write) = tokio::io::split(near);
    let mut wire = LineStreams::new(read.compat(), write.compat_write());
    let script = script(
        "{\"quiet\":true}\n{\"from\":\"agent\",\"message\":\"abc\"}\n{\"from\":\"agent\",\"message\":2}\n",
    );
    let peer = async {
        for piece in ["\"a", "b", "c\"\n2"] {
            tokio::io::AsyncWriteExt::write_all(&mut far, piece.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(800)).await;
        }
        drop(far);
    };
    let (played, ()) =
        futures::join!(play(&script, &mut wire, ScriptConfig::new(), tokio::time::sleep), peer);
    assert_eq!(played, Ok(()));
}

#[test]
fn header_names_the_judged_side_and_the_requirements() {
    let read = script("");
    assert_eq!((read.judged, read.protocol), (Side::Agent, Some(Protocol::Acp)));
    assert_eq!((read.revision.as_deref(), &*read.requirements), (Some("1"), &["RPC-01".to_owned()][..]));
    let error = |text: &str| Script::read(text.as_bytes()).unwrap_err();
    for text in ["", "{\"recording\":1}", "{\"script\":\"agent\"}", "{\"quiet\":true}"] {
        assert!(matches!(error(text), ReadError::NoScript), "{text}");
    }
    assert!(matches!(error(&HEADER.replace(":1,", ":2,")), ReadError::Version(2)));
}

#[test]
fn lines_without_a_meaning_in_a_script_are_refused() {
    for line in [
        r#"{"from":"agent"}"#,
        r#"{"message":{}}"#,
        r#"{"quiet":false}"#,
        r#"{"from":"agent","text":"a pattern is JSON"}"#,
        r#"{"from":"client","text":"cut","length":99}"#,
        r#"{"from":"client","closed":true}"#,
        HEADER,
    ] {
        let error = Script::read(format!("{HEADER}\n\n{line}").as_bytes()).unwrap_err();
        assert!(matches!(error, ReadError::NoEvent { line: 3 }), "{line}: {error}");
    }
}
