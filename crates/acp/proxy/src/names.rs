//! The methods with special handling: mostly those between a conductor and its components.
//!
//! They were extensions, with an underscore before the name, and are now drafts of the protocol. Some components and
//! conductors still use the older names.

pub(crate) const INITIALIZE: &str = "initialize";
pub(crate) const PROXY_INITIALIZE: &str = "proxy/initialize";
pub(crate) const OLD_PROXY_INITIALIZE: &str = "_proxy/initialize";
pub(crate) const SUCCESSOR: &str = "proxy/successor";
pub(crate) const OLD_SUCCESSOR: &str = "_proxy/successor";

/// The only request of the protocol whose params may name another request.
pub(crate) const ELICITATION: &str = "elicitation/create";

pub(crate) fn is_proxy_initialize(method: &str) -> bool {
    method == PROXY_INITIALIZE || method == OLD_PROXY_INITIALIZE
}

pub(crate) fn is_initialize(method: &str) -> bool {
    method == INITIALIZE || is_proxy_initialize(method)
}

pub(crate) fn is_successor(method: &str) -> bool {
    method == SUCCESSOR || method == OLD_SUCCESSOR
}

/// Returns whether a method is one of the older names.
pub(crate) fn is_old(method: &str) -> bool {
    method == OLD_PROXY_INITIALIZE || method == OLD_SUCCESSOR
}
