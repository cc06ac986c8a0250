//! Ports that a process can have again after its death.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

use anyhow::{Result, bail};

/// Below the ports that the system gives to outgoing connections, which could take the port of a dead process.
const FIRST: u16 = 12_000;
const COUNT: u16 = 20_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A free port.
pub(crate) fn free() -> Result<u16> {
    let start = process::id() as u16 % COUNT;
    for _ in 0..COUNT {
        let port = FIRST + start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no port from {FIRST} on is free")
}
