//! Conversations after their updates. The names of tests carry the ids of the rules that they check.

mod hostile;
mod properties;

use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{
    Change, ChangedFields, Compaction, Conversation, Entry, Message, MessageKind, ToolCallEntry,
};
use serde_json::json;

/// Decodes and applies one update.
#[track_caller]
fn apply(conversation: &mut Conversation, update: serde_json::Value) -> Change {
    let update: SessionUpdate = serde_json::from_value(update).unwrap();
    let applied = conversation.apply(update);
    assert_eq!((applied.forgotten, applied.omitted), (0, 0));
    applied.change
}

/// The fields of this entry that differ.
#[track_caller]
fn updated(change: Change, entry: usize) -> ChangedFields {
    match change {
        Change::Updated { index, fields } if index == entry => fields,
        other => panic!("{other:?}"),
    }
}

fn all(updates: &[serde_json::Value]) -> Conversation {
    let mut conversation = Conversation::new();
    for update in updates {
        apply(&mut conversation, update.clone());
    }
    conversation
}

fn chunk(kind: &str, id: Option<&str>, text: &str) -> serde_json::Value {
    json!({ "sessionUpdate": kind, "messageId": id, "content": { "type": "text", "text": text } })
}

fn user(text: &str) -> serde_json::Value {
    chunk("user_message_chunk", None, text)
}

fn agent(text: &str) -> serde_json::Value {
    chunk("agent_message_chunk", None, text)
}

fn thought(text: &str) -> serde_json::Value {
    chunk("agent_thought_chunk", None, text)
}

fn call(id: &str) -> serde_json::Value {
    json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": format!("Call {id}") })
}

/// An entry in a few letters.
fn brief(entry: &Entry) -> String {
    match entry {
        Entry::Message(message) => {
            let mark = match message.kind {
                MessageKind::User => '>',
                MessageKind::Agent => '<',
                _ => '~',
            };
            format!("{mark}{}", message.text())
        }
        Entry::ToolCall(call) => format!("!{}", call.call.tool_call_id),
        Entry::Compaction(compaction) => format!("={}", compaction.compaction_id),
        Entry::Notice(notice) => format!("*{}", notice.title),
        other => format!("?{other:?}"),
    }
}

fn flow(conversation: &Conversation) -> Vec<String> {
    conversation.entries().map(|(_, entry)| brief(entry)).collect()
}

fn message(conversation: &Conversation, index: usize) -> &Message {
    let Some(Entry::Message(message)) = conversation.entry(index) else { panic!("{index} is not a message") };
    message
}

fn tool_call<'a>(conversation: &'a Conversation, id: &str) -> &'a ToolCallEntry {
    conversation.tool_call(&id.into()).expect("there is such a call").1
}

fn compaction(conversation: &Conversation, index: usize) -> &Compaction {
    let Some(Entry::Compaction(compaction)) = conversation.entry(index) else { panic!("no compaction") };
    compaction
}

#[test]
fn pr_07_chunks_with_an_id_are_one_message_wherever_they_come() {
    let told = |kind, id, text| chunk(kind, Some(id), text);
    let (agent, thought) = ("agent_message_chunk", "agent_thought_chunk");
    let conversation = all(&[
        told(agent, "1", "one "),
        call("c"),
        told(agent, "2", "two "),
        told(thought, "1", "hm "),
        told(agent, "1", "and one"),
        told(agent, "2", "and two"),
        told(thought, "1", "hm"),
    ]);
    assert_eq!(flow(&conversation), ["<one and one", "!c", "<two and two", "~hm hm"]);
    assert_eq!(message(&conversation, 0).message_id, Some("1".into()));
}

