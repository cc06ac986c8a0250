//! Tests of the bus between nodes.

use crate::{BusEvent, BusMessage, NodeId, Stores, Subscription};
use agentwire_jsonrpc::RawJson;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;

use crate::contract::Fixture;
use crate::contract::values::{eventually, session};

/// A message reaches every other node, in order, and not its sender.
pub fn a_message_reaches_every_other_node(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let [first, second, third] = nodes(fixture).await;
        let [mut one, mut two, mut three] =
            [subscribe(&first).await, subscribe(&second).await, subscribe(&third).await];
        let client = RawJson::encode(&"a response: ü\n").expect("a text is JSON");
        let messages = [
            BusMessage::Tools,
            BusMessage::Prompts,
            BusMessage::Resources,
            BusMessage::Resource("file:///a b".into()),
            BusMessage::Task("task".into()),
            BusMessage::CancelTask("task".into()),
            BusMessage::TaskAnswers("task".into(), client.clone()),
            BusMessage::Anything,
            BusMessage::SessionEnded(session()),
            BusMessage::SessionChanged(session()),
            BusMessage::Client(session(), client),
        ];
        for message in &messages {
            publish(&first, message).await;
        }
        publish(&second, &BusMessage::Task("last".into())).await;
        for subscription in [&mut two, &mut three] {
            for message in &messages {
                assert_eq!(next(fixture, subscription).await, BusEvent::Message(message.clone()));
            }
        }
        for subscription in [&mut one, &mut three] {
            let last = BusEvent::Message(BusMessage::Task("last".into()));
            assert_eq!(next(fixture, subscription).await, last, "nothing of its own comes before that");
        }
    })
}

/// A message to one node reaches that node alone, and its sender learns whether it subscribes.
pub fn a_message_to_one_node_reaches_it_alone(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let [first, second, third] = nodes(fixture).await;
        let [mut two, mut three] = [subscribe(&second).await, subscribe(&third).await];
        let sent = first.stores.bus.send(second.id, BusMessage::Task("two".into())).await;
        assert_eq!(sent.ok(), Some(true));
        publish(&first, &BusMessage::Tools).await;
        assert_eq!(next(fixture, &mut two).await, BusEvent::Message(BusMessage::Task("two".into())));
        assert_eq!(next(fixture, &mut two).await, BusEvent::Message(BusMessage::Tools));
        assert_eq!(next(fixture, &mut three).await, BusEvent::Message(BusMessage::Tools));
        let nobody = NodeId::new(second.id.number() ^ 1);
        assert_eq!(first.stores.bus.send(nobody, BusMessage::Tools).await.ok(), Some(false));
        drop(two);
        eventually(fixture, "a node that does not subscribe any more is not reached", || async {
            matches!(first.stores.bus.send(second.id, BusMessage::Tools).await, Ok(false))
        })
        .await;
    })
}

/// A subscription that was interrupted reports it, and goes on. Needs [`Fixture::cut`].
pub fn a_subscription_survives_an_interruption(fixture: &dyn Fixture) -> BoxFuture<'_, ()> {
    Box::pin(async {
        let [first, second, _] = nodes(fixture).await;
        let mut two = subscribe(&second).await;
        for round in 0..3 {
            if !fixture.cut().await {
                return;
            }
            assert_eq!(next(fixture, &mut two).await, BusEvent::Missed, "round {round}");
            let message = BusMessage::Task(round.to_string());
            // The sender may not have noticed the cut yet.
            eventually(fixture, "the bus works again", || async {
                first.stores.bus.publish(first.id, message.clone()).await.is_ok()
            })
            .await;
            loop {
                let event = next(fixture, &mut two).await;
                if event == BusEvent::Message(message.clone()) {
                    break;
                }
                assert_eq!(event, BusEvent::Missed);
            }
        }
    })
}

struct Node {
    stores: Stores,
    id: NodeId,
}

async fn nodes(fixture: &dyn Fixture) -> [Node; 3] {
    let mut nodes = Vec::new();
    for _ in 0..3 {
        let id = NodeId::random().expect("the system has randomness");
        nodes.push(Node { stores: fixture.node().await, id });
    }
    let [first, second, third] = nodes.try_into().ok().expect("there are three");
    [first, second, third]
}

async fn subscribe(node: &Node) -> Subscription {
    node.stores.bus.subscribe(node.id).await.expect("a node subscribes")
}

async fn publish(node: &Node, message: &BusMessage) {
    let published = node.stores.bus.publish(node.id, message.clone()).await;
    assert!(published.is_ok(), "{published:?}");
}

/// The next item of a subscription, which has to come in time.
async fn next(fixture: &dyn Fixture, subscription: &mut Subscription) -> BusEvent {
    let mut found = None;
    let in_time = fixture.in_time(Box::pin(async { found = subscription.next().await })).await;
    assert!(in_time, "a message comes in time");
    found.expect("a subscription does not end")
}
