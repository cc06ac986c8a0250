//! `check` with few open files.

use std::process::{Command, Stdio};

#[test]
fn check_with_too_few_open_files_names_the_limit() {
    let ours = env!("CARGO_BIN_EXE_agentwire");
    for limit in [24, 28, 32, 40, 256] {
        let line = format!("ulimit -n {limit}; exec '{ours}' check mcp-server --only mcp/RPC-06 -- false");
        let ended = Command::new("sh").arg("-c").arg(line).stdin(Stdio::null()).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&ended.stderr);
        let is_named = stderr.contains(&format!("; the limit of open files is {limit} (`ulimit -n`)"));
        assert_eq!(is_named, limit < 256, "{limit}: {stderr}");
    }
}
