//! What a node receives about the tasks that run at it.

use std::sync::{Arc, Weak};

use agentwire_store::{BusEvent, BusMessage, Node, NodeId, NodeListener};

use super::record::TaskRun;
use super::registry::TaskRegistry;
use super::requests::check;
use super::{Tasks, answers};
use crate::listeners::Change;

impl Tasks {
    /// Shares the tasks with other nodes. The first node stays.
    pub(crate) fn share(&self, node: &Node) {
        self.registry.listeners().share(node);
        self.registry.set_node(node);
        let listener: Weak<dyn NodeListener> = Arc::<TaskRegistry>::downgrade(&self.registry);
        node.listen(listener);
    }
}

impl NodeListener for TaskRegistry {
    fn on_event(&self, event: &BusEvent) {
        match event {
            BusEvent::Message(BusMessage::Task(id)) => {
                // Of a task that runs here another node can only have written the end.
                if let Some(handle) = self.find(id) {
                    handle.rewrite();
                }
                self.listeners().announce_here(Change::Task(id));
            }
            BusEvent::Message(BusMessage::CancelTask(id)) => {
                if let Some(handle) = self.find(id) {
                    handle.rewrite();
                }
            }
            BusEvent::Message(BusMessage::TaskAnswers(id, answers)) => {
                if let (Some(handle), Some(mut answers)) = (self.find(id), answers::decode(answers)) {
                    answers.retain(|key, answer| match (handle.question(key), answer) {
                        (Some(question), Ok(answer)) => check(&question, answer).is_ok(),
                        _ => true,
                    });
                    handle.answer(answers);
                }
            }
            BusEvent::Missed => {
                self.all().iter().for_each(|handle| handle.rewrite());
                self.listeners().announce_here(Change::Anything);
            }
            _ => {}
        }
    }

    /// Other nodes see by the lease in its record that a task goes on.
    fn on_new_lease(&self, lease: NodeId) {
        let run = self.node().map(|node| TaskRun::new(node.id(), lease));
        self.all().iter().for_each(|handle| handle.set_run(run));
    }
}
