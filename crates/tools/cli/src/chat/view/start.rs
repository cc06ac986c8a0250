//! The display while the agent starts.

use std::cell::Cell;
use std::convert::Infallible;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use agentwire_transport_stdio::Command;

use crate::terminal::{View, is_dumb, short};

/// The time before a start is shown.
const START_DELAY: Duration = Duration::from_secs(1);

/// The interval at which the seconds are redrawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows the seconds of the agent's start if it takes longer than [`START_DELAY`], only at a terminal. Never completes.
pub(in crate::chat) async fn show_start(
    view: Arc<View>,
    command: Command,
    started: Rc<Cell<bool>>,
) -> Infallible {
    let show = async {
        tokio::time::sleep(START_DELAY).await;
        if started.get() || view.is_json() || !io::stderr().is_terminal() {
            return Ok(());
        }
        let label = label(&command);
        if !io::stdout().is_terminal() || is_dumb() {
            view.notes().add(&label);
            return Ok(());
        }
        view.starting(&label)?;
        let mut ticks = tokio::time::interval(INTERVAL);
        while !started.get() {
            view.turn_spinner()?;
            ticks.tick().await;
        }
        io::Result::Ok(())
    };
    // If stdout is closed, the conversation ends with that error.
    let _reported_there = show.await;
    std::future::pending().await
}

/// The name of the program without its folder and its arguments, which may have a secret.
fn label(command: &Command) -> String {
    let program = Path::new(command.program());
    let name = program.file_name().unwrap_or(command.program()).to_string_lossy();
    let more = if command.arguments().is_empty() { "" } else { " …" };
    format!("starting `{}{more}`", short(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_not_shown() {
        let label = |line| label(&Command::parse(line).unwrap());
        assert_eq!(label("/usr/bin/npx -y agent --key=1"), "starting `npx …`");
        assert_eq!(label("agent"), "starting `agent`");
    }
}
