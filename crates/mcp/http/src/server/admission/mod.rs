//! Admission of requests: the checks before a body is read, and the share of each caller.

pub(crate) mod bearer;
pub(crate) mod caller;
pub(crate) mod cors;
pub(crate) mod denied;
pub(crate) mod guard;
pub(crate) mod operation;
pub(crate) mod quota;
pub(crate) mod record_limits;
