use std::collections::BTreeSet;

use agentwire_jsonrpc::{Method, Notice};
use agentwire_mcp_schema::*;
use serde_json::json;

use crate::{A, B, C, D, read};

/// The names that the types carry, and whether each is answered.
fn of_the_types() -> BTreeSet<(&'static str, bool)> {
    fn request<M: Method>() -> (&'static str, bool) {
        (M::NAME, true)
    }
    fn notification<N: Notice>() -> (&'static str, bool) {
        (N::NAME, false)
    }
    BTreeSet::from([
        request::<InitializeRequest>(),
        request::<PingRequest>(),
        request::<ListToolsRequest>(),
        request::<CallToolRequest>(),
        request::<ListResourcesRequest>(),
        request::<ListResourceTemplatesRequest>(),
        request::<ReadResourceRequest>(),
        request::<SubscribeRequest>(),
        request::<UnsubscribeRequest>(),
        request::<ListPromptsRequest>(),
        request::<GetPromptRequest>(),
        request::<SetLevelRequest>(),
        request::<CompleteRequest>(),
        request::<ListRootsRequest>(),
        request::<CreateMessageRequest>(),
        request::<ElicitRequest>(),
        notification::<InitializedNotification>(),
        notification::<CancelledNotification>(),
        notification::<ProgressNotification>(),
        notification::<ToolListChangedNotification>(),
        notification::<ResourceListChangedNotification>(),
        notification::<ResourceUpdatedNotification>(),
        notification::<PromptListChangedNotification>(),
        notification::<LoggingMessageNotification>(),
        notification::<RootsListChangedNotification>(),
        notification::<ElicitationCompleteNotification>(),
    ])
}

#[test]
fn the_table_and_the_types_name_the_same_methods() {
    let of_the_table: BTreeSet<_> =
        METHODS.iter().map(|method| (method.name, method.kind == MethodKind::Request)).collect();
    assert_eq!(of_the_table, of_the_types());
    assert_eq!(METHODS.len(), of_the_table.len(), "a method is there twice");
}

#[test]
fn a_method_waits_for_its_revision_and_its_capability() {
    let nothing = (ClientCapabilities::default(), ServerCapabilities::default());
    let client = read(&json!({ "elicitation": {}, "roots": { "listChanged": true } }));
    let server = read(&json!({ "tools": {}, "resources": { "subscribe": true }, "completions": {} }));
    let everything = (client, server);
    let allowed = |name: &str, (client, server): &(_, _)| -> Vec<Revision> {
        let method = MethodInfo::find(name).unwrap();
        Revision::ALL
            .iter()
            .copied()
            .filter(|revision| method.is_allowed(*revision, client, server))
            .collect()
    };

    assert_eq!(allowed("ping", &nothing), [A, B, C, D]);
    assert_eq!(allowed("tools/call", &nothing), []);
    assert_eq!(allowed("tools/call", &everything), [A, B, C, D]);
    assert_eq!(allowed("notifications/tools/list_changed", &everything), []);
    assert_eq!(allowed("resources/subscribe", &everything), [A, B, C, D]);
    assert_eq!(allowed("completion/complete", &nothing), [A], "the first revision has no capability for it");
    assert_eq!(allowed("completion/complete", &everything), [A, B, C, D]);
    assert_eq!(allowed("notifications/roots/list_changed", &everything), [A, B, C, D]);
    assert_eq!(allowed("elicitation/create", &everything), [C, D]);
    assert_eq!(allowed("notifications/elicitation/complete", &everything), []);
    assert_eq!(MethodInfo::find("tools/Call"), None);
}
