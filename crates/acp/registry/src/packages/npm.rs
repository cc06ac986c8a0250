//! Packages of npm.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_jsonrpc::{RawJson, read};
use serde::Deserialize;

use crate::digest::Digest;
use crate::error::RegistryError;
use crate::executable::check_executable;
use crate::files::read_text;
use crate::packages::name::split;
use crate::packages::programs::{Run, SearchPath};
use crate::plan::Plan;

/// How long npm may take to describe a package.
const VIEW_TIMEOUT: Duration = Duration::from_secs(60);
/// How many bytes npm's lock file may have.
const MAX_LOCK: u64 = 64 << 20;

/// The description of a package by npm.
#[derive(Deserialize)]
struct View {
    version: String,
    #[serde(default)]
    bin: Option<RawJson>,
    #[serde(default, rename = "dist.integrity")]
    integrity: Option<String>,
}

/// Asks npm for the executable and the digest of a package. This reads, and runs nothing of the package.
pub(crate) async fn resolve(plan: &mut Plan, path: &SearchPath, folder: &Path) -> Result<(), RegistryError> {
    let source = plan.source.clone();
    let words = ["view", &source, "version", "bin", "dist.integrity", "--json"];
    let args: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let output =
        Run { path, name: "npm", args: &args, env: &[], folder, limit: VIEW_TIMEOUT }.output().await?;
    let invalid = |why: String| RegistryError::InvalidPackage { what: source.clone(), why };
    if output.trim().is_empty() {
        return Err(invalid("npm's registry has no such version".into()));
    }
    let view: View =
        read(&output).map_err(|error| invalid(format!("npm describes it in another form: {error}")))?;
    let (name, version) = split(&source);
    if version != Some(&*view.version) {
        return Err(invalid(format!("npm has version `{}` instead", view.version)));
    }
    let executables = executables(name, view.bin.as_ref());
    let executable = choose(name, &executables, plan.executable.as_deref()).map_err(invalid)?;
    check_executable(&executable).map_err(invalid)?;
    plan.executable = Some(executable);
    plan.digest =
        view.integrity.as_deref().and_then(Digest::from_integrity).map(|digest| digest.as_str().to_owned());
    Ok(())
}

/// The names of a package's executables. If the package gives only a path, the executable has the name of the package.
fn executables(name: &str, bin: Option<&RawJson>) -> Vec<String> {
    let Some(bin) = bin else { return Vec::new() };
    match bin.decode::<BTreeMap<String, String>>() {
        Ok(all) => all.into_keys().take(1000).collect(),
        Err(_) => vec![unscoped(name).to_owned()],
    }
}

fn unscoped(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// The executable that npx would run: the wanted one, the only one, or that of the package's name.
fn choose(name: &str, executables: &[String], wanted: Option<&str>) -> Result<String, String> {
    let is_file_name =
        |name: &str| !name.starts_with('.') && !name.contains(['/', '\\', '\0']) && name.len() <= 200;
    let executable = match (wanted, executables) {
        (Some(wanted), _) => wanted,
        (None, [only]) => only,
        (None, _) => unscoped(name),
    };
    match executables.iter().any(|known| known == executable) && is_file_name(executable) {
        true => Ok(executable.to_owned()),
        false => {
            let known = executables.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
            Err(format!("the package has no executable `{executable}`, but: {known}"))
        }
    }
}

/// Installs a package into a folder. Returns the path of its executable in the folder, and the digest of what came.
pub(crate) async fn install(
    plan: &Plan,
    path: &SearchPath,
    folder: &Path,
    limit: Duration,
) -> Result<(PathBuf, Option<Digest>), RegistryError> {
    let invalid = |why: String| RegistryError::InvalidPackage { what: plan.source.clone(), why };
    let executable =
        plan.executable.as_deref().ok_or_else(|| invalid("its executable is not known".into()))?;
    // Without one, npm would look for a project in the folders above.
    let manifest = folder.join("package.json");
    fs::write(&manifest, "{\"private\":true}\n").map_err(RegistryError::file(&manifest))?;
    let scripts = format!("--ignore-scripts={}", !plan.allow_scripts);
    let words = [
        "install",
        "--global=false",
        "--save-exact",
        "--no-audit",
        "--no-fund",
        "--no-progress",
        "--omit=dev",
        "--bin-links=true",
        "--install-strategy=hoisted",
        "--package-lock=true",
        &scripts,
        "--loglevel=error",
        "--prefix",
    ];
    let mut args: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    args.push(folder.into());
    args.push(plan.source.clone().into());
    Run { path, name: "npm", args: &args, env: &[], folder, limit }.output().await?;

    let (name, _) = split(&plan.source);
    let file = if cfg!(windows) { format!("{executable}.cmd") } else { executable.to_owned() };
    let link = Path::new("node_modules").join(".bin").join(file);
    // A dependency may have an executable of the same name.
    let package = folder.join("node_modules").join(name).canonicalize();
    let target = folder.join(&link).canonicalize();
    let is_own = match (&package, &target) {
        (Ok(package), Ok(target)) => cfg!(windows) || target.starts_with(package),
        _ => false,
    };
    if !is_own {
        return Err(invalid(format!("npm installed it without its executable `{executable}`")));
    }
    Ok((link, installed_digest(name, folder)))
}

/// The digest that npm has checked, from its lock file. `None` if the file has no digest.
fn installed_digest(name: &str, folder: &Path) -> Option<Digest> {
    #[derive(Deserialize)]
    struct Lock {
        packages: BTreeMap<String, Locked>,
    }
    #[derive(Deserialize)]
    struct Locked {
        #[serde(default)]
        integrity: Option<String>,
    }
    let text = read_text(&folder.join("package-lock.json"), MAX_LOCK).ok()?;
    let lock: Lock = read(&text).ok()?;
    lock.packages.get(&format!("node_modules/{name}"))?.integrity.as_deref().and_then(Digest::from_integrity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_the_one_that_npx_would_run() {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(choose("@a/b", &all(&["x"]), None).as_deref(), Ok("x"));
        assert_eq!(choose("@a/b", &all(&["x", "b"]), None).as_deref(), Ok("b"));
        assert_eq!(choose("@a/b", &all(&["x", "y"]), Some("y")).as_deref(), Ok("y"));
        assert_eq!(
            choose("@a/b", &all(&["x", "y"]), None),
            Err("the package has no executable `b`, but: x, y".into())
        );
        assert!(choose("b", &all(&["../x"]), None).is_err() && choose("b", &[], None).is_err());
        assert_eq!(executables("@a/b", Some(&RawJson::parse("\"cli.js\"".into()).unwrap())), ["b"]);
    }
}
