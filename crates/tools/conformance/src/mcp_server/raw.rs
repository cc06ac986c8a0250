//! Helpers for checks of messages: bytes that are not a message, and tools whose effect can be queried.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::Server;
use crate::conversation::Conversation;
use crate::link::Link;
use crate::link::http::{HttpRequest, HttpResponse};
use crate::link::stand_in::random_id;
use crate::subject::Transport;
use crate::verdict::{Outcome, Stop, ensure};

/// How long a check listens for what must not come.
pub(super) const SILENCE: Duration = Duration::from_millis(250);

/// The reaction of a server to bytes.
#[derive(Debug)]
pub(super) struct Reaction {
    /// The status of an HTTP response.
    pub(super) status: Option<u16>,
    /// The messages, without notifications and requests.
    pub(super) messages: Vec<Value>,
    /// A body that is not JSON.
    pub(super) body: String,
}

impl Reaction {
    /// The codes of the errors.
    pub(super) fn codes(&self) -> Vec<i64> {
        self.messages.iter().filter_map(|message| message.pointer("/error/code")?.as_i64()).collect()
    }

    /// Whether the transport has refused the bytes.
    pub(super) fn is_refused(&self) -> bool {
        self.status.is_some_and(|status| (400..500).contains(&status))
    }

    /// Fails unless there is one error with a code. Over HTTP a status from 400 to 499 without a message is as good.
    pub(super) fn has_error(&self, code: i64, what: &str) -> Outcome {
        if self.messages.is_empty() && self.is_refused() {
            return Ok(());
        }
        // The headers of a request without a session repeat what stands in its body, and a server may look at them first.
        let codes = self.codes();
        let by_header = self.is_refused() && codes == [-32020];
        ensure!(codes == [code] || by_header, format!("error {code} for {what}"), "{self}");
        Ok(())
    }
}

impl std::fmt::Display for Reaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(status) = self.status {
            write!(f, "status {status} with ")?;
        }
        match &self.messages[..] {
            [] => write!(f, "no message and the body `{}`", self.body),
            messages => write!(f, "`{}`", Value::from(messages.to_vec())),
        }
    }
}

/// Sends bytes as one message, and waits for so many messages in return. If none is to come, it listens for a while.
pub(super) async fn react(conversation: &mut Conversation, bytes: &[u8], count: usize) -> Outcome<Reaction> {
    let mut reaction = Reaction { status: None, messages: Vec::new(), body: String::new() };
    if let Some(request) = post_of(conversation, bytes) {
        let mut response = request.send().await?;
        reaction.status = Some(response.status());
        read_messages(&mut response, (count, conversation.wait()), &mut reaction).await?;
        let is_old = matches!(conversation.link, Link::HttpSse(_));
        if !is_old || reaction.is_refused() {
            return Ok(reaction);
        }
    } else {
        conversation.send_bytes(&[bytes, b"\n"].concat()).await?;
    }
    while reaction.messages.len() < count {
        let expected = format!("a response to `{}`", shortened(bytes));
        reaction.messages.push(conversation.wanted(&expected, is_response).await?);
    }
    Ok(reaction)
}

/// The beginning of a text, for reports.
fn shortened(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(200).collect()
}

/// The same as `react` for a message as JSON.
pub(super) async fn react_to(
    conversation: &mut Conversation,
    message: &Value,
    count: usize,
) -> Outcome<Reaction> {
    react(conversation, message.to_string().as_bytes(), count).await
}

/// The POST that carries bytes as one message; nothing on stdio.
pub(super) fn post_of(conversation: &Conversation, bytes: &[u8]) -> Option<HttpRequest> {
    let message = serde_json::from_slice(bytes).unwrap_or_else(|_| json!({}));
    let request = match &conversation.link {
        Link::Streamable(link) => link.post(&message),
        Link::HttpSse(link) => link.endpoint().request("POST").json(&message),
        _ => return None,
    };
    Some(request.body(bytes))
}

