#![allow(missing_docs, clippy::print_stdout)]
use agentwire_acp_schema::v1::*;
use std::{hint::black_box, time::Instant};
fn bench(name: &str, mut f: impl FnMut()) {
    for _ in 0..200_000 {
        f()
    }
    let mut best = f64::MAX;
    for _ in 0..7 {
        let t = Instant::now();
        for _ in 0..500_000 {
            f()
        }
        best = best.min(t.elapsed().as_nanos() as f64 / 500_000.0);
    }
    println!("{name}: {best:.0} ns");
}
fn main() {
    let plain = r#"{"sessionId":"sess_abc123def456","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello, this is a piece of an answer."}}}"#;
    let with_id = r#"{"sessionId":"sess_abc123def456","update":{"sessionUpdate":"agent_message_chunk","messageId":"msg_0123456789","content":{"type":"text","text":"Hello, this is a piece of an answer."}}}"#;
    let late = r#"{"sessionId":"sess_abc123def456","update":{"content":{"text":"Hello, this is a piece of an answer.","type":"text"},"sessionUpdate":"agent_message_chunk"}}"#;
    let tool = r#"{"sessionId":"sess_abc123def456","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_001","status":"completed","title":"Edit a file","content":[{"type":"diff","path":"/repo/src/main.rs","oldText":"fn main() {}","newText":"fn main() { println!(\"hi\") }"}],"locations":[{"path":"/repo/src/main.rs","line":3}]}}"#;
    for (n, t) in [("plain", plain), ("messageId", with_id), ("tag late", late), ("tool_call_update", tool)] {
        bench(&format!("decode {n}"), || {
            black_box(serde_json::from_str::<SessionNotification>(black_box(t)).unwrap());
        });
        let v: SessionNotification = serde_json::from_str(t).unwrap();
        let mut buf = Vec::with_capacity(4096);
        bench(&format!("encode {n}"), || {
            buf.clear();
            serde_json::to_writer(&mut buf, black_box(&v)).unwrap();
            black_box(&buf);
        });
    }

    bench("ignored", || {
        black_box(serde_json::from_str::<serde::de::IgnoredAny>(black_box(plain)).unwrap());
    });
    bench("value", || {
        black_box(serde_json::from_str::<serde_json::Value>(black_box(plain)).unwrap());
    });
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct B {
        session_id: SessionId,
        update: C,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct C {
        session_update: String,
        content: D,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct D {
        r#type: String,
        text: String,
    }
    bench("flat derive", || {
        black_box(serde_json::from_str::<B>(black_box(plain)).unwrap());
    });
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct E {
        session_id: SessionId,
        update: SessionUpdate,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct F {
        session_id: SessionId,
        update: serde::de::IgnoredAny,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[allow(dead_code)]
    struct G {
        session_id: SessionId,
        update: Box<SessionUpdate>,
    }
    bench("id+update", || {
        black_box(serde_json::from_str::<E>(black_box(plain)).unwrap());
    });
    bench("id+box update", || {
        black_box(serde_json::from_str::<G>(black_box(plain)).unwrap());
    });
    bench("id+ignored", || {
        black_box(serde_json::from_str::<F>(black_box(plain)).unwrap());
    });
    bench("id", || {
        black_box(serde_json::from_str::<SessionId>(black_box("\"sess_abc123def456\"")).unwrap());
    });
    bench("text content", || {
        black_box(
            serde_json::from_str::<TextContent>(black_box(
                r#"{"text":"Hello, this is a piece of an answer."}"#,
            ))
            .unwrap(),
        );
    });
    bench("content block", || {
        black_box(
            serde_json::from_str::<ContentBlock>(black_box(
                r#"{"type":"text","text":"Hello, this is a piece of an answer."}"#,
            ))
            .unwrap(),
        );
    });
    bench("chunk", || {
        black_box(
            serde_json::from_str::<ContentChunk>(black_box(
                r#"{"content":{"type":"text","text":"Hello, this is a piece of an answer."}}"#,
            ))
            .unwrap(),
        );
    });
    bench("update", || {
        black_box(serde_json::from_str::<SessionUpdate>(black_box(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello, this is a piece of an answer."}}"#)).unwrap());
    });
    let v: SessionNotification = serde_json::from_str(plain).unwrap();
    println!("{}", serde_json::to_string(&v).unwrap());
    println!(
        "{} chunk {} usage {} notice {} plan {} mode {} notif {}",
        size_of::<TextContent>(),
        size_of::<ContentChunk>(),
        size_of::<UsageUpdate>(),
        size_of::<Notice>(),
        size_of::<Plan>(),
        size_of::<CurrentModeUpdate>(),
        size_of::<SessionNotification>()
    );
    println!(
        "size {} {} {}",
        size_of::<SessionUpdate>(),
        size_of::<ContentBlock>(),
        size_of::<ToolCallContent>()
    );
}
