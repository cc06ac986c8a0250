//! A port without an event loop, as a runtime with a loop of its own drives it.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use agentwire_peer::runtime::{Event, Input, Port, call_raw, notify_raw_now, start_call};
use agentwire_peer::{CallError, Closed, Config};
use agentwire_transport::Transport;
use futures::task::noop_waker;
use serde_json::json;

use crate::support::{Far, Wire, acp, driver, wire};

fn port(config: Config) -> (Port<Wire>, Far) {
    let (wire, far) = wire();
    let (_, driver) = driver(config);
    (Port::new(driver, wire), far)
}

/// Reads until the port is pending. Returns the methods that arrived.
fn read<T: Transport>(port: &mut Port<T>, cx: &mut Context<'_>, gate: bool) -> Vec<String> {
    let mut methods = Vec::new();
    if !port.begin_read() {
        return methods;
    }
    while let Poll::Ready(input) = port.poll_read(cx, gate) {
        let Input::Packet { mut event, .. } = input else { panic!("{input:?}") };
        while let Some(next) = event {
            match next {
                Event::Notification(notification) => methods.push(notification.method.to_string()),
                Event::CallEnded { call, outcome } => port.settle(cx, call, outcome),
                other => panic!("{other:?}"),
            }
            event = port.next_event();
        }
    }
    methods
}

fn write<T: Transport>(port: &mut Port<T>, cx: &mut Context<'_>) {
    drop(port.begin_write());
    port.poll_write(cx).expect("the wire is whole");
}

#[tokio::test]
async fn nothing_is_read_while_the_gate_is_closed() {
    let (mut port, far) = port(acp());
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    far.say(json!({"jsonrpc": "2.0", "method": "one"}));
    far.say(json!({"jsonrpc": "2.0", "method": "two"}));
    port.begin_poll();
    assert!(read(&mut port, &mut cx, false).is_empty());
    assert!((port.is_gated(), port.is_paused(), far.reads()) == (true, true, 0));
    assert_eq!(read(&mut port, &mut cx, true), ["one", "two"]);
    assert!((port.is_gated(), port.is_paused(), far.reads()) == (false, false, 3));
    // The transport has the waker. In this poll it is not asked again.
    assert!(read(&mut port, &mut cx, true).is_empty());
    assert_eq!(far.reads(), 3);
    assert!(port.prepare_wait(&mut cx));
}

#[tokio::test]
async fn a_call_that_is_started_leaves_behind_a_full_queue_and_wakes_the_loop() {
    let (mut port, mut far) = port(acp().high_water(1));
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    let peer = port.peer().clone();
    port.begin_poll();
    assert!(port.prepare_wait(&mut cx));
    notify_raw_now(&peer, "first", None).expect("it is open");
    assert!(!port.has_room());
    let mut waiting = pin!(call_raw(&peer, "waits", None));
    assert!(waiting.as_mut().poll(&mut cx).is_pending());

    let mut call = call_raw(&peer, "ask", None);
    let (id, waker) = start_call(&mut call, &cx).expect("it is open");
    assert!(waker.is_none(), "the notification took the waker");
    assert!(port.is_awaited(id));
    write(&mut port, &mut cx);
    assert_eq!(far.heard().await["method"], "first");
    let asked = far.heard().await;
    assert_eq!((&asked["method"], &asked["id"]), (&json!("ask"), &json!(1)));

    far.say(json!({"jsonrpc": "2.0", "id": 1, "result": [1, 2.50]}));
    port.begin_poll();
    read(&mut port, &mut cx, true);
    assert!(port.is_awaited(id), "its caller has not taken the outcome");
    let Poll::Ready(Ok(result)) = Pin::new(&mut call).poll(&mut cx) else { panic!("it is answered") };
    assert_eq!(result.as_str(), "[1,2.5]");
    assert!(!port.is_awaited(id));
}

#[tokio::test]
async fn after_output_is_discarded_nothing_leaves() {
    let (mut port, mut far) = port(acp());
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    let peer = port.peer().clone();
    notify_raw_now(&peer, "queued", None).expect("it is open");
    port.discard_output();
    port.close_write(Closed::default());
    write(&mut port, &mut cx);
    assert!(!port.wants_output());
    assert!(notify_raw_now(&peer, "late", None).is_err());
    assert!(matches!(call_raw(&peer, "late", None).await, Err(CallError::Closed(_))));
    poll_fn(|cx| port.poll_close(cx)).await;
    assert!(far.heard().await.is_null());
}

#[tokio::test]
async fn dropping_a_port_fails_its_calls_before_its_transport_is_dropped() {
    let (port, far) = port(acp());
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    let mut call = call_raw(port.peer(), "ask", None);
    let mut closed = port.peer().closed();
    assert!(Pin::new(&mut call).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut closed).poll(&mut cx).is_pending());
    drop(port);
    assert!(far.is_dropped());
    assert!(matches!(call.await, Err(CallError::Closed(_))));
    assert!(closed.await.reason.is_none());
}
