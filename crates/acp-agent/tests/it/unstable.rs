//! What drafts add to version 1.

use agentwire_acp_agent::unstable::{self, DraftAgent};
use agentwire_acp_agent::{Agent, Context, Error, RemoteClient, serve};
use agentwire_acp_schema::v1::unstable as draft;
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::RawJson;
use futures::FutureExt;
use serde_json::json;

use crate::transcripts::check;

/// An agent of drafts, which offers what `_meta` of `initialize` says.
struct Drafted;

impl Agent for Drafted {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let offer = request.meta.and_then(|meta| meta.decode_member("offer").ok()?).unwrap_or_default();
        Ok(InitializeResponse::new(request.protocol_version).agent_capabilities(offer))
    }

    async fn new_session(&self, _: NewSessionRequest, cx: Context) -> Result<NewSessionResponse, Error> {
        Ok(match cx.system_prompt()? {
            Some(told) => NewSessionResponse::new(told.mode.as_str()),
            None => NewSessionResponse::new("s"),
        })
    }

    async fn list_sessions(
        &self,
        _: ListSessionsRequest,
        cx: Context,
    ) -> Result<ListSessionsResponse, Error> {
        if cx.archive_filter()? == draft::SessionArchiveFilter::Include {
            cx.report_archived(["old"]);
        }
        let sessions = ["old", "new"].map(|id| SessionInfo::new(id, "/repo"));
        Ok(ListSessionsResponse::new(sessions).next_cursor("more"))
    }

    async fn prompt(&self, request: PromptRequest, cx: Context) -> Result<PromptResponse, Error> {
        let client = cx.client();
        let text: String = request.prompt.iter().filter_map(ContentBlock::as_text).collect();
        let told = match &*text {
            "wait" => {
                cx.cancelled().await;
                Ok(())
            }
            "usage" => {
                cx.report_usage(draft::Usage::new(3, 4));
                Ok(())
            }
            "plan" => client.draft_update(&request.session_id, draft::PlanRemoved::new("p")).await,
            "status" => {
                let status = draft::AuthStatusUpdateNotification::new(draft::AuthState::NotRequired);
                client.auth_status_update(status).await
            }
            "mcp" => {
                let call = draft::MessageMcpRequest::new("server", "1", "tools/list");
                client.mcp_message(call).await.map(drop)
            }
            other => panic!("no command {other:?}"),
        };
        if let Err(why) = told {
            client.session_update(SessionNotification::message(&request.session_id, why.to_string())).await?;
        }
        Ok(PromptResponse::new(StopReason::EndTurn))
    }

    async fn extension_request(
        &self,
        method: &str,
        params: Option<RawJson>,
        context: Context,
    ) -> Result<RawJson, Error> {
        unstable::answer(self, method, params, context).await
    }

    fn extension_notification(&self, method: &str, params: Option<RawJson>, client: &RemoteClient) {
        unstable::notify(self, method, params, client);
    }
}

impl DraftAgent for Drafted {
    async fn auth_status(
        &self,
        _: draft::AuthStatusRequest,
        _: Context,
    ) -> Result<draft::AuthStatusResponse, Error> {
        Ok(draft::AuthStatusResponse::new(draft::AuthState::Authenticated))
    }

    async fn archive_session(
        &self,
        _: draft::ArchiveSessionRequest,
        _: Context,
    ) -> Result<draft::ArchiveSessionResponse, Error> {
        Ok(draft::ArchiveSessionResponse::new())
    }

    async fn fork_session(
        &self,
        request: draft::ForkSessionRequest,
        _: Context,
    ) -> Result<draft::ForkSessionResponse, Error> {
        let modes = SessionModeState::new("ask", [SessionMode::new(&*request.session_id, "Mode")]);
        Ok(draft::ForkSessionResponse::new("fork").modes(modes))
    }

    async fn set_session_title(
        &self,
        request: draft::SetSessionTitleRequest,
        _: Context,
    ) -> Result<draft::SetSessionTitleResponse, Error> {
        Ok(draft::SetSessionTitleResponse::new(request.title.trim()))
    }

    fn mcp_message(&self, notification: draft::MessageMcpNotification, client: &RemoteClient) {
        client.extension_notification("_heard", &json!({ "method": notification.method })).now_or_never();
    }
}

fn play(transcript: &str) {
    check(transcript, async |wire| serve(Drafted, wire).await).unwrap();
}

#[test]
fn what_is_advertised_is_there() {
    play(
        r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"plan":{}},"_meta":{"offer":{"auth":{"status":{}},"mcpCapabilities":{"acp":true},"sessionCapabilities":{"title":{},"fork":{},"archive":{},"status":{},"list":{}}}}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"...":0}}
