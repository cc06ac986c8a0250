use crate::wire::open_enum;

open_enum! {
    /// A side of the conversation.
    Role {
        /// The model's side.
        Assistant = "assistant",
        /// The person's side.
        User = "user",
    } else Other
}
