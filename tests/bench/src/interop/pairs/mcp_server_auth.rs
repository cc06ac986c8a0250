//! Our MCP server, which takes the tokens of an authorization server of another project.

use anyhow::{Result, ensure};

use super::login::Login;
use crate::interop::pair::{Pair, pair};
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;

pub(super) fn pairs() -> Vec<Pair> {
    vec![
        pair("our MCP server over HTTP, npm authorization server: npm client", 60, npm_client),
        pair("our MCP server over HTTP, npm authorization server: PyPI client", 60, pypi_client),
        pair("our MCP server over HTTP, npm authorization server: our login", 60, our_login),
    ]
}

/// How many seconds an access token lasts: longer than a pair.
const LIFETIME: u64 = 600;

/// Our server, and its URL.
fn start<'a>(scratch: &'a Scratch<'a>, issuer: &str) -> Result<(Service<'a>, String)> {
    let arguments = ["server", "--http", "127.0.0.1:0", "--issuer", issuer, "--scope", "mcp:tools"];
    let server = Service::start(scratch, scratch.peers().agentwire(&arguments))?;
    let url = server.url("/mcp")?;
    Ok((server, url))
}

/// The login of the npm SDK.
fn npm_client(scratch: &Scratch<'_>) -> Result<()> {
    client(scratch, |url| scratch.peers().npm("mcp_client_auth.mjs", &[url]))
}

/// The login of the PyPI SDK, and the same person.
fn pypi_client(scratch: &Scratch<'_>) -> Result<()> {
    let person = scratch.peers().npm("person.mjs", &[]);
    client(scratch, |url| {
        let mut command = scratch.peers().pypi("mcp_client_auth.py", &[url]);
        command.extend_from_slice(&person);
        command
    })
}

fn client(scratch: &Scratch<'_>, command: impl Fn(&str) -> Vec<String>) -> Result<()> {
    let authorization = Login::npm(scratch, "jwt", LIFETIME)?;
    let (server, url) = start(scratch, &authorization.issuer()?)?;
    let outcome = scratch.run(&command(&url))?;
    outcome.expect_code(0)?;
    for step in ["ok login", "ok connect (2026-07-28)", "ok prompt"] {
        outcome.expect(step)?;
    }
    expect_refusals(server, &["the request has no token"])
}

/// Our own login. A token for another MCP server must be refused.
fn our_login(scratch: &Scratch<'_>) -> Result<()> {
    let mut login = Login::npm(scratch, "jwt", LIFETIME)?;
    let (server, url) = start(scratch, &login.issuer()?)?;
    login.log_in(&[])?;
    let token = login.access_token()?;
    let refused = scratch.run(&login.agentwire(&["tools", "--json", "--token", &token, &url]))?;
    refused.expect_code(3)?;
    refused.expect("the access token is not for this server")?;
    let reason = format!("the token is for `{}`, and not for this server", login.url);
    login.url = url;
    login.log_in(&[])?;
    expect_refusals(server, &[&reason, "the request has no token"])
}

/// Stops our server, which must have refused requests for these reasons and no other.
fn expect_refusals(server: Service<'_>, reasons: &[&str]) -> Result<()> {
    let lines = server.stop_and_read()?;
    let mut refused: Vec<_> = lines.iter().filter(|line| line.starts_with("refused ")).collect();
    refused.dedup();
    let is_expected = refused.len() == reasons.len()
        && refused.iter().zip(reasons).all(|(line, reason)| line.contains(reason));
    ensure!(is_expected, "our server refused {refused:#?} instead of {reasons:?}");
    Ok(())
}
