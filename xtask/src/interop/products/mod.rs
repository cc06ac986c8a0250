//! Our ACP client with widely used agents, without a key and without a network.
//!
//! The expected behaviour of each is data in `products.json`, so a change in a new version fails its pair.

mod opening;
mod table;
mod turns;

use std::fs;

use anyhow::{Context as _, Result};

pub(super) use self::table::Product;
use self::table::{Model, PRODUCTS};
use super::Pair;
use super::scratch::Scratch;

/// The options with which `agentwire chat` asks for version 2 and accepts version 1.
const VERSION_2: &[&str] = &["--protocol", "auto"];

/// A port without a listener: the proxy of agents without our model.
const UNREACHABLE: &str = "http://127.0.0.1:9";

/// A check of an agent.
type Check = fn(&Scratch<'_>, &'static Product) -> Result<()>;

/// The checks, by the name that `products.json` has for them, in the order of their pairs.
const CHECKS: [(&str, Check); 9] = [
    ("open", |scratch, product| opening::open(scratch, product, 1)),
    ("version 2", |scratch, product| opening::open(scratch, product, 2)),
    ("version 2 asked", opening::falls_back),
    ("say", turns::say),
    ("write", |scratch, product| turns::write(scratch, product, &[])),
    ("rejected", turns::reject),
    ("cancel", |scratch, product| turns::cancel(scratch, product, &[])),
    ("version 2: write", |scratch, product| turns::write(scratch, product, VERSION_2)),
    ("version 2: cancel", |scratch, product| turns::cancel(scratch, product, VERSION_2)),
];

/// A pair for each check of each agent.
pub(super) fn pairs() -> Vec<Pair> {
    let mut pairs = Vec::new();
    for (name, check) in CHECKS {
        for product in PRODUCTS.iter().filter(|product| product.pairs.iter().any(|pair| pair == name)) {
            let name = match name {
                "open" => format!("our client, {}", product.id),
                name if name.starts_with("version 2") => format!("our client, {}, {name}", product.id),
                name => format!("our client, {}: {name}", product.id),
            };
            pairs.push(Pair { name: name.into(), limit: 60, check: super::Check::Product(check, product) });
        }
    }
    pairs
}

impl Product {
    /// Writes its settings and returns its command line, for the model at `url` if there is one.
    fn command(&self, scratch: &Scratch<'_>, url: Option<&str>) -> Result<Vec<String>> {
        let fill = |text: &str| fill(text, scratch, url.unwrap_or(UNREACHABLE));
        let model = self.model.as_ref().filter(|_| url.is_some());
        for (name, content) in model.into_iter().flat_map(|model| &model.settings) {
            let path = scratch.home().join(name);
            fs::create_dir_all(path.parent().context("a file in the home")?)?;
            fs::write(path, fill(content))?;
        }
        let mut words = vec!["env".to_owned(), scratch.peers().node_path()];
        words.extend(OFFLINE.iter().copied().chain(self.environment.iter().map(String::as_str)).map(fill));
        words.extend(model.into_iter().flat_map(|model| &model.environment).map(|variable| fill(variable)));
        words.extend(self.command.iter().map(|word| fill(word)));
        words.extend(model.into_iter().flat_map(|model| &model.arguments).map(|word| fill(word)));
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

fn fill(text: &str, scratch: &Scratch<'_>, url: &str) -> String {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    text.replace("{node}", &scratch.peers().node().display().to_string())
        .replace("{agents}", &scratch.peers().agents().display().to_string())
        .replace("{system}", &format!("{system}-{processor}"))
        .replace("{project}", &scratch.project().display().to_string())
        .replace("{url}", url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_is_opened_and_every_check_exists() {
        assert_eq!(pairs().len(), PRODUCTS.iter().map(|product| product.pairs.len()).sum::<usize>());
        for product in PRODUCTS.iter() {
            assert!(
                product.pairs.contains(&"open".to_owned()) && !product.command.is_empty(),
                "{}",
                product.id
            );
            assert!(product.model.is_some() || product.pairs.len() == 1, "{}", product.id);
        }
    }
}
