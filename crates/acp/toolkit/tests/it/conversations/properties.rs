//! Properties of conversations: a view that follows the changes shows everything, and text may be cut anywhere.

use std::collections::VecDeque;

use agentwire_acp_schema::v1::*;
use agentwire_acp_toolkit::{Applied, Change, ChangedFields, Conversation, Entry};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Few ids, so that they meet.
fn id() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop::sample::select(vec!["1", "2", "3"]))
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![8 => "[aä€🦀]{0,6}", 1 => "[ab]{300,400}", 1 => "[ab]{2000,3000}"]
}

fn block() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => text().prop_map(|text| json!({ "type": "text", "text": text })),
        1 => text().prop_map(|text| json!({ "type": "text", "text": text, "annotations": { "priority": 1.0 } })),
        1 => Just(json!({ "type": "image", "data": "AA==", "mimeType": "image/png" })),
    ]
}

fn chunk() -> impl Strategy<Value = Value> {
    const KINDS: &[&str] = &["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"];
    (prop::sample::select(KINDS), id(), block()).prop_map(|(kind, id, content)| {
        let mut update = json!({ "sessionUpdate": kind, "content": content });
        if let Some(id) = id {
            update["messageId"] = json!(id);
        }
        update
    })
}

fn tool() -> impl Strategy<Value = Value> {
    let status =
        prop::option::of(prop::sample::select(vec!["pending", "in_progress", "completed", "failed"]));
    let content = prop::option::of(prop::collection::vec(block(), 0..3));
    (any::<bool>(), "[a-e]", prop::option::of(text()), status, content).prop_map(
        |(whole, id, title, status, content)| {
            let content = content.map(|blocks| {
                blocks
                    .into_iter()
                    .map(|block| json!({ "type": "content", "content": block }))
                    .collect::<Value>()
            });
            let kind = if whole { "tool_call" } else { "tool_call_update" };
            let title = if whole { Some(title.unwrap_or_default()) } else { title };
            let mut update =
                json!({ "sessionUpdate": kind, "toolCallId": id, "title": title, "content": content });
            if let Some(status) = status {
                update["status"] = json!(status);
            }
            update
        },
    )
}

fn compaction() -> impl Strategy<Value = Value> {
    let update = (prop::sample::select(vec!["in_progress", "completed"]), prop::option::of(block())).prop_map(
        |(status, summary)| {
            let summary: Vec<_> = summary.into_iter().collect();
            json!({ "sessionUpdate": "compaction_update", "compactionId": "k", "status": status, "summary": summary })
        },
    );
    let piece = block().prop_map(|content| {
        json!({ "sessionUpdate": "compaction_summary_chunk", "compactionId": "k", "content": content })
    });
    prop_oneof![update, piece]
}

fn state() -> impl Strategy<Value = Value> {
    text().prop_flat_map(|text| {
        let entry = json!({ "content": text, "priority": "low", "status": "pending" });
        prop::sample::select(vec![
            json!({ "sessionUpdate": "plan", "entries": [entry] }),
            json!({ "sessionUpdate": "usage_update", "used": text.len(), "size": 9 }),
            json!({ "sessionUpdate": "session_info_update", "title": text }),
            json!({ "sessionUpdate": "current_mode_update", "currentModeId": text }),
            json!({ "sessionUpdate": "available_commands_update",
                    "availableCommands": [{ "name": text, "description": "" }] }),
            json!({ "sessionUpdate": "config_option_update",
                    "configOptions": [{ "id": text, "name": "", "type": "boolean", "currentValue": true }] }),
            json!({ "sessionUpdate": "notice", "severity": "info", "title": text }),
            json!({ "sessionUpdate": "zzz", "text": text }),
        ])
    })
}

fn update() -> impl Strategy<Value = SessionUpdate> {
    let json = prop_oneof![6 => chunk(), 4 => tool(), 2 => compaction(), 2 => state()];
    json.prop_map(|json| serde_json::from_value(json).expect("the update is well formed"))
}

#[derive(Clone, Debug)]
enum Step {
    Heard(Box<SessionUpdate>),
    Prompted(&'static str),
    Cancelled,
    Ended,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => update().prop_map(|update| Step::Heard(Box::new(update))),
        1 => prop::sample::select(vec!["a", ""]).prop_map(Step::Prompted),
        1 => Just(Step::Cancelled),
        1 => Just(Step::Ended),
    ]
}

