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
    /// They talk to another service. Some agents are made for one, so this is shown and not refused.
    Service,
    /// They may read other settings. The name alone does not say which, so this is shown and not refused.
    Settings,
}

impl Effect {
    /// Returns whether an index may not set such a variable.
    pub(crate) fn is_refused(self) -> bool {
        !matches!(self, Self::Service | Self::Settings)
    }

    /// The effect in words that follow the variable's name.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Code => "can load other code",
            Self::Trust => "changes which certificates are trusted",
            Self::Traffic => "changes where the traffic goes",
            Self::Permission => "changes what the agent may do without a question",
            Self::Service => "changes the service that gets the requests and the keys",
            Self::Settings => "can change the settings, and with them what runs",
        }
    }
}

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
                 BASH_ENV GIT_CONFIG_COUNT DOTNET_STARTUP_HOOKS LUA_INIT_5_4 RUSTC_WRAPPER Path EDITOR GIT_ASKPASS SVN_SSH CVS_RSH HGRCPATH \
                 CLOUDSDK_PYTHON KUBECTL_EXTERNAL_DIFF FZF_DEFAULT_COMMAND CLAUDE_CODE_SHELL GDK_PIXBUF_MODULE_FILE \
                 GST_PLUGIN_PATH GUILE_LOAD_PATH OCAMLPATH ANT_OPTS CATALINA_OPTS HELM_PLUGINS CURL_HOME WGETRC \
                 CLAUDE_CODE_SHELL_PREFIX CLAUDE_ENV_FILE OTHER_OPTS OTHER_SSH OTHER_MODULE_FILE _JAVA_OPTIONS JDK_JAVA_OPTIONS",
            ),
            (
                Some(Effect::Trust),
                "SSL_CERT_FILE NODE_TLS_REJECT_UNAUTHORIZED NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE GIT_SSL_NO_VERIFY \
                 SSLKEYLOGFILE PIP_CERT NIX_SSL_CERT_FILE PGSSLROOTCERT PGSSLMODE GOSUMDB GONOSUMDB OTHER_CAFILE",
            ),
            (
                Some(Effect::Traffic),
                "HTTPS_PROXY https_proxy ALL_PROXY NO_PROXY npm_config_https_proxy HOSTALIASES",
            ),
            (
                Some(Effect::Permission),
                "OPENCODE_PERMISSION OPENCODE_CONFIG_CONTENT OPENCODE_CONFIG GEMINI_SANDBOX GOOSE_MODE OTHER_YOLO_MODE",
            ),
            (
                Some(Effect::Settings),
                "CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_SYSTEM_SETTINGS_PATH SCREENRC OTHER_PLUGINS OTHER_PATH \
                 OTHER_COMMAND OTHER_HOOKS",
            ),
            (
                Some(Effect::Service),
                "ANTHROPIC_BASE_URL OPENAI_API_BASE OLLAMA_HOST AWS_ENDPOINT_URL AGENT_URL",
            ),
            (
                None,
                "OPENCODE_MODE NODE_ENV PYTHONUNBUFFERED RUST_LOG GIT_TERMINAL_PROMPT ACP LOG_LEVEL LANG TZ AGENT_SRC \
                 AUGMENT_DISABLE_AUTO_UPDATE FACTORY_DROID_AUTO_UPDATE_ENABLED VT_ACP_ENABLED API_KEY MODEL",
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
