//! The table of methods against the types of their parameters.

use std::collections::BTreeSet;

use agentwire_jsonrpc::{NotificationMethod, RequestMethod};
use agentwire_mcp_schema::*;
use serde_json::json;

use crate::{A, B, C, D, E, read};

#[test]
fn the_types_carry_the_names_of_the_table() {
    fn request<M: RequestMethod>() -> &'static str {
        M::NAME
    }
    fn notification<N: NotificationMethod>() -> &'static str {
        N::NAME
    }
    for (params, revision, name) in [
        ("CallToolRequest", A, request::<CallToolRequest>()),
        ("DiscoverRequest", E, request::<DiscoverRequest>()),
        ("GetTaskRequest", D, request::<core_tasks::GetTaskRequest>()),
        ("GetTaskRequest", E, request::<task_extension::GetTaskRequest>()),
        ("TaskStatusNotification", D, notification::<core_tasks::TaskStatusNotification>()),
        ("TaskStatusNotification", E, notification::<task_extension::TaskStatusNotification>()),
        ("ProgressNotification", A, notification::<ProgressNotification>()),
        ("ProgressNotification", E, notification::<ProgressNotification>()),
    ] {
        assert_eq!(MethodInfo::find_in(name, revision).map(|method| method.params), Some(params), "{name}");
    }
}

#[test]
fn a_revision_has_a_method_once() {
    for &revision in Revision::ALL {
        let names: Vec<_> = MethodInfo::all_in(revision).map(|method| method.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{revision}: {names:?}");
    }
}

#[test]
fn requests_have_results_and_notifications_have_none() {
    for method in METHODS {
        assert_eq!(method.result.is_some(), method.kind == MethodKind::Request, "{}", method.name);
        assert_eq!(method.name.starts_with("notifications/"), method.kind == MethodKind::Notification);
    }
}

#[test]
fn nothing_of_a_session_is_left_in_a_modern_revision() {
    let of_sessions = [
        "initialize",
        "notifications/initialized",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/roots/list_changed",
        "notifications/elicitation/complete",
    ];
    for name in of_sessions {
        assert!(MethodInfo::find_in(name, D).is_some(), "{name}");
        assert_eq!(MethodInfo::find_in(name, E), None, "{name}");
    }
    let to_client =
        |method: &&MethodInfo| method.is_sent_by(Side::Server) && method.kind == MethodKind::Request;
    assert_eq!(MethodInfo::all_in(E).find(to_client), None, "a server sends no requests");
    let from_client: Vec<_> = MethodInfo::all_in(E)
        .filter(|method| method.kind == MethodKind::Notification && method.is_sent_by(Side::Client))
        .map(|method| method.name)
        .collect();
    assert_eq!(from_client, ["notifications/cancelled"]);
}

#[test]
fn a_method_waits_for_its_revision_and_its_capability() {
    let nothing = (ClientCapabilities::default(), ServerCapabilities::default());
    let client = read(&json!({ "elicitation": {}, "roots": { "listChanged": true } }));
    let server = read(&json!({
        "tools": {}, "resources": { "subscribe": true }, "completions": {}, "tasks": { "list": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    }));
    let everything = (client, server);
    let allowed = |name: &str, (client, server): &(_, _)| -> Vec<Revision> {
        let is_allowed = |revision: &Revision| {
            MethodInfo::find_in(name, *revision)
                .is_some_and(|method| method.is_allowed(*revision, client, server))
        };
        Revision::ALL.iter().copied().filter(is_allowed).collect()
    };

    assert_eq!(allowed("ping", &nothing), [A, B, C, D]);
    assert_eq!(allowed("server/discover", &nothing), [E]);
    assert_eq!(allowed("tools/call", &nothing), []);
    assert_eq!(allowed("tools/call", &everything), [A, B, C, D, E]);
    assert_eq!(allowed("notifications/tools/list_changed", &everything), []);
    assert_eq!(allowed("resources/subscribe", &everything), [A, B, C, D]);
    assert_eq!(allowed("completion/complete", &nothing), [A], "the first revision has no capability for it");
    assert_eq!(allowed("completion/complete", &everything), [A, B, C, D, E]);
    assert_eq!(allowed("notifications/roots/list_changed", &everything), [A, B, C, D]);
    assert_eq!(allowed("elicitation/create", &everything), [C, D]);
    assert_eq!(allowed("notifications/elicitation/complete", &everything), []);
    assert_eq!(allowed("tasks/get", &nothing), []);
    assert_eq!(allowed("tasks/get", &everything), [D, E]);
    assert_eq!(allowed("tasks/list", &everything), [D]);
    assert_eq!(allowed("tasks/update", &everything), [E]);
    assert_eq!(allowed("tasks/result", &everything), [D]);
    assert_eq!(MethodInfo::find("tools/Call"), None);
}
