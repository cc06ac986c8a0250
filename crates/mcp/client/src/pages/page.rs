//! Reading the pages of a list within limits.

use agentwire_jsonrpc::runtime::Members;
use agentwire_jsonrpc::{Printable, RawJson, Skipped, TreeCost, code, collect_skipped};
use agentwire_mcp_schema::{Cursor, Paginated};
use agentwire_peer::CallError;
use agentwire_peer::runtime::{CursorStep, Cursors};
use bytestring::ByteString;

use crate::Warning;
use crate::connection::Connection;

/// The default limit on pages.
pub(crate) const PAGE_LIMIT: usize = 1000;
/// The default limit on items, over all pages.
pub(crate) const ITEM_LIMIT: usize = 10_000;
/// The default limit on bytes, over all pages: 16 MiB.
pub(crate) const BYTE_LIMIT: usize = 16 * 1024 * 1024;

/// The longest name of an item in a warning, in characters.
const MAX_NAME: usize = 64;

/// The member of a page that names the next one.
const NEXT_CURSOR: &str = "nextCursor";

/// Members of items that stay text when the item is decoded.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// Decodes the pages of one list in their order.
pub(crate) struct PageReader<M: Paginated> {
    cursors: Cursors,
    pub(crate) page_limit: usize,
    pub(crate) item_limit: usize,
    pub(crate) byte_limit: usize,
    /// The pages that were read without a failure.
    pub(crate) pages: usize,
    items: usize,
    bytes: usize,
    /// Bytes of memory that the items take, except their schemas, which stay text.
    memory: usize,
    /// Whether the list was read from the start again.
    is_restarted: bool,
    list: std::marker::PhantomData<fn() -> M>,
}

impl<M: Paginated> Default for PageReader<M> {
    fn default() -> Self {
        Self {
            cursors: Cursors::default(),
            page_limit: PAGE_LIMIT,
            item_limit: ITEM_LIMIT,
            byte_limit: BYTE_LIMIT,
            pages: 0,
            items: 0,
            bytes: 0,
            memory: 0,
            is_restarted: false,
            list: std::marker::PhantomData,
        }
    }
}

impl<M: Paginated> PageReader<M> {
    /// Forgets the pages if the error means that the cursor of the next one is no longer valid. Returns whether to read the list
    /// from the start, which it does once. See
    /// <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>.
    pub(crate) fn restarts_after(&mut self, error: &CallError) -> bool {
        let is_cursor_lost =
            self.pages > 0 && error.refusal().is_some_and(|error| error.code == code::INVALID_PARAMS);
        if !is_cursor_lost || self.is_restarted {
            return false;
        }
        *self = Self {
            page_limit: self.page_limit,
            item_limit: self.item_limit,
            byte_limit: self.byte_limit,
            is_restarted: true,
            ..Self::default()
        };
        true
    }

    /// Returns whether the list ends with the pages so far, because the server's answer for a later page is an error, cannot be
    /// read, or breaks a limit. Then it warns.
    pub(crate) fn ends_before(&self, connection: &Connection, error: &CallError) -> bool {
        let is_of_answer = matches!(
            error,
            CallError::Refused { .. }
                | CallError::Decode { .. }
                | CallError::Unusable { .. }
                | CallError::NotAllowed { .. }
        );
        let ends = self.pages > 0 && is_of_answer;
        if ends {
            let why = error.to_string();
            connection.warn(Warning::ListCut { method: M::NAME, pages: self.pages, why });
        }
        ends
    }

    /// Fails if the list has no room for a further page.
    pub(crate) fn check_page_limit(&self) -> Result<(), CallError> {
        match self.pages {
            0 => Ok(()),
            pages if pages < self.page_limit => Ok(()),
            _ => Err(over(M::NAME, self.page_limit, "pages", "page_limit")),
        }
    }

