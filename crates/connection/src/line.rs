use std::collections::VecDeque;

/// What waits its turn, in order.
///
/// Most of the time that is one thing, which needs no memory of its own.
#[derive(Debug)]
pub(crate) struct Line<T> {
    /// What came while nothing waited. It stands before the rest.
    first: Option<T>,
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
        if self.is_empty() {
            self.first = Some(last);
        } else {
            self.rest.push_back(last);
        }
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.first.take().or_else(|| self.rest.pop_front())
    }

    /// Takes the first that fits, wherever it stands.
    pub(crate) fn take(&mut self, fits: impl Fn(&T) -> bool) -> Option<T> {
        if self.first.as_ref().is_some_and(&fits) {
            return self.first.take();
        }
        let index = self.rest.iter().position(fits)?;
        self.rest.remove(index)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.rest)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none() && self.rest.is_empty()
    }

    /// Gives back the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.rest.capacity() > many {
            self.rest.shrink_to_fit();
        }
    }
}
