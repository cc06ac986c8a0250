//! The metrics of connections and calls.

use opentelemetry::metrics::{Counter, Histogram, Meter, UpDownCounter};

use crate::protocol::{Protocol, Role};

/// The boundaries of the histograms, in seconds.
pub const DURATION_BOUNDARIES: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// A histogram for each protocol and role.
type Durations = [[Histogram<f64>; 2]; 2];

pub(crate) struct Instruments {
    operations: Durations,
    connections: Durations,
    pub(crate) active_calls: UpDownCounter<i64>,
    pub(crate) active_connections: UpDownCounter<i64>,
    pub(crate) send_queue: UpDownCounter<i64>,
    pub(crate) io: Counter<u64>,
    pub(crate) malformed: Counter<u64>,
}

impl Instruments {
    pub(crate) fn new(meter: &Meter) -> Self {
        let counter =
            |name, unit, what| meter.i64_up_down_counter(name).with_unit(unit).with_description(what);
        Self {
            operations: durations(
                meter,
                |_| "operation",
                "The duration of a request, from its start to its end.",
            ),
            connections: durations(
                meter,
                |protocol| match protocol {
                    Protocol::Acp => "connection",
                    Protocol::Mcp => "session",
                },
                "The duration of a connection.",
            ),
            active_calls: counter("agentwire.calls.active", "{call}", "Unanswered requests.").build(),
            active_connections: counter("agentwire.connections.active", "{connection}", "Open connections.")
                .build(),
            send_queue: counter("agentwire.send_queue.size", "By", "Bytes that wait to be sent.").build(),
            io: meter
                .u64_counter("agentwire.io")
                .with_unit("By")
                .with_description("Bytes of messages.")
                .build(),
            malformed: meter
                .u64_counter("agentwire.malformed_messages")
                .with_unit("{message}")
                .with_description("Messages that could not be read.")
                .build(),
        }
    }

    /// The histogram of requests for this program's role in them.
    pub(crate) fn operation(&self, protocol: Protocol, role: Role) -> &Histogram<f64> {
        &self.operations[protocol.index()][role.index()]
    }

    /// The histogram of connections for this program's role in them.
    pub(crate) fn connection(&self, protocol: Protocol, role: Role) -> &Histogram<f64> {
        &self.connections[protocol.index()][role.index()]
    }
}

fn durations(meter: &Meter, what: impl Fn(Protocol) -> &'static str, description: &'static str) -> Durations {
    [Protocol::Acp, Protocol::Mcp].map(|protocol| {
        [Role::Client, Role::Server].map(|role| {
            let name = format!("{}.{}.{}.duration", protocol.name(), role.name(), what(protocol));
            meter
                .f64_histogram(name)
                .with_unit("s")
                .with_description(description)
                .with_boundaries(DURATION_BOUNDARIES.to_vec())
                .build()
        })
    })
}
