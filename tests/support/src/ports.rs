//! Ports for programs that get theirs on the command line, and that may bind it again after a restart.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the ports that the system gives to connections and to listeners on port 0. Those could take a port between its choice and
/// the start of its program, or between two starts.
const FIRST: u16 = 10_240;
const COUNT: u16 = 10_000;

/// The distance to a program's second port, which a node of a Redis cluster has.
const SECOND: u16 = 10_000;

/// The distance between the ports of two processes whose ids follow each other: more than a test binary takes at a time.
const STRIDE: u32 = 257;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns a port of 127.0.0.1 that is free, as is the port 10,000 above it. No other call in this process returns it soon, and tests
/// of other processes begin at other ports.
///
/// # Panics
///
/// If all 10,000 ports are taken.
pub fn free_port() -> u16 {
    for _ in 0..COUNT {
        let number = process::id().wrapping_mul(STRIDE).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = FIRST + u16::try_from(number % u32::from(COUNT)).expect("it is less than COUNT");
        if is_free(port) && is_free(port + SECOND) {
            return port;
        }
    }
    panic!("no port from {FIRST} on is free")
}

/// Whether nothing listens on the port. The socket of this check does not listen itself: a child process that is being started holds a
/// copy of each descriptor, and with a copy of a listener the port would stay in use.
#[cfg(unix)]
fn is_free(port: u16) -> bool {
    use rustix::net::{AddressFamily, SocketType, bind, socket, sockopt::set_socket_reuseaddr};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    set_socket_reuseaddr(&socket, true).expect("a TCP socket has the option");
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(not(unix))]
fn is_free(port: u16) -> bool {
    std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// In one test: two at a time would take each other's ports.
    #[test]
    fn ports_are_free_and_differ() {
        let (one, other) = (free_port(), free_port());
        assert_ne!(one, other);
        for port in [one, one + SECOND, other, other + SECOND] {
            assert!((FIRST..FIRST + 2 * COUNT).contains(&port), "{port}");
            TcpListener::bind(("127.0.0.1", port)).unwrap();
        }
        let next = other + 1;
        let taken = TcpListener::bind(("127.0.0.1", next));
        // The last port is followed by the first.
        assert!(taken.is_err() || free_port() != next);
    }
}
