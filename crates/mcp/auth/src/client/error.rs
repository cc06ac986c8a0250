//! Errors by what can be done about them.

use std::error::Error;
use std::sync::Arc;
use std::time::SystemTime;

use agentwire_jsonrpc::Printable;
use agentwire_transport_http::client::BoxError;

use crate::store::StoreError;

/// Why there is no token for a request. Each variant names a remedy.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A server refused: trying the same again is refused again.
    #[error("{step} was refused{}", reason(.code.as_deref(), .description.as_deref()))]
    #[non_exhaustive]
    Rejected {
        /// The refused step, such as `the refresh of the token`.
        step: &'static str,
        /// The error code of OAuth, such as `invalid_grant`.
        code: Option<String>,
        /// The server's description of the refusal.
        description: Option<String>,
    },
    /// The network, a server or the store failed: trying again later may succeed. Nothing is forgotten.
    #[error("{step} failed for now")]
    #[non_exhaustive]
    Transient {
        /// The failed step.
        step: &'static str,
        /// Why.
        #[source]
        cause: Arc<dyn Error + Send + Sync>,
    },
    /// Two parties disagree, or one does not do what the specification asks. Its operator has to change something.
    #[error("{0}")]
    Misconfigured(Box<Mismatch>),
    /// A person has to log in. See [`Authorization::login`](crate::client::Authorization::login).
    #[error(
        "{}: {}a person has to log in{}{}{}",
        Printable::display(.server),
        refused_text(.refused.is_some()),
        scopes_text(.scopes),
        issuer_text(*.has_authorization_server),
        command_text(.command.as_deref(), .server)
    )]
    #[non_exhaustive]
    NeedsPerson {
        /// The URL of the MCP server.
        server: String,
        /// The scopes to ask for; empty where the server does not say.
        scopes: Vec<String>,
        /// The command that logs a person in, without its argument. See [`AuthConfig::login_command`].
        ///
        /// [`AuthConfig::login_command`]: crate::client::AuthConfig::login_command
        command: Option<String>,
        /// Whether an authorization server is known. Without one, a login may find none: the server may want a token that the
        /// person has.
        has_authorization_server: bool,
        /// When the token that the server refuses was issued, if it has not expired. The same login may bring such a
        /// token again. `None` if there was no such token.
        refused: Option<SystemTime>,
    },
}

/// A fault of a server, or a difference between two.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", Printable::display(.problem), both(.expected.as_deref(), .found.as_deref()))]
#[non_exhaustive]
pub struct Mismatch {
    /// The fault, with the URL of the document or of the server that has it.
    pub problem: String,
    /// The expected value.
    pub expected: Option<String>,
    /// The value that was found.
    pub found: Option<String>,
    /// The setting that gets around it, if there is one.
    pub remedy: Option<Remedy>,
}

/// A setting of the client that may get around a refusal or a mismatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// A client that is registered at the authorization server: [`AuthConfig::client`](crate::client::AuthConfig::client).
    Client,
    /// PKCE although the metadata does not name it: [`AuthConfig::assume_pkce`](crate::client::AuthConfig::assume_pkce).
    AssumePkce,
    /// Another parameter `resource`, or none: [`AuthConfig::resource`](crate::client::AuthConfig::resource).
    Resource,
    /// Other scopes: [`AuthConfig::scopes`](crate::client::AuthConfig::scopes).
    Scopes,
    /// Another authorization server:
    /// [`AuthConfig::authorization_server`](crate::client::AuthConfig::authorization_server).
    AuthorizationServer,
    /// A token that the person has, as a header: the server names no authorization server.
    Token,
    /// A token for another `resource`, with other scopes, or one that the person has: the server refuses the one that was issued.
    OtherToken,
}

impl AuthError {
    pub(crate) fn rejected(step: &'static str, code: Option<String>, description: Option<String>) -> Self {
        Self::Rejected { step, code, description }
    }

    pub(crate) fn transient(step: &'static str, cause: impl Into<BoxError>) -> Self {
        Self::Transient { step, cause: cause.into().into() }
    }

