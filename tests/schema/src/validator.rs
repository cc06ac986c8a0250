//! Checks JSON-RPC messages against the generated schema of one version of a protocol.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use serde_json::Value;

use crate::shape::{Kind, Shape};
use crate::{ACP, Document, MCP, Reader, Reading, Rules};

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a connection has two ends")]
pub enum Side {
    /// The editor, or the host of tools.
    Client,
    /// The agent, or the server of tools.
    Server,
}

impl Side {
    /// The one at the other end.
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Finds the fault of a JSON-RPC message by the generated schema of one version of a protocol.
///
/// It holds a writer of MCP to more than the schema does: no object may have a member that the revision does not
/// know, but in `_meta` and in maps.
#[derive(Debug)]
pub struct Validator {
    document: Document,
    rules: Rules,
    /// Whether what the version does not know is a fault. In ACP a peer ignores it.
    is_strict: bool,
    /// By who sends it and by name, where its schema is.
    methods: HashMap<(Side, &'static str), RequestMethod>,
    /// Where the schema of a response with an error is, and whether it is of the error alone.
    error: Option<(String, bool)>,
    /// For the methods of an extension, which has a document of its own.
    extension: Option<Arc<Self>>,
}

/// The methods of the tasks extension, by who sends them, with the names of their params and results.
const TASKS: [(Side, &str, &str, Option<&str>); 4] = [
    (Side::Client, "tasks/get", "GetTaskRequestParams", Some("GetTaskResult")),
    (Side::Client, "tasks/update", "UpdateTaskRequestParams", Some("Result")),
    (Side::Client, "tasks/cancel", "CancelTaskRequestParams", Some("Result")),
    (Side::Server, "notifications/tasks", "TaskStatusNotificationParams", None),
];

#[derive(Debug)]
struct RequestMethod {
    /// Of the whole message, or of the params alone.
    said: String,
    is_whole: bool,
    /// Of the result; none for a notification.
    result: Option<String>,
}

impl Validator {
    /// For a version of ACP: `v1`, `v1-unstable`, `v2` or `v2-unstable`.
    ///
    /// # Errors
    ///
    /// When `docs/schema/acp` has no such version.
    pub fn acp(version: &str) -> io::Result<Arc<Self>> {
        cached(&format!("acp/{version}.json"), |document| {
            let methods = acp_methods(&document);
            let error = document.pointer("Error").map(|pointer| (pointer, true));
            Self { document, rules: ACP.for_writers(), is_strict: false, methods, error, extension: None }
        })
    }

    /// For a revision of MCP, by its date.
    ///
    /// # Errors
    ///
    /// When `docs/schema/mcp` has no such revision.
    pub fn mcp(revision: &str) -> io::Result<Arc<Self>> {
        let extension = if revision == "2026-07-28" { Some(Self::tasks()?) } else { None };
        cached(&format!("mcp/{revision}.json"), |document| {
            let methods = mcp_methods(&document);
            let names = ["JSONRPCErrorResponse", "JSONRPCError"];
            let error = names.iter().find_map(|name| document.pointer(name)).map(|pointer| (pointer, false));
            Self { document, rules: MCP.for_writers(), is_strict: true, methods, error, extension }
        })
    }

    /// For the tasks extension of 2026-07-28.
    fn tasks() -> io::Result<Arc<Self>> {
        cached("mcp/2026-07-28-tasks.json", |document| {
            let at = |name: &str| document.pointer(name).expect("it is there");
            let method = |(side, name, params, result): (Side, _, &str, Option<&str>)| {
                ((side, name), RequestMethod { said: at(params), is_whole: false, result: result.map(at) })
            };
            let methods = TASKS.into_iter().map(method).collect();
            let (rules, is_strict) = (MCP.for_writers(), true);
            Self { document, rules, is_strict, methods, error: None, extension: None }
        })
    }

