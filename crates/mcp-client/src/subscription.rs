//! Hearing of changes since 2026-07-28: a request that stays open.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_jsonrpc::{Method, Notification, RawJson, RequestId};
use agentwire_mcp_schema::{
    NotificationMeta, SubscriptionFilter, SubscriptionsListenRequest, SubscriptionsListenResult,
};
use agentwire_peer::{CallError, Clock, Peer, TokioClock};
use agentwire_sync::{Mutex, MutexGuard};
use bytestring::ByteString;
use futures::channel::oneshot;
use futures::{FutureExt, select_biased};
use serde::Deserialize;

use crate::era::stateless::{Answered, complete, read_by_default};
use crate::front::{Hook, tell};

/// What [`Server::listen`](crate::Server::listen) gives: the server tells of changes for as long as this is kept.
///
/// Dropping it tells the server to stop, and what it says on it after that is not heard.
#[must_use = "the subscription ends when it is dropped"]
pub struct Subscription {
    call: agentwire_peer::Call<Answered<SubscriptionsListenResult>>,
    acknowledged: SubscriptionFilter,
    _entry: Entry,
}

impl Subscription {
    /// What the server agreed to tell, which may be less than it was asked.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Completes when the server has ended it.
    ///
    /// # Errors
    ///
    /// When it ended otherwise: the connection did, or what carried it failed. Nothing was heard from then on, so
    /// whoever wants to go on [listens](crate::Server::listen) anew, and looks at everything once more.
    pub async fn ended(self) -> Result<(), CallError> {
        match self.call.await {
            // There are two ways to say the same.
            Err(CallError::Cancelled { .. }) => Ok(()),
            outcome => complete(SubscriptionsListenRequest::NAME, outcome?).map(drop),
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("acknowledged", &self.acknowledged).finish_non_exhaustive()
    }
}

/// The subscriptions of a connection that have not ended, by the ids of their requests.
#[derive(Clone, Default)]
pub(crate) struct Subscriptions(Arc<Mutex<HashMap<RequestId, Place>>>);

struct Place {
    state: State,
    /// What hears what comes on it, beside the client.
    hook: Hook<Notification>,
}

enum State {
    /// The server has not said what it agrees to; whoever waits for that.
    Asked(oneshot::Sender<SubscriptionFilter>),
    Open,
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
        let (entry, mut acknowledged) = self.enter(id.request_id(), hook);
        let mut call =
            peer.call_method(method.clone(), Some(request)).reserved(id).decode_by(read_by_default);
        let mut late = async {
            match timeout.and_then(|timeout| TokioClock::default().now().checked_add(timeout)) {
                Some(deadline) => TokioClock::default().sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        }
        .boxed()
        .fuse();
        let why = select_biased! {
            filter = acknowledged => match filter {
                Ok(acknowledged) => return Ok(Subscription { call, acknowledged, _entry: entry }),
                Err(oneshot::Canceled) => "it is not known any more",
            },
            outcome = (&mut call).fuse() => {
                complete(SubscriptionsListenRequest::NAME, outcome?)?;
                "the server ended it before it said what it agrees to"
            }
            () = late => "the server does not say what it agrees to",
        };
        Err(CallError::unusable(method, why))
    }

    /// Takes the server's word on what it agrees to.
    pub(crate) fn acknowledge(&self, params: Option<&RawJson>) {
        #[derive(Deserialize)]
        struct Acknowledged {
            notifications: SubscriptionFilter,
        }

        let Some(id) = id(params) else {
            return;
        };
        let filter = params.and_then(|params| params.decode::<Acknowledged>().ok());
        if let (Some(filter), Some(place)) = (filter, self.lock().get_mut(&id))
            && let State::Asked(waiting) = std::mem::replace(&mut place.state, State::Open)
        {
            // If nobody waits any more, nobody is told.
            let _ = waiting.send(filter.notifications);
        }
    }

    /// Hands what the server says to whoever hears the subscription that it belongs to. False if that has ended, and it is
    /// not to be heard at all.
    pub(crate) fn hear(&self, notification: &Notification) -> bool {
        let Some(id) = id(notification.params.as_ref()) else { return true };
        let Some(hook) = self.lock().get(&id).map(|place| place.hook.clone()) else { return false };
        tell(&hook, Some(notification.clone()));
        true
    }

    fn enter(
        &self,
        id: RequestId,
        hook: Hook<Notification>,
    ) -> (Entry, oneshot::Receiver<SubscriptionFilter>) {
        let (sender, receiver) = oneshot::channel();
        self.lock().insert(id.clone(), Place { state: State::Asked(sender), hook });
        (Entry { subscriptions: self.clone(), id }, receiver)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Place>> {
        self.0.lock()
    }
}

/// The place of a subscription, until it is dropped.
struct Entry {
    subscriptions: Subscriptions,
    id: RequestId,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let place = self.subscriptions.lock().remove(&self.id);
        drop(place);
    }
}

/// The subscription that a notification belongs to.
fn id(params: Option<&RawJson>) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: Option<NotificationMeta>,
    }

    params?.decode::<Params>().ok()?.meta?.subscription_id
}
