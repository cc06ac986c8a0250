//! Reads the configuration files of coding agents and editors that name MCP servers.

mod comments;
mod entry;
mod error;
mod switches;
mod unique;
mod variables;

use std::fmt;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentwire_jsonrpc::{RawJson, RawObject};
use agentwire_wire_derive::Build;

use self::comments::without_comments;
use self::entry::read_entry;
pub use self::error::{McpConfigError, McpConfigFault, McpConfigWarning};
use self::switches::Switches;
use self::unique::{UniqueNames, check_unique};
use self::variables::Variables;
use crate::config::ServerConfig;

/// The longest configuration file by default: 1 MiB.
pub const DEFAULT_MCP_CONFIG_LIMIT: usize = 1 << 20;

/// The servers of a configuration file.
///
/// It reads the object `mcpServers` of `.mcp.json`, and `servers` of VS Code's `mcp.json`, which may have comments:
///
/// ```
/// use agentwire_mcp_hub::McpConfig;
///
/// let text = r#"{ "mcpServers": {
///     "files": { "command": "file-server", "args": ["--root", "${ROOT:-/repo}"] },
///     "web": { "url": "https://example.com/mcp", "headers": { "Authorization": "Bearer ${TOKEN}" } }
/// } }"#;
/// let config = McpConfig::from_str(text, |name| (name == "TOKEN").then(|| "secret".into()))?;
/// let names: Vec<_> = config.servers().iter().map(|server| &*server.name).collect();
/// assert_eq!(names, ["files", "web"]);
/// # Ok::<(), agentwire_mcp_hub::McpConfigError>(())
/// ```
///
/// # Servers
///
/// An entry has `command`, with `args`, `env` and `cwd`, or `url` (also `httpUrl` or `serverUrl`), with `headers`. `type`
/// (also `transport`) may be `stdio`, `http` (also `streamable-http`, in any spelling) or `sse`. A server at a URL with the type
/// `http`, or without a type, may speak HTTP+SSE instead: the client finds out. A relative `command` or `cwd` is relative to the
/// program's working directory, not to the file, unless [`McpConfigReader::base_folder`] sets another folder.
///
/// `command` may be a list of the program and its first arguments. Numbers, `true` and `false` in `args`, `env` and `headers`
/// are read as their text. `env` and `headers` may be lists of objects with `name` and `value`. Other members are left out, and
/// [reported](Self::warnings).
///
/// # Servers that are switched off
///
/// An entry with `"disabled": true`, `"enabled": false`, `"isActive": false`, `"status": "disabled"` or the like, in any
/// spelling, is [left out](Self::disabled). So are the servers that the file lists in `disabledMcpServers`,
/// `disabledMcpjsonServers` or `mcp.excluded`, and those that it does not list in `mcp.allowed`. One of these is enough. A value
/// with another meaning is an error, and so is a mistyped switch.
///
/// # Variables
///
/// | in a string | becomes |
/// |---|---|
/// | `${NAME}`, `${env:NAME}` | the variable of the environment, which must be set |
/// | `${NAME:-text}` | the same, or the text where the variable is not set or empty |
/// | `${workspaceFolder}`, `${workspaceFolderBasename}` | [`McpConfigReader::workspace_folder`], and the last part of it |
/// | `${userHome}`, `${pathSeparator}`, `${/}` | the home directory, and `/` or `\` |
///
/// A variable that is not set is an error of the whole file. Any other form, such as `${input:token}`, is an error that
/// names it. So is a repeated name of a member or of a server: readers differ in which of the two they use.
///
/// # Secrets
///
/// Neither errors nor `Debug` show a value of `env` or `headers`, or the value of a variable.
///
/// A file in a repository may come from another person, and its servers are programs: ask the user before starting them.
pub struct McpConfig {
    servers: Vec<ServerConfig>,
    disabled: Vec<String>,
    unselected: Vec<String>,
    warnings: Vec<McpConfigWarning>,
}

