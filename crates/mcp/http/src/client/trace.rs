//! The trace context of a message as the headers of its HTTP request, so that proxies and web frameworks see it too.

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{Frame, Message, read};
use agentwire_mcp_wire::{Member, ParamsMembers};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The members of `_meta` that W3C defines as headers, each with its longest value in bytes: the length of version 00,
/// the minimum that every reader of `tracestate` supports, and the maximum of `baggage`.
const CONTEXT: [(&str, HeaderName, usize); 3] = [
    ("traceparent", HeaderName::from_static("traceparent"), 55),
    ("tracestate", HeaderName::from_static("tracestate"), 512),
    ("baggage", HeaderName::from_static("baggage"), 8192),
];

/// The headers `traceparent`, `tracestate` and `baggage` of a message whose `_meta` has these members. They are empty
/// without a `traceparent` of version 00, and for a batch, whose messages may differ.
pub fn trace_headers(frame: &Frame) -> HeaderMap {
    match frame {
        Frame::Single(message) => of_message(message, &ParamsMembers::of(message)),
        _ => HeaderMap::new(),
    }
}

/// The same of a message whose members have been found.
pub(crate) fn of_message(message: &Message, members: &ParamsMembers<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let meta = members.get(Member::Meta).filter(|_| !matches!(message, Message::Response(_)));
    for (member, value) in meta.into_iter().flat_map(Members::of) {
        let Some((_, name, limit)) = CONTEXT.into_iter().find(|(name, ..)| *name == member) else { continue };
        let value = read::<String>(value).ok().filter(|value| value.len() <= limit);
        let value = value.and_then(|value| HeaderValue::try_from(value).ok());
        headers.extend(value.map(|value| (name, value)));
    }
    let is_valid = headers.get("traceparent").is_some_and(|value| is_traceparent(value.as_bytes()));
    if is_valid { headers } else { HeaderMap::new() }
}

/// Whether a text is a `traceparent` of version 00: <https://www.w3.org/TR/trace-context/#traceparent-header>.
fn is_traceparent(text: &[u8]) -> bool {
    let has_form = text.iter().enumerate().all(|(index, byte)| match index {
        2 | 35 | 52 => *byte == b'-',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    });
    let is_zero = |range: std::ops::Range<usize>| text[range].iter().all(|byte: &u8| *byte == b'0');
    text.len() == 55 && text.starts_with(b"00") && has_form && !is_zero(3..35) && !is_zero(36..52)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn headers(text: &str) -> Vec<String> {
        let headers = trace_headers(&Frame::parse(text.into()));
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    fn request(meta: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#)
    }

    #[test]
    fn a_context_in_meta_becomes_headers() {
        let meta =
            format!(r#"{{"traceparent":"{PARENT}","tracestate":"a=1,b=2","baggage":"user=7","other":1}}"#);
        let expected =
            [format!("traceparent: {PARENT}"), "tracestate: a=1,b=2".into(), "baggage: user=7".into()];
        assert_eq!(headers(&request(&meta)), expected);
        let notification = request(&meta).replace(r#""id":1,"#, "");
        assert_eq!(headers(&notification).len(), 3);
        assert!(headers(&format!("[{}]", request(&meta))).is_empty());
    }

    #[test]
    fn members_without_a_valid_context_become_no_headers() {
        for meta in [
            "{}".to_owned(),
            "[]".into(),
            r#"{"tracestate":"a=1"}"#.into(),
            r#"{"traceparent":7}"#.into(),
            r#"{"traceparent":"00-1"}"#.into(),
            format!(r#"{{"traceparent":"{}"}}"#, PARENT.to_uppercase()),
            format!(r#"{{"traceparent":"{}"}}"#, PARENT.replacen("00", "01", 1)),
            format!(r#"{{"traceparent":"{}"}}"#, PARENT.replace("b7ad6b7169203331", "0000000000000000")),
            format!(r#"{{"traceparent":"{PARENT}\r\nx: y"}}"#),
        ] {
            assert!(headers(&request(&meta)).is_empty(), "{meta}");
        }
        let long =
            format!(r#"{{"traceparent":"{PARENT}","tracestate":"a={}","baggage":"a\nb"}}"#, "1".repeat(511));
        assert_eq!(headers(&request(&long)), [format!("traceparent: {PARENT}")]);
    }
}
