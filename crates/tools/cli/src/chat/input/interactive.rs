//! Reads prompts and sends them: lines of the person at the terminal, or one text of the command line or of stdin.

use std::future::Future;
use std::io::{self, IsTerminal as _, Write as _};
use std::pin::pin;
use std::time::Instant;

use agentwire_acp_client::{BoxError, CallError, Closed};
use agentwire_transport::TransportError;

use super::commands::{COMMANDS, ColonCommand};
use super::edit_outcome::EditOutcome;
use super::editor::Editor;
use super::prompt::Prompt;
use crate::chat::adapter::AgentAdapter;
use crate::chat::adapter::TurnStopped;
use crate::chat::agent_login::TerminalLogin;
use crate::chat::input::{PipedInput, PipedText};
use crate::chat::session::Session;
use crate::chat::view::console::Console;
use crate::failure::{Exit, Failure, Interrupted};
use crate::features::missing;
use crate::signals::stop_process;
use crate::terminal::{Screen, is_dumb};

/// Reads lines and runs turns until the person ends the conversation. `pending` is a prompt that is sent first.
pub(in crate::chat) async fn run_interactive<A: AgentAdapter>(
    session: &mut Session<'_, A>,
    pending: Option<Prompt>,
) -> Result<(), BoxError> {
    let hint = "^C cancels a turn, ^D ends the conversation, :help shows more.";
    session.console.view.remark(hint)?;
    // The line editor needs a terminal at stdout.
    let can_edit = !session.console.view.is_json() && io::stdout().is_terminal() && !is_dumb();
    let mut editor = can_edit.then(|| session.console.completions.clone()).and_then(Editor::open);
    if can_edit && editor.is_none() {
        session.console.view.remark(&missing("line editing with history and completion", "editor"))?;
    }
    if let Some(prompt) = pending {
        let outcome = session.send_prompt(prompt).await;
        report(session, outcome)?;
    }
    loop {
        let closed = session.agent.closed();
        let Some(line) = session.console.next_line(editor.as_mut(), closed).await? else { return Ok(()) };
        if line.trim().is_empty() {
            continue;
        }
        let outcome = match line.starts_with(':').then(|| ColonCommand::read(&line)) {
            None => session.send(line, true, None).await,
            Some(Ok(ColonCommand::Quit)) => return Ok(()),
            Some(Ok(ColonCommand::Help)) => help(session.console),
            Some(Ok(command)) => session.run(command).await,
            Some(Err(why)) => Err(why.into()),
        };
        report(session, outcome)?;
    }
}

/// Shows why a line of the conversation failed. Returns the errors that end the conversation.
fn report<A: AgentAdapter>(
    session: &mut Session<'_, A>,
    outcome: Result<(), BoxError>,
) -> Result<(), BoxError> {
    // The permission rules have already reported their refusals on stderr.
    let Err(error) = outcome else { return Ok(()) };
    if let Some(interrupted) =
        session.console.interrupted.filter(|interrupted| *interrupted != Interrupted::BY_KEY)
    {
        return Err(interrupted.into());
    }
    // The turn has shown that it was cancelled.
    let is_cancelled =
        session.console.interrupted.is_some() && error.downcast_ref() == Some(&Interrupted::BY_KEY);
    let is_shown = is_cancelled || error.downcast_ref::<TurnStopped>().is_some();
    let ends = session.agent.is_closed()
        || error.downcast_ref::<TerminalLogin>().is_some()
        || error.downcast_ref::<Interrupted>().is_some_and(|by| *by != Interrupted::BY_KEY);
    match (ends, is_shown) {
        (true, _) => Err(error),
        (_, true) => Ok(()),
        _ => {
            if is_failure(&error) {
                session.console.log.show_kept();
            }
            Ok(session.console.view.failed_turn(&session.console.named(error))?)
        }
    }
}

