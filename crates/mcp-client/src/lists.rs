//! Pages of lists whose caller wants the whole result.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{RawJson, RequestMethod};
use agentwire_mcp_schema::core_tasks::ListTasksRequest;
use agentwire_mcp_schema::{
    ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest, Paginated,
};
use serde::de::DeserializeOwned;

use crate::Warning;
use crate::connection::Connection;
use crate::page::{ITEM_LIMIT, name_of};
use crate::result;

/// The methods that list something, and the member of a result that holds the items.
const LISTS: [(&str, &str); 5] = [
    (ListPromptsRequest::NAME, ListPromptsRequest::ITEMS),
    (ListResourceTemplatesRequest::NAME, ListResourceTemplatesRequest::ITEMS),
    (ListResourcesRequest::NAME, ListResourcesRequest::ITEMS),
    (ListTasksRequest::NAME, ListTasksRequest::ITEMS),
    (ListToolsRequest::NAME, ListToolsRequest::ITEMS),
];

/// The member of a method's results that holds the items. `None` where the method lists nothing.
pub(crate) fn items_of(method: &str) -> Option<&'static str> {
    LISTS.iter().find(|(name, _)| *name == method).map(|(_, items)| *items)
}

/// Decodes a page. Leaves out items that cannot be decoded, after a warning.
pub(crate) fn decode<R: DeserializeOwned>(
    connection: &Connection,
    method: &'static str,
    items: &str,
    text: &RawJson,
) -> Result<R, serde_json::Error> {
    let limit = connection.value_limit();
    result::check(text, limit)?;
    let why = match result::decode(text, limit) {
        Ok(page) => return Ok(page),
        Err(why) => why,
    };
    let Some((page, left_out)) = without_bad_items::<R>(text, items) else {
        return Err(why);
    };
    let page = result::decode(&page, limit).map_err(|_| why)?;
    for (item, why) in left_out {
        connection.warn(Warning::ItemLeftOut { method, name: name_of(&item), why });
    }
    Ok(page)
}

/// Returns the page without its bad items, and these. An item is bad where it alone makes no page. `None` where no item is
/// bad, or there are too many items.
fn without_bad_items<R: DeserializeOwned>(
    page: &RawJson,
    member: &str,
) -> Option<(RawJson, Vec<(RawJson, String)>)> {
    let items = page.member(member).filter(|items| items.as_str().starts_with('['))?;
    let items: Vec<_> = items.elements().take(ITEM_LIMIT + 1).collect();
    if items.len() > ITEM_LIMIT {
        return None;
    }
    let mut good = Vec::with_capacity(items.len());
    let mut left_out = Vec::new();
    for item in items {
        let alone = RawJson::encode(&BTreeMap::from([(member, [&item])])).ok()?;
        match alone.decode::<R>() {
            Ok(_) => good.push(item),
            Err(why) => left_out.push((item, why.to_string())),
        }
    }
    if left_out.is_empty() {
        return None;
    }
    let mut members: BTreeMap<String, RawJson> = page.decode().ok()?;
    members.insert(member.to_owned(), RawJson::encode(&good).ok()?);
    Some((RawJson::encode(&members).ok()?, left_out))
}
