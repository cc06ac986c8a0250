//! Runs file operations on tokio's threads for blocking work.

use std::panic;

use agentwire_jsonrpc::RawJson;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio::runtime::Handle;

use super::reader::Reader;
use crate::StoreError;

/// Returns the records of a reader as a stream.
pub(super) fn records(reader: Reader) -> BoxStream<'static, Result<RawJson, StoreError>> {
    let pieces = stream::unfold(Some(reader), async |reader| {
        let mut reader = reader?;
        let read = blocking(move || {
            let records = reader.read_some();
            let more = records.last().is_some_and(Result::is_ok);
            Ok((records, more.then_some(reader)))
        });
        Some(read.await.unwrap_or_else(|error| (vec![Err(error)], None)))
    });
    pieces.flat_map(stream::iter).boxed()
}

/// Runs blocking work on tokio's threads for that, or in place outside of a tokio runtime. It completes even if the future
/// is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let Ok(runtime) = Handle::try_current() else { return work() };
    match runtime.spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => panic::resume_unwind(panic),
            Err(_) => Err(StoreError::other("the runtime has shut down")),
        },
    }
}
