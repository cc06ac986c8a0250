//! A server on stdio behind HTTP, as the page of `Endpoint` shows it.

use std::error::Error;
use std::sync::{Arc, Mutex};

use agentwire_transport::{Packet, bridge, connection_fn};
use agentwire_transport_http::client::Http;
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, Era, serve};
use agentwire_transport_stdio::{Child, Command};
use futures::{SinkExt, StreamExt};
use tokio::net::TcpListener;

type BoxError = Box<dyn Error + Send + Sync>;

/// Opens a session, counts what it is asked, and dies of the fourth request.
const SERVER: &str = r#"
read initialize
echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}'
for id in 1 2 3; do
    read request
    echo '{"jsonrpc":"2.0","id":'$id',"result":{"count":'$id'}}'
done
read request
exit 3
"#;

async fn session(connection: Connection) -> Result<(), BoxError> {
    bridge(connection, Child::spawn(Command::new("sh").arg("-c").arg(SERVER))?).await?;
    Ok(())
}

#[tokio::test]
async fn each_session_has_a_process_of_its_own() {
    let ends = Arc::new(Mutex::new(Vec::new()));
    let reported = ends.clone();
    let service = connection_fn(move |connection| {
        let reported = reported.clone();
        async move {
            let error = session(connection).await.expect_err("the process fails");
            reported.lock().unwrap().push(error.to_string());
        }
    });
    let endpoint = Endpoint::serving(EndpointConfig::new().era(Era::Legacy), service);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(serve(listener, endpoint).into_future());
    for _ in 0..2 {
        let mut client = Http::new(&url).unwrap();
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
        client.send(Packet::from_json(initialize)).await.unwrap();
        let opened = client.next().await.unwrap().unwrap().into_json().unwrap();
        assert!(opened.contains("2025-11-25"), "{opened}");
        for id in 1..=3 {
            let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"count"}}"#);
            client.send(Packet::from_json(&request)).await.unwrap();
            let answer = client.next().await.unwrap().unwrap().into_json().unwrap();
            assert!(answer.contains(&format!(r#""count":{id}"#)), "{answer}");
        }
        client.send(Packet::from_json(r#"{"jsonrpc":"2.0","id":4,"method":"die"}"#)).await.unwrap();
        // The request fails, or the session with it.
        let failed = client.next().await.unwrap().map(Packet::into_json);
        assert!(
            !matches!(&failed, Ok(Some(json)) if json.contains("result")),
            "the process has died: {failed:?}"
        );
    }
    serving.abort();
    let ends = ends.lock().unwrap();
    assert_eq!(ends.len(), 2);
    assert!(ends.iter().all(|end| end == "`sh` exited with status 3"), "{ends:?}");
}

#[tokio::test]
async fn request_without_a_session_is_refused_with_the_reason() {
    let service = connection_fn(async |_connection: Connection| {});
    let endpoint = Endpoint::serving(EndpointConfig::new(), service);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = tokio::spawn(serve(listener, endpoint).into_future());
    let mut client = Http::new(&url).unwrap();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    client.send(Packet::from_json(request)).await.unwrap();
    let answer = client.next().await.unwrap().unwrap().into_json().unwrap();
    assert!(answer.contains("-32601") && answer.contains("is served in a session only"), "{answer}");
    serving.abort();
}
