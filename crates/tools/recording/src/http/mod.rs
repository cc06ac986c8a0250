//! Exchanges over HTTP as events, and the reverse proxy that records them.

mod event_stream;
mod exchange;
mod proxy;
mod proxy_body;
mod request_body;

pub use self::exchange::ExchangeTap;
pub use self::proxy::{Proxy, ProxyError, Upstream, UpstreamBody};
pub use self::proxy_body::ProxyBody;
