//! The layers between a typed call and the wire.
//!
//! ```text
//! Call<M>     downgrade to the revision, encode with the stamp                ▲ decode
//!             the user's layers, the first one added outermost                │
//!             validation    checks structured results                         │
//!             cache         answers what is fresh              (modern)       │
//!             tasks         follows a task to its result                      │
//!             input         answers the server's questions     (modern)       │
//!             recovery      repeats what a refusal mends       (modern)       │
//!             send ▼        one request, one answer                           │
//! ```
//!
//! A built-in layer is a function that calls the next one, so that no layer costs an allocation: a call of a
//! modern server is one boxed future, and so is a call of a session in which some layer has something to do. Any other
//! call of a session is the peer's future itself.

mod built_in;
mod cache;
mod call_stack;
pub(crate) mod downgrade;
mod encode;
mod next;
mod retry;

pub use built_in::RawCallFuture;
pub(crate) use built_in::start;
pub(crate) use call_stack::CallStack;
pub use next::{Next, from_fn};
pub use retry::{Retry, RetryFuture, RetryService};
