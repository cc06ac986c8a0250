//! Functions whose awaits are always ready: other calls still run, and a cancel ends them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agentwire_mcp_server::schema::LoggingLevel;
use agentwire_mcp_server::{Context, Elicited, Form, NoArguments, Server};
use serde_json::json;

use crate::raw::{NEWEST, Raw, alone, with_both_eras};

/// How many times a function repeats its step: seconds of work, of which a test sees milliseconds.
const TIMES: usize = 3_000_000;

/// A step that a function repeats.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// Progress that no client asked for.
    Progress,
    /// Progress that does not grow.
    SameProgress,
    /// A log below the client's level.
    Log,
    /// A question that the client cannot be asked.
    Elicit,
    /// News that the client does not know.
    ElicitationComplete,
    /// A call that the client cannot be asked.
    Call,
}

async fn take(step: Step, number: usize, cx: &Context) {
    match step {
        Step::Progress => cx.progress(number as f64, None, None).await.expect("the connection is there"),
        Step::SameProgress => cx.progress(1.0, None, None).await.expect("the connection is there"),
        Step::Log => cx.log(LoggingLevel::Debug, None, "x").await.expect("the connection is there"),
        Step::Elicit => {
            let answer: Result<Elicited<_>, _> = cx.elicit(&number.to_string(), Form::new("Sure?")).await;
            assert!(answer.is_err(), "the client said nothing of elicitation");
        }
        Step::ElicitationComplete => {
            cx.client().elicitation_complete("1").await.expect("the connection is there");
        }
        Step::Call => {
            cx.client().list_roots().await.expect_err("the client said nothing of roots");
        }
    }
}

/// A server whose tool does that for seconds, and how often it did.
fn busy(step: Step) -> (Server, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = taken.clone();
    let work = move |_: NoArguments, cx: Context| {
        let count = count.clone();
        async move {
            for number in 1..=TIMES {
                count.store(number, Ordering::Relaxed);
                take(step, number, &cx).await;
            }
            "done"
        }
    };
    (Server::new("busy", "1").logging(LoggingLevel::Info).tool("work", "Work", work), taken)
}

const STEPS: [Step; 6] =
    [Step::Progress, Step::SameProgress, Step::Log, Step::Elicit, Step::ElicitationComplete, Step::Call];

/// The call is cancelled, and the connection is served before and after that.
async fn ends(raw: &mut Raw, params: serde_json::Value, step: Step) {
    raw.request(1, "tools/call", params).await;
    if step == Step::SameProgress {
        assert_eq!(raw.next().await["method"], "notifications/progress");
    }
    raw.result_of("tools/list", alone(json!({}))).await;
    raw.notify("notifications/cancelled", json!({ "requestId": 1 })).await;
    raw.result_of("tools/list", alone(json!({}))).await;
}

#[tokio::test(start_paused = true)]
async fn a_function_that_never_waits_is_dropped_when_its_call_is_cancelled() {
    for step in STEPS {
        let (server, taken) = busy(step);
        let params = match step {
            Step::SameProgress => json!({ "name": "work", "_meta": { "progressToken": 1 } }),
            _ => json!({ "name": "work" }),
        };
        with_both_eras(&server, async |raw| {
            raw.greet(NEWEST).await;
            ends(raw, params, step).await;
        })
        .await;
        assert!((1..TIMES).contains(&taken.load(Ordering::Relaxed)), "{step:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_function_that_never_waits_is_dropped_when_its_client_leaves() {
    for step in STEPS {
        let (server, taken) = busy(step);
        with_both_eras(&server, async |raw| {
            let more = json!({ "progressToken": 1 });
            let params = crate::raw::alone_with(json!({ "name": "work" }), more);
            let params = if step == Step::SameProgress { params } else { alone(json!({ "name": "work" })) };
            raw.request(1, "tools/call", params).await;
            if step == Step::SameProgress {
                assert_eq!(raw.next().await["method"], "notifications/progress");
            }
            raw.abandon(1).await;
            raw.result_of("tools/list", alone(json!({}))).await;
        })
        .await;
        assert!((1..TIMES).contains(&taken.load(Ordering::Relaxed)), "{step:?}");
    }
}
