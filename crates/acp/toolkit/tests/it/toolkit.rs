//! A whole client against an agent of our own.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use agentwire_acp_agent::{Agent, Context};
use agentwire_acp_client::{BoxError, Error, connect};
use agentwire_acp_schema::v1::error_code::METHOD_NOT_FOUND;
use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{Applied, Change, Conversation, Entry, Form, Toolkit, UrlConsent, UserInterface};
use agentwire_transport::duplex;
use tempfile::tempdir;

use crate::full_client;

/// An agent that uses every part of a client, and reports the outcome of each.
struct Worker;

impl Worker {
    async fn work(&self, request: &PromptRequest, context: &Context) -> Result<Vec<String>, Error> {
        let (client, id) = (context.client(), &request.session_id);
        let cwd = Path::new(request.prompt[0].as_text().expect("the prompt is a path"));
        let (file, mut report) = (cwd.join("a.txt"), Vec::new());
        let call = ToolCallUpdate::new("call").title("Write a.txt");
        let options = [PermissionOption::new("y", "Yes", PermissionOptionKind::AllowOnce)];
        let permission = client.request_permission(RequestPermissionRequest::new(id, call, options)).await;
        report.push(format!("{:?}", permission.map(|answer| answer.outcome)));
        let write = client.write_text_file(WriteTextFileRequest::new(id, &file, "written")).await;
        report.push(format!("write {}", write.is_ok()));
        let read = client.read_text_file(ReadTextFileRequest::new(id, &file)).await;
        report.push(format!("read {:?}", read.ok().map(|read| read.content)));
        let terminal = CreateTerminalRequest::new(id, "echo").args(["printed".to_owned()]);
        if let Ok(created) = client.create_terminal(terminal).await {
            let terminal = created.terminal_id;
            client.wait_for_terminal_exit(WaitForTerminalExitRequest::new(id, &terminal)).await?;
            let output = client.terminal_output(TerminalOutputRequest::new(id, &terminal)).await?;
            report.push(format!("output {:?}", output.output));
            client.release_terminal(ReleaseTerminalRequest::new(id, &terminal)).await?;
        }
        let schema = ElicitationSchema::new().property("depth", IntegerPropertySchema::new().default(50));
        let form = CreateElicitationRequest::new("How deep?", ElicitationFormMode::new(id, schema));
        let answer = client.create_elicitation(form).await;
        report.push(format!("form {:?}", answer.ok().map(|answer| answer.action)));
        Ok(report)
    }
}

impl Agent for Worker {
    async fn initialize(&self, request: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
        Ok(InitializeResponse::new(request.protocol_version))
    }

    async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
        let options = vec![SessionConfigOption::boolean("loud", "Loud", true)];
        Ok(NewSessionResponse::new("s").config_options(options))
    }

    async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
        let report = self.work(&request, &context).await?.join("; ");
        let report = SessionNotification::message(&request.session_id, report);
        context.client().session_update(report).await?;
        let open = SessionNotification::new(&request.session_id, ToolCall::new("open", "Never ends"));
        context.client().session_update(open).await?;
        Ok(PromptResponse::new(StopReason::Cancelled))
    }
}

/// A person who allows everything, and a screen.
#[derive(Default)]
struct Screen(Mutex<Vec<String>>);

impl UserInterface for Screen {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        Ok(request.allow())
    }

    fn show(&self, session: &SessionId, conversation: &Conversation, applied: &Applied) {
        let entry = applied.change.index().and_then(|index| conversation.entry(index));
        let text = match entry {
            Some(Entry::Message(message)) => format!("{:?} {}", message.kind, message.text()),
            Some(Entry::ToolCall(call)) => format!("{} cancelled {}", call.call.title, call.cancelled),
            _ => format!("{:?}", applied.change),
        };
        assert_eq!(session, "s");
        self.0.lock().unwrap().push(text);
    }

    async fn fill_form(&self, message: &str, form: Form) -> Result<CreateElicitationResponse, Error> {
        assert_eq!(message, "How deep?");
        form.accept().map_err(|_| Error::internal_error("the defaults are valid"))
    }

    async fn open_url(&self, _: &str, consent: UrlConsent) -> Result<CreateElicitationResponse, Error> {
        Ok(consent.accept())
    }
}

