//! A connection over WebSocket: text frames in both directions of a run of the agent.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agentwire_transport::{Duplex, Packet, duplex};
use bytes::Bytes;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, interval_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

use super::connection::{CAPACITY, RunAgent, new_id};
use super::responses::{Body, CONNECTION_ID, status};

/// The most bytes of a message.
const MAX_MESSAGE: usize = 32 << 20;
/// How much is written at a time.
const WRITE_BUFFER: usize = 64 << 10;
/// After so long a silence the client is asked whether it is there.
const PING_TIME: Duration = Duration::from_secs(30);
/// How many questions in a row a client may leave unanswered.
const MAX_PINGS: u32 = 3;
/// How long a client may read nothing.
const WRITE_TIME: Duration = Duration::from_secs(60);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// Answers the handshake, and runs the agent for as long as the socket is open.
pub(super) fn accept(
    request: &HeaderMap,
    upgrade: OnUpgrade,
    run: &RunAgent,
    slot: OwnedSemaphorePermit,
) -> Response<Body> {
    let accepted = || {
        let key = request.get(SEC_WEBSOCKET_KEY)?;
        let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()?;
        let id = HeaderValue::from_str(&new_id()?).ok()?;
        Some((accept, id))
    };
    if request.get(SEC_WEBSOCKET_VERSION).is_none_or(|version| version != "13") {
        let mut response = status(StatusCode::UPGRADE_REQUIRED);
        response.headers_mut().insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        return response;
    }
    let Some((accept, id)) = accepted() else { return status(StatusCode::BAD_REQUEST) };
    let (ours, theirs) = duplex(CAPACITY);
    let agent = run(theirs);
    tokio::spawn(async move {
        let _slot = slot;
        let Ok(upgraded) = upgrade.await else { return };
        let config = WebSocketConfig::default()
            .max_message_size(Some(MAX_MESSAGE))
            .max_frame_size(Some(MAX_MESSAGE))
            .write_buffer_size(WRITE_BUFFER)
            .max_write_buffer_size(2 * (MAX_MESSAGE + WRITE_BUFFER));
        let socket = Socket::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(config)).await;
        tokio::spawn(agent);
        join(socket, ours).await;
    });
    let mut response = status(StatusCode::SWITCHING_PROTOCOLS);
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    headers.insert(CONNECTION_ID, id);
    response
}

/// Passes messages on in both directions until one side ends.
async fn join(socket: Socket, agent: Duplex) {
    let (mut to_client, from_client) = socket.split();
    let (mut to_agent, mut from_agent) = agent.split();
    let pings = AtomicU32::new(0);
    let end = tokio::select! {
        end = read(from_client, &mut to_agent, &pings) => end,
        end = write(&mut from_agent, &mut to_client, &pings) => end,
    };
    if let Some(code) = end {
        let frame = CloseFrame { code, reason: "".into() };
        // The client may be gone.
        let _ = tokio::time::timeout(WRITE_TIME, to_client.send(Message::Close(Some(frame)))).await;
    }
}

/// Reads frames until the client closes: the code with which it is answered, if it still listens.
async fn read(
    mut frames: SplitStream<Socket>,
    to_agent: &mut SplitSink<Duplex, Packet>,
    pings: &AtomicU32,
) -> Option<CloseCode> {
    use tokio_tungstenite::tungstenite::Error;
    loop {
        let frame = frames.next().await;
        pings.store(0, Ordering::Relaxed);
        match frame {
            Some(Ok(Message::Text(text))) => {
                if to_agent.send(Packet::from_json(&text)).await.is_err() {
                    return Some(CloseCode::Away);
                }
            }
            // Messages are text.
            Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            Some(Err(Error::Capacity(_))) => return Some(CloseCode::Size),
            Some(Err(Error::Utf8(_))) => return Some(CloseCode::Invalid),
            Some(Err(Error::Protocol(_))) => return Some(CloseCode::Protocol),
            Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
        }
    }
}

/// Writes what the agent sends until it ends, and asks a silent client whether it is there.
async fn write(
    from_agent: &mut SplitStream<Duplex>,
    to_client: &mut SplitSink<Socket, Message>,
    pings: &AtomicU32,
) -> Option<CloseCode> {
    let mut silence = interval_at(Instant::now() + PING_TIME, PING_TIME);
    loop {
        let frame = tokio::select! {
            packet = from_agent.next() => match packet {
                Some(Ok(packet)) => match packet.into_json() {
                    Some(text) => Message::text(text),
                    None => continue,
                },
                _ => return Some(CloseCode::Away),
            },
            _ = silence.tick() => {
                if pings.fetch_add(1, Ordering::Relaxed) >= MAX_PINGS {
                    return None;
                }
                Message::Ping(Bytes::new())
            }
        };
        match tokio::time::timeout(WRITE_TIME, to_client.send(frame)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return None,
            Err(_) => return Some(CloseCode::Policy),
        }
    }
}
