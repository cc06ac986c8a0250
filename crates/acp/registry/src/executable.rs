//! Programs that are never agents.

/// Package managers and shells. An agent with such a name would run the program that its arguments name.
const NO_AGENTS: &[&str] = &[
    "npm",
    "npx",
    "pnpm",
    "pnpx",
    "yarn",
    "bun",
    "bunx",
    "uv",
    "uvx",
    "pip",
    "pipx",
    "node",
    "deno",
    "python",
    "perl",
    "ruby",
    "php",
    "sh",
    "bash",
    "dash",
    "ksh",
    "fish",
    "zsh",
    "busybox",
    "cmd",
    "powershell",
    "pwsh",
    "env",
];

/// Refuses package managers, interpreters and shells.
pub(crate) fn check_executable(executable: &str) -> Result<(), String> {
    let name = executable.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let stem =
        ["exe", "cmd", "bat", "ps1", "js"].iter().find_map(|end| name.strip_suffix(&format!(".{end}")));
    // `python3.12` and `node22` are no other programs.
    let stem = stem.unwrap_or(&name).trim_end_matches(|end: char| end.is_ascii_digit() || end == '.');
    match NO_AGENTS.contains(&stem) {
        true => Err(format!("`{executable}` is not an agent: it would run what its arguments name")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_managers_are_no_agents() {
        for bad in [
            "npm",
            "npx",
            "uvx",
            "NPX.cmd",
            "./bin/uv",
            "a\\node.exe",
            "sh",
            "python3",
            "python3.12",
            "node22",
        ] {
            assert!(check_executable(bad).is_err(), "{bad}");
        }
        for good in ["claude-agent-acp", "./dist/opencode", "npm-agent", "goose.exe", "agent-7"] {
            assert!(check_executable(good).is_ok(), "{good}");
        }
    }
}
