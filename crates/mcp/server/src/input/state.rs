//! The content of a `requestState`, and the request that it belongs to.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{ErrorObject, RawJson, read_bytes};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::input::InputConfig;
use crate::value_limit::is_over;

/// Answers by the keys of their questions, as they came.
pub(crate) type Answers = BTreeMap<String, RawJson>;

/// Members of a request that are not the same from round to round.
const CHANGING: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// The data of earlier rounds for the next one.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct RoundState {
    /// The expiry, in milliseconds since 1970.
    expires: u64,
    pub(crate) round: u32,
    pub(crate) answers: Answers,
}

impl RoundState {
    /// The data of the next round, if nothing is added.
    pub(crate) fn next(&self) -> Self {
        Self { expires: 0, round: self.round.saturating_add(1), answers: self.answers.clone() }
    }

    /// For how long the state can be used.
    pub(crate) fn left(&self) -> Duration {
        Duration::from_millis(self.expires.saturating_sub(now()))
    }

    /// Encrypts and seals the state for the request that `binding` stands for.
    pub(crate) fn seal(mut self, config: &InputConfig, binding: &[u8]) -> Result<String, ErrorObject> {
        let expiry = u64::try_from(config.expiry.as_millis()).unwrap_or(u64::MAX);
        self.expires = now().saturating_add(expiry);
        let text = serde_json::to_vec(&self).map_err(ErrorObject::internal_error)?;
        let sealed = config.keys.seal(binding, text).map_err(ErrorObject::internal_error)?;
        if sealed.len() > config.state_limit {
            let limit = config.state_limit;
            let why = format_args!("the answers so far do not fit into a `requestState` of {limit} bytes");
            return Err(ErrorObject::internal_error(why));
        }
        Ok(sealed)
    }

    /// Reads what was sealed before.
    pub(crate) fn open(config: &InputConfig, binding: &[u8], sealed: &str) -> Result<Self, ErrorObject> {
        let limit = config.state_limit;
        if sealed.len() > limit {
            let why = format_args!("`requestState` is longer than {limit} bytes");
            return Err(ErrorObject::invalid_params(why));
        }
        let state = config.keys.open(binding, sealed).and_then(|text| read_bytes::<Self>(&text).ok());
        let state = state.ok_or_else(|| {
            ErrorObject::invalid_params("`requestState` is not what this server gave for this request")
        })?;
        if state.expires <= now() {
            return Err(ErrorObject::invalid_params("`requestState` has expired"));
        }
        Ok(state)
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The request and the caller that a state is bound to, in a canonical text: different requests have different texts.
pub(crate) fn request_binding(
    method: &str,
    params: &RawJson,
    principal: Option<&str>,
    value_limit: usize,
) -> Result<Vec<u8>, ErrorObject> {
    if let Some(why) = is_over("params", params.as_str(), value_limit) {
        return Err(ErrorObject::invalid_params(why));
    }
    let mut numbers = Vec::new();
    for (_, member) in Members::of(params.as_str()).filter(|(name, _)| !CHANGING.contains(&&**name)) {
        long_numbers(member, &mut numbers);
    }
    let mut params: Map<String, Value> = params.decode().map_err(ErrorObject::invalid_params)?;
    params.retain(|name, _| !CHANGING.contains(&&**name));
    let parts = Value::from(vec![
        Value::from("agentwire requestState 1"),
        principal.map_or(Value::Null, Value::from),
        Value::from(method),
        Value::Object(params),
        Value::from(numbers),
    ]);
    let mut text = String::new();
    write(&parts, &mut text);
    Ok(text.into_bytes())
}

/// Finds the numbers in a JSON text that have more digits than every reader keeps. A `Value` makes one number of
/// several of them.
fn long_numbers<'a>(json: &'a str, found: &mut Vec<&'a str>) {
    const EXACT_DIGITS: usize = 15;

    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'"' {
            at += 1;
            while !matches!(bytes.get(at), None | Some(b'"')) {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at += 1;
        } else if matches!(byte, b'-' | b'0'..=b'9') {
            let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
            let end =
                bytes[at..].iter().position(|byte| !is_part(byte)).map_or(bytes.len(), |length| at + length);
            let digits = bytes[at..end].iter().filter(|byte| byte.is_ascii_digit()).count();
            found.extend(json.get(at..end).filter(|_| digits > EXACT_DIGITS));
            at = end;
        } else {
            at += 1;
        }
    }
}

/// Writes JSON so that equal values have equal texts: members by name, whole numbers without a fraction.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            text.push('{');
            for (name, value) in members {
                write(&Value::from(name.as_str()), text);
                text.push(':');
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        #[allow(
            clippy::cast_possible_truncation,
            reason = "whole numbers of this size are exact in both types"
        )]
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => {
                text.push_str(&(float as i64).to_string());
            }
            _ => text.push_str(&number.to_string()),
        },
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request_binding(params: &str) -> Vec<u8> {
        let params = RawJson::parse(params.to_owned().into()).expect("JSON");
        super::request_binding("tools/call", &params, Some("ada"), usize::MAX).expect("an object")
    }

    #[test]
    fn a_state_belongs_to_what_a_request_means_and_not_to_how_it_is_written() {
        let one = request_binding(r#"{"name":"a","arguments":{"x":1,"y":[1.50,"b"]},"_meta":{"p":1}}"#);
        for same in [
            r#"{ "arguments" : {"y":[1.5,"\u0062"], "x":1.0}, "name":"a"}"#,
            r#"{"name":"a","arguments":{"x":1,"y":[1.5,"b"]},"requestState":"s","inputResponses":{}}"#,
        ] {
            assert_eq!(request_binding(same), one, "{same}");
        }
        for other in [
            r#"{"name":"b","arguments":{"x":1,"y":[1.5,"b"]}}"#,
            r#"{"name":"a","arguments":{"x":2,"y":[1.5,"b"]}}"#,
            r#"{"name":"a","arguments":{"x":"1","y":[1.5,"b"]}}"#,
            r#"{"name":"a","arguments":{"x":1,"y":["b",1.5]}}"#,
            r#"{"name":"a","arguments":{"x":1,"y":[1.5,"b"],"z":null}}"#,
            r#"{"name":"a"}"#,
        ] {
            assert_ne!(request_binding(other), one, "{other}");
        }
    }

    #[test]
    fn numbers_that_one_type_makes_the_same_are_different_requests() {
        let with =
            |number: &str| request_binding(&format!(r#"{{"arguments":{{"s":"\"1","x":[{number}]}}}}"#));
        for (one, other) in [
            ("18446744073709551616", "18446744073709551617"),
            ("0.1", "0.10000000000000000001"),
            ("9007199254740992", "9007199254740993"),
            ("1", "-1"),
        ] {
            assert_ne!(with(one), with(other), "{one} {other}");
        }
        for (one, other) in [("1", "1.0"), ("100", "1e2"), ("1.50", "1.5")] {
            assert_eq!(with(one), with(other), "{one} {other}");
        }
    }
}
