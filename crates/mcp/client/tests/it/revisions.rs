//! A client that is set to some revisions.

use agentwire_mcp_client::schema::Revision;
use agentwire_mcp_client::{BoxError, Client, Era, HandshakeError, RemoteServer};
use serde_json::json;

use crate::mock::{MODERN, Mock, description, with_mock};

async fn revision(server: RemoteServer) -> Result<Revision, BoxError> {
    Ok(server.revision())
}

async fn fails(client: Client, script: impl AsyncFnOnce(Mock)) -> HandshakeError {
    let (result, ()) = with_mock(client, script, revision).await;
    result.unwrap_err().downcast().unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_newest_of_them_is_offered_and_another_refused() {
    let client = Client::default().era(Era::Legacy).revisions([
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::LATEST,
    ]);
    let script = async |mut mock: Mock| {
        let request = mock.greet("2025-03-26").await;
        assert_eq!(request["params"]["protocolVersion"], "2025-06-18");
        mock.expect_end().await;
    };
    let (result, ()) = with_mock(client.clone(), script, revision).await;
    assert_eq!(result.unwrap(), Revision::V2025_03_26);

    let script = async |mut mock: Mock| {
        let request = mock.expect("initialize").await;
        let info = json!({ "name": "mock", "version": "1" });
        mock.answer(
            &request,
            json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": info }),
        )
        .await;
        mock.expect_end().await;
    };
    let error = fails(client, script).await;
    assert!(matches!(error, HandshakeError::UnknownVersion { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn either_era_is_tried_only_where_there_is_one_of_it() {
    let client = Client::default().era(Era::Auto);
    let script = async |mut mock: Mock| {
        mock.greet("2025-06-18").await;
        mock.expect_end().await;
    };
    let sessions = client.clone().revisions([Revision::V2025_06_18]);
    let (result, ()) = with_mock(sessions, script, revision).await;
    assert_eq!(result.unwrap(), Revision::V2025_06_18);

    let script = async |mut mock: Mock| {
        let request = mock.expect("server/discover").await;
        mock.refuse(&request, json!({ "code": -32601, "message": "what?" })).await;
        mock.expect_end().await;
    };
    let error = fails(client.clone().revisions([Revision::V2026_07_28]), script).await;
    assert!(matches!(error, HandshakeError::Call(_)), "{error}");

    // The version of the server does not help if it is none of them.
    let script = async |mut mock: Mock| {
        let mut described = description();
        described["supportedVersions"] = json!(["2025-11-25"]);
        mock.describe_as(described).await;
        mock.expect_end().await;
    };
    let error = fails(client.revisions([Revision::V2025_06_18, Revision::V2026_07_28]), script).await;
    assert!(matches!(error, HandshakeError::VersionRefused(_)), "{error}");
}

#[tokio::test(start_paused = true)]
async fn client_without_a_revision_of_its_era_sends_nothing() {
    for (era, revisions) in [
        (Era::Legacy, vec![Revision::V2026_07_28]),
        (Era::Modern, vec![Revision::V2025_11_25]),
        (Era::Auto, vec![]),
    ] {
        let script = async |mock: Mock| mock.expect_end().await;
        let error = fails(Client::default().era(era).revisions(revisions), script).await;
        assert!(matches!(error, HandshakeError::NoRevision), "{era:?}: {error}");
    }
    assert_eq!(MODERN, Revision::LATEST.as_str());
}
