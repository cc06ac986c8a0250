//! The configuration of a run: the program and the checks.

use std::num::NonZeroUsize;
use std::time::Duration;

use crate::requirements::registry::RegistryError;
use crate::requirements::revision::Revision;
use crate::scripts::script_file::ScriptFile;
use crate::settings::profile::Profile;
use crate::subject::{CommandLine, SubjectKind, Target, Transport};

/// The configuration of a run: the program and the checks.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// The party of the program.
    pub kind: SubjectKind,
    /// The program.
    pub target: Target,
    /// The transport.
    pub transport: Transport,
    /// The revisions in which it is judged.
    pub revisions: Vec<Revision>,
    /// Facts about the program beyond the protocol.
    pub profile: Profile,
    /// Whether tools of a server may be called that neither declare `readOnlyHint` nor stand in the profile. Default: false.
    pub call_any: bool,
    /// Headers of each request over HTTP, such as for authorization.
    pub headers: Vec<(String, String)>,
    /// Scripts that run in the place of the suite's own checks; empty for those. Only ACP's agents and clients over stdio have
    /// scripts.
    pub scripts: Vec<ScriptFile>,
    /// Ids of the requirements that are judged, such as `mcp/RPC-06` or `RPC-06`; empty for all.
    pub only: Vec<String>,
    /// How many checks run at a time.
    pub jobs: NonZeroUsize,
    /// How long a message of the program may take.
    pub wait: Duration,
    /// How long a check may take.
    pub timeout: Duration,
    /// Chooses the order in which the checks run, so that a program that one check spoils for another is noticed.
    pub seed: u64,
    /// The command that runs [`run_stand_in`](crate::run_stand_in), to which an address and a token are added. Clients start it
    /// as their server or agent, and conductors as their components.
    pub stand_in: Option<CommandLine>,
}

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The requirements cannot be read.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// Programs that start others need a stand-in.
    #[error(
        "this program is judged with a stand-in for the programs that it starts, and `stand_in` is not set"
    )]
    NoStandIn,
    /// Clients, and programs on stdio, are not reached by a URL.
    #[error("{0} is started by a command, not reached by a URL")]
    NoCommand(SubjectKind),
    /// Other subjects than ACP's agents and clients have no scripts, and these only over stdio.
    #[error("scripts are for acp-agent and acp-client over stdio, not for {0} over {1}")]
    NoScripts(SubjectKind, Transport),
    /// A script that is not a check of this subject.
    #[error("the script {name}: {why}")]
    #[non_exhaustive]
    Script {
        /// The script.
        name: String,
        /// The reason.
        why: String,
    },
    /// A name in `only` that no requirement has.
    #[error("no requirement is called {name}; the nearest one is {nearest}")]
    UnknownRequirement {
        /// The name.
        name: String,
        /// The requirement whose name is nearest.
        nearest: String,
    },
    /// A requirement in `only` that no check covers for this program.
    #[error("no check of an {kind} over {transport} covers {name}")]
    NoCheck {
        /// The requirement.
        name: String,
        /// The kind of program.
        kind: SubjectKind,
        /// The transport.
        transport: Transport,
    },
}

impl Config {
    /// Judges a program over stdio in every revision of its protocol.
    pub fn new(kind: SubjectKind, target: Target) -> Self {
        Self {
            kind,
            target,
            transport: Transport::Stdio,
            revisions: Revision::all(kind.protocol()).to_vec(),
            profile: Profile::default(),
            call_any: false,
            headers: Vec::new(),
            scripts: Vec::new(),
            only: Vec::new(),
            jobs: NonZeroUsize::new(4).unwrap_or(NonZeroUsize::MIN),
            wait: Duration::from_secs(10),
            // Some checks start several programs, and each may need half a minute for that.
            timeout: Duration::from_secs(180),
            seed: 1,
            stand_in: None,
        }
    }

    /// Describes in a sentence what a run makes the program do. `None` if that is nothing beyond the protocol.
    pub fn effects(&self) -> Option<&'static str> {
        match self.kind {
            SubjectKind::McpServer if self.call_any => {
                Some("Calls tools whatever they declare, because of --call-any.")
            }
            SubjectKind::McpServer => {
                Some("Calls only tools that declare readOnlyHint, and those that the profile names.")
            }
            SubjectKind::AcpAgent => Some(
                "Sends the prompts that the profile names, and greetings; begins sessions in a temporary folder.",
            ),
            _ => None,
        }
    }
}
