use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use slab::Slab;

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
    accounts: Slab<Account>,
    by_caller: BTreeMap<Caller, usize>,
    /// Whose account was looked for last: who makes one request mostly makes another.
    last: usize,
}

/// What a caller has.
#[derive(Debug)]
struct Account {
    caller: Caller,
    amount: usize,
    reservations: usize,
}

/// How many callers are remembered at least, whether or not they have something.
const REMEMBERED: usize = 64;

impl Used {
    /// The account of a caller, for one reservation more.
    fn open(&mut self, caller: &Caller) -> usize {
        if self.accounts.get(self.last).is_none_or(|account| account.caller != *caller) {
            self.last = match self.by_caller.get(caller) {
                Some(account) => *account,
                None => {
                    let account = Account { caller: caller.clone(), amount: 0, reservations: 0 };
                    let account = self.accounts.insert(account);
                    self.by_caller.insert(caller.clone(), account);
                    account
                }
            };
        }
        self.accounts[self.last].reservations += 1;
        self.last
    }

    /// A reservation less.
    fn close(&mut self, account: usize) {
        self.accounts[account].reservations -= 1;
        if self.accounts[account].reservations == 0 && self.accounts.len() > REMEMBERED {
            let account = self.accounts.remove(account);
            self.by_caller.remove(&account.caller);
        }
    }

    fn shrink(&mut self, account: Option<usize>, less: usize) {
        self.all -= less;
        if let Some(account) = account {
            self.accounts[account].amount -= less;
        }
    }
}

/// A part of a [`Quota`] in use. Dropping it gives the part back.
#[derive(Debug)]
pub struct Reservation {
    quota: Quota,
    part: Part,
}

#[derive(Debug)]
struct Part {
    caller: Caller,
    /// Where its caller is counted, if it is named and something was taken.
    account: Option<usize>,
    amount: usize,
}

impl Part {
    fn open(&mut self, used: &mut Used) -> Option<usize> {
        if self.account.is_none() && self.caller != Caller::UNKNOWN {
            self.account = Some(used.open(&self.caller));
        }
        self.account
    }

    /// Takes so much more, whatever the limits.
    fn take(&mut self, used: &mut Used, more: usize) {
        used.all += more;
        if let Some(account) = self.open(used) {
            used.accounts[account].amount += more;
        }
        self.amount += more;
    }
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
        reservation.part.take(&mut self.used(), amount);
        reservation
    }

    fn empty(&self, caller: &Caller) -> Reservation {
        Reservation { quota: self.clone(), part: Part { caller: caller.clone(), account: None, amount: 0 } }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock().expect("no panic while it was held")
    }
}

impl Reservation {
    /// How much it is.
    pub fn amount(&self) -> usize {
        self.part.amount
    }

    /// Whose it is.
    pub fn caller(&self) -> &Caller {
        &self.part.caller
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
        let part = &mut self.part;
        if let Some(less) = part.amount.checked_sub(amount).filter(|less| *less > 0) {
            self.quota.used().shrink(part.account, less);
            part.amount = amount;
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
        let Self { quota, part } = self;
        let Some(more) = amount.checked_sub(part.amount).filter(|more| *more > 0) else {
            return Ok(());
        };
        let Inner { limit, caller_limit, .. } = *quota.0;
        let used = &mut *quota.used();
        let exceeds = |used: usize, limit: usize| match last {
            true => used >= limit,
            false => used.saturating_add(more) > limit,
        };
        if part.open(used).is_some_and(|account| exceeds(used.accounts[account].amount, caller_limit)) {
            return Err(QuotaExceeded { limit: caller_limit, is_callers: true });
        }
        if exceeds(used.all, limit) {
            return Err(QuotaExceeded { limit, is_callers: false });
        }
        part.take(used, more);
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let Part { account, amount, .. } = self.part;
        if amount > 0 || account.is_some() {
            let used = &mut *self.quota.used();
            used.shrink(account, amount);
            if let Some(account) = account {
                used.close(account);
            }
        }
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
        assert_eq!((used.all, used.accounts.iter().map(|(_, own)| own.amount).sum::<usize>()), (0, 0));
    }

    #[test]
    fn callers_who_have_nothing_are_forgotten() {
        let quota = Quota::new(1000, 6);
        let held: Vec<_> = (0..100).map(|last| quota.reserve(&caller(last), 6).unwrap()).collect();
        for network in 0..10_000_u32 {
            let caller = Caller::at((0x0a00_0000 + network).to_be_bytes().into());
            drop(quota.reserve(&caller, 1).unwrap());
        }
        let (accounts, callers) = {
            let used = quota.used();
            (used.accounts.len(), used.by_caller.len())
        };
        assert!(accounts <= 200 && accounts == callers, "{accounts} {callers}");
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
