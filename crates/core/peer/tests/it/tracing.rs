//! The observer that reports through the crate `tracing`.

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agentwire_peer::observe::{TRACING_TEXT_LIMIT, TracingObserver};
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{self, NoSubscriber};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{answering, done, mcp, settle, with_wire};

/// Writes down spans and events, with the number of the span that each is in.
#[derive(Clone, Default)]
struct Lines {
    lines: Arc<Mutex<Vec<String>>>,
    spans: Arc<AtomicU64>,
    entered: Arc<Mutex<Vec<u64>>>,
}

impl Lines {
    fn write(&self, what: &str, fields: impl FnOnce(&mut Fields)) {
        let mut shown = Fields(String::new());
        fields(&mut shown);
        let within = self.entered.lock().unwrap().last().copied().unwrap_or_default();
        self.lines.lock().unwrap().push(format!("{within}: {what}{}", shown.0));
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("agentwire::") || metadata.target() == "mine"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.spans.fetch_add(1, Ordering::Relaxed) + 1;
        self.write(&format!("{} {id}", span.metadata().name()), |fields| span.record(fields));
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.write(&format!("record {}", span.into_u64()), |fields| values.record(fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.write(event.metadata().level().as_str(), |fields| event.record(fields));
    }

    fn enter(&self, span: &Id) {
        self.entered.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, _: &Id) {
        self.entered.lock().unwrap().pop();
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_a_span_that_its_handler_runs_in() {
    let lines = Lines::default();
    let _guard = subscriber::set_default(lines.clone());
    let config = mcp().observer(Arc::new(TracingObserver::default()));
    let handler = answering(async |request, _| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        tracing::info!(target: "mine", "at work");
        if request.params.is_some() {
            done(1)
        } else {
            Err(agentwire_jsonrpc::ErrorObject::new(-7, "no\nway"))
        }
    });
    with_wire(config, handler, async |_, mut far| {
        let method = format!("\u{1b}[2J{}", "é".repeat(TRACING_TEXT_LIMIT));
        far.say(json!({"jsonrpc": "2.0", "id": "7", "method": method}));
        far.heard().await;
        settle().await;
    })
    .await;
    let _no_more = subscriber::set_default(NoSubscriber::new());
    let lines = lines.lines.lock().unwrap();
    let calls: Vec<_> = lines.iter().filter(|line| !line.contains("bytes=")).map(String::as_str).collect();
    let method = format!("^[[2J{}…", "é".repeat((TRACING_TEXT_LIMIT - 4) / 2));
    assert_eq!(
        calls[..6],
        [
            "0: connection 1",
            &format!("1: call 2 direction=\"in\" method={method} id=\"7\""),
            "2: INFO message=at work",
            "0: record 2 error.type=\"-7\"",
            "0: record 2 error.code=-7",
            "0: record 2 error.message=no way",
        ],
    );
    assert!(calls[6].starts_with("2: DEBUG message=call ended duration=1."), "{}", calls[6]);
    assert!(calls[7].starts_with("1: DEBUG message=connection ended duration=1."), "{}", calls[7]);
    assert!(lines.iter().any(|line| line.starts_with("1: TRACE message=frame direction=\"in\" bytes=")));
}

#[tokio::test(start_paused = true)]
async fn malformed_input_is_a_warning() {
    let lines = Lines::default();
    let _guard = subscriber::set_default(lines.clone());
    let config = mcp().observer(Arc::new(TracingObserver::default()));
    with_wire(config, crate::support::deaf(), async |_, far| {
        far.give(agentwire_transport::Packet::from_json("nonsense"));
        settle().await;
    })
    .await;
    let lines = lines.lines.lock().unwrap();
    let warnings: Vec<_> = lines.iter().filter(|line| line.contains("WARN")).collect();
    let [warning] = &*warnings else { panic!("{lines:?}") };
    assert!(
        warning.starts_with("1: WARN message=malformed message error.code=-32700 error.message="),
        "{warning}"
    );
}

#[tokio::test(start_paused = true)]
async fn why_a_connection_ended_is_told_with_its_cause() {
    let lines = Lines::default();
    let _guard = subscriber::set_default(lines.clone());
    let config = mcp().observer(Arc::new(TracingObserver::default()));
    with_wire(config, crate::support::deaf(), async |_, mut far| {
        far.fail(std::io::ErrorKind::ConnectionReset);
        settle().await;
    })
    .await;
    let lines = lines.lines.lock().unwrap();
    let ended = lines.iter().find(|line| line.contains("message=connection ended")).expect("it has ended");
    assert!(ended.ends_with(" error=the transport failed: connection reset"), "{ended}");
}