#[test]
fn pr_07_without_ids_the_order_separates_messages() {
    let mut conversation = all(&[
        user("What "),
        user("is it?"),
        thought("Hm. "),
        thought("Ah."),
        agent("A "),
        json!({ "sessionUpdate": "notice", "severity": "info", "title": "News" }),
        json!({ "sessionUpdate": "plan", "entries": [] }),
        json!({ "sessionUpdate": "zzz" }),
        agent("file."),
        call("c"),
        agent("Done."),
    ]);
    let notices = ["*News".to_owned(), format!("?{:?}", conversation.entry(4).unwrap())];
    let expected = [">What is it?", "~Hm. Ah.", "<A file.", &notices[0], &notices[1], "!c", "<Done."];
    assert_eq!(flow(&conversation), expected);
    assert_eq!(conversation.turn_ended(&StopReason::EndTurn), [0; 0]);
    assert_eq!(apply(&mut conversation, agent("Again.")), Change::Added(7));
    // An id that comes late begins another message; one that is left out does not.
    assert_eq!(apply(&mut conversation, chunk("agent_message_chunk", Some("9"), "x")), Change::Added(8));
    let extended = Change::Extended { index: 8, block: 0, byte: 1 };
    assert_eq!(apply(&mut conversation, agent("y")), extended);
}

#[test]
fn content_that_is_not_plain_text_stays_apart() {
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png" });
    let marked = json!({ "type": "text", "text": "b", "annotations": { "priority": 1.0 } });
    let say =
        |content: &serde_json::Value| json!({ "sessionUpdate": "agent_message_chunk", "content": content });
    let mut conversation = all(&[agent("a"), say(&image), agent("ä"), agent("c"), say(&marked)]);
    assert_eq!(message(&conversation, 0).content.len(), 4);
    assert_eq!(message(&conversation, 0).text(), "aäcb");
    let extended = Change::Extended { index: 0, block: 3, byte: 1 };
    assert_eq!(apply(&mut conversation, say(&marked)), extended);
}

#[test]
fn a_prompt_that_the_agent_repeats_appears_once() {
    let mut conversation = Conversation::new();
    let prompt = || [ContentBlock::from("Read "), ContentBlock::from(ResourceLink::new("a", "file:///a"))];
    let link = json!({ "type": "resource_link", "name": "a", "uri": "file:///a" });
    assert_eq!(conversation.prompt(prompt()).change, Change::Added(0));
    let repeated = chunk("user_message_chunk", Some("m"), "Read ");
    assert!(updated(apply(&mut conversation, repeated), 0).message_id);
    let repeated = json!({ "sessionUpdate": "user_message_chunk", "messageId": "m", "content": link });
    assert_eq!(apply(&mut conversation, repeated), Change::Nothing);
    assert_eq!(message(&conversation, 0).message_id, Some("m".into()));
    // Afterwards it is news, and belongs to the message that it names.
    assert!(matches!(
        apply(&mut conversation, chunk("user_message_chunk", Some("m"), "!")),
        Change::Extended { index: 0, block: 2, byte: 0 }
    ));
    // Another prompt is another message, also with the same text, and any other message is not a repetition.
    let _ = conversation.prompt(prompt());
    assert_eq!(apply(&mut conversation, user("Write ")), Change::Added(2));
    assert_eq!(apply(&mut conversation, agent("Fine.")), Change::Added(3));
    assert_eq!(apply(&mut conversation, user("Read ")), Change::Added(4));
}

