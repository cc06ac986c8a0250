//! A run of the suite: what to judge, and how.

use std::sync::Arc;

use crate::acp_agent::{self, Agent};
use crate::acp_client::{self, AcpClient};
use crate::acp_conductor::{self, Conductor};
use crate::acp_proxy::{self, Proxy};
use crate::engine::Engine;
use crate::engine::plan::Kind;
use crate::mcp_client::{self, McpClient};
use crate::mcp_server::{self, Hosts, Server};
use crate::progress::Progress;
use crate::report::{Ran, Report};
use crate::requirements::registry::Registry;
use crate::setting::Setting;
use crate::settings::config::{Config, SuiteError};
use crate::subject::location::Location;
use crate::subject::{CommandLine, SubjectKind, Target, Transport};

impl Config {
    /// Runs the checks.
    ///
    /// # Errors
    ///
    /// Fails if the configuration makes no sense. What a subject does wrong is part of the report.
    pub async fn run(&self, progress: &dyn Progress) -> Result<Report, SuiteError> {
        self.run_until(progress, std::future::pending()).await
    }

    /// Runs the checks until `stop` completes. The report then has the results up to that moment, and is marked as partial.
    ///
    /// # Errors
    ///
    /// As for [`run`](Self::run).
    pub async fn run_until(
        &self,
        progress: &dyn Progress,
        stop: impl Future<Output = ()>,
    ) -> Result<Report, SuiteError> {
        let engine = self.engine()?;
        let ran = if self.scripts.is_empty() {
            match self.kind {
                SubjectKind::AcpAgent => engine.run(&self.acp_agents()?, progress, stop).await?,
                SubjectKind::AcpClient => engine.run(&self.acp_clients()?, progress, stop).await?,
                SubjectKind::AcpProxy => engine.run(&self.acp_proxies()?, progress, stop).await?,
                SubjectKind::AcpConductor => engine.run(&self.acp_conductors()?, progress, stop).await?,
                SubjectKind::McpServer => engine.run(&self.mcp_servers(), progress, stop).await?,
                SubjectKind::McpClient => engine.run(&self.mcp_clients()?, progress, stop).await?,
            }
        } else {
            self.run_scripts(&engine, progress, stop).await?
        };
        Ok(Report::new(self, ran))
    }

    async fn run_scripts(
        &self,
        engine: &Engine,
        progress: &dyn Progress,
        stop: impl Future<Output = ()>,
    ) -> Result<Ran, SuiteError> {
        match self.kind {
            _ if self.transport != Transport::Stdio => Err(SuiteError::NoScripts(self.kind, self.transport)),
            SubjectKind::AcpAgent => {
                let context = self.acp_agent()?;
                let play = |setting, file| acp_agent::play(context(setting), file);
                engine.run_scripts(play, progress, stop).await
            }
            SubjectKind::AcpClient => {
                let context = self.acp_client()?;
                let play = |setting, file| acp_client::play(context(setting), file);
                engine.run_scripts(play, progress, stop).await
            }
            _ => Err(SuiteError::NoScripts(self.kind, self.transport)),
        }
    }

    pub(crate) fn engine(&self) -> Result<Engine, SuiteError> {
        Ok(Engine::new(self, Registry::load()?))
    }

    pub(crate) fn acp_agents(&self) -> Result<Kind<Agent>, SuiteError> {
        let context = self.acp_agent()?;
        Ok(Kind::new(acp_agent::checks::CHECKS, context, acp_agent::plain_conversation, acp_agent::speaks))
    }

    /// How a check reaches an agent.
    fn acp_agent(&self) -> Result<impl Fn(Setting) -> Agent + Send + Sync + use<>, SuiteError> {
        if self.transport == Transport::Stdio {
            self.command()?;
        }
        let stand_in = self.stand_in.clone().map(Arc::new);
        let findings = Arc::new(acp_agent::Findings::new(self.location()));
        Ok(move |setting| Agent::new(setting, Arc::clone(&findings), stand_in.clone()))
    }

    pub(crate) fn acp_clients(&self) -> Result<Kind<AcpClient>, SuiteError> {
        let context = self.acp_client()?;
        Ok(Kind::new(
            acp_client::checks::CHECKS,
            context,
            acp_client::checks::plain_conversation,
            acp_client::speaks,
        ))
    }

