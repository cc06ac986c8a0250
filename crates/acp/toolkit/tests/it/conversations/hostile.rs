//! Conversations stay within their memory limit against hostile agents.

use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{Change, Conversation, ConversationLimits, Entry};
use serde_json::{Value, json};

use super::updated;

const LIMIT: usize = 1024 * 1024;

/// The n-th message of a hostile agent.
type Flood = fn(usize) -> Value;

const FLOODS: &[(&str, Flood)] = &[
    ("one endless message", |_| super::agent(&"x".repeat(5000))),
    ("messages without end", |n| super::chunk("agent_message_chunk", Some(&n.to_string()), "")),
    ("ids of any length", |n| {
        super::chunk("agent_message_chunk", Some(&format!("{n}{}", "x".repeat(20_000))), "")
    }),
    ("blocks of one message", |_| {
        let image = json!({ "type": "image", "data": "", "mimeType": "" });
        json!({ "sessionUpdate": "agent_message_chunk", "content": image })
    }),
    ("a message whose meta changes", |n| {
        let mut chunk = super::agent("x");
        chunk["_meta"] = json!({ "n": n, "x": "x".repeat(5000) });
        chunk
    }),
    ("tool calls without end", |n| super::call(&n.to_string())),
    ("a huge output", |n| {
        let output = vec![json!({ "n": n }); 1500];
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": n.to_string(), "rawOutput": output })
    }),
    ("a tree that is small on the wire", |n| {
        let input = vec![json!({ "": 0 }); 150];
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": n.to_string(), "rawInput": input })
    }),
    ("locations without end", |n| {
        let locations = vec![json!({ "path": "/" }); 50];
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": n.to_string(), "locations": locations })
    }),
    ("notices", |n| json!({ "sessionUpdate": "notice", "severity": n.to_string(), "title": "x" })),
    ("updates that nobody knows", |n| json!({ "sessionUpdate": n.to_string(), "x": [1, 2, { "": {} }] })),
    ("compactions", |n| {
        let meta = json!({ n.to_string(): "x".repeat(100) });
        json!({ "sessionUpdate": "compaction_update", "compactionId": "k", "status": "x", "_meta": meta })
    }),
    ("summaries", |n| {
        let content = json!({ "type": "text", "text": "x".repeat(2000) });
        json!({ "sessionUpdate": "compaction_summary_chunk", "compactionId": (n % 3).to_string(), "content": content })
    }),
    ("a plan that grows", |n| {
        let entry = json!({ "content": "x", "priority": "x", "status": "x" });
        json!({ "sessionUpdate": "plan", "entries": vec![entry; n % 1000] })
    }),
    ("commands and titles that grow", |n| match n % 2 {
        0 => json!({ "sessionUpdate": "session_info_update", "title": "x".repeat(n * 100) }),
        _ => json!({ "sessionUpdate": "available_commands_update",
                     "availableCommands": vec![json!({ "name": "", "description": "" }); n] }),
    }),
];

/// Fills a conversation over its limit, and checks that entries are then dropped or bytes left out.
fn drown(name: &str, flood: Flood) {
    let mut conversation = Conversation::new().limit(LIMIT);
    let mut after = 0;
    for n in 0..2000 {
        let update: SessionUpdate = serde_json::from_value(flood(n)).unwrap();
        let applied = conversation.apply(update);
        assert!(conversation.weight() <= LIMIT, "{name}");
        assert!(applied.change.index().is_none_or(|index| conversation.entry(index).is_some()), "{name}");
        after += usize::from(conversation.forgotten() > 0 || conversation.omitted() > 0);
        if after > 100 {
            break;
        }
    }
    let text: usize = conversation.entries().map(|(_, entry)| format!("{entry:?}").len()).sum();
    assert!(text <= 2 * LIMIT, "{name} is estimated too low: {text}");
    assert!(after > 0 || name.contains("meta changes"), "{name} was no flood");
}

#[test]
fn conversation_is_bounded_whatever_the_agent_sends() {
    for (name, flood) in FLOODS {
        drown(name, *flood);
    }
}

