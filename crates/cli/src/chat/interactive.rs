//! A conversation with a person, line by line.

use std::future::Future;
use std::io::{self, IsTerminal as _, Read as _};
use std::pin::pin;

use agentwire_acp_client::{BoxError, Closed};

use super::Chat;
use super::agent::AgentAdapter;
use super::commands::{COMMANDS, Command};
use super::editor::{Edited, Editor};
use super::screen::Screen;
use super::session::Session;

/// Reads lines and runs turns until the person ends the conversation.
pub(super) async fn run_interactive<A: AgentAdapter>(session: &mut Session<'_, A>) -> Result<(), BoxError> {
    let hint = "^C cancels a turn, ^D ends the conversation, :help shows more.";
    session.chat.view.remark(hint)?;
    // Only a terminal that shows what is edited can be edited at.
    let can_edit = !session.chat.view.is_json() && io::stdout().is_terminal();
    let mut editor = can_edit.then(|| Editor::new(session.chat.completions.clone()));
    loop {
        let closed = session.agent.closed();
        let Some(line) = session.chat.next_line(editor.as_mut(), closed).await? else { return Ok(()) };
        if line.trim().is_empty() {
            continue;
        }
        let outcome = match line.starts_with(':').then(|| Command::read(&line)) {
            None => session.send(line, true).await,
            Some(Ok(Command::Quit)) => return Ok(()),
            Some(Ok(Command::Help)) => help(session.chat),
            Some(Ok(command)) => session.run(command).await,
            Some(Err(why)) => Err(why.into()),
        };
        match outcome {
            Ok(()) => {}
            Err(error) if session.agent.is_closed() => return Err(error),
            Err(error) => session.chat.view.remark(&format!("error: {error}"))?,
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
            session.chat.read(closed, read_stdin).await?.ok_or("interrupted")?
        }
    };
    if prompt.trim().is_empty() { Ok(()) } else { session.send(prompt, names_files).await }
}

fn help(chat: &Chat) -> Result<(), BoxError> {
    for (name, arguments, about) in COMMANDS {
        chat.view.line(&format!("{:<20} {about}", format!(":{name}{arguments}")))?;
    }
    chat.view.line(&format!("{:<20} {}", "/…", "a command of the agent's; Tab shows which there are"))?;
    chat.view.line(&format!("{:<20} {}", "@path", "a file that is sent with what is said"))?;
    Ok(())
}

/// Why an editor is interrupted.
enum Interruption {
    /// Something is to be shown, or a question to be asked.
    Terminal,
    Signal,
    Closed(Closed),
}

impl Chat {
    /// The next line that the person types. None when they have enough.
    async fn next_line(
        &mut self,
        editor: Option<&mut Editor>,
        closed: impl Future<Output = Closed>,
    ) -> Result<Option<String>, BoxError> {
        match editor {
            Some(editor) => self.edit_line(editor, closed).await,
            None => {
                self.view.on_screen(|screen| screen.ask("> "))?;
                let line = self.read(closed, read_line).await?.flatten();
                self.view.on_screen(|screen| {
                    screen.line_is_typed();
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
        let mut cleared = false;
        loop {
            let keyboard = tokio::select! {
                keyboard = self.user.keyboard_after_others() => keyboard,
                () = self.signals.next() => return Ok(None),
            };
            self.view.on_screen(Screen::stop_waiting)?;
            let output = self.view.output();
            output.written().await?;
            let held = output.hold();
            let mut why = None;
            let edited = editor
                .read(async {
                    why = Some(tokio::select! {
                        () = output.wanted() => Interruption::Terminal,
                        () = self.user.wanted() => Interruption::Terminal,
                        () = self.signals.next() => Interruption::Signal,
                        closed = &mut closed => Interruption::Closed(closed),
                    });
                })
                .await?;
            if edited == Edited::Interrupted {
                held.clear_line();
            }
            drop((held, keyboard));
            match (why, edited) {
                (Some(Interruption::Signal), _) => return Ok(None),
                (Some(Interruption::Closed(closed)), _) => return Err(closed.into()),
                (_, Edited::Line(line)) => return Ok(Some(line)),
                (_, Edited::End) => return Ok(None),
                (_, Edited::Cleared) if cleared => return Ok(None),
                (_, Edited::Cleared) => {
                    cleared = true;
                    self.view.remark("^C again ends the conversation.")?;
                }
                (_, Edited::Interrupted) => {}
            }
        }
    }

    /// Waits for what the person says. None when that is an interrupt.
    async fn read<T: Send + 'static>(
        &mut self,
        closed: impl Future<Output = Closed>,
        read: fn() -> io::Result<T>,
    ) -> Result<Option<T>, BoxError> {
        // Reading blocks, so it has a thread; if something else happens it is left behind, and ends with us.
        tokio::select! {
            read = tokio::task::spawn_blocking(read) => Ok(Some(read??)),
            () = self.signals.next() => Ok(None),
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
