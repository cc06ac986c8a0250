//! Answers a server's questions while a command waits for the server, within the command's time limit.

mod answers;
mod deadline;
mod responder;

use std::future::pending;
use std::io;
use std::pin::pin;

use agentwire_mcp_client::{BoxError, CallError, Client, Tasks};
use anyhow::Result;
use tokio::sync::mpsc;

pub(crate) use self::deadline::{Deadline, PersonTime};
use self::responder::Question;
pub(crate) use self::responder::Responder;
use crate::failure::{ErrorWithHint, Exit, Failure, Interrupted, ToolFailed, Usage, to_anyhow};
use crate::signals::Signals;

/// A function that adds the capabilities to a client, and the questions that the client receives. All commands have the same
/// capabilities, because servers leave out of their lists the items that a client cannot use.
pub(crate) fn channel() -> (impl FnOnce(Client) -> Client, mpsc::Receiver<Question>) {
    let (add_handlers, questions) = responder::channel();
    (|client| add_handlers(client).tasks(Tasks::new()), questions)
}

/// Answers a server's questions while a command waits for the server, until the deadline or a signal.
pub(crate) struct Questions {
    pub(crate) responder: Responder,
    pub(crate) queue: mpsc::Receiver<Question>,
    pub(crate) deadline: Deadline,
    pub(crate) person: PersonTime,
    pub(crate) signals: Signals,
}

impl Questions {
    /// Waits for `work`, and answers questions in that time.
    pub(crate) async fn answer_during<R>(
        &mut self,
        work: impl Future<Output = Result<R, BoxError>>,
    ) -> Result<R, BoxError> {
        self.answer_and_report(work, async || pending().await).await
    }

    /// As [`answer_during`](Self::answer_during), for work that reports progress. `report` waits for a report and shows it. Dropping
    /// its future loses no report.
    pub(crate) async fn answer_and_report<R>(
        &mut self,
        work: impl Future<Output = Result<R, BoxError>>,
        mut report: impl AsyncFnMut() -> io::Result<()>,
    ) -> Result<R, BoxError> {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                // First, so that no question is shown after ^C.
                () = self.responder.interrupts() => return Err(Interrupted::BY_KEY.into()),
                interrupted = self.signals.interrupted() => return Err(interrupted.into()),
                shown = report() => {
                    shown?;
                    self.deadline.renew();
                    self.deadline.check()?;
                }
                Some(question) = self.queue.recv() => {
                    // Reports wait while a question is open. The work continues, and its end withdraws the question.
                    let _wait = self.person.begin();
                    tokio::select! {
                        biased;
                        interrupted = self.signals.interrupted() => {
                            self.responder.question_withdrawn().await;
                            return Err(interrupted.into());
                        }
                        () = self.responder.answer(question) => {}
                        result = &mut work => {
                            self.responder.question_withdrawn().await;
                            return result;
                        }
                    }
                }
                result = &mut work => return result,
                overdue = self.deadline.expired() => return Err(overdue.into()),
            }
        }
    }

    /// The outcome of the command. It is an error if a question was declined: the server may report success without the action that it
    /// asked about. `done` states the progress at the time of the question.
    pub(crate) fn outcome<R>(&self, outcome: Result<R, BoxError>, done: &str) -> Result<R, BoxError> {
        self.responder.note_unused_answers();
        // Without an answer of the server, the declined question is not the reason.
        if let Err(error) = &outcome
            && !is_answer(error)
        {
            return outcome;
        }
        if let Some(why) = self.responder.wrong_answer() {
            return Err(Usage(format!("{why}; {done}")).into());
        }
        let Some(why) = self.responder.declined() else { return outcome };
        let error = match outcome {
            Ok(_) => Failure::new(Exit::NotPermitted, why),
            Err(error) if error.is::<ToolFailed>() => {
                Failure::new(Exit::NotPermitted, format!("the tool failed, and {why}"))
            }
            Err(error) => Failure::new(Exit::NotPermitted, to_anyhow(error).context(why)),
        };
        Err(error.into())
    }
}

/// Whether the error is an answer of the server: a refusal, or further questions beyond the limit.
fn is_answer(error: &BoxError) -> bool {
    let answered =
        |error: &CallError| matches!(error, CallError::Refused { .. } | CallError::Unusable { .. });
    error.is::<ToolFailed>() || error.is::<ErrorWithHint>() || error.downcast_ref().is_some_and(answered)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agentwire_jsonrpc::ErrorObject;

    use super::*;

    #[test]
    fn further_questions_count_as_an_answer() {
        let rows: [(BoxError, bool); 5] = [
            (CallError::unusable("resources/read", "the server still asks after 10 rounds").into(), true),
            (CallError::refused("resources/read", ErrorObject::new(1, "no")).into(), true),
            (ToolFailed.into(), true),
            (CallError::timed_out("resources/read", Duration::from_secs(1)).into(), false),
            (CallError::cancelled("resources/read").into(), false),
        ];
        for (error, expected) in rows {
            assert_eq!(is_answer(&error), expected, "{error}");
        }
    }
}
