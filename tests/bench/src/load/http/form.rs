//! The forms of requests and responses, and the bytes of the requests.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem::Finder;
use serde_json::{Value, json};

use super::response::{Connection, Response};

/// The revision of the two forms with a session.
pub(crate) const SESSION_REVISION: &str = "2025-11-25";

/// The revision of the two without.
pub(crate) const STATELESS_REVISION: &str = "2026-07-28";

/// The form of a request, and that of the response where the protocol leaves the choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    SessionJson,
    SessionEvents,
    StatelessJson,
    StatelessEvents,
}

impl Form {
    pub(crate) const ALL: [Self; 4] =
        [Self::SessionJson, Self::SessionEvents, Self::StatelessJson, Self::StatelessEvents];

    /// The value of the environment variable `FORM`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SessionJson => "session-json",
            Self::SessionEvents => "session-events",
            Self::StatelessJson => "stateless-json",
            Self::StatelessEvents => "stateless-events",
        }
    }

    pub(crate) fn in_session(self) -> bool {
        matches!(self, Self::SessionJson | Self::SessionEvents)
    }

    /// The content type of a response without earlier notifications.
    fn content_type(self) -> &'static str {
        match self {
            Self::SessionJson | Self::StatelessJson => "application/json",
            Self::SessionEvents | Self::StatelessEvents => "text/event-stream",
        }
    }
}

/// One client of a server: the address, the form, and the session id if there is one.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    pub(crate) form: Form,
    session: Option<String>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, form: Form) -> Self {
        Self { address, form, session: None }
    }

    /// Opens a session if the form has one.
    pub(crate) fn open_session(&mut self, connection: &mut Connection) -> Result<()> {
        if self.form.in_session() {
            self.keep_session(connection.exchange(&self.initialize())?)?;
            let status = connection.exchange(&self.initialized())?.status;
            ensure!(status == 202, "a notification got {status}");
        }
        Ok(())
    }

    /// The request that opens a session.
    pub(crate) fn initialize(&self) -> Vec<u8> {
        let params = json!({
            "protocolVersion": SESSION_REVISION,
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "0.1.0" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        self.head("POST", "", body.to_string().len())
            .into_iter()
            .chain(body.to_string().into_bytes())
            .collect()
    }

    /// Takes the session id from the response to that. A server may send none.
    pub(crate) fn keep_session(&mut self, response: &Response) -> Result<()> {
        let answer = self.messages(response)?.pop().context("initialize got no answer")?;
        let revision = &answer["result"]["protocolVersion"];
        ensure!(revision == SESSION_REVISION, "initialize got {answer}");
        self.session = response.header("mcp-session-id").map(str::to_owned);
        Ok(())
    }

    /// The notification that follows.
    pub(crate) fn initialized(&self) -> Vec<u8> {
        let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let mut request = self.head("POST", &self.revision_header(), body.len());
        request.extend_from_slice(body.as_bytes());
        request
    }

    /// Any other message.
    pub(crate) fn message(&self, message: &Value) -> Vec<u8> {
        let body = message.to_string();
        let mut request = self.head("POST", &self.revision_header(), body.len());
        request.extend_from_slice(body.as_bytes());
        request
    }

    /// The request that ends the session.
    pub(crate) fn delete(&self) -> Vec<u8> {
        self.head("DELETE", &self.revision_header(), 0)
    }

    /// A call of a tool. The arguments are JSON text.
    pub(crate) fn call(&self, tool: &str, arguments: &str, with_progress: bool) -> Call {
        let token = if with_progress { r#""progressToken":1"# } else { "" };
        let meta = match self.form.in_session() {
            true if with_progress => format!(r#","_meta":{{{token}}}"#),
            true => String::new(),
            false => format!(
                r#","_meta":{{{token}{comma}"io.modelcontextprotocol/protocolVersion":"{STATELESS_REVISION}","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"0.1.0"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#,
                comma = if with_progress { "," } else { "" },
            ),
        };
        let before = r#"{"jsonrpc":"2.0","id":"#;
        let after =
            format!(r#","method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{meta}}}}}"#);
        let mut headers = self.revision_header();
        if !self.form.in_session() {
            headers += &format!("mcp-method: tools/call\r\nmcp-name: {tool}\r\n");
        }
        let mut request = self.head("POST", &headers, before.len() + DIGITS + after.len());
        request.extend_from_slice(before.as_bytes());
        let id = request.len();
        request.resize(id + DIGITS, b'0');
        request.extend_from_slice(after.as_bytes());
        Call { request, id, next: FIRST_ID, finder: Finder::new("\"id\":") }
    }

    /// The messages of a response of either content type.
    pub(crate) fn messages(&self, response: &Response) -> Result<Vec<Value>> {
        let body = std::str::from_utf8(&response.body)?;
        ensure!(response.status == 200, "{} instead of 200: {body}", response.status);
        match response.header("content-type") {
            Some("application/json") => Ok(vec![serde_json::from_str(body)?]),
            Some("text/event-stream") => {
                let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
                let data = data.map(str::trim).filter(|data| !data.is_empty());
                data.map(|data| Ok(serde_json::from_str(data)?)).collect()
            }
            other => bail!("the content type is {other:?}"),
        }
    }

    /// Whether a response has the content type of the form.
    pub(crate) fn has_form(&self, response: &Response) -> bool {
        response.header("content-type") == Some(self.form.content_type())
    }

    fn revision_header(&self) -> String {
        let revision = if self.form.in_session() { SESSION_REVISION } else { STATELESS_REVISION };
        let mut headers = format!("mcp-protocol-version: {revision}\r\n");
        if let Some(session) = &self.session {
            headers += &format!("mcp-session-id: {session}\r\n");
        }
        headers
    }

    fn head(&self, method: &str, headers: &str, length: usize) -> Vec<u8> {
        let address = self.address;
        let mut head = format!("{method} /mcp HTTP/1.1\r\nhost: {address}\r\n{headers}");
        if length > 0 {
            head += &format!(
                "accept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n"
            );
        }
        (head + "\r\n").into_bytes()
    }
}

/// All ids have this many digits, so requests have the same length.
const DIGITS: usize = 8;
const FIRST_ID: u64 = 10_000_000;

/// A call that is repeated with new ids.
pub(crate) struct Call {
    request: Vec<u8>,
    id: usize,
    next: u64,
    finder: Finder<'static>,
}

impl Call {
    /// The bytes of the next call.
    pub(crate) fn next(&mut self) -> &[u8] {
        let mut digits = &mut self.request[self.id..self.id + DIGITS];
        // Infallible: a run has fewer ids than these digits can count.
        let _ = write!(digits, "{}", self.next);
        self.next += 1;
        &self.request
    }

    /// Fails unless this is the response to the last call, with a result.
    pub(crate) fn check(&self, response: &Response) -> Result<()> {
        let body = &response.body;
        let id = &self.request[self.id..self.id + DIGITS];
        let answered = response.status == 200
            && self.finder.find(body).is_some_and(|at| body[at + 5..].starts_with(id))
            && memchr::memmem::find(body, b"\"result\":").is_some();
        ensure!(answered, "{} answered {}", response.status, String::from_utf8_lossy(body));
        Ok(())
    }
}
