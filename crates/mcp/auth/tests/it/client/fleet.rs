//! Problem 3: several processes of one user refresh at once. Here eight do, on one file of credentials, and are killed at random.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, fs};

use agentwire_mcp_auth::client::{AuthConfig, AuthError};
use agentwire_mcp_auth::store::{CredentialStore, FileStore};
use agentwire_mcp_auth_testkit::{AuthServer, Endpoint, Fault};

use super::{Client, Person, count, get, hyper};
use agentwire_mcp_auth::client::Authorization;

/// The variable with a worker's URL, its file of credentials and the file that ends it, a line each.
const WORKER: &str = "AGENTWIRE_TEST_FLEET_WORKER";

const PROCESSES: usize = 8;
const EXPIRIES: usize = 200;
const LIFETIME: Duration = Duration::from_millis(20);

/// A process of the fleet, if this is one: sends requests until the fleet ends. Fails where it is logged out.
#[test]
fn worker() {
    let Ok(task) = env::var(WORKER) else { return };
    let [url, store, stop] = task.lines().collect::<Vec<_>>()[..] else { panic!("{task}") };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let config = AuthConfig::new("Test").store(FileStore::open(store).unwrap());
        let authorization = Authorization::new(config, hyper());
        let http = authorization.wrap(url, hyper()).unwrap();
        while !Path::new(stop).exists() {
            match get(&http, url).await {
                // A token may end between its refresh and its use.
                Ok(200 | 401) => {}
                Ok(status) => panic!("status {status}"),
                Err(error) => assert!(
                    matches!(*error, AuthError::Transient { .. } | AuthError::Rejected { .. }),
                    "{error:?}"
                ),
            }
            tokio::time::sleep(LIFETIME / 4).await;
        }
    });
}

struct Fleet {
    task: String,
    workers: Vec<Child>,
    stop: PathBuf,
}

impl Fleet {
    fn start(url: &str, store: &Path, stop: PathBuf) -> Self {
        let task = format!("{url}\n{}\n{}", store.display(), stop.display());
        let mut fleet = Self { task, workers: Vec::new(), stop };
        for _ in 0..PROCESSES {
            let worker = fleet.spawn();
            fleet.workers.push(worker);
        }
        fleet
    }

    fn spawn(&self) -> Child {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--exact", "client::fleet::worker", "--nocapture"]).env(WORKER, &self.task);
        command.stdout(Stdio::null()).spawn().unwrap()
    }

    /// Kills a process with SIGKILL, and starts another one.
    fn replace(&mut self, index: usize) {
        let killed = &mut self.workers[index];
        assert!(killed.try_wait().unwrap().is_none(), "a process has ended by itself");
        killed.kill().unwrap();
        killed.wait().unwrap();
        self.workers[index] = self.spawn();
    }

    fn end(mut self) {
        fs::write(&self.stop, "").unwrap();
        for worker in &mut self.workers {
            assert!(worker.wait().unwrap().success(), "a process was logged out");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn p03_processes_refresh_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let server = AuthServer::builder().access_token_lifetime(LIFETIME).start().await.unwrap();
    // The end of a token is not known in advance: the resource's 401 shows it.
    server.set(Fault::ExpiresInMissing);
    let url = server.resource_url();
    let store = FileStore::open(&path).unwrap();
    let config = AuthConfig::new("Test").user_agent(Person::new()).store(store.clone());
    let first = Client::new(&server, config);
    first.authorization.login(&url).await.unwrap();

    let mut fleet = Fleet::start(&url, &path, folder.path().join("stop"));
    let client_id = server.log().to(Endpoint::Authorization)[0].param("client_id").unwrap().to_owned();
    let key = format!(r#"["token","{}","{url}","{client_id}"]"#, server.issuer());
    assert!(store.read(&key).await.unwrap().is_some(), "the key of the token");
    let mut kills = 0;
    while server.log().grants("refresh_token").len() < EXPIRIES {
        tokio::time::sleep(Duration::from_millis(50 + 37 * (kills as u64 % 5))).await;
        // Any moment but the one between the answer and the write: what is in flight then is lost with the process.
        let _guard = store.lock(&key).await.unwrap();
        fleet.replace(kills % PROCESSES);
        kills += 1;
    }
    tokio::task::spawn_blocking(|| fleet.end()).await.unwrap();

    assert_eq!(server.reused_refresh_tokens(), 0, "no refresh token is used twice");
    assert_eq!(count(&server, Endpoint::Authorization), 1, "nobody logs in again");
    let log = server.log();
    let mut tokens: Vec<&str> =
        log.grants("refresh_token").iter().filter_map(|grant| grant.param("refresh_token")).collect();
    let sent = tokens.len();
    tokens.sort_unstable();
    tokens.dedup();
    assert_eq!(tokens.len(), sent);
    assert!(kills >= 10, "{kills}");
    // The last rotation is in the file.
    tokio::time::sleep(LIFETIME).await;
    let config = AuthConfig::new("Test").store(FileStore::open(&path).unwrap());
    let last = Client::new(&server, config).get().await;
    assert!(matches!(last, Ok(200 | 401)), "{last:?}");
    eprintln!("{sent} refreshes by {PROCESSES} processes, {kills} of them killed");
}

/// As if the process had been killed between the answer and the write.
#[tokio::test]
async fn p03_an_answer_that_is_lost_is_asked_for_again() {
    let server = AuthServer::builder().start().await.unwrap();
    let person = Person::new();
    let client = Client::new(&server, AuthConfig::new("Test").user_agent(person.clone()));
    assert_eq!(client.get().await.unwrap(), 200);
    server.advance(Duration::from_secs(7200));
    server.set(Fault::RefreshAnswerLost);
    let error = client.get().await.unwrap_err();
    assert!(matches!(*error, AuthError::Transient { .. }), "{error:?}");
    server.clear(Fault::RefreshAnswerLost);
    // An authorization server that takes the last token for some time more.
    server.set(Fault::RefreshReuseAccepted);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(person.asked(), 1);
    // One that does not: a person is asked, once.
    server.clear(Fault::RefreshReuseAccepted);
    server.advance(Duration::from_secs(7200));
    server.set(Fault::RefreshAnswerLost);
    client.get().await.unwrap_err();
    server.clear(Fault::RefreshAnswerLost);
    assert_eq!(client.get().await.unwrap(), 200);
    assert_eq!(person.asked(), 2);
}
