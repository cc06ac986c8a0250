//! The common part of the limit programs: lines in, lines out, one thread, no runtime.
//!
//! Each program is written by hand for this purpose alone: the envelope is parsed once with its `params` left as a slice,
//! structs are typed, and the responses to one read are joined into one write.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Bytes asked for at once, and bytes gathered before they are written while a burst goes on. A pipe holds 64 KiB.
const CHUNK: usize = 64 * 1024;

/// The envelope of a message; `id` and `params` stay slices of the line.
#[derive(Deserialize)]
pub struct Envelope<'a> {
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub method: Cow<'a, str>,
    #[serde(borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(borrow)]
    pub result: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// The params as the type that the method names.
    pub fn params<T: Deserialize<'a>>(&self) -> io::Result<T> {
        Ok(serde_json::from_str(self.params.map_or("null", RawValue::get))?)
    }
}

#[derive(Serialize)]
struct Answer<'a, R> {
    jsonrpc: &'static str,
    id: &'a RawValue,
    result: R,
}

#[derive(Serialize)]
struct Call<P> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    method: &'static str,
    params: P,
}

/// The queued lines, joined.
pub struct Output {
    bytes: Vec<u8>,
    stdout: File,
}

impl Output {
    pub fn answer(&mut self, id: &RawValue, result: impl Serialize) -> io::Result<()> {
        self.line(&Answer { jsonrpc: "2.0", id, result })
    }

    pub fn call(&mut self, id: u64, method: &'static str, params: impl Serialize) -> io::Result<()> {
        self.line(&Call { jsonrpc: "2.0", id: Some(id), method, params })
    }

    pub fn notify(&mut self, method: &'static str, params: impl Serialize) -> io::Result<()> {
        self.line(&Call { jsonrpc: "2.0", id: None, method, params })
    }

    fn line(&mut self, message: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.bytes, message)?;
        self.bytes.push(b'\n');
        if self.bytes.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// Reads stdin to its end, hands each line to `handle`, and writes what it said once the lines of one read are done.
/// `begin` speaks first, for a client. Stops early when `handle` returns `false`.
pub fn run(
    begin: impl FnOnce(&mut Output) -> io::Result<()>,
    mut handle: impl FnMut(&str, &mut Output) -> io::Result<bool>,
) -> io::Result<()> {
    let mut stdin = unbuffered(io::stdin())?;
    let mut output = Output { bytes: Vec::with_capacity(2 * CHUNK), stdout: unbuffered(io::stdout())? };
    begin(&mut output)?;
    output.flush()?;
    let mut buffer = vec![0; CHUNK];
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        let read = stdin.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &buffer[filled..filled + read]).map(|at| filled + at) {
            let line = std::str::from_utf8(&buffer[start..newline]).map_err(io::Error::other)?;
            start = newline + 1;
            if !handle(line, &mut output)? {
                return output.flush();
            }
        }
        output.flush()?;
        filled += read;
        buffer.copy_within(start..filled, 0);
        filled -= start;
    }
}

/// A standard stream without the buffers of the standard library.
fn unbuffered(stream: impl AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}
