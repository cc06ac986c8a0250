//! Spans, metrics and propagation over real connections, with the SDK's in-memory exporters.

mod bounds;
mod exchange;
mod metrics;
mod propagation;
mod spans;
mod support;
mod watch;