> {"jsonrpc":"2.0","id":1,"method":"auth/status","params":{}}
< {"jsonrpc":"2.0","id":1,"result":{"state":"authenticated","...":0}}
> {"jsonrpc":"2.0","id":2,"method":"session/set_title","params":{"sessionId":"s","title":" A title "}}
< {"jsonrpc":"2.0","id":2,"result":{"title":"A title"}}
> {"jsonrpc":"2.0","id":3,"method":"session/set_title","params":{"sessionId":"s"}}
< {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"invalid params: *title*"}}
> {"jsonrpc":"2.0","id":4,"method":"session/fork","params":{"sessionId":"ask","cwd":"/repo","mcpServers":[]}}
< {"jsonrpc":"2.0","id":4,"result":{"sessionId":"fork","modes":{"...":0}}}
> {"jsonrpc":"2.0","id":5,"method":"session/fork","params":{"sessionId":"code","cwd":"/repo","mcpServers":[]}}
< {"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"*the current mode \"ask\" is none of the available ones"}}
> {"jsonrpc":"2.0","id":6,"method":"session/fork","params":{"sessionId":"ask","cwd":"repo"}}
< {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"invalid params: cwd *"}}
# Advertised and not written.
> {"jsonrpc":"2.0","id":7,"method":"session/status","params":{"sessionId":"s"}}
< {"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"method not found: session/status"}}
# Archiving ends the session's turns.
> {"jsonrpc":"2.0","id":8,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"wait"}]}}
> {"jsonrpc":"2.0","id":9,"method":"session/archive","params":{"sessionId":"s"}}
< {"jsonrpc":"2.0","id":9,"result":{}}
< {"jsonrpc":"2.0","id":8,"result":{"stopReason":"cancelled"}}
> {"jsonrpc":"2.0","id":10,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"plan"}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_removed","planId":"p"}}}
< {"jsonrpc":"2.0","id":10,"result":{"stopReason":"end_turn"}}
> {"jsonrpc":"2.0","id":11,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"status"}]}}
< {"jsonrpc":"2.0","method":"auth/status_update","params":{"state":"not_required","...":0}}
< {"jsonrpc":"2.0","id":11,"result":{"stopReason":"end_turn"}}
> {"jsonrpc":"2.0","id":12,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"mcp"}]}}
< {"jsonrpc":"2.0","id":"$call","method":"mcp/message","params":{"serverId":"server","requestId":"1","method":"tools/list"}}
> {"jsonrpc":"2.0","method":"mcp/message","params":{"serverId":"server","requestId":"1","method":"notifications/progress"}}
< {"jsonrpc":"2.0","method":"_heard","params":{"method":"notifications/progress"}}
> {"jsonrpc":"2.0","id":"$call","result":{"result":{"tools":[]}}}
< {"jsonrpc":"2.0","id":12,"result":{"stopReason":"end_turn"}}"#,
    );
}

#[test]
fn what_is_not_advertised_is_not_there() {
    let mut transcript = String::from(
        r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"...":0}}
> {"jsonrpc":"2.0","method":"mcp/message","params":{"serverId":"server","requestId":"1","method":"x"}}
~
"#,
    );
    for method in draft::METHODS.iter().filter(|method| method.direction == Direction::ClientToAgent) {
        let name = method.name;
        transcript += &format!(
            r#"> {{"jsonrpc":"2.0","id":1,"method":"{name}","params":{{"sessionId":"s","title":"t","cwd":"/r"}}}}
< {{"jsonrpc":"2.0","id":1,"error":{{"code":-32601,"message":"method not found: {name}"}}}}
"#
        );
    }
    for (command, missing) in [
        ("plan", "session/update: the client did not advertise the capability plan"),
        ("status", "auth/status_update: the agent did not advertise the capability auth.status"),
        ("mcp", "mcp/message: the agent did not advertise the capability mcpCapabilities.acp"),
    ] {
        transcript += &format!(
            r#"> {{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{"sessionId":"s","prompt":[{{"type":"text","text":"{command}"}}]}}}}
< {{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{missing}"}}}}}}}}
< {{"jsonrpc":"2.0","id":2,"result":{{"stopReason":"end_turn"}}}}
"#
        );
    }
    play(&transcript);
}

/// What drafts add to requests that are there anyway, and to their answers.
#[test]
fn additions_come_and_go_beside_the_versions_own_members() {
    play(
        r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"_meta":{"offer":{"sessionCapabilities":{"list":{}}}}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"...":0}}
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/repo","mcpServers":[]}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
> {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/repo","mcpServers":[],"systemPrompt":{"mode":"append","content":[{"type":"text","text":"t"}]}}}
< {"jsonrpc":"2.0","id":2,"result":{"sessionId":"append"}}
> {"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/repo","mcpServers":[],"systemPrompt":7}}
< {"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"invalid params: *"}}
> {"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}
< {"jsonrpc":"2.0","id":4,"result":{"sessions":[{"sessionId":"old","cwd":"/repo"},{"sessionId":"new","cwd":"/repo"}],"nextCursor":"more"}}
> {"jsonrpc":"2.0","id":5,"method":"session/list","params":{"archived":"include"}}
< {"jsonrpc":"2.0","id":5,"result":{"sessions":[{"sessionId":"old","cwd":"/repo","archived":true},{"sessionId":"new","cwd":"/repo","archived":false}],"nextCursor":"more"}}
> {"jsonrpc":"2.0","id":6,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"usage"}]}}
< {"jsonrpc":"2.0","id":6,"result":{"stopReason":"end_turn","usage":{"totalTokens":7,"inputTokens":3,"outputTokens":4}}}
> {"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"status"}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"...":0}}
< {"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}"#,
    );
}
