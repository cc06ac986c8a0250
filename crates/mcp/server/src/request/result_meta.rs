//! The description of the server in the `_meta` of a modern result, and how long the result may be cached. Since 2026-07-28.

use agentwire_jsonrpc::{ErrorObject, RawJson};
use agentwire_mcp_schema::{HasMeta, Meta, ResultMeta, ResultType};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::value::RawValue;

use crate::caching::Caching;
use crate::scope::RequestScope;
use crate::settings::Settings;

/// Encodes a result with the name of the server in its `_meta`.
pub(crate) fn encode<T: Serialize + HasMeta>(
    settings: &Settings,
    scope: &RequestScope,
    mut value: T,
) -> Result<RawJson, ErrorObject> {
    #[derive(Serialize)]
    struct Signed<'a, T> {
        #[serde(flatten)]
        value: &'a T,
        #[serde(rename = "_meta")]
        meta: &'a RawValue,
    }

    match value.meta_slot() {
        None => scope.encode(&Signed { value: &value, meta: &settings.server_meta }),
        Some(meta) => {
            add_server(settings, meta);
            scope.encode(&value)
        }
    }
}

fn add_server(settings: &Settings, meta: &mut Meta) {
    let mut signed = ResultMeta::new(settings.info.clone()).to_meta();
    signed.retain(|key| !meta.contains_key(key));
    meta.extend(signed.iter());
}

/// The members of a page beside its items.
pub(crate) struct PageMeta<'a> {
    caching: &'a Caching,
    server_meta: &'a RawValue,
}

impl<'a> PageMeta<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self { caching: &settings.caching, server_meta: &settings.server_meta }
    }

    /// Writes them as members of the page.
    pub(crate) fn write<M: SerializeMap>(&self, page: &mut M) -> Result<(), M::Error> {
        page.serialize_entry("resultType", &ResultType::Complete)?;
        page.serialize_entry("ttlMs", &self.caching.ttl)?;
        page.serialize_entry("cacheScope", &self.caching.scope)?;
        page.serialize_entry("_meta", self.server_meta)
    }
}