/// Whether an error is a failure of the agent, which its stderr may explain. A mistyped command, a turn that the agent
/// stopped with a reason, and a turn that a person or a rule ended are not failures.
pub(in crate::chat) fn is_failure(error: &BoxError) -> bool {
    match error.downcast_ref().map(Failure::exit) {
        Some(Exit::NotPermitted | Exit::Usage | Exit::Interrupted(_)) => false,
        Some(_) => true,
        None => {
            error.find::<CallError>().is_some()
                || error.find::<Closed>().is_some()
                || error.find::<TransportError>().is_some()
                || error.exited().is_some()
        }
    }
}

/// Sends the prompt of the command line with the text of stdin, or that text alone. An empty prompt only opens the session.
pub(in crate::chat) async fn run_once<A: AgentAdapter>(
    session: &mut Session<'_, A>,
    prompt: Option<String>,
    piped: Option<PipedInput>,
) -> Result<(), BoxError> {
    let text = match piped.or_else(|| prompt.is_none().then(PipedInput::prompt)) {
        Some(piped) => {
            let since = Instant::now();
            let text = session.console.wait_for(session.agent.closed(), piped.text()).await?;
            session.console.limit.exclude(since);
            text
        }
        None => PipedText::Empty,
    };
    let text = match text {
        PipedText::Text(text) => Some(text),
        PipedText::Empty => None,
        PipedText::Late => {
            let note = "stdin is not read: nothing came from it within 3 s; </dev/null says that it is empty";
            session.console.view.diagnostics().add(note);
            None
        }
    };
    match (prompt.filter(|prompt| !prompt.trim().is_empty()), text) {
        (None, None) => Ok(()),
        // Text from a pipe was not typed by the person, so it does not decide which files are sent.
        (None, Some(text)) => session.send(text, false, None).await,
        (Some(prompt), text) => session.send(prompt, true, text).await,
    }
}

fn help(console: &Console) -> Result<(), BoxError> {
    for (name, arguments, about) in COMMANDS {
        console.view.line(&format!("{:<20} {about}", format!(":{name}{arguments}")))?;
    }
    let tab = if cfg!(feature = "editor") { "; Tab shows which there are" } else { "" };
    console.view.line(&format!("{:<20} a command of the agent's{tab}", "/…"))?;
    console.view.line(&format!("{:<20} {}", "@path", "a file that is sent with the prompt"))?;
    Ok(())
}

/// The reasons to interrupt the line editor.
enum Interruption {
    /// Output or a question needs the terminal.
    Terminal,
    Signal(Interrupted),
    Closed(Closed),
}

impl Console {
    /// The next line that the person types. `None` at the end of stdin, on ^D, and after ^C twice. Fails on a signal.
    async fn next_line(
        &mut self,
        editor: Option<&mut Editor>,
        closed: impl Future<Output = Closed>,
    ) -> Result<Option<String>, BoxError> {
        match editor {
            Some(editor) => self.edit_line(editor, closed).await,
            None => {
                // Without the line editor, questions read from stdin too.
                let line = match self.has_person {
                    true => {
                        let (user, view) = (self.user.clone(), self.view.clone());
                        let line = async {
                            loop {
                                // After a question, shows the prompt for the line again.
                                let keyboard = user.keyboard_after_others().await;
                                view.on_screen(|screen| screen.ask("> "))?;
                                tokio::select! {
                                    line = user.next_line() => return line,
                                    () = user.question_waits() => drop(keyboard),
                                }
                            }
                        };
                        self.wait_for(closed, line).await?
                    }
                    false => {
                        self.view.on_screen(|screen| screen.ask("> "))?;
                        self.read(closed, read_line).await?
                    }
                };
                self.view.on_screen(|screen| {
                    screen.input_ended();
                    Ok(())
                })?;
                Ok(line)
            }
        }
    }

