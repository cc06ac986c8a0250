//! Values of the command line: how each is checked, and what it becomes.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use agentwire_jsonrpc::RawJson;

use crate::command_line;

/// `NAME=TARGET`.
#[derive(Clone, Debug)]
pub(crate) struct NamedTarget {
    pub(crate) name: String,
    pub(crate) target: String,
}

impl FromStr for NamedTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, text)) if !name.is_empty() => Ok(Self { name: name.into(), target: target(text)? }),
            _ => Err("write NAME=TARGET, as in files='my-server /some/folder'".into()),
        }
    }
}

/// `ID=VALUE`.
#[derive(Clone, Debug)]
pub(crate) struct NamedValue {
    pub(crate) id: String,
    pub(crate) value: String,
}

impl FromStr for NamedValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((id, value)) if !id.is_empty() => Ok(Self { id: id.into(), value: value.into() }),
            _ => Err("write ID=VALUE, as in model=large".into()),
        }
    }
}

/// An answer to a field of a form: `NAME=VALUE`.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl FromStr for Answer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok(Self { name: name.into(), value: value.into() }),
            _ => Err("write NAME=VALUE, as in sure=true".into()),
        }
    }
}

/// Checks a command line. It is kept as text.
pub(crate) fn command(text: &str) -> Result<String, String> {
    command_line::parse(text).map(|_| text.to_owned()).map_err(|why| why.to_string())
}

/// Checks a URL or a command line. It is kept as text.
pub(crate) fn target(text: &str) -> Result<String, String> {
    command_line::target(text).map(|_| text.trim().to_owned())
}

/// Checks that there are a host and a port. For a port alone, the host is 127.0.0.1. The listener checks the host.
pub(crate) fn address(text: &str) -> Result<String, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(format!("127.0.0.1:{port}"));
    }
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => Ok(text.to_owned()),
        _ => Err("write HOST:PORT or PORT, as in 127.0.0.1:8080".into()),
    }
}

pub(crate) fn directory(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_dir() { Ok(path) } else { Err("there is no such directory".into()) }
}

/// Parses a JSON object, and keeps its text: a number reaches the tool with all its digits.
pub(crate) fn json_object(text: &str) -> Result<RawJson, String> {
    let object = RawJson::parse(text.into()).map_err(|why| format!("not a JSON object: {why}"))?;
    if object.as_str().starts_with('{') { Ok(object) } else { Err("not a JSON object".to_owned()) }
}

/// Parses a time that may be 0.
pub(crate) fn pause(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|why| why.to_string())
}

/// Parses a time limit. Zero is refused: it could mean no time, or no limit.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    match pause(text)? {
        Duration::ZERO => Err("it must be more than 0".to_owned()),
        duration => Ok(duration),
    }
}
