//! Updates of version 2 in a conversation, and a toolkit with an agent of version 2.

use agentwire_acp_agent::v2::{Agent, Context, Turn};
use agentwire_acp_client::{BoxError, Error, v2};
use agentwire_acp_schema::v2 as schema;
use agentwire_acp_schema::{v1, v2::SessionUpdate};
use agentwire_acp_toolkit::{Applied, Change, Conversation, Entry, Toolkit, UserInterface};
use agentwire_transport::duplex;
use serde_json::{Value, json};

fn apply(conversation: &mut Conversation, update: Value) -> Change {
    conversation.apply(serde_json::from_value::<SessionUpdate>(update).unwrap()).change
}

fn message(kind: &str, id: &str, content: Value) -> Value {
    json!({ "sessionUpdate": kind, "messageId": id, "content": content })
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn texts(conversation: &Conversation) -> Vec<String> {
    let texts = conversation.entries().map(|(_, entry)| match entry {
        Entry::Message(message) => message.text(),
        Entry::ToolCall(call) => call.call.title.clone(),
        _ => String::new(),
    });
    texts.collect()
}

#[test]
fn a_whole_message_replaces_its_chunks() {
    let mut conversation = Conversation::new();
    assert_eq!(
        apply(&mut conversation, message("agent_message_chunk", "m", text("Let me "))),
        Change::Added(0)
    );
    let more = apply(&mut conversation, message("agent_message_chunk", "m", text("see.")));
    assert_eq!(more, Change::Extended { index: 0, block: 0, byte: 7 });
    let same = message("agent_message", "m", json!([text("Let me see.")]));
    assert_eq!(apply(&mut conversation, same), Change::Nothing);
    let other = apply(&mut conversation, message("agent_message", "m", json!([text("No.")])));
    let Change::Updated { index: 0, fields } = other else { panic!("{other:?}") };
    assert_eq!(fields.content, Some(0));
    assert!(matches!(apply(&mut conversation, message("agent_thought", "t", Value::Null)), Change::Added(1)));
    assert_eq!(texts(&conversation), ["No.", ""]);
}

#[test]
fn a_prompt_that_the_agent_repeats_is_there_once() {
    for echo in [
        message("user_message", "u", json!([text("Hello")])),
        message("user_message_chunk", "u", text("Hello")),
    ] {
        let mut conversation = Conversation::new();
        let _ = conversation.prompt(["Hello".into()]);
        let change = apply(&mut conversation, echo.clone());
        assert!(
            matches!(change, Change::Updated { index: 0, fields } if fields.message_id),
            "{echo}: {change:?}"
        );
        let again = apply(&mut conversation, message("user_message", "u", json!([text("Hello")])));
        assert_eq!(again, Change::Nothing, "{echo}");
        assert_eq!(texts(&conversation), ["Hello"]);
    }
}

#[test]
fn a_tool_call_is_patched_cleared_and_extended() {
    let mut conversation = Conversation::new();
    let update = |mut members: Value| {
        members["sessionUpdate"] = "tool_call_update".into();
        members["toolCallId"] = "c".into();
        members
    };
    let first =
        json!({ "title": "Look", "name": "ls", "status": "in_progress", "rawInput": 1, "_meta": { "a": 1 } });
    assert_eq!(apply(&mut conversation, update(first)), Change::Added(0));
    let diff = json!({ "type": "diff", "changes": [{ "operation": "add", "path": "/a" }] });
    let chunk = json!({ "sessionUpdate": "tool_call_content_chunk", "toolCallId": "c", "content": diff });
    let Change::Updated { fields, .. } = apply(&mut conversation, chunk.clone()) else { panic!("it is new") };
    assert_eq!(fields.content, Some(0));
    let Change::Updated { fields, .. } = apply(&mut conversation, chunk) else { panic!("it is new") };
    assert_eq!(fields.content, Some(1));
    let cleared = json!({ "name": null, "rawInput": null, "status": "cancelled", "_meta": { "b": 2 } });
    let Change::Updated { fields, .. } = apply(&mut conversation, update(cleared)) else {
        panic!("it is new")
    };
    assert!(fields.name && fields.raw_input && fields.cancelled && fields.meta && !fields.title);

    let (_, entry) = conversation.tool_call(&"c".into()).unwrap();
    assert!(entry.cancelled && entry.has_ended());
    assert_eq!((entry.call.name.as_ref(), entry.call.raw_input.as_ref()), (None, None));
    assert_eq!(serde_json::to_value(&entry.call.meta).unwrap(), json!({ "a": 1, "b": 2 }));
    let v1::ToolCallContent::Unknown(object) = &entry.call.content[0] else { panic!("{entry:?}") };
    let content: schema::ToolCallContent = object.decode().unwrap();
    assert!(matches!(content, schema::ToolCallContent::Diff(diff) if diff.changes.len() == 1));

    let completed = apply(&mut conversation, update(json!({ "status": "completed" })));
    assert!(matches!(completed, Change::Updated { fields, .. } if fields.cancelled && fields.status));
    let reset = apply(&mut conversation, update(json!({ "status": null, "content": null })));
    assert!(matches!(reset, Change::Updated { fields, .. } if fields.status && fields.content == Some(0)));
}

#[test]
fn settings_plans_and_usage_are_converted() {
    let mut conversation = Conversation::new();
    let entries = json!([{ "content": "Look", "priority": "high", "status": "cancelled" }]);
    let plan = json!({ "type": "items", "planId": "p", "entries": entries });
    assert_eq!(
        apply(&mut conversation, json!({ "sessionUpdate": "plan_update", "plan": plan })),
        Change::Plan
    );
    let status = &conversation.plan().unwrap().entries[0].status;
    assert_eq!(*status, v1::PlanEntryStatus::Other("cancelled".into()));

    let usage = |cost: Value| json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost });
    let cost = json!({ "amount": 0.5, "currency": "EUR" });
    assert_eq!(apply(&mut conversation, usage(cost)), Change::Usage);
    apply(&mut conversation, json!({ "sessionUpdate": "usage_update", "used": 2, "size": 2 }));
    let kept = conversation.usage().unwrap();
    assert_eq!((kept.used, kept.cost.as_ref().map(|cost| cost.amount)), (2, Some(0.5)));
    apply(&mut conversation, usage(Value::Null));
    assert_eq!(conversation.usage().unwrap().cost, None);

    let groups = json!([{ "groupId": "g", "name": "G", "options": [{ "value": "a", "name": "A" }] }]);
    let option =
        json!({ "configId": "o", "name": "O", "type": "select", "currentValue": "a", "options": groups });
    let options = json!({ "sessionUpdate": "config_option_update", "configOptions": [option] });
    assert_eq!(apply(&mut conversation, options), Change::ConfigOptions);
    let value = v1::SessionConfigOptionValue::ValueId("a".into());
    assert!(conversation.offers_value(&"o".into(), &value));

    let state = json!({ "sessionUpdate": "state_update", "state": "running" });
    assert_eq!(apply(&mut conversation, state), Change::Nothing);
}

