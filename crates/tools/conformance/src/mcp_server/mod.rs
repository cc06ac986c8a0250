//! Checks of MCP servers: the suite is the client.

mod answers;
pub(crate) mod checks;
mod exchanges;
pub(crate) mod features;
mod http_sse;
pub(crate) mod jsonrpc;
mod lifecycle;
pub(crate) mod modern_http;
mod raw;
mod stdio;
pub(crate) mod streamable_http;
pub(crate) mod tasks;
pub(crate) mod utilities;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::conversation::Conversation;
use crate::conversation::shared::{Open, Shared};
use crate::link::Link;
use crate::link::http::HttpTarget;
use crate::link::http_sse::HttpSse;
use crate::link::received::QUEUE;
use crate::link::streamable::Streamable;
use crate::requirements::revision::Revision;
use crate::setting::Setting;
use crate::subject::location::Location;
use crate::subject::{CommandLine, Transport};
use crate::verdict::{Outcome, Stop};

/// How long a server that was just started may take for its first message.
const START_TIME: Duration = Duration::from_secs(60);

/// A server under test, as one check reaches it.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) setting: Setting,
    hosts: Arc<Hosts>,
    /// Holds the conversation of the previous check, and passes on that of this one. `None` for a check with its own.
    shared: Option<Shared>,
}

/// Where the server is found, and what it has said of itself.
pub(crate) struct Hosts {
    location: Location,
    /// The results of handshakes, by revision, so that a slow program is started less often.
    offers: Mutex<HashMap<Revision, Value>>,
    /// The version that the server has answered each version with. `None` for an error.
    agreements: Mutex<HashMap<String, Option<String>>>,
}

impl Hosts {
    pub(crate) fn new(location: Location) -> Arc<Self> {
        Arc::new(Self { location, offers: Mutex::default(), agreements: Mutex::default() })
    }
}

impl Server {
    pub(crate) fn new(setting: Setting, hosts: Arc<Hosts>) -> Self {
        Self { setting, hosts, shared: None }
    }

    /// The same server for a check that has the conversation of those before it.
    pub(crate) fn sharing(self, shared: Shared) -> Self {
        Self { shared: Some(shared), ..self }
    }

    /// The outcome of silence: not applicable, unless an earlier check in the conversation may have received the message.
    pub(crate) fn silent(&self, why: &str) -> Stop {
        let is_reused = self.shared.as_ref().is_some_and(Shared::is_reused);
        if is_reused { Stop::inconclusive(why) } else { Stop::not_applicable(why) }
    }

    pub(crate) fn revision(&self) -> Revision {
        self.setting.revision
    }

    /// A connection on which nothing was sent.
    pub(crate) async fn connect(&self) -> Outcome<Conversation> {
        let Setting { faults, wait, .. } = &self.setting;
        let (sender, received) = mpsc::channel(QUEUE);
        let link = match self.setting.transport {
            Transport::Stdio => Link::start(self.command()?, &self.setting, sender).await?,
            Transport::Http => Link::Streamable(Streamable::new(self.http().await?, self.revision(), sender)),
            Transport::Sse => Link::HttpSse(HttpSse::open(&self.http().await?, sender).await?),
            Transport::Ws => return Err(Stop::not_applicable("MCP has no transport over WebSocket")),
        };
        let mut conversation = Conversation::new(link, received, *wait);
        if self.setting.transport == Transport::Stdio && faults.is_none() {
            conversation.starts(&self.setting.processes, START_TIME);
        }
        Ok(conversation)
    }

    /// A conversation that is ready for requests, of a client with every capability. Checks that share theirs have the one that
    /// another check has left, if there is one.
    pub(crate) async fn open(&self) -> Outcome<Open> {
        let Some(shared) = &self.shared else {
            return self.open_with(capabilities(self.revision())).await;
        };
        let Some(mut conversation) = shared.taken().await else {
            let conversation = self.opened(capabilities(self.revision())).await?;
            return Ok(shared.keep(conversation, &self.setting.trace).await);
        };
        conversation.set_wait(self.setting.wait);
        conversation.answer_with(answers::answer);
        Ok(conversation)
    }

    /// A conversation of the check's own with capabilities of its choice.
    pub(crate) async fn open_with(&self, capabilities: Value) -> Outcome<Open> {
        Ok(Shared::alone(self.opened(capabilities).await?).await)
    }

    async fn opened(&self, capabilities: Value) -> Outcome<Conversation> {
        let opened = async {
            let mut conversation = self.connect().await?;
            conversation.answer_with(answers::answer);
            if self.revision().is_legacy() {
                let result = conversation.ok("initialize", self.initialize(capabilities)).await?;
                let version = &result["protocolVersion"];
                if version.is_string() && version != self.revision().as_str() {
                    let why = format!("the server answers {} with the version {version}", self.revision());
                    return Err(Stop::not_applicable(why));
                }
                conversation.notify("notifications/initialized", json!({})).await?;
            } else {
                conversation.set_meta(self.meta(capabilities));
            }
            Ok(conversation)
        };
        opened.await.map_err(Stop::while_preparing)
    }

