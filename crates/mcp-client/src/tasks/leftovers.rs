//! What is still to be said for calls that nobody waits for any more. Nothing is spawned: it runs within the future of
//! the connection, and has a little time when that ends.

use std::time::Duration;

use agentwire_peer::{Clock, TokioClock};
use futures::StreamExt;
use futures::channel::mpsc;
use futures::future::{BoxFuture, join, select};
use futures::stream::FuturesUnordered;

use crate::Server;
use crate::front::Front;
use crate::listening::listen;

/// How long there is for it at the end of a connection.
const GRACE: Duration = Duration::from_secs(1);

/// What belongs to one connection, with what takes care of calls that are given up, where more is to be said for these
/// than that they are.
pub(crate) fn fresh(front: Front) -> (Front, Option<Leftovers>) {
    let mut front = front.fresh();
    let left = front.tasks.is_some().then(leftovers);
    let left = left.map(|(leave, left)| {
        front.leave = leave;
        left
    });
    (front, left)
}

/// What runs beside a connection's main part.
pub(crate) async fn side(server: Server, ears: Front, left: Option<&mut Leftovers>) {
    let listening = listen(server, ears);
    match left {
        Some(left) => drop(join(listening, left.run()).await),
        None => listening.await,
    }
}

/// Takes what is left to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leave(Option<mpsc::UnboundedSender<BoxFuture<'static, ()>>>);

impl Leave {
    /// Where the connection is gone already, there is nobody to say it to.
    pub(crate) fn leave(&self, what: BoxFuture<'static, ()>) {
        if let Some(sender) = &self.0 {
            let _ = sender.unbounded_send(what);
        }
    }
}

/// Does what is left to do.
pub(crate) struct Leftovers {
    receiver: mpsc::UnboundedReceiver<BoxFuture<'static, ()>>,
    running: FuturesUnordered<BoxFuture<'static, ()>>,
}

fn leftovers() -> (Leave, Leftovers) {
    let (sender, receiver) = mpsc::unbounded();
    (Leave(Some(sender)), Leftovers { receiver, running: FuturesUnordered::new() })
}

impl Leftovers {
    /// Does what comes, for as long as anything can come.
    pub(crate) async fn run(&mut self) {
        loop {
            futures::select! {
                what = self.receiver.next() => match what {
                    Some(what) => self.running.push(what),
                    None => return,
                },
                () = self.running.select_next_some() => {}
            }
        }
    }

    /// Does what there is, in the time that there is.
    pub(crate) async fn finish(mut self) {
        self.receiver.close();
        while let Some(what) = self.receiver.next().await {
            self.running.push(what);
        }
        if self.running.is_empty() {
            return;
        }
        let clock = TokioClock::default();
        let over = clock.sleep_until(clock.now() + GRACE);
        let all = std::pin::pin!(self.running.collect::<Vec<()>>());
        drop(select(all, over).await);
    }
}
