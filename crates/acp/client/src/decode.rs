//! Decodes messages of the agent within a memory limit.

use agentwire_jsonrpc::{RawJson, Skipped, TreeCost, collect_skipped, decode_params};
use serde::de::DeserializeOwned;

use crate::Error;

/// The default memory limit of a decoded message: 32 MiB.
pub(crate) const DEFAULT_VALUE_LIMIT: usize = 32 << 20;

/// The members of unspecified type. They are kept as text, and the limit does not count them.
const FREE: [&str; 3] = ["_meta", "rawInput", "rawOutput"];

/// From this length on, in bytes, lone surrogate escapes of a text are replaced before decoding, so that the decoder makes no
/// second copy.
const LONG: usize = 1 << 20;

/// Decodes params, unless the value takes more memory than `limit`: a list of small items takes several times the
/// memory of its text. Reports the parts that were skipped.
pub(crate) fn decode<P: DeserializeOwned>(
    params: Option<RawJson>,
    limit: usize,
    tell: impl FnOnce(Skipped),
) -> Result<P, Error> {
    decode_by(strictly, params, limit, tell).map_err(|(_, why)| why)
}

fn strictly<P: DeserializeOwned>(params: Option<RawJson>) -> Result<P, Error> {
    let (decoded, skipped) = collect_skipped(|| decode_params(params.clone()));
    if decoded.is_err() || skipped.is_empty() {
        return decoded;
    }
    // Fields that allow it were decoded to their defaults already. The lenient decoding skips the same parts and reports their
    // places.
    params.unwrap_or(RawJson::EMPTY_OBJECT).decode_leniently().map_err(Error::invalid_params)
}

/// Decodes an update, leaving out malformed parts that it is usable without. An error includes the params, so that the
/// caller can report or keep them.
pub(crate) fn decode_or_give_back<P: DeserializeOwned>(
    params: Option<RawJson>,
    limit: usize,
    tell: impl FnOnce(Skipped),
) -> Result<P, (Option<RawJson>, Error)> {
    let leniently = |params: Option<RawJson>| {
        params.unwrap_or(RawJson::EMPTY_OBJECT).decode_leniently().map_err(Error::invalid_params)
    };
    decode_by(leniently, params, limit, tell)
}

fn decode_by<P>(
    decode: impl FnOnce(Option<RawJson>) -> Result<P, Error>,
    params: Option<RawJson>,
    limit: usize,
    tell: impl FnOnce(Skipped),
) -> Result<P, (Option<RawJson>, Error)> {
    let params = params.map(|params| if params.len() < LONG { params } else { params.with_whole_pairs() });
    let text = params.as_ref().map_or("", RawJson::as_str);
    if text.len() > limit / TreeCost::MAX_PER_BYTE && TreeCost::without(text, &FREE).bytes > limit {
        let why = format_args!("the message takes more than {limit} bytes of memory (Config::value_limit)");
        return Err((params, Error::invalid_params(why)));
    }
    let (decoded, skipped) = collect_skipped(|| decode(params.clone()));
    if decoded.is_ok() && !skipped.is_empty() {
        tell(skipped);
    }
    decoded.map_err(|why| (params, why))
}

/// Returns the length of a value as JSON, in bytes.
#[cfg(feature = "v2")]
pub(crate) fn encoded_length<T: serde::Serialize>(value: &T) -> usize {
    use std::io::{self, Write};

    struct Length(usize);

    impl Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut length = Length(0);
    // A value that was decoded from JSON can be encoded.
    let _written = serde_json::to_writer(&mut length, value);
    length.0
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::SessionNotification;

    use super::*;

    /// Returns how the decoder handles an update with this text.
    fn read(update: &str) -> Result<SessionNotification, (Option<RawJson>, Error)> {
        let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
        let params = RawJson::parse(params.into()).expect("it is JSON");
        decode_or_give_back(Some(params), DEFAULT_VALUE_LIMIT, |_| {})
    }

    #[test]
    fn lists_of_small_things_are_refused_from_a_size_on_and_given_back() {
        let plan = |entries: usize| {
            let entry = r#"{"content":"","priority":"low","status":"pending"},"#.repeat(entries);
            format!(r#"{{"sessionUpdate":"plan","entries":[{}]}}"#, entry.trim_end_matches(','))
        };
        assert!(read(&plan(10_000)).is_ok());
        let (params, why) = read(&plan(100_000)).expect_err("it takes too much memory");
        assert!(why.message.contains("33554432 bytes of memory (Config::value_limit)"), "{why}");
        assert!(params.is_some_and(|params| params.as_str().contains("pending")));
    }

    #[test]
    fn link_without_a_name_arrives_and_is_reported() {
        let link = r#"{"type":"resource_link","uri":"file:///a","size":"big"}"#;
        let update = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{link}}}"#);
        let params =
            RawJson::parse(format!(r#"{{"sessionId":"s","update":{update}}}"#).into()).expect("JSON");
        let mut skipped = Skipped::default();
        let read: SessionNotification =
            decode_or_give_back(Some(params), DEFAULT_VALUE_LIMIT, |parts| skipped = parts)
                .expect("it is read");
        assert!(format!("{read:?}").contains("file:///a"), "{read:?}");
        assert!(skipped.to_string().contains("name: missing field"), "{skipped}");
    }

    #[test]
    fn texts_may_be_as_long_as_a_line_and_half_characters_cost_nothing() {
        let chunk = |text: &str| {
            let content = format!(r#"{{"type":"text","text":"{text}"}}"#);
            format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{content}}}"#)
        };
        assert!(read(&chunk(&"x".repeat(2 * LONG))).is_ok());
        assert!(read(&chunk(&r"x\ud83d".repeat(LONG / 4))).is_ok());
        // Free members are not held against the message.
        let free = format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":[{}0]}}"#,
            "0,".repeat(400_000)
        );
        assert!(read(&free).is_ok());
    }
}
