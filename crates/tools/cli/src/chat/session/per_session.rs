//! Values of the open session, which come back when another session cannot be opened in its place.

use std::ops::{Deref, DerefMut};

/// A change of the open session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chat) enum SessionChange {
    /// Another session is being opened in place of this one. May repeat, because opening is tried again after a login.
    Begins,
    /// The other session is open, and this one is left.
    Succeeds,
    /// The other session cannot be opened, and this one goes on.
    Fails,
}

/// A value of the open session. Keeps the value of the session before while another is being opened.
#[derive(Debug, Default)]
pub(in crate::chat) struct PerSession<T> {
    current: T,
    before: Option<T>,
}

impl<T> PerSession<T> {
    pub(in crate::chat) fn new(current: T) -> Self {
        Self { current, before: None }
    }

    /// Follows a change. `initial` makes the value of another session.
    pub(in crate::chat) fn follow(&mut self, change: SessionChange, initial: impl FnOnce() -> T) {
        match change {
            SessionChange::Begins => {
                let left = std::mem::replace(&mut self.current, initial());
                self.before.get_or_insert(left);
            }
            SessionChange::Succeeds => self.before = None,
            SessionChange::Fails => {
                if let Some(before) = self.before.take() {
                    self.current = before;
                }
            }
        }
    }

    /// The value of the session before, while another is being opened.
    pub(in crate::chat) fn before(&self) -> Option<&T> {
        self.before.as_ref()
    }
}

impl<T> Deref for PerSession<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.current
    }
}

impl<T> DerefMut for PerSession<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.current
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_cannot_be_opened_changes_nothing() {
        let mut value = PerSession::new("one");
        let mut follow = |change| {
            value.follow(change, || "none");
            if change == SessionChange::Begins {
                *value = "two";
            }
            (*value, value.before().copied())
        };
        assert_eq!(follow(SessionChange::Begins), ("two", Some("one")));
        assert_eq!(follow(SessionChange::Begins), ("two", Some("one")));
        assert_eq!(follow(SessionChange::Fails), ("one", None));
        assert_eq!(follow(SessionChange::Fails), ("one", None));
        assert_eq!(follow(SessionChange::Begins), ("two", Some("one")));
        assert_eq!(follow(SessionChange::Succeeds), ("two", None));
        assert_eq!(follow(SessionChange::Fails), ("two", None));
    }
}
