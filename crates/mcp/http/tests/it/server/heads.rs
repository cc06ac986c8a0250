//! Every packet has the head of the HTTP request that brought it.

use agentwire_jsonrpc::Frame;
use agentwire_transport::Packet;
use agentwire_transport_http::server::{Endpoint, EndpointConfig, Head, Principal};
use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http::Request;
use http_body_util::Full;
use serde_json::json;
use tower_service::Service;

use super::script::{initialize, notification, request};
use crate::connections::{Connection, endpoint};

/// A POST with its number in a header, in an extension and in its query.
fn post(number: u8, headers: &[(&str, &str)], body: String) -> Request<Full<Bytes>> {
    let mut builder = Request::post(format!("/mcp?{number}")).header("host", "localhost");
    builder = builder.header("content-type", "application/json").header("X-Number", number.to_string());
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.extension(number).extension(Principal::new("ada")).body(Full::from(body)).unwrap()
}

/// The frame that comes next, and the number of the POST that brought it.
async fn next(connection: &mut Connection) -> (Frame, u8) {
    let packet = connection.next().await.unwrap().unwrap();
    let Packet::Frame { frame, in_reply_to: None, source: Some(source) } = packet else {
        panic!("{packet:?}")
    };
    let head = source.downcast_ref::<Head>().unwrap();
    let number: u8 = *head.extensions().get().unwrap();
    let text = number.to_string();
    assert_eq!(source.header("x-NUMBER").as_deref(), Some(text.as_bytes()));
    assert_eq!(head.headers()["x-number"], text);
    assert_eq!(head.uri().query(), Some(&*text));
    (frame, number)
}

fn spawn(endpoint: &mut Endpoint, request: Request<Full<Bytes>>) -> tokio::task::JoinHandle<u16> {
    let response = endpoint.call(request);
    tokio::spawn(async move { response.await.unwrap().status().as_u16() })
}

#[tokio::test]
async fn in_a_session_each_packet_has_the_head_of_its_own_post() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let opening = tokio::spawn(endpoint.call(post(1, &[], initialize("2025-03-26"))));
    let mut connection = connections.next().await.unwrap();
    assert_eq!(connection.head().extensions().get(), Some(&1_u8));
    assert_eq!(next(&mut connection).await.1, 1);
    let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": "2025-03-26" } });
    connection.send(Packet::from_json(&answer.to_string())).await.unwrap();
    let session = opening.await.unwrap().unwrap().headers()["mcp-session-id"].to_str().unwrap().to_owned();

    let headers = [("mcp-session-id", &*session)];
    let batch = format!("[{},{}]", request(1, "a", json!({})), request(2, "b", json!({})));
    let posts = [(2, notification("x")), (3, request(3, "c", json!({}))), (4, batch)];
    for (number, body) in posts.clone() {
        drop(spawn(&mut endpoint, post(number, &headers, body)));
    }
    for (number, body) in posts {
        assert_eq!(next(&mut connection).await, (Frame::parse(body.into()), number));
    }
    assert_eq!(connection.head().extensions().get(), Some(&1_u8), "still that of the first");
}

#[tokio::test]
async fn modern_request_has_its_head() {
    let (mut endpoint, mut connections) = endpoint(EndpointConfig::new());
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "x")];
    for (number, body) in [(5, notification("x")), (6, request(6, "x", json!({})))] {
        drop(spawn(&mut endpoint, post(number, &headers, body.clone())));
        let mut connection = connections.next().await.unwrap();
        assert_eq!(next(&mut connection).await, (Frame::parse(body.into()), number));
        assert_eq!(connection.head().extensions().get(), Some(&number));
    }
}
