//! A transport for tests that panics when our side sends a message that the schema forbids.

use agentwire_transport::{Direction, Packet, Transport, tap};
use serde_json::Value;

use crate::{Conversation, Side};

/// A transport that panics when our side sends what the protocol's schema does not allow.
///
/// The peer's messages are only read: tests make it misbehave.
///
/// # Panics
///
/// The sender of such a message panics, with the fault and the message.
pub fn checked(transport: impl Transport, mut conversation: Conversation, ours: Side) -> impl Transport {
    tap(transport, move |direction, packet: &Packet| {
        let Some(message) =
            packet.clone().into_json().and_then(|text| serde_json::from_str::<Value>(&text).ok())
        else {
            return;
        };
        match direction {
            Direction::In => drop(conversation.check(ours.other(), &message)),
            Direction::Out => {
                if let Err(fault) = conversation.check(ours, &message) {
                    panic!("we sent what the schema does not allow: {fault}\n  in {message}");
                }
            }
        }
    })
}
