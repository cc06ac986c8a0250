//! `agentwire record`: passes on the bytes between a client and a program or a server, and records the messages.

mod pipe;
mod program;

use std::ffi::OsStr;

use agentwire_recording::Recorder;
use agentwire_recording::http::Proxy;
use agentwire_transport_http::client::{HttpClient as _, Hyper};
use anyhow::{Context as _, Result};
use futures_util::FutureExt as _;
use http::Uri;
use tokio::net::TcpListener;

use super::arguments::Record;
use crate::failure::Usage;
use crate::output::text::Notes;
use crate::signals::Signals;

/// The timeout of opening a connection to the server.
const CONNECT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(10);

/// Passes on and records messages until the program ends, or until a signal ends the proxy.
pub(super) async fn run(arguments: Record, notes: &Notes, recorder: Option<Recorder>) -> Result<()> {
    let recorder = recorder.context("there is no recorder")?;
    match (&arguments.http, arguments.target.as_slice()) {
        (Some(address), [url]) => proxy(address, url, notes, recorder).await,
        (Some(_), _) => Err(Usage("--http: write one URL behind --".into()).into()),
        (None, target) => program::run(target, recorder).await,
    }
}

/// Serves as a reverse proxy.
async fn proxy(address: &str, url: &OsStr, notes: &Notes, recorder: Recorder) -> Result<()> {
    let wrong = || Usage("--http: write a URL behind --, as in http://host:port/mcp".into());
    let url: Uri = url.to_str().and_then(|url| url.parse().ok()).ok_or_else(wrong)?;
    if !matches!(url.scheme_str(), Some("http" | "https")) || url.host().is_none_or(str::is_empty) {
        return Err(wrong().into());
    }
    let mut signals = Signals::listen()?;
    let listener = TcpListener::bind(address).await.with_context(|| address.to_owned())?;
    let local = listener.local_addr()?;
    let client = Hyper::new(CONNECT_TIMEOUT)?;
    notes.add(&format!("listening on http://{local}{}", url.path()));
    let proxy = Proxy::new(url, Box::new(move |request| client.send(request).boxed()), recorder);
    tokio::select! {
        failed = proxy.serve(listener) => failed.map(|never| match never {}).context("the proxy"),
        interrupted = signals.interrupted() => Err(interrupted.into()),
    }
}
