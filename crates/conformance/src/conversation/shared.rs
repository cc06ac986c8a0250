//! A conversation that several checks have, one after another: a program that starts slowly is started less often.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use super::Conversation;
use crate::trace::Trace;
use crate::verdict::Outcome;

/// A conversation in the hands of a check.
pub(crate) type Open = OwnedMutexGuard<Conversation>;

/// Where a check leaves its conversation for the next one. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Option<Left>>>);

/// What a check has left.
struct Left {
    conversation: Arc<tokio::sync::Mutex<Conversation>>,
    /// Where the conversation is written down, from its beginning.
    trace: Trace,
    is_reused: bool,
}

impl Shared {
    /// The conversation that the check before has left, if it goes on.
    pub(crate) async fn taken(&self) -> Option<Open> {
        let conversation = self.left(|left| Arc::clone(&left.conversation))?;
        // The check that has it may open a second one.
        let mut open = conversation.try_lock_owned().ok()?;
        if open.renew().await.is_err() || open.is_closed() {
            self.end();
            return None;
        }
        self.left(|left| left.is_reused = true);
        Some(open)
    }

    /// Keeps a new conversation for the next check.
    pub(crate) async fn keep(&self, conversation: Conversation, trace: &Trace) -> Open {
        let conversation = Arc::new(tokio::sync::Mutex::new(conversation));
        let left = Left { conversation: Arc::clone(&conversation), trace: trace.clone(), is_reused: false };
        *self.lock() = Some(left);
        conversation.lock_owned().await
    }

    /// A conversation that no other check has.
    pub(crate) async fn alone(conversation: Conversation) -> Open {
        Arc::new(tokio::sync::Mutex::new(conversation)).lock_owned().await
    }

    /// Ends the conversation.
    pub(crate) fn end(&self) {
        *self.lock() = None;
    }

    /// The whole conversation, if the check that has ended was not its first one.
    pub(crate) fn reused(&self) -> Option<Trace> {
        self.left(|left| left.is_reused.then(|| left.trace.clone())).flatten()
    }

    fn left<T>(&self, read: impl FnOnce(&mut Left) -> T) -> Option<T> {
        self.lock().as_mut().map(read)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Left>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Conversation {
    /// Receives what is there already, and forgets what another check has left.
    async fn renew(&mut self) -> Outcome {
        self.serve(Duration::ZERO).await?;
        self.queue.clear();
        self.asked.clear();
        self.texts.clear();
        Ok(())
    }
}
