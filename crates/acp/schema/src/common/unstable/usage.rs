//! The token counts of a piece of work, and the member `usage` that drafts add to the message that ends it.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// How many tokens were used. A draft.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct Usage {
    /// All together.
    #[wire(required)]
    pub total_tokens: u64,
    /// Those that the model has read.
    #[wire(required)]
    pub input_tokens: u64,
    /// Those that the model has written.
    #[wire(required)]
    pub output_tokens: u64,
    /// Those that the model has written to think.
    #[wire(lenient_number)]
    pub thought_tokens: Option<u64>,
    /// Those that were read from a cache.
    #[wire(lenient_number)]
    pub cached_read_tokens: Option<u64>,
    /// Those that were written to a cache.
    #[wire(lenient_number)]
    pub cached_write_tokens: Option<u64>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl Usage {
    /// So many read and so many written, and their sum.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            total_tokens: input_tokens.saturating_add(output_tokens),
            input_tokens,
            output_tokens,
            thought_tokens: None,
            cached_read_tokens: None,
            cached_write_tokens: None,
            meta: None,
        }
    }

    /// Sets [`total_tokens`](Self#structfield.total_tokens), which begins as the sum of what `new` takes.
    #[must_use]
    pub fn total_tokens(mut self, total_tokens: u64) -> Self {
        self.total_tokens = total_tokens;
        self
    }
}

/// The addition of a draft to the end of work.
#[derive(Clone, Debug, Default, PartialEq, Wire, Build)]
#[non_exhaustive]
pub struct UsageAddition {
    /// How many tokens the work has used.
    #[wire(lenient)]
    pub usage: Option<Usage>,
}
