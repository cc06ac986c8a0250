//! The application's hooks: types, panic-safe calls, and the registry of progress hooks.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agentwire_jsonrpc::RawJson;
use agentwire_mcp_schema::{ProgressNotification, ProgressToken};
use agentwire_sync::Mutex;

/// Receives the progress reports of a call.
pub(crate) type ProgressHook = Arc<Mutex<dyn FnMut(ProgressNotification) + Send>>;

/// A function that all connections of a client share, and call one at a time.
pub(crate) type Hook<T> = Option<Arc<Mutex<Box<dyn FnMut(T) + Send>>>>;

pub(crate) fn hook<T>(function: impl FnMut(T) + Send + 'static) -> Hook<T> {
    Some(Arc::new(Mutex::new(Box::new(function))))
}

/// Calls a hook with a value, if both exist. A panic in the hook is contained.
pub(crate) fn call_hook<T>(hook: &Hook<T>, value: Option<T>) {
    if let (Some(hook), Some(value)) = (hook, value) {
        contained(|| hook.lock()(value));
    }
}

/// Calls a function of the application. Returns `None` if it panics: the panic hook reports the panic, and neither the
/// connection nor the caller notices.
pub(crate) fn contained<R>(call: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(call)).ok()
}

/// The progress hooks of the tasks of one connection. Their progress goes on after the answer to the request that created
/// the task.
///
/// The tokens are strings, unlike those of calls, and unique on the connection.
#[derive(Clone, Default)]
pub(crate) struct ProgressHooks(Arc<Mutex<HookTable>>);

#[derive(Default)]
struct HookTable {
    by_token: HashMap<String, ProgressHook>,
    /// The number in the token that was given last.
    last: u64,
}

impl ProgressHooks {
    /// Registers a hook until the registration is dropped.
    pub(crate) fn register(
        &self,
        hook: impl FnMut(ProgressNotification) + Send + 'static,
    ) -> ProgressRegistration {
        let mut table = self.0.lock();
        table.last += 1;
        let token = format!("task-{}", table.last);
        table.by_token.insert(token.clone(), Arc::new(Mutex::new(hook)));
        drop(table);
        ProgressRegistration { hooks: self.clone(), token }
    }

    /// Passes a progress notification to the hook that is registered for its token.
    pub(crate) fn report(&self, params: Option<&RawJson>) {
        let Some(report) = params.and_then(|params| params.decode_leniently::<ProgressNotification>().ok())
        else {
            return;
        };
        let token = report.progress_token.as_request_id().as_str();
        let hook = token.and_then(|token| self.0.lock().by_token.get(&*token).cloned());
        if let Some(hook) = hook {
            contained(|| hook.lock()(report));
        }
    }
}

/// A registered progress hook.
pub(crate) struct ProgressRegistration {
    hooks: ProgressHooks,
    token: String,
}

impl ProgressRegistration {
    pub(crate) fn token(&self) -> ProgressToken {
        ProgressToken::from(&*self.token)
    }
}

impl Drop for ProgressRegistration {
    fn drop(&mut self) {
        let hook = self.hooks.0.lock().by_token.remove(&self.token);
        drop(hook);
    }
}
