//! Tables of the variables that an index may not set for an agent, and of those that a plan marks.
//!
//! A plan shows a person the program that runs. A variable that makes the program run other code, trust other
//! certificates or talk to other machines would make that untrue.

mod table;

use self::table::{EFFECTS, HARMLESS, Rows};

/// The effect of a variable on the programs that see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// They run other code than their own.
    Code,
    /// They trust other certificates, or write down their keys.
    Trust,
    /// They talk through another machine.
    Traffic,
    /// They ask for less permission, or leave their sandbox.
    Permission,
    /// They talk to another service, or to the account of another key. Some agents are made for one, so this is shown and
    /// not refused.
    Service,
    /// They may read other settings. The name alone does not say which, so this is shown and not refused.
    Settings,
    /// No row knows the variable. No table can be complete, so this is shown too.
    Unknown,
}

impl Effect {
    /// Returns whether an index may not set such a variable.
    pub(crate) fn is_refused(self) -> bool {
        !matches!(self, Self::Service | Self::Settings | Self::Unknown)
    }

    /// The effect in words that follow the variable's name.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Code => "can load other code",
            Self::Trust => "changes which certificates are trusted",
            Self::Traffic => "changes where the traffic goes",
            Self::Permission => "changes what the agent may do without a question",
            Self::Service => "changes the service or the account that gets the requests and the keys",
            Self::Settings => "can change the settings, and with them what runs",
            Self::Unknown => "has an unknown effect",
        }
    }
}

/// The effect of a variable. None if it is known to be harmless. The agent's own variables are no exception: some turn its
/// questions off.
///
/// Windows does not distinguish the case of names, and a proxy's is often in lower case.
pub(crate) fn effect(variable: &str) -> Option<Effect> {
    let name = variable.to_ascii_uppercase();
    let matches = |rows: Rows| rows.iter().any(|row| is_match(row, &name));
    if matches(HARMLESS) {
        return None;
    }
    let known = EFFECTS.iter().find(|(_, rows)| matches(rows)).map(|(effect, _)| *effect);
    Some(known.unwrap_or(Effect::Unknown))
}

