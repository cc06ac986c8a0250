use agentwire_wire_derive::{Build, Wire};

use crate::common::{Meta, SessionConfigValueId};

/// An option that is on or off.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigBoolean {
    /// Whether it is on.
    #[wire(required)]
    pub current_value: bool,
}

/// A value of a select.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct SessionConfigSelectOption {
    /// Names the value.
    #[wire(required)]
    pub value: SessionConfigValueId,
    /// What to call it in front of people.
    #[wire(required)]
    pub name: String,
    /// A sentence about it, for people.
    #[wire(lenient)]
    pub description: Option<String>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

/// What a configuration option is about. Words of one's own begin with `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Wire)]
#[non_exhaustive]
pub enum SessionConfigOptionCategory {
    /// The mode.
    #[wire("mode")]
    Mode,
    /// The model.
    #[wire("model")]
    Model,
    /// A parameter of the model.
    #[wire("model_config")]
    ModelConfig,
    /// How hard to think.
    #[wire("thought_level")]
    ThoughtLevel,
    /// A word that this version of the crate does not know, as it came.
    #[wire(unknown)]
    Other(String),
}
