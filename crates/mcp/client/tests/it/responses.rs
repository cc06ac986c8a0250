//! The messages of a server that get a response. Since 2026-07-28 none does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_mcp_client::schema::Root;
use agentwire_mcp_client::{BoxError, Client, Era, RemoteServer, Warning};
use agentwire_transport::duplex;
use serde_json::{Value, json};

use crate::mock::{Mock, NEWEST, with_modern, with_server};

/// Text that is not a message, and messages that are not valid requests.
const UNREADABLE: [&str; 3] = ["{", "[]", "Server listening on :8080"];
const MALFORMED: &str = r#"{"jsonrpc":"2.0","id":5,"method":1}"#;

fn client() -> (Client, Arc<Mutex<Vec<String>>>) {
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let heard = warnings.clone();
    let client =
        Client::default().roots(vec![Root::new("file:///repo")]).on_warning(move |warning: Warning| {
            heard.lock().expect("nobody panicked").push(warning.to_string());
        });
    (client, warnings)
}

async fn wait(server: RemoteServer) -> Result<(), BoxError> {
    server.closed().await;
    Ok(())
}

fn request(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": "mock", "method": method })
}

/// The client writes nothing for a while.
async fn expect_silence(mock: &mut Mock, why: &str) {
    let next = tokio::time::timeout(Duration::from_secs(3), mock.next()).await;
    assert!(next.is_err(), "{why}: {next:?}");
}

#[tokio::test(start_paused = true)]
async fn rpc_34_and_std_08_a_modern_server_gets_no_response() {
    let (client, warnings) = client();
    let script = async |mut mock: Mock| {
        for text in UNREADABLE.into_iter().chain([MALFORMED]) {
            mock.send_text(text).await;
            expect_silence(&mut mock, text).await;
        }
        for method in ["roots/list", "ping"] {
            mock.send(request(method)).await;
            expect_silence(&mut mock, method).await;
        }
    };
    with_modern(client, script, wait).await.0.unwrap();
    let warnings = warnings.lock().expect("nobody panicked");
    assert_eq!(warnings.len(), 6, "{warnings:?}");
    assert!(warnings.iter().all(|warning| warning.starts_with("a message is left out: ")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_server_with_sessions_gets_an_error_for_what_cannot_be_read() {
    let script = async |mut mock: Mock| {
        for (text, code) in UNREADABLE.into_iter().zip([-32700, -32600, -32700]) {
            mock.send_text(text).await;
            let error = mock.next().await.expect("an error");
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &Value::Null), "{text}");
        }
        assert!(mock.ask("roots/list", json!({})).await.get("result").is_some());
    };
    with_server(client().0, script, wait).await.0.unwrap();
}

/// Until the revision is known, only a request has a sender that certainly has sessions.
#[tokio::test(start_paused = true)]
async fn before_the_revision_is_known_only_requests_get_a_response() {
    for (era, is_answered) in [(Era::Auto, true), (Era::Modern, false)] {
        let script = async |mut mock: Mock| {
            let discover = mock.expect("server/discover").await;
            for text in UNREADABLE {
                mock.send_text(text).await;
                expect_silence(&mut mock, text).await;
            }
            if is_answered {
                assert_eq!(mock.ask("ping", json!({})).await["result"], json!({}));
            } else {
                mock.send(request("ping")).await;
                expect_silence(&mut mock, "ping").await;
                return;
            }
            mock.refuse(&discover, json!({ "code": -32601, "message": "what?" })).await;
            mock.greet(NEWEST).await;
            mock.send_text("{").await;
            assert_eq!(mock.next().await.expect("an error")["error"]["code"], -32700);
        };
        let client = client().0.era(era).discover_timeout(Duration::from_secs(60));
        // Not checked by the schema: in the revision that the client names there is no `ping`.
        let (near, far) = duplex(16);
        let (result, ()) = tokio::join!(client.connect(near, wait), script(Mock::new(far)));
        assert_eq!(result.is_ok(), is_answered, "{era:?}: {result:?}");
    }
}

/// Such a result counts as one without content, and looks like a success.
#[tokio::test(start_paused = true)]
async fn tool_result_without_content_is_a_warning() {
    let table = [
        (Value::Null, true),
        (json!([]), true),
        (json!({}), true),
        (json!({ "content": null }), true),
        (json!({ "content": [] }), false),
        (json!({ "structuredContent": {} }), false),
    ];
    for (result, is_noted) in table {
        let (client, warnings) = client();
        let script = async |mut mock: Mock| {
            let call = mock.expect("tools/call").await;
            mock.answer(&call, result.clone()).await;
            mock.expect_end().await;
        };
        let main = async |server: RemoteServer| Ok(server.call_tool("x", json!({})).await?);
        with_server(client, script, main).await.0.unwrap();
        let warnings = warnings.lock().expect("nobody panicked");
        let expected = "tools/call: left out: content: missing field `content`";
        assert_eq!(warnings.iter().any(|warning| warning == expected), is_noted, "{result}: {warnings:?}");
    }
}
