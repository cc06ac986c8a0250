//! The loopback port, and its connections.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::net::TcpListener;
use tokio::time::{Instant, Sleep};

use super::connection::{self, Redirect};
use super::request::Expected;

/// How many connections are served at a time. After that a new one replaces the oldest: a browser sends its request at once,
/// so a flood of silent connections does not keep it out.
const CONNECTION_LIMIT: usize = 128;

/// How long a connection is not replaced. On a busy machine a browser may need it to send its request. With the limit, a flood
/// of 2,560 connections in a second is served.
const GRACE: Duration = Duration::from_millis(50);

/// How long no connection is accepted after one could not be, as when the process has no more descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often another port is tried if a second address has no such port free.
const BIND_ATTEMPTS: usize = 8;

/// A port of this machine, on one loopback address or on both.
#[derive(Debug)]
pub(super) struct Listener {
    sockets: Vec<TcpListener>,
    port: u16,
}

impl Listener {
    /// Binds a port, or any free one if it is 0, to loopback addresses. Addresses after the first may be missing.
    pub(super) async fn bind(addresses: &[IpAddr], port: u16) -> io::Result<Self> {
        let mut attempts = BIND_ATTEMPTS;
        loop {
            match Self::bind_all(addresses, port).await {
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && port == 0 && attempts > 1 => {
                    attempts -= 1
                }
                bound => return bound,
            }
        }
    }

    async fn bind_all(addresses: &[IpAddr], port: u16) -> io::Result<Self> {
        let mut listener = Self { sockets: Vec::new(), port };
        for address in addresses {
            let address = SocketAddr::new(*address, listener.port);
            let socket = match TcpListener::bind(address).await {
                Ok(socket) => socket,
                // Another program listens there and would get the redirect, if the browser prefers that address.
                Err(error) if listener.sockets.is_empty() || error.kind() == io::ErrorKind::AddrInUse => {
                    return Err(io::Error::new(error.kind(), format!("cannot listen on {address}: {error}")));
                }
                Err(_) => continue,
            };
            listener.port = socket.local_addr()?.port();
            listener.sockets.push(socket);
        }
        Ok(listener)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Waits for the redirect, closes the port, answers, and returns the query.
    pub(super) async fn receive(self, expected: Arc<Expected>) -> String {
        let mut connections =
            Connections { sockets: self.sockets, expected, open: VecDeque::new(), pause: None };
        let redirect = poll_fn(|cx| connections.poll(cx)).await;
        drop(connections);
        redirect.answer().await
    }
}

struct Connections {
    sockets: Vec<TcpListener>,
    expected: Arc<Expected>,
    /// The oldest is first.
    open: VecDeque<Connection>,
    pause: Option<Pin<Box<Sleep>>>,
}

struct Connection {
    since: Instant,
    served: BoxFuture<'static, Option<Redirect>>,
}

impl Connections {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Redirect> {
        loop {
            let accepted = self.poll_accept(cx);
            // Each new connection is polled before another is accepted, so that a request which is there already is read.
            if let Some(redirect) = self.poll_open(cx) {
                return Poll::Ready(redirect);
            }
            if !accepted {
                return Poll::Pending;
            }
        }
    }

    /// Accepts up to one connection at each address. Returns whether to try again: there may be more, or a pause has begun.
    fn poll_accept(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return false;
            }
            self.pause = None;
        }
        while self.open.len() + self.sockets.len() > CONNECTION_LIMIT {
            let Some(replaceable) = self.open.front().map(|oldest| oldest.since + GRACE) else { break };
            if replaceable > Instant::now() {
                self.pause = Some(Box::pin(tokio::time::sleep_until(replaceable)));
                return true;
            }
            self.open.pop_front();
        }
        let mut accepted = false;
        for socket in &self.sockets {
            let Poll::Ready(connected) = socket.poll_accept(cx) else { continue };
            accepted = true;
            match connected {
                Ok((stream, _)) => {
                    let expected = Arc::clone(&self.expected);
                    let served = async move { connection::serve(stream, &expected).await }.boxed();
                    self.open.push_back(Connection { since: Instant::now(), served });
                }
                Err(_) => self.pause = Some(Box::pin(tokio::time::sleep(ACCEPT_PAUSE))),
            }
        }
        accepted
    }

    /// Goes on with each connection. Returns the redirect if one of them is it.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Option<Redirect> {
        let mut redirect = None;
        self.open.retain_mut(|connection| match connection.served.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(done) => {
                redirect = redirect.take().or(done);
                false
            }
        });
        redirect
    }
}