    /// The document that it validates by.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Checks a message that one side sends. `answers` is the method of the request that it answers, and
    /// `as_task` whether that request asked for a task instead of a result.
    ///
    /// # Errors
    ///
    /// The fault, and its place.
    pub fn check(
        &self,
        from: Side,
        message: &Value,
        answers: Option<&str>,
        as_task: bool,
    ) -> Result<(), String> {
        envelope(message)?;
        if let Some(method) = message.get("method").and_then(Value::as_str) {
            return self.check_said(from, method, message);
        }
        if let Some(error) = message.get("error") {
            // JSON-RPC has null where the id could not be read, though no revision of MCP has it.
            let mut message = message.clone();
            if message["id"].is_null() {
                message["id"] = 0.into();
            }
            return match &self.error {
                Some((pointer, true)) => self.check_at(pointer, error),
                Some((pointer, false)) => self.check_at(pointer, &message),
                None => Err("the schema has no errors".to_owned()),
            };
        }
        let Some(method) = answers else { return Err("answers a request that nobody made".to_owned()) };
        if let Some(extension) = &self.extension {
            if extension.methods.contains_key(&(from.other(), method)) {
                return extension.check(from, message, answers, as_task);
            }
            if method == "tools/call" && message.pointer("/result/resultType") == Some(&"task".into()) {
                let pointer = extension.document.pointer("CreateTaskResult").expect("it is there");
                return extension.check_at(&pointer, &message["result"]);
            }
        }
        let Some(known) = self.methods.get(&(from.other(), method)) else {
            return if is_extension(method) {
                Ok(())
            } else {
                Err(format!("a result of `{method}`, which is not a method"))
            };
        };
        let pointer =
            known.result.as_deref().ok_or_else(|| format!("a result of the notification `{method}`"))?;
        let task = self.document.pointer("CreateTaskResult").filter(|_| as_task);
        self.check_at(task.as_deref().unwrap_or(pointer), &message["result"])
    }

    fn check_said(&self, from: Side, method: &str, message: &Value) -> Result<(), String> {
        if let Some(extension) = &self.extension
            && extension.methods.contains_key(&(from, method))
        {
            return extension.check_said(from, method, message);
        }
        let without_tasks = self.extension.as_ref().and_then(|_| without_task_ids(message));
        let message = without_tasks.as_ref().unwrap_or(message);
        let Some(known) = self.methods.get(&(from, method)) else {
            return if is_extension(method) {
                Ok(())
            } else {
                Err(format!("no method `{method}` for the {from:?}"))
            };
        };
        if known.result.is_some() != message.get("id").is_some() {
            return Err(format!("`{method}` is a request exactly if it has an id"));
        }
        if known.is_whole {
            return self.check_at(&known.said, message);
        }
        let nothing = Value::Object(serde_json::Map::new());
        self.check_at(&known.said, message.get("params").unwrap_or(&nothing))
    }

    fn check_at(&self, pointer: &str, value: &Value) -> Result<(), String> {
        self.document.check(pointer, value)?;
        if !self.is_strict {
            return Ok(());
        }
        let unknown = match Reader::new(&self.document, &self.rules).read(pointer, value) {
            Reading::Taken(kept) => kept.beyond_schema(),
            other => return Err(format!("{} {pointer}: {other:?}", self.document.name())),
        };
        // `Request`, the base of all requests, has `_meta` in each revision.
        let of_all = ["/id", "/jsonrpc", "/params/_meta"];
        let unknown: Vec<_> = unknown.into_iter().filter(|place| !of_all.contains(&place.as_str())).collect();
        if unknown.is_empty() {
            Ok(())
        } else {
            Err(format!("{} {pointer}: does not know {}", self.document.name(), unknown.join(", ")))
        }
    }
}

/// Compiled once for each version, however many tests use it.
fn cached(name: &str, make: impl FnOnce(Document) -> Validator) -> io::Result<Arc<Validator>> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Arc<Validator>>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Mutex::default).lock().expect("nothing panics while it holds the lock");
    if let Some(validator) = known.get(name) {
        return Ok(validator.clone());
    }
    let validator = Arc::new(make(Document::generated(name)?));
    known.insert(name.to_owned(), validator.clone());
    Ok(validator)
}

