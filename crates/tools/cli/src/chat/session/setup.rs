//! Applies the answer that opens a session before the updates that follow it.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::{BoxError, Call};
use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;
use serde::Serialize;

use super::per_session::{PerSession, SessionChange};
use crate::chat::view::display::Display;
use crate::terminal::View;

/// The longest id of a session, in bytes. Each message of the session repeats it.
const ID_LIMIT: usize = 4 << 10;

/// Prints the answer for programs, and shows its settings.
type Show = Box<dyn FnOnce(&View, &Display) -> io::Result<()> + Send>;

/// The answer that opens a session.
pub(in crate::chat) struct Opened {
    id: SessionId,
    show: Show,
}

impl Opened {
    /// `apply` shows the settings of the answer, after it is printed for programs.
    pub(in crate::chat) fn new<T: Serialize + Clone + Send + Sync + 'static>(
        id: SessionId,
        answer: T,
        apply: fn(T, &Display) -> io::Result<()>,
    ) -> Self {
        let show = move |view: &View, display: &Display| {
            let answer = Arc::new(answer);
            view.large_json("session", &answer)?;
            apply(Arc::unwrap_or_clone(answer), display)
        };
        Self { id, show: Box::new(show) }
    }
}

/// The session of a client, and the answer that opens it.
///
/// The answer arrives before the session's updates, but its caller may be polled after they are shown. So the client takes the
/// answer from here before it shows an update.
#[derive(Default)]
pub(in crate::chat) struct SessionSetup {
    /// `None` before a session is open, and while another is being opened.
    session: Mutex<PerSession<Option<SessionId>>>,
    /// The answer, from its arrival until the client takes it.
    answer: Arc<Mutex<Option<Opened>>>,
}

impl SessionSetup {
    /// The open session.
    pub(in crate::chat) fn session(&self) -> Option<SessionId> {
        self.session.lock().clone()
    }

    /// Sets the session.
    pub(in crate::chat) fn open(&self, session: &SessionId) {
        **self.session.lock() = Some(session.clone());
    }

    /// Follows a change of the session. Drops an answer that was not taken.
    pub(in crate::chat) fn follow(&self, change: SessionChange) {
        *self.answer.lock() = None;
        self.session.lock().follow(change, || None);
    }

    /// Whether updates of this session are shown. While a session is being opened, its id is unknown, so the updates of all sessions
    /// but the one before are shown.
    pub(in crate::chat) fn is_ours(&self, session: &SessionId) -> bool {
        let open = self.session.lock();
        match &**open {
            Some(ours) => ours == session,
            None => open.before().and_then(Option::as_ref) != Some(session),
        }
    }

    /// Keeps the answer to a call when it arrives, for [`take`](Self::take). `split` returns the kept part, and the answer for the
    /// caller.
    pub(in crate::chat) fn keep<R: 'static>(
        &self,
        call: Call<R>,
        split: impl FnOnce(R) -> (Opened, R) + Send + 'static,
    ) -> Call<R> {
        let slot = self.answer.clone();
        call.check(move |answer| {
            let (kept, left) = split(answer);
            *slot.lock() = Some(kept);
            Ok(left)
        })
    }

    /// Takes the answer if it has arrived and was not taken: opens its session, prints the answer for programs, and shows its
    /// settings. An answer whose id is too long is dropped; its caller refuses it.
    pub(in crate::chat) fn take(&self, view: &View, display: &Display) -> io::Result<()> {
        let Some(Opened { id, show }) = self.answer.lock().take() else { return Ok(()) };
        if check_id(&id).is_err() {
            return Ok(());
        }
        self.open(&id);
        show(view, display)
    }
}

/// Refuses the id of a session that is too long.
pub(in crate::chat) fn check_id(id: &SessionId) -> Result<(), BoxError> {
    let length = id.as_str().len();
    if length <= ID_LIMIT {
        return Ok(());
    }
    Err(format!("the session's id has {length} bytes, and the limit is {ID_LIMIT}").into())
}

/// Drops an error of the output. The wait for the turn reports it; see
/// [`OutputQueue::failed`](crate::output::output_queue::OutputQueue::failed).
pub(in crate::chat) fn ignore_output_error(outcome: io::Result<()>) {
    let _reported_by_the_turn = outcome;
}
