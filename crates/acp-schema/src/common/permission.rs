use crate::common::PermissionOptionId;
use crate::wire::{object, open_enum};

object! {
    /// One answer that a permission request offers.
    PermissionOption {
        /// Names the answer.
        required option_id: PermissionOptionId,
        /// What to call it in front of people.
        required name: String,
        /// What it means.
        required kind: PermissionOptionKind,
        meta,
    }
}

open_enum! {
    /// What an answer to a permission request means.
    PermissionOptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, and do not ask again.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, and do not ask again.
        RejectAlways = "reject_always",
    } else Other
}

impl PermissionOptionKind {
    /// Whether the answer lets the call go on. Never so for an unknown kind.
    pub fn allows(&self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }
}

object! {
    /// The option that the person chose.
    SelectedPermissionOutcome {
        /// One of those offered.
        required option_id: PermissionOptionId,
        meta,
    }
}