#[test]
fn the_oldest_is_forgotten_first_and_indices_stay() {
    let mut conversation = Conversation::new().limit(100_000);
    for n in 0..1000 {
        let applied = conversation.apply(ToolCall::new(n.to_string(), "x".repeat(100)));
        assert_eq!(applied.change, Change::Added(n));
    }
    let first = conversation.forgotten();
    assert!(first > 900 && conversation.entry(first - 1).is_none());
    let Some(Entry::ToolCall(call)) = conversation.entry(first) else { panic!("{first} is kept") };
    assert_eq!(call.call.tool_call_id.as_str(), first.to_string());
    assert_eq!(conversation.tool_call(&(first - 1).to_string().into()), None);
    // An update of a forgotten call is one of another call.
    let late = ToolCallUpdate::new("0").status(ToolCallStatus::Completed);
    assert_eq!(conversation.apply(late).change, Change::Added(1000));
}

#[test]
fn part_that_is_too_large_is_left_out_and_marked() {
    let mut conversation = Conversation::new().limit(1_000_000);
    let _ = conversation.apply(ToolCall::new("c", "Fine").raw_output(json!("before")));
    let update =
        ToolCallUpdate::new("c").status(ToolCallStatus::Completed).raw_output(json!("x".repeat(100_000)));
    let applied = conversation.apply(update);
    assert!(updated(applied.change, 0).omitted && applied.omitted > 100_000, "{applied:?}");
    let call = super::tool_call(&conversation, "c");
    assert_eq!(
        (&call.call.status, &call.call.raw_output),
        (&ToolCallStatus::Completed, &Some(json!("before").into()))
    );
    assert_eq!((call.omitted, conversation.omitted()), (applied.omitted, applied.omitted));

    // A message ends where the first piece is missing.
    for text in [&"a".repeat(50_000), &"b".repeat(200_000), &*"c".repeat(10)] {
        let _ = conversation.apply(SessionNotification::message("s", text).update);
    }
    let message = super::message(&conversation, 1);
    assert_eq!(message.text(), "a".repeat(50_000));
    assert!(message.omitted > 200_010);
}

/// The variable with the limit and the number of a flood, for the process that measures it.
#[cfg(target_os = "linux")]
const FLOOD: &str = "AGENTWIRE_TEST_FLOOD";

/// Compares the estimate with the memory of the process as the system counts it.
#[cfg(target_os = "linux")]
#[test]
fn the_process_stays_small() {
    if let Ok(flood) = std::env::var(FLOOD) {
        let (limit, flood) = flood.split_once(' ').unwrap();
        return fill_and_measure(limit.parse().unwrap(), FLOODS[flood.parse::<usize>().unwrap()].1);
    }
    fill_in_processes(32 << 20);
}

#[cfg(target_os = "linux")]
mod long {
    use super::*;

    #[test]
    #[ignore = "takes minutes: cargo xtask ci long"]
    fn the_process_stays_as_small_with_a_large_limit() {
        fill_in_processes(64 << 20);
    }
}

/// Runs each flood in a process of its own, in which nothing else takes memory.
#[cfg(target_os = "linux")]
fn fill_in_processes(limit: usize) {
    let names = [
        "messages without end",
        "tool calls without end",
        "a tree that is small on the wire",
        "a huge output",
    ];
    let start = |name| {
        let number = FLOODS.iter().position(|(other, _)| *other == name).unwrap();
        let process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "conversations::hostile::the_process_stays_small", "--nocapture"])
            .env(FLOOD, format!("{limit} {number}"))
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn();
        (name, process.unwrap())
    };
    // Two at a time, for whom there is a core each.
    for names in names.chunks(2) {
        for (name, process) in names.iter().copied().map(start).collect::<Vec<_>>() {
            let output = process.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            let failed = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && said.contains("1 passed"), "{name}: {said}{failed}");
            eprintln!("{name}: {failed}");
        }
    }
}

