use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::server::Caller;

/// A limit for all callers together, and a lower one for each of them, so that one caller cannot use up what is for
/// all. Counts sessions, or bytes.
///
/// ```
/// use agentwire_transport_http::server::{Caller, Quota};
///
/// let quota = Quota::new(100, 100);
/// let held = quota.reserve(&Caller::UNKNOWN, 60).unwrap();
/// assert_eq!(quota.reserve(&Caller::UNKNOWN, 60).unwrap_err().limit, 100);
/// drop(held);
/// assert!(quota.reserve(&Caller::UNKNOWN, 60).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Quota(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    limit: usize,
    caller_limit: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    all: usize,
    /// By each caller that has something.
    each: HashMap<Caller, usize>,
}

/// A part of a [`Quota`] in use. Dropping it gives the part back.
#[derive(Debug)]
pub struct Reservation {
    quota: Quota,
    caller: Caller,
    amount: usize,
}

/// A limit of a [`Quota`] leaves no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {limit} {} is reached", if *is_callers { "for each caller" } else { "for all callers" })]
#[non_exhaustive]
pub struct QuotaExceeded {
    /// The limit.
    pub limit: usize,
    /// Whether it is the limit for each caller, rather than that for all.
    pub is_callers: bool,
}

impl Quota {
    /// So much for all callers together, and so much for each. Callers that [nobody names](Caller::UNKNOWN) have only
    /// the first limit.
    pub fn new(limit: usize, caller_limit: usize) -> Self {
        Self(Arc::new(Inner { limit, caller_limit, used: Mutex::default() }))
    }

    /// What one of several callers gets of a limit for all where nobody says otherwise: `usual`, but no more than three
    /// quarters, so that something is left for others.
    pub fn share(limit: usize, usual: usize) -> usize {
        usual.min(limit - limit / 4)
    }

    /// Takes a part.
    ///
    /// # Errors
    ///
    /// When that would exceed one of the limits.
    pub fn reserve(&self, caller: &Caller, amount: usize) -> Result<Reservation, QuotaExceeded> {
        let mut reservation = Reservation { quota: self.clone(), caller: caller.clone(), amount: 0 };
        reservation.grow_to(amount)?;
        Ok(reservation)
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock().expect("no panic while it was held")
    }
}

impl Reservation {
    /// How much it is.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// Whose it is.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Takes more, so that it is at least so much.
    ///
    /// # Errors
    ///
    /// When that would exceed one of the limits. It is as large as before then.
    pub fn grow_to(&mut self, amount: usize) -> Result<(), QuotaExceeded> {
        let Some(more) = amount.checked_sub(self.amount).filter(|more| *more > 0) else {
            return Ok(());
        };
        let Inner { limit, caller_limit, .. } = *self.quota.0;
        let used = &mut *self.quota.used();
        let own = used.each.get(&self.caller).copied().unwrap_or_default();
        if self.caller != Caller::UNKNOWN && own.saturating_add(more) > caller_limit {
            return Err(QuotaExceeded { limit: caller_limit, is_callers: true });
        }
        if used.all.checked_add(more).is_none_or(|all| all > limit) {
            return Err(QuotaExceeded { limit, is_callers: false });
        }
        if self.caller != Caller::UNKNOWN {
            match used.each.get_mut(&self.caller) {
                Some(own) => *own += more,
                None => drop(used.each.insert(self.caller.clone(), more)),
            }
        }
        used.all += more;
        self.amount = amount;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let used = &mut *self.quota.used();
        used.all -= self.amount;
        if let Some(own) = used.each.get_mut(&self.caller) {
            *own -= self.amount;
            if *own == 0 {
                used.each.remove(&self.caller);
            }
        }
        // What a crowd of callers took is given back when it has gone.
        if used.each.is_empty() && used.each.capacity() > 1024 {
            used.each.shrink_to_fit();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(last: u8) -> Caller {
        Caller::at([127, 0, 0, last].into())
    }

    #[test]
    fn one_caller_leaves_the_rest_to_others() {
        let quota = Quota::new(10, 6);
        let first: Vec<_> = (0..6).map(|_| quota.reserve(&caller(1), 1).unwrap()).collect();
        let full = quota.reserve(&caller(1), 1).unwrap_err();
        assert_eq!(full, QuotaExceeded { limit: 6, is_callers: true });
        let second = quota.reserve(&caller(2), 4).unwrap();
        let full = quota.reserve(&caller(3), 1).unwrap_err();
        assert_eq!(full, QuotaExceeded { limit: 10, is_callers: false });
        drop((first, second));
        let used = quota.used();
        assert_eq!((used.all, used.each.len()), (0, 0));
    }

    #[test]
    fn what_grows_and_does_not_fit_stays_as_it_was() {
        let quota = Quota::new(10, 10);
        let mut held = quota.reserve(&caller(1), 4).unwrap();
        assert!(held.grow_to(11).is_err() && held.grow_to(usize::MAX).is_err());
        assert_eq!((held.amount(), quota.used().all), (4, 4));
        held.grow_to(2).unwrap();
        held.grow_to(10).unwrap();
        assert_eq!(quota.used().all, 10);
        assert!(quota.reserve(&Caller::UNKNOWN, 1).is_err());
        drop(held);
        assert_eq!(quota.reserve(&Caller::UNKNOWN, 10).unwrap().amount(), 10);
    }
}
