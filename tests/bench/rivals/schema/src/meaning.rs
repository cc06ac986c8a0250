//! The comparison of two JSON texts by their meaning in the protocol.

use serde_json::Value;

/// Fails, with both texts, unless they mean the same.
pub fn check_same(text: &str, again: &str) -> Result<(), String> {
    let parse = |text: &str| serde_json::from_str(text).map(plain).map_err(|error| error.to_string());
    let (expected, found) = (parse(text)?, parse(again)?);
    if expected == found { Ok(()) } else { Err(format!("read\n{expected}\nas\n{found}")) }
}

/// The value without members that have their default, and with every number as a float. One subject writes `false`, `null`
/// or `[]` where another omits the member, and one keeps 50 where another makes it 50.0.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let told = members.into_iter().map(|(name, value)| (name, plain(value)));
            told.filter(|(_, value)| !is_default(value)).collect()
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Number(number) => number.as_f64().into(),
        other => other,
    }
}

fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
