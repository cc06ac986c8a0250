//! Two drivers, back to back.

use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use agentwire_jsonrpc::{ErrorObject, Method, Notice, Notification, RawJson, Request};
use agentwire_peer::{CallError, Config, Dialect, Handler, Peer, RequestContext, TokioClock, driver};
use agentwire_transport::duplex;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Echo {
    text: String,
}

impl Method for Echo {
    const NAME: &'static str = "echo";
    type Response = String;
}

#[derive(Serialize, Deserialize)]
struct Note {
    number: u64,
}

impl Notice for Note {
    const NAME: &'static str = "note";
}

/// Answers by what it is asked, and keeps what it hears.
#[derive(Clone, Default)]
struct Subject {
    heard: Rc<RefCell<Vec<u64>>>,
    cancelled: Rc<RefCell<u64>>,
}

impl Handler for Subject {
    async fn request(&self, request: Request, context: RequestContext) -> Result<RawJson, ErrorObject> {
        let text = match request.params.map(|params| params.decode::<Echo>()) {
            Some(Ok(Echo { text })) => text,
            _ => return Err(ErrorObject::invalid_params("text")),
        };
        match &*text {
            "panic" => panic!("as asked"),
            "ask back" => {
                let answer = context.peer().call(&Echo { text: "back".into() }).await?;
                Ok(RawJson::encode(&answer).unwrap())
            }
            "burst" => {
                for number in 0..10_000 {
                    context.peer().notify(&Note { number }).await?;
                }
                Ok(RawJson::encode("done").unwrap())
            }
            "wait" => {
                context.cancelled().await;
                *self.cancelled.borrow_mut() += 1;
                Err(ErrorObject::request_cancelled())
            }
            "hang" => pending().await,
            text => Ok(RawJson::encode(text).unwrap()),
        }
    }

    fn notification(&self, notification: Notification, _peer: &Peer) {
        let note: Note = notification.params.unwrap().decode().unwrap();
        self.heard.borrow_mut().push(note.number);
    }
}

fn echo(text: &str) -> Echo {
    Echo { text: text.into() }
}

/// Runs `main` against a subject and gives what it gave, with both subjects.
async fn with_peer<R>(main: impl AsyncFnOnce(Peer) -> R) -> (R, Subject, Subject) {
    let (left, right) = duplex(8);
    let (near, far) = (Subject::default(), Subject::default());
    let (peer, near_driver) = driver(Config::new(Dialect::ACP), TokioClock::default());
    let (_, far_driver) = driver(Config::new(Dialect::ACP), TokioClock::default());
    let (result, served) =
        tokio::join!(near_driver.run(near.clone(), left, main(peer)), far_driver.serve(far.clone(), right));
    served.unwrap();
    (result.0, near, far)
}

#[tokio::test(start_paused = true)]
async fn a_call_is_answered() {
    let (answer, ..) = with_peer(async |peer| peer.call(&echo("hello")).await.unwrap()).await;
    assert_eq!(answer, "hello");
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_call_back() {
    let (answer, ..) = with_peer(async |peer| peer.call(&echo("ask back")).await.unwrap()).await;
    assert_eq!(answer, "back");
}

#[tokio::test(start_paused = true)]
async fn a_panic_answers_an_internal_error() {
    let (error, ..) = with_peer(async |peer| {
        let error = peer.call(&echo("panic")).await.unwrap_err();
        assert_eq!(peer.call(&echo("still here")).await.unwrap(), "still here");
        error
    })
    .await;
    assert_eq!(error.refusal().unwrap().code, -32603);
}

#[tokio::test(start_paused = true)]
async fn notifications_come_in_order_and_before_the_answer() {
    let (_, near, _) = with_peer(async |peer| peer.call(&echo("burst")).await.unwrap()).await;
    assert!(near.heard.borrow().iter().copied().eq(0..10_000));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_cancels_at_the_peer() {
    let (_, _, far) = with_peer(async |peer| {
        let late = tokio::time::timeout(Duration::from_secs(1), peer.call(&echo("wait"))).await;
        assert!(late.is_err());
        assert_eq!(peer.call(&echo("next")).await.unwrap(), "next");
    })
    .await;
    assert_eq!(*far.cancelled.borrow(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_times_out() {
    let (error, ..) =
        with_peer(async |peer| peer.call(&echo("hang")).timeout(Duration::from_secs(3)).await.unwrap_err())
            .await;
    assert!(matches!(error, CallError::TimedOut { after, .. } if after == Duration::from_secs(3)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_call_fails_when_the_peer_goes() {
    let (left, right) = duplex(8);
    let (peer, near) = driver(Config::new(Dialect::ACP), TokioClock::default());
    drop(right);
    let (result, _) = near.run(Subject::default(), left, async { peer.call(&echo("x")).await }).await;
    assert!(matches!(result, Err(CallError::Closed(_))));
}
