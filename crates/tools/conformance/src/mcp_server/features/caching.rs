//! Checks of servers: what they say of caching.

use serde_json::{Value, json};

use crate::check::{ANY, Check, check, shared};
use crate::mcp_server::Server;
use crate::mcp_server::features::{List, lists, pages};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] = &[
    shared!(hints_of_cacheable_results, ANY),
    shared!(one_scope_for_all_pages, ANY),
    check!(no_hints_on_questions, ANY),
];

fn expect_hints(result: &Value, method: &str) -> Outcome {
    if result["resultType"] == "input_required" {
        return Ok(());
    }
    let time = &result["ttlMs"];
    ensure!(time.as_u64().is_some(), format!("a non-negative integer as `ttlMs` of {method}"), "`{time}`");
    let scope = &result["cacheScope"];
    ensure!(
        scope == "public" || scope == "private",
        format!("`public` or `private` as `cacheScope` of {method}"),
        "`{scope}`"
    );
    Ok(())
}

async fn hints_of_cacheable_results(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let discovered = conversation.ok("server/discover", json!({})).await.map_err(Stop::while_preparing)?;
    expect_hints(&discovered, "server/discover")?;
    let offered = match lists(&server).await {
        Ok(lists) => lists,
        Err(Stop::NotApplicable(_)) => return Ok(()),
        Err(stop) => return Err(stop),
    };
    for list in offered {
        let pages = pages(&mut conversation, list).await?;
        for page in &pages {
            expect_hints(page, list.method)?;
        }
        let first = pages.first().and_then(|page| list.entries(page).first());
        if let (List { member: "resources", .. }, Some(resource)) = (list, first) {
            let read = conversation.request("resources/read", json!({"uri": resource["uri"]})).await;
            if let Some(result) = read.map_err(Stop::while_preparing)?.get("result") {
                expect_hints(result, "resources/read")?;
            }
        }
    }
    Ok(())
}

async fn one_scope_for_all_pages(server: Server) -> Outcome {
    let mut conversation = server.open().await?;
    let mut has_pages = false;
    for list in lists(&server).await? {
        let pages = pages(&mut conversation, list).await?;
        let Some((first, rest)) = pages.split_first() else { continue };
        // A page without a scope breaks CAC-01.
        let has_scope = |page: &&Value| page["cacheScope"].is_string();
        for page in rest.iter().filter(|page| has_scope(page) && has_scope(&first)) {
            has_pages = true;
            ensure!(
                page["cacheScope"] == first["cacheScope"],
                format!("the same `cacheScope` on all pages of {}", list.method),
                "`{}` on the first and `{}` on a later one",
                first["cacheScope"],
                page["cacheScope"]
            );
        }
    }
    if has_pages { Ok(()) } else { Err(Stop::not_applicable("each list of the server has one page")) }
}

async fn no_hints_on_questions(server: Server) -> Outcome {
    let tool = server.tool("asks")?;
    let mut conversation = server.open().await?;
    let result = conversation.ok("tools/call", tool).await.map_err(Stop::while_preparing)?;
    if result["resultType"] != "input_required" {
        return Err(Stop::inconclusive("the tool `asks` of the profile did not ask"));
    }
    let hints = ["ttlMs", "cacheScope"].map(|hint| result.get(hint));
    ensure!(
        hints == [None, None],
        "neither `ttlMs` nor `cacheScope` in a result of type input_required",
        "`{result}`"
    );
    Ok(())
}
