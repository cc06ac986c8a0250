//! Our MCP server with the clients of others, which do the checking.

use anyhow::Result;

use super::Pair;
use super::scratch::Scratch;

pub(super) const PAIRS: &[Pair] = &[
    Pair {
        name: "our MCP server, PyPI client: newest revision",
        limit: 60,
        check: |scratch| pypi(scratch, "auto"),
    },
    Pair {
        name: "our MCP server, PyPI client: handshake",
        limit: 60,
        check: |scratch| pypi(scratch, "legacy"),
    },
    Pair {
        name: "our MCP server, npm client: newest revision",
        limit: 60,
        check: |scratch| npm(scratch, "auto"),
    },
    Pair {
        name: "our MCP server, npm client: handshake",
        limit: 60,
        check: |scratch| npm(scratch, "legacy"),
    },
];

fn pypi(scratch: &Scratch<'_>, mode: &str) -> Result<()> {
    let arguments = arguments(scratch, mode);
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    scratch.run(&scratch.peers().pypi("mcp_client.py", &words))?.expect_code(0)
}

fn npm(scratch: &Scratch<'_>, mode: &str) -> Result<()> {
    let arguments = arguments(scratch, mode);
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    scratch.run(&scratch.peers().npm("mcp_client.mjs", &words))?.expect_code(0)
}

/// How the client shall agree on a revision, and our server.
fn arguments(scratch: &Scratch<'_>, mode: &str) -> Vec<String> {
    let mut arguments = vec![mode.to_owned()];
    arguments.extend(scratch.peers().agentwire(&["server", "--stdio"]));
    arguments
}
