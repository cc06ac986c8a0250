//! `Page`: a web page that the user is asked to open.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use agentwire_mcp_schema::{ElicitRequest, ElicitUrlRequest, JsonObject};

use crate::input::elicited::{Elicitation, sealed};

/// A web page that the user is asked to go to, for what the client must not see: signing in, paying. Since 2025-11-25.
///
/// A user who accepts agrees only that the page may be opened. The server must find out by itself whether
/// the task there was done, and by the same user. The URL must contain nothing about the user, and must not open
/// anything by itself.
///
/// ```
/// # use agentwire_mcp_server::{Context, NoArguments, Page, ToolError};
/// async fn connect(_: NoArguments, cx: Context) -> Result<&'static str, ToolError> {
///     let page = Page::new("Please connect your account", "https://example.com/connect");
///     Ok(if cx.elicit("connect", page).await?.is_accepted() { "on the way" } else { "another time" })
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Page(ElicitUrlRequest);

impl Page {
    /// Creates the question for a URL. `message` gives the user the reason to open it.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        let id = RandomState::new().hash_one(std::process::id());
        Self(ElicitUrlRequest::new(message, url).elicitation_id(format!("elicitation-{id:016x}")))
    }

    /// Sets by which name 2025-11-25 calls it, unique in the server (default: one by chance), to say by
    /// [`RemoteClient::elicitation_complete`](crate::RemoteClient::elicitation_complete) when the user is done.
    #[must_use]
    pub fn elicitation_id(self, id: impl Into<String>) -> Self {
        Self(self.0.elicitation_id(id))
    }
}

impl sealed::Sealed for Page {}

impl Elicitation for Page {
    type Accepted = ();

    fn request(&self) -> ElicitRequest {
        ElicitRequest::Url(self.0.clone())
    }

    fn read(&self, _nothing: JsonObject) -> Result<(), String> {
        Ok(())
    }
}
