//! Workspaces of several sessions.

use agentwire_acp_schema::v1::{
    CreateTerminalRequest, NewSessionRequest, ReadTextFileRequest, TerminalOutputRequest,
    WaitForTerminalExitRequest, WriteTextFileRequest,
};
use agentwire_acp_toolkit::{Files, Terminals, Workspace, Workspaces};

use crate::{invalid, missing};

#[tokio::test]
async fn a_request_finds_the_workspace_of_its_session() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let workspaces = Workspaces::new();
    let request = NewSessionRequest::new(one.path()).additional_directories([two.path()]);
    workspaces.open("both", &request);
    workspaces.open("one", Workspace::new(one.path(), [] as [&str; 0]));

    let path = two.path().join("file");
    let write = async |session: &str| {
        workspaces.write_text_file(WriteTextFileRequest::new(session, &*path, "text")).await
    };
    write("both").await.unwrap();
    invalid(write("one").await, &["outside"]);
    missing(write("none").await, &["none"]);
    let read = workspaces.read_text_file(ReadTextFileRequest::new("both", &*path)).await.unwrap();
    assert_eq!(read.content, "text");

    let create = async |session: &str| {
        let request = CreateTerminalRequest::new(session, "pwd && exec sleep 1000");
        workspaces.create_terminal(request).await.unwrap().terminal_id
    };
    let (first, second) = (create("both").await, create("one").await);
    assert_ne!(first, second);
    missing(workspaces.terminal_output(TerminalOutputRequest::new("one", &first)).await, &[&first]);

    // Closing one ends its terminals, and leaves the other alone.
    let wait = workspaces.wait_for_terminal_exit(WaitForTerminalExitRequest::new("both", &first));
    let both = "both".into();
    let (exit, closed) = tokio::join!(biased; wait, workspaces.close(&both));
    assert_eq!((exit.unwrap().signal.as_deref(), closed), (Some("SIGKILL"), true));
    missing(write("both").await, &["both"]);
    assert!(!workspaces.close(&both).await);
    let output = workspaces.terminal_output(TerminalOutputRequest::new("one", &second)).await.unwrap();
    assert_eq!(output.exit_status, None);

    // A new workspace in place of the old one begins without its terminals.
    let wait = workspaces.wait_for_terminal_exit(WaitForTerminalExitRequest::new("one", &second));
    let open = async { workspaces.open("one", &NewSessionRequest::new(two.path())) };
    let (exit, ()) = tokio::join!(biased; wait, open);
    assert_eq!(exit.unwrap().signal.as_deref(), Some("SIGKILL"));
    missing(workspaces.terminal_output(TerminalOutputRequest::new("one", &second)).await, &[&second]);
    write("one").await.unwrap();
}

#[tokio::test]
async fn path_that_is_denied_is_denied_in_each_session() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(".env"), "secret").unwrap();
    let workspaces = Workspaces::new().deny("**/.env").unwrap();
    workspaces.clone().open("s", &NewSessionRequest::new(directory.path()));
    workspaces
        .open("t", Workspace::from_parts(Files::new([directory.path()]), Terminals::new([directory.path()])));
    for session in ["s", "t"] {
        let read = ReadTextFileRequest::new(session, directory.path().join(".env"));
        invalid(workspaces.read_text_file(read).await, &["keeps agents out"]);
    }
}

/// A request that was on its way, or a view, may still have the workspace of a session that is over.
#[tokio::test]
async fn closed_session_starts_no_terminal() {
    let directory = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new();
    let (session, request) = ("s".into(), NewSessionRequest::new(directory.path()));
    let sleep = CreateTerminalRequest::new("s", "sleep").args(["1000"]);

    workspaces.open("s", &request);
    let replaced = workspaces.of(&session).unwrap();
    workspaces.open("s", &request);
    let closed = workspaces.of(&session).unwrap();
    closed.terminals().release_all().await;
    closed.terminals().create(&sleep).await.unwrap();
    workspaces.close(&session).await;
    for over in [replaced, closed] {
        missing(over.terminals().create(&sleep).await, &["session", "closed"]);
    }
}

#[test]
fn advertised_parts_are_those_that_exist() {
    let capabilities = Workspaces::new().capabilities();
    assert!(capabilities.fs.read_text_file && capabilities.fs.write_text_file && capabilities.terminal);
    assert!(capabilities.elicitation.is_none());
}
