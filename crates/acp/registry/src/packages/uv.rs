//! Packages of PyPI, installed with uv.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::RegistryError;
use crate::packages::programs::{Run, SearchPath, is_executable};
use crate::plan::Plan;

/// Installs a package into a folder. Returns the path of its executable in the folder.
pub(crate) async fn install(
    plan: &Plan,
    path: &SearchPath,
    folder: &Path,
    limit: Duration,
) -> Result<PathBuf, RegistryError> {
    let invalid = |why: String| RegistryError::InvalidPackage { what: plan.source.clone(), why };
    let executable =
        plan.executable.as_deref().ok_or_else(|| invalid("its executable is not known".into()))?;
    if executable.contains(['/', '\\']) || executable.starts_with('.') {
        return Err(invalid(format!("`{executable}` is not the name of an executable")));
    }
    let (tools, bin) = (folder.join("tools"), folder.join("bin"));
    let mut args: Vec<OsString> =
        ["tool", "install", "--no-progress"].into_iter().map(OsString::from).collect();
    if !plan.allow_scripts {
        // Building a package runs its code. A Python that uv downloads is another program than the plan shows.
        args.extend(["--no-build".into(), "--no-python-downloads".into()]);
    }
    args.push(plan.source.clone().into());
    let env: [(&str, &OsStr); 2] = [("UV_TOOL_DIR", tools.as_os_str()), ("UV_TOOL_BIN_DIR", bin.as_os_str())];
    Run { path, name: "uv", args: &args, env: &env, folder, limit }.output().await?;
    let file = if cfg!(windows) { format!("{executable}.exe") } else { executable.to_owned() };
    let program = Path::new("bin").join(file);
    match is_executable(&folder.join(&program)) {
        true => Ok(program),
        false => Err(invalid(format!("uv installed it without an executable `{executable}`"))),
    }
}
