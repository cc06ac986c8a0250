//! Headers: texts that travel in them, and the checks of a request's.

use agentwire_mcp_wire::header::{decode_value, encode_value, is_session_id, is_token};
use agentwire_transport_http::runtime::server::Guard;
use http::{HeaderName, HeaderValue, Request};

pub(crate) const WORDS: &[&[u8]] = &[
    b"=?base64?",
    b"?=",
    b"SGVsbG8=",
    b"host: 127.0.0.1:1\n",
    b"origin: http://localhost\n",
    b"accept: */*;q=0, text/event-stream\n",
    b"content-type: application/json\n",
    b"content-length: 99999999999\n",
    b"[::1]",
    b"\t",
];

/// A text comes back as it went; a value of others is a text or none; a request is admitted or not.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let value = encode_value(text);
        assert!(value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')), "it can travel in a header");
        assert_eq!(decode_value(value.as_bytes()).as_deref(), Some(text), "it comes back");
    }
    if let Some(text) = decode_value(bytes) {
        assert_eq!(decode_value(encode_value(&text).as_bytes()).as_deref(), Some(&*text), "it travels on");
    }
    let _either = is_session_id(bytes);
    let mut request = Request::get("/mcp");
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let (name, value) =
            (HeaderName::from_bytes(&line[..colon]), HeaderValue::from_bytes(&line[colon + 1..]));
        let (Ok(name), Ok(value)) = (name, value) else { continue };
        assert!(is_token(name.as_str()), "a header's name is a token");
        request = request.header(name, value);
    }
    let Ok(request) = request.body(()) else { return };
    let (parts, ()) = request.into_parts();
    let _either = Guard::admit_json(&parts.headers, 4 << 20);
    let _either = Guard::admit_events(&parts.headers);
    if Guard::new().admit(&parts).is_ok() {
        let hosts = parts.headers.get_all("host").iter().filter_map(|host| host.to_str().ok());
        let is_local = |host: &str| {
            host.starts_with("127.") || host.starts_with("[::1]") || {
                host.get(..9).is_some_and(|name| name.eq_ignore_ascii_case("localhost"))
            }
        };
        assert!(hosts.into_iter().all(is_local), "only the names of this machine are admitted");
    }
    assert!(Guard::new().any_host().any_origin().admit(&parts).is_ok());
}
