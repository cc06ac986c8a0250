//! Reads the body of a request that is passed on, within limits.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;

use super::exchange::ExchangeTap;
use crate::event::KEPT_OF_LONG_LINE;
use crate::line_buffer::{Budget, Reservation};

/// The longest body of a request that is passed on: 32 MiB.
const REQUEST_LIMIT: usize = 32 << 20;

/// The most bytes of a refused body that are read, so that the client reads the answer: 64 MiB.
const REFUSED_LIMIT: u64 = 2 * REQUEST_LIMIT as u64;

/// The answer to a request whose body is not passed on.
pub(super) type Refusal = (StatusCode, &'static str);

/// Reads and records a body. The reservation has to be kept as long as the bytes. `stall_limit` is the timeout of each piece.
pub(super) async fn read_body(
    mut body: Incoming,
    tap: &mut ExchangeTap,
    budget: &Arc<Budget>,
    stall_limit: Duration,
) -> Result<(Bytes, Reservation), Refusal> {
    let mut reservation = Reservation::new(budget);
    let mut bytes = Vec::new();
    let mut length = 0;
    let mut refusal = None;
    while length <= REFUSED_LIMIT {
        let piece = match tokio::time::timeout(stall_limit, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            Ok(Some(Err(_))) => {
                refusal = refusal.or(Some((StatusCode::BAD_REQUEST, "the body was cut")));
                break;
            }
            Err(_) => {
                refusal = refusal.or(Some((StatusCode::REQUEST_TIMEOUT, "the body does not go on")));
                break;
            }
        };
        length += piece.len() as u64;
        if length > REQUEST_LIMIT as u64 {
            refusal = refusal.or(Some((StatusCode::PAYLOAD_TOO_LARGE, "the body is too long")));
        } else if refusal.is_none() && !reservation.grow(piece.len()) {
            refusal = Some((StatusCode::SERVICE_UNAVAILABLE, "too many bodies are being read"));
        }
        if refusal.is_none() {
            bytes.extend_from_slice(&piece);
        } else {
            reservation.clear();
            let room = KEPT_OF_LONG_LINE.saturating_sub(bytes.len());
            bytes.extend_from_slice(&piece[..room.min(piece.len())]);
            bytes.truncate(KEPT_OF_LONG_LINE);
            bytes.shrink_to(KEPT_OF_LONG_LINE);
        }
    }
    match refusal {
        Some(refusal) => {
            tap.request_refused(&bytes, length);
            Err(refusal)
        }
        None => {
            tap.request_body(&bytes);
            tap.request_end();
            Ok((bytes.into(), reservation))
        }
    }
}
