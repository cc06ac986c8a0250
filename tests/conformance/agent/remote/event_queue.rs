//! The events of one stream, kept until a client reads them, and the body that it reads them from.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, interval_at};

/// How long a stream may be silent before a comment shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The events of one stream. One client reads them at a time, and each event is sent once.
#[derive(Debug, Default)]
pub(super) struct EventQueue(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// Each with its share of the connection's memory.
    events: VecDeque<(Bytes, OwnedSemaphorePermit)>,
    is_read: bool,
    has_ended: bool,
    waker: Option<Waker>,
}

impl EventQueue {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event. One that comes after the end is dropped.
    pub(super) fn push(&self, event: Bytes, room: OwnedSemaphorePermit) {
        self.change(|queue| {
            if !queue.has_ended {
                queue.events.push_back((event, room));
            }
        });
    }

    /// Ends the stream behind the events that it has.
    pub(super) fn finish(&self) {
        self.change(|queue| queue.has_ended = true);
    }

    /// Ends the stream at once.
    pub(super) fn cut(&self) {
        self.change(|queue| {
            queue.has_ended = true;
            queue.events.clear();
        });
    }

    /// Whether a client reads it.
    pub(super) fn is_read(&self) -> bool {
        self.lock().is_read
    }

    /// The body of a response that is the stream; nothing while another client reads it.
    pub(super) fn body(self: &Arc<Self>) -> Option<EventBody> {
        let was_read = std::mem::replace(&mut self.lock().is_read, true);
        let keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        (!was_read).then(|| EventBody { queue: Arc::clone(self), keep_alive })
    }

    fn change(&self, change: impl FnOnce(&mut Queue)) {
        let mut queue = self.lock();
        change(&mut queue);
        let waker = queue.waker.take();
        drop(queue);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A stream of events as the body of a response.
#[derive(Debug)]
pub(super) struct EventBody {
    queue: Arc<EventQueue>,
    keep_alive: Interval,
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let mut queue = this.queue.lock();
        if let Some((event, _room)) = queue.events.pop_front() {
            this.keep_alive.reset();
            return Poll::Ready(Some(Ok(Frame::data(event))));
        }
        if queue.has_ended {
            return Poll::Ready(None);
        }
        queue.waker = Some(cx.waker().clone());
        drop(queue);
        this.keep_alive.poll_tick(cx).map(|_| Some(Ok(Frame::data(Bytes::from_static(b":\n\n")))))
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.queue.lock().is_read = false;
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use tokio::sync::Semaphore;

    use super::*;

    async fn push(queue: &EventQueue, room: &Arc<Semaphore>, event: &'static str) {
        queue.push(Bytes::from(event), Arc::clone(room).acquire_owned().await.unwrap());
    }

    async fn next(body: &mut EventBody) -> Option<Bytes> {
        body.frame().await?.unwrap().into_data().ok()
    }

    #[tokio::test]
    async fn a_stream_has_one_reader_and_gives_each_event_once() {
        let (queue, room) = (Arc::new(EventQueue::default()), Arc::new(Semaphore::new(2)));
        push(&queue, &room, "a").await;
        push(&queue, &room, "b").await;
        assert_eq!(room.available_permits(), 0);
        let mut body = queue.body().unwrap();
        assert!(queue.body().is_none());
        assert_eq!(next(&mut body).await.unwrap(), "a");
        assert_eq!(room.available_permits(), 1);
        drop(body);
        let mut body = queue.body().unwrap();
        assert_eq!(next(&mut body).await.unwrap(), "b");
        push(&queue, &room, "c").await;
        queue.finish();
        push(&queue, &room, "d").await;
        assert_eq!(next(&mut body).await.unwrap(), "c");
        assert_eq!(next(&mut body).await, None);
        assert_eq!(room.available_permits(), 2);
    }

    #[tokio::test]
    async fn a_cut_stream_loses_its_queued_messages() {
        let (queue, room) = (Arc::new(EventQueue::default()), Arc::new(Semaphore::new(1)));
        push(&queue, &room, "a").await;
        queue.cut();
        assert_eq!(next(&mut queue.body().unwrap()).await, None);
        assert_eq!(room.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_alive() {
        let queue = Arc::new(EventQueue::default());
        assert_eq!(next(&mut queue.body().unwrap()).await.unwrap(), ":\n\n");
    }
}
