use agentwire_wire_derive::{Build, Wire};

use crate::common::Meta;

/// The update `usage_update`.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct UsageUpdate {
    /// Tokens in the context now.
    #[wire(required)]
    pub used: u64,
    /// Tokens that fit into it.
    #[wire(required)]
    pub size: u64,
    /// What the session has cost so far.
    #[wire(lenient)]
    pub cost: Option<Cost>,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl UsageUpdate {
    /// So many tokens of so many.
    #[must_use]
    pub fn new(used: u64, size: u64) -> Self {
        Self { used, size, cost: None, meta: None }
    }
}

/// An amount of money, or of whatever the agent counts in.
#[derive(Clone, Debug, PartialEq, Wire, Build)]
#[wire(without_new)]
#[non_exhaustive]
pub struct Cost {
    /// How much, in total.
    #[wire(required)]
    pub amount: f64,
    /// Of what: a currency of ISO 4217 such as `EUR`, or another unit such as `credits`.
    #[wire(required)]
    pub currency: String,
    /// Free room: its keys belong to whoever sent them.
    #[wire(meta)]
    pub meta: Option<Meta>,
}

impl Cost {
    /// So much of that currency.
    #[must_use]
    pub fn new(amount: f64, currency: impl Into<String>) -> Self {
        Self { amount, currency: currency.into(), meta: None }
    }
}
