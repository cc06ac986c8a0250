//! The engine, with a port and a folder of its own.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agentwire_test_support::free_port;
use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// The longest that it may take to load its data.
const START_TIME: Duration = Duration::from_secs(20);

/// A running engine.
#[derive(Debug)]
pub(crate) struct Engine {
    program: PathBuf,
    folder: PathBuf,
    port: u16,
    fsync: String,
    process: Child,
}

impl Engine {
    /// Starts the program. Its data are in `folder`. With `fsync` as `never` there are none after its death.
    pub(crate) async fn start(program: &Path, folder: &Path, fsync: &str) -> Result<Self> {
        // Debian has the program under the name of another, which it looks at.
        let link = folder.join("redis-server");
        symlink(fs::canonicalize(program).with_context(|| program.display().to_string())?, &link)?;
        let port = free_port();
        let process = spawn(&link, folder, port, fsync)?;
        let this = Self { program: link, folder: folder.to_owned(), port, fsync: fsync.to_owned(), process };
        this.wait_until_ready().await?;
        Ok(this)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// Kills it, and starts it again on its data after so long.
    pub(crate) async fn kill(&mut self, pause: Duration) -> Result<()> {
        self.process.kill()?;
        self.process.wait()?;
        sleep(pause).await;
        self.process = spawn(&self.program, &self.folder, self.port, &self.fsync)?;
        self.wait_until_ready().await
    }

    async fn wait_until_ready(&self) -> Result<()> {
        let started = Instant::now();
        while !matches!(ping(self.port).await, Ok(true)) {
            ensure!(started.elapsed() < START_TIME, "the engine is not ready within {START_TIME:?}");
            sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

async fn ping(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(b"PING\r\n").await?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await?;
    Ok(answer == *b"+PONG")
}

fn spawn(program: &Path, folder: &Path, port: u16, fsync: &str) -> Result<Child> {
    let durable: &[&str] = if fsync == "never" {
        &["--appendonly", "no"]
    } else {
        &["--appendonly", "yes", "--appendfsync", fsync]
    };
    let log = fs::File::options().create(true).append(true).open(folder.join("engine.log"))?;
    Command::new(program)
        .args(["--save", "", "--bind", "127.0.0.1", "--daemonize", "no", "--dir"])
        .arg(folder)
        .args(["--port", &port.to_string()])
        .args(durable)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| program.display().to_string())
}
