//! The variables that an index may not set for an agent, and those that a plan marks, as tables.
//!
//! A plan shows a person the program that runs. A variable that makes the program run other code, trust other certificates or talk to
//! other machines would make that untrue.

use std::fmt;

/// The effect of a variable on the programs that see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// They run other code than their own.
    Code,
    /// They trust other certificates, or write down their keys.
    Trust,
    /// They talk through another machine.
    Traffic,
    /// They talk to another service. Some agents are made for one, so this is shown and not refused.
    Service,
}

impl Effect {
    /// Whether an index may set such a variable.
    pub(crate) fn is_refused(self) -> bool {
        self != Self::Service
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Code => "can load other code",
            Self::Trust => "changes which certificates are trusted",
            Self::Traffic => "changes where the traffic goes",
            Self::Service => "changes the service that gets the requests and the keys",
        })
    }
}

/// A row of the table: names in capitals. A `*` at the start or the end stands for anything.
type Rows = &'static [&'static str];

/// Variables that fall under a row of [`EFFECTS`], and change nothing of that kind.
const HARMLESS: Rows = &[
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_TERMINAL_PROMPT",
    "JAVA_VERSION",
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONFAULTHANDLER",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "UV_NO_PROGRESS",
];

/// The first row that matches gives the effect.
const EFFECTS: &[(Effect, Rows)] = &[
    (
        Effect::Trust,
        &[
            "*_CA_BUNDLE",
            "*_CA_CERT",
            "*_CA_CERTS",
            "*_CA_FILE",
            "*_CA_PATH",
            "*_CA_STORE",
            "*_CERT",
            "*_CERTS",
            "*_REJECT_UNAUTHORIZED",
            "*_SKIP_VERIFY",
            "*_SSL_VERIFY",
            "*_TLS_VERIFY",
            "*INSECURE*",
            "GIT_SSL_*",
            "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
            "PYTHONHTTPSVERIFY",
            "SSLKEYLOGFILE",
            "SSL_CERT_*",
        ],
    ),
    (
        Effect::Traffic,
        &[
            "*_PROXY",
            "*_PROXY_URL",
            "DOCKER_HOST",
            "GOPROXY",
            "HOSTALIASES",
            "LOCALDOMAIN",
            "RES_OPTIONS",
            "RESOLV_*",
        ],
    ),
    (
        Effect::Code,
        &[
            // The system: loaders, shells, folders of settings, and the programs that others start.
            "*_ASKPASS",
            "*_EDITOR",
            "*_PAGER",
            "APPDATA",
            "BASHOPTS",
            "BASH_*",
            "BROWSER",
            "COMSPEC",
            "DYLD_*",
            "EDITOR",
            "ENV",
            "EXINIT",
            "GCONV_PATH",
            "GIO_*",
            "GLIBC_TUNABLES",
            "GTK_MODULES",
            "GTK_PATH",
            "HOME",
            "HOMEPATH",
            "IFS",
            "LD_*",
            "LESSCLOSE",
            "LESSOPEN",
            "LOCALAPPDATA",
            "LOCPATH",
            "MANPAGER",
            "NLSPATH",
            "OPENSSL_*",
            "PAGER",
            "PATH",
            "PATHEXT",
            "PROGRAMDATA",
            "PROGRAMFILES*",
            "PROMPT_COMMAND",
            "PS4",
            "PSMODULEPATH",
            "QML*",
            "QT_*",
            "SHELL",
            "SHELLOPTS",
            "SSH_*",
            "SYSTEMROOT",
            "TERMINFO*",
            "USERPROFILE",
            "VIMINIT",
            "VISUAL",
            "WINDIR",
            "XDG_*",
            "ZDOTDIR",
            // Languages and their package managers.
            "BUNDLE_*",
            "BUN_*",
            "CARGO_*",
            "CC",
            "CGO_*",
            "CLASSPATH",
            "COMPLUS_*",
            "CONDA_*",
            "CORECLR_*",
            "COR_*",
            "CXX",
            "DENO_*",
            "DOTNET_*",
            "ELECTRON_*",
            "ELIXIR_*",
            "ERL_*",
            "GEM_*",
            "GOENV",
            "GOFLAGS",
            "GOTOOLCHAIN",
            "GRADLE_*",
            "JAVA_*",
            "JDK_JAVA_OPTIONS",
            "JULIA_*",
            "JVM_*",
            "LUA_*",
            "MAKEFLAGS",
            "GNUMAKEFLAGS",
            "MAVEN_*",
            "NODE_*",
            "NPM_*",
            "PERL*",
            "PHPRC",
            "PHP_*",
            "PIPX_*",
            "PIP_*",
            "PNPM_*",
            "PYTHON*",
            "RBENV_*",
            "RUBY*",
            "RUSTC*",
            "RUSTDOC*",
            "RUSTFLAGS",
            "RUSTUP_*",
            "R_*",
            "TCLLIBPATH",
            "UV_*",
            "VIRTUAL_ENV",
            "YARN_*",
            "_JAVA_OPTIONS",
            // Programs whose settings name programs to run.
            "AWS_CONFIG_FILE",
            "AWS_SHARED_CREDENTIALS_FILE",
            "DOCKER_CONFIG",
            "GIT_*",
            "KUBECONFIG",
            "RIPGREP_CONFIG_PATH",
            "RSYNC_*",
            "TAR_OPTIONS",
        ],
    ),
    (
        Effect::Service,
        &[
            "*_API",
            "*_API_BASE",
            "*_BASE",
            "*_ENDPOINT",
            "*_ENDPOINTS",
            "*_GATEWAY",
            "*_HOST",
            "*_HOSTS",
            "*_REGISTRY",
            "*_SERVER",
            "*_SERVERS",
            "*_URI",
            "*_URL",
            "*_URLS",
        ],
    ),
];

