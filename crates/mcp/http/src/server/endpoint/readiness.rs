//! Checks whether an endpoint is ready to serve: a round trip through its service.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use agentwire_jsonrpc::{RawJson, Request};
use agentwire_mcp_wire::{Revision, meta};
use agentwire_store::StoreError;
use agentwire_transport::Exchange;
use futures::FutureExt;

use crate::server::Endpoint;

/// The request of a check. Each service that serves requests without a session answers it, if only with an error.
const METHOD: &str = "server/discover";

/// Why an endpoint is not ready.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotReady {
    /// It shuts down, or has.
    #[error("the endpoint shuts down")]
    Closing,
    /// [`Endpoint::run`] is not polled, so no session can be opened.
    #[error("the endpoint does not run")]
    NotRunning,
    /// The store that it shares with other nodes takes no record.
    #[error("the store takes no record")]
    Store(#[source] StoreError),
    /// The store has not answered in time.
    #[error("the store has not answered in {0:?}")]
    StoreTimeout(Duration),
    /// The service has not answered in time.
    #[error("the service has not answered in {0:?}")]
    Service(Duration),
    /// The service has panicked.
    #[error("the service has panicked")]
    Panicked,
}

impl Endpoint {
    /// Completes when the endpoint is ready for requests. For the readiness page of a program, which a load balancer polls:
    /// it is a real round trip, so a service that hangs is found.
    ///
    /// The store of the [node](crate::server::EndpointConfig::node) first takes a record, if there is one. Then the service answers a
    /// modern request `server/discover`. Its observer sees that as a call. An endpoint of the
    /// [legacy era](crate::server::EndpointConfig::era) does not ask its service. It needs a tokio runtime
    /// with time.
    ///
    /// # Errors
    ///
    /// When the endpoint shuts down, does not run, or its store or its service has not answered within `limit` each.
    pub async fn check(&self, limit: Duration) -> Result<(), NotReady> {
        let core = self.core();
        let is_closing = || core.resources.is_closing().then_some(NotReady::Closing);
        if let Some(closing) = is_closing() {
            return Err(closing);
        }
        if !core.is_running() {
            return Err(NotReady::NotRunning);
        }
        if let Some(node) = core.resources.config.shared_node() {
            match tokio::time::timeout(limit, node.check()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    core.resources.config.warnings.store(&error);
                    return Err(NotReady::Store(error));
                }
                Err(_) => return Err(NotReady::StoreTimeout(limit)),
            }
        }
        if core.resources.config.era.includes(Revision::LATEST) {
            let answer = AssertUnwindSafe(async {
                let (exchange, _notifications) = Exchange::new(request(), None, HIGH_WATER);
                core.service.exchange(exchange).await
            });
            match tokio::time::timeout(limit, answer.catch_unwind()).await {
                Ok(Ok(_answer)) => {}
                Ok(Err(_panic)) => return Err(NotReady::Panicked),
                Err(_) => return Err(NotReady::Service(limit)),
            }
        }
        is_closing().map_or(Ok(()), Err)
    }
}

/// How many bytes of notifications may wait: 4 KiB.
const HIGH_WATER: usize = 4 << 10;

fn request() -> Request {
    let params = format!(
        r#"{{"_meta":{{"{}":"{}","{}":{{}}}}}}"#,
        meta::PROTOCOL_VERSION,
        Revision::LATEST.as_str(),
        meta::CLIENT_CAPABILITIES,
    );
    let params = RawJson::parse(params.into()).expect("it is JSON");
    Request::new(1_i64, METHOD, Some(params))
}
