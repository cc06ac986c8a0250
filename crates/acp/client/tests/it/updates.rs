//! The updates that a client receives.

use agentwire_acp_schema::v1::*;

use crate::check;
use crate::recorder::{Recorder, begin, greeting};

/// SES-29: updates before the answer to `session/new` are handled, and before it.
#[tokio::test(start_paused = true)]
async fn ses_29_updates_before_the_session_is_known() {
    let client = Recorder::default();
    check!("SES-29-early-updates", &client, async |agent| {
        begin(&agent).await?;
        assert_eq!(client.heard(), ["session-1 available_commands_update"]);
        Ok(())
    })
    .unwrap();
}

#[tokio::test(start_paused = true)]
async fn updates_come_in_order_and_before_the_answer() {
    let client = Recorder::default();
    check!("PR-updates-precede-the-answer", &client, async |agent| {
        let session = begin(&agent).await?;
        let turn = agent.prompt(PromptRequest::new(&session, "go")).await?;
        assert_eq!(turn.stop_reason, StopReason::EndTurn);
        let said = |text: &str| format!("session-1 agent_message_chunk {text}");
        assert_eq!(client.heard()[..3], ["one", "two", "three"].map(said));
        // Updates after the answer are handled all the same.
        client.until(4).await;
        assert_eq!(client.heard()[3], "session-1 session_info_update");
        Ok(())
    })
    .unwrap();
}

/// FWD-01, CFG-07, TC-12: an unknown update is kept; text that is not an update is skipped.
#[tokio::test(start_paused = true)]
async fn fwd_01_updates_that_nobody_knows() {
    let client = Recorder::default();
    check!("FWD-01-unknown-updates", &client, async |agent| {
        let session = begin(&agent).await?;
        let turn = agent.prompt(PromptRequest::new(&session, "go")).await?;
        assert_eq!(turn.stop_reason, StopReason::from("paused"), "a reason that nobody knows");
        Ok(())
    })
    .unwrap();
    assert_eq!(
        client.heard(),
        [
            "session-1 zzz_update",
            "session-1 config_option_update",
            "session-1 tool_call",
            "session-1 agent_message_chunk",
            "unreadable {\"sessionId\":\"session-1\",\"update\":{\"text\":\"no tag\"}}",
            "unreadable {\"sessionId\":7,\"update\":{\"sessionUpdate\":\"plan\",\"entries\":[]}}",
            "unreadable [\"session-1\",{\"sessionUpdate\":\"plan\",\"entries\":[]}]",
            "unreadable null",
            "session-1 agent_message_chunk still here",
        ]
    );
}

/// A line over the limit may have been an update, so the loss is reported to the client's code.
#[tokio::test(start_paused = true)]
async fn unreadable_line_is_reported() {
    use agentwire_acp_client::connect;
    use agentwire_transport::lines;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

    let client = Recorder::default();
    let (near, mut far) = tokio::io::duplex(1 << 20);
    let (read, write) = tokio::io::split(near);
    let wire = lines(read.compat(), write.compat_write()).limit(200);
    let agent = async {
        let pad = "x".repeat(200);
        let update = |text: &str| {
            let text = format!(
                r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}"#
            );
            format!(
                r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{text}}}}}"#
            )
        };
        far.write_all(format!("{}\n{}\n", update(&pad), update("after")).as_bytes()).await.unwrap();
        // The agent gets a report as well.
        let mut told = Vec::new();
        while !told.ends_with(b"\n") {
            far.read_buf(&mut told).await.unwrap();
        }
        assert!(String::from_utf8(told).unwrap().contains("limit of 200 bytes"));
    };
    let main = async |_| {
        client.until(2).await;
        Ok(())
    };
    let (ended, ()) = futures::join!(connect(client.clone(), wire, main), agent);
    ended.unwrap();
    let lost = "lost invalid request: the message is longer than the limit of 200 bytes";
    assert_eq!(client.heard(), [lost, "s agent_message_chunk after"]);
}

/// The unknown kinds, as a client's code sees them. TC-12.
#[tokio::test(start_paused = true)]
async fn fwd_01_unknown_is_passed_on_whole() {
    use agentwire_acp_client::{Client, ConnectionError, Context, Error, connect};
    use agentwire_schema_tests::{Conversation, Side, checked};
    use agentwire_transport::{Packet, duplex};
    use futures::SinkExt;

    struct Keeping(tokio::sync::mpsc::UnboundedSender<SessionUpdate>);
    impl Client for Keeping {
        fn session_update(&self, notification: SessionNotification) {
            self.0.send(notification.update).unwrap();
        }
        async fn request_permission(
            &self,
            request: RequestPermissionRequest,
            _: Context,
        ) -> Result<RequestPermissionResponse, Error> {
            Ok(request.allow())
        }
    }

    let (near, mut far) = duplex(8);
    let near = checked(near, Conversation::acp(), Side::Client);
    for update in [
        r#"{"sessionUpdate":"zzz_update","n":[1]}"#,
        r#"{"sessionUpdate":"config_option_update","configOptions":[{"id":"a","name":"A","type":"slider","min":1}]}"#,
        r#"{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"zzz"}"#,
    ] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{update}}}}}"#
        );
        far.send(Packet::from_json(&text)).await.unwrap();
    }
    let (sender, mut updates) = tokio::sync::mpsc::unbounded_channel();
    let result: Result<(), ConnectionError> = connect(Keeping(sender), near, async |_| {
        let Some(SessionUpdate::Unknown(object)) = updates.recv().await else { panic!() };
        assert_eq!(serde_json::to_string(&object)?, r#"{"sessionUpdate":"zzz_update","n":[1]}"#);
        let Some(SessionUpdate::ConfigOptionUpdate(update)) = updates.recv().await else { panic!() };
        assert!(
            matches!(&update.config_options[0].kind, SessionConfigKind::Unknown(slider) if slider.get("min").unwrap().as_str() == "1")
        );
        let Some(SessionUpdate::ToolCall(call)) = updates.recv().await else { panic!() };
        assert_eq!(call.kind, Some(ToolKind::Unknown("zzz".into())));
        Ok(())
    })
    .await;
    result.unwrap();
}

/// Malformed members that are optional count as missing.
#[tokio::test(start_paused = true)]
async fn answers_may_be_odd() {
    check!("INIT-lenient-answer", &Recorder::default(), async |agent| {
        let answer = agent.initialize(greeting()).await?;
        assert_eq!(answer.agent_info, None, "malformed and optional");
        assert!(agent.capabilities().unwrap().load_session);
        assert!(!agent.capabilities().unwrap().prompt_capabilities.image);
        assert_eq!(answer.auth_methods.len(), 2, "those that have an id");
        let session = agent.new_session(NewSessionRequest::new("/repo")).await?;
        assert_eq!(session.modes, None);
        assert_eq!(session.config_options.unwrap().len(), 1);
        Ok(())
    })
    .unwrap();
}