impl McpConfig {
    /// Reads a file, with the variables of this process. [`McpConfigReader`] has settings.
    ///
    /// # Errors
    ///
    /// [`McpConfigError`], which names the file, and the server and the member where it is about one.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, McpConfigError> {
        McpConfigReader::new().read(path)
    }

    /// Reads the text of a file, with variables that a function looks up.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), without a file.
    pub fn from_str(
        text: &str,
        variables: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Result<Self, McpConfigError> {
        McpConfigReader::new().variables(variables).parse(text)
    }

    /// The servers, in the order of the file.
    pub fn servers(&self) -> &[ServerConfig] {
        &self.servers
    }

    /// The servers, to connect to.
    pub fn into_servers(self) -> Vec<ServerConfig> {
        self.servers
    }

    /// The names of the servers that the file switches off.
    pub fn disabled(&self) -> &[String] {
        &self.disabled
    }

    /// The names of the servers that [`McpConfigReader::select`] leaves out.
    pub fn unselected(&self) -> &[String] {
        &self.unselected
    }

    /// The members that were left out because they are not known.
    pub fn warnings(&self) -> &[McpConfigWarning] {
        &self.warnings
    }
}

impl IntoIterator for McpConfig {
    type Item = ServerConfig;
    type IntoIter = std::vec::IntoIter<ServerConfig>;

    fn into_iter(self) -> Self::IntoIter {
        self.servers.into_iter()
    }
}

/// Shows names alone: arguments and URLs may have secrets from variables.
impl fmt::Debug for McpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.servers.iter().map(|server| &server.name).collect();
        f.debug_struct("McpConfig")
            .field("servers", &names)
            .field("disabled", &self.disabled)
            .field("unselected", &self.unselected)
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// Reads a [`McpConfig`]: where variables come from, and the limit of a file.
///
/// ```no_run
/// use agentwire_mcp_hub::McpConfigReader;
///
/// let config = McpConfigReader::new().workspace_folder("/repo").read("/repo/.vscode/mcp.json")?;
/// for warning in config.warnings() {
///     eprintln!("{warning}");
/// }
/// # Ok::<(), agentwire_mcp_hub::McpConfigError>(())
/// ```
#[derive(Clone, Build)]
#[build(new = "A reader with the variables of this process, no workspace folder and the default limit.")]
pub struct McpConfigReader {
    /// Sets the function that looks up variables of the environment (default: those of this process).
    #[build(name = variables, dynamic, default = Arc::new(|name| std::env::var(name).ok()))]
    #[expect(clippy::type_complexity, reason = "the derived setter takes any such function")]
    lookup: Arc<dyn Fn(&str) -> Option<String> + Send + Sync>,
    /// Sets the value of `${workspaceFolder}` (default: using it is an error).
    #[build(into)]
    workspace_folder: Option<PathBuf>,
    /// Sets the folder that commands start in, and from which a relative `command` and a relative `cwd` are taken (default:
    /// the program's working directory). A `command` without a separator of paths is looked for in `PATH` as before.
    #[build(into)]
    base_folder: Option<PathBuf>,
    /// Selects the servers to read (default: all). Only the [names](McpConfig::unselected) of the others are read: their
    /// variables may be unset, and their members wrong.
    #[build(name = select, dynamic, default = Arc::new(|_| true))]
    selection: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    /// Sets how long a file, and all texts from variables together, may be in bytes (default
    /// [`DEFAULT_MCP_CONFIG_LIMIT`]).
    #[build(default = DEFAULT_MCP_CONFIG_LIMIT)]
    size_limit: usize,
}

impl McpConfigReader {
    /// Reads a file. It blocks while it reads. It refuses anything but a regular file: a pipe, for example, might block it
    /// for ever.
    ///
    /// # Errors
    ///
    /// As [`McpConfig::read`].
    pub fn read(&self, path: impl AsRef<Path>) -> Result<McpConfig, McpConfigError> {
        let path = path.as_ref();
        self.read_text(path).and_then(|text| self.parse(&text)).map_err(|error| error.in_file(path))
    }

