//! The protocol's `number`: whole ones are written as JSON integers, because peers whose numbers have types
//! read `50.0` as something else than `50`. And its times to live, of which negative ones mean none.

use std::fmt;

use serde::de::Visitor;
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// From here on, not every whole number has an `f64`.
const EXACT: i64 = 9_007_199_254_740_992;

pub(crate) fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if !value.is_finite() {
        // serde_json would write null, which no revision allows.
        return Err(S::Error::custom("the number is not finite"));
    }
    let whole = *value as i64;
    if whole as f64 == *value && whole > -EXACT && whole < EXACT {
        serializer.serialize_i64(whole)
    } else {
        serializer.serialize_f64(*value)
    }
}

/// Reads a time to live. A negative one means 0 in the protocol, so it must not cost the whole result.
pub(crate) fn time_to_live<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    struct TimeToLive(u64);

    impl<'de> Deserialize<'de> for TimeToLive {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_i64(Milliseconds)
        }
    }

    struct Milliseconds;

    impl Visitor<'_> for Milliseconds {
        type Value = TimeToLive;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a whole number of milliseconds")
        }

        fn visit_u64<E>(self, number: u64) -> Result<TimeToLive, E> {
            Ok(TimeToLive(number))
        }

        fn visit_i64<E>(self, number: i64) -> Result<TimeToLive, E> {
            Ok(TimeToLive(number.try_into().unwrap_or(0)))
        }
    }

    Ok(Option::<TimeToLive>::deserialize(deserializer)?.map(|TimeToLive(number)| number))
}
