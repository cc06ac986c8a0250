//! The programs of other projects: installed once for each change of a lock file, and found afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use agentwire_test_support::{cargo, packages, process};
use anyhow::Result;

use crate::rivals::RIVALS;

/// The paths of both sides of the pairs.
pub(crate) struct Peers {
    agentwire: PathBuf,
    /// The example client that answers a server's requests, if it is built.
    answering: PathBuf,
    node: PathBuf,
    python: PathBuf,
    /// `tests/interop`, with our programs on the PyPI SDKs.
    sources: PathBuf,
    /// `tests/interop/.peers`, with the folders `npm`, `agents`, `pypi` and `pypi-1`.
    installed: PathBuf,
}

/// Makes the command line of a program of ours on an SDK, of its name and its arguments.
pub(super) type OnSdk = fn(&Peers, &str, &[&str]) -> Vec<String>;

/// Installs what is missing or out of date. `agentwire` is our side.
pub(crate) fn install(root: &Path, agentwire: PathBuf) -> Result<Peers> {
    install_these(root, agentwire, &["npm", "agents"], &["pypi", "pypi-1"])
}

/// Installs only the Node that runs our model, with the packages beside it.
pub(crate) fn install_npm(root: &Path, agentwire: PathBuf) -> Result<Peers> {
    install_these(root, agentwire, &["npm"], &[])
}

/// Prints the clients of `tests/replicas` on other SDKs, each as the JSON of its command line and mode.
pub(crate) fn print_replica_clients(root: &Path) -> Result<()> {
    let peers = install_these(root, PathBuf::new(), &["npm"], &["pypi"])?;
    let rivals = root.join(RIVALS);
    cargo::build(&rivals, &["--package", "rival-client-steps", "--bin", "mcp_rival_replicas"])?;
    let rmcp = cargo::target(&rivals)?.join("debug/mcp_rival_replicas").display().to_string();
    let programs = [
        (peers.npm("replicas.mjs", &[]), &["legacy", "auto"][..]),
        (peers.pypi("replicas.py", &[]), &["legacy", "auto"]),
        (vec![rmcp], &["legacy"]),
    ];
    for (program, modes) in programs {
        for mode in modes {
            println!("{}", serde_json::json!([&program[..], &[(*mode).to_owned()]].concat()));
        }
    }
    Ok(())
}

fn install_these(root: &Path, agentwire: PathBuf, npm: &[&str], pypi: &[&str]) -> Result<Peers> {
    let sources = root.join("tests/interop");
    let installed = sources.join(".peers");
    fs::create_dir_all(&installed)?;
    let python = process::output(Command::new("python3").args(["-c", "import sys; print(sys.executable)"]))?;
    let python = python.trim();
    for folder in npm {
        packages::npm(&sources.join(folder), &installed.join(folder))?;
    }
    for folder in pypi {
        packages::pip(&sources.join(folder), &installed.join(folder), python)?;
    }
    // Some peers need a newer Node than the machine may have. Where npm has none for the platform, those pairs fail.
    let node = packages::node(&installed.join("npm"), 0)?;
    let answering = cargo::target(root)?.join("debug/examples/answering");
    Ok(Peers { agentwire, answering, node, python: python.into(), sources, installed })
}

impl Peers {
    /// Our side, with these arguments.
    pub(crate) fn agentwire(&self, arguments: &[&str]) -> Vec<String> {
        command(&self.agentwire, [], arguments)
    }

    /// Our client that answers a server's requests, which `agentwire` does not.
    pub(super) fn answering(&self, arguments: &[&str]) -> Vec<String> {
        command(&self.answering, [], arguments)
    }

    /// A program of ours on the npm SDKs.
    pub(crate) fn npm(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        command(&self.node, [self.installed.join("npm").join(program)], arguments)
    }

    /// A program of an npm package, by its path in `node_modules`.
    pub(super) fn package(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        command(&self.node, [self.installed.join("npm/node_modules").join(program)], arguments)
    }

    /// A program of ours on the PyPI SDKs. The command sets its search path, because some hosts do not pass their
    /// environment on.
    pub(crate) fn pypi(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        self.python("pypi", program, arguments)
    }

    /// The same on the older SDKs, which have no modern protocol.
    pub(super) fn pypi_1(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        self.python("pypi-1", program, arguments)
    }

    fn python(&self, packages: &str, program: &str, arguments: &[&str]) -> Vec<String> {
        let path = format!("PYTHONPATH={}", self.installed.join(packages).display());
        let words = [path.into(), self.python.clone(), self.sources.join("pypi").join(program)];
        command(Path::new("env"), words, arguments)
    }

    /// MCP's official inspector.
    pub(super) fn inspector(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["--cli", "--format", "json", "--quiet"];
        all.extend(arguments);
        self.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js", &all)
    }

    /// A program in a terminal of its own.
    pub(super) fn in_terminal(&self, program: &[String]) -> Vec<String> {
        const RUN: &str = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
        let mut all = command(&self.python, ["-c".into(), RUN.into()], &[]);
        all.extend_from_slice(program);
        all
    }

    /// The folder of the npm packages of agents.
    pub(super) fn agents(&self) -> PathBuf {
        self.installed.join("agents/node_modules")
    }

    /// The program that runs JavaScript.
    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// The program that runs Python.
    pub(crate) fn python_path(&self) -> &Path {
        &self.python
    }

    /// The folder of all that is installed.
    pub(crate) fn installed(&self) -> &Path {
        &self.installed
    }

    /// `tests/interop`.
    pub(crate) fn sources(&self) -> &Path {
        &self.sources
    }

    /// `PATH=…` with our Node first, for programs that look for one.
    pub(crate) fn node_path(&self) -> String {
        let own = self.node.parent().unwrap_or(Path::new("")).display();
        format!("PATH={own}:{}", std::env::var("PATH").unwrap_or_default())
    }

    /// A program whose conversation with its host is written to a file.
    pub(super) fn recorded(&self, file: &Path, program: &[String]) -> Vec<String> {
        let words = ["record".into(), "--record".into(), file.to_owned(), "--".into()];
        let mut all = command(&self.agentwire, words, &[]);
        all.extend_from_slice(program);
        all
    }
}

/// A command as one line that a shell, or our own command line, splits into the same words.
pub(super) fn line(words: &[String]) -> String {
    let plain =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-=@:+".contains(c));
    let quoted =
        |word: &String| if plain(word) { word.clone() } else { format!("'{}'", word.replace('\'', r"'\''")) };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn command<const N: usize>(program: &Path, words: [PathBuf; N], arguments: &[&str]) -> Vec<String> {
    let mut all = vec![program.display().to_string()];
    all.extend(words.iter().map(|word| word.display().to_string()));
    all.extend(arguments.iter().map(ToString::to_string));
    all
}
