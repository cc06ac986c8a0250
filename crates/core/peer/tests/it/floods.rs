//! Two drivers that ask and tell each other as much as they can.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use agentwire_peer::{Config, Handler, Peer};
use agentwire_transport::{Packet, TransportError, duplex};
use futures::stream::FuturesUnordered;
use futures::{Sink, Stream, StreamExt};

use crate::support::{Dice, HOUR, acp, answering, ask, asked, done, driver, give_way, note, on, within};

/// Notifies at random, asks back where it may, and answers.
fn subject(dice: &RefCell<Dice>) -> impl Handler {
    answering(async |request, context| {
        let rolled = |end| dice.borrow_mut().below(end);
        for number in 0..rolled(30) {
            context.peer().notify(&note(number)).await?;
        }
        match rolled(4) {
            0 => give_way().await,
            1 => tokio::time::sleep(Duration::from_millis(rolled(5))).await,
            2 if asked(&request) == "asks back" => {
                context.peer().call(&ask("does not")).await?;
            }
            _ => {}
        }
        done("x".repeat(rolled(300) as usize))
    })
}

/// Keeps `width` calls going, and notifies at random; some calls are given up. Returns how many were refused because
/// of the limit.
async fn flood(peer: Peer, calls: u64, width: usize, dice: &RefCell<Dice>) -> u64 {
    let refused = Cell::new(0);
    let rolled = |end| dice.borrow_mut().below(end);
    let one = async || {
        for number in 0..rolled(10) {
            peer.notify(&note(number)).await.unwrap();
        }
        let call = peer.call(&ask("asks back"));
        if rolled(8) == 0 {
            let _given_up = tokio::time::timeout(Duration::from_millis(rolled(3)), call).await;
        } else if let Err(error) = call.await {
            assert!(error.refusal().is_some_and(|refusal| refusal.message.contains("limit")), "{error}");
            refused.set(refused.get() + 1);
        }
    };
    let mut going = FuturesUnordered::new();
    for _ in 0..calls {
        going.push(one());
        if going.len() == width {
            going.next().await;
        }
    }
    while going.next().await.is_some() {}
    refused.get()
}

async fn both(seed: u64, left: Config, right: Config, width: usize) -> u64 {
    let dice = RefCell::new(Dice::new(seed));
    let capacity = dice.borrow_mut().below(6) as usize;
    let (left_end, right_end) = duplex(capacity);
    let (right_peer, left_driver) = driver(left);
    let (left_peer, right_driver) = driver(right);
    let end = tokio::sync::Barrier::new(2);
    let main = async |peer| {
        let refused = flood(peer, 150, width, &dice).await;
        // The first side to end stays for the other's sake.
        end.wait().await;
        refused
    };
    let all = async {
        tokio::join!(
            left_driver.run(subject(&dice), left_end, main(right_peer)),
            right_driver.run(subject(&dice), right_end, main(left_peer)),
        )
    };
    let ((left, _), (right, _)) = within(HOUR, all).await;
    left + right
}

#[tokio::test(start_paused = true)]
async fn two_that_flood_each_other_never_lock() {
    for seed in 0..40 {
        let config = || acp().high_water(64 + 100 * (seed as usize % 7));
        assert_eq!(both(seed, config(), config(), 16).await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn two_that_are_both_at_their_limits_never_lock() {
    for seed in 0..40 {
        let config = || acp().high_water(64 + 100 * (seed as usize % 7)).request_limit(4);
        assert!(both(seed, config(), config(), 16).await > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn one_whose_limit_is_never_reached_is_enough() {
    for seed in 0..20 {
        // The left side can be brought to stop reading, since 8 is too few for the 16 that may come. The right
        // side reads on, so the left side's queue empties.
        let config = || acp().high_water(64 + 100 * (seed as usize % 7)).backlog_limit(0);
        flood_one_way(seed, config().request_limit(8), config()).await;
    }
}

async fn flood_one_way(seed: u64, served: Config, asking: Config) {
    let dice = RefCell::new(Dice::new(seed));
    let (left_end, right_end) = duplex(2);
    let (_, left) = driver(served);
    let (peer, right) = driver(asking);
    let refused = RefCell::new(0);
    let main = async {
        let calls = (0..200).map(async |_| match peer.call(&ask("")).await {
            Ok(_) => {}
            Err(error) => {
                assert!(error.refusal().unwrap().message.contains("limit"), "{error}");
                *refused.borrow_mut() += 1;
            }
        });
        futures::future::join_all(calls).await;
    };
    let all = async {
        tokio::join!(left.serve(subject(&dice), left_end), right.run(subject(&dice), right_end, main))
    };
    within(HOUR, all).await.0.unwrap();
    assert!(*refused.borrow() < 200);
}

/// A peer that never stops talking and takes everything. It asks one thing in passing.
struct Chatter {
    said: usize,
    /// How much had been said when the answer came.
    answered: Rc<Cell<Option<usize>>>,
}

const ASKS_AT: usize = 1_000;

impl Stream for Chatter {
    type Item = Result<Packet, TransportError>;

    fn poll_next(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.said += 1;
        let id = if self.said == ASKS_AT { r#""id":1,"# } else { "" };
        let text = format!(r#"{{"jsonrpc":"2.0",{id}"method":"ask","params":{{"text":""}}}}"#);
        Poll::Ready(Some(Ok(Packet::from_json(&text))))
    }
}

impl Sink<Packet> for Chatter {
    type Error = TransportError;

    fn poll_ready(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, _packet: Packet) -> Result<(), TransportError> {
        self.answered.set(Some(self.said));
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<(), TransportError>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn one_that_never_stops_talking_starves_nobody() {
    let answered = Rc::new(Cell::new(None));
    let chatter = Chatter { said: 0, answered: answered.clone() };
    let heard = Cell::new(0_u64);
    let handler = on(async |_, _| done("answer"), |_, _| heard.set(heard.get() + 1));
    let (_, driver) = driver(acp());
    // Others on this thread get their turn, and so does the main future.
    let (sender, enough) = tokio::sync::oneshot::channel();
    let others = async {
        for _ in 0..10 {
            give_way().await;
        }
        sender.send(()).unwrap();
    };
    let ((enough, _), ()) = tokio::join!(driver.run(handler, chatter, enough), others);
    enough.unwrap();
    let answered = answered.get().unwrap();
    assert!(answered < ASKS_AT + 500, "answered only after {answered} messages");
    assert!(heard.get() < 1_000_000);
}
