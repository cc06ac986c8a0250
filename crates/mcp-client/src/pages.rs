use std::collections::HashSet;
use std::fmt;
use std::future::{IntoFuture, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use agentwire_mcp_schema::{Cursor, HasMeta, Narrow, Paginated};
use agentwire_peer::CallError;
use futures::Stream;

use crate::{Calling, Server, Warning};

/// How many pages a list may have unless the caller says otherwise.
const PAGE_LIMIT: usize = 1000;

/// A list of the server's, item by item: a page is asked for when the one before is used up.
///
/// It is a [`Stream`], and has the two methods that are needed most without it. After an error it ends.
/// Dropping it cancels the request for a page, if one is under way.
#[must_use = "nothing is asked for until items are taken"]
pub struct Pages<M: Paginated> {
    server: Server,
    items: vec::IntoIter<M::Item>,
    next: Next<M>,
    /// Every cursor that the server gave, to notice when they go in a circle.
    seen: HashSet<Cursor>,
    page_limit: usize,
    pages: usize,
    keeps: Option<fn(&Server, &M::Item) -> bool>,
}

enum Next<M: Paginated> {
    At(Option<Cursor>),
    Asked(Box<Calling<M::Response>>),
    Nothing,
}

impl<M: Paginated + Narrow + HasMeta + Send + 'static> Pages<M> {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            items: Vec::new().into_iter(),
            next: Next::At(None),
            seen: HashSet::new(),
            page_limit: PAGE_LIMIT,
            pages: 0,
            keeps: None,
        }
    }

    /// Leaves out some items.
    pub(crate) fn keeping(mut self, keeps: fn(&Server, &M::Item) -> bool) -> Self {
        self.keeps = Some(keeps);
        self
    }

    /// Takes so many pages at most (default 1000). One more is an error.
    pub fn page_limit(mut self, pages: usize) -> Self {
        self.page_limit = pages;
        self
    }

    /// The next item. None at the end.
    ///
    /// # Errors
    ///
    /// When a page cannot be had.
    pub async fn try_next(&mut self) -> Result<Option<M::Item>, CallError> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }

    /// All items that are left.
    ///
    /// # Errors
    ///
    /// When a page cannot be had.
    pub async fn collect(mut self) -> Result<Vec<M::Item>, CallError> {
        let mut items = Vec::new();
        while let Some(item) = self.try_next().await? {
            items.push(item);
        }
        Ok(items)
    }

    fn take_page(&mut self, page: M::Response) -> Result<(), CallError> {
        for item in M::skipped(&page) {
            self.server.warn(Warning::ItemLeftOut { method: M::NAME, item: item.clone() });
        }
        let (mut items, next) = M::split(page);
        if let Some(keeps) = self.keeps {
            items.retain(|item| keeps(&self.server, item));
        }
        self.items = items.into_iter();
        self.pages += 1;
        let Some(cursor) = next else {
            return Ok(());
        };
        if self.pages >= self.page_limit {
            let limit = self.page_limit;
            return Err(CallError::not_allowed(
                M::NAME,
                format!("there are more than {limit} pages, which is the limit"),
            ));
        }
        if !self.seen.insert(cursor.clone()) {
            return Err(CallError::not_allowed(M::NAME, "the server's cursors go in a circle"));
        }
        self.next = Next::At(Some(cursor));
        Ok(())
    }
}

/// Nothing here is pinned to its place.
impl<M: Paginated> Unpin for Pages<M> {}

impl<M: Paginated + Narrow + HasMeta + Send + 'static> Stream for Pages<M> {
    type Item = Result<M::Item, CallError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(item) = this.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match &mut this.next {
                Next::Nothing => return Poll::Ready(None),
                Next::At(cursor) => {
                    let call = this.server.call(M::page(cursor.take()));
                    this.next = Next::Asked(Box::new(call.into_future()));
                }
                Next::Asked(call) => {
                    let page = ready!(Pin::new(call).poll(cx));
                    this.next = Next::Nothing;
                    if let Err(error) = page.and_then(|page| this.take_page(page)) {
                        this.items = Vec::new().into_iter();
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
        }
    }
}

impl<M: Paginated> fmt::Debug for Pages<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("method", &M::NAME).field("pages", &self.pages).finish_non_exhaustive()
    }
}