    pub(crate) fn misconfigured(problem: impl Into<String>) -> Self {
        Self::Misconfigured(Box::new(Mismatch {
            problem: problem.into(),
            expected: None,
            found: None,
            remedy: None,
        }))
    }

    /// Two texts differ that should be the same.
    pub(crate) fn differs(
        problem: impl Into<String>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (expected, found) = (Some(expected.into()), Some(found.into()));
        Self::Misconfigured(Box::new(Mismatch { problem: problem.into(), expected, found, remedy: None }))
    }
}

impl AuthError {
    /// The setting that may get around the error, if there is one.
    ///
    /// ```
    /// use agentwire_mcp_auth::client::{AuthError, Remedy};
    ///
    /// fn hint(error: &AuthError) -> Option<&'static str> {
    ///     match error.remedy()? {
    ///         Remedy::Client => Some("Register a client there, and enter its id in the settings."),
    ///         Remedy::Token => Some("Enter a token in the settings."),
    ///         _ => None,
    ///     }
    /// }
    /// ```
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Misconfigured(mismatch) => mismatch.remedy,
            Self::Rejected { step, code, .. } => match code.as_deref() {
                Some("invalid_target") => Some(Remedy::Resource),
                Some("invalid_scope") => Some(Remedy::Scopes),
                Some("invalid_client" | "unauthorized_client") => Some(Remedy::Client),
                _ if *step == SERVER => Some(Remedy::OtherToken),
                _ => (*step == REGISTRATION).then_some(Remedy::Client),
            },
            Self::NeedsPerson { refused: Some(_), .. } => Some(Remedy::OtherToken),
            Self::NeedsPerson { has_authorization_server: false, .. } => Some(Remedy::Token),
            Self::NeedsPerson { .. } | Self::Transient { .. } => None,
        }
    }

    /// Sets [`refused`](Self::NeedsPerson::refused) of the error that a person has to log in.
    pub(crate) fn with_refused_token(mut self, issued: Option<SystemTime>) -> Self {
        if let Self::NeedsPerson { refused, .. } = &mut self {
            *refused = issued;
        }
        self
    }

    /// Names the setting that gets around a mismatch.
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        if let Self::Misconfigured(mismatch) = &mut self {
            mismatch.remedy = Some(remedy);
        }
        self
    }
}

/// The step that uses a new token.
pub(crate) const SERVER: &str = "the request to the server";

/// The step that registers the client.
pub(crate) const REGISTRATION: &str = "the registration of the client";

impl From<StoreError> for AuthError {
    fn from(error: StoreError) -> Self {
        Self::transient("the store of credentials", error)
    }
}

fn reason(code: Option<&str>, description: Option<&str>) -> String {
    let parts: Vec<String> =
        [code, description].into_iter().flatten().map(|part| Printable::one_line(part).to_string()).collect();
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(": ")) }
}

fn both(expected: Option<&str>, found: Option<&str>) -> String {
    let quoted = |text: &str| format!("`{}`", Printable::one_line(text));
    match (expected.map(quoted), found.map(quoted)) {
        (Some(expected), Some(found)) => format!(": expected {expected}, found {found}"),
        (None, Some(found)) => format!(": {found}"),
        (Some(expected), None) => format!(": expected {expected}"),
        (None, None) => String::new(),
    }
}

fn command_text(command: Option<&str>, server: &str) -> String {
    command.map_or_else(String::new, |command| format!("; run `{command} {}`", Printable::one_line(server)))
}

fn refused_text(is_refused: bool) -> &'static str {
    if is_refused { "the server refuses the token of the last login, so " } else { "" }
}

fn issuer_text(is_known: bool) -> &'static str {
    if is_known { "" } else { ", and the server names no authorization server" }
}

fn scopes_text(scopes: &[String]) -> String {
    if scopes.is_empty() {
        return String::new();
    }
    format!(" for the scopes {}", Printable::one_line(&scopes.join(" ")))
}
