//! HTTP/1.1 byte by byte, for the tests of transports: a client, the server's side of a request, and a transport that is driven
//! by hand.

mod driven;
mod raw;
mod received;

use std::time::Duration;

pub use driven::Driven;
pub use raw::{BOTH, Head, JSON, Raw};
pub use received::{ACCEPTED, EVENTS, Received, closed, is_quiet, response, result};

/// The longest time for anything that must happen.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// How long a test watches that something does not happen.
pub const QUIET: Duration = Duration::from_millis(80);

/// Awaits what must happen.
///
/// # Panics
///
/// If it takes longer than [`PATIENCE`].
pub async fn patiently<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened")
}

/// A sequence that looks random and is the same in every run.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a test writes its seed")]
pub struct Chance(pub u64);

impl Chance {
    /// The next number below the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}
