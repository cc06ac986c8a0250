//! Client features of the specification: what a server may ask a client.

pub(crate) mod elicitation;
pub(crate) mod elicitation_schema;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod sampling_content;
pub(crate) mod select_schema;
