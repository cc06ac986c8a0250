//! The params and result of `subscriptions/listen`, its filter, and `notifications/subscriptions/acknowledged`.

use agentwire_jsonrpc::RequestId;
use agentwire_wire_derive::Wire;

use crate::{HasMeta, JsonObject, Meta, NotificationMeta, ResultType, SubscriptionsListenResultMeta};

/// The notifications that a client wants, or that a server agreed to send. Since 2026-07-28.
///
/// Only named notifications are sent: by default none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    #[wire(flag)]
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    #[wire(flag)]
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    #[wire(flag)]
    pub resources_list_changed: bool,
    /// Changes of these resources, by their URIs.
    #[wire(plain_list)]
    pub resource_subscriptions: Vec<String>,
    /// The filters of extensions, such as the `taskIds` of [`task_extension`](crate::tasks::extension).
    #[wire(extra)]
    pub other: JsonObject,
}

empty!(SubscriptionFilter);
setters!(SubscriptionFilter {
    set tools_list_changed: bool,
    set prompts_list_changed: bool,
    set resources_list_changed: bool,
    list resource_subscriptions: String,
    set other: JsonObject,
});

/// Subscribes to changes for as long as the request is open. Since 2026-07-28.
///
/// The server first sends what it agreed to, in a [`SubscriptionsAcknowledgedNotification`]; each notification
/// names the request in its `_meta`. The answer comes when the server ends it. See
/// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/subscriptions>.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SubscriptionsListenRequest {
    /// The wanted notifications.
    #[wire(required)]
    pub notifications: SubscriptionFilter,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl SubscriptionsListenRequest {
    /// Subscribes to these notifications.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications, meta: None }
    }
}

setters!(SubscriptionsListenRequest {
    some meta: Meta,
});

/// The server ended a subscription in good order. The `_meta` names the subscription.
#[derive(Clone, Debug, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SubscriptionsListenResult {
    /// The kind of this result; absent means complete.
    #[wire(optional)]
    pub result_type: Option<ResultType>,
    /// Attachments, a [`SubscriptionsListenResultMeta`] among them.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl SubscriptionsListenResult {
    /// The subscription that the request of this id opened.
    pub fn new(subscription_id: impl Into<RequestId>) -> Self {
        let meta = SubscriptionsListenResultMeta::new(subscription_id);
        Self { result_type: None, meta: Some(meta.to_meta()) }
    }
}

setters!(SubscriptionsListenResult {
    some result_type: ResultType,
    some meta: Meta,
});

/// The notifications that the server agreed to send on a subscription. It is the first message on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Wire)]
#[non_exhaustive]
pub struct SubscriptionsAcknowledgedNotification {
    /// The wanted notifications, without those that the server does not offer.
    #[wire(required)]
    pub notifications: SubscriptionFilter,
    /// Attachments, a [`NotificationMeta`] among them.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl SubscriptionsAcknowledgedNotification {
    /// The server sends these notifications on the subscription of the request with this id.
    pub fn new(subscription_id: impl Into<RequestId>, notifications: SubscriptionFilter) -> Self {
        let mut this = Self { notifications, meta: None };
        NotificationMeta::new(subscription_id).write_to(this.meta_slot());
        this
    }
}

setters!(SubscriptionsAcknowledgedNotification {
    some meta: Meta,
});

has_meta!(SubscriptionsListenRequest, SubscriptionsListenResult, SubscriptionsAcknowledgedNotification);
