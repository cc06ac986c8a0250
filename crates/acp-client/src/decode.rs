use agentwire_jsonrpc::{RawJson, Skipped, decode_params, noting};
use serde::de::DeserializeOwned;

use crate::Error;

/// Decodes params, and tells what was left out of them where something was.
pub(crate) fn decode<P: DeserializeOwned>(
    params: Option<RawJson>,
    tell: impl FnOnce(Skipped),
) -> Result<P, Error> {
    let (decoded, skipped) = noting(|| decode_params(params));
    if decoded.is_ok() && !skipped.is_empty() {
        tell(skipped);
    }
    decoded
}
