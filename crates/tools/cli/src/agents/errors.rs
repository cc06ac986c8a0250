//! The exit codes of the registry's errors.

use agentwire_agent_registry::{ProbeError, RegistryError, RunError};

use crate::failure::{Exit, Failure, connect_phrase, sentence};

/// The failure of a command.
pub(super) fn to_failure(error: RegistryError) -> anyhow::Error {
    let exit = exit(&error);
    if let RegistryError::Fetch(fetch) = &error
        && let Some(phrase) = connect_phrase(Some(fetch.url()), fetch)
    {
        return Failure::new(exit, format!("cannot reach {}: {phrase}", fetch.url())).into();
    }
    Failure::new(exit, error).into()
}

/// The failure of a command, followed by advice.
pub(super) fn with_advice(error: RegistryError, advice: &str) -> anyhow::Error {
    let exit = exit(&error);
    Failure::new(exit, format!("{}; {advice}", sentence(&error.into()))).into()
}

/// The failure of a store that a setting names.
pub(super) fn of_setting(error: RegistryError, setting: &str) -> anyhow::Error {
    let exit = exit(&error);
    Failure::new(exit, format!("{setting}: {}", sentence(&error.into()))).into()
}

/// The failure of a probe.
pub(super) fn probe_failure(error: ProbeError) -> anyhow::Error {
    Failure::new(of_probe(&error), error).into()
}

fn exit(error: &RegistryError) -> Exit {
    match error {
        RegistryError::Fetch(error) if error.is_unreachable() => Exit::Unreachable,
        RegistryError::Run(RunError::Missing(_) | RunError::Io { .. }) => Exit::Unreachable,
        RegistryError::Run(RunError::TimedOut { .. }) => Exit::TimedOut,
        RegistryError::Refused { .. } | RegistryError::OtherDigest { .. } | RegistryError::Changed(_) => {
            Exit::NotPermitted
        }
        RegistryError::Probe(error) => of_probe(error),
        _ => Exit::Failed,
    }
}

fn of_probe(error: &ProbeError) -> Exit {
    match error {
        ProbeError::TimedOut { .. } => Exit::TimedOut,
        ProbeError::Start(_) | ProbeError::Ended(_) | ProbeError::Silent { .. } => Exit::Unreachable,
        _ => Exit::Failed,
    }
}