/// Fills a conversation to its limit. The process may take a sixteenth more, and 1 MiB for what has a size of its own.
#[cfg(target_os = "linux")]
fn fill_and_measure(limit: usize, flood: Flood) {
    let peak = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
    };
    let apply = |conversation: &mut Conversation, n: usize| {
        let update = flood(n);
        let bytes = update.to_string().len() + 100;
        let _ = conversation.apply(serde_json::from_value::<SessionUpdate>(update).unwrap());
        bytes
    };
    // The pages of the code are no memory of the conversation.
    apply(&mut Conversation::new().limit(limit), 0);
    let before = peak();
    let mut conversation = Conversation::new().limit(limit);
    let (mut sent, mut n) = (0, 0);
    while conversation.forgotten() == 0 && sent < 2 * limit {
        sent += apply(&mut conversation, n);
        n += 1;
    }
    let taken = peak() - before;
    eprintln!("{taken} bytes for {n} updates and a limit of {limit}");
    assert!(taken < limit + limit / 16 + (1 << 20), "{taken} bytes for {n} updates");
}

#[test]
fn cmp_02_omitted_summary_is_not_continued() {
    let mut conversation = Conversation::new().limit(LIMIT);
    let text = |text: &str| ContentBlock::from(text);
    let set =
        |summary: &str| CompactionUpdate::new("k", CompactionStatus::InProgress).summary(vec![text(summary)]);
    let chunk = |piece: &str| CompactionSummaryChunk::new("k", text(piece));
    let summary = |conversation: &Conversation| match conversation.entry(0) {
        Some(Entry::Compaction(compaction)) => compaction.summary.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(conversation.apply(set("Before.")).omitted, 0);
    assert!(conversation.apply(set(&"x".repeat(LIMIT))).omitted > 0);
    assert!(conversation.apply(chunk(" And more.")).omitted > 0, "it belongs to what is not kept");
    assert_eq!(summary(&conversation), [text("Before.")]);
    assert_eq!(conversation.apply(set("Anew")).omitted, 0);
    assert_eq!(conversation.apply(chunk(".")).omitted, 0);
    assert_eq!(summary(&conversation), [text("Anew.")]);
}

#[test]
fn forgotten_entry_begins_again() {
    let mut conversation = Conversation::new().limit(LIMIT);
    let told: [fn() -> SessionUpdate; 3] = [
        || CompactionUpdate::new("k", CompactionStatus::InProgress).into(),
        || ToolCallUpdate::new("k").title("T").into(),
        || serde_json::from_value(super::chunk("agent_message_chunk", Some("k"), "x")).unwrap(),
    ];
    for update in told {
        let Change::Added(index) = conversation.apply(update()).change else { panic!("it is new") };
        assert!(!matches!(conversation.apply(update()).change, Change::Added(_)));
        for n in 0..2000 {
            let _ = conversation
                .apply(serde_json::from_value::<SessionUpdate>(super::call(&n.to_string())).unwrap());
        }
        assert!(conversation.entry(index).is_none());
        assert!(matches!(conversation.apply(update()).change, Change::Added(again) if again > index));
    }
}

#[test]
fn each_part_has_a_limit_that_can_be_lowered() {
    let limits =
        ConversationLimits::new(LIMIT).message(20_000).content(25_000).state(20_000).raw(20_000).field(4000);
    let mut conversation = Conversation::new().limits(limits);
    let content = |text: String| vec![ToolCallContent::from(ContentBlock::from(text))];
    let plan =
        |text: String| Plan::new([PlanEntry::new(text, PlanEntryPriority::Low, PlanEntryStatus::Pending)]);
    type Update<'a> = &'a dyn Fn(String) -> SessionUpdate;
    let rows: [(&str, usize, Update<'_>); 6] = [
        ("message", 20_000, &|text| SessionNotification::message("s", text).update),
        ("content", 25_000, &|text| ToolCallUpdate::new("c").content(content(text)).into()),
        ("state", 20_000, &|text| plan(text).into()),
        ("raw", 20_000, &|text| ToolCallUpdate::new("c").raw_input(json!(text)).into()),
        ("title", 4000, &|text| SessionInfoUpdate::new().title(text).into()),
        ("mode", 4000, &|text| CurrentModeUpdate::new(text).into()),
    ];
    for (name, limit, update) in rows {
        assert_eq!(conversation.apply(update("x".repeat(limit / 4))).omitted, 0, "{name}");
        assert!(conversation.apply(update("x".repeat(limit + 1))).omitted > limit, "{name}");
    }
    // A setter does not raise a part over its share.
    let raised = ConversationLimits::new(LIMIT).message(usize::MAX).state(usize::MAX).field(usize::MAX);
    assert_eq!(raised, ConversationLimits::new(LIMIT));
}