/// A view that looks only at reported changes.
#[derive(Debug, Default, PartialEq)]
struct View {
    first: usize,
    entries: VecDeque<Entry>,
    plan: Option<Plan>,
    usage: Option<UsageUpdate>,
    title: Option<String>,
    mode: Option<SessionModeId>,
    commands: Vec<AvailableCommand>,
    options: Vec<SessionConfigOption>,
}

/// The shown part of an entry: all but how it is kept.
fn same(shown: &Entry, kept: &Entry) -> bool {
    match (shown, kept) {
        (Entry::Message(shown), Entry::Message(kept)) => {
            (shown.kind, &shown.content, shown.omitted) == (kept.kind, &kept.content, kept.omitted)
        }
        (Entry::Compaction(shown), Entry::Compaction(kept)) => {
            (&shown.status, &shown.summary, shown.omitted) == (&kept.status, &kept.summary, kept.omitted)
        }
        (Entry::ToolCall(shown), Entry::ToolCall(kept)) => {
            (&shown.call, shown.cancelled, shown.omitted) == (&kept.call, kept.cancelled, kept.omitted)
        }
        (shown, kept) => shown == kept,
    }
}

impl View {
    fn hear(&mut self, applied: Applied, conversation: &Conversation) {
        for _ in 0..applied.forgotten {
            // An entry may be forgotten before it was ever shown.
            self.entries.pop_front();
            self.first += 1;
        }
        match applied.change {
            Change::Added(index) => {
                assert_eq!(index, self.first + self.entries.len());
                self.entries.push_back(conversation.entry(index).unwrap().clone());
            }
            Change::Updated { index, fields } => self.update(index, fields, conversation),
            Change::Extended { index, block, byte } => self.extend(index, block, byte, conversation),
            Change::Plan => self.plan = conversation.plan().cloned(),
            Change::Usage => self.usage = conversation.usage().cloned(),
            Change::Info { title: false } => {}
            Change::Info { .. } => self.title = conversation.title().map(str::to_owned),
            Change::Mode => self.mode = conversation.current_mode().cloned(),
            Change::Commands => self.commands = conversation.commands().to_vec(),
            Change::ConfigOptions => self.options = conversation.config_options().cloned().collect(),
            Change::Nothing => {}
            other => panic!("{other:?}"),
        }
    }

    fn redraw(&mut self, index: usize, conversation: &Conversation) {
        self.entries[index - self.first] = conversation.entry(index).unwrap().clone();
    }

    /// Takes over only the fields that are named.
    fn update(&mut self, index: usize, fields: ChangedFields, conversation: &Conversation) {
        fn tail<T: Clone>(shown: &mut Vec<T>, now: &[T], first: Option<usize>) {
            if let Some(first) = first {
                shown.truncate(first);
                shown.extend_from_slice(&now[first..]);
            }
        }
        match (&mut self.entries[index - self.first], conversation.entry(index).unwrap()) {
            (Entry::Message(shown), Entry::Message(now)) if fields.omitted => shown.omitted = now.omitted,
            (Entry::Message(_), Entry::Message(_)) => {}
            (Entry::ToolCall(shown), Entry::ToolCall(now)) => {
                tail(&mut shown.call.content, &now.call.content, fields.content);
                if fields.status {
                    shown.call.status = now.call.status.clone();
                }
                if fields.title {
                    shown.call.title.clone_from(&now.call.title);
                }
                if fields.cancelled {
                    shown.cancelled = now.cancelled;
                }
                if fields.omitted {
                    shown.omitted = now.omitted;
                }
            }
            (Entry::Compaction(shown), Entry::Compaction(now)) => {
                tail(&mut shown.summary, &now.summary, fields.content);
                if fields.status {
                    shown.status = now.status.clone();
                }
                if fields.omitted {
                    shown.omitted = now.omitted;
                }
            }
            other => panic!("{other:?} was updated"),
        }
    }

