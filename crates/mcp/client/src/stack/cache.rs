//! The cache layer: answers calls from the [cache](crate::Cache), and stores results that the server calls fresh. Only modern
//! servers do that.

use std::sync::Arc;

use agentwire_peer::CallError;

use crate::connection::Connection;
use crate::raw::{RawAnswer, RawCall};
use crate::tasks::extension;

pub(crate) async fn call(connection: &Arc<Connection>, call: RawCall) -> Result<RawAnswer, CallError> {
    let place = connection.cache.as_ref().and_then(|cache| Some((cache, cache.place(&call)?)));
    let Some((cache, place)) = place else {
        return extension::call(connection, call).await;
    };
    if let Some(result) = cache.find(&place) {
        return Ok(RawAnswer::new(result));
    }
    let method = call.method.clone();
    match extension::call(connection, call).await {
        Ok(answer) => {
            // A result that depends on the user's answers may differ for the next caller.
            if answer.rounds == 0 {
                cache.keep(place, &answer.result);
            }
            Ok(answer)
        }
        Err(error) => {
            // A refused page belongs to a list that has changed.
            if error.refusal().is_some() {
                cache.forget(&[&*method]);
            }
            Err(error)
        }
    }
}
