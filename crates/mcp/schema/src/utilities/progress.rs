//! The params of `notifications/progress`.

use std::fmt;

use agentwire_jsonrpc::Printable;
use agentwire_wire_derive::Wire;

use crate::wire::number;
use crate::{Meta, ProgressToken};

/// The progress of a request, for a sender that has asked for it.
///
/// See <https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress>.
#[derive(Clone, Debug, PartialEq, Wire)]
#[non_exhaustive]
pub struct ProgressNotification {
    /// The token that came with the request.
    #[wire(required)]
    pub progress_token: ProgressToken,
    /// How far it is, in any unit. It grows with every notification.
    #[wire(required, write = number)]
    pub progress: f64,
    /// How far it will go, in the same unit, if that is known.
    #[wire(optional, write = number)]
    pub total: Option<f64>,
    /// The current work, for people. Since 2025-03-26.
    #[wire(optional)]
    pub message: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ProgressNotification {
    /// The progress of the request with this token.
    pub fn new(progress_token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self { progress_token: progress_token.into(), progress, total: None, message: None, meta: None }
    }
}

/// Such as `3 of 10: copying`. The text of the peer is on one line and cannot steer a terminal.
///
/// ```
/// use agentwire_mcp_schema::ProgressNotification;
///
/// let report = ProgressNotification::new("1", 3.0).total(10.0).message("copying\u{7}");
/// assert_eq!(report.to_string(), "3 of 10: copying^G");
/// assert_eq!(ProgressNotification::new("1", 0.5).to_string(), "0.5");
/// ```
impl fmt::Display for ProgressNotification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.progress)?;
        if let Some(total) = self.total {
            write!(f, " of {total}")?;
        }
        match &self.message {
            Some(message) => write!(f, ": {}", Printable::one_line(message)),
            None => Ok(()),
        }
    }
}

setters!(ProgressNotification {
    some total: f64,
    some message: String,
    some meta: Meta,
});

has_meta!(ProgressNotification);
