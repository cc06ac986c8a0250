//! The downloads and programs of an install. A person reads it before anything happens.

use std::collections::BTreeMap;
use std::fmt;

use agentwire_jsonrpc::Printable;
use agentwire_wire_derive::Build;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::error::RegistryError;
use crate::executable::check_executable;
use crate::fetch::checked;
use crate::index::{Archive, Entry, Index, Package};
use crate::packages::name::{PinnedPackage, npm_package, pypi_package};
use crate::packages::programs::SearchPath;
use crate::platform::platform;
use crate::variables::{Effect, effect};
use crate::version;

/// How an agent is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Kind {
    /// A package of npm.
    Npx,
    /// A package of PyPI.
    Uvx,
    /// An archive with an executable for this system.
    Binary,
}

impl Kind {
    /// Its name in the registry.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::Uvx => "uvx",
            Self::Binary => "binary",
        }
    }
}

/// The person's choices about an install.
#[derive(Clone, Debug, Default, Build)]
#[non_exhaustive]
pub struct PlanOptions {
    /// Installs this version and not that of the index.
    #[build(into)]
    version: Option<String>,
    /// Takes this kind of distribution. Without it, takes the archive for this system, or else the package whose manager is
    /// installed.
    kind: Option<Kind>,
    /// Lets npm run the install scripts of packages, and uv build packages. Both run code of the packages.
    allow_scripts: bool,
}

/// The downloads of an install, and the programs that run afterwards. `Display` writes it for a person, with everything of the index
/// escaped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Plan {
    /// The agent's id.
    pub id: String,
    /// The agent's name for people.
    pub name: String,
    /// The version that is installed.
    pub version: String,
    /// How it is distributed.
    pub kind: Kind,
    /// The package with its version, or the URL of the archive.
    pub source: String,
    /// The executable: its name in the package, or its path in the archive. None until
    /// [`AgentStore::resolve`](crate::AgentStore::resolve) has asked npm for the executables of the package.
    pub executable: Option<String>,
    /// The arguments of the agent.
    pub args: Vec<String>,
    /// The variables of the agent's environment.
    pub env: BTreeMap<String, String>,
    /// The digest that the registry or npm gives.
    pub digest: Option<String>,
    /// Whether code of packages may run during the install.
    pub allow_scripts: bool,
    /// The URL or file of the index.
    pub registry: String,
}

impl Plan {
    /// The plan for an agent of an index. Nothing is read or run.
    ///
    /// # Errors
    ///
    /// When the agent has no such kind or version, and when it is refused: a package that is not of its registry or has no
    /// version, a package manager in place of an agent, an unsafe URL or path, a variable that loads other code.
    pub fn new(entry: &Entry, index: &Index, options: &PlanOptions) -> Result<Self, RegistryError> {
        let kind = match options.kind {
            Some(kind) => kind,
            None => default_kind(entry)?,
        };
        let wanted = options.version.as_deref().unwrap_or(&entry.version);
        if !version::is_plain(wanted) {
            return Err(refused(entry, format!("`{wanted}` is not a version")));
        }
        let mut plan = Self {
            id: entry.id.clone(),
            name: entry.name.clone(),
            version: wanted.to_owned(),
            kind,
            source: String::new(),
            executable: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            digest: None,
            allow_scripts: options.allow_scripts,
            registry: index.origin.clone(),
        };
        match kind {
            Kind::Npx => plan.set_package(entry, entry.npx.as_ref(), npm_package)?,
            Kind::Uvx => plan.set_package(entry, entry.uvx.as_ref(), pypi_package)?,
            Kind::Binary => plan.set_archive(entry)?,
        }
        if let Some(executable) = &plan.executable {
            check_executable(executable).map_err(|why| refused(entry, why))?;
        }
        let refusal = plan.effects().find(|(_, effect)| effect.is_refused());
        if let Some((variable, effect)) = refusal {
            let effect = effect.text();
            return Err(refused(entry, format!("it sets the variable {variable}, which {effect}")));
        }
        Ok(plan)
    }

    fn set_package(
        &mut self,
        entry: &Entry,
        package: Option<&Package>,
        pinned: fn(&str, &str, bool) -> Result<PinnedPackage, String>,
    ) -> Result<(), RegistryError> {
        let package = package.ok_or_else(|| no_distribution(entry, self.kind.name().to_owned()))?;
        let is_other = self.version != entry.version;
        let (source, executable) =
            pinned(&package.package, &self.version, is_other).map_err(|why| refused(entry, why))?;
        self.source = source;
        self.executable = package.cmd.clone().or(executable);
        self.args.clone_from(&package.args);
        self.env.clone_from(&package.env);
        Ok(())
    }