#[test]
fn tc_03_an_update_changes_only_what_it_names_and_lists_replace_lists() {
    let mut conversation = all(&[json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Write", "name": "write", "kind": "edit",
        "content": [{ "type": "content", "content": { "type": "text", "text": "one" } }],
        "locations": [{ "path": "/a" }, { "path": "/b" }], "rawInput": { "path": "/a" }, "_meta": { "k": 1 },
    })]);
    let before = tool_call(&conversation, "c").call.clone();
    assert_eq!(before.status, ToolCallStatus::Pending);
    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress", "title": null,
        "content": null, "locations": null, "rawInput": null,
    });
    let fields = updated(apply(&mut conversation, update.clone()), 0);
    assert!(
        fields.status && !fields.title && fields.content.is_none() && !fields.locations && !fields.raw_input
    );
    assert_eq!(apply(&mut conversation, update), Change::Nothing, "it said nothing new");
    let mut expected = before;
    expected.status = ToolCallStatus::InProgress;
    assert_eq!(tool_call(&conversation, "c").call, expected);

    let update = json!({
        "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "title": "Wrote",
        "content": [{ "type": "diff", "path": "/a", "newText": "two" }], "locations": [],
        "rawOutput": [1], "_meta": { "l": 2 },
    });
    apply(&mut conversation, update);
    let call = &tool_call(&conversation, "c").call;
    assert_eq!(call.content, [Diff::new("/a", "two").into()]);
    assert!(call.locations.is_empty() && call.title == "Wrote" && call.name.as_deref() == Some("write"));
    assert_eq!(
        (&call.raw_input, &call.raw_output),
        (&Some(json!({ "path": "/a" }).into()), &Some(json!([1]).into()))
    );
    assert_eq!(json!(call.meta), json!({ "l": 2 }));

    // A repeated call is shown whole.
    let fields = updated(apply(&mut conversation, self::call("c")), 0);
    assert!(fields.title && fields.name && fields.content == Some(0) && fields.raw_output && fields.meta);
    assert_eq!(tool_call(&conversation, "c").call, ToolCall::new("c", "Call c"));
}

#[test]
fn tc_04_update_of_an_unannounced_call_adds_the_call() {
    let mut conversation = Conversation::new();
    let update = ToolCallUpdate::new("c").title("Run `ls`");
    let request = RequestPermissionRequest::new("s", update, Vec::new());
    assert_eq!(conversation.apply(request.tool_call).change, Change::Added(0));
    assert!(updated(apply(&mut conversation, call("c")), 0).title);
    assert_eq!(flow(&conversation), ["!c"]);
}

#[test]
fn tc_12_unknown_kind_and_status_are_kept() {
    let update = json!({
        "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T", "kind": "zzz", "status": "frozen",
    });
    let call = &tool_call(&all(&[update]), "c").call.clone();
    assert_eq!((call.kind.as_ref().unwrap().as_str(), call.status.as_str()), ("zzz", "frozen"));
}

/// A kind that the agent did not send is not the kind `other`.
#[test]
fn kind_is_none_until_the_agent_sends_it() {
    let begins = json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "T" });
    let says = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "kind": "other" });
    let kind = |updates: &[serde_json::Value]| tool_call(&all(updates), "c").call.kind.clone();
    assert_eq!(kind(std::slice::from_ref(&begins)), None);
    assert_eq!(kind(&[begins.clone(), says.clone()]), Some(ToolKind::Other));
    // A call that is announced again is another one.
    assert_eq!(kind(&[begins.clone(), says, begins]), None);
}

#[test]
fn pr_14_cancelling_marks_running_calls_and_pr_16_they_may_still_end() {
    let status = |id: &str, status: &str| json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status });
    let mut conversation =
        all(&[call("a"), call("b"), call("c"), status("a", "completed"), status("b", "in_progress")]);
    assert_eq!(conversation.cancelled(), [1, 2]);
    assert_eq!(conversation.turn_ended(&StopReason::Cancelled), [0; 0], "they are marked already");
    let marks = |conversation: &Conversation| {
        ["a", "b", "c"]
            .map(|id| (tool_call(conversation, id).cancelled, tool_call(conversation, id).has_ended()))
    };
    assert_eq!(marks(&conversation), [(false, true), (true, true), (true, true)]);
    apply(&mut conversation, status("b", "failed"));
    apply(&mut conversation, status("c", "in_progress"));
    assert_eq!(marks(&conversation), [(false, true), (false, true), (true, true)]);
    assert_eq!(tool_call(&conversation, "b").call.status, ToolCallStatus::Failed);
}

#[test]
fn plan_03_a_plan_replaces_the_plan() {
    let entry = |text: &str| json!({ "content": text, "priority": "high", "status": "pending" });
    let plan = |entries: &[&str]| json!({ "sessionUpdate": "plan", "entries": entries.iter().map(|text| entry(text)).collect::<Vec<_>>() });
    let mut conversation = Conversation::new();
    assert_eq!(conversation.plan(), None);
    for tasks in [&["one", "two"][..], &["two"], &[]] {
        assert_eq!(apply(&mut conversation, plan(tasks)), Change::Plan);
        let told: Vec<_> = conversation.plan().unwrap().entries.iter().map(|entry| &*entry.content).collect();
        assert_eq!(told, tasks);
    }
}

