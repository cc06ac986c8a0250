use crate::wire::object;

object! {
    /// The update `usage_update`.
    UsageUpdate without new {
        /// Tokens in the context now.
        required used: u64,
        /// Tokens that fit into it.
        required size: u64,
        /// What the session has cost so far.
        lenient cost: Option<Cost>,
        meta,
    }
}

impl UsageUpdate {
    /// So many tokens of so many.
    #[must_use]
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size, cost: None, meta: None }
    }
}

object! {
    /// An amount of money, or of whatever the agent counts in.
    Cost without new {
        /// How much, in total.
        required amount: f64,
        /// Of what: a currency of ISO 4217 such as `EUR`, or another unit such as `credits`.
        required currency: String,
        meta,
    }
}

impl Cost {
    /// So much of that currency.
    #[must_use]
    pub fn new(amount: f64, currency: impl Into<String>) -> Self {
        Self { amount, currency: currency.into(), meta: None }
    }
}