/// A message about subscriptions without the tasks that it names, which is what the extension adds to it.
fn without_task_ids(message: &Value) -> Option<Value> {
    let ids = message.pointer("/params/notifications/taskIds")?.as_array()?;
    if !ids.iter().all(Value::is_string) {
        return None;
    }
    let mut message = message.clone();
    message.pointer_mut("/params/notifications")?.as_object_mut()?.remove("taskIds");
    Some(message)
}

/// Methods that no schema has.
fn is_extension(method: &str) -> bool {
    method.starts_with('_')
}

/// ACP's params and results name their method and who takes it.
fn acp_methods(document: &Document) -> HashMap<(Side, &'static str), RequestMethod> {
    let mut methods = HashMap::new();
    let at = |name: &str| document.pointer(name).expect("it is there");
    let about = |name: &str| {
        let schema = document.schema(&at(name))?;
        Some((schema.get("x-method")?.as_str()?, schema.get("x-side")?.as_str()?))
    };
    for name in document.names() {
        let Some((method, side)) = about(name) else { continue };
        if name.ends_with("Response") {
            continue;
        }
        let answers =
            |other: &&str| other.ends_with("Response") && about(other).is_some_and(|(of, _)| of == method);
        let senders: &[Side] = match side {
            "agent" => &[Side::Client],
            "client" => &[Side::Server],
            // Neither of the two takes it.
            "proxy" => continue,
            _ => &[Side::Client, Side::Server],
        };
        for sender in senders {
            let result = document.names().find(answers).map(at);
            methods.insert((*sender, method), RequestMethod { said: at(name), is_whole: false, result });
        }
    }
    methods
}

/// MCP has a union of what each side may say; a result is named like its request.
fn mcp_methods(document: &Document) -> HashMap<(Side, &'static str), RequestMethod> {
    let mut methods = HashMap::new();
    let unions = [
        (Side::Client, "ClientRequest"),
        (Side::Client, "ClientNotification"),
        (Side::Server, "ServerRequest"),
        (Side::Server, "ServerNotification"),
    ];
    for (side, union) in unions {
        let Some(pointer) = document.pointer(union) else { continue };
        let schemas: Vec<_> = document.schema(&pointer).into_iter().collect();
        for shape in &*document.shapes_of_all(&schemas) {
            let Some(method) = method_of(document, shape) else { continue };
            let name = shape.definitions.last().copied().unwrap_or(union);
            let result = union.ends_with("Request").then(|| result_of(document, name)).flatten();
            let said = document.pointer(name).expect("it was referred to");
            methods.insert((side, method), RequestMethod { said, is_whole: true, result });
        }
    }
    methods
}

fn method_of(document: &Document, shape: &Shape) -> Option<&'static str> {
    let Kind::Object(object) = &shape.kind else { return None };
    let shapes = document.shapes_of_all(&object.members.get("method")?.schemas);
    match shapes.first()?.kind {
        Kind::Constant(word) => word.as_str(),
        _ => None,
    }
}

fn result_of(document: &Document, request: &str) -> Option<String> {
    let stem = request.strip_suffix("Request")?;
    let response = document.pointer(&format!("{stem}ResultResponse"));
    let result = || document.pointer(&format!("{stem}Result"));
    let empty = || document.pointer("EmptyResult");
    response.map(|pointer| format!("{pointer}/properties/result")).or_else(result).or_else(empty)
}

/// The members that every message of JSON-RPC must have.
fn envelope(message: &Value) -> Result<(), String> {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err("`jsonrpc` is not \"2.0\"".to_owned());
    }
    let is_id = |id: &Value| id.is_string() || id.is_i64() || id.is_u64() || id.is_null();
    if message.get("id").is_some_and(|id| !is_id(id)) {
        return Err("the id is neither a string nor an integer".to_owned());
    }
    let kinds = ["method", "result", "error"].iter().filter(|name| message.get(**name).is_some()).count();
    let known = ["jsonrpc", "id", "method", "params", "result", "error"];
    let other = message.as_object().into_iter().flatten().find(|(name, _)| !known.contains(&name.as_str()));
    match other {
        Some((name, _)) => Err(format!("a message has no member `{name}`")),
        None if kinds != 1 => Err("neither a request, a notification nor a response".to_owned()),
        None => Ok(()),
    }
}
