//! An installed agent with our model, and how it is talked to.

use std::fs;

use anyhow::{Context as _, Result};

use crate::interop::products::{Installed, Model, Product, fill};
use crate::interop::scratch::{Outcome, Scratch};
use crate::interop::service::Service;

/// An installed agent, its settings and a running model.
pub(super) struct Day<'a> {
    pub(super) scratch: &'a Scratch<'a>,
    pub(super) service: Service<'a>,
    pub(super) model: &'static Model,
    pub(super) installed: &'static Installed,
    id: &'static str,
    environment: Vec<String>,
}

impl<'a> Day<'a> {
    /// Starts a model, and writes the settings and the note that the turn changes.
    pub(super) fn begin(scratch: &'a Scratch<'a>, product: &'static Product) -> Result<Self> {
        let service = Service::start(scratch, scratch.peers().npm("model.mjs", &[]))?;
        let environment = product.environment(scratch, Some(&service.url("")?))?;
        let model = product.model.as_ref().context("the table has no model for it")?;
        let installed = product.installed.as_ref().context("it is not installed by name")?;
        let note = scratch.file("note.txt");
        match &model.before {
            Some(before) => fs::write(note, before)?,
            None if note.exists() => fs::remove_file(note)?,
            None => {}
        }
        Ok(Self { scratch, service, model, installed, id: &product.id, environment })
    }

    /// The command line of a conversation with the agent, by its name.
    pub(super) fn command(&self, options: &[&str], prompt: &str) -> Vec<String> {
        let words = chat(self.scratch, self.id, &[options, &[prompt]].concat());
        [&self.environment[..], &words].concat()
    }

    /// Takes a turn.
    pub(super) fn turn(&self, options: &[&str], prompt: &str) -> Result<Outcome> {
        self.scratch.run(&self.command(options, prompt))
    }

    /// A prompt that makes the model write the note.
    pub(super) fn write(&self) -> String {
        format!("[call {}]", fill(&self.model.write.to_string(), self.scratch, ""))
    }

    /// A prompt that makes the model run the command that counts.
    pub(super) fn count(&self) -> String {
        format!("[call {}]", self.installed.run)
    }
}

/// `agentwire chat` with an installed agent.
pub(super) fn chat(scratch: &Scratch<'_>, id: &str, words: &[&str]) -> Vec<String> {
    let project = scratch.project().display().to_string();
    scratch.peers().agentwire(&[&["chat", "--agent", id, "--cwd", &project], words].concat())
}
