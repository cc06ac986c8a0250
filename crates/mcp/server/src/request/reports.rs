//! The methods of `Context` that send progress, log messages and resource updates.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use agentwire_jsonrpc::{NotificationMethod, RawJson};
use agentwire_mcp_schema::{LoggingLevel, LoggingMessageNotification, ProgressNotification};
use agentwire_peer::runtime::PeerExt;
use agentwire_peer::{CallError, Peer};
use futures::future::Either;
use serde::Serialize;

use crate::Context;
use crate::listeners::Change;
use crate::request::yield_timer::yield_once;
use crate::scope::SendInScope;
use crate::warning::ServerWarning;

/// Progress and log.
impl Context {
    /// Whether the client wants progress notifications and can get them. For a [task](crate::ServerTool::task) it can only
    /// in a session.
    pub fn wants_progress(&self) -> bool {
        self.progress_state().token.is_some() && self.reaches_client()
    }

    /// Sends a progress notification, if the client wants them.
    ///
    /// `progress` and `total` are in any one unit. Progress grows: a report that is not greater than the last one is not
    /// sent, nor is one after the request was answered. `message` is for people, since revision 2025-03-26. Waits while
    /// the connection's queue is full; nothing else limits how many reports are sent.
    ///
    /// Yields at least every 200 µs, whether or not a report is sent, so that other functions run. A function whose call
    /// was cancelled is dropped there.
    ///
    /// # Errors
    ///
    /// When the connection has ended.
    pub async fn progress(
        &self,
        progress: f64,
        total: Option<f64>,
        message: Option<&str>,
    ) -> Result<(), CallError> {
        let state = self.progress_state();
        let token = state.token.as_ref().filter(|_| self.reaches_client() && state.grows_to(progress));
        let Some(token) = token else {
            self.yields().yield_if_due().await;
            return Ok(());
        };
        let mut notification = ProgressNotification::new(token.clone(), progress);
        notification.total = total;
        if self.revision().has_progress_message() {
            notification.message = message.map(str::to_owned);
        }
        self.relate(&mut notification);
        let unrelated = self.unrelated_peer();
        let mut notify = pin!(self.notify(unrelated.as_ref(), &notification));
        let sent = poll_fn(|cx| {
            // Another report may have been greater while this one waited for room.
            if !state.grows_to(progress) {
                return Poll::Ready(Ok(()));
            }
            let sent = notify.as_mut().poll(cx);
            if sent.is_ready() {
                state.set(progress);
            }
            sent
        })
        .await;
        if self.goes_on(&sent) { sent } else { self.after(sent).await }
    }

    /// Sends a log message. `logger` names the part of the server; `data` is a string, or anything else with a JSON form.
    ///
    /// Sends nothing below the level that the client has set. Without [`Server::logging`](crate::Server::logging) it sends
    /// nothing at all, and [warns](crate::Server::on_warning) once. Since revision 2026-07-28 the client sets the level with each
    /// request, and gets no messages without one, nor after the answer. Do not log secrets. Like
    /// [`progress`](Self::progress), yields at least every 200 µs.
    ///
    /// # Errors
    ///
    /// When the connection has ended, or the data has no JSON form.
    pub async fn log<T: Serialize + ?Sized>(
        &self,
        level: LoggingLevel,
        logger: Option<&str>,
        data: &T,
    ) -> Result<(), CallError> {
        if !self.wants_log(&level) {
            if !self.settings().logs() {
                self.settings().warnings.give(ServerWarning::NoLogging);
            }
            self.yields().yield_if_due().await;
            return Ok(());
        }
        let sent_level = level.clone();
        let data = RawJson::encode(data).map_err(|error| {
            CallError::not_allowed("notifications/message", format!("the data has no JSON form: {error}"))
        })?;
        let mut notification = LoggingMessageNotification::new(level, data);
        notification.logger = logger.map(str::to_owned);
        self.relate(&mut notification);
        let unrelated = self.unrelated_peer();
        let mut notify = pin!(self.notify(unrelated.as_ref(), &notification));
        // The request may be answered while this waits for room. Then no message about it may be sent.
        let sent = poll_fn(|cx| match self.wants_log(&sent_level) {
            true => notify.as_mut().poll(cx),
            false => Poll::Ready(Ok(())),
        });
        let sent = sent.await;
        if self.goes_on(&sent) { sent } else { self.after(sent).await }
    }

    /// Notifies the clients of this server that subscribed to the resource at that URI of a change: all of them, on every
    /// connection. Without [`resource_updates`](crate::Server::resource_updates) it notifies none of them, and
    /// [warns](crate::Server::on_warning) once.
    ///
    /// ```
    /// use agentwire_mcp_server::{Context, Server, State};
    /// # use std::sync::{Arc, Mutex};
    ///
    /// async fn forget(notes: State<Arc<Mutex<Vec<String>>>>, cx: Context) -> &'static str {
    ///     notes.lock().unwrap().clear();
    ///     cx.resource_updated("notes://all");
    ///     "forgotten"
    /// }
    ///
    /// async fn all(notes: State<Arc<Mutex<Vec<String>>>>) -> String {
    ///     notes.lock().unwrap().join("\n")
    /// }
    ///
    /// let server = Server::new("notes", "1.0.0")
    ///     .state(Arc::new(Mutex::new(vec!["milk".to_owned()])))
    ///     .tool("forget", "Forget all notes", forget)
    ///     .resource("notes://all", "all", all)
    ///     .resource_updates();
    /// # let _ = server;
    /// ```
    pub fn resource_updated(&self, uri: &str) {
        self.settings().announce_update(uri);
    }

    /// Notifies all clients of this server that the list of resources has changed, such as what its templates lead to. What is
    /// [added](crate::Server::add_resource) and removed is announced by itself.
    pub fn resources_changed(&self) {
        self.settings().listeners.announce(Change::Resources);
    }

    /// Whether notifications reach the client: since 2026-07-28 they do not once the call is a task.
    #[inline]
    fn reaches_client(&self) -> bool {
        self.task().is_none_or(|task| self.in_session() && !task.is_over())
    }

    fn wants_log(&self, level: &LoggingLevel) -> bool {
        let is_over = self.progress_state().is_over();
        self.client_context().wants_log(self.settings(), level, is_over) && self.reaches_client()
    }

    /// The peer for the notifications of a task, whose request is answered already. None for any other call.
    fn unrelated_peer(&self) -> Option<Peer> {
        self.scope().peer().filter(|_| self.task().is_some()).map(Peer::unrelated)
    }

    fn notify<'a, N: NotificationMethod>(
        &'a self,
        unrelated: Option<&'a Peer>,
        notification: &N,
    ) -> SendInScope<'a> {
        match unrelated {
            Some(peer) => Either::Left(peer.notify(notification)),
            None => self.scope().notify(notification),
        }
    }

    /// Whether a function may go on at once after a notification.
    #[inline]
    fn goes_on(&self, sent: &Result<(), CallError>) -> bool {
        sent.is_ok() && !self.yields().is_due_queued()
    }

    /// Yields after a notification. A task outlives the connection on which it began, so its function gets no error when
    /// that ends.
    async fn after(&self, sent: Result<(), CallError>) -> Result<(), CallError> {
        match sent {
            Ok(()) => yield_once().await,
            Err(_) => self.yields().yield_if_due().await,
        }
        sent.or_else(|error| if self.task().is_some() { Ok(()) } else { Err(error) })
    }
}
