//! The files of a recorder: the format, the masks, the limits.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_recording::{
    EventKind, Exit, LineTap, Masker, Recorder, RecorderConfig, Recording, Side, TransportKind,
    record_transport,
};
use agentwire_transport::{Packet, duplex};
use futures::executor::block_on;
use futures::{SinkExt, StreamExt};

const LIMIT: Duration = Duration::from_secs(60);

/// Each event is a millisecond after the one before.
fn config() -> RecorderConfig {
    let time = AtomicU64::new(0);
    RecorderConfig::new(TransportKind::Stdio)
        .masker(Some(Masker::new()))
        .clock(move || Duration::from_millis(time.fetch_add(1, Ordering::Relaxed)))
}

fn record(config: RecorderConfig, traffic: impl FnOnce(&Recorder)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let recorder = config.create(&path).unwrap();
    traffic(&recorder);
    assert!(recorder.finish(LIMIT));
    let text = fs::read_to_string(&path).unwrap();
    Recording::read(text.as_bytes()).unwrap();
    text
}

#[test]
fn lines_become_messages_and_texts_in_any_pieces() {
    let bytes = b"{\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\r\n\nhello\n\xff\xfe\n[{\"method\":\"a\"}]\n7\nlast";
    let expected = r#"{"recording":1,"protocol":"acp","transport":"stdio"}
{"at":0.000,"from":"client","message":{"id":1,"method":"initialize","params":{"protocolVersion":1}}}
{"at":1.000,"from":"client","text":"hello"}
{"at":2.000,"from":"client","text":{"base64":"//4="}}
{"at":3.000,"from":"client","message":[{"method":"a"}]}
{"at":4.000,"from":"client","text":"7"}
{"at":5.000,"from":"client","text":"last"}
{"at":6.000,"from":"client","closed":true}
{"at":7.000,"from":"agent","exit":{"code":3}}
"#;
    for size in [1, 2, 7, bytes.len()] {
        let text = record(config(), |recorder| {
            let mut tap = LineTap::messages(Some(recorder.clone()), Side::Client);
            bytes.chunks(size).for_each(|piece| tap.push(piece));
            tap.end();
            recorder.record(Side::Server, EventKind::Exit(Exit::new(Some(3), None)));
        });
        assert_eq!(text, expected);
    }
}