/// Runs a turn and returns what was shown. The last two lines are the agent's report and the cancelled tool call.
async fn turn(toolkit: Toolkit<Screen>, cwd: &Path) -> Result<Vec<String>, BoxError> {
    let (ours, theirs) = duplex(8);
    let client = connect(toolkit.clone(), ours, async |agent| {
        let hello = InitializeRequest::new(ProtocolVersion::V1);
        agent.initialize(hello.client_capabilities(toolkit.capabilities())).await?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new(cwd)).await?.session_id;
        let options = toolkit.conversation(&session, |conversation| conversation.config_options().count());
        assert_eq!(options, Some(1));
        let path = cwd.to_str().expect("the path is UTF-8");
        let answer = toolkit.prompt(&agent, PromptRequest::new(&session, path)).await?;
        assert_eq!(answer.stop_reason, StopReason::Cancelled);
        toolkit.close(&session).await;
        assert!(toolkit.conversation(&session, |_| ()).is_none());
        Ok(())
    });
    let (ran, served) = tokio::join!(client, agentwire_acp_agent::serve(Worker, theirs));
    ran?;
    served?;
    let shown = std::mem::take(&mut *toolkit.user_interface().0.lock().unwrap());
    Ok(shown)
}

#[tokio::test]
async fn every_part_is_served() -> Result<(), BoxError> {
    let folder = tempdir()?;
    let shown = turn(Toolkit::new(Screen::default()), folder.path()).await?;
    let cwd = folder.path().display();
    let report = "Agent Ok(Selected(SelectedPermissionOutcome { option_id: \"y\", meta: None })); write true; \
                  read Some(\"written\"); output \"printed\\n\"; \
                  form Some(Accept(ElicitationAcceptAction { content: Some({\"depth\": Integer(50)}) }))";
    let expected = [
        format!("User {cwd}"),
        "Write a.txt cancelled false".to_owned(),
        report.to_owned(),
        "Never ends cancelled false".to_owned(),
        "Write a.txt cancelled true".to_owned(),
        "Never ends cancelled true".to_owned(),
    ];
    assert_eq!(shown, expected);
    assert_eq!(fs::read_to_string(folder.path().join("a.txt"))?, "written");
    Ok(())
}

#[tokio::test]
async fn part_that_is_off_is_not_advertised_or_served() -> Result<(), BoxError> {
    let toolkit = || Toolkit::new(Screen::default());
    let off = toolkit().without_file_writes().without_terminals().without_forms().without_urls();
    let capabilities = off.capabilities();
    assert!(capabilities.fs.read_text_file && !capabilities.fs.write_text_file && !capabilities.terminal);
    assert_eq!(capabilities.elicitation, None);
    assert!(!toolkit().without_files().capabilities().fs.read_text_file);
    let form_only = toolkit().without_urls().capabilities().elicitation.expect("forms are on");
    assert!(form_only.form.is_some() && form_only.url.is_none());

    let folder = tempdir()?;
    let shown = turn(off, folder.path()).await?;
    assert!(shown.iter().any(|line| line.ends_with("write false; read None; form None")), "{shown:?}");
    Ok(())
}

/// A part that is advertised by mistake refuses requests all the same.
#[tokio::test]
async fn a_part_that_is_off_refuses_requests() -> Result<(), BoxError> {
    let toolkit = Toolkit::new(Screen::default()).without_terminals();
    let (ours, theirs) = duplex(8);
    let mut capabilities = toolkit.capabilities();
    capabilities.terminal = true;
    struct Starter;
    impl Agent for Starter {
        async fn initialize(&self, _: InitializeRequest, _: Context) -> Result<InitializeResponse, Error> {
            Ok(InitializeResponse::new(ProtocolVersion::V1))
        }
        async fn new_session(&self, _: NewSessionRequest, _: Context) -> Result<NewSessionResponse, Error> {
            Ok(NewSessionResponse::new("s"))
        }
        async fn prompt(&self, request: PromptRequest, context: Context) -> Result<PromptResponse, Error> {
            let terminal = CreateTerminalRequest::new(&request.session_id, "echo");
            let refused = context.client().create_terminal(terminal).await.expect_err("terminals are off");
            assert_eq!(refused.refusal().map(|error| error.code), Some(METHOD_NOT_FOUND), "{refused}");
            Ok(PromptResponse::new(StopReason::EndTurn))
        }
    }
    let client = connect(toolkit.clone(), ours, async |agent| {
        let hello = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities.clone());
        agent.initialize(hello).await?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new("/")).await?.session_id;
        Ok(toolkit.prompt(&agent, PromptRequest::new(session, "go")).await?)
    });
    let (answer, served) = tokio::join!(client, agentwire_acp_agent::serve(Starter, theirs));
    served?;
    assert_eq!(answer?.stop_reason, StopReason::EndTurn);
    Ok(())
}

