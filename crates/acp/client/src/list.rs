//! The list of an agent's sessions, requested page by page.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use agentwire_acp_schema::v1::{ListSessionsRequest, ListSessionsResponse, SessionInfo};
use agentwire_jsonrpc::{RawJson, RequestMethod, Skipped};
use agentwire_peer::runtime::{CursorStep, Cursors, PeerExt};
use agentwire_peer::{Call, CallError, Peer};
use futures_util::{Stream, StreamExt};
use serde::Serialize;

/// The default limit of the pages of one list.
const PAGE_LIMIT: usize = 1000;

/// A list of sessions that comes in pages: the request for a page, of either version.
pub trait Listing: RequestMethod {
    /// A session in the list.
    type Item: Serialize;

    /// Sets the cursor of the page to request.
    fn at(&mut self, cursor: String);

    /// Returns a page's items and the cursor of the next page.
    fn split(page: Self::Response) -> (Vec<Self::Item>, Option<String>);
}

impl Listing for ListSessionsRequest {
    type Item = SessionInfo;

    fn at(&mut self, cursor: String) {
        self.cursor = Some(cursor);
    }

    fn split(page: ListSessionsResponse) -> (Vec<SessionInfo>, Option<String>) {
        (page.sessions, page.next_cursor)
    }
}

/// The sessions of the agent. The next page is requested when the last item of a page has been returned.
///
/// It is a [`Stream`]. Two methods need no import of `StreamExt`. It ends after an error. The failure of a
/// later page is an error, except in [`collect`](Self::collect). If the agent's cursors form a cycle, it ends with the
/// sessions so far, and [`skipped`](crate::Client::skipped) is called. Dropping it cancels the request for a page, if one is
/// pending.
#[must_use = "nothing is asked for until sessions are taken"]
pub struct Sessions<L: Listing = ListSessionsRequest> {
    ask: Ask<L>,
    request: L,
    items: vec::IntoIter<L::Item>,
    next: NextPage<L::Response>,
    cursors: Cursors,
    peer: Peer,
    pages: usize,
    page_limit: usize,
}

/// Makes the call for a page.
type Ask<L> = Box<dyn Fn(&L) -> Call<<L as RequestMethod>::Response> + Send + Sync>;

enum NextPage<R> {
    Request,
    Waiting(Box<Call<R>>),
    None,
}

impl<L: Listing> Sessions<L> {
    pub(crate) fn new(
        request: L,
        peer: Peer,
        ask: impl Fn(&L) -> Call<L::Response> + Send + Sync + 'static,
    ) -> Self {
        Self {
            ask: Box::new(ask),
            request,
            items: Vec::new().into_iter(),
            next: NextPage::Request,
            cursors: Cursors::default(),
            peer,
            pages: 0,
            page_limit: PAGE_LIMIT,
        }
    }

    /// Sets the limit of pages (default 1,000). One more page is an error.
    pub fn page_limit(mut self, pages: usize) -> Self {
        self.page_limit = pages;
        self
    }

    /// Returns the next session, or none at the end.
    ///
    /// # Errors
    ///
    /// When a page cannot be fetched or decoded, or the limit of pages is reached.
    pub async fn try_next(&mut self) -> Result<Option<L::Item>, CallError> {
        self.next().await.transpose()
    }

    /// Returns whether an error ends the list with the pages so far, and reports it if so: a later page is refused,
    /// cannot be read, or is beyond the limit.
    fn ends_before(&self, error: &CallError) -> bool {
        let is_of_answer = matches!(
            error,
            CallError::Refused { .. } | CallError::Decode { .. } | CallError::Unusable { .. }
        );
        let ends = self.pages > 0 && is_of_answer;
        if ends {
            let why = format!("the list ends after page {}: {error}", self.pages);
            self.peer.report_skipped(L::NAME, Skipped::part("nextCursor", "String", &why));
        }
        ends
    }

    /// Fails if the page limit is reached.
    fn check_page_limit(&self) -> Result<(), CallError> {
        let limit = self.page_limit;
        if self.pages == 0 || self.pages < limit {
            return Ok(());
        }
        Err(CallError::unusable(L::NAME, format!("there are more than {limit} pages, which is the limit")))
    }

    /// Returns all remaining sessions. If the agent's answer for a later page is an error, cannot be read, or breaks the
    /// limit, it returns the sessions so far, and [`skipped`](crate::Client::skipped) is called.
    ///
    /// # Errors
    ///
    /// If the first page fails, the connection ends, or a page does not arrive in time.
    pub async fn collect(mut self) -> Result<Vec<L::Item>, CallError> {
        let mut items = Vec::new();
        loop {
            match self.next().await {
                Some(Ok(item)) => items.push(item),
                Some(Err(error)) if !self.ends_before(&error) => return Err(error),
                _ => return Ok(items),
            }
        }
    }

    fn take_page(&mut self, page: L::Response) {
        let (items, next) = L::split(page);
        self.pages += 1;
        if let Some(cursor) = next {
            let step =
                self.cursors.follow(&cursor, &RawJson::encode(&items).unwrap_or(RawJson::NULL).as_str());
            if step == CursorStep::New {
                self.request.at(cursor);
                self.next = NextPage::Request;
            } else {
                let why = "the agent's cursors form a cycle, so the list ends here";
                self.peer.report_skipped(L::NAME, Skipped::part("nextCursor", "String", &why));
            }
            if step == CursorStep::SamePage {
                return;
            }
        }
        self.items = items.into_iter();
    }
}

/// No field is pinned.
impl<L: Listing> Unpin for Sessions<L> {}

impl<L: Listing> Stream for Sessions<L> {
    type Item = Result<L::Item, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(item) = this.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match &mut this.next {
                NextPage::None => return Poll::Ready(None),
                NextPage::Request => match this.check_page_limit() {
                    Ok(()) => this.next = NextPage::Waiting(Box::new((this.ask)(&this.request))),
                    Err(error) => {
                        this.next = NextPage::None;
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                NextPage::Waiting(call) => {
                    let page = ready!(Pin::new(call).poll(cx));
                    this.next = NextPage::None;
                    match page {
                        Ok(page) => this.take_page(page),
                        Err(error) => return Poll::Ready(Some(Err(error))),
                    }
                }
            }
        }
    }
}

impl<L: Listing> fmt::Debug for Sessions<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}
