//! Runs a program at a pseudo-terminal and reads what it shows.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::process::Command;
use std::time::{Duration, Instant};

use agentwire_test_support::process::Program;
use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::load::process::{Watchdog, processor_time};

/// How long a program may take before it is killed.
const TIMEOUT: Duration = Duration::from_secs(120);

/// The request for the cursor's position, which programs wait for, and an answer.
const CURSOR: (&[u8], &[u8]) = (b"\x1b[6n", b"\x1b[1;1R");

/// The measurements of a program that ran to its end.
pub(super) struct Run {
    /// The time from its start until it showed the text that was waited for.
    pub(super) until_shown: Duration,
    /// Its processor time, user and system, without that of its children.
    pub(super) processor_time: Duration,
    /// How many bytes it wrote to the terminal.
    pub(super) bytes: usize,
}

/// Runs a program at a terminal of 80 columns until it exits with 0. Fails unless it shows `text`.
pub(super) fn run(command: &mut Command, text: &str) -> Result<Run> {
    let (ours, theirs) = open()?;
    command.stdin(theirs.try_clone()?).stdout(theirs.try_clone()?).stderr(theirs);
    let start = Instant::now();
    let mut program = Program::start(command)?;
    // The command holds the program's end; with it open, the end of the program would not end the reading.
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    let _watchdog = Watchdog::set(&program, TIMEOUT);
    let mut screen = Screen::new(ours, text);
    screen.read_to_end()?;
    // Until it is waited for, an exited program keeps its times.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&program.child)), options)?;
    let processor_time = processor_time(&format!("/proc/{}/stat", program.child.id()), 2)?;
    let status = program.child.wait()?;
    ensure!(status.success(), "it ended with {status}; shown at the end: {:?}", screen.tail());
    let shown = screen.shown.with_context(|| format!("{text:?} was not shown, but: {:?}", screen.tail()))?;
    Ok(Run { until_shown: shown - start, processor_time, bytes: screen.bytes })
}

/// Opens a terminal: our end, and the end of the program.
fn open() -> Result<(File, OwnedFd)> {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 })?;
    let path = ptsname(&ours, Vec::new())?;
    let theirs = File::options().read(true).write(true).open(path.to_str()?)?;
    Ok((ours.into(), theirs.into()))
}

/// The output of a program, of which only the end is kept.
struct Screen<'a> {
    terminal: File,
    text: &'a str,
    shown: Option<Instant>,
    tail: Vec<u8>,
    bytes: usize,
}

impl<'a> Screen<'a> {
    /// The bytes of the end that are kept, at least.
    const TAIL: usize = 2048;

    fn new(terminal: File, text: &'a str) -> Self {
        Self { terminal, text, shown: None, tail: Vec::new(), bytes: 0 }
    }

    fn read_to_end(&mut self) -> Result<()> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let count = match self.terminal.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                // Linux reports the end of a terminal in this way.
                Err(error) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            self.take(&buffer[..count])?;
        }
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len();
        // A text may begin in the piece before.
        let before = self.tail.len();
        self.tail.extend_from_slice(bytes);
        let from = |length: usize| before.saturating_sub(length - 1);
        if memchr::memmem::find(&self.tail[from(CURSOR.0.len())..], CURSOR.0).is_some() {
            self.terminal.write_all(CURSOR.1)?;
        }
        let text = self.text.as_bytes();
        if self.shown.is_none() && memchr::memmem::find(&self.tail[from(text.len())..], text).is_some() {
            self.shown = Some(Instant::now());
        }
        if self.tail.len() > 2 * Self::TAIL {
            self.tail.drain(..self.tail.len() - Self::TAIL);
        }
        Ok(())
    }

    fn tail(&self) -> String {
        let from = self.tail.len().saturating_sub(Self::TAIL);
        String::from_utf8_lossy(&self.tail[from..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_text_is_found_at_a_terminal_and_processor_time_is_counted() {
        let run = run(
            &mut shell(
                "test -t 0 && test -t 2 && i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo found",
            ),
            "found",
        )
        .unwrap();
        assert_eq!(run.bytes, "found\r\n".len());
        assert!(run.processor_time >= Duration::from_millis(10), "{:?}", run.processor_time);
    }

    #[test]
    fn a_failure_or_another_text_is_an_error() {
        let of = |script, text| run(&mut shell(script), text).err().unwrap().to_string();
        assert!(of("echo why; exit 3", "why").contains("3; shown at the end: \"why"));
        assert_eq!(of("echo other", "text"), "\"text\" was not shown, but: \"other\\r\\n\"");
    }
}
