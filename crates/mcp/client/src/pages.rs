//! `Pages`: a paginated list of the server as a stream of items.

pub(crate) mod page;

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use agentwire_mcp_schema::{Cursor, Downgrade, HasMeta, Paginated};
use agentwire_peer::CallError;
use futures_util::Stream;

use crate::connection::Connection;
use crate::pages::page::{BYTE_LIMIT, ITEM_LIMIT, PAGE_LIMIT, PageReader};
use crate::stack::{CallStack, RawCallFuture};
use crate::{Call, RawAnswer};

/// A list of the server, item by item: a page is requested when the one before is used up.
///
/// It is a [`Stream`], and has the two most used stream methods itself. After an error it ends. Dropping it cancels the
/// request for a page, if one is in flight.
///
/// A server may refuse a page because the list has changed and the cursor is no longer valid (`-32602`). Then
/// [`collect`](Self::collect) drops the pages that it has and reads the list from the start, once. Where items were taken one by
/// one, the refusal is an error: only the caller can drop these.
///
/// The failure of a page after the first is an error of the stream. If the server has answered, [`collect`](Self::collect)
/// returns the items so far instead, and calls [`Client::on_warning`](crate::Client::on_warning).
///
/// Cursors that form a cycle end the list with the items so far, and [`Client::on_warning`](crate::Client::on_warning) is
/// called. Up to 2025-11-25 an empty cursor that repeats ends the list without a warning.
///
/// An item that cannot be decoded is left out, and [`Client::on_warning`](crate::Client::on_warning) is called. The same
/// happens to an item with a schema that would take more memory as a tree of values than
/// [`Client::value_limit`](crate::Client::value_limit). The rest of all items together must stay within that limit too: the
/// item that exceeds it is an error.
#[must_use = "nothing is requested until items are taken"]
pub struct Pages<M: Paginated> {
    stack: CallStack,
    items: vec::IntoIter<M::Item>,
    next: NextPage,
    reader: PageReader<M>,
    keeps: Option<fn(&Connection, &M::Item) -> bool>,
}

enum NextPage {
    At(Option<Cursor>),
    Requested(Box<RawCallFuture>),
    None,
}

impl<M: Paginated> Pages<M> {
    /// The default of [`page_limit`](Self::page_limit): 1,000.
    pub const DEFAULT_PAGE_LIMIT: usize = PAGE_LIMIT;
    /// The default of [`item_limit`](Self::item_limit): 10,000.
    pub const DEFAULT_ITEM_LIMIT: usize = ITEM_LIMIT;
    /// The default of [`byte_limit`](Self::byte_limit): 16 MiB.
    pub const DEFAULT_BYTE_LIMIT: usize = BYTE_LIMIT;
}

impl<M: Paginated + Downgrade + HasMeta + Send + 'static> Pages<M> {
    pub(crate) fn new(stack: CallStack) -> Self {
        Self {
            stack,
            items: Vec::new().into_iter(),
            next: NextPage::At(None),
            reader: PageReader::default(),
            keeps: None,
        }
    }

    /// Leaves out the items for which the function returns false.
    pub(crate) fn keeping(mut self, keeps: fn(&Connection, &M::Item) -> bool) -> Self {
        self.keeps = Some(keeps);
        self
    }

    /// Sets the most pages (default 1,000). One more is an error.
    pub fn page_limit(mut self, pages: usize) -> Self {
        self.reader.page_limit = pages;
        self
    }

    /// Sets the most items over all pages (default 10,000). One more is an error.
    pub fn item_limit(mut self, items: usize) -> Self {
        self.reader.item_limit = items;
        self
    }

    /// Sets the most bytes of JSON over all pages (default 16 MiB). One more is an error.
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.reader.byte_limit = bytes;
        self
    }

    /// Returns the next item, or `None` at the end.
    ///
    /// # Errors
    ///
    /// When the request for a page fails, or a page breaks a limit.
    pub async fn try_next(&mut self) -> Result<Option<M::Item>, CallError> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await.transpose()
    }

    /// Returns all items that are left. Where none were taken before, a page that is refused with `-32602` (invalid params)
    /// makes it drop all pages and read the list from the start, once. If the server's answer for a later page is an error,
    /// cannot be read, or breaks a limit, this returns the items so far and calls
    /// [`Client::on_warning`](crate::Client::on_warning).
    ///
    /// # Errors
    ///
    /// When the first page fails, the connection ends, or a page does not arrive in time. If items were taken before, when any
    /// page fails.
    pub async fn collect(mut self) -> Result<Vec<M::Item>, CallError> {
        let has_all = self.reader.pages == 0;
        let mut items = Vec::new();
        loop {
            match self.try_next().await {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return Ok(items),
                Err(error) if has_all && self.reader.restarts_after(&error) => {
                    items.clear();
                    self.next = NextPage::At(None);
                }
                Err(error) if has_all && self.reader.ends_before(&self.stack.connection, &error) => {
                    return Ok(items);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn take_page(&mut self, page: &RawAnswer) -> Result<(), CallError> {
        let connection = &self.stack.connection;
        let (mut items, next) = self.reader.read(connection, &page.result)?;
        if let Some(keeps) = self.keeps {
            items.retain(|item| keeps(connection, item));
        }
        self.items = items.into_iter();
        if next.is_some() {
            self.next = NextPage::At(next);
        }
        Ok(())
    }
}

/// No field is pinned.
impl<M: Paginated> Unpin for Pages<M> {}

impl<M: Paginated + Downgrade + HasMeta + Send + 'static> Stream for Pages<M> {
    type Item = Result<M::Item, CallError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        loop {
            if let Some(item) = this.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match &mut this.next {
                NextPage::None => return Poll::Ready(None),
                NextPage::At(cursor) => {
                    if let Err(error) = this.reader.check_page_limit() {
                        this.next = NextPage::None;
                        return Poll::Ready(Some(Err(error)));
                    }
                    let call = Call::new(this.stack.clone(), M::page(cursor.take()));
                    this.next = NextPage::Requested(Box::new(call.into_raw()));
                }
                NextPage::Requested(call) => {
                    let page = ready!(Pin::new(call).poll(cx));
                    this.next = NextPage::None;
                    if let Err(error) = page.and_then(|page| this.take_page(&page)) {
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
        f.debug_struct("Pages")
            .field("method", &M::NAME)
            .field("pages", &self.reader.pages)
            .finish_non_exhaustive()
    }
}
