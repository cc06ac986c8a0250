//! The version that a request names, and servers that serve sessions as well.

use serde_json::{Value, json};

use super::{
    DISCOVER, HEADER_MISMATCH, ID, UNSUPPORTED_VERSION, VERSION, ask, initialized, posted, request,
    serves_clients_without_header, serves_sessions, tell,
};
use crate::check::{ANY, Check, HTTP, check};
use crate::mcp_server::Server;
use crate::mcp_server::features::INVALID_PARAMS;
use crate::requirements::revision::Revision;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(version_header_equals_the_body, HTTP),
    check!(version_header_is_required, HTTP),
    check!(unknown_version_is_refused, ANY),
    check!(meta_of_requests_is_required, ANY),
    check!(sessions_and_requests_without, HTTP),
    check!(error_to_initialize_names_versions, ANY),
    check!(discover_is_answered, ANY),
];

async fn version_header_equals_the_body(server: Server) -> Outcome {
    let (new, old) = (server.revision().as_str(), Revision::Mcp20251125.as_str());
    let offer = server.offer().await?;
    let knows_old = offer["supportedVersions"].as_array().is_some_and(|all| all.contains(&json!(old)));
    for (header, body) in [(new, old), (old, new)] {
        let mut message = request(&server, DISCOVER, json!({}));
        message["params"]["_meta"][VERSION] = json!(body);
        let answer = ask(posted(&server, &message).await?.header("mcp-protocol-version", header)).await?;
        let to = format!("the version {header} in the header and {body} in the body");
        let refused = answer.expect_error(400, HEADER_MISMATCH, &to);
        // The other version may be one that the server does not speak, which has an error of its own.
        if refused.is_ok() || !knows_old && answer.is_error(400, UNSUPPORTED_VERSION) {
            continue;
        }
        // The header of an older revision may lead to a session, of which this request has none.
        let is_old = header == old && answer.status == Some(400) && answer.body["error"].is_object();
        if !(is_old && serves_sessions(&server).await?) {
            refused?;
        }
    }
    Ok(())
}

async fn version_header_is_required(server: Server) -> Outcome {
    let message = request(&server, DISCOVER, json!({}));
    let answer = ask(posted(&server, &message).await?.without("mcp-protocol-version")).await?;
    let refused = answer.expect_error(400, HEADER_MISMATCH, "a request without the version header");
    if refused.is_err() && serves_clients_without_header(&server).await? {
        return Err(Stop::not_applicable("the server also serves revisions without the version header"));
    }
    refused
}

async fn unknown_version_is_refused(server: Server) -> Outcome {
    for version in ["1900-01-01", "2099-12-31"] {
        let mut message = request(&server, DISCOVER, json!({}));
        message["params"]["_meta"][VERSION] = json!(version);
        let answer = tell(&server, &message).await?;
        answer.expect_error(400, UNSUPPORTED_VERSION, &format!("a request for the version {version}"))?;
        let supported = answer.body.pointer("/error/data/supported").and_then(Value::as_array);
        let is_list = supported.is_some_and(|all| {
            !all.is_empty() && all.iter().all(|known| known.is_string() && *known != version)
        });
        ensure!(
            is_list,
            "the versions that the server speaks as `supported` of the error's data",
            "`{}`",
            answer.body
        );
    }
    Ok(())
}

async fn meta_of_requests_is_required(server: Server) -> Outcome {
    let without = |name: &str| {
        let mut message = request(&server, DISCOVER, json!({}));
        message["params"]["_meta"].as_object_mut().map(|meta| meta.remove(name));
        message
    };
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let mut messages = vec![("the client's capabilities", without(capabilities))];
    // On stdio, a request without a version may well be one of an older revision.
    if server.setting.transport == Transport::Http {
        messages.push(("the protocol version", without(VERSION)));
        let bare = json!({"jsonrpc": "2.0", "id": ID, "method": DISCOVER, "params": {}});
        messages.push(("_meta", bare));
    }
    for (what, message) in messages {
        let answer = tell(&server, &message).await?;
        let refused = answer.expect_error(400, INVALID_PARAMS, &format!("a request without {what}"));
        // Without a version in its body, a request differs from its header, or is one of an older revision.
        let is_versioned = message["params"]["_meta"].get(VERSION).is_some();
        if refused.is_ok() || !is_versioned && answer.is_error(400, HEADER_MISMATCH) {
            continue;
        }
        let is_refused = answer.status.is_some_and(|status| status >= 400);
        if is_versioned || !is_refused || !serves_sessions(&server).await? {
            refused?;
        }
    }
    Ok(())
}

async fn sessions_and_requests_without(server: Server) -> Outcome {
    if !serves_sessions(&server).await? {
        return Err(Stop::not_applicable("the server has no sessions"));
    }
    let mut old = server.clone();
    old.setting.revision = Revision::Mcp20251125;
    let (mut session, mut alone) = (old.open().await?, server.open().await?);
    for _ in 0..2 {
        alone.ok(DISCOVER, json!({})).await?;
        session.ok("ping", json!({})).await?;
    }
    Ok(())
}

async fn error_to_initialize_names_versions(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let response = initialized(&server).await?;
    if response["result"].is_object() {
        return Err(Stop::not_applicable("the server also serves sessions"));
    }
    let versions = offer["supportedVersions"].as_array().map_or(&[][..], Vec::as_slice);
    let text = response.to_string();
    let is_named = versions.iter().filter_map(Value::as_str).any(|version| text.contains(version));
    ensure!(is_named, format!("the versions {versions:?} in the error to initialize"), "`{response}`");
    Ok(())
}

async fn discover_is_answered(server: Server) -> Outcome {
    let answer = tell(&server, &request(&server, DISCOVER, json!({}))).await?;
    answer.expect_result(DISCOVER)?;
    Ok(())
}