#[test]
fn list_11_absent_member_keeps_the_value_and_null_clears_it() {
    let mut conversation = Conversation::new();
    let mut told = |update: serde_json::Value| {
        let mut object = update;
        object["sessionUpdate"] = json!("session_info_update");
        assert!(matches!(apply(&mut conversation, object), Change::Info { .. }));
        (conversation.title().map(str::to_owned), conversation.updated_at().map(str::to_owned))
    };
    let owned = |text: &str| Some(text.to_owned());
    assert_eq!(told(json!({ "title": "T", "updatedAt": "2026" })), (owned("T"), owned("2026")));
    assert_eq!(told(json!({ "updatedAt": "2027" })), (owned("T"), owned("2027")));
    assert_eq!(told(json!({ "title": null })), (None, owned("2027")));
    assert_eq!(told(json!({ "updatedAt": null, "title": "U" })), (owned("U"), None));
}

#[test]
fn cmp_02_a_compaction_is_patched_and_its_summary_grows() {
    let update = |mut rest: serde_json::Value| {
        rest["sessionUpdate"] = json!("compaction_update");
        rest["compactionId"] = json!("k");
        rest
    };
    let piece = |text: &str| {
        let content = json!({ "type": "text", "text": text });
        json!({ "sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": content })
    };
    let mut conversation = all(&[agent("before")]);
    assert_eq!(apply(&mut conversation, piece("We ")), Change::Added(1), "a chunk for a new id begins one");
    assert_eq!(compaction(&conversation, 1).status, CompactionStatus::InProgress);
    assert_eq!(apply(&mut conversation, piece("did.")), Change::Extended { index: 1, block: 0, byte: 3 });
    let patch = json!({ "status": "failed", "error": "E", "_meta": { "a": 1, "b": 2 } });
    let fields = updated(apply(&mut conversation, update(patch)), 1);
    assert!(fields.status && fields.error && fields.meta && fields.content.is_none());
    apply(&mut conversation, update(json!({ "status": "completed", "_meta": { "a": null, "c": 3 } })));
    let told = compaction(&conversation, 1);
    assert_eq!((&told.status, told.error.as_deref()), (&CompactionStatus::Completed, Some("E")));
    assert_eq!((&told.summary[..], json!(told.meta)), (&["We did.".into()][..], json!({ "b": 2, "c": 3 })));
    for clears in [json!([]), json!(null)] {
        apply(&mut conversation, piece("again"));
        let patch = json!({ "status": "completed", "error": null, "summary": clears, "_meta": null });
        apply(&mut conversation, update(patch));
        let told = compaction(&conversation, 1);
        assert!(told.summary.is_empty() && told.error.is_none() && told.meta.is_none());
    }
    apply(
        &mut conversation,
        update(json!({ "status": "completed", "summary": [{ "type": "text", "text": "S" }] })),
    );
    assert_eq!(compaction(&conversation, 1).summary, ["S".into()]);
    assert_eq!(apply(&mut conversation, agent("after")), Change::Added(2), "it parts messages");
}

#[test]
fn fwd_01_unknown_update_is_kept_whole() {
    let odd = json!({ "sessionUpdate": "zzz_update", "deep": { "er": [1, null] } });
    let conversation = all(std::slice::from_ref(&odd));
    let Some(Entry::Unknown(object)) = conversation.entry(0) else { panic!("it is not kept") };
    assert_eq!(json!(object), odd);
}

