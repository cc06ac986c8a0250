//! The session of a client, and the answer that opens it.

use std::io;
use std::sync::Arc;

use agentwire_acp_client::{BoxError, Call};
use agentwire_acp_schema::v1::SessionId;
use agentwire_sync::Mutex;
use serde::Serialize;

use super::per_session::{PerSession, SessionChange};
use crate::terminal::View;

/// The longest id of a session, in bytes. Each message of the session repeats it.
const ID_LIMIT: usize = 4 << 10;

/// The session of a client, and the answer that opens it. `T` is the answer.
///
/// The answer arrives before the updates that the agent sends after it, but its caller may be polled later than they are
/// shown. So the client takes the answer from here before it shows an update.
pub(in crate::chat) struct SessionSetup<T> {
    /// None before a session is open, and while another is opened.
    session: Mutex<PerSession<Option<SessionId>>>,
    /// The answer, from its arrival until the client takes it.
    answer: Arc<Mutex<Option<T>>>,
    id: fn(&T) -> &SessionId,
}

impl<T: Serialize + Clone + Send + Sync + 'static> SessionSetup<T> {
    /// No session yet. `id` gives the session's id of an answer.
    pub(in crate::chat) fn new(id: fn(&T) -> &SessionId) -> Self {
        Self { session: Mutex::default(), answer: Arc::default(), id }
    }

    /// The open session.
    pub(in crate::chat) fn session(&self) -> Option<SessionId> {
        self.session.lock().clone()
    }

    /// Sets the session.
    pub(in crate::chat) fn open(&self, session: &SessionId) {
        **self.session.lock() = Some(session.clone());
    }

    /// Follows a change of the session. An answer that has not opened its session never does.
    pub(in crate::chat) fn follow(&self, change: SessionChange) {
        *self.answer.lock() = None;
        self.session.lock().follow(change, || None);
    }

    /// Whether updates of this session are shown. Before a session is open, those of any are, but for the session that is left.
    pub(in crate::chat) fn is_ours(&self, session: &SessionId) -> bool {
        let open = self.session.lock();
        match &**open {
            Some(ours) => ours == session,
            None => open.before().and_then(Option::as_ref) != Some(session),
        }
    }

    /// Keeps the answer to a call when it arrives, for [`take`](Self::take). `split` returns what is kept, and what the caller
    /// of the call gets.
    pub(in crate::chat) fn keep<R: 'static>(
        &self,
        call: Call<R>,
        split: impl FnOnce(R) -> (T, R) + Send + 'static,
    ) -> Call<R> {
        let slot = self.answer.clone();
        call.check(move |answer| {
            let (kept, left) = split(answer);
            *slot.lock() = Some(kept);
            Ok(left)
        })
    }

    /// Takes the answer if it has arrived and was not taken: prints it for programs, and opens its session. An answer whose id
    /// is too long is dropped; its caller refuses it.
    pub(in crate::chat) fn take(&self, view: &View) -> io::Result<Option<T>> {
        let Some(answer) = self.answer.lock().take() else { return Ok(None) };
        if check_id((self.id)(&answer)).is_err() {
            return Ok(None);
        }
        let answer = Arc::new(answer);
        view.large_json("session", &answer)?;
        let answer = Arc::unwrap_or_clone(answer);
        self.open((self.id)(&answer));
        Ok(Some(answer))
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
