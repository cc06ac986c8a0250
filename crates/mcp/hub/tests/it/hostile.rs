//! Malicious servers and configuration files.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agentwire_jsonrpc::WithCauses;
use agentwire_mcp_client::BoxError;
use agentwire_mcp_client::schema::{ElicitFormRequest, ElicitResult};
use agentwire_mcp_hub::{CustomTarget, Hub, HubConfig, McpConfig, McpConfigFault, ServerConfig, ServerState};
use agentwire_transport::{Duplex, Packet, duplex};
use futures::future::join;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};

use crate::local_server::LocalServer;

#[cfg(feature = "http")]
#[test]
fn a_file_with_more_headers_than_http_carries_is_an_error() {
    let headers: String = (0..40_000).map(|n| format!(r#""x{n}":"","#)).collect();
    let text = format!(r#"{{"servers":{{"s":{{"url":"http://127.0.0.1/","headers":{{{headers}}}}}}}}}"#);
    let error = McpConfig::from_str(&text, |_| None).unwrap_err();
    assert!(matches!(error.fault(), McpConfigFault::Header), "{error}");
    assert_eq!(error.server(), Some("s"));
}

/// Readers differ in which of two members they use, and so in what a user has agreed to.
#[test]
fn repeated_name_is_an_error() {
    let rows = [
        r#"{"servers":{"s":{"command":"a"},"s":{"command":"b"}}}"#,
        r#"{"servers":{"s":{"command":"a"}},"mcpServers":{"s":{"command":"b"}}}"#,
        r#"{"servers":{"s":{"command":"a"}},"servers":{"t":{"command":"b"}}}"#,
        r#"{"servers":{"s":{"command":"a","disabled":true},"s":{"command":"b"}}}"#,
        r#"{"servers":{"s":{"command":"a","command":"b"}}}"#,
        r#"{"servers":{"s":{"command":"a","env":{"A":"1","\u0041":"2"}}}}"#,
    ];
    for text in rows {
        let error = McpConfig::from_str(text, |_| None).map(|config| config.servers().len()).unwrap_err();
        assert!(error.to_string().contains("twice"), "{text}: {error}");
    }
}

/// A server in this process that a function plays, with one end of the wire.
fn custom<F: Future<Output = ()> + Send + 'static>(
    name: &str,
    play: impl Fn(Duplex) -> F + Send + Sync + 'static,
) -> ServerConfig {
    let target = CustomTarget::new(name, move || {
        let (near, far) = duplex(8);
        tokio::spawn(play(far));
        Ok(near)
    });
    ServerConfig::new(name, target)
}

/// The response of a server with sessions; `None` for text that is not a request.
fn answer(message: &Value, tools: &Value) -> Option<Packet> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "serverInfo": { "name": "s", "version": "1" },
            "capabilities": { "tools": { "listChanged": true } },
        }),
        "tools/list" => json!({ "tools": tools }),
        _ => {
            let error = json!({ "code": -32601, "message": "\u{1b}[2Jgone\u{202e}" });
            return Some(Packet::from_json(
                &json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string(),
            ));
        }
    };
    Some(Packet::from_json(&json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()))
}

fn read(packet: Packet) -> Value {
    serde_json::from_str(&packet.into_json().expect("a frame")).unwrap()
}

async fn run(config: HubConfig, servers: Vec<ServerConfig>, main: impl AsyncFnOnce(&Hub)) {
    let (hub, driver) = Hub::with_config(config, servers);
    let main = async {
        main(&hub).await;
        hub.close().await;
    };
    tokio::time::timeout(Duration::from_secs(3600), join(driver, main)).await.expect("it ends in time");
}

