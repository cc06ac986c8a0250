//! Asks for permission on a terminal.

use std::io;
use std::time::Duration;

use agentwire_acp_schema::v1::{RequestPermissionRequest, RequestPermissionResponse};
use agentwire_jsonrpc::ErrorObject as Error;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout_at};

use super::Choices;
use super::policy::reject;

/// How long input is discarded before a menu is shown. A thread may still be reading earlier input from the terminal.
const DISCARD_TIME: Duration = Duration::from_millis(100);

/// Asks the user by a menu on a terminal, and reads a line as the answer.
///
/// Concurrent requests are asked one after another. Input from before a menu is discarded, so answers cannot be piped in all
/// at once. A line that ends after the menu is shown counts as an answer to it. At the end of the input the call is rejected,
/// since no user can allow it. A program that reads lines itself needs only [`Choices`].
///
/// ```no_run
/// use agentwire_acp_client::Error;
/// use agentwire_acp_schema::v1::{RequestPermissionRequest, RequestPermissionResponse};
/// use agentwire_acp_toolkit::{PermissionPolicy, PermissionPrompt, Permissions};
/// use tokio::io::{BufReader, stdin, stderr};
///
/// # async fn answer(
/// #     permissions: &Permissions,
/// #     request: &RequestPermissionRequest,
/// # ) -> Result<RequestPermissionResponse, Error> {
/// let prompt = PermissionPrompt::new(BufReader::new(stdin()), stderr());
/// permissions.answer(request, async |request| prompt.ask(request).await).await
/// # }
/// ```
#[derive(Debug)]
pub struct PermissionPrompt<R, W> {
    terminal: Mutex<(R, W)>,
}

impl<R: AsyncBufRead + Unpin, W: AsyncWrite + Unpin> PermissionPrompt<R, W> {
    /// Shows the menu on `output` and reads the answer from `input`. Needs a tokio runtime with time.
    pub fn new(input: R, output: W) -> Self {
        Self { terminal: Mutex::new((input, output)) }
    }

    /// Asks until the answer is one of the options.
    ///
    /// # Errors
    ///
    /// "Internal error" when the terminal cannot be read or written to.
    pub async fn ask(&self, request: &RequestPermissionRequest) -> Result<RequestPermissionResponse, Error> {
        let choices = Choices::new(request);
        if choices.is_empty() {
            return Ok(RequestPermissionResponse::cancelled());
        }
        let answer = self.choose(&choices).await;
        let answer = answer.map_err(|error| {
            Error::internal_error(format_args!("the user cannot be asked for permission: {error}"))
        })?;
        Ok(answer.unwrap_or_else(|| reject(request)))
    }

    /// Shows the menu until the input selects an option. `None` at the end of the input.
    async fn choose(&self, choices: &Choices) -> io::Result<Option<RequestPermissionResponse>> {
        let (input, output) = &mut *self.terminal.lock().await;
        discard_input(input).await?;
        let mut line = Vec::new();
        output.write_all(choices.to_string().as_bytes()).await?;
        loop {
            output.write_all(choices.prompt().as_bytes()).await?;
            output.flush().await?;
            line.clear();
            if input.read_until(b'\n', &mut line).await? == 0 {
                return Ok(None);
            }
            if let Some(response) = choices.select(&String::from_utf8_lossy(&line)) {
                return Ok(Some(response));
            }
            output.write_all(b"That is not an answer.\n").await?;
        }
    }
}

/// Discards the input so far, and that of the next [`DISCARD_TIME`].
async fn discard_input<R: AsyncBufRead + Unpin>(input: &mut R) -> io::Result<()> {
    let until = Instant::now() + DISCARD_TIME;
    while Instant::now() < until {
        match timeout_at(until, input.fill_buf()).await {
            Ok(typed) => match typed?.len() {
                // The input has ended.
                0 => break,
                length => input.consume(length),
            },
            Err(_elapsed) => break,
        }
    }
    Ok(())
}
