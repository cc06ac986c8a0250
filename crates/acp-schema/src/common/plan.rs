use agentwire_wire_derive::Wire;

/// How much a task of a plan matters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum PlanEntryPriority {
    /// The goal depends on it.
    #[wire("high")]
    High,
    /// It matters.
    #[wire("medium")]
    Medium,
    /// It would be nice.
    #[wire("low")]
    Low,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
