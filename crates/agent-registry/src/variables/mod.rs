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

/// The effect of a variable that an index sets for the agent of this id. None if a person need not check it: it is known to
/// be harmless, or its name is the agent's own and no row knows it.
///
/// Windows does not distinguish the case of names, and a proxy's is often in lower case.
pub(crate) fn effect(agent: &str, variable: &str) -> Option<Effect> {
    let name = variable.to_ascii_uppercase();
    let matches = |rows: Rows| rows.iter().any(|row| is_match(row, &name));
    if matches(HARMLESS) {
        return None;
    }
    let known = EFFECTS.iter().find(|(_, rows)| matches(rows)).map(|(effect, _)| *effect);
    known.or_else(|| (!is_own(agent, &name)).then_some(Effect::Unknown))
}

/// Whether a name begins with the agent's id, as in `OPENCODE_MODE`. An adapter, such as `claude-acp`, is set up as the agent
/// itself. The agent's name for people does not count: the id is the one that the person has typed.
fn is_own(agent: &str, name: &str) -> bool {
    let id = agent.to_ascii_uppercase().replace('-', "_");
    let begins_with =
        |id: &str| name.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
    begins_with(&id) || id.strip_suffix("_ACP").is_some_and(begins_with)
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
                 PYTEST_ADDOPTS HARNESS_PERL_SWITCHES TCL_LIBRARY GTK_EXE_PREFIX IPYTHONDIR P4EDITOR FCEDIT CLASSPATH VIMINIT",
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
                 AIDER_YES_ALWAYS AGENT_AUTO_CONFIRM",
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
                "MODE MODEL VERBOSE CLAUDE_MODE AGENTMODE GOOGLE_CLOUD_PROJECT MAKERSUITE DROID_LOCATION LOSSLESS_MODE",
            ),
            (
                None,
                "AGENT_MODE AGENT NODE_ENV PYTHONUNBUFFERED RUST_LOG GIT_TERMINAL_PROMPT ACP LOG_LEVEL OTHER_LOG_LEVEL LANG LC_ALL TZ \
                 TERM COLORTERM NO_COLOR FORCE_COLOR AGENT_SRC AUGMENT_DISABLE_AUTO_UPDATE DROID_DISABLE_AUTO_UPDATE VT_ACP_ENABLED",
            ),
        ];
        for (wanted, names) in rows {
            for name in names.split_whitespace() {
                assert_eq!(effect("agent", name), wanted, "{name}");
            }
        }
    }

    #[test]
    fn own_name_is_not_marked_unless_a_row_knows_it() {
        for (agent, name) in [
            ("opencode", "OPENCODE_MODE"),
            ("factory-droid", "FACTORY_DROID_AUTO_UPDATE_ENABLED"),
            ("claude-acp", "CLAUDE_MODE"),
            ("claude-acp", "claude_acp_mode"),
        ] {
            assert_eq!(effect(agent, name), None, "{name}");
            assert_eq!(effect("other", name), Some(Effect::Unknown), "{name}");
        }
        assert_eq!(effect("acp", "CLAUDE_MODE"), Some(Effect::Unknown));
        assert_eq!(effect("claude-acp", "CLAUDETTE_MODE"), Some(Effect::Unknown));
        assert_eq!(effect("opencode", "OPENCODE_PERMISSION"), Some(Effect::Permission));
        assert_eq!(effect("anthropic", "ANTHROPIC_BASE_URL"), Some(Effect::Service));
        // An index chooses its ids: that of another program exempts none of the program's variables that a row knows.
        assert_eq!(effect("ccache", "CCACHE_PREFIX"), Some(Effect::Code));
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
