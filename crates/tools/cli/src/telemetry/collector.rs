//! Sends spans and metrics to a collector, by the command's own HTTP client.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agentwire_transport_http::client::{HttpClient as _, Hyper};
use anyhow::Result;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{Request, Response};
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    MetricExporter, OTEL_EXPORTER_OTLP_TIMEOUT, Protocol, SpanExporter, WithExportConfig as _,
    WithHttpConfig as _,
};
use tokio::runtime::Handle;

use super::collector_url::CollectorUrl;
use crate::output::text::Notes;

/// The longest time of an export, without `OTEL_EXPORTER_OTLP_TIMEOUT`: 10 s, the specification's default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The most bytes of an answer, which has the number of refused items: 64 KiB.
const ANSWER_LIMIT: usize = 64 << 10;

/// A collector.
pub(super) struct Collector {
    client: Client,
}

impl Collector {
    pub(super) fn new(url: &CollectorUrl, notes: &Notes) -> Result<Self> {
        let milliseconds = std::env::var(OTEL_EXPORTER_OTLP_TIMEOUT).ok().and_then(|text| text.parse().ok());
        let timeout = milliseconds.map_or(TIMEOUT, Duration::from_millis);
        let http = Hyper::new(timeout)?;
        let failure = Arc::new(FailureNote {
            origin: url.origin(),
            notes: notes.clone(),
            is_shown: AtomicBool::new(false),
        });
        Ok(Self { client: Client { http, runtime: Handle::current(), timeout, failure } })
    }

    pub(super) fn span_exporter(&self, url: &CollectorUrl) -> Result<SpanExporter> {
        Ok(SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(self.client.clone())
            .with_endpoint(url.as_str())
            .build()?)
    }

    pub(super) fn metric_exporter(&self, url: &CollectorUrl) -> Result<MetricExporter> {
        Ok(MetricExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_http_client(self.client.clone())
            .with_endpoint(url.as_str())
            .build()?)
    }

    /// Reports that spans or metrics were not sent, if no failure was reported before.
    pub(super) fn note_failure(&self, why: &str) {
        self.client.failure.note(why);
    }
}

/// Sends the requests of the exporters, which run on their own threads, on the command's runtime.
#[derive(Clone, Debug)]
struct Client {
    http: Hyper,
    runtime: Handle,
    timeout: Duration,
    failure: Arc<FailureNote>,
}

impl HttpClient for Client {
    // The signature that `async_trait` generates for an `async fn`.
    fn send_bytes<'life0, 'async_trait>(
        &'life0 self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'async_trait>>
    where
        'life0: 'async_trait,
        Self: 'async_trait,
    {
        let client = self.clone();
        let sent = self.runtime.spawn(async move { client.send(request).await });
        // Fails if the command has ended.
        Box::pin(async move { sent.await? })
    }
}

impl Client {
    async fn send(self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let answer = tokio::time::timeout(self.timeout, self.exchange(request)).await;
        let answer = answer.unwrap_or_else(|_| Err(format!("no answer in {:?}", self.timeout).into()));
        match &answer {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => self.failure.note(&format!("the collector answers {}", response.status())),
            Err(error) => self.failure.note(&cause(&**error)),
        }
        answer
    }

    async fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, mut body) = self.http.send(request).await?.into_parts();
        let mut answer = BytesMut::new();
        while let Some(piece) = body.next().await {
            let piece = piece?;
            if answer.len() + piece.len() > ANSWER_LIMIT {
                return Err(format!("the answer is longer than {ANSWER_LIMIT} bytes").into());
            }
            answer.extend_from_slice(&piece);
        }
        Ok(Response::from_parts(head, answer.freeze()))
    }
}

/// The first cause of an error, because hyper's own text is not specific.
fn cause(error: &(dyn Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Reports only the first failure on stderr.
struct FailureNote {
    origin: String,
    notes: Notes,
    is_shown: AtomicBool,
}

impl FailureNote {
    fn note(&self, why: &str) {
        if !self.is_shown.swap(true, Ordering::Relaxed) {
            self.notes.add(&format!("warning: spans and metrics cannot be sent to {}: {why}", self.origin));
        }
    }
}

impl fmt::Debug for FailureNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailureNote").field("origin", &self.origin).finish_non_exhaustive()
    }
}