#[test]
fn mode_02_and_cfg_05_only_offered_modes_and_values_are_accepted() {
    let modes = json!({ "currentModeId": "ask", "availableModes": [{ "id": "ask", "name": "A" }, { "id": "do", "name": "D" }] });
    let value = |name: &str| json!({ "value": name, "name": name });
    let options = json!([
        { "id": "model", "name": "M", "type": "select", "category": "odd", "currentValue": "x",
          "options": [{ "group": "g", "name": "G", "options": [value("x")] }, { "group": "h", "name": "H", "options": [value("y")] }] },
        { "id": "slide", "name": "S", "type": "slider", "currentValue": 3 },
        { "id": "loud", "name": "L", "type": "boolean", "currentValue": false },
        { "id": "flat", "name": "F", "type": "select", "currentValue": "z", "options": [value("z")] },
    ]);
    let answer = json!({ "sessionId": "s", "modes": modes, "configOptions": options });
    let answer: NewSessionResponse = serde_json::from_value(answer).unwrap();
    let mut conversation = Conversation::new();
    assert_eq!(conversation.opened(answer.modes, answer.config_options).change, Change::Settings);

    assert!(conversation.offers_mode(&"do".into()) && !conversation.offers_mode(&"fly".into()));
    // CFG-07: unknown options are not shown; CFG-10: the order is the agent's.
    let shown: Vec<_> = conversation.config_options().map(|option| option.id.as_str()).collect();
    assert_eq!(shown, ["model", "loud", "flat"]);
    let offers = |id: &str, value: SessionConfigOptionValue| conversation.offers_value(&id.into(), &value);
    assert!(offers("model", "x".into()) && offers("model", "y".into()) && offers("flat", "z".into()));
    assert!(offers("loud", true.into()) && offers("loud", false.into()));
    assert!(!offers("model", "z".into()) && !offers("loud", "true".into()) && !offers("flat", true.into()));
    assert!(!offers("slide", "3".into()) && !offers("none", true.into()));

    let update = json!({ "sessionUpdate": "current_mode_update", "currentModeId": "do" });
    assert_eq!(apply(&mut conversation, update), Change::Mode);
    assert_eq!(conversation.current_mode(), Some(&"do".into()));
    // CFG-04: an update is the complete list.
    let update = json!({ "sessionUpdate": "config_option_update", "configOptions": [] });
    assert_eq!(apply(&mut conversation, update), Change::ConfigOptions);
    assert_eq!(conversation.config_options().count(), 0);
}

#[test]
fn last_usage_and_commands_replace_earlier_ones() {
    let command = |name: &str| json!({ "name": name, "description": "D" });
    let commands = |names: &[&str]| {
        let list: Vec<_> = names.iter().map(|name| command(name)).collect();
        json!({ "sessionUpdate": "available_commands_update", "availableCommands": list })
    };
    let usage = |used: u64| json!({ "sessionUpdate": "usage_update", "used": used, "size": 9 });
    let mut conversation = all(&[commands(&["a", "b"]), usage(3)]);
    assert_eq!(apply(&mut conversation, commands(&["c"])), Change::Commands);
    assert_eq!(apply(&mut conversation, usage(4)), Change::Usage);
    assert_eq!((conversation.commands().len(), &*conversation.commands()[0].name), (1, "c"));
    assert_eq!(conversation.usage(), Some(&UsageUpdate::new(4, 9)));
    assert_eq!(conversation.entries().len(), 0);
}

#[test]
fn replaced_content_is_named_from_the_first_difference() {
    let text = |text: &str| json!({ "type": "content", "content": { "type": "text", "text": text } });
    let told = |contents: &[&str]| {
        let contents: Vec<_> = contents.iter().map(|content| text(content)).collect();
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "content": contents })
    };
    let mut conversation = all(&[told(&["a", "b"])]);
    let mut first = |contents: &[&str]| updated(apply(&mut conversation, told(contents)), 0).content;
    assert_eq!(first(&["a", "b", "c"]), Some(2));
    assert_eq!(first(&["a", "x", "c"]), Some(1));
    assert_eq!(first(&["a"]), Some(1));
    assert_eq!(first(&[]), Some(0));
    assert_eq!(apply(&mut conversation, told(&[])), Change::Nothing);
}
