//! The update `usage_update` of version 1, and the `Cost` that both versions report in it.

use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// The update `usage_update`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct UsageUpdate {
    /// The number of tokens in the context.
    #[wire(required)]
    pub used: u64,
    /// The maximum number of tokens in the context.
    #[wire(required)]
    pub size: u64,
    /// The cost of the session so far.
    #[wire(lenient)]
    pub cost: Option<Cost>,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl UsageUpdate {
    /// Reports `used` tokens of at most `size`.
    #[must_use]
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size, cost: None, meta: None }
    }
}

/// An amount of money, or of another unit in which the agent counts.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct Cost {
    /// The total.
    #[wire(required)]
    pub amount: f64,
    /// The unit: a currency of ISO 4217 such as `EUR`, or another unit such as `credits`.
    #[wire(required)]
    pub currency: String,
    /// Extension metadata; receivers make no assumptions about its keys.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl Cost {
    /// Makes a cost in that currency.
    #[must_use]
    pub fn new(amount: f64, currency: impl Into<String>) -> Self {
        Self { amount, currency: currency.into(), meta: None }
    }
}
