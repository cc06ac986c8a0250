//! Decodes and checks the results of calls.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::thread;

use agentwire_jsonrpc::{RawJson, TreeCost, collect_skipped};
use bytestring::ByteString;
use serde::de::DeserializeOwned;

use crate::error::CallError;
use crate::peer_inner::PeerInner;
use crate::state::call_slots::ResultHook;
use crate::sync::Mutex;

/// Decodes a result.
pub(crate) type Decode<R> = fn(&RawJson) -> Result<R, serde_json::Error>;

/// Accepts, changes or refuses a result when it arrives.
pub(crate) type Check<R> = Box<dyn FnOnce(R) -> Result<R, CallError> + Send>;

/// The result after decoding and checks, or the panic of a check.
pub(crate) type Received<R> = Arc<Mutex<Option<thread::Result<Result<R, CallError>>>>>;

/// Makes the hook that decodes and checks a result when it arrives.
pub(crate) fn read_on_arrival<R: DeserializeOwned + Send + 'static>(
    shared: Arc<PeerInner>,
    method: ByteString,
    decode: Option<Decode<R>>,
    check: Check<R>,
    received: Received<R>,
) -> ResultHook {
    Box::new(move |result| {
        let read = || read(&shared, &method, decode, result).and_then(check);
        let outcome = catch_unwind(AssertUnwindSafe(read));
        *received.lock() = Some(outcome);
    })
}

/// Decodes a result, and reports the parts that were left out to the handler.
pub(crate) fn read<R: DeserializeOwned>(
    shared: &PeerInner,
    method: &ByteString,
    by: Option<Decode<R>>,
    result: RawJson,
) -> Result<R, CallError> {
    let limit = shared.value_limit();
    let (decoded, skipped) = collect_skipped(|| match by {
        Some(by) => by(&result),
        None => decode(&result, limit),
    });
    // The text may be long, and is no longer needed.
    drop(result);
    if decoded.is_ok() && !skipped.is_empty() {
        let waker = shared.lock().skipped(method.clone(), skipped);
        waker.into_iter().for_each(Waker::wake);
    }
    decoded.map_err(|why| CallError::Decode { method: method.clone(), why: why.to_string() })
}

/// Decodes a result, unless that takes more memory than `limit`. Malformed parts are left out if the result is usable without them.
/// `null` is also read as an empty object, because some peers write it instead.
fn decode<R: DeserializeOwned>(result: &RawJson, limit: usize) -> Result<R, serde_json::Error> {
    if TreeCost::is_over(result.as_str(), limit) {
        let why = format_args!("it takes more than {limit} bytes of memory (Config::value_limit)");
        return Err(serde::de::Error::custom(why));
    }
    match result.decode_leniently() {
        Err(_) if result.is_null() => RawJson::EMPTY_OBJECT.decode(),
        decoded => decoded,
    }
}
