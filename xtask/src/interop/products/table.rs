//! The agents, and what each of them does.

use super::{Model, Product, Session};

/// "Authentication required."
const AUTH_REQUIRED: i64 = -32000;

const PRODUCT: Product =
    Product { name: "", command: &[], environment: &[], session: Session::Opens, model: None };

const MODEL: Model = Model {
    arguments: &[],
    environment: &[],
    settings: &[],
    write: "",
    asks: true,
    through_client: false,
    before: None,
};

pub(super) const CLAUDE: Product = Product {
    name: "@agentclientprotocol/claude-agent-acp",
    command: &["{node}", "{agents}/@agentclientprotocol/claude-agent-acp/dist/index.js"],
    environment: &[
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
        "DISABLE_AUTOUPDATER=1",
        "DISABLE_TELEMETRY=1",
        // Without this it opens no session for root, the usual user of containers.
        "IS_SANDBOX=1",
    ],
    session: Session::Opens,
    model: Some(Model {
        environment: &["ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL={url}"],
        write: r#"Write {"file_path": "{project}/note.txt", "content": "hello from the model"}"#,
        ..MODEL
    }),
};

pub(super) const CODEX: Product = Product {
    name: "@agentclientprotocol/codex-acp",
    command: &["{node}", "{agents}/@agentclientprotocol/codex-acp/dist/index.js"],
    // In its default mode another model decides whether a command may run.
    environment: &["INITIAL_AGENT_MODE=workspace-write"],
    session: Session::Refused { code: AUTH_REQUIRED, methods: &["api-key", "chat-gpt"] },
    model: Some(Model {
        settings: &[(
            ".codex/config.toml",
            r#"
            model = "loopback"
            model_provider = "loopback"
            check_for_update_on_startup = false
            [analytics]
            enabled = false
            [features]
            apps = false
            plugins = false
            [model_providers.loopback]
            name = "Loopback"
            base_url = "{url}/v1"
            wire_api = "responses"
            "#,
        )],
        // It has no tool that writes, only a shell in a sandbox. It asks the client before it leaves the sandbox.
        write: r#"exec_command {
            "cmd": "echo hello from the model > note.txt",
            "sandbox_permissions": "require_escalated",
            "justification": "to write a note"
        }"#,
        ..MODEL
    }),
};

/// The program for this system, since its npm wrapper needs an install script.
pub(super) const OPENCODE: Product = Product {
    name: "OpenCode",
    command: &["{agents}/opencode-{system}/bin/opencode", "acp"],
    environment: &[
        "OPENCODE_DISABLE_AUTOUPDATE=1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS=1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
        "OPENCODE_DISABLE_MODELS_FETCH=1",
    ],
    session: Session::Opens,
    model: Some(Model {
        settings: &[(
            ".config/opencode/opencode.json",
            r#"{
                "autoupdate": false,
                "share": "disabled",
                "permission": { "edit": "ask" },
                "model": "loopback/loopback",
                "provider": { "loopback": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "Loopback",
                    "options": { "baseURL": "{url}/v1", "apiKey": "none" },
                    "models": { "loopback": { "name": "Loopback" } }
                } }
            }"#,
        )],
        write: r#"write {"filePath": "{project}/note.txt", "content": "hello from the model"}"#,
        through_client: true,
        ..MODEL
    }),
};

pub(super) const QWEN: Product = Product {
    name: "qwen-code",
    command: &["{node}", "{agents}/@qwen-code/qwen-code/cli-entry.js", "--acp"],
    session: Session::Refused { code: AUTH_REQUIRED, methods: &["openai"] },
    model: Some(Model {
        arguments: &["--auth-type=openai"],
        environment: &["OPENAI_API_KEY=none", "OPENAI_BASE_URL={url}/v1", "OPENAI_MODEL=loopback"],
        settings: &[(
            ".qwen/settings.json",
            r#"{
                "general": { "enableAutoUpdate": false },
                "memory": { "enableManagedAutoMemory": false },
                "privacy": { "usageStatisticsEnabled": false },
                "tools": { "approvalMode": "default" }
            }"#,
        )],
        write: r#"write_file {"file_path": "{project}/note.txt", "content": "hello from the model"}"#,
        through_client: true,
        ..MODEL
    }),
    ..PRODUCT
};

