//! One request: its client, its params, and the reports and questions of the running function.

pub(crate) mod cancelled;
pub(crate) mod client_context;
pub(crate) mod client_meta;
pub(crate) mod context;
pub(crate) mod params;
pub(crate) mod progress;
pub(crate) mod questions;
pub(crate) mod remote_client;
pub(crate) mod reports;
pub(crate) mod request_future;
pub(crate) mod result_meta;
pub(crate) mod session;
pub(crate) mod watch_list;
pub(crate) mod yield_timer;
