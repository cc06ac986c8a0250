//! The parts of a `Telemetry` that its observers share.

use opentelemetry::Context;
use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::TraceContextExt;

use crate::attributes::names::NameSet;
use crate::config::Config;
use crate::instruments::Instruments;

pub(crate) struct TelemetryInner {
    pub(crate) config: Config,
    pub(crate) tracer: BoxedTracer,
    pub(crate) instruments: Instruments,
    pub(crate) names: NameSet,
}

impl TelemetryInner {
    /// Adds the parent of the configuration to a context without a span.
    pub(crate) fn with_default_parent(&self, context: Context) -> Context {
        match &self.config.parent {
            Some(parent) if !context.span().span_context().is_valid() => {
                context.with_remote_span_context(parent.clone())
            }
            _ => context,
        }
    }
}
