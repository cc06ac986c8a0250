//! Handles on other threads than the driver's: no wake-up may be lost. A lost one shows as a test that hangs.

use std::time::Duration;

use agentwire_jsonrpc::{Notification, Request};
use agentwire_peer::{Handler, Peer, RequestContext};
use agentwire_transport::{Transport, duplex, lines};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::support::{Answer, Dice, acp, ask, asked, done, driver, give_way, note, within};

struct Echo;

impl Handler for Echo {
    async fn request(&self, request: Request, context: RequestContext) -> Answer {
        let text = asked(&request);
        match text.len() % 4 {
            0 => context.peer().notify(&note(1)).await?,
            1 => give_way().await,
            2 => tokio::task::yield_now().await,
            _ => {}
        }
        done(text)
    }

    fn notification(&self, _notification: Notification, _peer: &Peer) {}
}

async fn talk(peer: Peer, seed: u64, calls: u64) {
    let mut dice = Dice::new(seed);
    for number in 0..calls {
        let text = "x".repeat(dice.below(9) as usize);
        match dice.below(12) {
            0 => peer.notify(&note(number)).await.unwrap(),
            1 => drop(tokio::time::timeout(Duration::ZERO, peer.call(&ask(&text))).await),
            _ => assert_eq!(peer.call(&ask(&text)).await.unwrap(), *text),
        }
    }
}

/// A transport that a task can take along.
trait Link: Transport + Send + 'static {}

impl<T: Transport + Send + 'static> Link for T {}

async fn stress(seed: u64, calls: u64, (left, right): (impl Link, impl Link)) {
    let (there, near) = driver(acp().high_water(500));
    let (back, far) = driver(acp().high_water(300));
    let near = tokio::spawn(near.serve(Echo, left));
    let far_end = tokio::spawn(async move {
        let talkers = (0..2).map(|index| tokio::spawn(talk(back.clone(), seed ^ index, calls)));
        let main = futures::future::join_all(talkers.collect::<Vec<_>>());
        far.run(Echo, right, main).await.0.into_iter().for_each(Result::unwrap);
    });
    let talkers: Vec<_> =
        (0..4).map(|index| tokio::spawn(talk(there.clone(), seed + 100 + index, calls / 2))).collect();
    within(Duration::from_secs(100), async {
        for talker in talkers {
            // The far end closes when its own talkers are done, which may be earlier.
            let _closed = talker.await;
        }
        far_end.await.unwrap();
        near.await.unwrap().unwrap();
    })
    .await;
}

fn pipes(size: usize) -> (impl Link, impl Link) {
    let (left, right) = tokio::io::duplex(size);
    let (left_read, left_write) = tokio::io::split(left);
    let (right_read, right_write) = tokio::io::split(right);
    (
        lines(left_read.compat(), left_write.compat_write()),
        lines(right_read.compat(), right_write.compat_write()),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wake_up_is_lost_in_memory() {
    for seed in 0..3 {
        stress(seed, 2_000, duplex(seed as usize)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_wake_up_is_lost_over_lines() {
    for seed in 0..3 {
        stress(seed, 2_000, pipes(100 + 900 * seed as usize)).await;
    }
}
