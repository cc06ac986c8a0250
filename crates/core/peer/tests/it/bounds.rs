//! The types that are `Send`, and those that need not be.

use std::cell::Cell;
use std::future::ready;
use std::rc::Rc;

use agentwire_jsonrpc::{Notification, Request};
use agentwire_peer::{Call, Cancelled, Driver, Handler, Notify, Peer, RequestContext};
use agentwire_transport::duplex;

use crate::support::{Answer, acp, answering, ask, asked, deaf, done, driver};

fn assert_send<T: Send>(value: T) -> T {
    value
}

fn assert_shared<T: Send + Sync>() {}

struct Sendable;

impl Handler for Sendable {
    async fn request(&self, request: Request, context: RequestContext) -> Answer {
        let answer = context.peer().call(&ask("back")).await?;
        context.cancelled().await;
        done((asked(&request), answer))
    }

    fn notification(&self, _notification: Notification, _peer: &Peer) {}
}

#[tokio::test]
async fn the_driver_is_send_if_the_handler_is() {
    let (left, right) = duplex(1);
    let (peer, near) = driver(acp());
    let (_, far) = driver(acp());
    let far = tokio::spawn(far.serve(Sendable, right));
    assert_send(near.run(Sendable, left, async move { peer.is_closed() })).await;
    far.await.unwrap().unwrap();
    assert_shared::<Peer>();
    assert_shared::<Driver>();
    assert_shared::<RequestContext>();
    assert_send(None::<(Call<String>, Notify<'_>, Cancelled)>);
}

#[tokio::test(start_paused = true)]
async fn a_handler_need_not_be_send() {
    let count = Rc::new(Cell::new(0));
    let (left, right) = duplex(1);
    let (peer, near) = driver(acp());
    let (_, far) = driver(acp());
    let handler = answering(|_, _| {
        count.set(count.get() + 1);
        ready(done(count.get()))
    });
    let main = async { (peer.call(&ask("")).await.unwrap(), peer.call(&ask("")).await.unwrap()) };
    let ((answers, _), served) = tokio::join!(near.run(deaf(), left, main), far.serve(handler, right));
    served.unwrap();
    assert_eq!(answers, (1.into(), 2.into()));
}
