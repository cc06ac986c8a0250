//! Results of the server's, which take no more memory than they may.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use agentwire_jsonrpc::{Members, RawJson, TreeCost};
use agentwire_peer::CallError;
use bytestring::ByteString;
use serde::de::{DeserializeOwned, Error};

/// How much memory what one message says may take, unless the client says otherwise: 32 MiB.
pub(crate) const DEFAULT_VALUE_LIMIT: usize = 32 * 1024 * 1024;

/// The members of a result that stay text.
const RAW: [&str; 2] = ["structuredContent", "_meta"];

/// From this length on a text is not held in two forms, in bytes.
const LONG: usize = 1 << 20;

/// Gives a result as the text that it is, for whoever decodes it later. What would be made of a long one while it is decoded
/// (see [`RawJson::with_whole_pairs`]) is made here, where the text that came in is about to go.
#[expect(clippy::unnecessary_wraps, reason = "other ways to read a result can fail")]
pub(crate) fn as_text(result: &RawJson) -> Result<RawJson, serde_json::Error> {
    let result = result.clone();
    Ok(if result.len() < LONG { result } else { result.with_whole_pairs() })
}

/// Decodes a result, unless that takes more memory than it may. Servers that have nothing to say write null where the
/// protocol wants an empty object.
pub(crate) fn decode<R: DeserializeOwned>(result: &RawJson, limit: usize) -> Result<R, serde_json::Error> {
    check(result, limit)?;
    match result.decode() {
        Err(_) if result.is_null() => RawJson::EMPTY_OBJECT.decode(),
        decoded => decoded,
    }
}

/// The same with the default limit, where there is no client yet to say otherwise.
pub(crate) fn decode_by_default<R: DeserializeOwned>(result: &RawJson) -> Result<R, serde_json::Error> {
    decode(result, DEFAULT_VALUE_LIMIT)
}

/// Fails where what a message says would take more memory than it may.
pub(crate) fn check(text: &RawJson, limit: usize) -> Result<(), serde_json::Error> {
    // Looks at nothing that is too short for that, as nearly everything is.
    if text.len() <= limit / TreeCost::MAX_PER_BYTE {
        return Ok(());
    }
    let bytes = match text.as_str().starts_with('{') {
        true => {
            let members = Members::of(text.as_str()).filter(|(name, _)| !RAW.contains(&&**name));
            members.map(|(_, value)| TreeCost::of(value).bytes).sum()
        }
        false => TreeCost::of(text.as_str()).bytes,
    };
    if bytes <= limit {
        return Ok(());
    }
    let why = format_args!("it takes more than {limit} bytes of memory (Client::value_limit)");
    Err(serde_json::Error::custom(why))
}

/// A call in a session, whose result is decoded here.
pub(crate) struct DecodedCall<R> {
    call: agentwire_peer::Call<RawJson>,
    method: &'static str,
    limit: usize,
    result: PhantomData<fn() -> R>,
}

impl<R> DecodedCall<R> {
    pub(crate) fn new(call: agentwire_peer::Call<RawJson>, method: &'static str, limit: usize) -> Self {
        Self { call: call.decode_by(as_text), method, limit, result: PhantomData }
    }
}

impl<R: DeserializeOwned> Future for DecodedCall<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let result = ready!(Pin::new(&mut self.call).poll(cx))?;
        Poll::Ready(decode(&result, self.limit).map_err(|why| malformed(self.method, &why)))
    }
}

impl<R> fmt::Debug for DecodedCall<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecodedCall").field("method", &self.method).finish_non_exhaustive()
    }
}

pub(crate) fn malformed(method: &'static str, why: &serde_json::Error) -> CallError {
    CallError::malformed(ByteString::from_static(method), why.to_string())
}
