//! A separate, never inlined reader for members that few messages carry. It keeps their code out of the callers.

use serde::{Deserialize, Deserializer};

/// Reads a member that few messages carry. It is not inlined, so its code does not enlarge the readers of the others.
#[inline(never)]
pub(crate) fn rare<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer)
}