#[tokio::test]
async fn a_failed_prompt_ends_the_turn_of_the_conversation() -> Result<(), BoxError> {
    let toolkit = Toolkit::new(Screen::default());
    let (ours, _theirs) = duplex(8);
    connect(toolkit.clone(), ours, async |agent| {
        let session = SessionId::from("s");
        toolkit.open(&session, &NewSessionRequest::new("/"));
        toolkit.apply(&session, ToolCall::new("c", "Look"));
        drop(toolkit.prompt(&agent, PromptRequest::new(&session, "never polled")));
        // The agent is not initialized.
        assert!(toolkit.prompt(&agent, PromptRequest::new(&session, "go")).await.is_err());
        Ok(())
    })
    .await?;
    let shown = toolkit.user_interface().0.lock().unwrap();
    assert_eq!(*shown, ["Look cancelled false", "User go", "Look cancelled true"]);
    Ok(())
}

/// A screen that cannot be drawn on.
struct BrokenScreen;

impl UserInterface for BrokenScreen {
    async fn choose_permission(
        &self,
        request: &RequestPermissionRequest,
    ) -> Result<RequestPermissionResponse, Error> {
        Ok(request.allow())
    }

    fn show(&self, _: &SessionId, _: &Conversation, _: &Applied) {
        panic!("as asked");
    }
}

#[tokio::test]
async fn view_that_panics_ends_no_turn() -> Result<(), BoxError> {
    let toolkit = Toolkit::new(BrokenScreen);
    let folder = tempdir()?;
    let (ours, theirs) = duplex(8);
    let client = connect(toolkit.clone(), ours, async |agent| {
        agent.initialize(InitializeRequest::new(ProtocolVersion::V1)).await?;
        let session = toolkit.new_session(&agent, NewSessionRequest::new(folder.path())).await?.session_id;
        let path = folder.path().to_str().expect("the path is UTF-8");
        let answer = toolkit.prompt(&agent, PromptRequest::new(&session, path)).await?;
        assert_eq!(answer.stop_reason, StopReason::Cancelled);
        // The prompt, the call of the question, the report and the call that never ends.
        let entries = toolkit.conversation(&session, |conversation| conversation.entries().count());
        assert_eq!(entries, Some(4));
        Ok(())
    });
    let (ran, served) = tokio::join!(client, agentwire_acp_agent::serve(Worker, theirs));
    ran?;
    Ok(served?)
}

#[tokio::test]
async fn updates_of_other_sessions_are_not_kept() {
    let toolkit = Toolkit::new(Screen::default());
    toolkit.apply(&SessionId::from("other"), ToolCall::new("c", "Look"));
    assert!(toolkit.user_interface().0.lock().unwrap().is_empty());
    let applied = Conversation::new().apply(ToolCall::new("c", "Look"));
    assert_eq!(applied.change, Change::Added(0));
}

#[tokio::test]
async fn the_example_runs() -> Result<(), BoxError> {
    let folder = tempdir()?;
    let (ours, theirs) = duplex(8);
    let path = folder.path().to_str().expect("the path is UTF-8");
    let agent = agentwire_acp_agent::serve(Worker, theirs);
    // A test has no person at its terminal, so the example rejects the agent's requests.
    let (reason, served) = tokio::join!(full_client::run(ours, path), agent);
    served?;
    assert_eq!(reason?, StopReason::Cancelled);
    Ok(())
}