    /// How a check reaches a client.
    fn acp_client(&self) -> Result<impl Fn(Setting) -> AcpClient + Send + Sync + use<>, SuiteError> {
        let (command, stand_in) = (Arc::new(self.command()?), Arc::new(self.stand_in()?));
        Ok(move |setting| AcpClient::new(setting, Arc::clone(&command), Arc::clone(&stand_in)))
    }

    pub(crate) fn acp_proxies(&self) -> Result<Kind<Proxy>, SuiteError> {
        let command = Arc::new(self.command()?);
        let context = move |setting| Proxy::new(setting, Arc::clone(&command));
        Ok(Kind::new(acp_proxy::checks::CHECKS, context, acp_proxy::plain_conversation, acp_proxy::speaks))
    }

    pub(crate) fn acp_conductors(&self) -> Result<Kind<Conductor>, SuiteError> {
        let (command, stand_in) = (Arc::new(self.command()?), Arc::new(self.stand_in()?));
        let context = move |setting| Conductor::new(setting, Arc::clone(&command), Arc::clone(&stand_in));
        Ok(Kind::new(
            acp_conductor::checks::CHECKS,
            context,
            acp_conductor::plain_conversation,
            acp_conductor::speaks,
        ))
    }

    pub(crate) fn mcp_servers(&self) -> Kind<Server> {
        let hosts = Hosts::new(self.location());
        let context = move |setting| Server::new(setting, Arc::clone(&hosts));
        Kind::new(
            mcp_server::checks::CHECKS,
            context,
            mcp_server::checks::plain_conversation,
            mcp_server::checks::speaks,
        )
        .sharing(mcp_server::Server::sharing)
    }

    pub(crate) fn mcp_clients(&self) -> Result<Kind<McpClient>, SuiteError> {
        let (command, stand_in) = (Arc::new(self.command()?), Arc::new(self.stand_in()?));
        let context = move |setting| McpClient::new(setting, Arc::clone(&command), Arc::clone(&stand_in));
        Ok(Kind::new(
            mcp_client::checks::CHECKS,
            context,
            mcp_client::checks::plain_conversation,
            mcp_client::speaks,
        ))
    }

    fn location(&self) -> Location {
        Location::new(self.target.clone(), self.headers.clone())
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::check::Check;

    /// Each function that is listed is named by a requirement that binds its party. Each function that a requirement names is
    /// listed once. A requirement without a check for a party has a reason in `unchecked`.
    fn sound<C>(checks: &'static [&'static [Check<C>]], kind: SubjectKind) {
        let (registry, role) = (Registry::load().unwrap(), kind.role());
        let mut listed = BTreeSet::new();
        for check in checks.iter().copied().flatten() {
            assert!(listed.insert(check.path()), "{} of the {kind} is listed twice", check.path());
        }
        let mut unnamed = listed.clone();
        for requirement in registry.of(kind.protocol()) {
            let (name, is_bound) = (requirement.name(), requirement.binds.contains(&role));
            let Some(path) = requirement.checks.get(&role) else {
                assert!(!is_bound || requirement.unchecked.is_some(), "{name} has no check of the {kind}");
                continue;
            };
            assert!(is_bound, "{name} does not bind the {kind}");
            assert!(listed.contains(path.as_str()), "{name} names {path} of the {kind}, which is not listed");
            unnamed.remove(path.as_str());
        }
        assert!(unnamed.is_empty(), "no requirement names {unnamed:?} of the {kind}");
    }

    #[test]
    fn checks_are_sound() {
        sound(acp_agent::checks::CHECKS, SubjectKind::AcpAgent);
        sound(acp_client::checks::CHECKS, SubjectKind::AcpClient);
        sound(acp_proxy::checks::CHECKS, SubjectKind::AcpProxy);
        sound(acp_conductor::checks::CHECKS, SubjectKind::AcpConductor);
        sound(mcp_server::checks::CHECKS, SubjectKind::McpServer);
        sound(mcp_client::checks::CHECKS, SubjectKind::McpClient);
    }

    /// A party that the protocol does not have would have no list of functions.
    #[test]
    fn every_check_has_a_kind_of_subject() {
        for requirement in Registry::load().unwrap().all() {
            let has_kind = |role| {
                SubjectKind::ALL
                    .iter()
                    .any(|kind| (kind.protocol(), kind.role()) == (requirement.protocol(), role))
            };
            assert!(requirement.checks.keys().copied().all(has_kind), "{}", requirement.name());
        }
    }
}
