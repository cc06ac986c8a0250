//! The settings by which the functions of a server ask its clients.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use agentwire_seal::SealingKeys;
use agentwire_transport::MessageSource;
use agentwire_wire_derive::Build;

/// How the functions of a server ask its clients. Set it by [`Server::input`](crate::Server::input).
///
/// An incomplete answer to a client of 2026-07-28 has a `requestState`: the answers so far,
/// encrypted and sealed, so that the server need remember nothing. It opens only for the same request, by the same
/// caller, for some time.
///
/// # Single use
///
/// A server that is a [node](crate::Server::node) remembers which states were used, at all nodes. A call of a tool with a
/// state that was used, or is in use, is refused as invalid params: the client whose response was lost begins again without
/// the state, if the call may be made twice. This holds for tools without the hint that they only read or may be repeated
/// ([`ToolAnnotations`](crate::schema::ToolAnnotations)). A state that has led to another question is not used: a client can
/// repeat that round. While the store cannot be reached, such calls fail, and nothing runs.
///
/// A server that is not a node does not detect a second use.
#[derive(Clone, Build)]
#[build(new)]
pub struct InputConfig {
    /// Sets how long a client has to answer a question in a session (default 1 hour: people are asked; none: for ever).
    #[build(optional, default = Some(Duration::from_secs(60 * 60)))]
    pub(crate) timeout: Option<Duration>,
    /// Sets for how long a `requestState` can be used (default 15 minutes).
    #[build(default = Duration::from_secs(15 * 60))]
    pub(crate) expiry: Duration,
    /// Sets how many times one request may be answered by questions (default 16, at least 1). Then it fails.
    #[build(min = 1, default = 16)]
    pub(crate) rounds: u32,
    /// Sets the longest `requestState`, in bytes (default 256 KiB). A longer one is refused, and a request whose
    /// answers so far would need one fails.
    #[build(default = 256 * 1024)]
    pub(crate) state_limit: usize,
    /// Sets the keys that seal (default: a new one for each server, from the operating system). Servers that answer for each
    /// other, such as replicas, need the same ones. A clone of the keys rotates them while the server serves.
    pub(crate) keys: SealingKeys,
    pub(crate) principal: Option<Arc<Principal>>,
}

/// Identifies the caller of a request.
type Principal = dyn Fn(&dyn MessageSource) -> Option<String> + Send + Sync;

impl InputConfig {
    /// Sets a function that identifies the caller, in place of the default, which is the
    /// [principal](agentwire_transport::MessageSource::principal) that the transport has authenticated. All unidentified
    /// callers count as one. A `requestState` of one caller is refused when it comes from another, and a task of one caller
    /// does not exist for another.
    ///
    /// ```
    /// use agentwire_mcp_server::Server;
    /// use agentwire_transport_http::server::{Head, Principal};
    ///
    /// // All users of a company are one.
    /// let server = Server::new("bank", "1.0.0").input(|config| {
    ///     config.principal(|source| {
    ///         let caller = source.downcast_ref::<Head>()?.extensions().get::<Principal>()?;
    ///         Some(caller.as_str().split_once('@')?.1.to_owned())
    ///     })
    /// });
    /// # let _ = server;
    /// ```
    #[must_use]
    pub fn principal(
        mut self,
        find: impl Fn(&dyn MessageSource) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.principal = Some(Arc::new(find));
        self
    }

    /// The caller of a request, if known.
    pub(crate) fn principal_of(&self, source: Option<&dyn MessageSource>) -> Option<String> {
        match &self.principal {
            Some(find) => find(source?),
            None => source?.principal().map(|principal| principal.into_owned()),
        }
    }
}

impl fmt::Debug for InputConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InputConfig")
            .field("timeout", &self.timeout)
            .field("expiry", &self.expiry)
            .field("rounds", &self.rounds)
            .field("state_limit", &self.state_limit)
            .finish_non_exhaustive()
    }
}
