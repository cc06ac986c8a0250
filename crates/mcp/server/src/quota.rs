//! Counts amounts against a limit for each client and one for all clients.

use std::collections::HashMap;
use std::sync::Arc;

use agentwire_sync::{Mutex, MutexGuard};

/// The client that a limit counts: the first of these that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Holder {
    /// The caller that [`InputConfig::principal`](crate::InputConfig::principal) finds.
    Principal(String),
    /// The sender that the [transport](agentwire_transport::MessageSource::sender) knows.
    Sender(String),
    /// The session of that number.
    Session(u64),
    /// All requests from an unknown client.
    Unknown,
}

impl Holder {
    /// The name of a principal or sender. Empty if absent.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Principal(name) | Self::Sender(name) => name,
            Self::Session(_) | Self::Unknown => "",
        }
    }
}

/// The limits of a quota.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) total: usize,
    pub(crate) holder: usize,
}

/// The limit that leaves no room, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuotaExceeded {
    Total(usize),
    Holder(usize),
}

/// The amounts that each client holds. Clones share the counts.
#[derive(Clone, Default)]
pub(crate) struct Quota(Arc<Mutex<Usage>>);

#[derive(Default)]
struct Usage {
    total: usize,
    by_holder: HashMap<Holder, usize>,
}

/// A part of a quota, given back when it is dropped.
pub(crate) struct Share {
    quota: Quota,
    holder: Holder,
    amount: usize,
}

impl Quota {
    /// Takes a part.
    pub(crate) fn take(&self, holder: Holder, amount: usize, limits: Limits) -> Result<Share, QuotaExceeded> {
        let mut share = Share { quota: self.clone(), holder, amount: 0 };
        share.grow(amount, limits)?;
        Ok(share)
    }

    fn lock(&self) -> MutexGuard<'_, Usage> {
        self.0.lock()
    }
}

impl Share {
    /// Takes so much more, or nothing where a limit leaves no room.
    pub(crate) fn grow(&mut self, amount: usize, limits: Limits) -> Result<(), QuotaExceeded> {
        let mut usage = self.quota.lock();
        if usage.total.saturating_add(amount) > limits.total {
            return Err(QuotaExceeded::Total(limits.total));
        }
        let of_holder = usage.by_holder.get(&self.holder).copied().unwrap_or_default();
        if of_holder.saturating_add(amount) > limits.holder {
            return Err(QuotaExceeded::Holder(limits.holder));
        }
        usage.total += amount;
        usage.by_holder.insert(self.holder.clone(), of_holder + amount);
        self.amount += amount;
        Ok(())
    }

    /// Gives so much back.
    pub(crate) fn shrink(&mut self, amount: usize) {
        let amount = amount.min(self.amount);
        self.amount -= amount;
        let mut usage = self.quota.lock();
        usage.total -= amount;
        let of_holder = usage.by_holder.get_mut(&self.holder);
        if of_holder.is_some_and(|of_holder| {
            *of_holder -= amount;
            *of_holder == 0
        }) {
            usage.by_holder.remove(&self.holder);
        }
        // The memory that many holders took is given back when they have gone.
        if usage.by_holder.is_empty() {
            usage.by_holder.shrink_to(64);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink(self.amount);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_holder_leaves_the_rest_to_others() {
        let (quota, limits) = (Quota::default(), Limits { total: 10, holder: 6 });
        let mut first = quota.take(Holder::Session(1), 4, limits).unwrap_or_else(|_| panic!("there is room"));
        assert_eq!(first.grow(3, limits), Err(QuotaExceeded::Holder(6)));
        assert_eq!(first.grow(2, limits), Ok(()));
        let second = quota.take(Holder::Session(1), 1, limits);
        assert!(matches!(second, Err(QuotaExceeded::Holder(6))), "another share of the same holder");
        let other = quota.take(Holder::Unknown, 4, limits);
        assert!(
            other.is_ok()
                && matches!(quota.take(Holder::Session(2), 1, limits), Err(QuotaExceeded::Total(10)))
        );
        first.shrink(1);
        assert!(quota.take(Holder::Session(2), 1, limits).is_ok());
        drop((first, other));
        let usage = quota.lock();
        assert_eq!((usage.total, usage.by_holder.len()), (0, 0));
    }
}
