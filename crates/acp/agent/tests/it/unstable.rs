//! Tests of the additions of drafts to version 1.

use agentwire_acp_agent::unstable::{self, DraftAgent};
use agentwire_acp_agent::{Agent, Context, Error, RemoteClient, serve};
use agentwire_acp_schema::v1::unstable as draft;
use agentwire_acp_schema::v1::*;
use agentwire_jsonrpc::RawJson;
use agentwire_recording::script::Script;
use futures::FutureExt;
use serde_json::json;

use crate::scripts::{check, check_all};

/// An agent with the methods of drafts. It advertises the capabilities in `_meta` of `initialize`.
struct Drafted;

impl Agent for Drafted {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        let offer = request.meta.and_then(|meta| meta.decode_member("offer").ok()?).unwrap_or_default();
        Ok(InitializeResponse::new(request.protocol_version).agent_capabilities(offer))
    }

    async fn new_session(&self, _: NewSessionRequest, cx: Context) -> Result<NewSessionResponse, Error> {
        Ok(match cx.system_prompt()? {
            Some(prompt) => NewSessionResponse::new(prompt.mode.as_str()),
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
        let outcome = match &*text {
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
        if let Err(why) = outcome {
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

#[test]
fn scripts() {
    check_all("acp-agent-unstable", async |wire| serve(Drafted, wire).await);
}

#[test]
fn part_that_is_not_advertised_is_missing() {
    let mut lines = String::from(
        r#"{"recording":1,"protocol":"acp","script":"agent","revision":"1","requirements":["INIT-12"]}
{"from":"client","message":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"from":"agent","message":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"...":0}}}
{"from":"client","message":{"jsonrpc":"2.0","method":"mcp/message","params":{"serverId":"server","requestId":"1","method":"x"}}}
{"quiet":true}
"#,
    );
    for method in draft::METHODS.iter().filter(|method| method.direction == Direction::ClientToAgent) {
        let name = method.name;
        lines += &format!(
            r#"{{"from":"client","message":{{"jsonrpc":"2.0","id":1,"method":"{name}","params":{{"sessionId":"s","title":"t","cwd":"/r"}}}}}}
{{"from":"agent","message":{{"jsonrpc":"2.0","id":1,"error":{{"code":-32601,"message":"method not found: {name}"}}}}}}
"#
        );
    }
    for (command, missing) in [
        ("plan", "session/update: the client did not advertise the capability plan"),
        ("status", "auth/status_update: the agent did not advertise the capability auth.status"),
        ("mcp", "mcp/message: the agent did not advertise the capability mcpCapabilities.acp"),
    ] {
        lines += &format!(
            r#"{{"from":"client","message":{{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{{"sessionId":"s","prompt":[{{"type":"text","text":"{command}"}}]}}}}}}
{{"from":"agent","message":{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{missing}"}}}}}}}}}}
{{"from":"agent","message":{{"jsonrpc":"2.0","id":2,"result":{{"stopReason":"end_turn"}}}}}}
"#
        );
    }
    let script = Script::read(lines.as_bytes()).unwrap();
    check(&script, async |wire| serve(Drafted, wire).await).unwrap();
}
