//! The event stream of a client: its forms, its limits and its end.

use agentwire_jsonrpc::Frame;
use agentwire_transport::Packet;
use agentwire_transport_http::client::HttpError;
use agentwire_transport_sse::client::SseError;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::client::mock::{ACCEPTED, Chance, Client, Mock, result};

fn note(text: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "n", "params": {"text": text}})
}

/// The same events in every form that the format has.
fn forms() -> Vec<String> {
    let one = note("日本 🦀").to_string();
    let two = serde_json::to_string_pretty(&note("two")).unwrap();
    let lf = format!(
        ": hi\n\ndata: {one}\n\nevent: message\ndata:{}\n\nevent: ping\ndata: x\n\nid: 1\nretry: 5\n\n\
         data:\n\nfoo: bar\nbar\nevent\ndata: {}\nid\n\n",
        two.replace('\n', "\ndata: "),
        note("three"),
    );
    ["\n", "\r\n", "\r"].map(|ending| lf.replace('\n', ending)).into()
}

#[tokio::test]
async fn sse_07_events_are_read_however_they_are_written_and_cut() {
    let mock = Mock::new().await;
    for form in forms() {
        for size in [1, 7, 4096] {
            let mut client = Client::new(mock.config().open().unwrap());
            let mut stream = mock.stream("\u{feff}: hi\nevent: endpoint\ndata: /m\n\n").await;
            stream.set_nodelay(true).unwrap();
            let writing = async {
                for piece in form.as_bytes().chunks(size) {
                    stream.write_all(piece).await.unwrap();
                    tokio::task::yield_now().await;
                }
            };
            let ((), heard) = tokio::join!(writing, async {
                [client.frame().await, client.frame().await, client.frame().await]
            });
            assert_eq!(heard, [note("日本 🦀"), note("two"), note("three")], "{form:?} by {size}");
            assert!(client.hears_nothing().await);
        }
    }
}

#[tokio::test]
async fn sse_12_a_stream_that_is_lost_ends_the_transport() {
    let mock = Mock::new().await;
    for clean in [true, false] {
        let (client, mut stream) = mock.open().await;
        client.call(1);
        mock.next().await.finish(ACCEPTED).await;
        // An event that is cut off is none.
        stream.write_all(format!("data: {}\n", result(1)).as_bytes()).await.unwrap();
        if clean {
            stream.shutdown().await.unwrap();
        } else {
            stream.set_zero_linger().unwrap();
            drop(stream);
        }
        let error = client.ended().await;
        assert_eq!(
            (matches!(error, SseError::Ended), matches!(error, SseError::Http(HttpError::Broken(_)))),
            (clean, !clean)
        );
        assert!(mock.is_quiet().await, "nothing is asked again");
    }
}

#[tokio::test]
async fn messages_before_the_server_leaves_are_received() {
    let mock = Mock::new().await;
    let (mut client, mut stream) = mock.open().await;
    client.call(1);
    mock.next().await.finish(ACCEPTED).await;
    let mut text = String::new();
    for at in 0..1000 {
        text += &format!("data: {}\n\n", note(&at.to_string()));
    }
    stream.write_all((text + &format!("data: {}\n\n", result(1))).as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    for at in 0..1000 {
        assert_eq!(client.frame().await, note(&at.to_string()));
    }
    assert_eq!(client.frame().await, result(1));
    assert!(matches!(client.ended().await, SseError::Ended));
}

#[tokio::test]
async fn messages_have_a_limit() {
    let mock = Mock::new().await;
    let longest = note(&"x".repeat(1000)).to_string();
    let mut client =
        Client::new(mock.config().with_http(|http| http.message_limit(longest.len())).open().unwrap());
    let mut stream = mock.stream("event: endpoint\ndata: /m\n\n").await;
    stream.write_all(format!("data: {longest}\n\n").as_bytes()).await.unwrap();
    assert_eq!(client.frame().await, note(&"x".repeat(1000)));
    // It may have gone before all is written.
    let _ = stream.write_all(&b"data: x\n".repeat(100_000)).await;
    let error = client.ended().await;
    assert!(error.to_string().contains(&(longest.len() + 6).to_string()), "it names the limit: {error}");
}

#[tokio::test]
async fn data_that_is_not_a_message_is_skipped_or_passed_on() {
    let mock = Mock::new().await;
    let (mut client, mut stream) = mock.open().await;
    let deep = "[".repeat(200_000);
    let events = [
        "{",
        "hello",
        &deep,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]"#,
    ];
    for data in events {
        stream.write_all(format!("data: {data}\n\n").as_bytes()).await.unwrap();
    }
    stream.write_all(b"event: endpoint\ndata: http://evil.example/\n\n").await.unwrap();
    stream.write_all(format!("data: {}\n\n", note("last")).as_bytes()).await.unwrap();
    let mut frames = Vec::new();
    while frames.last().is_none_or(|frame| !matches!(frame, Frame::Single(_))) {
        match client.heard().await {
            Some(Ok(Packet::Frame { frame, .. })) => frames.push(frame),
            other => panic!("{other:?}"),
        }
    }
    let batches = frames.iter().filter(|frame| matches!(frame, Frame::Batch(_))).count();
    assert_eq!(batches, 1, "whether there are batches is for the revision to say: {frames:?}");
    client.call(1);
    let post = mock.next().await;
    assert_eq!(post.path(), "/messages?sessionId=s-1", "where messages go is said once");
}

#[tokio::test]
async fn server_that_only_sends_comments_starves_no_other_future() {
    let mock = Mock::new().await;
    let (client, mut stream) = mock.open().await;
    let flooding =
        tokio::spawn(async move { while stream.write_all(&[b':', b'\n'].repeat(4096)).await.is_ok() {} });
    let mut chance = Chance(1);
    for id in 0..6 {
        client.call(id);
        let post = mock.next().await;
        assert_eq!(post.json()["id"], id);
        if chance.below(2) == 0 {
            post.finish(ACCEPTED).await;
        }
    }
    client.close().await;
    crate::patiently(flooding).await.unwrap();
}
