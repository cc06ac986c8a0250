use agentwire_wire_derive::Wire;

/// A side of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum Role {
    /// The model's side.
    #[wire("assistant")]
    Assistant,
    /// The person's side.
    #[wire("user")]
    User,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
