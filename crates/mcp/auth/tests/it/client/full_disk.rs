//! The store in a file on a full disk. A limit on the size of files stands for the disk: it needs no rights, and holds for the superuser
//! too. It holds for a whole process, so the client runs in one of its own: this test binary, started with a filter.

use std::path::Path;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_auth::client::{AuthConfig, Authorization};
use agentwire_mcp_auth::store::{CredentialStore as _, FileStore};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint};
use tokio::process::Command;

use super::storage::LATER;
use super::{Client, Person, count, get, hyper};

/// Names the server, and the file of its credentials.
const SERVER: &str = "AGENTWIRE_TEST_FULL_DISK_SERVER";
const STORE: &str = "AGENTWIRE_TEST_FULL_DISK_STORE";

/// Sends two requests from a process that can write no byte to a file, and returns what it has shown.
async fn two_requests_on_a_full_disk(server: &AuthServer, store: &Path) -> String {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    command.arg(std::env::current_exe().unwrap());
    command.args(["client::full_disk::limited_client", "--exact", "--nocapture"]);
    let output = command.env(SERVER, server.resource_url()).env(STORE, store).output().await.unwrap();
    let shown = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{shown}");
    shown
}

/// The program of the child process. In the process of the tests it does nothing.
#[tokio::test]
async fn limited_client() {
    let (Ok(url), Some(path)) = (std::env::var(SERVER), std::env::var_os(STORE)) else { return };
    let path = Path::new(&path);
    assert!(std::fs::write(path.with_extension("other"), "a").is_err(), "the disk is not full");
    let config = AuthConfig::new("Test").user_agent(Person::new()).store(FileStore::open(path).unwrap());
    let config = config.on_warning(|warning| eprintln!("warned: {warning}"));
    let http = hyper();
    let http = Authorization::new(config, http.clone()).wrap(&url, http).unwrap();
    for _ in 0..2 {
        let error = get(&http, &url).await.unwrap_err();
        eprintln!("failed: {}", WithCauses::new(&*error));
    }
}

#[tokio::test]
async fn full_disk_refuses_a_login_before_anything_is_asked() {
    let server = AuthServer::builder().start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let store = FileStore::open(&path).unwrap();
    // The trial of a process that was killed during a login. Writing the same again would try nothing.
    let key = serde_json::json!(["login", server.resource_url()]).to_string();
    store.write(&key, Some(r#"{"failed_at":0,"trial":0}"#.into())).await.unwrap();
    let shown = two_requests_on_a_full_disk(&server, &path).await;
    let refusal = format!("cannot write {}: File too large", path.display());
    assert_eq!(shown.matches(&refusal).count(), 2, "{shown}");
    assert_eq!(count(&server, Endpoint::Registration), 0, "{shown}");
    assert_eq!(count(&server, Endpoint::Authorization), 0, "{shown}");
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(Person::new()).store(store));
    assert_eq!(client.get().await.unwrap(), 200);
}

#[tokio::test]
async fn full_disk_refuses_a_renewal_before_the_token_is_spent() {
    let server = AuthServer::builder().start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let (store, person) = (FileStore::open(&path).unwrap(), Person::new());
    let client =
        || Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()).store(store.clone()));
    assert_eq!(client().get().await.unwrap(), 200);
    server.advance(LATER);
    let shown = two_requests_on_a_full_disk(&server, &path).await;
    let refusal = format!("cannot write {}: File too large", path.display());
    assert_eq!(shown.matches(&refusal).count(), 2, "{shown}");
    assert!(shown.contains("is not renewed, because a new one could not be stored"), "{shown}");
    assert!(server.log().grants("refresh_token").is_empty(), "{shown}");
    assert_eq!(client().get().await.unwrap(), 200);
    assert_eq!((server.reused_refresh_tokens(), person.asked()), (0, 1));
}