#[test]
fn early_events_get_side_names_of_the_later_known_protocol() {
    let text = record(config(), |recorder| {
        LineTap::stderr(Some(recorder.clone()), Side::Server).push(b"starting\n");
        LineTap::messages(Some(recorder.clone()), Side::Client)
            .push(b"{\"method\":\"session/list\",\"id\":1}\n");
    });
    assert!(
        text.contains(r#""protocol":"acp""#) && text.contains(r#""from":"agent","stderr":"starting""#),
        "{text}"
    );
    let text =
        record(config(), |recorder| LineTap::stderr(Some(recorder.clone()), Side::Server).push(b"x\n"));
    assert!(
        text.starts_with("{\"recording\":1,\"transport\":\"stdio\"}\n") && text.contains("\"server\""),
        "{text}"
    );
}

#[test]
fn a_line_without_end_takes_no_more_memory_than_the_limit() {
    let text = record(config().line_limit(10_000), |recorder| {
        let mut tap = LineTap::messages(Some(recorder.clone()), Side::Client);
        for _ in 0..1000 {
            tap.push(&[b'x'; 1000]);
        }
        tap.push(b"\n{\"method\":\"tools/list\"}\n");
    });
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[1].len() < 5000 && lines[1].contains(r#""length":1000000"#), "{}", lines[1].len());
    assert!(lines[2].contains("tools/list"), "{}", lines[2]);
}

#[test]
fn a_secret_that_is_found_late_is_masked_in_earlier_lines() {
    let secret = "planted-«1»\"x\\";
    let json = serde_json::json!(secret).to_string();
    let text = record(config(), |recorder| {
        let mut client = LineTap::messages(Some(recorder.clone()), Side::Client);
        let mut stderr = LineTap::stderr(Some(recorder.clone()), Side::Server);
        stderr.push(format!("before: {secret}\n").as_bytes());
        client.push(
            format!("{{\"method\":\"tools/call\",\"params\":{{\"text\":{json},{json}:1}}}}\n").as_bytes(),
        );
        client.push(format!("{{\"method\":\"a\",\"params\":{{\"mcpServers\":[{{\"env\":[{{\"name\":\"K\",\"value\":{json}}}]}}]}}}}\n").as_bytes());
        client.push(format!("no json {secret} \u{1b}[2J\n").as_bytes());
        client.push(&[b"\xff ".as_slice(), secret.as_bytes(), b"\n"].concat());
    });
    assert!(!text.contains("planted"), "{text}");
    assert_eq!(text.matches("«secret 1»").count(), 6, "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn recording_without_masks_contains_secrets() {
    let text = record(config().masker(None), |recorder| {
        LineTap::messages(Some(recorder.clone()), Side::Client).push(b"{\"password\":\"planted\"}\n");
    });
    assert!(text.contains("planted"));
}

#[test]
fn recording_stops_at_its_limits_and_reports_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let errors = Arc::new(Mutex::new(Vec::new()));
    let traffic = |config: RecorderConfig, path: &Path| {
        errors.lock().unwrap().clear();
        let all = errors.clone();
        let config =
            config.on_stop(move |error| all.lock().unwrap().push(WithCauses::new(&error).to_string()));
        let recorder = config.create(path).unwrap();
        let mut tap = LineTap::messages(Some(recorder.clone()), Side::Client);
        for _ in 0..2000 {
            tap.push(b"{\"method\":\"tools/list\"}\n");
        }
        assert!(!recorder.finish(LIMIT) && recorder.has_stopped());
        assert_eq!(errors.lock().unwrap().len(), 1);
        errors.lock().unwrap()[0].clone()
    };
    let error = traffic(config().size_limit(4096), &path);
    assert_eq!(error, "the recording stops: it has reached its limit of 4096 bytes");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.len() <= 4096 && Recording::read(text.as_bytes()).unwrap().events.len() > 40);
    let error = traffic(config().event_limit(50), &path);
    assert_eq!(error, "the recording stops: it has reached its limit of 50 events");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(Recording::read(text.as_bytes()).unwrap().events.len(), 50);
    let error = traffic(config().queue_limit(0), &path);
    assert!(error.ends_with("bytes wait to be written"), "{error}");
    if cfg!(target_os = "linux") {
        let error = traffic(config(), Path::new("/dev/full"));
        assert!(error.starts_with("the recording stops: No space left"), "{error}");
    }
}

#[test]
fn only_events_are_masked_again() {
    let text = record(config(), |recorder| {
        let mut client = LineTap::messages(Some(recorder.clone()), Side::Client);
        client.push(b"{\"method\":\"a\",\"params\":{\"x\":\"planted-1\",\"exit\":\"1.000,\"}}\n");
        client.push(b"\xff planted-1\n");
        // A secret that stands in a mask, and one that stands in what surrounds the events.
        client.push("{\"token\":\"secret 1»\",\"password\":\"\\\"from\\\":\"}\n".as_bytes());
        client.push(b"{\"token\":\"planted-1\",\"password\":\"1.000,\",\"secret\":\"client\"}\n");
    });
    assert!(!text.contains("planted"), "{text}");
    assert!(
        text.contains(
            r#""from":"client","message":{"method":"a","params":{"x":"«secret 3»","exit":"«secret 4»"}}"#
        ),
        "{text}"
    );
    assert!(!text.contains("««") && text.contains("\"at\":1.000,"), "{text}");
}

#[cfg(unix)]
#[test]
fn a_recording_behind_a_link_is_masked_again_and_no_other_file_changes() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("real"), "old").unwrap();
    fs::set_permissions(path("real"), fs::Permissions::from_mode(0o644)).unwrap();
    std::os::unix::fs::symlink("real", path("link")).unwrap();
    fs::write(path("link.masking"), "precious").unwrap();
    let recorder = config().create(path("link")).unwrap();
    let mode = || fs::metadata(path("real")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    let mut client = LineTap::messages(Some(recorder.clone()), Side::Client);
    client.push(b"early planted-1\n{\"password\":\"planted-1\"}\n");
    assert!(recorder.finish(LIMIT));
    client.push(b"after planted-1\n");
    assert!(recorder.finish(LIMIT));
    let text = fs::read_to_string(path("real")).unwrap();
    assert!(!text.contains("planted") && text.contains("after «secret 1»"), "{text}");
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink() && mode() == 0o600);
    assert_eq!(fs::read_to_string(path("link.masking")).unwrap(), "precious");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_a_recording_and_a_pipe_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let recorder = config().create(&path).unwrap();
    assert!(recorder.finish(LIMIT));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(config().create(&pipe).is_err());
    assert!(config().create(folder.path()).is_err());
}

#[test]
fn packets_are_recorded_in_both_directions() {
    let text = record(config(), |recorder| {
        let (client, mut server) = duplex(8);
        let mut client = record_transport(client, Some(recorder.clone()), Side::Client);
        block_on(async {
            client.send(Packet::from_json(r#"{"id":1,"method":"tools/list"}"#)).await.unwrap();
            server.send(Packet::from_json("nonsense")).await.unwrap();
            client.next().await.unwrap().unwrap();
        });
    });
    let recording = Recording::read(text.as_bytes()).unwrap();
    assert!(matches!(recording.events[0].kind, EventKind::Message(_)));
    assert!(recording.events[0].from.is_client() && !recording.events[1].from.is_client());
    assert!(matches!(recording.events[1].kind, EventKind::Unreadable(_)));
}
