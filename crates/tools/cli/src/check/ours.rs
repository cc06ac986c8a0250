//! Our own programs as subjects, which `check` judges if no program is given.

use std::env;

use agentwire_conformance::{CommandLine, Config, Profile, Revision, SubjectKind, Target, Transport};
use anyhow::{Context as _, Result};

/// This program's subcommands, each over every transport that it has.
const SUBJECTS: &[(SubjectKind, Transport, &[&str])] = &[
    (SubjectKind::AcpAgent, Transport::Stdio, &["agent"]),
    (SubjectKind::AcpClient, Transport::Stdio, &[]),
    (SubjectKind::McpServer, Transport::Stdio, &["server"]),
    (SubjectKind::McpServer, Transport::Http, &["server", "--http", "127.0.0.1:0"]),
    (SubjectKind::McpServer, Transport::Sse, &["server", "--sse", "127.0.0.1:0"]),
    (SubjectKind::McpClient, Transport::Stdio, &[]),
    (SubjectKind::McpClient, Transport::Http, &[]),
    (SubjectKind::McpClient, Transport::Sse, &[]),
];

pub(super) fn configs() -> Result<Vec<Config>> {
    let program = env::current_exe().context("this program's own path")?.to_string_lossy().into_owned();
    let profile = Profile::built_in("agentwire").context("our profile is built in")??;
    let config = |(kind, transport, words): &(SubjectKind, Transport, &[&str])| {
        let words = std::iter::once(program.clone()).chain(words.iter().map(|word| (*word).to_owned()));
        let mut config = Config::new(*kind, Target::Command(CommandLine::new(words).context("a program")?));
        config.transport = *transport;
        config.profile = profile.clone();
        config.revisions = Revision::all(kind.protocol()).to_vec();
        Ok(config)
    };
    SUBJECTS.iter().map(config).collect()
}
