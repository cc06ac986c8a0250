//! Joins several observers.

use std::any::Any;
use std::sync::Arc;

use agentwire_jsonrpc::{ErrorObject, Notification, RawObject, Response};

use super::{CallContext, CallEnd, CallObserver, CallStart, ConnectionEnd, Direction, NewCall, Observer};

/// Joins several observers. Each is called in turn, and the scope of the first is the outermost.
///
/// ```
/// use std::sync::Arc;
///
/// use agentwire_peer::observe::{Observer, Observers};
/// use agentwire_peer::{Config, Dialect};
///
/// fn observed(log: Arc<dyn Observer>, telemetry: Arc<dyn Observer>) -> Config {
///     Config::new(Dialect::MCP).observer(Arc::new(Observers::new([log, telemetry])))
/// }
/// # let _ = observed;
/// ```
#[derive(Clone, Debug)]
pub struct Observers(Vec<Arc<dyn Observer>>);

impl Observers {
    /// Joins observers.
    pub fn new(observers: impl IntoIterator<Item = Arc<dyn Observer>>) -> Self {
        Self(observers.into_iter().collect())
    }
}

/// The values of the observers for one call by this side, in the order of the observers.
type Values = Vec<Option<Arc<dyn Any + Send + Sync>>>;

impl Observer for Observers {
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        let own =
            |observer: &Arc<dyn Observer>| observer.connection_started().unwrap_or_else(|| observer.clone());
        Some(Arc::new(Self::new(self.0.iter().map(own))))
    }

    fn connection_ended(&self, end: &ConnectionEnd<'_>) {
        self.0.iter().for_each(|observer| observer.connection_ended(end));
    }

    fn call_made(&self, call: &NewCall<'_>) -> Option<CallContext> {
        let mut meta = RawObject::new();
        let mut value = |observer: &Arc<dyn Observer>| {
            let context = observer.call_made(call)?;
            meta.merge(&context.meta);
            Some(context.value)
        };
        let values: Values = self.0.iter().map(&mut value).collect();
        values.iter().any(Option::is_some).then(|| CallContext::new(Arc::new(values)).meta(meta))
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        let values = call.context.and_then(|context| context.downcast_ref::<Values>());
        let began = self.0.iter().enumerate().filter_map(|(index, observer)| {
            let context = values.and_then(|values| values.get(index)?.as_ref());
            observer.call_started(&CallStart { context, ..*call })
        });
        let mut calls: Vec<_> = began.collect();
        match calls.len() {
            0 | 1 => calls.pop(),
            _ => Some(Arc::new(CallObservers(calls))),
        }
    }

    fn notification(&self, direction: Direction, notification: &Notification) {
        self.0.iter().for_each(|observer| observer.notification(direction, notification));
    }

    fn frame(&self, direction: Direction, bytes: usize) {
        self.0.iter().for_each(|observer| observer.frame(direction, bytes));
    }

    fn queue(&self, bytes: usize) {
        self.0.iter().for_each(|observer| observer.queue(bytes));
    }

    fn malformed(&self, error: &ErrorObject) {
        self.0.iter().for_each(|observer| observer.malformed(error));
    }

    fn unmatched_response(&self, response: &Response) {
        self.0.iter().for_each(|observer| observer.unmatched_response(response));
    }
}

/// The observers of one call.
struct CallObservers(Vec<Arc<dyn CallObserver>>);

impl CallObserver for CallObservers {
    fn cancelled(&self) {
        self.0.iter().for_each(|call| call.cancelled());
    }

    fn ended(&self, end: &CallEnd<'_>) {
        self.0.iter().for_each(|call| call.ended(end));
    }

    fn in_scope(&self, poll: &mut dyn FnMut()) {
        in_scopes(&self.0, poll);
    }
}

fn in_scopes(calls: &[Arc<dyn CallObserver>], poll: &mut dyn FnMut()) {
    match calls {
        [] => poll(),
        [first, rest @ ..] => first.in_scope(&mut || in_scopes(rest, poll)),
    }
}
