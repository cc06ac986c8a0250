//! One request to an endpoint for chat completions, and its answer as it streams.

use std::fmt::Display;
use std::time::Duration;

use agentwire::http::client::{Body, DefaultClient, HttpClient};
use agentwire::http::sse::Decoder;
use agentwire::jsonrpc::{self, Printable};
use agentwire::peer::BoxError;
use agentwire::serde_json::{self, Value};
use futures::StreamExt;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use serde::{Deserialize, Serialize};

/// How long the endpoint may be silent, before an answer and within it.
const SILENCE: Duration = Duration::from_secs(120);

/// The most bytes of an answer, and of one event of it.
const ANSWER_LIMIT: usize = 8 << 20;

/// The most tool calls in one answer.
const CALL_LIMIT: usize = 64;

/// The most bytes of a refusal's body that are read, and characters of its message that are shown.
const REFUSAL_LIMIT: usize = 16 << 10;
const EXCERPT: usize = 300;

pub(crate) struct Endpoint {
    client: DefaultClient,
    url: Uri,
    key: Key,
    authorization: Option<HeaderValue>,
}

/// The key, which may be empty. No text that is shown has it.
#[derive(Clone)]
struct Key(String);

impl Key {
    /// The beginning of a text of the endpoint, on one line and without the key, should it repeat that.
    fn excerpt(&self, told: &str) -> String {
        let told = match &*self.0 {
            "" => told.to_owned(),
            key => told.replace(key, "…"),
        };
        Printable::one_line(told.trim()).to_string().chars().take(EXCERPT).collect()
    }
}

/// An answer that streams. Dropping it closes the connection, and so ends the work at the endpoint.
pub(crate) struct Answer {
    body: Body,
    decoder: Decoder,
    key: Key,
    bytes: usize,
    calls: Vec<Call>,
    finish_reason: Option<String>,
}

/// A tool call of the model.
#[derive(Default)]
pub(crate) struct Call {
    pub(crate) name: String,
    /// JSON, as far as the model wrote any.
    pub(crate) arguments: String,
}

impl Endpoint {
    /// An endpoint at `base`, such as `https://api.openai.com/v1`.
    pub(crate) fn new(base: &str, key: Option<String>) -> Result<Self, BoxError> {
        let url = format!("{}/chat/completions", base.trim_end_matches('/')).parse()?;
        let key = Key(key.unwrap_or_default());
        let mut authorization = None;
        if let Key(key) = &key
            && !key.is_empty()
        {
            let mut value = HeaderValue::try_from(format!("Bearer {key}"))
                .map_err(|_| "OPENAI_API_KEY has characters that no header may have")?;
            value.set_sensitive(true);
            authorization = Some(value);
        }
        Ok(Self { client: DefaultClient::new(Duration::from_secs(10))?, url, key, authorization })
    }

    /// Sends a request. Dropping the future gives it up.
    pub(crate) async fn ask(&self, request: &impl Serialize) -> Result<Answer, BoxError> {
        let mut post = Request::post(&self.url).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            post = post.header(AUTHORIZATION, authorization);
        }
        let sent = self.client.send(post.body(serde_json::to_string(request)?.into())?);
        let response = within(sent).await?.map_err(|error| {
            // The URL may have a password.
            let authority = self.url.authority().map_or("", |authority| authority.as_str());
            let host = authority.rsplit('@').next().unwrap_or_default();
            format!("the model's endpoint {host} cannot be reached: {}", chain(&*error))
        })?;
        if response.status() != StatusCode::OK {
            return Err(self.refusal(response).await.into());
        }
        let decoder = Decoder::new(ANSWER_LIMIT);
        let (body, key) = (response.into_body(), self.key.clone());
        Ok(Answer { body, decoder, key, bytes: 0, calls: Vec::new(), finish_reason: None })
    }

    /// Describes a response that is not an answer.
    async fn refusal(&self, response: Response<Body>) -> String {
        let (head, mut body) = response.into_parts();
        let mut text = Vec::new();
        while let Ok(Some(Ok(piece))) = within(body.next()).await {
            text.extend_from_slice(&piece[..piece.len().min(REFUSAL_LIMIT - text.len())]);
            if text.len() == REFUSAL_LIMIT {
                break;
            }
        }
        let told = match serde_json::from_slice::<Value>(&text) {
            Ok(json) => json["error"]["message"].as_str().unwrap_or_default().to_owned(),
            Err(_) => String::from_utf8_lossy(&text).into_owned(),
        };
        let told = self.key.excerpt(&told);
        let retry = head.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let what = match head.status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "does not accept OPENAI_API_KEY".to_owned(),
            StatusCode::NOT_FOUND => "knows no such model or path".to_owned(),
            StatusCode::TOO_MANY_REQUESTS => match retry {
                Some(seconds) => format!("asks to wait {} s", Printable::one_line(seconds)),
                None => "asks to wait".to_owned(),
            },
            status if status.is_server_error() => "failed".to_owned(),
            _ => "refuses the request".to_owned(),
        };
        let colon = if told.is_empty() { "" } else { ": " };
        format!("the model's endpoint {what} (HTTP {}){colon}{told}", head.status.as_u16())
    }
}