struct Worker;

impl Agent for Worker {
    async fn initialize(
        &self,
        request: schema::InitializeRequest,
        _: Context,
    ) -> Result<schema::InitializeResponse, Error> {
        let can = schema::AgentCapabilities::new().session(schema::SessionCapabilities::new());
        let info = schema::Implementation::new("worker", "1");
        Ok(schema::InitializeResponse::new(request.protocol_version, info).capabilities(can))
    }

    async fn new_session(
        &self,
        _: schema::NewSessionRequest,
        _: Context,
    ) -> Result<schema::NewSessionResponse, Error> {
        Ok(schema::NewSessionResponse::new("s"))
    }

    async fn prompt(
        &self,
        request: schema::PromptRequest,
        turn: Turn,
    ) -> Result<schema::IdleStopReason, Error> {
        turn.accept("u", &request.prompt).await?;
        let (client, id) = (turn.client(), turn.session_id());
        let options = [schema::PermissionOption::new("y", "Yes", schema::PermissionOptionKind::AllowOnce)];
        let question = schema::RequestPermissionRequest::new(id, "Delete it?", options);
        let outcome = client.request_permission(question).await?.outcome;
        let allowed = matches!(outcome, schema::RequestPermissionOutcome::Selected(_));
        let form = schema::ElicitationSchema::new()
            .property("depth", schema::IntegerPropertySchema::new().default(50));
        let form = schema::ElicitationFormMode::new(id, form);
        let filled =
            client.create_elicitation(schema::CreateElicitationRequest::new("How deep?", form)).await?;
        let said = format!("allowed {allowed}, {:?}", filled.action);
        client.session_update(schema::UpdateSessionNotification::message(id, "m", said)).await?;
        Ok(schema::IdleStopReason::EndTurn)
    }
}

struct Person;

impl UserInterface for Person {
    async fn choose_permission(
        &self,
        request: &v1::RequestPermissionRequest,
    ) -> Result<v1::RequestPermissionResponse, Error> {
        assert_eq!(request.tool_call.title.as_deref(), Some("Delete it?"));
        Ok(request.allow())
    }

    fn show(&self, _: &v1::SessionId, _: &Conversation, _: &Applied) {}

    async fn fill_form(
        &self,
        _: &str,
        form: agentwire_acp_toolkit::Form,
    ) -> Result<v1::CreateElicitationResponse, Error> {
        form.accept().map_err(|_| Error::internal_error("the defaults are valid"))
    }
}

#[tokio::test]
async fn a_toolkit_is_a_client_of_version_2() -> Result<(), BoxError> {
    let toolkit = Toolkit::new(Person);
    let (ours, theirs) = duplex(8);
    let client = v2::connect(toolkit.clone(), ours, async |agent| {
        let info = schema::Implementation::new("editor", "1");
        let hello = schema::InitializeRequest::new(schema::ProtocolVersion::V2, info);
        agent.initialize(hello.capabilities(toolkit.capabilities_v2())).await?;
        let request = schema::NewSessionRequest::new("/");
        let session = toolkit.new_session_v2(&agent, request).await?.session_id;
        toolkit.prompt_v2(&agent, schema::PromptRequest::new(&session, "Hello")).await?;
        let told = toolkit.conversation(&session, |conversation| texts(conversation)).unwrap();
        let action = "Accept(ElicitationAcceptAction { content: Some({\"depth\": Integer(50)}) })";
        assert_eq!(told, ["Hello".to_owned(), format!("allowed true, {action}")]);
        Ok(())
    });
    let (ran, served) = tokio::join!(client, agentwire_acp_agent::v2::serve(Worker, theirs));
    ran?;
    served?;
    Ok(())
}
