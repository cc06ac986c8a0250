//! Counts an amount per caller against two limits: one for each caller, one for all. Dropping a reservation gives its amount
//! back.

use std::collections::BTreeMap;
use std::sync::Arc;

use agentwire_sync::{Mutex, MutexGuard};
use bytes::Bytes;
use slab::Slab;

use crate::server::Caller;

/// A limit for all callers together, and a lower one for each of them, so that one caller cannot use up what is for
/// all. Counts sessions, or bytes.
///
/// ```
/// use agentwire_transport_http::runtime::server::Quota;
/// use agentwire_transport_http::server::Caller;
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
    /// The account of the last look-up: consecutive requests often have the same caller.
    last: usize,
}

/// The reservations of one caller.
#[derive(Debug)]
struct Account {
    caller: Caller,
    amount: usize,
    reservations: usize,
}

/// The least memory that a request takes while it is read or unanswered, and the stream of a GET while it is open: what hyper
/// reads its head into, and what is remembered of it.
pub(crate) const MIN_COST: usize = 8 << 10;

/// Up to this many callers stay remembered without a reservation.
const REMEMBERED: usize = 64;

impl Used {
    /// Adds a reservation to the account of a caller. Returns the key of the account.
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

    /// Removes a reservation of this amount from an account.
    fn close(&mut self, account: usize, amount: usize) {
        self.shrink(account, amount);
        self.accounts[account].reservations -= 1;
        if self.accounts[account].reservations == 0 && self.accounts.len() > REMEMBERED {
            let account = self.accounts.remove(account);
            self.by_caller.remove(&account.caller);
        }
    }

    fn grow(&mut self, account: usize, more: usize) {
        self.all += more;
        self.accounts[account].amount += more;
    }

    fn shrink(&mut self, account: usize, less: usize) {
        self.all -= less;
        self.accounts[account].amount -= less;
    }
}

/// Handling of a part that begins below a limit and ends beyond it.
#[derive(Clone, Copy)]
enum Excess {
    Refused,
    /// It is taken, and nothing after it.
    Last,
}

/// A part of a [`Quota`] in use. Dropping it gives the part back.
#[derive(Debug)]
pub struct Reservation {
    quota: Quota,
    /// The key of the caller's account, which exists at least as long as this reservation.
    account: usize,
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
    /// `limit` bounds all callers together, and `caller_limit` each one. [Unknown callers](Caller::UNKNOWN) have only the first
    /// limit.
    pub fn new(limit: usize, caller_limit: usize) -> Self {
        Self(Arc::new(Inner { limit, caller_limit, used: Mutex::default() }))
    }

    /// The default limit of one caller within a limit for all: `usual`, but at most three quarters of it, so that other
    /// callers have room.
    pub fn share(limit: usize, usual: usize) -> usize {
        usual.min(limit - limit / 4)
    }

    /// Takes a part.
    ///
    /// # Errors
    ///
    /// When that would exceed one of the limits.
    pub fn reserve(&self, caller: &Caller, amount: usize) -> Result<Reservation, QuotaExceeded> {
        self.open(caller, amount, Excess::Refused)
    }

    /// Takes a part of any size, unless one of the limits is reached already. It is for memory that is in use before it can be
    /// refused, such as an answer. So at most the limit and one such part are taken.
    ///
    /// # Errors
    ///
    /// When one of the limits is reached.
    pub fn reserve_last(&self, caller: &Caller, amount: usize) -> Result<Reservation, QuotaExceeded> {
        self.open(caller, amount, Excess::Last)
    }

    /// Takes a part without a check of the limits, for memory that another reservation has counted until now.
    pub(crate) fn reserve_moved(&self, caller: &Caller, amount: usize) -> Reservation {
        let mut used = self.used();
        let account = used.open(caller);
        used.grow(account, amount);
        Reservation { quota: self.clone(), account, amount }
    }

    fn open(&self, caller: &Caller, amount: usize, excess: Excess) -> Result<Reservation, QuotaExceeded> {
        let mut used = self.used();
        let account = used.open(caller);
        if let Err(full) = self.grow(&mut used, account, amount, excess) {
            used.close(account, 0);
            return Err(full);
        }
        Ok(Reservation { quota: self.clone(), account, amount })
    }

    /// Adds `more` to an account, within the limits.
    fn grow(
        &self,
        used: &mut Used,
        account: usize,
        more: usize,
        excess: Excess,
    ) -> Result<(), QuotaExceeded> {
        if more == 0 {
            return Ok(());
        }
        let Inner { limit, caller_limit, .. } = *self.0;
        let exceeds = |used: usize, limit: usize| match excess {
            Excess::Refused => used.saturating_add(more) > limit,
            Excess::Last => used >= limit,
        };
        let Account { caller, amount, .. } = &used.accounts[account];
        if exceeds(*amount, caller_limit) && *caller != Caller::UNKNOWN {
            return Err(QuotaExceeded { limit: caller_limit, is_callers: true });
        }
        if exceeds(used.all, limit) {
            return Err(QuotaExceeded { limit, is_callers: false });
        }
        used.grow(account, more);
        Ok(())
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock()
    }
}

impl Reservation {
    /// How much it is.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// The caller that it counts for.
    pub fn caller(&self) -> Caller {
        self.quota.used().accounts[self.account].caller.clone()
    }

    /// Raises the reservation to at least `amount`.
    ///
    /// # Errors
    ///
    /// When that would exceed one of the limits. It is as large as before then.
    pub fn grow_to(&mut self, amount: usize) -> Result<(), QuotaExceeded> {
        self.grow(amount, Excess::Refused)
    }

    /// Raises the reservation to at least `amount`, unless one of the limits is reached already; see
    /// [`Quota::reserve_last`].
    ///
    /// # Errors
    ///
    /// When one of the limits is reached. It is as large as before then.
    #[inline]
    pub fn grow_last(&mut self, amount: usize) -> Result<(), QuotaExceeded> {
        self.grow(amount, Excess::Last)
    }

    /// Gives back the part above `amount`.
    pub fn shrink_to(&mut self, amount: usize) {
        if let Some(less) = self.amount.checked_sub(amount).filter(|less| *less > 0) {
            self.quota.used().shrink(self.account, less);
            self.amount = amount;
        }
    }

    /// The same bytes, which give this back when the last copy or part of them is dropped: when a response has been
    /// written, for example, or its connection has ended.
    #[must_use]
    pub fn held_by(self, bytes: Bytes) -> Bytes {
        Bytes::from_owner(ReservedBytes { bytes, _reservation: self })
    }

    #[inline]
    fn grow(&mut self, amount: usize, excess: Excess) -> Result<(), QuotaExceeded> {
        if amount <= self.amount {
            return Ok(());
        }
        self.quota.grow(&mut self.quota.used(), self.account, amount - self.amount, excess)?;
        self.amount = amount;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.quota.used().close(self.account, self.amount);
    }
}

/// See [`Reservation::held_by`].
struct ReservedBytes {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for ReservedBytes {
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
    fn callers_without_a_reservation_are_forgotten() {
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
        assert!(quota.reserve(&caller(99), 1).is_err(), "a caller with a reservation is remembered");
        drop(held);
        assert!(quota.reserve(&caller(99), 6).is_ok());
    }

    #[test]
    fn growth_beyond_the_limit_changes_nothing() {
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
    fn bytes_hold_their_reservation_until_the_last_part_is_dropped() {
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
