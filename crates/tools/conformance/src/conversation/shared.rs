//! A conversation that several checks have, one after another: a program that starts slowly is started less often.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::OwnedMutexGuard;

use super::Conversation;
use crate::trace::Trace;
use crate::verdict::Outcome;

/// A conversation in the hands of a check.
pub(crate) type Open = OwnedMutexGuard<Conversation>;

/// The conversation that one check leaves to the next. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    left: Option<Left>,
    /// Whether the check has a conversation that another one has left.
    is_reused: bool,
    /// The conversations that have ended, until audits have read them.
    ended: Vec<Trace>,
}

/// A conversation and its trace.
struct Left {
    conversation: Arc<tokio::sync::Mutex<Conversation>>,
    /// The messages of the conversation, from its beginning.
    trace: Trace,
}

impl Shared {
    /// The conversation that the check before has left, if it goes on.
    pub(crate) async fn taken(&self) -> Option<Open> {
        let left = self.lock().left.as_ref().map(|left| (Arc::clone(&left.conversation), left.trace.clone()));
        let (conversation, trace) = left?;
        // The check that has it may open a second one.
        let mut open = conversation.try_lock_owned().ok()?;
        if trace.is_long() || open.renew().await.is_err() || open.is_closed() {
            self.end();
            return None;
        }
        self.lock().is_reused = true;
        Some(open)
    }

    /// Keeps a new conversation for the next check.
    pub(crate) async fn keep(&self, conversation: Conversation, trace: &Trace) -> Open {
        self.end();
        let conversation = Arc::new(tokio::sync::Mutex::new(conversation));
        let left = Left { conversation: Arc::clone(&conversation), trace: trace.clone() };
        self.lock().left = Some(left);
        conversation.lock_owned().await
    }

    /// A conversation that no other check has.
    pub(crate) async fn alone(conversation: Conversation) -> Open {
        Arc::new(tokio::sync::Mutex::new(conversation)).lock_owned().await
    }

    /// Ends the conversation.
    pub(crate) fn end(&self) {
        let mut inner = self.lock();
        let left = inner.left.take();
        inner.ended.extend(left.map(|left| left.trace));
    }

    /// The whole conversations that have ended since the last call.
    pub(crate) fn ended(&self) -> Vec<Trace> {
        std::mem::take(&mut self.lock().ended)
    }

    /// Whether the check has the conversation of another one.
    pub(crate) fn is_reused(&self) -> bool {
        self.lock().is_reused
    }

    /// Whether the check that has ended had the conversation of another one.
    pub(crate) fn was_reused(&self) -> bool {
        std::mem::take(&mut self.lock().is_reused)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
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