async fn read_messages(
    response: &mut HttpResponse,
    (count, wait): (usize, Duration),
    reaction: &mut Reaction,
) -> Outcome {
    let mut found = Vec::new();
    if response.is_stream() {
        let silent = Instant::now() + SILENCE;
        while count == 0 || found.len() < count {
            let event = if count == 0 {
                response.event_or_silence(silent.saturating_duration_since(Instant::now())).await?.flatten()
            } else {
                response.event(wait).await?
            };
            let Some(event) = event else { break };
            match serde_json::from_str(&event.data) {
                Ok(Value::Array(batch)) => found.extend(batch),
                Ok(message) => found.push(message),
                Err(_) => {}
            }
            found.retain(is_response);
        }
    } else {
        let bytes = response.bytes().await?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Array(batch)) => found.extend(batch),
            Ok(message) => found.push(message),
            Err(_) => reaction.body = String::from_utf8_lossy(&bytes).into_owned(),
        }
    }
    found.extend(std::mem::take(&mut response.forged));
    // A body of HTTP that is JSON but no message, such as `{"detail":"…"}`, is as good as none.
    found
        .retain(|message| is_response(message) && (message.get("jsonrpc").is_some() || has_outcome(message)));
    reaction.messages.extend(found);
    Ok(())
}

fn has_outcome(message: &Value) -> bool {
    message.get("result").is_some() || message.get("error").is_some_and(Value::is_object)
}

/// Whether a message is neither a request nor a notification.
pub(super) fn is_response(message: &Value) -> bool {
    message.get("method").is_none()
}

/// A request that every server answers at once.
pub(super) fn quick(server: &Server) -> &'static str {
    if server.revision().is_legacy() { "ping" } else { "server/discover" }
}

/// The quick request as a message.
pub(super) fn quick_message(server: &Server, id: &Value) -> Value {
    message(server, id, quick(server), json!({}))
}

/// A request as a message, with what a request without a session needs.
pub(super) fn message(server: &Server, id: &Value, method: &str, mut params: Value) -> Value {
    if !server.revision().is_legacy() {
        params["_meta"] = server.meta(super::capabilities(server.revision()));
    }
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Fails unless the quick request gets a result.
pub(super) async fn still_works(server: &Server, conversation: &mut Conversation) -> Outcome {
    conversation.ok(quick(server), json!({})).await.map(drop)
}

/// Whether the transport is one over HTTP.
pub(super) fn is_web(server: &Server) -> bool {
    server.setting.transport != Transport::Stdio
}

/// A text that nothing else uses.
pub(super) fn unique() -> Outcome<String> {
    Ok(format!("key-{}", random_id()?))
}

/// A tool that plays a role, where a key stands for `{unique}` in its arguments.
pub(super) fn tool_with_key(server: &Server, role: &str, key: &str) -> Outcome<Value> {
    let mut tool = server.tool(role)?;
    put(&mut tool, key);
    Ok(tool)
}

fn put(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if text.contains("{unique}") => *text = text.replace("{unique}", key),
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, key)),
        Value::Object(members) => members.values_mut().for_each(|member| put(member, key)),
        _ => {}
    }
}

/// Fails if a tool that plays the role `mark` or `slow` took effect under a key. Does nothing without a `marks` in the profile.
pub(super) async fn no_effect(server: &Server, conversation: &mut Conversation, key: &str) -> Outcome {
    let Ok(asked) = tool_with_key(server, "marks", key) else { return Ok(()) };
    let never = tool_with_key(server, "marks", &unique()?)?;
    let never = conversation.ok("tools/call", never).await.map_err(Stop::while_preparing)?;
    let seen = conversation.ok("tools/call", asked).await.map_err(Stop::while_preparing)?;
    ensure!(
        seen["content"] == never["content"],
        "no effect of the call",
        "the server says `{}`, and `{}` of a key that was never used",
        seen["content"],
        never["content"]
    );
    Ok(())
}
