//! The nodes, as processes that are killed and started again.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agentwire_test_support::free_port;
use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;
use tokio::time::sleep;

/// The longest that a node may take until it listens. It waits for the engine.
const START_TIME: Duration = Duration::from_secs(30);
/// The longest that a node may take to drain: it has 20 s for calls, and as long for tasks.
const DRAIN_TIME: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(10);

/// How nodes are started.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    path: PathBuf,
    folder: PathBuf,
    arguments: Vec<String>,
    /// Whether it takes `--log FILE`.
    logs: bool,
}

/// All nodes.
#[derive(Debug)]
pub(crate) struct Nodes {
    program: Program,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    number: usize,
    address: SocketAddr,
    process: Option<Child>,
}

impl Nodes {
    /// Starts so many nodes.
    pub(crate) async fn start(count: usize, program: Program) -> Result<Self> {
        let nodes = (0..count).map(|number| {
            let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
            Node { number, address, process: None }
        });
        let mut this = Self { program, nodes: nodes.collect() };
        for number in 0..count {
            this.spawn(number)?;
        }
        for number in 0..count {
            this.wait_until_listening(number).await?;
        }
        Ok(this)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes.iter().map(|node| node.address).collect()
    }

    /// The process id of each that runs.
    pub(crate) fn ids(&self) -> Vec<u32> {
        self.nodes.iter().filter_map(|node| node.process.as_ref().map(Child::id)).collect()
    }

    /// Starts a node, which listens a moment later.
    pub(crate) fn spawn(&mut self, number: usize) -> Result<()> {
        let node = &mut self.nodes[number];
        node.process = Some(self.program.spawn(node)?);
        Ok(())
    }

    pub(crate) async fn wait_until_listening(&mut self, number: usize) -> Result<()> {
        let started = Instant::now();
        let node = &mut self.nodes[number];
        while TcpStream::connect(node.address).await.is_err() {
            let ended = node.process.as_mut().context("it does not run")?.try_wait()?;
            ensure!(ended.is_none(), "node {number} ended: see {}", self.program.errors(number).display());
            ensure!(started.elapsed() < START_TIME, "node {number} does not listen within {START_TIME:?}");
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Kills a node at once.
    pub(crate) fn kill(&mut self, number: usize) -> Result<()> {
        if let Some(mut process) = self.nodes[number].process.take() {
            ensure!(process.try_wait()?.is_none(), "node {number} has ended by itself");
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Ends a node with SIGTERM, and waits until it has drained.
    pub(crate) async fn drain(&mut self, number: usize) -> Result<()> {
        let Some(mut process) = self.nodes[number].process.take() else { return Ok(()) };
        kill_process(Pid::from_child(&process), Signal::TERM)?;
        let started = Instant::now();
        while started.elapsed() < DRAIN_TIME {
            if let Some(status) = process.try_wait()? {
                ensure!(status.success(), "node {number} ended with {status}");
                return Ok(());
            }
            sleep(PAUSE).await;
        }
        process.kill()?;
        process.wait()?;
        bail!("node {number} does not drain within {DRAIN_TIME:?}")
    }

    /// How often each key is in the logs of all nodes.
    pub(crate) fn done(&self) -> Result<HashMap<String, u64>> {
        let mut done = HashMap::new();
        for node in &self.nodes {
            let log = fs::read_to_string(self.program.log(node.number)).unwrap_or_default();
            for key in log.lines() {
                *done.entry(key.to_owned()).or_default() += 1;
            }
        }
        Ok(done)
    }
}

impl Program {
    /// The program `replica` beside this one, with options that have a value. What its nodes write is in `folder`.
    pub(crate) fn replica(folder: &Path, options: &[(&str, Option<&str>)]) -> Result<Self> {
        let path = std::env::current_exe()?.with_file_name("replica");
        let mut arguments = Vec::new();
        for (name, value) in options {
            arguments.extend(value.iter().flat_map(|value| [(*name).to_owned(), (*value).to_owned()]));
        }
        Ok(Self { path, folder: folder.to_owned(), arguments, logs: true })
    }

    /// Another program, which takes `ADDRESS --redis URL`.
    pub(crate) fn other(path: &Path, folder: &Path, redis: &str) -> Self {
        let arguments = vec!["--redis".into(), redis.into()];
        Self { path: path.to_owned(), folder: folder.to_owned(), arguments, logs: false }
    }

    fn log(&self, number: usize) -> PathBuf {
        self.folder.join(format!("node-{number}.done"))
    }

    fn errors(&self, number: usize) -> PathBuf {
        self.folder.join(format!("node-{number}.log"))
    }

    fn spawn(&self, node: &Node) -> Result<Child> {
        let errors = fs::File::options().create(true).append(true).open(self.errors(node.number))?;
        let mut command = Command::new(&self.path);
        command.arg(node.address.to_string()).args(&self.arguments);
        if self.logs {
            command.arg("--log").arg(self.log(node.number));
        }
        // The pipe ends with this process, and the node with the pipe.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors);
        command.spawn().with_context(|| self.path.display().to_string())
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for process in self.nodes.iter_mut().filter_map(|node| node.process.as_mut()) {
            _ = process.kill();
            _ = process.wait();
        }
    }
}
