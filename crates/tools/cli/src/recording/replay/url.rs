//! Connects to the server at a URL against which the client is played.

use std::time::Duration;

use agentwire_recording::{PacketWire, Recording, TransportKind, Wire};
use agentwire_transport_http::client::{Config, Hyper, InvalidHeader};
use agentwire_transport_sse::client as sse;
use anyhow::Result;

use crate::arguments::headers::{Header, Secret};
use crate::failure::Usage;

/// The timeout of opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Connects over the transport that the recording names.
pub(super) fn connect(url: &str, headers: &[Secret], recording: &Recording) -> Result<Box<dyn Wire>> {
    let client = Hyper::new(CONNECT_TIMEOUT)?;
    let wrong = |why: String| Usage(format!("--url: {why}"));
    let headers = headers.iter().map(Header::read).collect::<Result<Vec<_>>>()?;
    let refused = |why: InvalidHeader| Usage(format!("--header: {why}"));
    if recording.transport() == Some(TransportKind::Sse) {
        let config = sse::Config::new(url).map_err(|why| wrong(why.to_string()))?;
        let mut headers = headers.into_iter();
        let config = headers.try_fold(config, |config, Header { name, value }| config.header(name, value));
        let config = config.map_err(refused)?;
        return Ok(Box::new(PacketWire::new(config.open_with(client))));
    }
    let config = Config::new(url).map_err(|why| wrong(why.to_string()))?;
    let mut headers = headers.into_iter();
    let config = headers.try_fold(config, |config, Header { name, value }| config.header(name, value));
    let config = config.map_err(refused)?;
    Ok(Box::new(PacketWire::new(config.open_with(client))))
}
