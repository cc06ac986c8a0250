//! The registry file of the run, in the format of the ACP registry.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::interop::products::{Distribution, Product};

/// Writes a registry with one agent. `archive` is the URL of its archive, if it is distributed as one.
pub(super) fn write(
    folder: &Path,
    product: &Product,
    version: &str,
    archive: Option<&str>,
) -> Result<PathBuf> {
    let path = folder.join("registry.json");
    fs::write(&path, format!("{:#}\n", document(product, version, archive)?))?;
    Ok(path)
}

fn document(product: &Product, version: &str, archive: Option<&str>) -> Result<Value> {
    let installed = product.installed.as_ref().context("it is not installed by name")?;
    let args = &installed.args;
    let distribution = match &installed.distribution {
        Distribution::Package { package } => {
            json!({ "npx": { "package": format!("{package}@{version}"), "args": args } })
        }
        Distribution::Archive { executable, .. } => {
            let archive = archive.context("an archive has a URL")?;
            let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
            let system = format!("{system}-{}", std::env::consts::ARCH);
            json!({ "binary": { system: { "archive": archive, "cmd": executable, "args": args } } })
        }
    };
    let agent = json!({ "id": product.id, "name": product.id, "version": version,
        "description": "An agent that people use", "distribution": distribution });
    Ok(json!({ "version": "1.0.0", "agents": [agent] }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interop::products::PRODUCTS;

    #[test]
    fn packages_are_pinned_and_archives_have_a_url() {
        let of = |id: &str| {
            let product = PRODUCTS.iter().find(|product| product.id == id).unwrap();
            document(product, "1.2.3", Some("http://127.0.0.1:1/a.tgz")).unwrap()["agents"][0]["distribution"]
                .clone()
        };
        assert_eq!(
            of("gemini-cli"),
            json!({ "npx": { "package": "@google/gemini-cli@1.2.3", "args": ["--acp"] } })
        );
        let opencode = of("opencode")["binary"].as_object().unwrap().values().next().unwrap().clone();
        let expected =
            json!({ "archive": "http://127.0.0.1:1/a.tgz", "cmd": "package/bin/opencode", "args": ["acp"] });
        assert_eq!(opencode, expected);
    }
}
