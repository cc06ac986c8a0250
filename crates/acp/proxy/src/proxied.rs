//! A transport to an agent with a proxy in front of it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use agentwire_sync::Wakers;
use agentwire_transport::{Duplex, Packet, Transport, TransportError, duplex};
use futures_util::{Sink, Stream};

use crate::Config;
use crate::error::ProxyError;
use crate::proxy::Proxy;
use crate::relay::relay_with;

/// How many packets are queued in each direction. The proxies bound the bytes that are queued.
const PACKETS: usize = 4;

/// Returns a transport to an agent with a proxy in front of it.
///
/// The result is a transport, so calls nest to form a chain, and a client connects to it as to the agent:
///
/// ```
/// use agentwire_acp_proxy::{Proxy, Transport, proxied};
///
/// /// Passes `first` and then `second` on its way to the agent.
/// fn chain(first: impl Proxy, second: impl Proxy, agent: impl Transport) -> impl Transport {
///     proxied(first, proxied(second, agent))
/// }
/// ```
///
/// The proxy runs while the transport is read or written. Its stream ends as that of the agent does, with the same error;
/// closing it closes the agent.
pub fn proxied<P: Proxy, A: Transport>(proxy: P, agent: A) -> impl Transport {
    proxied_with(proxy, agent, Config::new())
}

/// Returns a transport to an agent with a proxy in front of it; see [`proxied`].
pub fn proxied_with<P: Proxy, A: Transport>(proxy: P, agent: A, config: Config) -> impl Transport {
    let (near, client) = duplex_ends();
    driven(near, relay_with(proxy, client, agent, config))
}

/// Returns the two ends of a channel: the near end for [`driven`], and the far end for its driver.
pub(crate) fn duplex_ends() -> (Duplex, Duplex) {
    duplex(PACKETS)
}

/// A transport whose other end is served by a future, which runs while the transport is used.
pub(crate) fn driven<F: Future<Output = Result<(), ProxyError>>>(near: Duplex, work: F) -> impl Transport {
    let wakers = Arc::<Wakers<2>>::default();
    Driven {
        near,
        work: Some(Box::pin(work)),
        error: None,
        ended: false,
        listened: false,
        waker: wakers.clone().into(),
        wakers,
    }
}

struct Driven<F> {
    near: Duplex,
    /// `None` after it has completed.
    work: Option<Pin<Box<F>>>,
    /// The error to report at the end.
    error: Option<TransportError>,
    /// Whether the near end has returned its last packet.
    ended: bool,
    /// Whether the stream was polled since the last poll of closing.
    listened: bool,
    wakers: Arc<Wakers<2>>,
    waker: Waker,
}

impl<F> fmt::Debug for Driven<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driven").finish_non_exhaustive()
    }
}

impl<F: Future<Output = Result<(), ProxyError>>> Driven<F> {
    /// Polls the work for the task that reads or the one that writes. Returns whether it is done.
    fn poll_work(&mut self) -> bool {
        let Some(work) = &mut self.work else {
            return true;
        };
        let Poll::Ready(outcome) = work.as_mut().poll(&mut Context::from_waker(&self.waker)) else {
            return false;
        };
        self.error = outcome.err().map(ProxyError::into_transport_error);
        self.work = None;
        self.wakers.wake_all();
        true
    }

    fn poll_packet(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Packet, TransportError>>> {
        if !self.ended {
            match Pin::new(&mut self.near).poll_next(cx) {
                Poll::Ready(None) => self.ended = true,
                item => return item,
            }
        }
        if self.work.is_some() {
            return Poll::Pending;
        }
        Poll::Ready(self.error.take().map(Err))
    }
}

impl<F: Future<Output = Result<(), ProxyError>>> Stream for Driven<F> {
    type Item = Result<Packet, TransportError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        this.listened = true;
        this.wakers.register(Wakers::READER, cx.waker());
        this.poll_work();
        this.poll_packet(cx)
    }
}

impl<F: Future<Output = Result<(), ProxyError>>> Sink<Packet> for Driven<F> {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        let ready = Pin::new(&mut this.near).poll_ready(cx);
        if ready.is_ready() {
            return ready;
        }
        this.wakers.register(Wakers::WRITER, cx.waker());
        this.poll_work();
        Pin::new(&mut this.near).poll_ready(cx)
    }

    fn start_send(self: Pin<&mut Self>, packet: Packet) -> Result<(), TransportError> {
        Pin::new(&mut self.get_mut().near).start_send(packet)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.register(Wakers::WRITER, cx.waker());
        this.poll_work();
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        let this = self.get_mut();
        this.wakers.register(Wakers::WRITER, cx.waker());
        let closed = Pin::new(&mut this.near).poll_close(cx)?;
        debug_assert!(closed.is_ready(), "a channel closes at once");
        let mut done = this.poll_work();
        // Unread packets of the agent must not keep it from ending. A task that reads them gets them; otherwise they
        // are dropped.
        if !std::mem::take(&mut this.listened) {
            while !done && matches!(Pin::new(&mut this.near).poll_next(cx), Poll::Ready(Some(_))) {
                done = this.poll_work();
            }
        }
        if done { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}
