//! Messages to a node about the tasks that run at it.

use std::sync::{Arc, Weak};

use agentwire_store::{BusEvent, BusMessage, Node, NodeListener};

use super::requests::check;
use crate::listeners::Change;
use crate::tasks::registry::TaskRegistry;
use crate::tasks::{Tasks, answers};

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
            BusEvent::Message(BusMessage::SessionEnded(id)) => self.end_session(&String::from(*id)),
            BusEvent::Missed => {
                self.all().iter().for_each(|handle| handle.rewrite());
                self.listeners().announce_here(Change::Anything);
            }
            _ => {}
        }
    }
}
