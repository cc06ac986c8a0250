//! The protocol's `number`: whole ones are written as JSON integers, because peers whose numbers have types
//! read `50.0` as something else than `50`.

use serde::Serializer;
use serde::ser::Error;

/// From here on, not every whole number has an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

pub(crate) fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if !value.is_finite() {
        // serde_json would write null, which no revision allows.
        return Err(S::Error::custom("the number is not finite"));
    }
    if value.fract() == 0.0 && value.abs() < EXACT {
        serializer.serialize_i64(*value as i64)
    } else {
        serializer.serialize_f64(*value)
    }
}

pub(crate) fn optional_number<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}
