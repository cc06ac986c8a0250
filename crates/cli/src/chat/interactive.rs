//! Where prompts come from: lines of the person at the terminal, or one text of the command line or of stdin.

use std::future::Future;
use std::io::{self, IsTerminal as _, Read as _};
use std::pin::pin;

use agentwire_acp_client::{BoxError, Closed};

use super::adapter::AgentAdapter;
use super::commands::{COMMANDS, ColonCommand};
use super::console::Console;
use super::editor::{EditOutcome, Editor};
use super::session::Session;
use crate::failure::Interrupted;
use crate::terminal::Screen;

/// Reads lines and runs turns until the person ends the conversation.
pub(super) async fn run_interactive<A: AgentAdapter>(session: &mut Session<'_, A>) -> Result<(), BoxError> {
    let hint = "^C cancels a turn, ^D ends the conversation, :help shows more.";
    session.console.view.remark(hint)?;
    // The line editor needs a terminal at stdout.
    let can_edit = !session.console.view.is_json() && io::stdout().is_terminal();
    let mut editor = can_edit.then(|| Editor::new(session.console.completions.clone()));
    loop {
        let closed = session.agent.closed();
        let Some(line) = session.console.next_line(editor.as_mut(), closed).await? else { return Ok(()) };
        if line.trim().is_empty() {
            continue;
        }
        let outcome = match line.starts_with(':').then(|| ColonCommand::read(&line)) {
            None => session.send(line, true).await,
            Some(Ok(ColonCommand::Quit)) => return Ok(()),
            Some(Ok(ColonCommand::Help)) => help(session.console),
            Some(Ok(command)) => session.run(command).await,
            Some(Err(why)) => Err(why.into()),
        };
        match outcome {
            Ok(()) => {}
            Err(error) if session.agent.is_closed() => return Err(error),
            Err(error) => {
                let error = session.console.sentence(error);
                session.console.view.remark(&format!("error: {error}"))?;
            }
        }
    }
}

/// Sends the prompt of the command line or of stdin. An empty prompt only opens the session.
pub(super) async fn run_once<A: AgentAdapter>(
    session: &mut Session<'_, A>,
    prompt: Option<String>,
) -> Result<(), BoxError> {
    let names_files = prompt.is_some();
    let prompt = match prompt {
        Some(prompt) => prompt,
        None => {
            let closed = session.agent.closed();
            // Text from a pipe was not typed by the person, so it does not decide which files are sent.
            session.console.read(closed, read_stdin).await?
        }
    };
    if prompt.trim().is_empty() { Ok(()) } else { session.send(prompt, names_files).await }
}

fn help(console: &Console) -> Result<(), BoxError> {
    for (name, arguments, about) in COMMANDS {
        console.view.line(&format!("{:<20} {about}", format!(":{name}{arguments}")))?;
    }
    console.view.line(&format!("{:<20} {}", "/…", "a command of the agent's; Tab shows which there are"))?;
    console.view.line(&format!("{:<20} {}", "@path", "a file that is sent with the prompt"))?;
    Ok(())
}

/// Why the line editor is interrupted.
enum Interruption {
    /// Output or a question needs the terminal.
    Terminal,
    Signal(Interrupted),
    Closed(Closed),
}

impl Console {
    /// The next line that the person types. None at the end of stdin, on ^D, and after ^C twice. Fails on a signal.
    async fn next_line(
        &mut self,
        editor: Option<&mut Editor>,
        closed: impl Future<Output = Closed>,
    ) -> Result<Option<String>, BoxError> {
        match editor {
            Some(editor) => self.edit_line(editor, closed).await,
            None => {
                self.view.on_screen(|screen| screen.ask("> "))?;
                let line = self.read(closed, read_line).await?;
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
            output.written().await?;
            let held = output.hold();
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
            if outcome == EditOutcome::Interrupted {
                held.clear_line();
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
                    self.view.remark("^C again ends the conversation.")?;
                }
                (_, EditOutcome::Interrupted) => {}
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
        tokio::select! {
            read = tokio::task::spawn_blocking(read) => Ok(read??),
            interrupted = self.signals.interrupted() => Err(interrupted.into()),
            closed = closed => {
                self.view.turn_ended(None)?;
                Err(closed.into())
            }
        }
    }
}

fn read_stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn read_line() -> io::Result<Option<String>> {
    let mut line = String::new();
    let is_there = io::stdin().read_line(&mut line)? > 0;
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
    Ok(is_there.then_some(line))
}
