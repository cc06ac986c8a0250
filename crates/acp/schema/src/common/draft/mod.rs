//! The types that the additions to version 1 share with the draft of version 2.

mod plan;
mod stop_reason;

use crate::common::string_id;

pub(crate) use plan::plan_update;
pub use stop_reason::{ErrorStopReason, IdleStopReason};

string_id! {
    /// Identifies a plan within its session.
    PlanId,
}
