//! Tasks of two nodes that share their stores: what runs at one is watched, answered and cancelled at the other.

use std::any::{Any, TypeId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agentwire_mcp_server::{MemoryTasks, MessageSource, Server, TaskStore, Tasks};
use agentwire_store::{
    Clock, MemoryBus, MemoryEventStore, MemoryNodes, MemoryOnceStore, MemorySessionRecords, Node, SessionId,
    StoreLimits, Stores,
};
use agentwire_transport::{Packet, duplex};
use futures::TryStreamExt;
use serde_json::json;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::{Instant, sleep};

use super::stores::Difficult;
use super::subject::{
    Core, alone_at, answer, cancel, open, opted, started, state, subject_with, tasks, text, until, update,
};
use crate::raw::{NEWEST, Raw, alone, code_of};
use crate::subject::Stopped;

/// The state that the nodes share.
struct Shared {
    stores: Stores,
    nodes: MemoryNodes,
    bus: MemoryBus,
    tasks: Arc<MemoryTasks>,
}

/// A node with a server, which runs until this is dropped.
struct Replica {
    server: Server,
    tasks: Tasks,
    node: Node,
    stopped: Stopped,
    running: AbortHandle,
}

impl Shared {
    fn new() -> Self {
        let (limits, clock) = (StoreLimits::new(), Clock::system());
        let (nodes, bus) = (MemoryNodes::default(), MemoryBus::default());
        let stores = Stores::new(
            Arc::new(MemoryEventStore::new(&limits)),
            Arc::new(MemorySessionRecords::new(&limits, &clock)),
            Arc::new(bus.clone()),
            Arc::new(nodes.clone()),
            Arc::new(MemoryOnceStore::new(&limits, &clock)),
        );
        Self { stores, nodes, bus, tasks: Arc::default() }
    }

    async fn replica(&self) -> Replica {
        self.replica_on(self.tasks.clone()).await
    }

    /// A node that reaches the records of tasks through this store.
    async fn replica_on(&self, store: impl TaskStore) -> Replica {
        let node = Node::join(self.stores.clone()).await.expect("the store is there");
        let stopped = Stopped::default();
        let tasks = tasks().store(store);
        let server = subject_with(tasks.clone(), &stopped).node(node.clone());
        let running = tokio::spawn({
            let node = node.clone();
            async move { node.run(|| sleep(Duration::from_millis(100))).await }
        });
        Replica { server, tasks, node, stopped, running: running.abort_handle() }
    }

    /// Waits until a node has a lease.
    async fn has_lease(&self, replica: &Replica) {
        while !self.stores.nodes.is_alive(replica.node.id()).await.expect("the store answers") {
            yield_now().await;
        }
    }

    /// The state of a task in the store.
    async fn status(&self, id: &str) -> String {
        let record = self.tasks.read(id).await.expect("it can be read").expect("it is there");
        record.status.to_string()
    }
}

impl Replica {
    /// The process has died: it renews nothing, and what ran in it still believes that it runs.
    fn die(&self, shared: &Shared) {
        self.running.abort();
        shared.nodes.expire(self.node.id());
    }

    fn dropped(&self) -> usize {
        self.stopped.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// A client of each of two nodes.
async fn at_two(main: impl AsyncFnOnce(&Shared, [&Replica; 2], [&mut Raw; 2])) {
    let shared = Shared::new();
    let [one, two] = [shared.replica().await, shared.replica().await];
    alone_at(&one.server, async |at_one| {
        alone_at(&two.server, async |at_two| main(&shared, [&one, &two], [at_one, at_two]).await).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_is_answered_at_another_node() {
    at_two(async |_, _, [one, two]| {
        let id = started(one, "ask_two", json!({})).await;
        let asked = until(two, &id, "input_required").await;
        assert_eq!(asked["inputRequests"].as_object().unwrap().len(), 2, "{asked}");
        let wrong = json!({ "taskId": id, "inputResponses": { "name": 5 } });
        assert_eq!(code_of(&two.ask("tasks/update", opted(wrong)).await), -32602);
        update(two, &id, json!({ "name": answer("elicitation/create"), "unknown": 5 })).await;
        let rest = state(two, &id).await;
        assert_eq!(rest["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["greeting"]);
        assert_eq!(state(one, &id).await["inputRequests"], rest["inputRequests"]);
        update(two, &id, json!({ "greeting": answer("sampling/createMessage") })).await;
        assert_eq!(text(&until(two, &id, "completed").await["result"]), "Hi Ada");
        assert_eq!(text(&until(one, &id, "completed").await["result"]), "Hi Ada");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_at_another_node() {
    at_two(async |shared, [first, _], [one, two]| {
        let id = started(one, "deaf", json!({})).await;
        cancel(two, &id).await;
        assert_eq!(shared.status(&id).await, "cancelled");
        assert_eq!(state(one, &id).await["status"], "cancelled");
        assert_eq!(first.dropped(), 1);
        cancel(two, &id).await;
        cancel(one, &id).await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_is_cancelled_at_its_own_node_too_before_that_gets_the_message() {
    at_two(async |_, [first, _], [one, two]| {
        first.running.abort();
        let [deaf, asks] = [started(one, "deaf", json!({})).await, started(one, "ask", json!({})).await];
        for id in [&deaf, &asks] {
            cancel(two, id).await;
            assert_eq!(state(one, id).await["status"], "cancelled");
        }
        assert_eq!(first.dropped(), 1);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_the_bus_loses_is_found_out() {
    at_two(async |shared, [first, second], [one, two]| {
        let id = started(one, "deaf", json!({})).await;
        first.running.abort();
        cancel(two, &id).await;
        while shared.status(&id).await != "cancelled" || second.dropped() > 0 {
            yield_now().await;
        }
        assert_eq!(first.dropped(), 0, "it does not know yet");
        shared.bus.interrupt();
        let node = first.node.clone();
        tokio::spawn(async move { node.run(|| sleep(Duration::from_millis(100))).await });
        while first.dropped() == 0 {
            yield_now().await;
        }
        assert_eq!(state(one, &id).await["status"], "cancelled");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_node_has_died_has_failed_once() {
    at_two(async |shared, [first, second], [one, two]| {
        let id = started(one, "job", json!({ "seconds": 60 })).await;
        let other = started(two, "job", json!({ "seconds": 60 })).await;
        assert_eq!(state(two, &id).await["status"], "working");
        assert_eq!(second.tasks.recover().await.unwrap(), 0, "both nodes are alive");
        first.die(shared);
        let failed = state(two, &id).await;
        assert_eq!(failed["status"], "failed");
        assert_eq!(failed["error"]["message"], "internal error: the server that ran the task has ended");
        // What the node does afterwards counts no more.
        sleep(Duration::from_secs(61)).await;
        assert_eq!(state(two, &id).await, failed);
        assert_eq!(state(one, &id).await, failed, "the node has learned it from the store");
        assert_eq!(state(two, &other).await["status"], "completed");
        assert_eq!(second.tasks.recover().await.unwrap(), 0, "nothing is left");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_start_fails_the_tasks_of_dead_nodes_alone() {
    at_two(async |shared, [first, second], [one, two]| {
        let id = started(one, "deaf", json!({})).await;
        let lives = started(two, "deaf", json!({})).await;
        first.die(shared);
        let third = shared.replica().await;
        assert_eq!(third.tasks.recover().await.unwrap(), 1);
        assert_eq!((&*shared.status(&id).await, &*shared.status(&lives).await), ("failed", "working"));
        // A program that is not a node cannot tell, and leaves them alone.
        second.die(shared);
        assert_eq!(tasks().store(shared.tasks.clone()).recover().await.unwrap(), 0);
        assert_eq!(third.tasks.recover().await.unwrap(), 1);
    })
    .await;
}

/// All leases have ended, and the node that runs the task is the last that has its own again.
#[tokio::test(start_paused = true)]
async fn a_task_goes_on_after_the_store_was_away() {
    at_two(async |shared, [first, second], [one, two]| {
        let id = started(one, "ask", json!({})).await;
        until(two, &id, "input_required").await;
        first.running.abort();
        shared.nodes.interrupt();
        shared.has_lease(second).await;
        assert_eq!(state(two, &id).await["status"], "input_required");
        assert_eq!(second.tasks.recover().await.unwrap(), 0);
        let node = first.node.clone();
        tokio::spawn(async move { node.run(|| sleep(Duration::from_millis(100))).await });
        shared.has_lease(first).await;
        shared.nodes.settle();
        assert_eq!(second.tasks.recover().await.unwrap(), 0);
        update(two, &id, json!({ "name": answer("elicitation/create") })).await;
        assert_eq!(text(&until(two, &id, "completed").await["result"]), "Hello Ada");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn subscription_at_another_node_is_notified_of_a_task() {
    at_two(async |_, _, [one, two]| {
        let id = started(one, "job", json!({ "seconds": 5 })).await;
        let filter = json!({ "taskIds": [id] });
        two.request("heard", "subscriptions/listen", opted(json!({ "notifications": filter }))).await;
        let first = two.next().await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
        let status = two.next().await;
        assert_eq!(
            (&status["method"], &status["params"]["taskId"]),
            (&json!("notifications/tasks"), &json!(id))
        );
        assert_eq!(text(&status["params"]["result"]), "after 5 s");
    })
    .await;
}

/// If the node dies then, another end counts, so this one must not have been reported.
#[tokio::test(start_paused = true)]
async fn end_is_not_reported_before_the_store_has_it() {
    let shared = Shared::new();
    let store = Arc::new(Difficult { memory: shared.tasks.clone(), ..Difficult::default() });
    let [one, two] = [shared.replica_on(store.clone()).await, shared.replica().await];
    alone_at(&one.server, async |at_one| {
        alone_at(&two.server, async |at_two| {
            let of = |id: &String| opted(json!({ "taskId": id }));
            let [deaf, lost] =
                [started(at_one, "deaf", json!({})).await, started(at_one, "deaf", json!({})).await];
            let job = started(at_one, "job", json!({ "seconds": 1 })).await;
            let filter = json!({ "taskIds": [job] });
            at_two.request("heard", "subscriptions/listen", opted(json!({ "notifications": filter }))).await;
            assert_eq!(at_two.next().await["method"], "notifications/subscriptions/acknowledged");
            store.fails.store(true, Ordering::Relaxed);
            for id in [&deaf, &lost] {
                assert_eq!(code_of(&at_one.ask("tasks/cancel", of(id)).await), -32603);
            }
            sleep(Duration::from_secs(100)).await;
            for id in [&deaf, &lost, &job] {
                assert_eq!(code_of(&at_one.ask("tasks/get", of(id)).await), -32603);
                assert_eq!(shared.status(id).await, "working");
            }
            assert_eq!(one.dropped(), 2, "the function ends all the same");
            // It could not be cancelled here, so another end may come first.
            let mut record = shared.tasks.read(&lost).await.unwrap().unwrap();
            record.status = agentwire_mcp_server::schema::task_extension::TaskStatus::Failed;
            assert!(shared.tasks.update(record).await.unwrap());

            store.fails.store(false, Ordering::Relaxed);
            let back = Instant::now();
            cancel(at_one, &deaf).await;
            assert_eq!(shared.status(&deaf).await, "cancelled");
            assert_eq!(state(at_one, &deaf).await["status"], "cancelled");
            assert_eq!(state(at_one, &lost).await["status"], "failed");
            let done = state(at_one, &job).await;
            assert_eq!(text(&done["result"]), "after 1 s");
            let heard = at_two.next().await;
            assert_eq!(heard["params"]["result"], done["result"], "{heard}");
            assert!(back.elapsed() < Duration::from_secs(1), "it is tried at once");
            sleep(Duration::from_secs(60)).await;
            assert_eq!(state(at_two, &job).await, done);
        })
        .await;
    })
    .await;
}

/// An error would be taken for that of the task.
#[tokio::test(start_paused = true)]
async fn caller_waits_for_a_result_until_the_store_has_it() {
    let (shared, session) = (Shared::new(), SessionId::random().unwrap());
    let store = Arc::new(Difficult { memory: shared.tasks.clone(), ..Difficult::default() });
    let one = shared.replica_on(store.clone()).await;
    in_session(&one.server, session, async |client| {
        let id = client.start("job", json!({ "seconds": 1 })).await;
        let other = client.start("deaf", json!({})).await;
        store.fails.store(true, Ordering::Relaxed);
        client.raw.request("result", "tasks/result", json!({ "taskId": id })).await;
        sleep(Duration::from_secs(100)).await;
        assert_eq!(client.refusal_of("tasks/cancel", json!({ "taskId": other })).await, -32603);
        let listed = client.result_of("tasks/list", json!({})).await;
        for task in listed["tasks"].as_array().unwrap() {
            assert_eq!(task["status"], "working", "{listed}");
        }
        let is_early =
            |heard: &serde_json::Value| heard["params"]["status"] != "working" || heard["id"] == "result";
        assert!(!client.heard.iter().any(is_early), "{:?}", client.heard);
        store.fails.store(false, Ordering::Relaxed);
        assert_eq!(text(&client.answer("result").await["result"]), "after 1 s");
        assert_eq!(shared.status(&id).await, "completed");
    })
    .await;
}

/// How the messages of one session arrive, at each node.
#[derive(Clone, Debug)]
struct OfSession(SessionId);

impl MessageSource for OfSession {
    fn extension_of(&self, kind: TypeId) -> Option<&dyn Any> {
        (kind == TypeId::of::<SessionId>()).then_some(&self.0)
    }
}

/// A client in a session of 2025-11-25, which the server knows by that id.
async fn in_session<T>(server: &Server, id: SessionId, main: impl AsyncFnOnce(&mut Core<'_>) -> T) -> T {
    let (near, far) = duplex(16);
    let far = far.map_ok(move |mut packet| {
        if let Packet::Frame { source, .. } = &mut packet {
            *source = Some(Arc::new(OfSession(id)));
        }
        packet
    });
    let client = async {
        let mut raw = Raw::new(near);
        open(&mut raw, NEWEST, super::subject::all()).await;
        main(&mut Core { raw: &mut raw, heard: Vec::new() }).await
    };
    let (result, served) = tokio::join!(client, server.serve(far));
    served.expect("the client leaves in good order");
    result
}

#[tokio::test(start_paused = true)]
async fn the_result_of_a_task_comes_at_another_node_with_its_questions() {
    let (shared, session) = (Shared::new(), SessionId::random().unwrap());
    let [one, two] = [shared.replica().await, shared.replica().await];
    in_session(&one.server, session, async |at_one| {
        in_session(&two.server, session, async |at_two| {
            let completed = at_one.start("ask_twice", json!({})).await;
            let (done, questions) = at_two.finish(&completed).await;
            assert_eq!(text(&done["result"]), "Ada in file:///work");
            let methods: Vec<_> = questions.iter().map(|question| question["method"].clone()).collect();
            assert_eq!(methods, ["elicitation/create", "roots/list"]);
            assert_eq!(at_one.finish(&completed).await.0["result"], done["result"]);

            let cancelled = at_one.start("deaf", json!({})).await;
            at_two.raw.request("result", "tasks/result", json!({ "taskId": cancelled })).await;
            let begun = Instant::now();
            let answer = at_two.result_of("tasks/cancel", json!({ "taskId": cancelled })).await;
            assert_eq!(answer["status"], "cancelled");
            assert_eq!(code_of(&at_two.answer("result").await), -32800);
            assert!(begun.elapsed() < Duration::from_secs(1), "nothing is polled for");
            assert_eq!(at_two.refusal_of("tasks/cancel", json!({ "taskId": cancelled })).await, -32602);

            let failed = at_one.start("deaf", json!({})).await;
            at_two.raw.request("result", "tasks/result", json!({ "taskId": failed })).await;
            at_two.get(&failed).await;
            one.die(&shared);
            assert_eq!(code_of(&at_two.answer("result").await), -32603);
            let listed = at_two.result_of("tasks/list", json!({})).await;
            let tasks = listed["tasks"].as_array().unwrap();
            let state = |id: &str| tasks.iter().find(|task| task["taskId"] == id).map(|task| &task["status"]);
            assert_eq!(
                [&completed, &cancelled, &failed].map(|id| state(id).unwrap()),
                ["completed", "cancelled", "failed"]
            );
            assert_eq!(tasks.len(), 3);
        })
        .await;
    })
    .await;
    in_session(&two.server, SessionId::random().unwrap(), async |other| {
        assert_eq!(other.result_of("tasks/list", json!({})).await["tasks"], json!([]));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_session_outlives_its_connection_at_one_node() {
    let (shared, session) = (Shared::new(), SessionId::random().unwrap());
    let [one, two] = [shared.replica().await, shared.replica().await];
    let id = in_session(&one.server, session, async |client| client.start("deaf", json!({})).await).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!((shared.status(&id).await, one.dropped()), ("working".into(), 0));
    in_session(&two.server, session, async |client| {
        assert_eq!(client.get(&id).await["status"], "working");
    })
    .await;
    // The client ends it at the other node.
    two.node.end_session(session).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(one.dropped(), 1);
    assert!(shared.tasks.read(&id).await.unwrap().is_none());

    let id = in_session(&one.server, session, async |client| client.start("deaf", json!({})).await).await;
    one.node.end_session(session).await;
    sleep(Duration::from_secs(1)).await;
    assert_eq!(one.dropped(), 2, "where it runs");
    assert!(shared.tasks.read(&id).await.unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_drains_takes_the_answers_of_other_nodes() {
    at_two(async |shared, [first, _], [one, two]| {
        let id = started(one, "ask", json!({})).await;
        until(two, &id, "input_required").await;
        first.running.abort();
        let drained = first.server.drain_tasks(Duration::from_secs(30));
        let answered = update(two, &id, json!({ "name": answer("elicitation/create") }));
        tokio::join!(drained, answered);
        assert_eq!(shared.status(&id).await, "completed");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn changes_are_heard_at_every_node() {
    at_two(async |shared, [first, _], [_, two]| {
        let filter = json!({ "toolsListChanged": true });
        two.request("heard", "subscriptions/listen", alone(json!({ "notifications": filter }))).await;
        assert_eq!(two.next().await["method"], "notifications/subscriptions/acknowledged");
        first.server.remove_tool("echo");
        assert_eq!(two.next().await["method"], "notifications/tools/list_changed");
        // A thousand changes at once are few notifications.
        for _ in 0..1000 {
            first.server.add_tool(agentwire_mcp_server::ServerTool::new("echo", "Echo", async || "echo"));
        }
        assert_eq!(two.next().await["method"], "notifications/tools/list_changed");
        two.hears_nothing().await;
        shared.bus.interrupt();
        assert_eq!(two.next().await["method"], "notifications/tools/list_changed", "it may have missed one");
        two.hears_nothing().await;
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn session_is_notified_of_changes_at_another_node() {
    let (shared, session) = (Shared::new(), SessionId::random().unwrap());
    let [one, two] = [shared.replica().await, shared.replica().await];
    in_session(&two.server, session, async |client| {
        client.raw.ping().await;
        one.server.remove_tool("echo");
        assert_eq!(client.raw.next().await["method"], "notifications/tools/list_changed");
        client.raw.hears_nothing().await;
    })
    .await;
}
