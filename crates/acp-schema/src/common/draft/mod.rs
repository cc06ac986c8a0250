//! What the additions to version 1 and the draft of version 2 share.

mod stop_reason;

use crate::common::string_id;

pub use stop_reason::{ErrorStopReason, IdleStopReason};

string_id! {
    /// Names a plan within its session.
    PlanId,
}
