//! A server on stdio behind HTTP, as the page of `Endpoint` shows it.

use agentwire_jsonrpc::{ErrorObject, Response};
use agentwire_transport::{Exchange, Packet, service_fn};
use agentwire_transport_http::client::Http;
use agentwire_transport_http::server::{Connection, Endpoint, EndpointConfig, serve};
use agentwire_transport_stdio::{Child, Command};
use futures::{SinkExt, StreamExt};
use tokio::net::TcpListener;

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

async fn session(connection: Connection) {
    let Ok(child) = Child::spawn(Command::new("sh").arg("-c").arg(SERVER)) else { return };
    let (to_client, from_client) = connection.split();
    let (to_server, from_server) = child.split();
    let _ = futures::try_join!(from_client.forward(to_server), from_server.forward(to_client));
}

async fn refuse(exchange: Exchange) -> Response {
    Response::new(exchange.request.id, Err(ErrorObject::method_not_found(&exchange.request.method)))
}

#[tokio::test]
async fn each_session_has_a_process_of_its_own() {
    let endpoint = Endpoint::serving(EndpointConfig::new().stateless(false), service_fn(session, refuse));
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
}
