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
use tokio::time::Sleep;

use super::connection::{self, Redirect};
use super::request::Expected;

/// How many connections are served at a time. A new one replaces the oldest: a browser sends its request at once, so a flood
/// of silent connections does not keep it out.
const CONNECTION_LIMIT: usize = 16;

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
    pub(super) async fn receive(self, expected: Expected) -> String {
        let mut connections = Connections {
            sockets: self.sockets,
            expected: Arc::new(expected),
            open: VecDeque::new(),
            pause: None,
        };
        let redirect = poll_fn(|cx| connections.poll(cx)).await;
        drop(connections);
        redirect.answer().await
    }
}

struct Connections {
    sockets: Vec<TcpListener>,
    expected: Arc<Expected>,
    open: VecDeque<BoxFuture<'static, Option<Redirect>>>,
    pause: Option<Pin<Box<Sleep>>>,
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

    /// Accepts up to one connection at each address. Returns whether there may be more.
    fn poll_accept(&mut self, cx: &mut Context<'_>) -> bool {
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return false;
            }
            self.pause = None;
        }
        let mut accepted = false;
        for socket in &self.sockets {
            match socket.poll_accept(cx) {
                Poll::Pending => {}
                Poll::Ready(Ok((stream, _))) => {
                    accepted = true;
                    if self.open.len() >= CONNECTION_LIMIT {
                        self.open.pop_front();
                    }
                    let expected = Arc::clone(&self.expected);
                    self.open.push_back(async move { connection::serve(stream, &expected).await }.boxed());
                }
                Poll::Ready(Err(_)) => {
                    accepted = true;
                    self.pause = Some(Box::pin(tokio::time::sleep(ACCEPT_PAUSE)));
                }
            }
        }
        accepted
    }

    /// Goes on with each connection. Returns the redirect if one of them is it.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Option<Redirect> {
        let mut redirect = None;
        self.open.retain_mut(|connection| match connection.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(done) => {
                redirect = redirect.take().or(done);
                false
            }
        });
        redirect
    }
}