    fn read_text(&self, path: &Path) -> Result<String, McpConfigError> {
        // Opening a pipe already blocks, and a repository may have a link to this process's stdin here.
        if !fs::metadata(path).map_err(McpConfigFault::Io)?.is_file() {
            return Err(McpConfigFault::NotFile.into());
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(McpConfigFault::Io)?;
        let limit = u64::try_from(self.size_limit).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut bytes).map_err(McpConfigFault::Io)?;
        self.check_size(bytes.len())?;
        Ok(String::from_utf8(bytes).map_err(|_| McpConfigFault::NotUtf8)?)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// As [`McpConfig::read`], without a file.
    pub fn parse(&self, text: &str) -> Result<McpConfig, McpConfigError> {
        self.check_size(text.len())?;
        // Some editors write a byte order mark.
        let text = without_comments(text.strip_prefix('\u{feff}').unwrap_or(text));
        if text.trim().is_empty() {
            return Err(McpConfigFault::Empty.into());
        }
        // The text of the error may show a value.
        let value: RawJson = agentwire_jsonrpc::read(&text)
            .map_err(|why| McpConfigFault::Syntax { line: why.line(), column: why.column() })?;
        let object = RawObject::try_from(value).map_err(|_| McpConfigFault::Type("an object"))?;
        check_unique(&object)?;
        let variables = Variables::new(&*self.lookup, self.workspace_folder.as_deref(), self.size_limit);
        let switches = Switches::read(&object)?;
        let mut config = McpConfig {
            servers: Vec::new(),
            disabled: Vec::new(),
            unselected: Vec::new(),
            warnings: Vec::new(),
        };
        // `mcpServers` and `servers` may both be there.
        let mut names = UniqueNames::default();
        let mut has_servers = false;
        for (member, value) in object.iter() {
            match &*member {
                "mcpServers" | "servers" => {
                    has_servers = true;
                    let not_object = |_| McpConfigFault::Type("an object").at(&member);
                    let servers = RawObject::try_from(value).map_err(not_object)?;
                    self.read_servers(&servers, &variables, &switches, &mut names, &mut config)?;
                }
                // Inputs are asked for where they are used, which is an error.
                "inputs" | "$schema" => {}
                member if Switches::is_member(member) => {}
                _ => config.warnings.push(McpConfigWarning::new(None, &member)),
            }
        }
        if has_servers { Ok(config) } else { Err(McpConfigFault::NoServers.into()) }
    }

    fn read_servers(
        &self,
        servers: &RawObject,
        variables: &Variables<'_>,
        switches: &Switches,
        names: &mut UniqueNames,
        config: &mut McpConfig,
    ) -> Result<(), McpConfigError> {
        for (name, entry) in servers.iter() {
            names.add(&name)?;
            if !(self.selection)(&name) {
                config.unselected.push(name.into_owned());
                continue;
            }
            if switches.has_off(&name) {
                config.disabled.push(name.into_owned());
                continue;
            }
            let not_object = |_| McpConfigError::from(McpConfigFault::Type("an object")).in_server(&name);
            let entry = RawObject::try_from(entry).map_err(not_object)?;
            let folder = self.base_folder.as_deref();
            match read_entry(&name, &entry, variables, folder, &mut config.warnings)
                .map_err(|error| error.in_server(&name))?
            {
                Some(server) => config.servers.push(server),
                None => config.disabled.push(name.into_owned()),
            }
        }
        Ok(())
    }

    fn check_size(&self, bytes: usize) -> Result<(), McpConfigFault> {
        let limit = self.size_limit;
        if bytes > limit { Err(McpConfigFault::TooLong { limit }) } else { Ok(()) }
    }
}

impl fmt::Debug for McpConfigReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpConfigReader")
            .field("workspace_folder", &self.workspace_folder)
            .field("base_folder", &self.base_folder)
            .field("size_limit", &self.size_limit)
            .finish_non_exhaustive()
    }
}
