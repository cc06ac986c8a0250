//! A permission request leaves out data of the call that the agent has sent before.

use std::future::IntoFuture as _;
use std::sync::Mutex;
use std::time::Duration;

use agentwire_acp_agent::{Agent, Context};
use agentwire_acp_client::{BoxError, Error, connect};
use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{
    Applied, Conversation, ConversationLimits, PermissionPolicy, PermissionRule, Permissions, Toolkit,
    UserInterface, memory_estimate,
};
use agentwire_transport::duplex;
use serde_json::json;
use tokio::task::JoinSet;

/// An agent that announces a call and asks with its id alone. Its answer ends with the outcome.
struct Asker(ToolCall);

impl Agent for Asker {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let client = context.client();
        client.session_update(SessionNotification::new(&request.session_id, self.0.clone())).await?;
        let options = [
            PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce),
            PermissionOption::new("n", "No", PermissionOptionKind::RejectOnce),
        ];
        let call = ToolCallUpdate::new(&self.0.tool_call_id).title("Do it");
        let question = RequestPermissionRequest::new(&request.session_id, call, options);
        let outcome = client.request_permission(question).await?.outcome;
        let text = match outcome {
            RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
            other => format!("{other:?}"),
        };
        client.session_update(SessionNotification::message(&request.session_id, text)).await?;
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// A person who rejects, and keeps the calls that they were asked about.
#[derive(Default)]
struct Person(Mutex<Vec<ToolCallUpdate>>);

impl UserInterface for Person {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        self.0.lock().unwrap().push(request.tool_call.clone());
        Ok(RequestPermissionResponse::selected("n"))
    }

    fn show(&self, _: &SessionId, _: &Conversation, _: &Applied) {}
}

/// The option that was selected, and the calls that the person was asked about.
async fn outcome(
    call: ToolCall,
    toolkit: Toolkit<Person>,
) -> Result<(String, Vec<ToolCallUpdate>), BoxError> {
    let (ours, theirs) = duplex(8);
    let client = connect(toolkit.clone(), ours, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new("/")).await?.session_id;
        toolkit.prompt(&agent, PromptRequest::new(&session, "go")).await?;
        let last = |conversation: &mut Conversation| {
            let last = conversation.entries().next_back().map(|(_, entry)| entry.clone());
            match last {
                Some(agentwire_acp_toolkit::Entry::Message(message)) => message.text(),
                other => format!("{other:?}"),
            }
        };
        Ok(toolkit.conversation(&session, last).expect("the session is open"))
    });
    let (text, served) = tokio::join!(client, agentwire_acp_agent::serve(Asker(call), theirs));
    served?;
    let asked = std::mem::take(&mut *toolkit.user_interface().0.lock().unwrap());
    Ok((text?, asked))
}

fn edit() -> ToolCall {
    ToolCall::new("call", "Write b.txt")
        .name("write")
        .kind(ToolKind::Edit)
        .locations([ToolCallLocation::new("/repo/b.txt")])
        .content([Diff::new("/repo/b.txt", "new")])
        .raw_input(json!({ "text": "b" }))
}

#[tokio::test]
async fn the_person_sees_the_whole_call() -> Result<(), BoxError> {
    let (selected, asked) = outcome(edit(), Toolkit::new(Person::default())).await?;
    let whole = ToolCallUpdate::new("call")
        .title("Do it")
        .name("write")
        .kind(ToolKind::Edit)
        .locations([ToolCallLocation::new("/repo/b.txt")])
        .content([Diff::new("/repo/b.txt", "new")])
        .raw_input(json!({ "text": "b" }));
    assert_eq!((&*selected, asked), ("n", vec![whole]));
    Ok(())
}

