//! What is refused before anybody serves it.

use std::time::Duration;

use agentwire_transport_http::server::{EndpointConfig, Era, Principal};
