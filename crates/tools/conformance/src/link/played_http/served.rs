//! Conversations that a client begins over HTTP with what the suite plays, and how a check speaks in each.

use std::future::Future;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::link::Link;
use crate::link::received::{QUEUE, Received};
use crate::verdict::{Outcome, Stop};

/// How long a server waits for a request before it looks again whether the check has ended.
pub(super) const IDLE: Duration = Duration::from_secs(3600);

/// A conversation that a client has begun.
pub(super) type Accepted = (Link, mpsc::Receiver<Received>);

/// Conversations with a client over HTTP. Dropping it ends them.
pub(crate) struct Conversations {
    url: String,
    accepted: mpsc::Receiver<Accepted>,
    commands: mpsc::Sender<Command>,
    task: JoinHandle<()>,
}

/// The suite's end of one conversation.
pub(crate) struct Served {
    number: u64,
    commands: mpsc::Sender<Command>,
}

/// The requests of a check to the server.
pub(super) enum Command {
    /// The check waits for a conversation.
    Accept,
    Send(u64, Value),
    Close(u64),
}

impl Conversations {
    /// Runs a server at a URL, which begins conversations and takes commands.
    pub(super) fn run<F: Future<Output = ()> + Send + 'static>(
        url: String,
        server: impl FnOnce(mpsc::Sender<Accepted>, mpsc::Sender<Command>, mpsc::Receiver<Command>) -> F,
    ) -> Self {
        let (sender, accepted) = mpsc::channel(QUEUE);
        let (commands, received) = mpsc::channel(QUEUE);
        let task = tokio::spawn(server(sender, commands.clone(), received));
        Self { url, accepted, commands, task }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Waits for the client to begin a conversation.
    pub(crate) async fn accept(&mut self, within: Duration) -> Outcome<(Link, mpsc::Receiver<Received>)> {
        // Without the task nothing is accepted either.
        let _sent = self.commands.send(Command::Accept).await;
        match tokio::time::timeout(within, self.accepted.recv()).await {
            Ok(Some(accepted)) => Ok(accepted),
            _ => Err(Stop::failed(
                "the client connects to its server or agent",
                format!("it did not within {} s", within.as_secs()),
            )),
        }
    }
}

impl Drop for Conversations {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Served {
    pub(super) fn new(number: u64, commands: mpsc::Sender<Command>) -> Self {
        Self { number, commands }
    }

    /// Sends a message: a response to where its request came from, another on a stream that may carry it.
    pub(crate) async fn send(&mut self, message: &Value) -> Outcome {
        let sent = self.commands.send(Command::Send(self.number, message.clone())).await;
        sent.map_err(|_| Stop::inconclusive("the server of the suite has ended"))
    }

    /// Ends the conversation as a server that exits.
    pub(crate) fn close(&mut self) {
        // It may have ended already.
        let _sent = self.commands.try_send(Command::Close(self.number));
    }
}
