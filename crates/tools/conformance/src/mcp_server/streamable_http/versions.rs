//! Checks of the header that names the protocol version.

use serde_json::json;

use super::{Session, initialized};
use crate::check::{Check, HTTP, check};
use crate::mcp_server::Server;
use crate::requirements::revision::Revision;
use crate::verdict::{Outcome, Stop, ensure};

const HEADER: &str = "mcp-protocol-version";

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] =
    &[check!(unsupported_versions_get_400, HTTP), check!(the_version_header_may_be_missing, HTTP)];

async fn unsupported_versions_get_400(server: Server) -> Outcome {
    for version in ["1999-01-01", "x", "2025-06-18, 1999-01-01"] {
        // A server may end the session by its refusal.
        let session = Session::open(&server).await?;
        let request = session.post(&session.simple("unsupported")).header(HEADER, version);
        let status = request.send().await.map_err(Stop::while_preparing)?.status();
        ensure!(status == 400, format!("status 400 for the version `{version}`"), "status {status}");
        session.end().await?;
    }
    Ok(())
}

/// A client of 2025-03-26 sends no such header. The server knows this version from the session, or has to assume it.
async fn the_version_header_may_be_missing(server: Server) -> Outcome {
    let mut session = Session::unopened(&server).await?;
    session.revision = Revision::Mcp20250326;
    let result = session.initialize(&server, session.revision).await.map_err(Stop::while_preparing)?;
    if result["protocolVersion"] != session.revision.as_str() {
        return Err(Stop::not_applicable(format!("the server does not speak {}", session.revision)));
    }
    session.post(&initialized()).send().await.map_err(Stop::while_preparing)?;
    let request = session.post(&session.simple("versionless"));
    let mut response = request.send().await.map_err(Stop::while_preparing)?;
    let (status, expected) =
        (response.status(), "a request of 2025-03-26 without a version header is served");
    ensure!(status == 200, expected, "status {status}");
    let message = response.response(&json!("versionless")).await.map_err(Stop::while_preparing)?;
    ensure!(message.get("result").is_some(), expected, "`{message}`");
    session.end().await
}
