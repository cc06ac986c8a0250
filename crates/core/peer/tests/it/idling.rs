//! The work that is not done: needless polls, reads and writes.

use std::cell::Cell;
use std::future::{poll_fn, ready};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_transport::lines;
use futures::future::join_all;
use futures::{AsyncRead, AsyncWrite};
use serde_json::json;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::support::{
    HOUR, acp, answering, ask, asked, beside, counted, deaf, done, driver, give_way, settle, wire, within,
};

/// Counts the calls that would be system calls.
struct Counted<T> {
    inner: T,
    calls: Arc<AtomicUsize>,
    flushes: Arc<AtomicUsize>,
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_close(cx)
    }
}

/// How often a side has tried to read, has written, and has flushed.
#[derive(Clone, Default)]
struct Counts {
    reads: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
    flushes: Arc<AtomicUsize>,
}

impl Counts {
    fn take(&self) -> [usize; 3] {
        [&self.reads, &self.writes, &self.flushes].map(|count| count.swap(0, Ordering::Relaxed))
    }

    fn counted<T>(&self, inner: T, calls: &Arc<AtomicUsize>) -> Counted<T> {
        Counted { inner, calls: calls.clone(), flushes: self.flushes.clone() }
    }
}

/// Runs `main` against an echo over lines; the counts are those of the near and the far side.
async fn over_lines(main: impl AsyncFnOnce(agentwire_peer::Peer, [Counts; 2])) {
    let counts = [Counts::default(), Counts::default()];
    let (left, right) = tokio::io::duplex(1 << 20);
    let [left, right] = [(left, &counts[0]), (right, &counts[1])].map(|(end, counts)| {
        let (read, write) = tokio::io::split(end);
        lines(
            counts.counted(read.compat(), &counts.reads),
            counts.counted(write.compat_write(), &counts.writes),
        )
    });
    let (peer, near) = driver(acp());
    let (_, far) = driver(acp());
    let echo = answering(|request, _| ready(done(asked(&request))));
    let near = near.run(deaf(), left, main(peer, counts.clone()));
    within(HOUR, beside(async move { far.serve(echo, right).await.unwrap() }, near)).await;
}

#[tokio::test(start_paused = true)]
async fn message_is_written_at_once() {
    over_lines(async |peer, counts| {
        let calls = (0..64).map(|_| peer.call(&ask("hello")));
        join_all(calls).await.into_iter().for_each(|answer| assert_eq!(answer.unwrap(), "hello"));
        let [near, far] = counts.map(|counts| counts.take());
        assert_eq!((near[1], far[1]), (1, 1), "writes");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_sequential_round_trip_is_one_write_each_and_few_reads() {
    over_lines(async |peer, counts| {
        peer.call(&ask("warm")).await.unwrap();
        settle().await;
        let _warm = counts.each_ref().map(Counts::take);
        let polls = AtomicUsize::new(0);
        for _ in 0..100 {
            counted(peer.call(&ask("hello")), &polls).await.unwrap();
        }
        let polls = polls.into_inner();
        // To send, when the answer arrives, and when it has been read.
        assert!(polls <= 300, "{polls} polls");
        settle().await;
        let [near, far] = counts.map(|counts| counts.take());
        assert_eq!((&near[1..], &far[1..]), (&[100, 100][..], &[100, 100][..]), "writes and flushes");
        // One that finds the message and one that finds nothing more.
        assert!(near[0] <= 205 && far[0] <= 205, "{near:?} and {far:?}");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn idle_task_is_not_polled() {
    let polls = Arc::new(AtomicUsize::new(0));
    let take = || polls.swap(0, Ordering::Relaxed);
    let (peer, driver) = driver(acp());
    let (wire, mut far) = wire();
    let handler = answering(async |request, context| {
        if asked(&request) == "wait" {
            context.cancelled().await;
        }
        give_way().await;
        done(asked(&request))
    });
    let counter = polls.clone();
    let serve = async move { counted(driver.serve(handler, wire), &counter).await.unwrap() };
    let script = async {
        let request =
            |id, text| json!({"jsonrpc": "2.0", "id": id, "method": "ask", "params": {"text": text}});
        far.say(request(1, "wait"));
        let mut call = peer.call(&ask("no answer")).timeout(Duration::from_secs(10_000));
        assert!(futures::poll!(&mut call).is_pending());
        settle().await;
        assert!(take() > 0);
        tokio::time::sleep(Duration::from_secs(9_000)).await;
        assert_eq!((take(), far.reads() < 10), (0, true), "idle, with a call and a request open");

        for id in 2..12 {
            far.say(request(id, "hello"));
            settle().await;
            let polls = take();
            assert!((1..=4).contains(&polls), "{polls} polls for one request");
        }
        // A far end that does not read is not a reason to look again and again.
        far.take(0);
        peer.notify_now(&crate::support::note(1)).unwrap();
        settle().await;
        let polls = take();
        assert!((1..=2).contains(&polls), "{polls} polls for one notification");
        tokio::time::sleep(Duration::from_secs(500)).await;
        assert_eq!(take(), 0, "idle, with a full transport");
        far.take_all();
        drop(call);
        settle().await;
        take();
        tokio::time::sleep(Duration::from_secs(100_000)).await;
        assert!(take() <= 1, "the alarm of a call that is no more may ring once");
        far.hang_up();
    };
    within(100 * HOUR, beside(serve, script)).await;
}

#[tokio::test(start_paused = true)]
async fn main_is_not_polled_for_what_is_not_its_own() {
    let polls = Rc::new(Cell::new(0));
    let counted = polls.clone();
    let (_, driver) = driver(acp());
    let (wire, far) = wire();
    let main = async move {
        let counting = poll_fn(|_| {
            counted.set(counted.get() + 1);
            Poll::<()>::Pending
        });
        tokio::time::timeout(HOUR, counting).await.unwrap_err();
    };
    let run = async move { drop(driver.run(deaf(), wire, main).await) };
    let script = async {
        settle().await;
        polls.set(0);
        (0..1_000).for_each(|number| {
            far.say(json!({"jsonrpc": "2.0", "method": "note", "params": {"number": number}}));
        });
        settle().await;
        assert!(polls.get() <= 12, "{} polls for 1000 messages", polls.get());
    };
    within(2 * HOUR, beside(run, script)).await;
}
