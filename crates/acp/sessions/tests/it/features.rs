//! The dependencies of the crate follow from its features.

use agentwire_acp_sessions::schema::StopReason;
use agentwire_acp_sessions::{Turn, agent};
use agentwire_test_support::cargo;
use serde_json::json;

use crate::peer::play;

/// The names of all crates that this one links, with these features alone.
fn tree(features: &str) -> Vec<String> {
    let output = cargo()
        .args([
            "tree",
            "--quiet",
            "--package",
            env!("CARGO_PKG_NAME"),
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .args(["--no-default-features", "--features", features])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// Crates of HTTP and of TLS.
fn web(features: &str) -> Vec<String> {
    let families = [
        "agentwire-transport-http",
        "agentwire-transport-sse",
        "http",
        "h2",
        "hyper",
        "reqwest",
        "rustls",
        "tower-http",
    ];
    let is_web = |name: &String| {
        families.iter().any(|family| {
            name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })
    };
    let mut found: Vec<_> = tree(features).into_iter().filter(is_web).collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn an_agent_without_mcp_over_http_has_no_http_client_among_its_dependencies() {
    for features in ["", "file"] {
        assert_eq!(web(features), [""; 0], "with the features `{features}`");
    }
    let has = |features, name| web(features).iter().any(|found| found == name);
    assert!(
        has("http", "hyper-rustls") && !has("http", "reqwest") && !has("http", "agentwire-transport-sse")
    );
    assert!(has("sse", "hyper-rustls") && has("sse", "agentwire-transport-sse"));
}

/// The agent advertises what it supports, and names what it refuses.
#[tokio::test(start_paused = true)]
async fn a_server_of_a_type_that_is_not_supported_is_refused_by_name() {
    let agent = agent(async |_: Turn| Ok(StopReason::EndTurn));
    play(agent, async |peer| {
        let hello = peer.initialize(json!({})).await;
        let supported = &hello["agentCapabilities"]["mcpCapabilities"];
        for (kind, is_supported) in [("http", cfg!(feature = "http")), ("sse", cfg!(feature = "sse"))] {
            assert_eq!(supported[kind], is_supported, "{kind}");
            let server =
                json!({ "type": kind, "name": "far", "url": "http://127.0.0.1:1/mcp", "headers": [] });
            let new = peer.request("session/new", json!({ "cwd": "/repo", "mcpServers": [server] })).await;
            let response = peer.response(new).await;
            assert_eq!(response.get("result").is_some(), is_supported, "{response}");
            if !is_supported {
                let why = response["error"]["message"].as_str().unwrap();
                assert_eq!(response["error"]["code"], -32602, "{why}");
                assert!(why.contains(&format!("mcpCapabilities.{kind}")), "{why}");
            }
        }
    })
    .await;
}
