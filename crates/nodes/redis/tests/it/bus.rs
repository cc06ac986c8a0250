//! Messages between nodes.

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_redis::RedisStore;
use agentwire_store::{Bus, BusEvent, BusMessage, NodeId, SessionId, Subscription};
use futures::{FutureExt, StreamExt};

use crate::engine::{Engine, soon, until};

async fn next(subscription: &mut Subscription) -> BusEvent {
    soon(subscription.next()).await.unwrap()
}

pub(crate) async fn check(store: &RedisStore, other: &RedisStore) {
    let [a, b, c] = [1, 2, 3].map(NodeId::new);
    let mut at_a = store.subscribe(a).await.unwrap();
    let mut at_b = other.subscribe(b).await.unwrap();
    let session = SessionId::random().unwrap();
    let messages = [
        BusMessage::Tools,
        BusMessage::Resource("file:///a".into()),
        BusMessage::SessionEnded(session),
        BusMessage::Client(
            session,
            RawJson::parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.into()).unwrap(),
        ),
    ];
    for (number, message) in messages.iter().enumerate() {
        // Messages to all nodes and to one node keep their common order.
        if number % 2 == 0 {
            store.publish(a, message.clone()).await.unwrap();
        } else {
            assert!(store.send(b, message.clone()).await.unwrap());
        }
    }
    for message in messages {
        assert_eq!(next(&mut at_b).await, BusEvent::Message(message));
    }
    other.publish(b, BusMessage::Prompts).await.unwrap();
    assert_eq!(next(&mut at_a).await, BusEvent::Message(BusMessage::Prompts));
    assert!(at_a.next().now_or_never().is_none(), "its own messages do not come back");

    assert!(!store.send(c, BusMessage::Tools).await.unwrap());
    // Two nodes share a process.
    let mut at_c = store.subscribe(c).await.unwrap();
    store.publish(a, BusMessage::Tools).await.unwrap();
    for subscription in [&mut at_b, &mut at_c] {
        assert_eq!(next(subscription).await, BusEvent::Message(BusMessage::Tools));
    }
    drop(at_c);
    until(async || !other.send(c, BusMessage::Tools).await.unwrap()).await;

    // The queue is bounded, and reports lost messages.
    for number in 0..3000 {
        store.publish(a, BusMessage::Task(number.to_string())).await.unwrap();
    }
    store.publish(a, BusMessage::Resources).await.unwrap();
    until(async || other.send(c, BusMessage::Tools).await.is_ok()).await;
    let mut events = Vec::new();
    while events.last() != Some(&BusEvent::Message(BusMessage::Resources)) {
        events.push(next(&mut at_b).await);
    }
    assert!(events.len() <= 3001);
    let missed = events.iter().filter(|event| **event == BusEvent::Missed).count();
    assert!(events.len() == 3001 && missed == 0 || missed > 0, "{} events, {missed} missed", events.len());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn messages_reach_the_other_nodes() {
    let engine = Engine::start().await;
    check(&engine.store().await, &engine.store().await).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs redis-server: cargo xtask ci redis-tests"]
async fn a_subscription_goes_on_after_an_interruption() {
    let mut engine = Engine::start().await;
    let (store, other) = (engine.store().await, engine.store().await);
    let mut subscription = store.subscribe(NodeId::new(1)).await.unwrap();
    engine.kill();
    engine.restart().await;
    assert_eq!(next(&mut subscription).await, BusEvent::Missed);
    // No message is lost from here on.
    until(async || other.publish(NodeId::new(2), BusMessage::Tools).await.is_ok()).await;
    assert_eq!(next(&mut subscription).await, BusEvent::Message(BusMessage::Tools));
    assert!(other.send(NodeId::new(1), BusMessage::Prompts).await.unwrap());
    assert_eq!(next(&mut subscription).await, BusEvent::Message(BusMessage::Prompts));

    // A paused engine is detected, and its connections are replaced.
    engine.pause();
    until(async || other.publish(NodeId::new(2), BusMessage::Tools).await.is_err()).await;
    tokio::time::sleep(std::time::Duration::from_secs(4)).await;
    engine.resume();
    while next(&mut subscription).await != BusEvent::Missed {}
}
