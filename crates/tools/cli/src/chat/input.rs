//! Reads text from stdin: the prompt, or text that is piped beside the prompt of the command line.

pub(crate) mod commands;
#[cfg_attr(not(feature = "editor"), allow(dead_code, reason = "only the line editor completes"))]
pub(crate) mod complete;
pub(crate) mod edit_outcome;
#[cfg_attr(not(feature = "editor"), path = "../absent/editor.rs")]
pub(crate) mod editor;
pub(crate) mod interactive;
pub(crate) mod prompt;

use std::io::{self, IsTerminal as _, Read as _};
use std::thread;
use std::time::Duration;

use agentwire_acp_client::BoxError;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::failure::Usage;

/// The longest text from stdin: 16 MiB.
const LIMIT: u64 = 16 << 20;

/// How long to wait for the first byte of stdin: 3 s. The pipe of a program without a terminal may never be written
/// to or closed.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(3);

/// Stdin, which a thread reads in the background.
pub(super) struct PipedInput {
    /// Completes at the first byte, or at the end.
    began: oneshot::Receiver<()>,
    text: oneshot::Receiver<io::Result<Vec<u8>>>,
    /// The time limit of the first byte. `None` if stdin is the prompt.
    deadline: Option<Instant>,
}

/// The text of stdin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PipedText {
    /// Stdin is empty.
    Empty,
    /// No byte came in time.
    Late,
    Text(String),
}

impl PipedInput {
    /// Starts to read stdin beside a prompt. `None` if stdin is a terminal.
    pub(super) fn beside_prompt() -> Option<Self> {
        let stdin = io::stdin();
        let deadline = Instant::now() + FIRST_BYTE_TIMEOUT;
        (!stdin.is_terminal()).then(|| Self { deadline: Some(deadline), ..Self::read(stdin) })
    }

    /// Starts to read stdin as the prompt.
    pub(super) fn prompt() -> Self {
        Self::read(io::stdin())
    }

    fn read(mut input: impl io::Read + Send + 'static) -> Self {
        let (began_sender, began) = oneshot::channel();
        let (text_sender, text) = oneshot::channel();
        // Reading blocks. The thread ends with the process.
        thread::spawn(move || {
            let mut first = vec![0; 8 << 10];
            let read = input.read(&mut first).and_then(|count| {
                first.truncate(count);
                let _receiver_gone = began_sender.send(());
                if count > 0 {
                    (&mut input).take(LIMIT + 1).read_to_end(&mut first)?;
                }
                Ok(first)
            });
            let _receiver_gone = text_sender.send(read);
        });
        Self { began, text, deadline: None }
    }

    /// Waits for the whole text, if its first byte comes in time.
    ///
    /// # Errors
    ///
    /// When stdin cannot be read, is too long, or is not in UTF-8.
    pub(super) async fn text(self) -> Result<PipedText, BoxError> {
        if let Some(deadline) = self.deadline
            && tokio::time::timeout_at(deadline, self.began).await.is_err()
        {
            return Ok(PipedText::Late);
        }
        let bytes = self.text.await.map_err(|_| "the thread that reads stdin is gone")??;
        if bytes.len() as u64 > LIMIT {
            let limit = LIMIT >> 20;
            return Err(Usage(format!("stdin has more than {limit} MiB, the limit of a prompt")).into());
        }
        let text = String::from_utf8(bytes).map_err(|_| Usage("stdin is not in UTF-8".into()))?;
        Ok(if text.trim().is_empty() { PipedText::Empty } else { PipedText::Text(text) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[tokio::test]
    async fn text_that_has_begun_in_time_is_read_to_its_end() {
        let (read, mut write) = io::pipe().unwrap();
        let input = PipedInput::read(read);
        write.write_all(b"one").unwrap();
        thread::spawn(move || write.write_all(b" two").unwrap());
        assert_eq!(input.text().await.unwrap(), PipedText::Text("one two".into()));
    }

    #[tokio::test]
    async fn empty_late_and_too_long_inputs_differ() {
        assert_eq!(PipedInput::read(io::empty()).text().await.unwrap(), PipedText::Empty);
        let (read, _open) = io::pipe().unwrap();
        let mut input = PipedInput::read(read);
        input.deadline = Some(Instant::now());
        assert_eq!(input.text().await.unwrap(), PipedText::Late);
        let error = PipedInput::read(io::repeat(b'x')).text().await.unwrap_err();
        assert_eq!(error.to_string(), "stdin has more than 16 MiB, the limit of a prompt");
        let error = PipedInput::read(&b"\xff"[..]).text().await.unwrap_err();
        assert_eq!(error.to_string(), "stdin is not in UTF-8");
    }
}
