//! Sessions that several nodes share: any node goes on with a session that another has opened.

pub(crate) mod address;
pub(crate) mod bus;
pub(crate) mod change;
pub(crate) mod followers;
pub(crate) mod guarded_store;
pub(crate) mod load;
pub(crate) mod loads;
pub(crate) mod message;
pub(crate) mod readiness;
pub(crate) mod record;
pub(crate) mod sealed;
pub(crate) mod sealed_sessions;
pub(crate) mod time;
