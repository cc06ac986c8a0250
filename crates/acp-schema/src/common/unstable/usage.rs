use crate::wire::object;

object! {
    /// How many tokens were used. A draft.
    Usage without new {
        /// All together.
        required total_tokens: u64,
        /// Those that the model has read.
        required input_tokens: u64,
        /// Those that the model has written.
        required output_tokens: u64,
        /// Those that the model has written to think.
        lenient_number thought_tokens: Option<u64>,
        /// Those that were read from a cache.
        lenient_number cached_read_tokens: Option<u64>,
        /// Those that were written to a cache.
        lenient_number cached_write_tokens: Option<u64>,
        meta,
    }
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

object! {
    /// What the end of work tells in a draft.
    UsageAddition {
        /// How many tokens the work has used.
        lenient usage: Option<Usage>,
    }
}
