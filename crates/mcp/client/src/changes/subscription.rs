//! Subscriptions: since 2026-07-28 a request that stays open, up to 2025-11-25 a part of the session.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{Notification, RawJson, RequestId, RequestMethod};
use agentwire_mcp_schema::{
    NotificationMeta, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenResult,
};
use agentwire_peer::runtime::{CallExt, PeerExt};
use agentwire_peer::{CallError, Clock, Peer, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};
use bytestring::ByteString;
use futures_channel::oneshot;
use futures_util::{FutureExt, select_biased};
use serde::Deserialize;

use crate::handler::hooks::{Hook, call_hook};
use crate::result::{self, as_text, completed};

/// A subscription of [`RemoteServer::listen`](crate::RemoteServer::listen) or [`watch`](crate::RemoteServer::watch), until it
/// is dropped.
///
/// Dropping it cancels the subscription at a modern server, and its later notifications are ignored. In a session a
/// subscription lasts until [`unsubscribe`](crate::RemoteServer::unsubscribe).
#[must_use = "the subscription ends when it is dropped"]
pub struct Subscription {
    source: Source,
    acknowledged: SubscriptionFilter,
}

/// The request or the session that carries the notifications.
enum Source {
    Request(Box<agentwire_peer::Call<RawJson>>, Registration),
    Session(Peer),
}

impl Subscription {
    /// A subscription to a resource in a session.
    pub(crate) fn in_session(peer: Peer, uri: String) -> Self {
        let acknowledged = SubscriptionFilter::new().resource_subscriptions([uri]);
        Self { source: Source::Session(peer), acknowledged }
    }

    /// The changes that the server agreed to report, which may be fewer than requested.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Completes when the server ends the subscription. In a session this is the end of the connection, which is an error.
    ///
    /// # Errors
    ///
    /// If it did not end in that way: the connection ended, or the transport failed. Changes since then were not reported, so
    /// [subscribe](crate::RemoteServer::listen) again and read everything once more.
    pub async fn ended(self) -> Result<(), CallError> {
        match self.source {
            Source::Request(call, _registration) => match (*call).await {
                // A server may end it by a result or by a cancellation.
                Err(CallError::Cancelled { .. }) => Ok(()),
                outcome => ended(&outcome?),
            },
            Source::Session(peer) => Err(peer.closed().await.into()),
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("acknowledged", &self.acknowledged).finish_non_exhaustive()
    }
}

/// The open subscriptions of a connection, by the ids of their requests.
#[derive(Clone, Default)]
pub(crate) struct Subscriptions(Arc<Mutex<HashMap<RequestId, OpenSubscription>>>);

struct OpenSubscription {
    stage: Stage,
    /// Gets its notifications before the client does.
    hook: Hook<Notification>,
}

enum Stage {
    /// The server has not acknowledged it; the sender passes the acknowledgement on.
    Requested(oneshot::Sender<SubscriptionFilter>),
    Acknowledged,
}

impl Subscriptions {
    pub(crate) async fn open(
        &self,
        peer: &Peer,
        request: &SubscriptionsListenRequest,
        timeout: Option<Duration>,
        hook: Hook<Notification>,
    ) -> Result<Subscription, CallError> {
        let method = ByteString::from_static(SubscriptionsListenRequest::NAME);
        let id = peer.reserve_call();
        let (registration, mut acknowledged) = self.register(id.request_id(), hook);
        let mut call = peer.call_method(method.clone(), Some(request)).reserved(id).decode_by(as_text);
        let mut late = async {
            match timeout {
                Some(timeout) => TokioClock::default().sleep(timeout).await,
                None => std::future::pending().await,
            }
        }
        .boxed()
        .fuse();
        let why = select_biased! {
            filter = acknowledged => match filter {
                Ok(acknowledged) => {
                    return Ok(Subscription { source: Source::Request(Box::new(call), registration), acknowledged });
                }
                Err(oneshot::Canceled) => "the connection ended it",
            },
            outcome = (&mut call).fuse() => {
                ended(&outcome?)?;
                "the server ended it before it acknowledged it"
            }
            () = late => "the server does not acknowledge it",
        };
        Err(CallError::unusable(method, why))
    }

    /// Takes in the server's acknowledgement.
    pub(crate) fn acknowledge(&self, params: Option<&RawJson>) {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Acknowledged {
            notifications: SubscriptionFilter,
        }

        let Some(id) = id(params) else {
            return;
        };
        let filter = params.and_then(|params| params.decode_leniently::<Acknowledged>().ok());
        if let (Some(filter), Some(open)) = (filter, self.lock().get_mut(&id))
            && let Stage::Requested(waiting) = std::mem::replace(&mut open.stage, Stage::Acknowledged)
        {
            // The caller may have been dropped.
            let _ = waiting.send(filter.notifications);
        }
    }

    /// Passes a notification to the hook of its subscription. Returns false, and ignores the notification,
    /// if the subscription has ended.
    pub(crate) fn dispatch(&self, notification: &Notification) -> bool {
        let Some(id) = id(notification.params.as_ref()) else { return true };
        let Some(hook) = self.lock().get(&id).map(|open| open.hook.clone()) else { return false };
        call_hook(&hook, Some(notification.clone()));
        true
    }

    fn register(
        &self,
        id: RequestId,
        hook: Hook<Notification>,
    ) -> (Registration, oneshot::Receiver<SubscriptionFilter>) {
        let (sender, receiver) = oneshot::channel();
        let open = OpenSubscription { stage: Stage::Requested(sender), hook };
        self.lock().insert(id.clone(), open);
        (Registration { subscriptions: self.clone(), id }, receiver)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, OpenSubscription>> {
        self.0.lock()
    }
}

/// Keeps a subscription open until it is dropped.
struct Registration {
    subscriptions: Subscriptions,
    id: RequestId,
}

impl Drop for Registration {
    fn drop(&mut self) {
        let open = self.subscriptions.lock().remove(&self.id);
        drop(open);
    }
}

/// Reads the result that ends a subscription.
fn ended(text: &RawJson) -> Result<(), CallError> {
    let method = SubscriptionsListenRequest::NAME;
    let malformed = |why| result::malformed(ByteString::from_static(method), &why);
    completed::<SubscriptionsListenResult>(text).map_err(malformed)?.into_result(method).map(drop)
}

/// The subscription that a notification belongs to.
fn id(params: Option<&RawJson>) -> Option<RequestId> {
    #[derive(Deserialize)]
    #[serde(expecting = "an object")]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Option<NotificationMeta>,
    }

    params?.decode::<Params>().ok()?.meta?.subscription_id
}