impl Answer {
    /// Waits for the next piece of text. None at the end of the answer.
    pub(crate) async fn next_text(&mut self) -> Result<Option<String>, BoxError> {
        loop {
            while let Some(event) = self.decoder.next_event()? {
                match event.data.as_deref() {
                    None => {}
                    Some("[DONE]") => return Ok(None),
                    Some(data) => {
                        let chunk = jsonrpc::read(data).map_err(|why| {
                            // It may quote the endpoint.
                            let why = self.key.excerpt(&why.to_string());
                            format!("the model's answer cannot be read: {why}")
                        })?;
                        if let Some(text) = self.add(chunk)? {
                            return Ok(Some(text));
                        }
                    }
                }
            }
            match within(self.body.next()).await? {
                Some(Ok(piece)) => {
                    self.bytes += piece.len();
                    if self.bytes > ANSWER_LIMIT {
                        return Err(format!("the model's answer is over {ANSWER_LIMIT} bytes").into());
                    }
                    self.decoder.push(piece);
                }
                // Some endpoints leave out `[DONE]`.
                None if self.finish_reason.is_some() => return Ok(None),
                None => return Err("the model's answer was cut off".into()),
                Some(Err(error)) => {
                    return Err(format!("the model's answer was cut off: {}", chain(&*error)).into());
                }
            }
        }
    }

    /// Closes the connection, and returns the tool calls and why the model stopped: `stop`, `tool_calls`, `length` …
    pub(crate) fn end(self) -> (Vec<Call>, Option<String>) {
        (self.calls, self.finish_reason)
    }

    /// Takes one event of the stream, and returns its text.
    fn add(&mut self, chunk: Chunk) -> Result<Option<String>, BoxError> {
        if let Some(error) = chunk.error {
            let told = error["message"].as_str().unwrap_or_default();
            return Err(format!("the model's endpoint failed: {}", self.key.excerpt(told)).into());
        }
        let Some(choice) = chunk.choices.into_iter().next() else { return Ok(None) };
        self.finish_reason = choice.finish_reason.or(self.finish_reason.take());
        for piece in choice.delta.tool_calls.unwrap_or_default() {
            // Endpoints that send each call whole leave out its place.
            let place = piece.index.unwrap_or(self.calls.len());
            if place >= CALL_LIMIT {
                return Err(format!("the model makes over {CALL_LIMIT} calls at once").into());
            }
            if place >= self.calls.len() {
                self.calls.resize_with(place + 1, Call::default);
            }
            self.calls[place].name += &piece.function.name.unwrap_or_default();
            self.calls[place].arguments += &piece.function.arguments.unwrap_or_default();
        }
        Ok(choice.delta.content.filter(|text| !text.is_empty()))
    }
}

/// One event of a stream, of `chat.completion.chunk`.
#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: Option<usize>,
    #[serde(default)]
    function: FunctionPiece,
}

#[derive(Default, Deserialize)]
struct FunctionPiece {
    name: Option<String>,
    arguments: Option<String>,
}

async fn within<T>(waiting: impl Future<Output = T>) -> Result<T, BoxError> {
    let silent = |_| format!("the model's endpoint was silent for {} s", SILENCE.as_secs());
    Ok(tokio::time::timeout(SILENCE, waiting).await.map_err(silent)?)
}

/// An error and what caused it.
fn chain(error: &dyn std::error::Error) -> impl Display {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
