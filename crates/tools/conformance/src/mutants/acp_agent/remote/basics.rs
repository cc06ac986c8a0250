//! Mutants of the checks in `acp_agent/remote/mod.rs`.

/// Whether a request posts a call of a method, as faults see it.
pub(crate) fn posts(request: &str, method: &str) -> bool {
    request.starts_with("POST ") && request.contains(&format!("\"method\":\"{method}\""))
}

/// Whether a request opens a session's stream.
pub(crate) fn opens_session_stream(request: &str) -> bool {
    request.starts_with("GET ") && request.contains("\nacp-session-id: ")
}

/// Whether a request opens the stream of a connection that exists.
pub(crate) fn opens_connection_stream(request: &str) -> bool {
    request.starts_with("GET ")
        && request.contains("\nacp-connection-id: ")
        && !request.contains("\nacp-session-id: ")
}
