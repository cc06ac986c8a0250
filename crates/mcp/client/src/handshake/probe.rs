//! Detects on one connection which handshake the server supports: `server/discover` or `initialize`.

use std::pin::pin;
use std::time::Duration;

use agentwire_mcp_schema::Revision;
use agentwire_peer::{CallError, Clock, Peer, TokioClock};
use futures_util::future::{Either, select};
use futures_util::{FutureExt, select_biased};

use super::config::HandshakeConfig;
use super::discovery::{Discovery, discover};
use super::error::HandshakeError;
use super::legacy;
use crate::connection::HandshakeResult;
use crate::handler::ClientHandler;
use crate::versions::best;

/// Sends `server/discover`, then `initialize` if the server refuses that, answers something else, or is silent.
///
/// A silent server may ignore unknown requests, or may still be starting: `npx` and `uvx` take 20 s to install a package. So
/// the probe stays open beside `initialize`, and the first success counts. No second process is started.
pub(super) async fn find_out(
    handshake: HandshakeConfig,
    peer: &Peer,
    handler: &ClientHandler,
) -> Result<HandshakeResult, HandshakeError> {
    // Boxed, since both are large and the caller's future would hold them in each of its copies.
    let mut probe = discover(&handshake, peer, None).boxed().fuse();
    let found = select_biased! {
        found = probe => Some(found?),
        () = silence(handshake.discover_timeout, handler).fuse() => None,
    };
    match found {
        Some(Discovery::Modern(server)) => return Ok(*server),
        Some(Discovery::Session(revision, _)) => {
            return legacy::open(handshake.clone(), peer, revision).await;
        }
        Some(Discovery::Unknown(refused)) => {
            return open(&handshake, peer).await.map_err(|error| with_probe(refused, error));
        }
        None => {}
    }
    let mut session = open(&handshake, peer).boxed().fuse();
    let refused = select_biased! {
        found = probe => return match found {
            Ok(Discovery::Modern(server)) => Ok(*server),
            Ok(Discovery::Unknown(refused)) => session.await.map_err(|error| with_probe(refused, error)),
            // Over HTTP one request may fail, and another succeed.
            Ok(Discovery::Session(..)) | Err(_) => session.await,
        },
        outcome = session => match outcome {
            Err(error) if is_refusal(&error) => error,
            outcome => return outcome,
        },
    };
    // The server is up, and got the probe before `initialize`.
    match select(&mut probe, pin!(silence(handshake.discover_timeout, handler))).await {
        Either::Left((Ok(Discovery::Modern(server)), _)) => Ok(*server),
        Either::Left((Ok(Discovery::Unknown(unknown)), _)) => Err(with_probe(unknown, refused)),
        Either::Left((Ok(Discovery::Session(..)) | Err(_), _)) => Err(refused),
        Either::Right(_) if names_modern_version(&refused) => {
            drop(probe);
            handshake.clone().discover(peer).await
        }
        Either::Right(_) => Err(refused),
    }
}

async fn open(handshake: &HandshakeConfig, peer: &Peer) -> Result<HandshakeResult, HandshakeError> {
    handshake.clone().open(peer).await
}

/// Completes when the server has been silent for this time: since the probe, or since its first message that is not an
/// answer to the probe.
async fn silence(limit: Duration, handler: &ClientHandler) {
    let clock = TokioClock::default();
    let mut since = clock.now();
    loop {
        let Some(end) = since.checked_add(limit) else { return std::future::pending().await };
        clock.sleep_until(end).await;
        match handler.first_message.get() {
            Some(first) if *first > since => since = *first,
            _ => return,
        }
    }
}

/// Whether `initialize` was refused, as by a modern server, or failed in the transport. The answer to the probe may still come.
fn is_refusal(error: &HandshakeError) -> bool {
    let is_refused =
        |error: &CallError| matches!(error, CallError::Refused { .. } | CallError::Failed { .. });
    match error {
        HandshakeError::Call(error) => is_refused(error),
        error => matches!(error, HandshakeError::VersionRefused(_)),
    }
}

fn names_modern_version(error: &HandshakeError) -> bool {
    matches!(error, HandshakeError::VersionRefused(versions) if best(&versions.supported, Revision::is_modern).is_some())
}

/// Adds the outcome of the probe to the refusal of `initialize`.
fn with_probe(discover: CallError, error: HandshakeError) -> HandshakeError {
    match error {
        HandshakeError::Call(initialize @ CallError::Refused { .. }) => {
            HandshakeError::RefusedBoth { discover: Box::new(discover), initialize: Box::new(initialize) }
        }
        error => error,
    }
}