pub(super) const GEMINI: Product = Product {
    name: "gemini-cli",
    command: &["{node}", "{agents}/@google/gemini-cli/bundle/gemini.js", "--acp"],
    session: Session::Refused {
        code: AUTH_REQUIRED,
        methods: &["oauth-personal", "gemini-api-key", "vertex-ai", "gateway"],
    },
    model: Some(Model {
        environment: &["GEMINI_API_KEY=none", "GOOGLE_GEMINI_BASE_URL={url}"],
        settings: &[(
            ".gemini/settings.json",
            // Without a fixed model it asks another model which one to use.
            r#"{
                "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
                "model": { "name": "gemini-2.5-pro" },
                "privacy": { "usageStatisticsEnabled": false },
                "security": { "auth": { "selectedType": "gemini-api-key" } }
            }"#,
        )],
        write: r#"write_file {"file_path": "{project}/note.txt", "content": "hello from the model"}"#,
        through_client: true,
        // It does not handle the error of a missing file, so it cannot create a file through a client.
        before: Some("words of before"),
        ..MODEL
    }),
    ..PRODUCT
};

pub(super) const PI: Product = Product {
    name: "pi-acp",
    command: &["{node}", "{agents}/pi-acp/dist/index.js"],
    environment: &[
        "PI_ACP_PI_COMMAND={agents}/.bin/pi",
        "PI_OFFLINE=1",
        "PI_SKIP_VERSION_CHECK=1",
        "PI_TELEMETRY=0",
    ],
    session: Session::Refused { code: AUTH_REQUIRED, methods: &["pi_terminal_login"] },
    model: Some(Model {
        settings: &[
            (
                ".pi/agent/models.json",
                r#"{ "providers": { "loopback": {
                    "baseUrl": "{url}/v1",
                    "api": "openai-completions",
                    "apiKey": "none",
                    "models": [{ "id": "loopback" }]
                } } }"#,
            ),
            (".pi/agent/settings.json", r#"{ "defaultProvider": "loopback", "defaultModel": "loopback" }"#),
        ],
        write: r#"write {"path": "{project}/note.txt", "content": "hello from the model"}"#,
        // It has no permission requests.
        asks: false,
        ..MODEL
    }),
};

/// The program for this system, which its npm wrapper only starts.
pub(super) const COPILOT: Product = Product {
    name: "Copilot",
    command: &["{agents}/@github/copilot-{system}/copilot", "--acp"],
    environment: &["COPILOT_AUTO_UPDATE=false"],
    session: Session::Refused { code: AUTH_REQUIRED, methods: &["copilot-login"] },
    model: Some(Model {
        environment: &[
            "COPILOT_OFFLINE=true",
            "COPILOT_MODEL=loopback",
            "COPILOT_PROVIDER_API_KEY=none",
            "COPILOT_PROVIDER_BASE_URL={url}/v1",
        ],
        write: r#"create {"path": "{project}/note.txt", "file_text": "hello from the model"}"#,
        ..MODEL
    }),
};

pub(super) const AUGGIE: Product = Product {
    name: "auggie",
    command: &["{node}", "{agents}/@augmentcode/auggie/augment.mjs", "--acp"],
    environment: &["AUGMENT_DISABLE_AUTO_UPDATE=1"],
    session: Session::Refused { code: AUTH_REQUIRED, methods: &[] },
    ..PRODUCT
};

/// The program for this system. Its npm wrapper depends on 300 MB that are compiled into it already.
pub(super) const CLINE: Product = Product {
    name: "cline",
    command: &["{agents}/@cline/cli-{system}/bin/cline", "--acp"],
    environment: &["CLINE_NO_AUTO_UPDATE=1", "DISABLE_TELEMETRY=1"],
    session: Session::Refused { code: AUTH_REQUIRED, methods: &["cline", "cline-pass", "openai-codex"] },
    ..PRODUCT
};
