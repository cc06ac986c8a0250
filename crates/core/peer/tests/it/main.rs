//! The driver against a second driver, or against a far end that the test plays by hand.

mod bounds;
mod call_contexts;
mod cancellation;
mod early_answers;
mod ends;
mod exchange;
mod fairness;
mod floods;
mod hooks;
mod idling;
mod observing;
mod order;
mod panics;
mod port;
mod pressure;
mod sources;
mod support;
mod threads;
mod timeouts;
#[cfg(feature = "tracing")]
mod tracing;
mod yielding;
