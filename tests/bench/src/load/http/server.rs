//! Servers under load.

use std::net::SocketAddr;

use anyhow::{Context, Result};

use super::form::Form;
use crate::load::process::Launch;
use crate::load::process::{Cores, Process};

/// Starts a server that answers in a form, on the subject's core or on ours, and returns its address.
pub(crate) fn start(launch: &Launch, form: Form, cores: Option<&Cores>) -> Result<(Process, SocketAddr)> {
    let launch = launch.clone().with("FORM", form.name());
    let server = match cores {
        Some(cores) => cores.start(&launch, &[])?,
        None => Process::start(&launch, &[])?,
    };
    server.prepare(|server| {
        let line = std::str::from_utf8(server.lines.next()?)?;
        line.parse().with_context(|| format!("{line:?} is not an address"))
    })
}
