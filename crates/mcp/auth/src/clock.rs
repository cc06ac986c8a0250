//! The time of day, as tokens and stored credentials count it.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time in milliseconds since 1970.
pub(crate) fn unix_now_millis() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// The time in seconds since 1970, the unit of dates in tokens.
pub(crate) fn unix_now() -> u64 {
    unix_now_millis() / 1000
}