    async fn edit_line(
        &mut self,
        editor: &mut Editor,
        closed: impl Future<Output = Closed>,
    ) -> Result<Option<String>, BoxError> {
        let mut closed = pin!(closed);
        let mut was_cleared = false;
        loop {
            let keyboard = tokio::select! {
                keyboard = self.user.keyboard_after_others() => keyboard,
                interrupted = self.signals.interrupted() => return Err(interrupted.into()),
            };
            self.view.on_screen(Screen::stop_spinner)?;
            let output = self.view.output();
            tokio::select! {
                written = output.written() => written?,
                interrupted = self.signals.interrupted() => return Err(interrupted.into()),
            }
            let held = output.hold();
            editor.add(&self.user.take_typed());
            let mut interruption = None;
            let outcome = editor
                .read(async {
                    interruption = Some(tokio::select! {
                        () = output.wanted() => Interruption::Terminal,
                        () = self.user.question_waits() => Interruption::Terminal,
                        interrupted = self.signals.interrupted() => Interruption::Signal(interrupted),
                        closed = &mut closed => Interruption::Closed(closed),
                    });
                })
                .await?;
            match outcome {
                EditOutcome::Interrupted => held.clear_line(),
                EditOutcome::Suspended => {
                    // The cursor is within the line that is edited.
                    writeln!(io::stdout())?;
                    stop_process().await;
                }
                _ => {}
            }
            drop((held, keyboard));
            match (interruption, outcome) {
                (Some(Interruption::Signal(interrupted)), _) => return Err(interrupted.into()),
                (Some(Interruption::Closed(closed)), _) => return Err(closed.into()),
                (_, EditOutcome::Line(line)) => return Ok(Some(line)),
                (_, EditOutcome::End) => return Ok(None),
                (_, EditOutcome::Cleared) if was_cleared => return Ok(None),
                (_, EditOutcome::Cleared) => {
                    was_cleared = true;
                    self.view.tell("^C again ends the conversation.")?;
                }
                (_, EditOutcome::Interrupted | EditOutcome::Suspended) => {}
            }
        }
    }

    /// Reads from stdin. Fails on a signal.
    async fn read<T: Send + 'static>(
        &mut self,
        closed: impl Future<Output = Closed>,
        read: fn() -> io::Result<T>,
    ) -> Result<T, BoxError> {
        // Reading blocks, so a thread does it. After a signal the thread is left behind, and ends with the process.
        let read = async { tokio::task::spawn_blocking(read).await.map_err(io::Error::from)? };
        self.wait_for(closed, read).await
    }

    /// Waits for input. Fails on a signal.
    async fn wait_for<T>(
        &mut self,
        closed: impl Future<Output = Closed>,
        input: impl Future<Output = Result<T, impl Into<BoxError>>>,
    ) -> Result<T, BoxError> {
        tokio::select! {
            read = input => read.map_err(Into::into),
            interrupted = self.signals.interrupted() => Err(interrupted.into()),
            closed = closed => {
                self.view.turn_ended(None)?;
                Err(closed.into())
            }
        }
    }
}

fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let is_there = io::stdin().read_line(&mut line)? > 0;
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(is_there.then_some(line))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::failure::Usage;

    #[test]
    fn only_a_failure_of_the_agent_shows_its_stderr() {
        let rows: [(BoxError, bool); 9] = [
            (CallError::timed_out("session/new", Duration::from_secs(1)).into(), true),
            (Closed::default().into(), true),
            (Failure::new(Exit::TimedOut, "late").into(), true),
            (Failure::new(Exit::Unauthorized, "log in").into(), true),
            ("there is no mode `plan`; there are: ask, code".into(), false),
            (Usage("it is `:new`".into()).into(), false),
            (Failure::new(Exit::NotPermitted, "no").into(), false),
            (Interrupted::BY_KEY.into(), false),
            (io::Error::from(io::ErrorKind::BrokenPipe).into(), false),
        ];
        for (error, is_of_agent) in rows {
            assert_eq!(is_failure(&error), is_of_agent, "{error:?}");
        }
    }
}
