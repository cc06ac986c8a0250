//! Checks of servers: features, and the functions that these checks share.

pub(super) mod caching;
pub(super) mod completion;
pub(super) mod input_required;
pub(super) mod logging;
pub(super) mod pagination;
pub(crate) mod subscriptions;
pub(super) mod tools;

use std::time::Duration;

use serde_json::{Value, json};

use super::Server;
use crate::conversation::Conversation;
use crate::verdict::{Outcome, Stop, ensure};

/// The error for params that are not valid.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// The error for an unknown method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;

/// How long a check waits for what must not come.
pub(super) const SILENCE: Duration = Duration::from_millis(300);

/// The most pages of one list that a check fetches.
const MAX_PAGES: usize = 10;

/// A list that a server may offer.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// The capability.
    pub(super) capability: &'static str,
    pub(super) method: &'static str,
    /// The member of the result that holds the entries.
    pub(super) member: &'static str,
    /// The member that identifies an entry.
    key: &'static str,
}

impl List {
    pub(super) const TOOLS: Self =
        Self { capability: "tools", method: "tools/list", member: "tools", key: "name" };
    pub(super) const PROMPTS: Self =
        Self { capability: "prompts", method: "prompts/list", member: "prompts", key: "name" };
    pub(super) const RESOURCES: Self =
        Self { capability: "resources", method: "resources/list", member: "resources", key: "uri" };
    pub(super) const TEMPLATES: Self = Self {
        capability: "resources",
        method: "resources/templates/list",
        member: "resourceTemplates",
        key: "uriTemplate",
    };
    pub(super) const ALL: [Self; 4] = [Self::TOOLS, Self::PROMPTS, Self::RESOURCES, Self::TEMPLATES];

    /// The entries of one page.
    pub(super) fn entries(self, page: &Value) -> &[Value] {
        page[self.member].as_array().map_or(&[][..], Vec::as_slice)
    }

    /// The identifiers of the entries of one page.
    pub(super) fn keys(self, page: &Value) -> Vec<Value> {
        self.entries(page).iter().map(|entry| entry[self.key].clone()).collect()
    }
}

/// The lists that the server offers, of which there has to be one.
pub(super) async fn lists(server: &Server) -> Outcome<Vec<List>> {
    let offer = server.offer().await?;
    let offered: Vec<List> =
        List::ALL.into_iter().filter(|list| offer["capabilities"].get(list.capability).is_some()).collect();
    if offered.is_empty() {
        return Err(Stop::not_applicable("the server offers no tools, prompts or resources"));
    }
    Ok(offered)
}

/// The pages of a list, from the first on.
pub(super) async fn pages(conversation: &mut Conversation, list: List) -> Outcome<Vec<Value>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    while pages.len() < MAX_PAGES {
        let page = match conversation.request(list.method, params).await.map_err(Stop::while_preparing)? {
            // A server of resources need not have templates.
            response if has_code(&response, METHOD_NOT_FOUND) => return Ok(pages),
            mut response => response["result"].take(),
        };
        if !page.is_object() {
            return Err(Stop::inconclusive(format!("{} gave no result", list.method)));
        }
        let next = page.get("nextCursor").filter(|cursor| cursor.is_string()).cloned();
        pages.push(page);
        match next {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    Ok(pages)
}

/// All entries of a list, over its pages.
pub(super) async fn entries(conversation: &mut Conversation, list: List) -> Outcome<Vec<Value>> {
    let pages = pages(conversation, list).await?;
    Ok(pages.iter().flat_map(|page| list.entries(page).to_vec()).collect())
}

/// Whether a response is an error with a code.
pub(super) fn has_code(response: &Value, code: i64) -> bool {
    response.pointer("/error/code").and_then(Value::as_i64) == Some(code)
}

/// Fails unless a response is an error with a code.
pub(super) fn expect_code(response: &Value, code: i64, to: &str) -> Outcome {
    ensure!(has_code(response, code), format!("the error {code} in response to {to}"), "`{response}`");
    Ok(())
}

/// A prompt, a resource or a tool that needs nothing, as a request that reads it.
pub(super) async fn readings(
    server: &Server,
    conversation: &mut Conversation,
) -> Outcome<Vec<(&'static str, Value)>> {
    let mut found = Vec::new();
    for list in lists(server).await? {
        let needs_nothing = |entry: &&Value| {
            let arguments = entry["arguments"].as_array().map_or(&[][..], Vec::as_slice);
            arguments.iter().all(|argument| argument["required"] != true)
        };
        let method = match list.member {
            "prompts" => "prompts/get",
            "resources" => "resources/read",
            _ => continue,
        };
        let all = entries(conversation, list).await?;
        if let Some(entry) = all.iter().find(needs_nothing) {
            found.push((method, json!({ list.key: entry[list.key] })));
        }
    }
    Ok(found)
}
