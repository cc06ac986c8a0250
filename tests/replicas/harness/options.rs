//! The command line of the harness.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use lexopt::prelude::*;

pub(crate) const USAGE: &str = "\
replicas --engine PROGRAM [OPTION]...

  --engine PROGRAM     the program of Redis or Valkey
  --nodes N            how many nodes (default 3)
  --clients N          how many clients call at the same time (default 64)
  --kills N            how often a node is killed (default 200)
  --engine-kills N     how often the engine is killed (default 20)
  --time SECONDS       how long the clients call at least (default 3)
  --fsync WHEN         when the engine writes to disk: always (default) or everysec
  --deploy             replace each node under load, in place of the kills: no call may fail
  --revision R         only clients of this revision (default: all, and clients on the library)
  --peer WORDS         also clients of this program, as a JSON array of words whose last is a mode; may be repeated
  --serve PROGRAM      serve nodes of this program, which takes `ADDRESS --redis URL`, until standard input ends; no clients
  --costs              measure what sharing costs, under calls of these clients and of one, in place of all that
  --seed N             repeats the choices of another run
  --fault NAME         a fault that must be found: repeat, lose-events, lose-messages, any-principal, forget-tasks,
                       forget-cancels, lose-data";

/// The options.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) engine: PathBuf,
    pub(crate) nodes: usize,
    pub(crate) clients: usize,
    pub(crate) kills: u64,
    pub(crate) engine_kills: u64,
    pub(crate) time: Duration,
    pub(crate) fsync: String,
    pub(crate) deploy: bool,
    pub(crate) revision: Option<String>,
    pub(crate) peers: Vec<String>,
    pub(crate) serve: Option<PathBuf>,
    pub(crate) costs: bool,
    pub(crate) seed: u64,
    pub(crate) fault: Option<String>,
}

impl Options {
    pub(crate) fn parse(mut arguments: lexopt::Parser) -> Result<Self> {
        let mut engine = None;
        let seed = SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos();
        let mut options = Self {
            engine: PathBuf::new(),
            nodes: 3,
            clients: 64,
            kills: 200,
            engine_kills: 20,
            time: Duration::from_secs(3),
            fsync: "always".into(),
            deploy: false,
            revision: None,
            peers: Vec::new(),
            serve: None,
            costs: false,
            seed: seed.into(),
            fault: None,
        };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("engine") => engine = Some(arguments.value()?.into()),
                Long("nodes") => options.nodes = arguments.value()?.parse()?,
                Long("clients") => options.clients = arguments.value()?.parse()?,
                Long("kills") => options.kills = arguments.value()?.parse()?,
                Long("engine-kills") => options.engine_kills = arguments.value()?.parse()?,
                Long("time") => options.time = Duration::from_secs(arguments.value()?.parse()?),
                Long("fsync") => options.fsync = arguments.value()?.string()?,
                Long("deploy") => options.deploy = true,
                Long("revision") => options.revision = Some(arguments.value()?.string()?),
                Long("peer") => options.peers.push(arguments.value()?.string()?),
                Long("serve") => options.serve = Some(arguments.value()?.into()),
                Long("costs") => options.costs = true,
                Long("seed") => options.seed = arguments.value()?.parse()?,
                Long("fault") => options.fault = Some(arguments.value()?.string()?),
                other => bail!("{}\n\n{USAGE}", other.unexpected()),
            }
        }
        if !matches!(options.fsync.as_str(), "always" | "everysec") {
            bail!("no `--fsync {}`\n\n{USAGE}", options.fsync);
        }
        options.engine = engine.context(USAGE)?;
        Ok(options)
    }
}
