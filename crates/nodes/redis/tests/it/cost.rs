//! The cost of the engine: memory for each session, and time for each result.

use std::time::{Duration, Instant};

use agentwire_jsonrpc::RawJson;
use agentwire_store::{EventStore, NodeId, SessionId, SessionRecord, SessionRecords, StreamRun};
use futures::{StreamExt, stream};

use crate::engine::Engine;
use crate::events::event;

const SESSIONS: u64 = 1_000_000;

/// A number from the engine's INFO.
async fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(engine: &Engine, section: &str, name: &str) -> T {
    let info: String =
        redis::cmd("INFO").arg(section).query_async(&mut engine.connection().await).await.unwrap();
    let value = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    value.parse().unwrap()
}

async fn used_memory(engine: &Engine) -> u64 {
    number(engine, "memory", "used_memory").await
}

/// The processor time of the engine, in microseconds.
async fn used_cpu(engine: &Engine) -> f64 {
    let (user, system): (f64, f64) =
        (number(engine, "cpu", "used_cpu_user").await, number(engine, "cpu", "used_cpu_sys").await);
    (user + system) * 1e6
}

mod long {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "takes minutes: cargo xtask ci long"]
    async fn idle_session_takes_less_than_a_kilobyte() {
        let engine = Engine::with(&["--save", ""]).await;
        let store = engine.store().await;
        let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true},"sampling":{},"elicitation":{}},"clientInfo":{"name":"example-client","title":"Example","version":"1.0.0"}}}"#;
        let messages = [initialize, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#];
        let messages: Vec<_> =
            messages.into_iter().map(|text| RawJson::parse(text.into()).unwrap()).collect();
        let record = SessionRecord::new(Some([7; 32]), messages);
        let before = used_memory(&engine).await;
        stream::iter(0..SESSIONS)
            .for_each_concurrent(256, async |_| {
                let session = SessionId::random().unwrap();
                store.create(session, record.clone(), Duration::from_secs(3600)).await.unwrap();
                store.take_streams(session, 64).await.unwrap();
            })
            .await;
        let each = (used_memory(&engine).await - before) / SESSIONS;
        eprintln!(
            "{each} bytes for each session, of which the record has {}",
            serde_json::to_vec(&record).unwrap().len()
        );
        assert!(each < 1000, "{each}");
    }

    #[tokio::test(flavor = "multi_thread")]
    #[ignore = "takes minutes: cargo xtask ci long"]
    async fn result_is_durable_within_a_fraction_of_a_millisecond() {
        for fsync in ["no", "everysec", "always"] {
            let engine = Engine::with(&["--save", "", "--appendonly", "yes", "--appendfsync", fsync]).await;
            let store = engine.store().await;
            let session = SessionId::random().unwrap();
            let text = "x".repeat(600);
            let mut times = Vec::new();
            let cpu = used_cpu(&engine).await;
            for stream in 1..=2000 {
                let start = Instant::now();
                store.append(session, event(stream, 1, &text), true).wait().await.unwrap();
                times.push(start.elapsed());
            }
            let each = (used_cpu(&engine).await - cpu) / 2000.0;
            times.sort_unstable();
            // 64 at a time, as under load.
            let cpu = used_cpu(&engine).await;
            let all =
                (1..=20_000).map(|stream| store.append(session, event(10_000 + stream, 1, &text), true));
            stream::iter(all).map(agentwire_store::Durable::wait).buffered(64).for_each(async |_| ()).await;
            let together = (used_cpu(&engine).await - cpu) / 20_000.0;
            let session = SessionId::random().unwrap();
            let start = Instant::now();
            store.begin(session, 1, StreamRun::new(NodeId::new(1), Vec::new())).wait().await.unwrap();
            let all = (1..=50_000).map(|place| store.append(session, event(1, place, &text), false));
            stream::iter(all).map(agentwire_store::Durable::wait).buffered(1000).for_each(async |_| ()).await;
            let rate = 50_000.0 / start.elapsed().as_secs_f64();
            eprintln!(
                "{fsync}: median {:?}, 99 % {:?}, {each:.0} µs of the engine's processor for each, {together:.0} µs \
                 where 64 wait; {rate:.0} events a second",
                times[1000], times[1980]
            );
            assert!(fsync == "always" || times[1000] < Duration::from_micros(600), "{:?}", times[1000]);
        }
    }
}
