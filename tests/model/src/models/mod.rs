//! The models. Each is one run, with threads of loom's, and fails by a panic.

mod duplex;
mod inline_task;
mod monitor;
mod peer;

pub use duplex::{a_dropped_end_is_reported, a_packet_passes_through_a_full_duplex};
pub use inline_task::{a_poll_and_a_wake_are_both_seen, two_inline_polls_are_both_seen};
pub use monitor::{an_update_wakes_all_waiters, each_value_is_taken_once};
pub use peer::{a_call_is_answered, the_end_wakes_its_waiters};
