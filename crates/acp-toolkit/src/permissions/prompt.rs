use std::io;

use agentwire_acp_schema::v1::{RequestPermissionRequest, RequestPermissionResponse};
use agentwire_jsonrpc::ErrorObject as Error;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, Lines};
use tokio::sync::Mutex;

use super::{Choices, reject};

/// Asks the user by a menu on a terminal, and reads a line as the answer.
///
/// Requests that come together are asked one after the other. Where the input ends the call is rejected, since
/// nobody is there to allow it. A program that reads single keys needs only [`Choices`].
#[derive(Debug)]
pub struct PermissionPrompt<R, W> {
    /// Also keeps what was read of a line when the question was dropped, as it is when the turn is cancelled.
    terminal: Mutex<(Lines<R>, W)>,
}

impl<R: AsyncBufRead + Unpin, W: AsyncWrite + Unpin> PermissionPrompt<R, W> {
    /// Shows the menu on `output` and reads the answer from `input`.
    pub fn new(input: R, output: W) -> Self {
        Self { terminal: Mutex::new((input.lines(), output)) }
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

    /// None where the input ends.
    async fn choose(&self, choices: &Choices) -> io::Result<Option<RequestPermissionResponse>> {
        let (input, output) = &mut *self.terminal.lock().await;
        output.write_all(choices.to_string().as_bytes()).await?;
        loop {
            output.write_all(b"> ").await?;
            output.flush().await?;
            let Some(line) = input.next_line().await? else { return Ok(None) };
            if let Some(response) = choices.select(&line) {
                return Ok(Some(response));
            }
        }
    }
}
