//! Tests what the CLI prints for sequences of ACP `session/update` notifications.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agentwire_acp_schema::v1::{
    ConfigOptionUpdate, ContentBlock, CurrentModeUpdate, Diff, SessionConfigOption, SessionInfoUpdate,
    SessionNotification, SessionUpdate, Terminal, TerminalExitStatus, TerminalId, ToolCall, ToolCallContent,
    ToolCallStatus, ToolCallUpdate, UsageUpdate,
};
use agentwire_acp_toolkit::ShownOutput;
use serde_json::json;

use super::*;
use crate::output::output_queue::{DeferredWrite, Output};
use crate::terminal::Style;

#[derive(Clone, Default)]
pub(super) struct Paper(Arc<Mutex<Vec<u8>>>);

impl Paper {
    /// The output since the last call.
    pub(super) fn text(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Output for Paper {
    fn write_later(&mut self, _: usize, write: DeferredWrite) {
        write(self).unwrap();
    }
}

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn show(updates: impl IntoIterator<Item = SessionUpdate>) -> String {
    let paper = Paper::default();
    let mut screen = Screen::new(Box::new(paper.clone()), Style::default());
    let mut renderer = Renderer::default();
    let mut conversation = Conversation::new();
    for update in updates {
        let applied = conversation.apply(update);
        renderer.draw(&mut screen, &conversation, &applied, &terminal_output).unwrap();
    }
    screen.stop_spinner().unwrap();
    renderer.draw_settings(&mut screen, &conversation).unwrap();
    paper.text()
}

/// The output of one of our terminals, whose command has ended.
fn terminal_output(_: &TerminalId, position: u64) -> Option<ShownOutput> {
    let whole = "from the terminal\n";
    let output = whole.get(usize::try_from(position).unwrap_or(usize::MAX)..).unwrap_or_default().to_owned();
    Some(ShownOutput::new(output, whole.len() as u64).exit_status(TerminalExitStatus::new().exit_code(0u32)))
}

fn chunk(text: &str) -> SessionUpdate {
    SessionNotification::message("s", text).update
}

#[test]
fn text_streams_and_tools_have_their_own_lines() {
    let shown = show([
        chunk("Let me "),
        chunk("see."),
        ToolCall::new("1", "Read a.txt").into(),
        ToolCallUpdate::new("1").status(ToolCallStatus::Completed).into(),
        chunk("Done."),
    ]);
    assert_eq!(shown, "Let me see.\n○ Read a.txt\n● Read a.txt\nDone.\n");
}

#[test]
fn call_has_a_line_for_its_begin_and_one_for_its_end() {
    let status = |status| ToolCallUpdate::new("1").status(status);
    let begins = || [ToolCall::new("1", "Run").into(), status(ToolCallStatus::InProgress).into()];
    let named = || ToolCallUpdate::new("1").title("Run ls");
    let ends = || status(ToolCallStatus::Completed).into();
    let shown = show(begins().into_iter().chain([named().into(), ends(), ends()]));
    assert_eq!(shown, "○ Run\n● Run ls\n");
    // Output is shown below the current title of its call.
    let output = named().content([text("a\n")]);
    let shown = show(begins().into_iter().chain([output.into(), ends()]));
    assert_eq!(shown, "○ Run\n◐ Run ls\n  a\n● Run ls\n");
}

#[test]
fn answer_that_repeats_the_result_right_above_it_is_shown_once() {
    let paper = Paper::default();
    let mut screen = Screen::new(Box::new(paper.clone()), Style::default());
    let (mut renderer, mut conversation) = (Renderer::default(), Conversation::new());
    let call = |id: &str, result: &str| {
        ToolCall::new(id, "Add").status(ToolCallStatus::Completed).content([text(result)])
    };
    let mut turn = |id: &str, result: &str, answers: &[&str]| {
        renderer.is_in_turn = true;
        let applied = conversation.apply(SessionUpdate::from(call(id, result)));
        renderer.draw(&mut screen, &conversation, &applied, &terminal_output).unwrap();
        for answer in answers {
            renderer.stream(&mut screen, MessageKind::Agent, 1, (*answer).into()).unwrap();
        }
        renderer.end_turn(&mut screen, &conversation, &terminal_output).unwrap();
        screen.stop_spinner().unwrap();
        paper.text()
    };
    assert_eq!(turn("1", "3", &["3\n"]), "● Add\n  3\n");
    assert_eq!(turn("2", "3", &["3", " apples"]), "● Add\n  3\n3 apples\n");
    assert_eq!(turn("3", "It is 3", &["It ", "is", " 3"]), "● Add\n  It is 3\n");
    assert_eq!(turn("4", "It is 3", &["It ", "is"]), "● Add\n  It is 3\nIt is\n");
    assert_eq!(turn("5", "3", &["So: ", "3"]), "● Add\n  3\nSo: 3\n");
    let long = "x".repeat(3000);
    assert!(turn("6", &long, &[&long]).ends_with(&format!("\n{long}\n")), "what is cut is shown as a whole");
}

#[test]
fn plan_that_changes_shows_its_changed_entries() {
    let plan = |entries: &[(&str, &str)]| -> SessionUpdate {
        let entry = |(content, status): &(&str, &str)| json!({ "content": content, "status": status, "priority": "low" });
        let entries: Vec<_> = entries.iter().map(entry).collect();
        serde_json::from_value(json!({ "sessionUpdate": "plan", "entries": entries })).unwrap()
    };
    let shown = show([
        plan(&[("**a**", "in_progress"), ("b", "pending"), ("b", "pending")]),
        plan(&[("**a**", "completed"), ("b", "pending"), ("b", "in_progress")]),
        plan(&[("**a**", "completed"), ("b", "pending"), ("b", "in_progress")]),
        plan(&[("**a**", "completed"), ("b", "completed")]),
    ]);
    let expected = "Plan\n  ◐ a\n  ○ b\n  ○ b\nPlan\n  ● a\n  ◐ b\nPlan\n  ● b\n  1 entry dropped\n";
    assert_eq!(shown, expected);
}

#[test]
fn a_replay_shows_the_author_of_each_message() {
    let shown = show([SessionNotification::user_message("s", "Hello").update, chunk("Good day.")]);
    assert_eq!(shown, "> Hello\nGood day.\n");
}

#[test]
fn a_diff_shows_what_changed() {
    let diff = Diff::new("/a.txt", "one\nthree\n").old_text("one\ntwo\n");
    let shown = show([ToolCall::new("1", "Write").content([diff]).into()]);
    assert_eq!(shown, "○ Write\n  /a.txt\n   one\n  -two\n  +three\n");
}

/// A carriage return at the end of each line is not a change.
#[test]
fn a_diff_of_windows_lines_shows_no_carriage_returns() {
    let diff = |old: &str, new: &str| {
        show([ToolCall::new("1", "Write /a").content([Diff::new("/a", new).old_text(old)]).into()])
    };
    assert_eq!(diff("one\r\ntwo\r\n", "one\r\n2"), "○ Write /a\n   one\n  -two\n  +2\n");
    assert_eq!(diff("one\r\n", "one\n"), "○ Write /a\n  -one^M\n  +one\n");
}

#[test]
fn terminal_output_is_shown_when_no_text_repeats_it() {
    let terminal = || ToolCallContent::from(Terminal::new("t"));
    let ends = || ToolCallUpdate::new("1").status(ToolCallStatus::Completed);
    let shown = show([ToolCall::new("1", "Run").content([terminal()]).into(), ends().into()]);
    assert_eq!(shown, "○ Run\n  from the terminal\n● Run\n  exit code 0\n");
    let told = ToolCall::new("1", "Run").content([terminal(), ContentBlock::from("told").into()]);
    let shown = show([told.into(), ends().into()]);
    assert_eq!(shown, "○ Run\n  told\n  from the terminal\n● Run\n  exit code 0\n");
    // A text may repeat the output of the terminal.
    let same = ends().content([terminal(), ContentBlock::from("from the terminal").into()]);
    let run = ToolCall::new("1", "Run").content([terminal()]);
    assert_eq!(show([run.into(), same.into()]), "○ Run\n  from the terminal\n● Run\n  exit code 0\n");
}

#[test]
fn notice_beside_the_flow_does_not_break_it() {
    let titled = SessionInfoUpdate::new().title("A **title**".to_owned());
    let usage = UsageUpdate::new(50, 200);
    let shown = show([chunk("one "), titled.into(), usage.into(), chunk("word")]);
    assert_eq!(shown, "one word\ntitle: A title\ncontext: 25 % of 200 tokens\n");
    assert_eq!(show([CurrentModeUpdate::new("plan").into()]), "mode: plan\n");
}

#[test]
fn escapes_of_the_agent_do_not_reach_the_terminal() {
    assert_eq!(show([chunk("\x1b[2Jhel\u{202e}lo\x07")]), "^[[2Jhel<U+202E>lo^G\n");
}

#[test]
fn title_of_several_lines_takes_one_line() {
    let title = "Read\n> yes, delete it";
    assert_eq!(show([ToolCall::new("1", title).into()]), "○ Read > yes, delete it\n");
}

#[test]
fn repeated_update_is_not_shown_again() {
    let text = |text: &str| ToolCallContent::from(ContentBlock::from(text));
    let ends = || ToolCallUpdate::new("1").status(ToolCallStatus::Completed);
    let told = |contents: &[&str]| ends().content(contents.iter().map(|content| text(content)));
    let shown = show([
        ToolCall::new("1", "Run").content([text("one")]).into(),
        told(&["one", "two"]).into(),
        told(&["one", "two"]).into(),
        ends().into(),
    ]);
    assert_eq!(shown, "○ Run\n  one\n● Run\n  two\n");
    let terminal = || ToolCallContent::from(Terminal::new("t"));
    let again = |id: &str| ToolCall::new(id, "Run").status(ToolCallStatus::Completed).content([terminal()]);
    let shown = show([again("1").into(), again("2").into()]);
    assert_eq!(shown, "● Run\n  from the terminal\n  exit code 0\n● Run\n");
}

#[test]
fn options_are_shown_when_their_values_change() {
    let options = |loud: bool| {
        ConfigOptionUpdate::new([
            SessionConfigOption::boolean("loud", "Loud", loud),
            SessionConfigOption::boolean("new", "New", true),
        ])
    };
    let shown = show([options(true).into(), options(true).into(), options(false).into()]);
    assert_eq!(shown, "Loud: on\nNew: on\nLoud: off\n");
}

#[test]
fn a_long_title_is_cut() {
    let shown = show([ToolCall::new("1", "x".repeat(10_000)).into()]);
    assert_eq!(shown, format!("○ {}…\n", "x".repeat(500)));
}

#[test]
fn usage_beyond_the_context_is_shown() {
    let shown = show([UsageUpdate::new(u64::MAX, 1).into()]);
    assert_eq!(shown, format!("context: {} % of 1 tokens\n", u128::from(u64::MAX) * 100));
}

/// The smallest diff is looked for within a time limit, which all diffs of an update share.
#[test]
fn many_diffs_that_are_hard_to_find_take_no_longer_than_one() {
    let lines: Vec<_> = (0..12_000).map(|number| format!("{number}\n")).collect();
    let (text, reversed): (String, String) =
        (lines.concat(), lines.iter().rev().map(String::as_str).collect());
    let time = |old: &str, new: &str| {
        let diffs = (0..20).map(|_| Diff::new("/a", new).old_text(old).into());
        let since = Instant::now();
        show([ToolCall::new("1", "Edit").content(diffs.collect::<Vec<ToolCallContent>>()).into()]);
        since.elapsed()
    };
    let (easy, hard) = (time("", &format!("{text}{text}")), time(&text, &reversed));
    assert!(hard < easy + Duration::from_secs(2), "{easy:?} and {hard:?}");
}

fn text(text: &str) -> ToolCallContent {
    ContentBlock::from(text).into()
}

fn update(members: serde_json::Value) -> SessionUpdate {
    let mut members = members;
    members["sessionUpdate"] = "tool_call_update".into();
    members["toolCallId"] = "1".into();
    serde_json::from_value(members).unwrap()
}

mod output;
