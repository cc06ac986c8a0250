use crate::wire::{object, open_enum};

object! {
    /// The update `notice`: something to tell the person now. It is no part of the conversation, is not replayed, and
    /// nobody knows whether it was seen. In version 1 only for clients with the capability `session.notices`.
    Notice {
        /// How loudly to say it.
        required severity: NoticeSeverity,
        /// The message in plain text, not empty, understandable alone.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        required title: String,
        /// More of it in plain text.
        lenient description: Option<String>,
        meta,
    }
}

open_enum! {
    /// How loudly to say a notice.
    NoticeSeverity {
        /// For information.
        Info = "info",
        /// A warning.
        Warning = "warning",
        /// An error.
        Error = "error",
    } else Other
}
