//! Forwards packets between two transports.

use agentwire_jsonrpc::{ErrorObject, Message, Response, WithCauses};
use futures::future::try_join;
use futures::{StreamExt, TryStreamExt};

use crate::{Packet, Transport, TransportError};

/// Forwards the packets of each transport to the other, until both have ended.
///
/// When one ends, the other is closed, and what it still sends is forwarded. A failure of either ends both at once. Dropping
/// the future drops both transports. A request that [failed alone](Packet::RequestFailed) gets an internal error with the
/// reason, because a transport with one stream has no other form for it. A [gap](Packet::Gap) has no such form and is dropped.
///
/// # Errors
///
/// The first failure of a transport: for a child process, how it has [exited](TransportError::exited).
///
/// ```
/// use agentwire_transport::{Packet, TransportError, duplex, bridge};
/// use futures::{SinkExt, StreamExt};
///
/// # futures::executor::block_on(async {
/// let ((mut client, near), (far, mut server)) = (duplex(8), duplex(8));
/// let talk = async {
///     client.send(Packet::from_json(r#"{"jsonrpc":"2.0","method":"hello"}"#)).await?;
///     assert!(matches!(server.next().await, Some(Ok(Packet::Frame { .. }))));
///     client.close().await?;
///     server.close().await
/// };
/// futures::try_join!(bridge(near, far), talk)?;
/// # Ok::<_, TransportError>(())
/// # }).unwrap();
/// ```
pub async fn bridge(one: impl Transport, other: impl Transport) -> Result<(), TransportError> {
    let ((to_one, from_one), (to_other, from_other)) = (one.split(), other.split());
    let from_one = from_one.map_ok(answer_failure).forward(to_other);
    let from_other = from_other.map_ok(answer_failure).forward(to_one);
    try_join(from_one, from_other).await.map(drop)
}

/// Turns the report of a request that failed alone into an error response. Other packets stay as they are.
fn answer_failure(packet: Packet) -> Packet {
    match packet {
        Packet::RequestFailed { id, error } => {
            Message::from(Response::new(id, Err(ErrorObject::internal_error(WithCauses::new(&error))))).into()
        }
        packet => packet,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures::{FutureExt, SinkExt};

    use super::*;
    use crate::duplex;

    fn packet(id: usize) -> Packet {
        Packet::from_json(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#))
    }

    #[test]
    fn messages_before_the_end_arrive_on_both_sides() {
        let ((mut client, near), (far, mut server)) = (duplex(1), duplex(1));
        let sides = async {
            for (from, to) in [(1, 2), (3, 4)] {
                client.send(packet(from)).await.unwrap();
                assert_eq!(server.next().await.unwrap().unwrap(), packet(from));
                server.send(packet(to)).await.unwrap();
                assert_eq!(client.next().await.unwrap().unwrap(), packet(to));
            }
            client.close().await.unwrap();
            assert!(server.next().await.is_none());
            server.send(packet(5)).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), packet(5));
            server.close().await.unwrap();
            assert!(client.next().await.is_none());
        };
        futures::executor::block_on(async { futures::try_join!(bridge(near, far), sides.map(Ok)) }).unwrap();
    }

    #[test]
    fn failed_request_is_answered_with_an_error() {
        let ((mut client, near), (mut server, far)) = (duplex(1), duplex(1));
        let failed =
            Packet::RequestFailed { id: 1_u64.into(), error: Arc::new(TransportError::other("gone")) };
        server.send(failed).now_or_never().expect("there is room").unwrap();
        assert!(bridge(near, far).now_or_never().is_none_or(|bridged| bridged.is_ok()));
        let answer = client.next().now_or_never().flatten().unwrap().unwrap().into_json().unwrap();
        assert_eq!(
            answer,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error: gone"}}"#
        );
    }

    #[test]
    fn failure_of_one_transport_ends_both() {
        let ((mut client, near), (mut server, far)) = (duplex(1), duplex(1));
        let failing = far.map(|_| Err(TransportError::other("gone")));
        server.send(packet(1)).now_or_never().expect("there is room").unwrap();
        let error = bridge(near, failing).now_or_never().expect("it fails at once").unwrap_err();
        assert_eq!(error.inner().to_string(), "gone");
        assert!(client.next().now_or_never().expect("its other end is gone").is_none());
    }
}
