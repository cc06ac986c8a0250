//! Members that may be absent. Absent, `null` and the default mean the same; only absence is written.

use serde::{Deserialize, Deserializer};

/// Reads `null` as the default, because some peers write what they do not have.
pub(crate) fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

pub(crate) fn is_false(flag: &bool) -> bool {
    !flag
}

/// Reads a member that few messages carry, apart from the others: its code does not stand in their way.
#[inline(never)]
pub(crate) fn rare<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer)
}
