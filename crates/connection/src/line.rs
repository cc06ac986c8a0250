use std::collections::VecDeque;

/// What waits its turn, in order.
///
/// Most of the time that is one thing, which needs no memory of its own.
#[derive(Debug)]
pub(crate) struct Line<T> {
    first: Option<T>,
    /// Empty while there is no first.
    rest: VecDeque<T>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { first: None, rest: VecDeque::new() }
    }
}

impl<T> Line<T> {
    #[inline]
    pub(crate) fn push(&mut self, last: T) {
        if self.first.is_none() {
            self.first = Some(last);
        } else {
            self.rest.push_back(last);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let first = self.first.take()?;
        self.first = self.rest.pop_front();
        Some(first)
    }

    /// Takes the first that fits, wherever it stands.
    pub(crate) fn take(&mut self, fits: impl Fn(&T) -> bool) -> Option<T> {
        if self.first.as_ref().is_some_and(&fits) {
            return self.pop();
        }
        let index = self.rest.iter().position(fits)?;
        self.rest.remove(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Gives back the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.rest.capacity() > many {
            self.rest.shrink_to_fit();
        }
    }
}