#[tokio::test]
async fn rules_decide_on_the_whole_call() -> Result<(), BoxError> {
    let within = PermissionRule::allow().path("/repo/**")?;
    let allowing = || Permissions::new(PermissionPolicy::Ask).rule(within.clone());
    let (selected, asked) =
        outcome(edit(), Toolkit::new(Person::default()).with_permissions(allowing())).await?;
    assert_eq!((&*selected, asked), ("y", vec![]));

    let outside = edit().locations([ToolCallLocation::new("/repo/../home/b.txt")]);
    let (selected, asked) =
        outcome(outside, Toolkit::new(Person::default()).with_permissions(allowing())).await?;
    assert_eq!((&*selected, asked.len()), ("n", 1));
    Ok(())
}

/// A rule that allows must not decide on the rest of a call, and one that rejects must.
#[tokio::test]
async fn no_rule_allows_a_call_that_was_too_large_to_be_kept() -> Result<(), BoxError> {
    let limits = ConversationLimits::new(1 << 20).raw(100);
    let large = edit().raw_input(json!({ "text": "b".repeat(1_000) }));
    let within = PermissionRule::allow().path("/repo/**")?;
    let toolkit = |permissions: Permissions| {
        Toolkit::new(Person::default()).with_limits(limits).with_permissions(permissions)
    };
    let asking = Permissions::new(PermissionPolicy::Ask);
    let (selected, asked) = outcome(large.clone(), toolkit(asking.rule(within))).await?;
    assert_eq!((&*selected, asked.len()), ("n", 1));
    assert_eq!(asked[0].raw_input, None);
    assert_eq!(asked[0].locations.as_ref().map(Vec::len), Some(2), "one is not known");

    let edits = PermissionRule::reject().kind(ToolKind::Edit);
    let allowing = Permissions::new(PermissionPolicy::AllowAll);
    let (selected, asked) = outcome(large, toolkit(allowing.rule(edits))).await?;
    assert_eq!((&*selected, asked), ("n", vec![]));
    Ok(())
}

/// An agent that announces a large call, and asks about it many times at once, with its id alone.
struct Repeater;

impl Agent for Repeater {
    async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(ProtocolVersion::V1))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        Ok(NewSessionResponse::new("s"))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let client = context.client();
        let call = ToolCall::new("c", "Write").content([Content::from("x".repeat(1 << 20))]);
        client.session_update(SessionNotification::new(&request.session_id, call)).await?;
        let ask = || {
            let options = [PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce)];
            let question =
                RequestPermissionRequest::new(&request.session_id, ToolCallUpdate::new("c"), options);
            client.request_permission(question).timeout(Duration::from_secs(1)).into_future()
        };
        let asked = (0..100).map(|_| ask()).collect::<JoinSet<_>>().join_all().await;
        let refused = asked.iter().filter_map(|answer| answer.as_ref().err()?.refusal());
        let refused = refused.inspect(|error| assert!(error.message.contains("limit"), "{error}")).count();
        client.session_update(SessionNotification::message(&request.session_id, refused.to_string())).await?;
        // There is room again.
        assert!(ask().await.is_err_and(|error| error.refusal().is_none()));
        Ok(PromptResponse::new(StopReason::EndTurn))
    }
}

/// A person who is away. Counts the text of the calls that wait for them.
#[derive(Default)]
struct Away(Mutex<usize>);

impl UserInterface for Away {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        *self.0.lock().unwrap() += memory_estimate(&request.tool_call);
        std::future::pending().await
    }

    fn show(&self, _: &SessionId, _: &Conversation, _: &Applied) {}
}

#[tokio::test(start_paused = true)]
async fn completed_request_has_a_limit_while_the_user_is_asked() -> Result<(), BoxError> {
    let (ours, theirs) = duplex(8);
    let toolkit = Toolkit::new(Away::default()).with_question_limit(10 << 20);
    let client = connect(toolkit.clone(), ours, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new("/")).await?.session_id;
        toolkit.prompt(&agent, PromptRequest::new(&session, "go")).await?;
        Ok(())
    });
    let (client, _) = tokio::join!(client, agentwire_acp_agent::serve(Repeater, theirs));
    client?;
    let waited = *toolkit.user_interface().0.lock().unwrap();
    assert!(waited > 5 << 20 && waited < 12 << 20, "{waited} bytes");
    Ok(())
}
