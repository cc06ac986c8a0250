//! One hostile client and a polite one: the limits of each caller leave room for the other.

use std::net::Ipv4Addr;

use agentwire_transport_http::server::{Body, RemoteAddr};
use agentwire_transport_sse::server::{Connection, Endpoint, EndpointConfig};
use bytes::Bytes;
use futures::{FutureExt, StreamExt};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use crate::server::script::OfConnections;

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"n"}"#;

async fn attend(mut connection: Connection) {
    while connection.next().await.is_some() {}
}

/// A request from 127.0.0.`address`.
async fn send<B>(endpoint: &Endpoint, address: u8, method: Method, uri: &str, body: B) -> Response<Body>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
{
    let request = Request::builder().method(method).uri(uri).header("host", "localhost");
    let mut request = request.header("content-type", "application/json").body(body).unwrap();
    let address = Ipv4Addr::new(127, 0, 0, address);
    request.extensions_mut().insert(RemoteAddr::new((address, 50_000).into()));
    endpoint.clone().call(request).await.unwrap()
}

/// Opens a stream. Returns it and where to post, or the status of a refusal.
async fn open(endpoint: &Endpoint, address: u8) -> Result<(Body, String), StatusCode> {
    let response = send(endpoint, address, Method::GET, "/sse", Full::default()).await;
    if response.status() != StatusCode::OK {
        return Err(response.status());
    }
    let mut body = response.into_body();
    let first = body.frame().await.unwrap().unwrap().into_data().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    Ok((body, first.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().to_owned()))
}

async fn post_note(endpoint: &Endpoint, address: u8, uri: &str) -> StatusCode {
    send(endpoint, address, Method::POST, uri, Full::<Bytes>::from(NOTE)).await.status()
}

#[tokio::test(start_paused = true)]
async fn unused_streams_lock_no_other_client_out() {
    let endpoint = Endpoint::serving(EndpointConfig::new(), OfConnections(attend));
    let mut hostile = Vec::new();
    for _ in 0..2000 {
        hostile.push(open(&endpoint, 1).await.unwrap());
    }
    for address in [2, 1] {
        let (_body, uri) = open(&endpoint, address).await.unwrap();
        assert_eq!(post_note(&endpoint, address, &uri).await, StatusCode::ACCEPTED);
    }
    // The oldest have ended, each with its stream.
    let (body, uri) = &mut hostile[0];
    assert!(body.frame().await.is_none());
    assert_eq!(post_note(&endpoint, 1, uri).await, StatusCode::NOT_FOUND);
}

#[tokio::test(start_paused = true)]
async fn one_client_uses_no_more_than_its_share_of_sessions() {
    let endpoint = Endpoint::serving(EndpointConfig::new(), OfConnections(attend));
    let mut taken = Vec::new();
    for _ in 0..300 {
        if let Ok((body, uri)) = open(&endpoint, 1).await {
            assert_eq!(post_note(&endpoint, 1, &uri).await, StatusCode::ACCEPTED);
            taken.push(body);
        }
    }
    assert_eq!(taken.len(), 250);
    assert_eq!(open(&endpoint, 1).await.err(), Some(StatusCode::SERVICE_UNAVAILABLE));
    let (_body, uri) = open(&endpoint, 2).await.unwrap();
    assert_eq!(post_note(&endpoint, 2, &uri).await, StatusCode::ACCEPTED);
    taken.pop();
    assert!(open(&endpoint, 1).await.is_ok());
}

/// A body that never ends.
struct Endless(Option<Bytes>);

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        match self.0.take() {
            Some(bytes) => std::task::Poll::Ready(Some(Ok(http_body::Frame::data(bytes)))),
            None => std::task::Poll::Pending,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_that_do_not_end_leave_room_for_others() {
    let endpoint = Endpoint::serving(EndpointConfig::new(), OfConnections(attend));
    let (hostile, polite) = (open(&endpoint, 1).await.unwrap(), open(&endpoint, 2).await.unwrap());
    let piece = Bytes::from(vec![b' '; (4 << 20) - 1]);
    let (mut waiting, mut refused) = (Vec::new(), 0);
    for _ in 0..200 {
        let mut response = Box::pin(async {
            send(&endpoint, 1, Method::POST, &hostile.1, Endless(Some(piece.clone()))).await
        });
        match response.as_mut().now_or_never() {
            None => waiting.push(response),
            Some(response) => {
                assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
                refused += 1;
            }
        }
    }
    assert_eq!((waiting.len(), refused), (6, 194));
    assert_eq!(post_note(&endpoint, 2, &polite.1).await, StatusCode::ACCEPTED);
    drop(waiting);
    assert_eq!(post_note(&endpoint, 1, &hostile.1).await, StatusCode::ACCEPTED);
}
