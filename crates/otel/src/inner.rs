//! The parts of a `Telemetry` that its observers share.

use opentelemetry::global::BoxedTracer;

use crate::config::Config;
use crate::instruments::Instruments;
use crate::names::Names;

pub(crate) struct TelemetryInner {
    pub(crate) config: Config,
    pub(crate) tracer: BoxedTracer,
    pub(crate) instruments: Instruments,
    pub(crate) names: Names,
}