    /// The result of the handshake: of `initialize` or `server/discover`.
    pub(crate) async fn offer(&self) -> Outcome<Value> {
        let known = || self.hosts.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = known().get(&self.revision()).cloned();
        if let Some(offer) = kept.filter(|_| self.setting.faults.is_none()) {
            return Ok(offer);
        }
        let offer = self.fresh_offer().await?;
        if self.setting.faults.is_none() {
            known().insert(self.revision(), offer.clone());
        }
        Ok(offer)
    }

    async fn fresh_offer(&self) -> Outcome<Value> {
        let mut conversation = self.connect().await?;
        let mut response = if self.revision().is_legacy() {
            conversation.request("initialize", self.initialize(capabilities(self.revision()))).await
        } else {
            conversation.set_meta(self.meta(capabilities(self.revision())));
            conversation.request("server/discover", json!({})).await
        }
        .map_err(Stop::while_preparing)?;
        match response.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => Err(Stop::not_applicable(format!("it answers the handshake with `{response}`"))),
        }
    }

    /// The version with which the server answers `initialize` for another one, on a connection of its own; an earlier answer if
    /// `known`. `None` if it refuses to initialize, as the page's example of an error does.
    pub(crate) async fn agreement(&self, version: &str, known: bool) -> Outcome<Option<String>> {
        let agreements = || self.hosts.agreements.lock().unwrap_or_else(PoisonError::into_inner);
        let is_kept = self.setting.faults.is_none();
        let kept = agreements().get(version).cloned();
        if let Some(answer) = kept.filter(|_| known && is_kept) {
            return Ok(answer);
        }
        let mut conversation = self.connect().await?;
        let mut params = self.initialize(capabilities(self.revision()));
        params["protocolVersion"] = json!(version);
        let response = conversation.request("initialize", params).await.map_err(Stop::while_preparing)?;
        let answer = response.pointer("/result/protocolVersion").and_then(Value::as_str).map(str::to_owned);
        if is_kept {
            agreements().insert(version.to_owned(), answer.clone());
        }
        Ok(answer)
    }

    /// Ends the check unless the server offers a capability, such as `/tools` or `/resources/subscribe`.
    pub(crate) async fn needs(&self, pointer: &str) -> Outcome {
        let offer = self.offer().await?;
        match offer.pointer(&format!("/capabilities{pointer}")) {
            None | Some(Value::Null | Value::Bool(false)) => Err(Stop::not_applicable(format!(
                "the server does not offer {}",
                pointer.trim_start_matches('/')
            ))),
            Some(_) => Ok(()),
        }
    }

    /// The params of `initialize`.
    pub(crate) fn initialize(&self, capabilities: Value) -> Value {
        json!({
            "protocolVersion": self.revision().as_str(),
            "capabilities": capabilities,
            "clientInfo": {"name": "conformance", "version": "1.0.0"},
        })
    }

    /// The data about its client in a request without a session.
    pub(crate) fn meta(&self, capabilities: Value) -> Value {
        json!({
            "io.modelcontextprotocol/protocolVersion": self.revision().as_str(),
            "io.modelcontextprotocol/clientInfo": {"name": "conformance", "version": "1.0.0"},
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        })
    }

    /// The endpoint over HTTP.
    pub(crate) async fn http(&self) -> Outcome<HttpTarget> {
        let location = &self.hosts.location;
        let mut url = location.url(&["http://"], &self.setting.processes).await?;
        if location.is_started() && self.setting.transport == Transport::Sse {
            // A server that is started prints one URL; the other transport is at the customary path beside it.
            url = url.replace("/mcp", "/sse");
        }
        let Setting { trace, faults, wait, .. } = &self.setting;
        HttpTarget::new(&url, location.headers(), trace, faults, *wait)
    }

    /// The command of a server on stdio.
    pub(crate) fn command(&self) -> Outcome<&CommandLine> {
        self.hosts.location.command()
    }

    /// A tool that plays a role in the profile, as the params of `tools/call`.
    pub(crate) fn tool(&self, role: &str) -> Outcome<Value> {
        let tool = self.setting.role(role)?;
        let name = tool.get("tool").and_then(Value::as_str);
        let name =
            name.ok_or_else(|| Stop::inconclusive(format!("`{role}` of the profile names no `tool`")))?;
        let arguments = tool.get("arguments").cloned().unwrap_or_else(|| json!({}));
        Ok(json!({"name": name, "arguments": arguments}))
    }
}

/// The capabilities of a client that can do everything.
pub(crate) fn capabilities(revision: Revision) -> Value {
    let mut all = json!({"roots": {"listChanged": true}, "sampling": {}});
    if revision >= Revision::Mcp20250618 {
        all["elicitation"] = json!({});
    }
    if revision >= Revision::Mcp20251125 {
        all["elicitation"] = json!({"form": {}, "url": {}});
        all["sampling"] = json!({"tools": {}, "context": {}});
    }
    if revision == Revision::Mcp20260728 {
        all["roots"] = json!({});
    }
    all
}
