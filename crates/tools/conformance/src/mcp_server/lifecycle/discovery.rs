//! Checks of servers: server/discover.

use serde_json::{Value, json};

use crate::check::{ANY, Check, check};
use crate::mcp_server::Server;
use crate::mcp_server::features::{METHOD_NOT_FOUND, has_code};
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

/// The error for a protocol version that the server does not support.
const UNSUPPORTED_VERSION: i64 = -32022;

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!(discover_is_the_first_request, ANY),
    check!(discover_has_its_members, ANY),
    check!(listed_versions_are_accepted, ANY),
    check!(capabilities_match_methods, ANY),
];

async fn discover_is_the_first_request(server: Server) -> Outcome {
    let mut conversation = server.connect().await?;
    conversation.set_meta(server.meta(json!({})));
    conversation.ok("server/discover", json!({})).await.map(drop)
}

async fn discover_has_its_members(server: Server) -> Outcome {
    let result = server.fresh_offer().await?;
    let versions = result["supportedVersions"].as_array();
    ensure!(
        versions.is_some_and(|all| all.iter().all(Value::is_string)),
        "a list of strings as the `supportedVersions` of the result of server/discover",
        "`{result}`"
    );
    ensure!(
        result["capabilities"].is_object(),
        "an object as the `capabilities` of the result",
        "`{result}`"
    );
    Ok(())
}

async fn listed_versions_are_accepted(server: Server) -> Outcome {
    let offer = server.offer().await?;
    let Some(versions) = offer["supportedVersions"].as_array() else {
        return Err(Stop::inconclusive("the result of server/discover has no list of versions"));
    };
    let current = server.revision().as_str();
    ensure!(
        versions.iter().any(|version| version == current),
        format!("{current}, which the server accepts, among the supportedVersions"),
        "`{}`",
        offer["supportedVersions"]
    );
    for version in versions.iter().filter_map(Value::as_str) {
        let old = Revision::MCP.iter().find(|known| known.as_str() == version && known.is_legacy());
        let response = match old {
            Some(revision) => {
                let mut server = server.clone();
                server.setting.revision = *revision;
                let params = server.initialize(json!({}));
                server.connect().await?.request("initialize", params).await.map_err(Stop::while_preparing)?
            }
            None => {
                let mut meta = server.meta(json!({}));
                meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
                let mut conversation = server.connect().await?;
                conversation.set_version(version);
                let response = conversation.request("server/discover", json!({"_meta": meta})).await;
                response.map_err(Stop::while_preparing)?
            }
        };
        // The suite does not know what else a version of the future demands of a request.
        let is_accepted = match old {
            Some(_) => response["result"]["protocolVersion"] == version,
            None => !has_code(&response, UNSUPPORTED_VERSION),
        };
        ensure!(
            is_accepted,
            format!("a server that accepts the version {version} of its supportedVersions"),
            "`{response}`"
        );
    }
    Ok(())
}

async fn capabilities_match_methods(server: Server) -> Outcome {
    let capabilities = server.offer().await?["capabilities"].take();
    let mut conversation = server.open().await?;
    let complete = json!({
        "ref": {"type": "ref/prompt", "name": "conformance-no-such-prompt"},
        "argument": {"name": "argument", "value": ""},
    });
    let methods = [
        ("tools", "tools/list", "/result/tools/0", json!({})),
        ("resources", "resources/list", "/result/resources/0", json!({})),
        ("prompts", "prompts/list", "/result/prompts/0", json!({})),
        ("completions", "completion/complete", "/result/completion/values/0", complete),
    ];
    for (capability, method, something, params) in methods {
        let response = conversation.request(method, params).await.map_err(Stop::while_preparing)?;
        if capabilities.get(capability).is_some_and(|offered| !offered.is_null()) {
            ensure!(
                !has_code(&response, METHOD_NOT_FOUND),
                format!("an answer to {method} of a server with the capability `{capability}`"),
                "`{response}`"
            );
        } else if capability != "completions" {
            // `CMP-01` is about completions that are not declared.
            ensure!(
                response.pointer(something).is_none(),
                format!("the capability `{capability}` of a server that answers {method}"),
                "the capabilities `{capabilities}`"
            );
        }
    }
    Ok(())
}
