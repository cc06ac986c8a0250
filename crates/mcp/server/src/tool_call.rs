//! Starts a call of a tool. If its `requestState` is valid only once, the store marks it as used first.

use std::sync::Arc;

use agentwire_jsonrpc::RawJson;

use crate::define::layers::Next;
use crate::input::InputRound;
use crate::request::request_future::HandlerFuture;
use crate::{Context, ServerTool};

/// Starts a call within the layers, of which `outer` is the server's first one.
///
/// # Errors
///
/// The fault of the arguments. Where there are layers or a state that is used once, the call itself finds that out.
pub(crate) fn start(
    tool: &Arc<ServerTool>,
    outer: Option<&Next>,
    arguments: &RawJson,
    context: Context,
) -> Result<HandlerFuture, String> {
    let is_used_once = context.round().is_some_and(|round| round.single_use().is_some());
    if !is_used_once || may_be_repeated(tool) {
        return tool.run(outer, arguments, context);
    }
    // A copy, so that the message need not wait in memory for the store.
    let arguments = RawJson::parse(arguments.as_str().into()).map_err(|error| error.to_string())?;
    let (tool, outer) = (tool.clone(), outer.cloned());
    Ok(Box::pin(async move {
        if let Some(single_use) = context.round().and_then(InputRound::single_use) {
            single_use.take().await?;
        }
        match tool.run(outer.as_ref(), &arguments, context.clone()) {
            Ok(running) => running.await,
            Err(why) => tool.wrong_arguments(&why, &context),
        }
    }))
}

/// Whether a call may be made twice, by the hints of the tool's author.
fn may_be_repeated(tool: &ServerTool) -> bool {
    let hints = tool.definition().annotations.as_ref();
    hints.is_some_and(|hints| hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true))
}
