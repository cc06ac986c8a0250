//! Spans, metrics and propagation over real connections, by the exporters of the SDK that keep what they get.

mod bounds;
mod exchange;
mod metrics;
mod propagation;
mod spans;
mod support;
mod watch;
