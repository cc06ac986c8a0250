//! Who may send what: what is looked at before a request is read, and how much one caller may take.

pub(crate) mod bearer;
pub(crate) mod caller;
pub(crate) mod cors;
pub(crate) mod denied;
pub(crate) mod guard;
pub(crate) mod limits;
pub(crate) mod operation;
pub(crate) mod quota;
pub(crate) mod record_limits;
