//! Checks of the header that names the protocol version.

use serde_json::json;

use super::Session;
use crate::check::{Check, HTTP, check};
use crate::faults;
use crate::mcp_server::Server;
use crate::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

const HEADER: &str = "mcp-protocol-version";

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    check!("HTP-50", unsupported_versions_get_400, HTTP, [
        "takes any version" => faults::answer_status(|request| request.contains("mcp-protocol-version: 1999-01-01"), 200),
        "answers a malformed version with status 404" => faults::answer_status(|request| request.contains("mcp-protocol-version: x\n"), 404),
    ]),
    check!("HTP-51", the_version_header_may_be_missing, HTTP, [
        "insists on the version header" => faults::answer_status(|request| request.contains("\"versionless\""), 400),
    ]),
    check!("HTP-52", another_supported_version_is_consistent, HTTP, [
        "fails at another version" => faults::answer_status(|request| request.contains("\"other-"), 500),
        "takes another version only sometimes" => faults::answer_status(|request| request.contains("\"other-1\""), 403),
    ]),
];

async fn unsupported_versions_get_400(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    for version in ["1999-01-01", "x", "2025-06-18, 1999-01-01"] {
        let request = session.post(&session.simple("unsupported")).header(HEADER, version);
        let status = request.send().await?.status();
        ensure!(status == 400, format!("status 400 for the version `{version}`"), "status {status}");
    }
    session.works("supported").await?;
    session.end().await
}

async fn the_version_header_may_be_missing(server: Server) -> Outcome {
    let session = Session::open(&server).await?;
    let mut response = session.post(&session.simple("versionless")).without(HEADER).send().await?;
    let status = response.status();
    ensure!(status == 200, "a request without a version header is served", "status {status}");
    let message = response.response(&json!("versionless")).await?;
    ensure!(message.get("result").is_some(), "a result without a version header", "`{message}`");
    session.end().await
}

/// A version other than the negotiated one that the server speaks in a session.
async fn other_version(server: &Server) -> Outcome<Revision> {
    let others = [Revision::Mcp20250618, Revision::Mcp20251125, Revision::Mcp20250326];
    for revision in others.into_iter().filter(|other| *other != server.revision()) {
        let mut session = Session::unopened(server).await?;
        let result = session.initialize(server, revision).await.map_err(Stop::while_preparing)?;
        session.end().await?;
        if result["protocolVersion"] == revision.as_str() {
            return Ok(revision);
        }
    }
    Err(Stop::not_applicable("the server speaks one version with sessions"))
}

async fn another_supported_version_is_consistent(server: Server) -> Outcome {
    let other = other_version(&server).await?;
    let session = Session::open(&server).await?;
    let mut statuses = Vec::new();
    for id in ["other-1", "other-2"] {
        let request = session.post(&session.simple(id)).header(HEADER, other.as_str());
        let mut response = request.send().await?;
        let status = response.status();
        let expected = format!("status 200 or 4xx for the version {other} in a session of another");
        ensure!(status == 200 || (400..500).contains(&status), expected, "status {status}");
        if status == 200 {
            let message = response.response(&json!(id)).await?;
            ensure!(message.get("result").is_some(), "a result with status 200", "`{message}`");
        }
        statuses.push(status);
    }
    ensure!(statuses[0] == statuses[1], "the same status twice", "{} and {}", statuses[0], statuses[1]);
    session.works("negotiated").await?;
    session.end().await
}
