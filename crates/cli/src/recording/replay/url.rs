//! The server at a URL against which the client is played.

use std::time::Duration;

use agentwire_recording::{PacketWire, Recording, TransportKind, Wire};
use agentwire_transport_http::client::{Config, Hyper};
use agentwire_transport_sse::client as sse;
use anyhow::Result;
use http::{HeaderName, HeaderValue};

use crate::failure::Usage;
use crate::headers::{Header, Secret};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects over the transport that the recording names.
pub(super) fn connect(url: &str, headers: &[Secret], recording: &Recording) -> Result<Box<dyn Wire>> {
    let client = Hyper::new(CONNECT_TIMEOUT).map_err(anyhow::Error::from_boxed)?;
    let wrong = |why: String| Usage(format!("--url: {why}"));
    let headers = headers.iter().map(header).collect::<Result<Vec<_>>>()?;
    if recording.transport() == Some(TransportKind::Sse) {
        let config = sse::Config::new(url).map_err(|why| wrong(why.to_string()))?;
        let config = headers
            .into_iter()
            .fold(config, |config, (name, value)| config.with_http(|http| http.header(name, value)));
        return Ok(Box::new(PacketWire::new(config.open_with(client))));
    }
    let config = Config::new(url).map_err(|why| wrong(why.to_string()))?;
    let config = headers.into_iter().fold(config, |config, (name, value)| config.header(name, value));
    Ok(Box::new(PacketWire::new(config.open_with(client))))
}

fn header(secret: &Secret) -> Result<(HeaderName, HeaderValue)> {
    let Header { name, value } = Header::read(secret)?;
    let wrong = || Usage(format!("--header: `{name}` is no header that HTTP can carry"));
    Ok((name.parse().map_err(|_| wrong())?, value.parse().map_err(|_| wrong())?))
}
