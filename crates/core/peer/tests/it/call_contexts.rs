//! An observer's data for a call of ours when it is made, which comes back when the call begins.

use std::sync::{Arc, Mutex};

use agentwire_jsonrpc::RawObject;
use agentwire_peer::Config;
use agentwire_peer::observe::{
    CallContext, CallObserver, CallStart, Direction, NewCall, Observer, Observers,
};
use serde_json::{Value, json};

use crate::support::{ask, deaf, mcp, with_wire};

/// Adds its name to the `_meta` of each call, and writes down what it observes.
#[derive(Clone)]
struct Adds {
    name: &'static str,
    connection: bool,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Adds {
    fn new(name: &'static str) -> Self {
        Self { name, connection: false, lines: Arc::default() }
    }

    fn write(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }
}

impl Observer for Adds {
    fn connection_started(&self) -> Option<Arc<dyn Observer>> {
        Some(Arc::new(Self { connection: true, ..self.clone() }))
    }

    fn call_made(&self, call: &NewCall<'_>) -> Option<CallContext> {
        self.write(format!("{} {} made, on the connection: {}", self.name, call.method, self.connection));
        assert_ne!(self.name, "panics");
        let meta = RawObject::from_iter([(self.name, json!(self.connection))]);
        Some(CallContext::new(Arc::new(self.name)).meta(meta))
    }

    fn call_started(&self, call: &CallStart<'_>) -> Option<Arc<dyn CallObserver>> {
        assert_eq!(call.direction, Direction::Out);
        let context = call.context.map(|context| *context.downcast_ref::<&str>().unwrap());
        let meta = call.meta().map(|meta| meta.to_string());
        self.write(format!("{} {:?} {:?}", call.method, context, meta));
        None
    }
}

/// Makes a call, and returns its params as they arrived.
async fn params_of_a_call(config: Config) -> Value {
    with_wire(config, deaf(), async |peer, mut far| {
        let call = peer.call(&ask("how"));
        let answering = async {
            let request = far.heard().await;
            far.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": 1}));
            request["params"].clone()
        };
        let (answer, params) = futures::join!(call, answering);
        answer.unwrap();
        params
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn a_call_carries_what_its_observer_adds() {
    let adds = Adds::new("a");
    let params = params_of_a_call(mcp().observer(Arc::new(adds.clone()))).await;
    assert_eq!(params, json!({"text": "how", "_meta": {"a": true}}));
    assert_eq!(
        *adds.lines.lock().unwrap(),
        ["a ask made, on the connection: true", r#"ask Some("a") Some("{\"a\":true}")"#]
    );
}

#[tokio::test(start_paused = true)]
async fn several_observers_get_their_own_values() {
    let (one, two) = (Adds::new("a"), Adds::new("b"));
    let both = Observers::new([Arc::new(one.clone()) as Arc<dyn Observer>, Arc::new(two.clone())]);
    let params = params_of_a_call(mcp().observer(Arc::new(both))).await;
    assert_eq!(params, json!({"text": "how", "_meta": {"a": true, "b": true}}));
    for (observer, name) in [(one, "a"), (two, "b")] {
        let lines = observer.lines.lock().unwrap();
        assert_eq!(lines[1], format!(r#"ask Some("{name}") Some("{{\"a\":true,\"b\":true}}")"#));
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_leaves_the_call_as_it_is() {
    let params = params_of_a_call(mcp().observer(Arc::new(Adds::new("panics")))).await;
    assert_eq!(params, json!({"text": "how"}));
}

#[tokio::test(start_paused = true)]
async fn the_value_of_a_call_that_is_never_sent_is_dropped() {
    let adds = Adds::new("a");
    let (peer, driver) = crate::support::driver(mcp().observer(Arc::new(adds.clone())));
    let mut call = Box::pin(peer.call(&ask("how")));
    assert!(futures::poll!(&mut call).is_pending());
    assert_eq!(*adds.lines.lock().unwrap(), ["a ask made, on the connection: false"]);
    let held = Arc::strong_count(&adds.lines);
    drop((call, driver, peer));
    assert!(Arc::strong_count(&adds.lines) < held);
}
