//! The checks of MCP servers, in the order of the requirements.

use super::raw;
use super::{
    Server, features, http_sse, jsonrpc, lifecycle, modern_http, stdio, streamable_http, tasks, utilities,
};
use serde_json::{Value, json};

use crate::check::{Check, Running};
use crate::subject::Transport;
use crate::verdict::{Absence, Stop};

/// All checks.
pub(crate) const CHECKS: &[&[Check<Server>]] = &[
    jsonrpc::messages::CHECKS,
    jsonrpc::malformed::CHECKS,
    jsonrpc::batches::CHECKS,
    jsonrpc::meta::CHECKS,
    jsonrpc::modern::CHECKS,
    lifecycle::CHECKS,
    lifecycle::versions::CHECKS,
    stdio::CHECKS,
    http_sse::CHECKS,
    streamable_http::posts::CHECKS,
    streamable_http::streams::CHECKS,
    streamable_http::resumption::CHECKS,
    streamable_http::sessions::CHECKS,
    streamable_http::versions::CHECKS,
    streamable_http::origins::CHECKS,
    streamable_http::http1::CHECKS,
    modern_http::versions::CHECKS,
    modern_http::headers::CHECKS,
    modern_http::parameters::CHECKS,
    modern_http::methods::CHECKS,
    modern_http::streams::CHECKS,
    modern_http::state::CHECKS,
    utilities::cancellation::CHECKS,
    utilities::progress::CHECKS,
    utilities::ping::CHECKS,
    features::pagination::CHECKS,
    features::logging::CHECKS,
    features::completion::CHECKS,
    lifecycle::discovery::CHECKS,
    features::subscriptions::CHECKS,
    features::input_required::CHECKS,
    features::caching::CHECKS,
    tasks::start::CHECKS,
    tasks::course::CHECKS,
    tasks::requests::CHECKS,
];

/// Ends with nothing if the server speaks the revision.
pub(crate) fn speaks(server: Server) -> Running {
    Box::pin(async move {
        let revision = server.revision();
        let silent =
            |why: String| Stop::not_applicable(format!("the server does not speak {revision}: {why}"));
        let offer = match server.offer().await {
            Ok(offer) => offer,
            Err(Stop::NotApplicable(Absence { why, .. })) => return Err(silent(why)),
            // A server may know no revision without sessions, and over HTTP a status refuses one. Nothing permits silence.
            Err(stop) if revision.is_legacy() && server.setting.transport == Transport::Stdio => {
                return Err(stop.while_preparing());
            }
            Err(Stop::Failed(failure) | Stop::Ended(failure)) => {
                return Err(silent(format!("{}: {}", failure.expected, failure.seen)));
            }
            Err(Stop::Inconclusive(why)) => return Err(silent(why)),
        };
        let spoken = if revision.is_legacy() {
            offer["protocolVersion"].as_str().is_none_or(|version| version == revision.as_str())
        } else {
            let versions = offer["supportedVersions"].as_array();
            versions.is_some_and(|versions| versions.contains(&json!(revision.as_str())))
        };
        if spoken { Ok(()) } else { Err(silent(format!("it offers {}", offered(&offer)))) }
    })
}

/// The revisions in the result of a handshake.
fn offered(offer: &Value) -> String {
    offer.get("supportedVersions").unwrap_or(&offer["protocolVersion"]).to_string()
}

/// A plain conversation, for audits and their mutants.
pub(crate) fn plain_conversation(server: Server) -> Running {
    Box::pin(async move {
        let mut conversation = server.open().await?;
        if server.revision().is_legacy() {
            conversation.ok("ping", json!({})).await?;
        } else {
            conversation.ok("server/discover", json!({})).await?;
        }
        // Line ends in a text, for what reads lines.
        let id = json!("two\r\nlines \u{2028}");
        conversation.start_as(id.clone(), raw::quick(&server), json!({})).await?;
        conversation.response(&id).await?;
        let offer = server.offer().await?;
        if offer.pointer("/capabilities/tools").is_some() {
            conversation.ok("tools/list", json!({})).await?;
            if let Ok(tool) = server.any_tool(&mut conversation).await {
                conversation.request("tools/call", tool).await?;
            }
        }
        for (capability, method) in [("resources", "resources/list"), ("prompts", "prompts/list")] {
            if offer["capabilities"].get(capability).is_some() {
                conversation.ok(method, json!({})).await?;
            }
        }
        conversation.request("conformance/unknown", json!({})).await?;
        Ok(())
    })
}
