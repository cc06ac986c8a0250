//! Pages of lists whose caller wants the whole result.

use std::collections::BTreeMap;

use agentwire_jsonrpc::{Method, RawJson};
use agentwire_mcp_schema::core_tasks::ListTasksRequest;
use agentwire_mcp_schema::{
    HasMeta, ListPromptsRequest, ListResourceTemplatesRequest, ListResourcesRequest, ListToolsRequest,
    Paginated,
};
use agentwire_peer::CallError;
use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::pages::name_of;
use crate::result::{self, malformed};
use crate::{Pages, Server, Warning};

/// The methods that list something, and which member of a result holds the items.
const LISTS: [(&str, &str); 5] = [
    (ListPromptsRequest::NAME, ListPromptsRequest::ITEMS),
    (ListResourceTemplatesRequest::NAME, ListResourceTemplatesRequest::ITEMS),
    (ListResourcesRequest::NAME, ListResourcesRequest::ITEMS),
    (ListTasksRequest::NAME, ListTasksRequest::ITEMS),
    (ListToolsRequest::NAME, ListToolsRequest::ITEMS),
];

/// Of more items than this none is looked at on its own.
const MOST_ITEMS: usize = Pages::<ListToolsRequest>::DEFAULT_ITEM_LIMIT;

/// Which member of a method's results holds the items. None where it lists nothing.
pub(crate) fn items_of(method: &str) -> Option<&'static str> {
    LISTS.iter().find(|(name, _)| *name == method).map(|(_, items)| *items)
}

/// Makes a call that lists something. Items that cannot be decoded are left out with a warning.
pub(crate) async fn ask<M, R>(server: Server, call: Call<M>, items: &'static str) -> Result<R, CallError>
where
    M: Method + HasMeta + Send + 'static,
    R: DeserializeOwned,
{
    let text = call.into_text().await?;
    let limit = server.value_limit();
    result::check(&text, limit).map_err(|why| malformed(M::NAME, &why))?;
    let why = match result::decode(&text, limit) {
        Ok(page) => return Ok(page),
        Err(why) => malformed(M::NAME, &why),
    };
    let Some((page, left_out)) = without_bad_items::<R>(&text, items) else {
        return Err(why);
    };
    let page = result::decode(&page, limit).map_err(|_| why)?;
    for (item, why) in left_out {
        server.warn(Warning::ItemLeftOut { method: M::NAME, name: name_of(&item), why });
    }
    Ok(page)
}

/// The page without the items of which one alone makes no page, and these. None where that is not what is wrong with it.
fn without_bad_items<R: DeserializeOwned>(
    page: &RawJson,
    member: &str,
) -> Option<(RawJson, Vec<(RawJson, String)>)> {
    let items = page.member(member).filter(|items| items.as_str().starts_with('['))?;
    let items: Vec<_> = items.elements().take(MOST_ITEMS + 1).collect();
    if items.len() > MOST_ITEMS {
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
