use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;

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
    /// By each caller that has something, and by some that had: who makes one request mostly makes another. A tree,
    /// because nearly always few callers have something at once, and are found in it sooner than by a hash.
    each: BTreeMap<Caller, usize>,
    /// How many callers `each` may hold before those are forgotten that have nothing.
    forget_at: usize,
}

/// How many callers that have nothing are remembered at least.
const REMEMBERED: usize = 64;

impl Used {
    /// What a caller has.
    fn of(&mut self, caller: &Caller) -> &mut usize {
        if !self.each.contains_key(caller) {
            if self.each.len() >= self.forget_at {
                self.each.retain(|_, own| *own > 0);
                self.forget_at = REMEMBERED.max(self.each.len() * 2);
            }
            self.each.insert(caller.clone(), 0);
        }
        self.each.get_mut(caller).expect("it was there or was inserted")
    }
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
        let mut reservation = self.empty(caller);
        reservation.grow(amount, false)?;
        Ok(reservation)
    }

    /// Takes a part, whatever its size, unless one of the limits is reached already: for what is there before it can be
    /// refused, such as an answer. So what is taken is at most the limit and one such part.
    ///
    /// # Errors
    ///
    /// When one of the limits is reached.
    pub fn reserve_last(&self, caller: &Caller, amount: usize) -> Result<Reservation, QuotaExceeded> {
        let mut reservation = self.empty(caller);
        reservation.grow(amount, true)?;
        Ok(reservation)
    }

    /// Takes a part of what has been accounted for already, whatever the limits.
    pub(crate) fn reserve_moved(&self, caller: &Caller, amount: usize) -> Reservation {
        let mut reservation = self.empty(caller);
        let used = &mut *self.used();
        used.all += amount;
        if *caller != Caller::UNKNOWN {
            *used.of(caller) += amount;
        }
        reservation.amount = amount;
        reservation
    }

    fn empty(&self, caller: &Caller) -> Reservation {
        Reservation { quota: self.clone(), caller: caller.clone(), amount: 0 }
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
        self.grow(amount, false)
    }

    /// Takes more, so that it is at least so much, unless one of the limits is reached already; see
    /// [`Quota::reserve_last`].
    ///
    /// # Errors
    ///
    /// When one of the limits is reached. It is as large as before then.
    pub fn grow_last(&mut self, amount: usize) -> Result<(), QuotaExceeded> {
        self.grow(amount, true)
    }

    /// Gives back what is more than so much.
    pub fn shrink_to(&mut self, amount: usize) {
        if let Some(less) = self.amount.checked_sub(amount).filter(|less| *less > 0) {
            let used = &mut *self.quota.used();
            used.all -= less;
            if let Some(own) = used.each.get_mut(&self.caller) {
                *own -= less;
            }
            self.amount = amount;
        }
    }

    /// The same bytes, which give this back when the last copy or part of them is dropped: when a response has been
    /// written, for example, or its connection has ended.
    #[must_use]
    pub fn held_by(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(Held { bytes, _reservation: self })
    }

    /// Takes more. With `last`, also what is beyond a limit that is not reached yet.
    fn grow(&mut self, amount: usize, last: bool) -> Result<(), QuotaExceeded> {
        let Some(more) = amount.checked_sub(self.amount).filter(|more| *more > 0) else {
            return Ok(());
        };
        let Inner { limit, caller_limit, .. } = *self.quota.0;
        let used = &mut *self.quota.used();
        let all = used.all;
        let own = (self.caller != Caller::UNKNOWN).then(|| used.of(&self.caller));
        let exceeds = |used: usize, limit: usize| match last {
            true => used >= limit,
            false => used.saturating_add(more) > limit,
        };
        if own.as_deref().is_some_and(|own| exceeds(*own, caller_limit)) {
            return Err(QuotaExceeded { limit: caller_limit, is_callers: true });
        }
        if exceeds(all, limit) {
            return Err(QuotaExceeded { limit, is_callers: false });
        }
        if let Some(own) = own {
            *own += more;
        }
        used.all += more;
        self.amount = amount;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// See [`Reservation::held_by`].
struct Held {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
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
        assert_eq!((used.all, used.each.values().sum::<usize>()), (0, 0));
    }

    #[test]
    fn callers_who_have_nothing_are_forgotten() {
        let quota = Quota::new(1000, 6);
        let held: Vec<_> = (0..100).map(|last| quota.reserve(&caller(last), 6).unwrap()).collect();
        for network in 0..10_000_u32 {
            let caller = Caller::at((0x0a00_0000 + network).to_be_bytes().into());
            drop(quota.reserve(&caller, 1).unwrap());
        }
        assert!(quota.used().each.len() <= 200, "{}", quota.used().each.len());
        assert!(quota.reserve(&caller(99), 1).is_err(), "who has something is remembered");
        drop(held);
        assert!(quota.reserve(&caller(99), 6).is_ok());
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

    #[test]
    fn the_last_part_may_be_beyond_the_limit() {
        let quota = Quota::new(10, 6);
        let mut held = quota.reserve(&caller(1), 1).unwrap();
        held.grow_last(20).unwrap();
        assert!(held.grow_last(21).is_err() && quota.reserve_last(&caller(1), 1).is_err());
        assert_eq!(quota.reserve_last(&caller(2), 1).unwrap_err().limit, 10, "that of all is reached, too");
        held.shrink_to(5);
        assert_eq!((held.amount(), quota.used().all), (5, 5));
        held.shrink_to(9);
        assert_eq!(held.amount(), 5);
        assert!(quota.reserve_last(&caller(1), 9).is_ok());
    }

    #[test]
    fn bytes_hold_what_is_reserved_for_them() {
        let quota = Quota::new(10, 10);
        let mut bytes = quota.reserve(&caller(1), 3).unwrap().held_by(Bytes::from_static(b"abc"));
        let part = bytes.split_to(1);
        assert_eq!((&*part, &*bytes, quota.used().all), (&b"a"[..], &b"bc"[..], 3));
        drop(bytes);
        assert_eq!(quota.used().all, 3);
        drop(part);
        assert_eq!(quota.used().all, 0);
    }
}
