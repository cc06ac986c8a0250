//! Lists tools for a call that depends on the list's facts about its tool.

use agentwire_jsonrpc::RequestMethod;
use agentwire_mcp_schema::{ListToolsRequest, Paginated, Tool};
use agentwire_peer::CallError;

use super::send;
use crate::connection::Connection;
use crate::pages::page::PageReader;
use crate::raw::{CallOptions, RawCall};
use crate::result::ResultKind;

/// Lists tools page by page until this one is found. Returns false if it is not. Starts again, once, if a cursor is no longer
/// valid.
///
/// The requests bypass the user's layers, where they could wait for the call that needs them. They also bypass lookups in the
/// cache, which still stores their results.
pub(crate) async fn find(connection: &Connection, name: &str) -> bool {
    connection.forget_tools();
    let mut reader = PageReader::<ListToolsRequest>::default();
    let mut cursor = None;
    loop {
        let (tools, next) = match page(connection, &mut reader, ListToolsRequest::page(cursor)).await {
            Ok(page) => page,
            Err(error) if reader.restarts_after(&error) => {
                connection.forget_tools();
                cursor = None;
                continue;
            }
            Err(_) => return false,
        };
        let mut is_found = false;
        for tool in tools {
            is_found |= connection.keeps_tool(&tool) && tool.name == name;
        }
        match next {
            _ if is_found => return true,
            None => return false,
            Some(next) => cursor = Some(next),
        }
    }
}

type Page = (Vec<Tool>, Option<agentwire_mcp_schema::Cursor>);

async fn page(
    connection: &Connection,
    reader: &mut PageReader<ListToolsRequest>,
    request: ListToolsRequest,
) -> Result<Page, CallError> {
    reader.check_page_limit()?;
    let options = CallOptions { waits: connection.server.waits, ..CallOptions::default() };
    let mut call = RawCall::encode(connection, &request, options)?;
    let place = connection.cache.as_ref().and_then(|cache| Some((cache, cache.place(&call)?)));
    let answer = send::call(connection, &mut call).await?;
    if answer.kind != ResultKind::Complete {
        return Err(CallError::unusable(ListToolsRequest::NAME, "the list is not complete"));
    }
    if let Some((cache, place)) = place {
        cache.keep(place, &answer.result);
    }
    reader.read(connection, &answer.result)
}
