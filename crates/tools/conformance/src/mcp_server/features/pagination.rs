//! Checks of servers: pagination.

use serde_json::json;

use crate::check::{ANY, Check, shared};
use crate::mcp_server::Server;
use crate::mcp_server::features::{INVALID_PARAMS, List, METHOD_NOT_FOUND, expect_code, has_code, lists};
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::mcp_server) const CHECKS: &[Check<Server>] =
    &[shared!(unknown_cursor_is_refused, ANY), shared!(cursor_leads_to_the_same_page, ANY)];

async fn unknown_cursor_is_refused(server: Server) -> Outcome {
    let lists = lists(&server).await?;
    let mut conversation = server.open().await?;
    for list in lists {
        let params = json!({"cursor": "no-cursor-of-this-server"});
        let response = conversation.request(list.method, params).await.map_err(Stop::while_preparing)?;
        // A server of resources need not have templates.
        let has_none = list.method == List::TEMPLATES.method && has_code(&response, METHOD_NOT_FOUND);
        if !has_none {
            let to = format!("{} with a cursor that the server never gave", list.method);
            expect_code(&response, INVALID_PARAMS, &to)?;
        }
    }
    Ok(())
}

async fn cursor_leads_to_the_same_page(server: Server) -> Outcome {
    let lists = lists(&server).await?;
    let mut conversation = server.open().await?;
    let mut found = false;
    for list in lists {
        let first = conversation.request(list.method, json!({})).await.map_err(Stop::while_preparing)?;
        let Some(cursor) = first.pointer("/result/nextCursor").filter(|cursor| cursor.is_string()) else {
            continue;
        };
        found = true;
        let params = json!({"cursor": cursor});
        let once = conversation.ok(list.method, params.clone()).await.map_err(Stop::while_preparing)?;
        let again = conversation.request(list.method, params).await.map_err(Stop::while_preparing)?;
        let once = list.keys(&once);
        ensure!(
            again.get("result").is_some_and(|again| list.keys(again) == once),
            format!("the same page of {} for the same cursor: {once:?}", list.method),
            "`{again}`"
        );
    }
    if found { Ok(()) } else { Err(Stop::not_applicable("each list of the server has one page")) }
}