    /// Returns the items of a page that can be decoded, and the cursor of the next page.
    pub(crate) fn read(
        &mut self,
        connection: &Connection,
        page: &RawJson,
    ) -> Result<(Vec<M::Item>, Option<Cursor>), CallError> {
        let malformed = |why: String| CallError::malformed(ByteString::from_static(M::NAME), why);
        self.bytes = self.bytes.saturating_add(page.len());
        if self.bytes > self.byte_limit {
            return Err(over(M::NAME, self.byte_limit, "bytes", "byte_limit"));
        }
        let list = page.member(M::ITEMS).filter(|items| items.as_str().starts_with('['));
        let list = list.ok_or_else(|| malformed(format!("there is no array `{}`", M::ITEMS)))?;
        let next = match self.next(connection, page, &list) {
            PageStep::Repeated => {
                self.pages += 1;
                return Ok((Vec::new(), None));
            }
            PageStep::End => None,
            PageStep::Page(cursor) => Some(cursor),
        };
        let left = self.item_limit - self.items;
        let items: Vec<_> = list.elements().take(left.saturating_add(1)).collect();
        if items.len() > left {
            return Err(over(M::NAME, self.item_limit, "items", "item_limit"));
        }
        self.items += items.len();
        let mut decoded = Vec::new();
        for item in &items {
            decoded.extend(self.decode(connection, item)?);
        }
        self.pages += 1;
        Ok((decoded, next))
    }

    /// The step after a page with these items. Cursors that form a cycle end the list with a warning. Up to 2025-11-25 many
    /// servers mark the end with an empty cursor that repeats, so that one gets no warning.
    fn next(&mut self, connection: &Connection, page: &RawJson, items: &RawJson) -> PageStep {
        let Some(cursor) = page.member(NEXT_CURSOR).filter(|cursor| !cursor.is_null()) else {
            return PageStep::End;
        };
        let cursor: Cursor = match cursor.decode() {
            Ok(cursor) => cursor,
            Err(why) => {
                connection.warn_skipped(M::NAME, Skipped::part(NEXT_CURSOR, "Cursor", &why));
                return PageStep::End;
            }
        };
        let step = self.cursors.follow(cursor.as_str(), &items.as_str());
        if step != CursorStep::New && (connection.is_modern() || !cursor.as_str().is_empty()) {
            connection.warn(Warning::CursorsRepeat { method: M::NAME, pages: self.pages + 1 });
        }
        match step {
            CursorStep::New => PageStep::Page(cursor),
            CursorStep::Back => PageStep::End,
            CursorStep::SamePage => PageStep::Repeated,
        }
    }

    /// Decodes an item. Returns `None` for an item that is left out, after a warning.
    fn decode(&mut self, connection: &Connection, text: &RawJson) -> Result<Option<M::Item>, CallError> {
        let limit = connection.value_limit();
        let (schemas, others): (Vec<_>, Vec<_>) =
            Members::of(text.as_str()).partition(|(name, _)| SCHEMAS.contains(&&**name));
        let memory: usize = others.iter().map(|(_, value)| TreeCost::of(value).bytes).sum();
        self.memory = self.memory.saturating_add(memory);
        if self.memory > limit {
            let why = format!("the list takes more than {limit} bytes of memory (Client::value_limit)");
            return Err(CallError::not_allowed(M::NAME, why));
        }
        let decoded = if schemas.iter().any(|(_, schema)| TreeCost::is_over(schema, limit)) {
            Err(format!("a schema takes more than {limit} bytes of memory (Client::value_limit)"))
        } else {
            let (decoded, mut skipped) = collect_skipped(|| text.decode_leniently::<M::Item>());
            if decoded.is_ok() {
                let name = name_of(text);
                for part in &mut skipped.parts {
                    part.place = format!("{}[\"{}\"].{}", M::ITEMS, Printable::one_line(&name), part.place);
                }
                connection.warn_skipped(M::NAME, skipped);
            }
            decoded.map_err(|why| why.to_string())
        };
        match decoded {
            Ok(item) => Ok(Some(item)),
            Err(why) => {
                connection.warn(Warning::ItemLeftOut { method: M::NAME, name: name_of(text), why });
                Ok(None)
            }
        }
    }
}

/// The step after a page.
enum PageStep {
    Page(Cursor),
    End,
    /// The end. The page itself is one that was read before.
    Repeated,
}

/// The name of an item in a warning: the member by which it is requested.
pub(crate) fn name_of(item: &RawJson) -> String {
    let members = ["name", "uri", "uriTemplate", "taskId"];
    let name = members.into_iter().find_map(|member| item.member(member)?.decode::<String>().ok());
    name.unwrap_or_default().chars().take(MAX_NAME).collect()
}

fn over(method: &'static str, limit: usize, what: &str, setter: &str) -> CallError {
    CallError::not_allowed(
        method,
        format!("the list has more than {limit} {what}, which is the limit (Pages::{setter})"),
    )
}
