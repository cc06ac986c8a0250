use std::collections::HashSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::vec;

use agentwire_jsonrpc::{Members, RawJson, TreeCost};
use agentwire_mcp_schema::{Cursor, HasMeta, Narrow, Paginated};
use agentwire_peer::CallError;
use bytestring::ByteString;
use futures::Stream;

use crate::{Calling, Server, Warning};

/// How many characters of a name that the server gave stand in a warning.
const MOST_OF_NAME: usize = 64;

/// Members of items that stay text once they are decoded.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// A list of the server's, item by item: a page is asked for when the one before is used up.
///
/// It is a [`Stream`], and has the two methods that are needed most without it. After an error it ends.
/// Dropping it cancels the request for a page, if one is under way.
///
/// An item that cannot be decoded is left out, and [`Client::on_warning`](crate::Client::on_warning) hears which and why. So
/// is one of which a schema would take more memory than [`Client::value_limit`](crate::Client::value_limit) says, as a tree of
/// values. Everything else of all items together takes no more than that either: one item more is an error.
#[must_use = "nothing is asked for until items are taken"]
pub struct Pages<M: Paginated> {
    server: Server,
    items: vec::IntoIter<M::Item>,
    next: Next,
    /// Every cursor that the server gave, to notice when they go in a circle.
    seen: HashSet<Cursor>,
    page_limit: usize,
    item_limit: usize,
    byte_limit: usize,
    /// What was taken of these so far.
    totals: Totals,
    keeps: Option<fn(&Server, &M::Item) -> bool>,
}

enum Next {
    At(Option<Cursor>),
    Asked(Box<Calling<RawJson>>),
    Nothing,
}

#[derive(Default)]
struct Totals {
    pages: usize,
    items: usize,
    bytes: usize,
    /// Bytes of memory that the items take, but for their schemas, which stay text.
    memory: usize,
}

impl<M: Paginated> Pages<M> {
    /// The default of [`page_limit`](Self::page_limit): 1,000.
    pub const DEFAULT_PAGE_LIMIT: usize = 1000;
    /// The default of [`item_limit`](Self::item_limit): 10,000.
    pub const DEFAULT_ITEM_LIMIT: usize = 10_000;
    /// The default of [`byte_limit`](Self::byte_limit): 16 MiB.
    pub const DEFAULT_BYTE_LIMIT: usize = 16 * 1024 * 1024;
}

impl<M: Paginated + Narrow + HasMeta + Send + 'static> Pages<M> {
    pub(crate) fn new(server: Server) -> Self {
        Self {
            server,
            items: Vec::new().into_iter(),
            next: Next::At(None),
            seen: HashSet::new(),
            page_limit: Self::DEFAULT_PAGE_LIMIT,
            item_limit: Self::DEFAULT_ITEM_LIMIT,
            byte_limit: Self::DEFAULT_BYTE_LIMIT,
            totals: Totals::default(),
            keeps: None,
        }
    }

    /// Leaves out some items.
    pub(crate) fn keeping(mut self, keeps: fn(&Server, &M::Item) -> bool) -> Self {
        self.keeps = Some(keeps);
        self
    }

    /// Takes so many pages at most (default 1,000). One more is an error.
    pub fn page_limit(mut self, pages: usize) -> Self {
        self.page_limit = pages;
        self
    }

    /// Takes so many items at most, over all pages (default 10,000). One more is an error.
    pub fn item_limit(mut self, items: usize) -> Self {
        self.item_limit = items;
        self
    }

    /// Takes so many bytes of JSON at most, over all pages (default 16 MiB). One more is an error.
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.byte_limit = bytes;
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

    fn take_page(&mut self, page: &RawJson) -> Result<(), CallError> {
        let malformed = |why: String| CallError::malformed(ByteString::from_static(M::NAME), why);
        self.totals.pages += 1;
        self.totals.bytes = self.totals.bytes.saturating_add(page.len());
        if self.totals.bytes > self.byte_limit {
            return Err(over(M::NAME, self.byte_limit, "bytes", "byte_limit"));
        }
        let items = page.member(M::ITEMS).filter(|items| items.as_str().starts_with('['));
        let items = items.ok_or_else(|| malformed(format!("there is no array `{}`", M::ITEMS)))?;
        let left = self.item_limit - self.totals.items;
        let items: Vec<_> = items.elements().take(left.saturating_add(1)).collect();
        if items.len() > left {
            return Err(over(M::NAME, self.item_limit, "items", "item_limit"));
        }
        self.totals.items += items.len();
        let mut decoded = Vec::new();
        for item in &items {
            decoded.extend(self.decode(item)?);
        }
        self.items = decoded.into_iter();
        let next = page.member("nextCursor").filter(|cursor| !cursor.is_null());
        let next: Option<Cursor> =
            next.map(|cursor| cursor.decode()).transpose().map_err(|why| malformed(why.to_string()))?;
        let Some(cursor) = next else {
            return Ok(());
        };
        if self.totals.pages >= self.page_limit {
            return Err(over(M::NAME, self.page_limit, "pages", "page_limit"));
        }
        if !self.seen.insert(cursor.clone()) {
            return Err(CallError::not_allowed(M::NAME, "the server's cursors go in a circle"));
        }
        self.next = Next::At(Some(cursor));
        Ok(())
    }

    /// Decodes an item. None for one that is left out.
    fn decode(&mut self, text: &RawJson) -> Result<Option<M::Item>, CallError> {
        let limit = self.server.value_limit();
        let (schemas, others): (Vec<_>, Vec<_>) =
            Members::of(text.as_str()).partition(|(name, _)| SCHEMAS.contains(&&**name));
        let memory: usize = others.iter().map(|(_, value)| TreeCost::of(value).bytes).sum();
        self.totals.memory = self.totals.memory.saturating_add(memory);
        if self.totals.memory > limit {
            let why = format!("the list takes more than {limit} bytes of memory (Client::value_limit)");
            return Err(CallError::not_allowed(M::NAME, why));
        }
        let decoded = if schemas.iter().any(|(_, schema)| TreeCost::is_over(schema, limit)) {
            Err(format!("a schema takes more than {limit} bytes of memory (Client::value_limit)"))
        } else {
            text.decode::<M::Item>().map_err(|why| why.to_string())
        };
        match decoded {
            Ok(item) => Ok(self.keeps.is_none_or(|keeps| keeps(&self.server, &item)).then_some(item)),
            Err(why) => {
                self.server.warn(Warning::ItemLeftOut { method: M::NAME, name: name_of(text), why });
                Ok(None)
            }
        }
    }
}

/// What an item is called in a warning: by one of these it is asked for.
pub(crate) fn name_of(item: &RawJson) -> String {
    let members = ["name", "uri", "uriTemplate", "taskId"];
    let name = members.into_iter().find_map(|member| item.member(member)?.decode::<String>().ok());
    name.unwrap_or_default().chars().take(MOST_OF_NAME).collect()
}

fn over(method: &'static str, limit: usize, what: &str, setter: &str) -> CallError {
    CallError::not_allowed(
        method,
        format!("the list has more than {limit} {what}, which is the limit (Pages::{setter})"),
    )
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
                    this.next = Next::Asked(Box::new(call.into_text()));
                }
                Next::Asked(call) => {
                    let page = ready!(Pin::new(call).poll(cx));
                    this.next = Next::Nothing;
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
        let pages = self.totals.pages;
        f.debug_struct("Pages").field("method", &M::NAME).field("pages", &pages).finish_non_exhaustive()
    }
}
