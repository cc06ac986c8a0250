//! Configures the check of tokens before `agentwire server`, from its options.

use std::net::SocketAddr;
use std::time::Duration;

use agentwire_mcp_auth::AddressPolicy;
use agentwire_mcp_auth::server::{Issuer, ResourceServer};
use agentwire_transport_http::client::Hyper;
use agentwire_transport_http::server::Caller;
use anyhow::Result;
use http::Uri;

use super::arguments::Server;
use crate::failure::Usage;
use crate::output::text::Notes;

/// The timeout of opening a connection to an authorization server: 10 s.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The check of tokens, if an issuer is named. An audience that is not a URL of this server is its name at the issuers.
pub(super) fn of(arguments: &Server, local: SocketAddr, notes: &Notes) -> Result<Option<ResourceServer>> {
    if arguments.issuers.is_empty() {
        return Ok(None);
    }
    let wrong = |what: &str, why: &dyn std::fmt::Display| Usage(format!("{what}: {why}"));
    let is_url = |text: &str| text.starts_with("http://") || text.starts_with("https://");
    let (resource, name) = match arguments.audience.as_deref() {
        Some(audience) if is_url(audience) => (audience.to_owned(), None),
        // Clients compare the audience with the URL that they use.
        _ if local.ip().is_unspecified() => {
            let why = "a server at every address of this machine needs the URL that its clients use";
            return Err(wrong("--audience", &why).into());
        }
        Some(name) if !is_text(name) => return Err(wrong("--audience", &"it is empty or has spaces").into()),
        name => (format!("http://{local}"), name),
    };
    if let Some(scope) = arguments.scopes.iter().find(|scope| !is_scope(scope)) {
        let why = format!(
            "`{scope}` is empty or has characters that no scope has; each needs an option of its own"
        );
        return Err(wrong("--scope", &why).into());
    }
    let server = ResourceServer::new(resource).map_err(|why| wrong("--audience", &why))?;
    let notes = notes.clone();
    let server = server
        .scopes(arguments.scopes.iter().cloned())
        .on_rejection(move |why, caller| notes.add(&format!("refused {}: {why}", caller_name(caller))));
    let http = Hyper::new(CONNECT_TIMEOUT)?;
    let issuers = arguments.issuers.iter().map(|url| {
        let why = "it is not the URL of an authorization server: `https` or `http`, a host, and no user, query or fragment";
        let host = issuer_host(url).ok_or_else(|| wrong("--issuer", &why))?;
        // The operator has named the issuer, so any address of it is trusted.
        let issuer = Issuer::jwks(url.clone(), http.clone()).addresses(AddressPolicy::new().trust(host));
        anyhow::Ok(match name {
            Some(name) => issuer.audience(name),
            None => issuer,
        })
    });
    let issuers = issuers.collect::<Result<Vec<_>>>()?;
    Ok(Some(issuers.into_iter().fold(server, ResourceServer::issuer)))
}

fn caller_name(caller: &Caller) -> String {
    caller.name().map_or_else(|| "a request".to_owned(), |name| name.into_owned())
}

/// The host of an issuer, without the port. `None` for a URL with a password, because the public metadata has the URL.
fn issuer_host(url: &str) -> Option<String> {
    let parsed: Uri = url.parse().ok()?;
    let is_http = matches!(parsed.scheme_str(), Some("http" | "https"));
    let host = parsed.host().filter(|host| !host.is_empty())?;
    (is_http && is_text(url) && !url.contains(['@', '?', '#'])).then(|| host.to_owned())
}

/// Whether a text can be the value of a compared claim.
fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// Whether a text has only the characters of RFC 6749, section 3.3.
fn is_scope(text: &str) -> bool {
    is_text(text) && text.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
}
