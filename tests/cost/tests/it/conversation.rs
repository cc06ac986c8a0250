//! `Conversation::apply`, and a view that draws what it names: as long as what is new, and no more.

use std::time::Duration;

use agentwire_acp_schema::v1::{
    ConfigOptionUpdate, ContentBlock, SessionConfigOption, SessionInfoUpdate, SessionNotification,
    SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
};
use agentwire_acp_toolkit::{Change, Conversation, ConversationLimits, Entry};
use agentwire_cost_tests::Meter;

/// The bytes of text that a view looks at to draw what an update changed.
fn drawn(conversation: &Conversation, change: Change) -> usize {
    let text = |block: &ContentBlock| block.as_text().map_or(0, str::len);
    let content = |content: &ToolCallContent| match content {
        ToolCallContent::Content(content) => text(&content.content),
        _ => 0,
    };
    match (change, change.index().and_then(|index| conversation.entry(index))) {
        (Change::Extended { block, byte, .. }, Some(Entry::Message(message))) => {
            text(&message.content[block]) - byte
        }
        (Change::Added(_), Some(Entry::Message(message))) => message.content.iter().map(text).sum(),
        (Change::Added(_), Some(Entry::ToolCall(entry))) => entry.call.content.iter().map(content).sum(),
        (Change::Updated { fields, .. }, Some(Entry::ToolCall(entry))) => {
            let title = if fields.title { entry.call.title.len() } else { 0 };
            title + fields.content.map_or(0, |first| entry.call.content[first..].iter().map(content).sum())
        }
        _ => 0,
    }
}

/// Applies the updates and draws them. Gives the bytes that were drawn.
fn draw(conversation: &mut Conversation, updates: impl Iterator<Item = SessionUpdate>) -> usize {
    let mut bytes = 0;
    for update in updates {
        let change = conversation.apply(update).change;
        bytes += drawn(conversation, change);
    }
    bytes
}

fn chunks(count: usize) -> impl Iterator<Item = SessionUpdate> {
    (0..count).map(|_| SessionNotification::message("s", "twenty bytes of text").update)
}

#[test]
fn a_chunk_costs_the_same_behind_a_long_message() {
    let meter = Meter::lock();
    const COUNT: usize = 50_000;
    let alone = || assert_eq!(draw(&mut Conversation::new(), chunks(COUNT)), 20 * COUNT);
    let mut conversation = Conversation::new();
    let _ = conversation.apply(SessionNotification::message("s", "x".repeat(8 << 20)).update);
    let behind =
        || assert_eq!(draw(&mut conversation, chunks(COUNT)), 20 * COUNT, "only what is new is drawn");
    // The long text may be moved once, when it has to grow.
    let holds = |alone: Duration, behind: Duration| behind < 3 * alone + Duration::from_millis(100);
    let (alone, behind) = meter.least_of_both(alone, behind, holds);
    assert!(holds(alone, behind), "{alone:?} alone, {behind:?} behind 8 MiB");
}

#[test]
fn a_status_costs_the_same_on_a_call_with_much_content() {
    let meter = Meter::lock();
    let statuses = || {
        let each = [ToolCallStatus::InProgress, ToolCallStatus::Pending];
        (0..20_000).map(move |n| ToolCallUpdate::new("c").status(each[n % 2].clone()).into())
    };
    let mut small = Conversation::new();
    let _ = small.apply(ToolCall::new("c", "Look"));
    let mut large = Conversation::new();
    let blocks = (0..15).map(|_| ToolCallContent::from(ContentBlock::from("x".repeat(1 << 20))));
    let _ = large.apply(ToolCall::new("c", "Look").content(blocks));
    let alone = || _ = draw(&mut small, statuses());
    let behind = || assert_eq!(draw(&mut large, statuses()), 0, "the content is not drawn again");
    let holds = |alone: Duration, behind: Duration| behind < 3 * alone + Duration::from_millis(20);
    let (alone, behind) = meter.least_of_both(alone, behind, holds);
    assert!(holds(alone, behind), "{alone:?} alone, {behind:?} with 15 MiB");
}

#[test]
fn repeated_content_is_drawn_from_its_first_new_block() {
    let _meter = Meter::lock();
    let mut conversation = Conversation::new();
    let told = |count: usize| {
        let blocks = (0..count).map(|n| ToolCallContent::from(ContentBlock::from(format!("{n:020}"))));
        SessionUpdate::from(ToolCallUpdate::new("c").content(blocks))
    };
    assert_eq!(draw(&mut conversation, (1..200).map(told)), 199 * 20);
}

#[test]
fn conversation_is_bounded_in_bytes() {
    let meter = Meter::lock();
    const LIMIT: usize = 8 << 20;
    type Flood = fn(usize) -> SessionUpdate;
    let floods: [(&str, Flood); 4] = [
        ("titles of calls", |n| ToolCall::new(n.to_string(), "x".repeat(20_000)).into()),
        ("titles of the session", |n| SessionInfoUpdate::new().title("x".repeat(n * 100)).into()),
        ("names of options", |n| {
            let options = (0..n % 300)
                .map(|k| SessionConfigOption::boolean(format!("{n}-{k}"), "x".repeat(1000), true));
            ConfigOptionUpdate::new(options.collect::<Vec<_>>()).into()
        }),
        ("messages", |n| SessionNotification::message("s", "x".repeat(n)).update),
    ];
    for (name, flood) in floods {
        let (conversation, cost) = meter.measure(|| {
            let mut conversation = Conversation::new().limits(ConversationLimits::new(LIMIT));
            for n in 0..3000 {
                let _ = conversation.apply(flood(n));
            }
            conversation
        });
        assert!(cost.kept_bytes <= LIMIT, "{name}: {cost:?}");
        assert!(cost.peak_bytes <= LIMIT + (2 << 20), "{name}: {cost:?}");
        drop(conversation);
    }
}
