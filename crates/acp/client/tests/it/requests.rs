//! The agent's requests to the client.

use agentwire_acp_schema::v1::*;

use crate::check;
use crate::recorder::{Recorder, begin, greeting};

/// FS-01, TERM-01: what was not advertised is not there, though the client's code could do it; and so for
/// elicitation as a whole.
#[tokio::test(start_paused = true)]
async fn fs_01_what_the_client_did_not_advertise() {
    let client = Recorder::default();
    check!("FS-01-not-advertised", &client, async |agent| {
        let session = begin(&agent).await?;
        agent.prompt(PromptRequest::new(session, "go")).await?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), [""; 0]);
}

/// Before `initialize` nothing was advertised, and afterwards it is known at once.
#[tokio::test(start_paused = true)]
async fn capabilities_count_from_initialize_on() {
    check!("FS-01-one-of-two", &Recorder::default(), async |agent| {
        let fs = FileSystemCapabilities::new().read_text_file(true);
        agent.initialize(greeting().client_capabilities(ClientCapabilities::new().fs(fs))).await?;
        agent.new_session(NewSessionRequest::new("/repo")).await?;
        Ok(())
    })
    .unwrap();
}

/// FS-06, FS-07, TERM-11; and PR-22: work that stops because it was cancelled is answered with that.
#[tokio::test(start_paused = true)]
async fn files_and_terminals() {
    let client = Recorder::default();
    check!("TERM-01-advertised", &client, async |agent| {
        let fs = FileSystemCapabilities::new().read_text_file(true).write_text_file(true);
        let capabilities = ClientCapabilities::new().fs(fs).terminal(true);
        agent.initialize(greeting().client_capabilities(capabilities)).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        agent.prompt(PromptRequest::new(session, "go")).await?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), ["write /a text"]);
}

/// EL-02: a mode that was not advertised is "invalid params". EL-13: `elicitation/complete` for an id that is unknown
/// disturbs nothing.
#[tokio::test(start_paused = true)]
async fn el_02_and_13_elicitation() {
    let client = Recorder::default();
    check!("EL-02-modes", &client, async |agent| {
        let form = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
        agent.initialize(greeting().client_capabilities(ClientCapabilities::new().elicitation(form))).await?;
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?.session_id;
        agent.prompt(PromptRequest::new(session, "go")).await?;
        Ok(())
    })
    .unwrap();
    assert_eq!(client.heard(), [""; 0]);
}

/// TR-04, TR-06, RPC-01, RPC-02, RPC-03, RPC-04, RPC-05, RPC-06, RPC-07, RPC-10, RPC-11, RPC-12 and PR-23, seen from the
/// client.
#[tokio::test(start_paused = true)]
async fn rpc_odd_messages_from_the_agent() {
    let client = Recorder::default();
    check!("RPC-odd-messages", &client, async |agent| {
        agent.initialize(greeting()).await?;
        agent.extension_notification("_note", &[1]).await?;
        let answer: Vec<u8> = agent.extension_request("_sum", &[1, 2]).await?;
        assert_eq!(answer, [3]);
        Ok(())
    })
    .unwrap();
    let (lost, heard): (Vec<_>, Vec<_>) =
        client.heard().into_iter().partition(|line| line.starts_with("lost "));
    assert_eq!(heard, ["_told {\"a\":1}", "nope/nope null"]);
    // Two lines that are not JSON, an array, and three answers without a call.
    assert_eq!(lost.len(), 6, "{lost:?}");
    assert!(lost[3..].iter().all(|line| line.ends_with("which no open call has")), "{lost:?}");
    assert!(lost[..2].iter().all(|line| line.starts_with("lost parse error: ")), "{lost:?}");
    assert_eq!(lost[2], "lost invalid request: an array of messages is not taken here");
}
