//! How a subject is started.

use std::path::PathBuf;

/// A program and its environment.
#[derive(Clone)]
pub(crate) struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) environment: Vec<(&'static str, String)>,
}

impl Launch {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program, environment: Vec::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl ToString) -> Self {
        self.environment.push((name, value.to_string()));
        self
    }
}
