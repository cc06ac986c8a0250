//! A run of the suite: what to judge, and how.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::acp_agent::{self, Agent};
use crate::acp_client::{self, AcpClient};
use crate::engine::{Engine, Kind};
use crate::mcp_client::{self, McpClient};
use crate::mcp_server::{self, Hosts, Server};
use crate::profile::Profile;
use crate::registry::{Registry, RegistryError};
use crate::report::{CheckResult, MutantResult, Report};
use crate::revision::Revision;
use crate::subject::{CommandLine, SubjectKind, Target, Transport};

/// What to judge, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// Which party the program is.
    pub kind: SubjectKind,
    /// The program.
    pub target: Target,
    /// The transport.
    pub transport: Transport,
    /// The revisions in which it is judged.
    pub revisions: Vec<Revision>,
    /// What is known of the program beyond the protocol.
    pub profile: Profile,
    /// Headers of each request over HTTP, such as for authorization.
    pub headers: Vec<(String, String)>,
    /// Ids of the requirements that are judged, such as `mcp/RPC-06` or `RPC-06`; empty for all.
    pub only: Vec<String>,
    /// How many checks run at a time.
    pub jobs: NonZeroUsize,
    /// How long a message of the program may take.
    pub wait: Duration,
    /// How long a check may take.
    pub timeout: Duration,
    /// What random inputs are made from.
    pub seed: u64,
    /// The command that runs [`run_stand_in`](crate::run_stand_in), to which an address and a token are added. Clients start it
    /// as their server or agent.
    pub stand_in: Option<CommandLine>,
}

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The requirements cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Clients need a stand-in.
    #[error("a client is judged with a stand-in for its server or agent, and `stand_in` is not set")]
    NoStandIn,
    /// Only servers are reached by a URL.
    #[error("{0} is started by a command, not reached by a URL")]
    NoCommand(SubjectKind),
    /// A name in `only` that no check has.
    #[error("no check covers {0}")]
    UnknownRequirement(String),
}

/// Hears of each result as soon as there is one.
pub trait Progress: Send + Sync {
    /// How many checks there will be.
    fn planned(&self, _checks: usize) {}
    /// A check has ended.
    fn finished(&self, _result: &CheckResult) {}
}

impl Progress for () {}

impl Config {
    /// Judges a program over stdio in every revision of its protocol.
    pub fn new(kind: SubjectKind, target: Target) -> Self {
        Self {
            kind,
            target,
            transport: Transport::Stdio,
            revisions: Revision::all(kind.protocol()).to_vec(),
            profile: Profile::default(),
            headers: Vec::new(),
            only: Vec::new(),
            jobs: NonZeroUsize::new(4).unwrap_or(NonZeroUsize::MIN),
            wait: Duration::from_secs(10),
            timeout: Duration::from_secs(60),
            seed: 1,
            stand_in: None,
        }
    }

    /// Runs the checks.
    ///
    /// # Errors
    ///
    /// Fails if the configuration makes no sense. What a subject does wrong is part of the report.
    pub async fn run(&self, progress: &dyn Progress) -> Result<Report, SuiteError> {
        let engine = self.engine()?;
        let results = match self.kind {
            SubjectKind::AcpAgent => engine.run(&self.acp_agents()?, progress).await?,
            SubjectKind::AcpClient => engine.run(&self.acp_clients()?, progress).await?,
            SubjectKind::McpServer => engine.run(&self.mcp_servers(), progress).await?,
            SubjectKind::McpClient => engine.run(&self.mcp_clients()?, progress).await?,
        };
        Ok(Report::new(self, results))
    }

    /// Runs each check against its mutants, made of this program, which has to be conformant.
    ///
    /// # Errors
    ///
    /// Fails if the configuration makes no sense.
    pub async fn run_mutants(&self) -> Result<Vec<MutantResult>, SuiteError> {
        let engine = self.engine()?;
        match self.kind {
            SubjectKind::AcpAgent => engine.run_mutants(&self.acp_agents()?).await,
            SubjectKind::AcpClient => engine.run_mutants(&self.acp_clients()?).await,
            SubjectKind::McpServer => engine.run_mutants(&self.mcp_servers()).await,
            SubjectKind::McpClient => engine.run_mutants(&self.mcp_clients()?).await,
        }
    }

    fn engine(&self) -> Result<Engine, SuiteError> {
        Ok(Engine::new(self, Registry::load()?))
    }

    fn acp_agents(&self) -> Result<Kind<Agent>, SuiteError> {
        let command = Arc::new(self.command()?);
        let context = move |setting| Agent::new(setting, Arc::clone(&command));
        Ok(Kind::new(acp_agent::CHECKS, context, acp_agent::plain_conversation))
    }

    fn acp_clients(&self) -> Result<Kind<AcpClient>, SuiteError> {
        let (command, stand_in) = (Arc::new(self.command()?), Arc::new(self.stand_in()?));
        let context = move |setting| AcpClient::new(setting, Arc::clone(&command), Arc::clone(&stand_in));
        Ok(Kind::new(acp_client::CHECKS, context, acp_client::plain_conversation))
    }

    fn mcp_servers(&self) -> Kind<Server> {
        let hosts = Hosts::new(self.target.clone(), self.headers.clone());
        let context = move |setting| Server::new(setting, Arc::clone(&hosts));
        Kind::new(mcp_server::CHECKS, context, mcp_server::plain_conversation)
    }

    fn mcp_clients(&self) -> Result<Kind<McpClient>, SuiteError> {
        let (command, stand_in) = (Arc::new(self.command()?), Arc::new(self.stand_in()?));
        let context = move |setting| McpClient::new(setting, Arc::clone(&command), Arc::clone(&stand_in));
        Ok(Kind::new(mcp_client::CHECKS, context, mcp_client::plain_conversation))
    }

    fn command(&self) -> Result<CommandLine, SuiteError> {
        match &self.target {
            Target::Command(command) => Ok(command.clone()),
            Target::Url(_) => Err(SuiteError::NoCommand(self.kind)),
        }
    }

    fn stand_in(&self) -> Result<CommandLine, SuiteError> {
        self.stand_in.clone().ok_or(SuiteError::NoStandIn)
    }
}
