//! The lease of a node, and its messages.

use std::future::ready;

use futures::FutureExt;
use futures::executor::block_on;

use super::*;
use crate::{Clock, MemoryNodes, StoreLimits};

#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl NodeListener for Log {
    fn on_event(&self, event: &BusEvent) {
        self.0.lock().push(format!("{event:?}"));
    }
}

fn stores(nodes: &MemoryNodes) -> Stores {
    let memory = Stores::memory(&StoreLimits::new(), &Clock::system());
    Stores { nodes: Arc::new(nodes.clone()), ..memory }
}

#[test]
fn it_passes_messages_on_and_takes_its_lease_again() {
    let nodes = MemoryNodes::default();
    let stores = stores(&nodes);
    let [node, other] = [(); 2].map(|()| block_on(Node::join(stores.clone())).unwrap());
    let log = Arc::new(Log::default());
    let listener: Weak<dyn NodeListener> = Arc::<Log>::downgrade(&log);
    node.listen(listener);

    let mut running = Box::pin(node.run(|| ready(())));
    block_on(other.publish(BusMessage::Tools)).unwrap();
    block_on(node.publish(BusMessage::Prompts)).unwrap();
    assert!((&mut running).now_or_never().is_none());
    nodes.expire(node.id());
    assert!((&mut running).now_or_never().is_none());
    assert!(block_on(stores.nodes.is_alive(node.id())).unwrap());
    assert!(block_on(stores.bus.send(node.id(), BusMessage::Resources)).unwrap());
    assert!((&mut running).now_or_never().is_none());
    assert_eq!(*log.0.lock(), ["Message(Tools)", "Message(Resources)"]);
    log.0.lock().clear();

    // Equal messages that wait are one, on their way out and on their way in.
    for _ in 0..100 {
        other.announce(BusMessage::Resource("a".into()));
        block_on(other.publish(BusMessage::Prompts)).unwrap();
    }
    assert!(Box::pin(other.run(|| ready(()))).now_or_never().is_none());
    assert!((&mut running).now_or_never().is_none());
    assert_eq!(*log.0.lock(), ["Message(Prompts)", "Message(Resource(\"a\"))"]);

    block_on(node.release()).unwrap();
    block_on(running);
    assert!(!block_on(stores.nodes.is_alive(node.id())).unwrap());
}

#[test]
fn a_node_is_dead_once_it_would_have_its_lease_again() {
    let nodes = MemoryNodes::default();
    let stores = stores(&nodes);
    let [node, other] = [(); 2].map(|()| block_on(Node::join(stores.clone())).unwrap());
    let is_dead = || block_on(node.is_dead(other.id())).unwrap();
    assert!(!is_dead());
    nodes.expire(other.id());
    assert!(is_dead() && !block_on(node.is_dead(node.id())).unwrap());

    // The store was away: no node has a lease, and the first one to take it knows no other.
    nodes.interrupt();
    assert!(!is_dead());
    let mut running = Box::pin(node.run(|| ready(())));
    assert!((&mut running).now_or_never().is_none());
    assert!(block_on(stores.nodes.is_alive(node.id())).unwrap() && !is_dead());
    nodes.settle();
    assert!(is_dead());

    // A node that has lost its lease, and does not know it yet.
    nodes.expire(node.id());
    assert!(!is_dead());
    assert!((&mut running).now_or_never().is_none());
    assert!(is_dead());
}