    fn set_archive(&mut self, entry: &Entry) -> Result<(), RegistryError> {
        let archive = entry.binary.get(&platform());
        let archive: &Archive =
            archive.ok_or_else(|| no_distribution(entry, format!("binary for {}", platform())))?;
        if self.version != entry.version {
            return Err(RegistryError::NoVersion {
                id: entry.id.clone(),
                kind: self.kind.name(),
                wanted: self.version.clone(),
                available: entry.version.clone(),
            });
        }
        if checked(&archive.archive).is_none() {
            return Err(refused(
                entry,
                format!("its archive is at `{}`, which is not an https URL", archive.archive),
            ));
        }
        self.source.clone_from(&archive.archive);
        self.executable = Some(archive.cmd.clone());
        self.args.clone_from(&archive.args);
        self.env.clone_from(&archive.env);
        if let Some(digits) = &archive.sha256 {
            let digest = Digest::from_sha256(digits)
                .ok_or_else(|| refused(entry, "its sha256 is not 64 hexadecimal digits".to_owned()))?;
            self.digest = Some(digest.as_str().to_owned());
        }
        Ok(())
    }

    /// Returns the variables whose values a person should check, each with its effect in words. They send the agent's
    /// requests and keys to a service that the index chooses, or may change its settings, or their effect is not known.
    /// Variables that load code, change trust, lead through a proxy or give permissions are refused when the plan is made.
    /// Unmarked are those that are known to be harmless.
    pub fn marked_variables(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.effects().map(|(variable, effect)| (variable, effect.text()))
    }

    fn effects(&self) -> impl Iterator<Item = (&str, Effect)> {
        self.env.keys().filter_map(|name| Some((name.as_str(), effect(name)?)))
    }

    /// Whether both run the same program of the same source in the same way. The name for people and the index do not count.
    pub fn is_same(&self, other: &Self) -> bool {
        let of =
            |plan: &Self| Self { name: String::new(), registry: String::new(), digest: None, ..plan.clone() };
        of(self) == of(other)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text: &str| Printable::one_line(text).to_string();
        writeln!(f, "{} {} ({})", line(&self.id), line(&self.version), line(&self.name))?;
        let from = match self.kind {
            Kind::Npx => "the npm package",
            Kind::Uvx => "the PyPI package",
            Kind::Binary => "the archive",
        };
        writeln!(f, "  installs  {from} {}", line(&self.source))?;
        let executable = self.executable.as_deref().unwrap_or("the only executable of the package");
        let words = [executable].into_iter().chain(self.args.iter().map(String::as_str));
        writeln!(f, "  runs      {}", line(&words.map(quoted).collect::<Vec<_>>().join(" ")))?;
        for (name, value) in &self.env {
            write!(f, "  sets      {}", line(&format!("{name}={}", quoted(value))))?;
            match effect(name) {
                Some(effect) => writeln!(f, " (! {})", effect.text())?,
                None => writeln!(f)?,
            }
        }
        match (&self.digest, self.kind) {
            (Some(digest), _) => writeln!(f, "  digest    {}", line(digest))?,
            (None, Kind::Binary) => {
                writeln!(f, "  digest    none is given; that of the download is remembered")?
            }
            (None, _) => {}
        }
        if self.allow_scripts && self.kind != Kind::Binary {
            writeln!(f, "  and runs install scripts of the package and of its dependencies")?;
        }
        write!(f, "  named by  {}", line(&self.registry))
    }
}

/// A word as a shell would need it. A line break or tab is not a space: a plan shows both on one line.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@+,".contains(&byte);
    if word.contains(['\n', '\r', '\t']) {
        let escapes = [('\\', r"\\"), ('\'', r"\'"), ('\n', r"\n"), ('\r', r"\r"), ('\t', r"\t")];
        let word = escapes.iter().fold(word.to_owned(), |word, (from, to)| word.replace(*from, to));
        return format!("$'{word}'");
    }
    match !word.is_empty() && word.bytes().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn default_kind(entry: &Entry) -> Result<Kind, RegistryError> {
    if entry.binary.contains_key(&platform()) {
        return Ok(Kind::Binary);
    }
    let path = SearchPath::from_environment();
    match (&entry.npx, &entry.uvx) {
        (Some(_), Some(_)) if path.find("npm").is_none() && path.find("uv").is_some() => Ok(Kind::Uvx),
        (Some(_), _) => Ok(Kind::Npx),
        (None, Some(_)) => Ok(Kind::Uvx),
        (None, None) => Err(no_distribution(entry, format!("binary for {}", platform()))),
    }
}

fn no_distribution(entry: &Entry, wanted: String) -> RegistryError {
    let packages = [("npx", entry.npx.is_some()), ("uvx", entry.uvx.is_some())];
    let packages = packages.into_iter().filter(|(_, exists)| *exists).map(|(name, _)| name.to_owned());
    let archives = entry.binary.keys().map(|system| format!("binary for {system}"));
    let available: Vec<String> = packages.chain(archives).collect();
    RegistryError::NoDistribution { id: entry.id.clone(), wanted, available: available.join(", ") }
}

fn refused(entry: &Entry, why: String) -> RegistryError {
    RegistryError::Refused { id: entry.id.clone(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_shown_as_a_shell_would_read_it() {
        assert_eq!(quoted("--a=b"), "--a=b");
        assert_eq!(quoted("it's a"), r"'it'\''s a'");
        assert_eq!(quoted("a\nb\t'\\"), r"$'a\nb\t\'\\'");
        assert_eq!(quoted(""), "''");
    }
}
