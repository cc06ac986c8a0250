//! The list of programs, and how each is started.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::interop::products::launch::{fill, offline};
use crate::interop::products::{PRODUCTS, Product};
use crate::interop::scratch::Scratch;
use crate::interop::service::Service;

/// An entry of `tests/conformance/others/programs.json`. One with the name of a product in `interop`'s `products.json` has its
/// command, its settings and its profile from there.
///
/// In its texts `{node}` stands for the program that runs JavaScript, `{python}` for the one that runs Python, `{peers}` for the
/// folder of what is installed, `{sources}` for `tests/interop`, `{others}` for `tests/conformance/others`, `{rivals}` for
/// the programs of `tests/bench/rivals` and `{system}` for this system's name in package names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) name: String,
    /// The file that pins its version, or that of the library below it, and the package's name there.
    package: [String; 2],
    pub(super) subject: String,
    #[serde(default = "stdio")]
    pub(super) transport: String,
    #[serde(default)]
    command: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    /// A file in `tests/conformance/others`, or a profile that is built in.
    profile: Option<String>,
    /// A file in `tests/conformance/others` with failures of our small program on a library, which say nothing of the library.
    known: Option<String>,
    /// How many checks run at a time. One if several processes of the program get in each other's way in the same home.
    jobs: Option<u8>,
    #[serde(default)]
    revisions: Vec<String>,
}

fn stdio() -> String {
    "stdio".to_owned()
}

/// Where programs and their parts are.
pub(super) struct Places {
    pub(super) others: PathBuf,
    pub(super) rivals: PathBuf,
}

/// A command line, and the model behind it.
pub(super) struct Launch<'a> {
    pub(super) words: Vec<String>,
    pub(super) model: Option<Service<'a>>,
}

impl Program {
    /// The product of that name.
    pub(super) fn product(&self) -> Option<&'static Product> {
        PRODUCTS.iter().find(|product| product.id == self.name)
    }

    /// Its name, what it is and how it is reached.
    pub(super) fn full_name(&self) -> String {
        format!("{} {} {}", self.name, self.subject, self.transport)
    }

    /// The version that is pinned.
    pub(super) fn version(&self, root: &Path) -> Result<String> {
        let [file, package] = &self.package;
        let pins = fs::read_to_string(root.join(file))?;
        let version = pinned(&pins, package).with_context(|| format!("{file} does not pin {package}"))?;
        Ok(version.to_owned())
    }

    /// Where the report of its last run is.
    pub(super) fn report(&self, folder: &Path) -> PathBuf {
        let name = self.full_name().replace([' ', '/', '@'], "-");
        folder.join(format!("{name}.json"))
    }

    /// Its command line. The model of a product is started.
    pub(super) fn launch<'a>(&self, scratch: &'a Scratch<'a>, places: &Places) -> Result<Launch<'a>> {
        let Some(product) = self.product() else {
            let mut words = offline(scratch, None);
            words.extend(
                self.environment.iter().chain(&self.command).map(|word| place(word, scratch, places)),
            );
            return Ok(Launch { words, model: None });
        };
        let model = product.model.as_ref();
        let service =
            model.map(|_| Service::start(scratch, scratch.peers().npm("model.mjs", &[]))).transpose()?;
        let url = service.as_ref().map(|service| service.url("")).transpose()?;
        if let Some(before) = model.and_then(|model| model.before.as_ref()) {
            fs::write(scratch.file("note.txt"), before)?;
        }
        Ok(Launch { words: product.command(scratch, url.as_deref())?, model: service })
    }

    /// The options of its check.
    pub(super) fn options(&self, scratch: &Scratch<'_>, places: &Places, json: &Path) -> Result<Vec<String>> {
        // Each start of a product takes seconds of processor time.
        let (timeout, jobs) = if self.product().is_some() { ("20", 2) } else { ("8", 4) };
        let mut options: Vec<String> = ["--timeout", timeout, "--jobs"].map(str::to_owned).into();
        options.push(self.jobs.unwrap_or(jobs).to_string());
        let html = json.with_extension("html");
        for (name, file) in [("--json-file", json), ("--html", &html)] {
            options.extend([name.to_owned(), file.display().to_string()]);
        }
        if let Some(known) = &self.known {
            options.extend(["--baseline".to_owned(), places.others.join(known).display().to_string()]);
        }
        for revision in &self.revisions {
            options.extend(["--revision".to_owned(), revision.clone()]);
        }
        if let Some(product) = self.product() {
            let file = scratch.file("../profile.toml");
            fs::write(&file, profile(product, scratch))?;
            options.extend(["--profile".to_owned(), file.display().to_string()]);
        } else if let Some(profile) = &self.profile {
            let file = places.others.join(profile);
            let profile = if file.exists() { file.display().to_string() } else { profile.clone() };
            options.extend(["--profile".to_owned(), profile]);
        }
        Ok(options)
    }
}

/// The version of a package in a `package.json`, a `requirements.txt` or a `Cargo.lock`.
fn pinned<'a>(pins: &'a str, package: &str) -> Option<&'a str> {
    let starts = [
        format!("\"{package}\": \""),
        format!("\n{package}=="),
        format!("name = \"{package}\"\nversion = \""),
    ];
    let (_, version) = starts.iter().find_map(|start| pins.split_once(start.as_str()))?;
    version.split(['"', ' ', '\n']).next()
}

/// The profile of a product: prompts that make its model do something.
fn profile(product: &Product, scratch: &Scratch<'_>) -> String {
    let mut profile = format!("name = {:?}\n[acp-agent]\n", product.id);
    if let Some(model) = &product.model {
        profile.push_str("say = \"[say]\"\nslow = \"[wait]\"\n");
        if model.asks {
            profile.push_str(&format!(
                "permission = '''[call {}]'''\n",
                fill(&model.write.to_string(), scratch, "")
            ));
        }
    }
    profile
}

/// Replaces the placeholders.
fn place(text: &str, scratch: &Scratch<'_>, places: &Places) -> String {
    let peers = scratch.peers();
    fill(text, scratch, "")
        .replace("{python}", &peers.python_path().display().to_string())
        .replace("{peers}", &peers.installed().display().to_string())
        .replace("{sources}", &peers.sources().display().to_string())
        .replace("{others}", &places.others.display().to_string())
        .replace("{rivals}", &places.rivals.display().to_string())
}
