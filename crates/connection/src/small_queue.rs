use std::collections::VecDeque;

/// A FIFO whose first item takes no memory of its own. Most of the time there is one item.
#[derive(Debug)]
pub(crate) struct SmallQueue<T> {
    /// The item that came while the queue was empty. It stands before the rest.
    first: Option<T>,
    rest: VecDeque<T>,
}

impl<T> Default for SmallQueue<T> {
    fn default() -> Self {
        Self { first: None, rest: VecDeque::new() }
    }
}

impl<T> SmallQueue<T> {
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

    /// Takes the first item that fits, wherever it stands.
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

    /// Releases the memory of empty places, if there are more than `many`.
    pub(crate) fn shrink(&mut self, many: usize) {
        if self.rest.capacity() > many {
            self.rest.shrink_to_fit();
        }
    }
}