/// The effect of a variable. Windows does not distinguish the case of names, and a proxy's is often in lower case.
pub(crate) fn effect(variable: &str) -> Option<Effect> {
    let name = variable.to_ascii_uppercase();
    let matches = |rows: Rows| rows.iter().any(|row| is_match(row, &name));
    if matches(HARMLESS) {
        return None;
    }
    EFFECTS.iter().find(|(_, rows)| matches(rows)).map(|(effect, _)| *effect)
}

fn is_match(row: &str, name: &str) -> bool {
    match (row.strip_prefix('*'), row.strip_suffix('*')) {
        (Some(_), Some(_)) => name.contains(row.trim_matches('*')),
        (Some(end), None) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == row,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_the_effect_of_their_row() {
        let rows = [
            (
                Some(Effect::Code),
                "LD_PRELOAD node_options npm_config_registry PERL5OPT JAVA_TOOL_OPTIONS GIT_SSH_COMMAND RUBYOPT PYTHONWARNINGS \
                 BASH_ENV GIT_CONFIG_COUNT DOTNET_STARTUP_HOOKS LUA_INIT_5_4 RUSTC_WRAPPER Path EDITOR GIT_ASKPASS",
            ),
            (
                Some(Effect::Trust),
                "SSL_CERT_FILE NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE GIT_SSL_NO_VERIFY \
                 SSLKEYLOGFILE PIP_CERT",
            ),
            (
                Some(Effect::Traffic),
                "HTTPS_PROXY https_proxy ALL_PROXY NO_PROXY npm_config_https_proxy HOSTALIASES",
            ),
            (
                Some(Effect::Service),
                "ANTHROPIC_BASE_URL OPENAI_API_BASE OLLAMA_HOST AWS_ENDPOINT_URL AGENT_URL",
            ),
            (
                None,
                "OPENCODE_MODE NODE_ENV PYTHONUNBUFFERED RUST_LOG GIT_TERMINAL_PROMPT ACP LOG_LEVEL LANG TZ",
            ),
        ];
        for (wanted, names) in rows {
            for name in names.split_whitespace() {
                assert_eq!(effect(name), wanted, "{name}");
            }
        }
    }

    #[test]
    fn no_row_repeats_another_one() {
        let mut rows: Vec<&str> = EFFECTS.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let count = rows.len();
        rows.sort_unstable();
        rows.dedup();
        assert_eq!(rows.len(), count);
        assert!(rows.iter().all(|row| *row == row.to_ascii_uppercase()));
    }
}