#[tokio::test(start_paused = true)]
async fn reported_change_that_changes_nothing_wakes_no_task() {
    let server = LocalServer::default();
    server.set_tools([("x", 1), ("x", 2), ("y", 1)]);
    run(HubConfig::new(), vec![server.config("s")], async |hub| {
        hub.ready().await;
        let mut changes = hub.changes();
        changes.next().await.unwrap();
        let listed = server.listings();
        server.notify();
        let woken = tokio::time::timeout(Duration::from_secs(60), changes.next()).await;
        assert!(server.listings() > listed, "the list was read again");
        assert!(woken.is_err(), "nothing has changed");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn text_of_a_server_steers_no_terminal() {
    let name = "x\u{1b}[2J\u{202e}";
    let refusing = custom("refusing", |mut wire| async move {
        while let Some(Ok(packet)) = wire.next().await {
            let Some(id) = read(packet).get("id").cloned() else { continue };
            let error = json!({ "code": 1, "message": "\u{1b}[2Jno\u{202e}" });
            let refusal = json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string();
            if wire.send(Packet::from_json(&refusal)).await.is_err() {
                return;
            }
        }
    });
    let serving = custom("serving", move |mut wire| async move {
        let tools = json!([{ "name": name, "inputSchema": { "type": "object" } }]);
        while let Some(Ok(packet)) = wire.next().await {
            if let Some(answer) = answer(&read(packet), &tools)
                && wire.send(answer).await.is_err()
            {
                return;
            }
        }
    });
    run(HubConfig::new(), vec![refusing, serving], async |hub| {
        let tool = hub.tools().await.remove(0);
        // Each error escapes for itself, so nothing is escaped here.
        let mut shown = vec![hub.status()[0].state.to_string()];
        assert!(matches!(hub.status()[0].state, ServerState::Failed(_)));
        shown.push(WithCauses::new(&hub.call_tool(&tool, ()).await.unwrap_err()).plain());
        let full = format!("serving__{name}");
        assert_eq!(hub.resolve(&full).unwrap(), tool);
        shown.push(WithCauses::new(&hub.only(["other"]).resolve(&full).unwrap_err()).plain());
        shown.push(WithCauses::new(&hub.resolve("\u{1b}[2J").unwrap_err()).plain());
        let mut changed = tool.clone();
        changed.tool.name.push('!');
        shown.push(WithCauses::new(&hub.call_tool(&changed, ()).await.unwrap_err()).plain());
        for text in shown {
            assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
            assert!(text.contains("^["), "{text}");
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_longest_of_times_is_no_time_limit() {
    let server = LocalServer::default();
    server.set_tools([("x", 1)]);
    let config = HubConfig::new().connect_limit(Duration::MAX).relist_pause(Duration::MAX);
    run(config, vec![server.config("s")], async |hub| {
        hub.ready().await;
        for _ in 0..3 {
            server.notify();
            tokio::time::sleep(Duration::from_secs(100)).await;
        }
        assert_eq!(server.listings(), 2);
        assert_eq!(hub.call("x", ()).await.unwrap().text(), "x");
    })
    .await;
}

/// A server that keeps sending questions while its connection ends.
#[tokio::test(start_paused = true)]
async fn a_server_that_is_removed_asks_nothing_more() {
    let asked = Arc::new(AtomicUsize::new(0));
    let [count, drops] = [asked.clone(), Arc::new(AtomicUsize::new(0))];
    let open = drops.clone();
    let config = HubConfig::new().elicitation(move |_, _: ElicitFormRequest| {
        count.fetch_add(1, Ordering::SeqCst);
        open.fetch_add(1, Ordering::SeqCst);
        let guard = OnDrop(open.clone());
        async move {
            let _guard = guard;
            pending::<()>().await;
            Ok(ElicitResult::decline())
        }
    });
    let server = custom("s", |mut wire| async move {
        let mut id = 0;
        loop {
            let packet = tokio::time::timeout(Duration::from_millis(10), wire.next()).await;
            let said = match packet {
                Ok(Some(Ok(packet))) => answer(&read(packet), &json!([])),
                Ok(_) => None,
                Err(_) => None,
            };
            let said = said.unwrap_or_else(|| {
                id += 1;
                let form = json!({ "message": "?", "requestedSchema": { "type": "object", "properties": {} } });
                let ask = json!({ "jsonrpc": "2.0", "id": format!("q{id}"), "method": "elicitation/create", "params": form });
                Packet::from_json(&ask.to_string())
            });
            tokio::task::yield_now().await;
            if wire.send(said).await.is_err() {
                return;
            }
        }
    });
    run(config, vec![server], async |hub| {
        hub.ready().await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(asked.load(Ordering::SeqCst) > 0);
        hub.remove("s").unwrap();
        let before = asked.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(asked.load(Ordering::SeqCst), before, "a server that is gone asks");
        assert_eq!(drops.load(Ordering::SeqCst), 0, "its questions are withdrawn");
    })
    .await;
}

struct OnDrop(Arc<AtomicUsize>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Calls, additions, removals and new connections at once, from several threads, with callers who lose interest at any
/// point.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_is_done_at_once_the_last_word_counts() {
    const SERVERS: usize = 4;
    let servers: Vec<_> = (0..SERVERS).map(|_| LocalServer::default()).collect();
    servers.iter().for_each(|server| server.set_tools([("x", 1)]));
    let configs: Vec<_> =
        servers.iter().enumerate().map(|(n, server)| server.config(&format!("s{n}"))).collect();
    let (hub, driver) = Hub::new(configs.clone());
    let driver = tokio::spawn(driver);
    for round in 0..50_u64 {
        let tasks: Vec<_> = (0..4_u64)
            .map(|task| {
                let (hub, configs) = (hub.clone(), configs.clone());
                tokio::spawn(async move {
                    let mut seed = round * 4 + task + 1;
                    for _ in 0..20 {
                        seed ^= seed << 13;
                        seed ^= seed >> 7;
                        seed ^= seed << 17;
                        let place = (seed >> 8) as usize % SERVERS;
                        let name = format!("s{place}");
                        match seed % 6 {
                            0 => drop(hub.add(configs[place].clone())),
                            1 => drop(hub.remove(&name)),
                            2 => drop(hub.reconnect(&name)),
                            3 => {
                                let call = hub.call(&format!("{name}__x"), ());
                                let time = Duration::from_micros(seed >> 8 & 0xff);
                                let _ = tokio::time::timeout(time, call.into_future()).await;
                            }
                            4 => drop(tokio::time::timeout(Duration::from_micros(50), hub.tools()).await),
                            _ => tokio::task::yield_now().await,
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        // Whatever was there is gone, and all come back.
        for status in hub.status() {
            hub.remove(&status.name).unwrap();
        }
        assert!(hub.status().is_empty() && hub.tools().await.is_empty());
        let mut names: Vec<_> = configs.iter().map(|config| hub.add(config.clone()).unwrap()).collect();
        names.sort();
        let ready = tokio::time::timeout(Duration::from_secs(20), hub.ready()).await;
        assert!(ready.is_ok(), "round {round}: {:?}", hub.status());
        for name in &names {
            let result = hub.call(&format!("{name}__x"), ()).await;
            assert_eq!(
                result.map(|result| result.text().into_owned()).map_err(|e| WithCauses::new(&e).to_string()),
                Ok("x".into()),
                "round {round}: {:?}",
                hub.status()
            );
        }
    }
    tokio::time::timeout(Duration::from_secs(20), hub.close()).await.unwrap();
    driver.await.unwrap();
}

/// A repository may have a link to a device in the place of the file, such as the stdin that carries the protocol.
#[test]
fn irregular_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, link) = (folder.path().join("pipe"), folder.path().join(".mcp.json"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    for path in [pipe, link, "/dev/tty".into(), "/dev/zero".into(), folder.path().to_owned()] {
        let (sender, read) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(McpConfig::read(&path).map(drop)));
        let error = read.recv_timeout(Duration::from_secs(20)).expect("it does not wait").unwrap_err();
        assert!(matches!(error.fault(), McpConfigFault::NotFile), "{error}");
    }
    assert!(matches!(McpConfig::read("/none").unwrap_err().fault(), McpConfigFault::Io(_)));
}

#[tokio::test(start_paused = true)]
async fn function_of_the_host_that_panics_costs_the_tools_of_its_server() {
    let local = LocalServer::default();
    local.set_tools([("x", 1)]);
    let opened = AtomicUsize::new(0);
    let panicking = CustomTarget::new("p", move || -> Result<Duplex, BoxError> {
        panic!("no {}", opened.fetch_add(1, Ordering::Relaxed))
    });
    let servers = vec![ServerConfig::new("p", panicking), local.config("s")];
    let observed = HubConfig::new().observer(|server| match &*server.name {
        "o" => panic!("not this one"),
        _ => None,
    });
    run(observed, servers, async |hub| {
        assert_eq!(hub.tools().await.len(), 1);
        assert_eq!(hub.status()[0].state.to_string(), "failed: a function of the host panicked: no 0");
        let added = hub.add(local.config("o")).unwrap();
        hub.reconnect("p").unwrap();
        hub.ready().await;
        assert_eq!(hub.status()[0].state.to_string(), "failed: a function of the host panicked: no 1");
        assert_eq!(
            hub.status()[2].state.to_string(),
            "failed: a function of the host panicked: not this one"
        );
        assert_eq!((&*added, hub.call("x", ()).await.unwrap().text()), ("o", "x".into()));
    })
    .await;
}
