//! Starts an engine with its own port and folder, and kills it when the value is dropped.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agentwire_mcp_redis::{RedisConfig, RedisStore};
use agentwire_test_support::free_port;
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// The longest that a test waits for anything.
const DEADLINE: Duration = Duration::from_secs(20);

/// A running engine.
pub(crate) struct Engine {
    folder: TempDir,
    port: u16,
    arguments: Vec<String>,
    process: Child,
}

impl Engine {
    /// Starts an engine whose acknowledged writes survive a kill of its process. It does not sync for a crash of the machine, because
    /// a busy disk takes longer than the time-out of a command.
    pub(crate) async fn start() -> Self {
        Self::with(&["--save", "", "--appendonly", "yes", "--appendfsync", "no"]).await
    }

    pub(crate) async fn with(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        let arguments: Vec<_> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let process = spawn(folder.path(), port, &arguments);
        let engine = Self { folder, port, arguments, process };
        engine.wait_until_ready().await;
        engine
    }

    /// Starts a sentinel with a configuration, which is in a folder of its own.
    pub(crate) async fn of_sentinel(folder: TempDir, configuration: &Path) -> Self {
        let port = free_port();
        let process = command(folder.path(), port, &[configuration.to_str().unwrap(), "--sentinel"]);
        let engine = Self { folder, port, arguments: Vec::new(), process };
        engine.wait_until_ready().await;
        engine
    }

    /// The folder of its files.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn config(&self) -> RedisConfig {
        RedisConfig::new(self.url()).prefix("test")
    }

    pub(crate) async fn store(&self) -> RedisStore {
        RedisStore::connect(self.config()).await.unwrap()
    }

    pub(crate) async fn connection(&self) -> MultiplexedConnection {
        // On a busy machine the engine may need longer than the default time-out.
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(DEADLINE))
            .set_response_timeout(Some(DEADLINE));
        let client = redis::Client::open(self.url()).unwrap();
        client.get_multiplexed_async_connection_with_config(&config).await.unwrap()
    }

    /// All keys.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> =
            redis::cmd("KEYS").arg("*").query_async(&mut self.connection().await).await.unwrap();
        keys.sort_unstable();
        keys
    }

    pub(crate) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Closes all connections of other clients.
    pub(crate) async fn cut(&self) {
        let mut connection = self.connection().await;
        for kind in ["normal", "pubsub"] {
            let mut command = redis::cmd("CLIENT");
            command.arg("KILL").arg("TYPE").arg(kind).arg("SKIPME").arg("yes");
            command.query_async::<()>(&mut connection).await.unwrap();
        }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    pub(crate) async fn restart(&mut self) {
        self.restart_with(&[]);
        self.wait_until_ready().await;
    }

    /// Starts it again with further arguments, without waiting until it is ready.
    pub(crate) fn restart_with(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
        self.process = spawn(self.folder.path(), self.port, &self.arguments);
    }

    /// Sends a command. Its words are separated by spaces.
    pub(crate) async fn run(&self, command: &str) -> redis::Value {
        let mut words = command.split(' ');
        let mut command = redis::cmd(words.next().unwrap());
        words.for_each(|word| _ = command.arg(word));
        command.query_async(&mut self.connection().await).await.unwrap()
    }

    async fn wait_until_ready(&self) {
        let client = redis::Client::open(self.url()).unwrap();
        let start = Instant::now();
        loop {
            if let Ok(mut connection) = client.get_multiplexed_async_connection().await
                && redis::cmd("PING").query_async::<String>(&mut connection).await.is_ok()
            {
                return;
            }
            assert!(start.elapsed() < DEADLINE, "the engine is not ready within {DEADLINE:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

fn spawn(folder: &Path, port: u16, arguments: &[String]) -> Child {
    let arguments =
        ["--dir", folder.to_str().unwrap()].into_iter().chain(arguments.iter().map(String::as_str));
    command(folder, port, &arguments.collect::<Vec<_>>())
}

fn command(folder: &Path, port: u16, arguments: &[&str]) -> Child {
    Command::new(program(folder))
        .args(arguments)
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--daemonize", "no"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the engine starts")
}

/// The engine's program: the value of `AGENTWIRE_REDIS_SERVER`, or `redis-server` in `PATH`. Debian's package `redis-tools` contains
/// the same program as `redis-check-rdb`, and starts no service.
fn program(folder: &Path) -> PathBuf {
    if let Some(program) = env::var_os("AGENTWIRE_REDIS_SERVER") {
        return program.into();
    }
    if let Some(program) = find("redis-server".as_ref()) {
        return program;
    }
    let program = find("redis-check-rdb".as_ref()).expect(
        "`redis-server` is not in PATH: `cargo xtask ci redis` installs it, or set AGENTWIRE_REDIS_SERVER",
    );
    let link = folder.join("redis-server");
    if !fs::exists(&link).unwrap() {
        symlink(program, &link).unwrap();
    }
    link
}

fn find(name: &OsStr) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Waits until a condition holds.
pub(crate) async fn until(mut holds: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    while !holds().await {
        assert!(start.elapsed() < DEADLINE, "it does not hold within {DEADLINE:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for a future, at most for [`DEADLINE`].
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future).await.expect("it completes")
}
