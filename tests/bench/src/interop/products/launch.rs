//! Command lines of agents, with their settings and without a network.

use std::fs;

use anyhow::{Context as _, Result};

use super::table::Product;
use crate::interop::scratch::Scratch;

/// A port without a listener: the proxy of agents without our model.
const UNREACHABLE: &str = "http://127.0.0.1:9";

impl Product {
    /// Writes its settings and returns its command line, for the model at `url` if there is one.
    pub(crate) fn command(&self, scratch: &Scratch<'_>, url: Option<&str>) -> Result<Vec<String>> {
        let mut words = self.environment(scratch, url)?;
        words.extend(self.command.iter().map(|word| fill(word, scratch, url.unwrap_or(UNREACHABLE))));
        Ok(words)
    }

    /// Writes its settings and returns the beginning of a command line, with its variables and without a network.
    pub(crate) fn environment(&self, scratch: &Scratch<'_>, url: Option<&str>) -> Result<Vec<String>> {
        let fill = |text: &str| fill(text, scratch, url.unwrap_or(UNREACHABLE));
        let model = self.model.as_ref().filter(|_| url.is_some());
        for (name, content) in model.into_iter().flat_map(|model| &model.settings) {
            let path = scratch.home().join(name);
            fs::create_dir_all(path.parent().context("a file in the home")?)?;
            fs::write(path, fill(content.as_str().unwrap_or(&content.to_string())))?;
        }
        let mut words = offline(scratch, url);
        words.extend(self.environment.iter().map(|variable| fill(variable)));
        words.extend(model.into_iter().flat_map(|model| &model.environment).map(|variable| fill(variable)));
        Ok(words)
    }
}

/// Keeps agents off the network: their requests go to a proxy that refuses them.
const OFFLINE: &[&str] = &[
    "HTTP_PROXY={url}",
    "HTTPS_PROXY={url}",
    "http_proxy={url}",
    "https_proxy={url}",
    "NO_PROXY=127.0.0.1,localhost",
    "no_proxy=127.0.0.1,localhost",
    "NODE_USE_ENV_PROXY=1",
    "DO_NOT_TRACK=1",
];

/// The beginning of a command line with our Node first in its path and no network but the model at `url`.
pub(crate) fn offline(scratch: &Scratch<'_>, url: Option<&str>) -> Vec<String> {
    let variables = OFFLINE.iter().map(|variable| variable.replace("{url}", url.unwrap_or(UNREACHABLE)));
    ["env".to_owned(), scratch.peers().node_path()].into_iter().chain(variables).collect()
}

/// Replaces the placeholders of `products.json`.
pub(crate) fn fill(text: &str, scratch: &Scratch<'_>, url: &str) -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    text.replace("{node}", &scratch.peers().node().display().to_string())
        .replace("{agents}", &scratch.peers().agents().display().to_string())
        .replace("{system}", &format!("{system}-{processor}"))
        .replace("{project}", &scratch.project().display().to_string())
        .replace("{url}", url)
}
