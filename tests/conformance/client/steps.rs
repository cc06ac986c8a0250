//! The steps of a driven client: what each calls.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agentwire_jsonrpc::Notification;
use agentwire_mcp_client::schema::{
    CallToolRequest, CompleteRequest, GetPromptRequest, ReadResourceRequest, SetLevelRequest,
    SubscribeRequest, SubscriptionFilter, UnsubscribeRequest,
};
use agentwire_mcp_client::{BoxError, Call, RemoteServer, TaskOrResult, TaskState};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The messages that the client has received beside the answers of its calls: notifications, progress and states of tasks.
#[derive(Clone, Default)]
pub(crate) struct Changes(Arc<Mutex<Vec<Value>>>);

impl Changes {
    pub(crate) fn heard(&self, notification: &Notification) {
        let params = notification.params.as_ref().map_or("null", |params| params.as_str());
        let params: Value = serde_json::from_str(params).unwrap_or_default();
        self.add(json!({"method": &*notification.method, "params": params}));
    }

    pub(crate) fn list(&self) -> Value {
        Value::Array(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    fn add(&self, change: Value) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(change);
    }
}

/// Runs a step on an open connection.
pub(crate) async fn run(
    server: &RemoteServer,
    mut step: Value,
    changes: &Changes,
) -> Result<Value, BoxError> {
    let name = step["step"].as_str().unwrap_or_default().to_owned();
    let id = step["id"].as_u64().unwrap_or_default();
    if let Some(members) = step.as_object_mut() {
        members.retain(|name, _| name != "id" && name != "step");
    }
    let run = Run { server, id, step, changes };
    match name.as_str() {
        "connect" => Ok(json!({
            "revision": server.revision().as_str(),
            "server": server.info(),
            "capabilities": server.capabilities(),
            "instructions": server.instructions(),
        })),
        "list_tools" => encoded(server.tools().collect().await?),
        "list_resources" => encoded(server.resources().collect().await?),
        "list_templates" => encoded(server.resource_templates().collect().await?),
        "list_prompts" => encoded(server.prompts().collect().await?),
        "call_tool" => run.call_tool().await,
        "read_resource" => encoded(run.call(server.call(run.request::<ReadResourceRequest>()?)).await?),
        "get_prompt" => encoded(run.call(server.call(run.request::<GetPromptRequest>()?)).await?),
        "complete" => encoded(run.call(server.call(run.request::<CompleteRequest>()?)).await?),
        "set_level" => encoded(run.call(server.call(run.request::<SetLevelRequest>()?)).await?),
        "subscribe" => encoded(run.call(server.call(run.request::<SubscribeRequest>()?)).await?),
        "unsubscribe" => encoded(run.call(server.call(run.request::<UnsubscribeRequest>()?)).await?),
        "ping" => encoded(run.call(server.ping()).await?),
        "listen" => run.listen().await,
        "task_state" => Ok(state(&server.task(run.text("task"))?.state().await?)),
        "task_result" => encoded(server.task(run.text("task"))?.result().await?),
        "cancel_task" => {
            server.task(run.text("task"))?.cancel().await?;
            Ok(json!({}))
        }
        "list_tasks" => encoded(server.tasks().collect().await?),
        other => Err(format!("there is no step {other}").into()),
    }
}

/// One step.
struct Run<'s> {
    server: &'s RemoteServer,
    id: u64,
    step: Value,
    changes: &'s Changes,
}

impl Run<'_> {
    /// The members of the step as a request.
    fn request<M: DeserializeOwned>(&self) -> Result<M, BoxError> {
        Ok(serde_json::from_value(self.step.clone())?)
    }

    fn text(&self, name: &str) -> String {
        self.step[name].as_str().unwrap_or_default().to_owned()
    }

    /// A call with the step's time limit and hooks.
    fn call<M>(&self, mut call: Call<M>) -> Call<M> {
        if let Some(time) = self.step["timeout_ms"].as_u64() {
            call = call.timeout(Duration::from_millis(time)).progress_maximum(None);
        }
        if let Some(time) = self.step["progress_maximum_ms"].as_u64() {
            call = call.progress_maximum(Duration::from_millis(time));
        }
        if self.step["progress"] == json!(true) {
            let (id, changes) = (self.id, self.changes.clone());
            call = call.on_progress(move |progress| {
                changes.add(json!({"method": "notifications/progress", "params": progress, "of": id}));
            });
        }
        call
    }

    async fn call_tool(&self) -> Result<Value, BoxError> {
        let call: Call<CallToolRequest> = self.server.call_tool(self.text("tool"), &self.step["arguments"]);
        let (id, changes) = (self.id, self.changes.clone());
        let call =
            self.call(call).on_task(move |report| changes.add(json!({"task": state(report), "of": id})));
        if self.step["as_task"] != json!(true) {
            return encoded(call.await?);
        }
        match call.start().await? {
            TaskOrResult::Result(result) => encoded(result),
            TaskOrResult::Task(task) => encoded(task.result().await?),
            _ => Err("neither a task nor a result".into()),
        }
    }

    /// Subscribes, and answers when the server has ended the subscription.
    async fn listen(&self) -> Result<Value, BoxError> {
        let filter: SubscriptionFilter = serde_json::from_value(self.step["notifications"].clone())?;
        let (id, changes) = (self.id, self.changes.clone());
        let hook = move |notification: Notification| {
            changes.add(json!({"method": &*notification.method, "of": id}));
        };
        let subscription = self.server.listen_with(filter, hook).await?;
        self.changes.add(json!({"acknowledged": subscription.acknowledged(), "of": self.id}));
        subscription.ended().await?;
        Ok(json!({}))
    }
}

fn encoded(value: impl Serialize) -> Result<Value, BoxError> {
    Ok(serde_json::to_value(value)?)
}

fn state(report: &TaskState) -> Value {
    json!({"id": report.id, "status": report.status, "message": report.message})
}