fn is_match(row: &str, name: &str) -> bool {
    let is_word = |rest: &str| !rest.contains('_');
    match (row.split_at(1), row.split_at(row.len() - 1)) {
        (("*", _), (_, "*")) => name.contains(row.trim_matches('*')),
        (("*", end), _) => name.ends_with(end),
        (_, (start, "*")) => name.starts_with(start),
        (("+", end), _) => name.strip_suffix(end).is_some_and(is_word),
        (_, (start, "+")) => name.strip_prefix(start).is_some_and(is_word),
        _ => name == row,
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
                 BASH_ENV GIT_CONFIG_COUNT DOTNET_STARTUP_HOOKS LUA_INIT_5_4 RUSTC_WRAPPER Path EDITOR GIT_ASKPASS SVN_SSH CVS_RSH HGRCPATH \
                 CLOUDSDK_PYTHON KUBECTL_EXTERNAL_DIFF FZF_DEFAULT_COMMAND CLAUDE_CODE_SHELL GDK_PIXBUF_MODULE_FILE \
                 GST_PLUGIN_PATH GUILE_LOAD_PATH OCAMLPATH ANT_OPTS CATALINA_OPTS HELM_PLUGINS CURL_HOME WGETRC \
                 CLAUDE_CODE_SHELL_PREFIX CLAUDE_ENV_FILE OTHER_OPTS OTHER_SSH OTHER_MODULE_FILE _JAVA_OPTIONS JDK_JAVA_OPTIONS \
                 GOCACHEPROG GOAUTH CFLAGS CXXFLAGS LDFLAGS CCACHE_PREFIX DBUS_SESSION_BUS_ADDRESS AR LD AS CPP MAKEFILES MAKEFLAGS \
                 PYTEST_ADDOPTS HARNESS_PERL_SWITCHES TCL_LIBRARY GTK_EXE_PREFIX IPYTHONDIR P4EDITOR FCEDIT CLASSPATH VIMINIT \
                 CLAUDE_CODE_EXECUTABLE CODEX_PATH OPENCODE_BIN_PATH GH_BROWSER CC_x86_64_unknown_linux_gnu COREPACK_NPM_REGISTRY",
            ),
            (
                Some(Effect::Trust),
                "SSL_CERT_FILE NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE GIT_SSL_NO_VERIFY \
                 SSLKEYLOGFILE PIP_CERT NIX_SSL_CERT_FILE PGSSLROOTCERT PGSSLMODE GOSUMDB GONOSUMDB OTHER_CAFILE \
                 GODEBUG AGENT_STRICT_SSL npm_config_strict_ssl SSL_VERIFY PYTHONHTTPSVERIFY_CERTIFICATES DOCKER_TLS_VERIFY",
            ),
            (
                Some(Effect::Traffic),
                "HTTPS_PROXY https_proxy ALL_PROXY NO_PROXY npm_config_https_proxy HOSTALIASES PROXY HTTPPROXY GOPROXY",
            ),
            (
                Some(Effect::Permission),
                "OPENCODE_PERMISSION OPENCODE_CONFIG_CONTENT OPENCODE_CONFIG GEMINI_SANDBOX GOOSE_MODE OTHER_YOLO_MODE \
                 AIDER_YES_ALWAYS AGENT_AUTO_CONFIRM COPILOT_ALLOW_ALL GEMINI_CLI_TRUST_WORKSPACE",
            ),
            (
                Some(Effect::Settings),
                "CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_SYSTEM_SETTINGS_PATH SCREENRC OTHER_PLUGINS OTHER_PATH \
                 OTHER_COMMAND OTHER_HOOKS FEATURE_FLAGS",
            ),
            (
                Some(Effect::Service),
                "ANTHROPIC_BASE_URL OPENAI_API_BASE OLLAMA_HOST AWS_ENDPOINT_URL AGENT_URL OPENAI_BASEURL VAULT_ADDR \
                 CONSUL_HTTP_ADDR PGHOST API_KEY GITHUB_TOKEN",
            ),
            (
                Some(Effect::Unknown),
                "MODE MODEL VERBOSE OPENCODE_MODE AGENT_SRC GOOGLE_CLOUD_PROJECT MAKERSUITE DROID_LOCATION LOSSLESS_MODE \
                 GOOSE_PATH_ROOT GOOSE_PROVIDER CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_DISABLE_COMMAND_INJECTION_CHECK \
                 GEMINI_SYSTEM_MD",
            ),
            (
                None,
                "NODE_ENV PYTHONUNBUFFERED RUST_LOG GIT_TERMINAL_PROMPT ACP LOG_LEVEL OTHER_LOG_LEVEL LANG LC_ALL TZ \
                 TERM COLORTERM NO_COLOR FORCE_COLOR AUGMENT_DISABLE_AUTO_UPDATE FACTORY_DROID_AUTO_UPDATE_ENABLED VT_ACP_ENABLED",
            ),
        ];
        for (wanted, names) in rows {
            for name in names.split_whitespace() {
                assert_eq!(effect(name), wanted, "{name}");
            }
        }
    }

    #[test]
    fn no_row_is_covered_by_another_of_its_effect_or_before_it() {
        let groups = std::iter::once(HARMLESS).chain(EFFECTS.iter().map(|(_, rows)| *rows));
        let mut known: Vec<&str> = Vec::new();
        for rows in groups {
            known.extend(rows);
            for row in rows {
                let name = row.replace('*', "X_X").replace('+', "X");
                let matching: Vec<_> = known.iter().filter(|known| is_match(known, &name)).collect();
                assert_eq!(matching, [row]);
                assert_eq!(*row, row.to_ascii_uppercase());
            }
        }
    }
}