    fn extend(&mut self, index: usize, block: usize, byte: usize, conversation: &Conversation) {
        fn content(entry: &Entry) -> &[ContentBlock] {
            match entry {
                Entry::Message(message) => &message.content,
                Entry::Compaction(compaction) => &compaction.summary,
                other => panic!("{other:?} was extended"),
            }
        }
        let news = content(conversation.entry(index).unwrap())[block].clone();
        let shown = match &mut self.entries[index - self.first] {
            Entry::Message(message) => &mut message.content,
            Entry::Compaction(compaction) => &mut compaction.summary,
            other => panic!("{other:?} was extended"),
        };
        match (shown.get_mut(block), news) {
            (Some(ContentBlock::Text(shown)), ContentBlock::Text(news)) => {
                assert_eq!(shown.text.len(), byte);
                shown.text.push_str(&news.text[byte..]);
            }
            (None, news) => {
                assert_eq!(byte, 0);
                shown.push(news);
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn check(&self, conversation: &Conversation) {
        assert_eq!(self.first, conversation.forgotten());
        assert_eq!(self.entries.len(), conversation.entries().len());
        for (shown, (index, kept)) in self.entries.iter().zip(conversation.entries()) {
            assert!(same(shown, kept), "{index}: {shown:?} is shown for {kept:?}");
        }
        assert_eq!(self.plan.as_ref(), conversation.plan());
        assert_eq!(self.usage.as_ref(), conversation.usage());
        assert_eq!(self.title.as_deref(), conversation.title());
        assert_eq!(self.mode.as_ref(), conversation.current_mode());
        assert_eq!(self.commands, conversation.commands());
        assert!(self.options.iter().eq(conversation.config_options()));
    }
}

fn take(conversation: &mut Conversation, step: Step, view: &mut View) {
    let marked = match step {
        Step::Heard(update) => {
            let applied = conversation.apply(*update);
            view.hear(applied, conversation);
            Vec::new()
        }
        Step::Prompted(text) => {
            let applied = conversation.prompt([ContentBlock::from(text)]);
            view.hear(applied, conversation);
            Vec::new()
        }
        Step::Cancelled => conversation.cancelled(),
        Step::Ended => conversation.turn_ended(&StopReason::Cancelled),
    };
    marked.into_iter().for_each(|index| view.redraw(index, conversation));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A view drawn from the changes always equals a view drawn from the whole conversation, with limits that are never
    /// reached and with limits that always are.
    #[test]
    fn a_view_that_draws_changes_shows_everything(
        steps in prop::collection::vec(step(), 0..80),
        limit in prop::sample::select(vec![0, 60_000, 200_000, usize::MAX]),
    ) {
        let mut conversation = Conversation::new().limit(limit);
        let mut view = View::default();
        for step in steps {
            take(&mut conversation, step, &mut view);
            view.check(&conversation);
            prop_assert!(conversation.weight() <= limit);
        }
    }

    /// However the agent cuts its text into chunks, the conversation is the same.
    #[test]
    fn place_of_a_cut_in_text_makes_no_difference(
        updates in prop::collection::vec(update(), 0..40),
        cut in 1_usize..4,
    ) {
        let (mut whole, mut pieces) = (Conversation::new(), Conversation::new());
        for update in updates {
            for piece in cut_up(&update, cut) {
                let _ = pieces.apply(piece);
            }
            let _ = whole.apply(update);
        }
        prop_assert_eq!(whole.entries().len(), pieces.entries().len());
        for ((_, whole), (_, pieces)) in whole.entries().zip(pieces.entries()) {
            prop_assert!(same(whole, pieces), "{:?} became {:?}", whole, pieces);
        }
    }
}

/// The same text in pieces of `size` characters.
fn cut_up(update: &SessionUpdate, size: usize) -> Vec<SessionUpdate> {
    let (SessionUpdate::UserMessageChunk(chunk)
    | SessionUpdate::AgentMessageChunk(chunk)
    | SessionUpdate::AgentThoughtChunk(chunk)) = update
    else {
        return vec![update.clone()];
    };
    let ContentBlock::Text(text) = &chunk.content else { return vec![update.clone()] };
    let letters: Vec<char> = text.text.chars().collect();
    if letters.is_empty() {
        return vec![update.clone()];
    }
    let piece = |letters: &[char]| {
        let mut piece = update.clone();
        if let SessionUpdate::UserMessageChunk(chunk)
        | SessionUpdate::AgentMessageChunk(chunk)
        | SessionUpdate::AgentThoughtChunk(chunk) = &mut piece
            && let ContentBlock::Text(text) = &mut chunk.content
        {
            text.text = letters.iter().collect();
        }
        piece
    };
    letters.chunks(size).map(piece).collect()
}
