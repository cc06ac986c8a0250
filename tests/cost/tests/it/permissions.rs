//! Questions for permission: what they are about may be as long as a message, and is not copied to decide about it.

use agentwire_acp_schema::v1::{
    ContentBlock, Diff, PermissionOption, PermissionOptionKind, RequestPermissionRequest,
    RequestPermissionResponse, ToolCallContent, ToolCallUpdate,
};
use agentwire_acp_toolkit::{Choices, PermissionPolicy, Permissions};
use agentwire_cost_tests::Meter;
use agentwire_jsonrpc::RawJson;

/// Far more than may be taken beside it, in bytes. A message may be 32 times as long.
const LONG: usize = 1 << 20;

/// How much memory may be taken beside the question, in bytes.
const BESIDE: usize = 256 << 10;

fn question(call: ToolCallUpdate) -> RequestPermissionRequest {
    let option = |id: &str, kind| PermissionOption::new(id, id, kind);
    let options = [
        option("once", PermissionOptionKind::AllowOnce),
        option("always", PermissionOptionKind::AllowAlways),
        option("no", PermissionOptionKind::RejectOnce),
    ];
    RequestPermissionRequest::new("s", call.title("Write"), options.to_vec())
}

/// DEL is one byte in JSON, and six where it is escaped.
fn long() -> String {
    "\u{7f}".repeat(LONG)
}

fn questions() -> [(&'static str, RequestPermissionRequest); 7] {
    let call = || ToolCallUpdate::new("c");
    let text = |text: String| ToolCallContent::from(ContentBlock::from(text));
    let input = |text: &str| RawJson::parse(format!(r#"{{"command":"{text}"}}"#).into()).unwrap();
    [
        ("a diff", question(call().content([Diff::new("/a", long()).old_text("old")]))),
        ("a text", question(call().content([text(long())]))),
        ("many texts", question(call().content((0..LONG / 600).map(|_| text("\u{7f}".repeat(600)))))),
        ("an input", question(call().raw_input(input(&long())))),
        ("an input with an escape", question(call().raw_input(input(&(long() + "\\n"))))),
        ("an input of half pairs", question(call().raw_input(input(&"\\ud800".repeat(LONG / 6))))),
        ("a path", question(call().content([Diff::new(format!("/{}", long()), "")]))),
    ]
}

#[test]
fn deciding_and_remembering_takes_no_copy() {
    let meter = Meter::lock();
    for (what, request) in questions() {
        let permissions = Permissions::new(PermissionPolicy::Ask);
        let always = RequestPermissionResponse::selected("always");
        let (decided, cost) = meter.measure(|| {
            let before = permissions.decide(&request);
            permissions.record(&request, &always);
            (before, permissions.decide(&request))
        });
        assert_eq!(decided.0, None, "{what}");
        assert!(decided.1.is_some(), "{what}: it was allowed for always");
        assert!(cost.peak_bytes <= BESIDE, "{what}: {cost:?}");
    }
}

#[test]
fn a_menu_takes_no_more_than_it_shows() {
    let meter = Meter::lock();
    for (what, request) in questions() {
        let (menu, cost) = meter.measure(|| Choices::new(&request).to_string());
        assert!(menu.len() < 64 << 10, "{what}: {} bytes", menu.len());
        // An input is written without escapes to be shown, once.
        let copy = request.tool_call.raw_input.as_ref().map_or(0, RawJson::len);
        assert!(cost.peak_bytes <= copy + BESIDE, "{what}: {cost:?}");
    }
}
