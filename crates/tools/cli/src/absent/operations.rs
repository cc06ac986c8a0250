//! Without the feature `telemetry`: no pages for metrics and health.

use std::net::SocketAddr;

use agentwire_transport_http::server::Routes;
use clap::Args;

use super::readiness::Readiness;
use crate::telemetry::Registry;

/// The option `--metrics`, which this build does not have.
#[derive(Debug, Args)]
pub(crate) struct Pages {}

impl Pages {
    pub(crate) fn address(&self) -> Option<&str> {
        None
    }
}

pub(super) fn pages(registry: &Registry, _: &Readiness, _: SocketAddr) -> Routes {
    match *registry {}
}
