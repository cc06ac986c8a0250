//! The params of `notifications/progress`.

use agentwire_wire_derive::Wire;

use crate::wire::number;
use crate::{Meta, ProgressToken};

/// How far a request has come, for whoever sent it and asked to know.
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
    /// What it is doing, for people. Since 2025-03-26.
    #[wire(optional)]
    pub message: Option<String>,
    /// Extension metadata.
    #[wire(strict_meta)]
    pub meta: Option<Meta>,
}

impl ProgressNotification {
    /// The request with that token has come so far.
    pub fn new(progress_token: impl Into<ProgressToken>, progress: f64) -> Self {
        Self { progress_token: progress_token.into(), progress, total: None, message: None, meta: None }
    }
}

setters!(ProgressNotification {
    some total: f64,
    some message: String,
    some meta: Meta,
});

has_meta!(ProgressNotification);
