//! What definitions are, where no doc comment says it: those that hold what several types have in common, and messages.

use serde_json::{Map, Value};

/// Definitions that several types share or none speaks.
const TEXTS: [(&str, &str); 64] = [
    ("Annotated", "What may say for whom it is and how much it matters."),
    ("BaseMetadata", "The names of something: one for programs, one for people."),
    ("CacheableResult", "A result that may be kept for a while."),
    ("CancelTaskResult", "The task, as it stands after that."),
    ("ClientNotification", "A notification that a client may send."),
    ("ClientRequest", "A request that a client may send."),
    ("ClientResult", "A result with which a client may answer."),
    ("ContentBlock", "A piece of content."),
    ("ElicitRequestParams", "Asks the user for input, with a form or by a web page."),
    ("EmptyResult", "A result that says only that it was done."),
    ("EnumSchema", "A field for one or some of several values."),
    ("Error", "Why a request was refused."),
    ("GetTaskPayloadResult", "The result of the request that runs as the task, whichever it was."),
    ("GetTaskResult", "The task, as it stands."),
    ("HeaderMismatchError", "The headers of an HTTP request do not say what its body says."),
    ("Icons", "Pictures to show something by."),
    ("InputRequest", "Something that a server wants of its client before it can answer."),
    ("InputRequests", "What a server wants of its client, under keys that it chose."),
    ("InputResponse", "What a client answers to such a request."),
    ("InputResponseRequestParams", "The params of a request that may be made again with answers."),
    ("InputResponses", "Answers, under the keys of their requests."),
    ("InternalError", "The receiver failed."),
    ("InvalidParamsError", "The params are not those of the method."),
    ("InvalidRequestError", "It was JSON, but no message."),
    ("JSONArray", "A list of any JSON."),
    ("JSONObject", "An object whose members are any JSON."),
    ("JSONRPCBatchRequest", "Requests and notifications in one piece."),
    ("JSONRPCBatchResponse", "Answers in one piece."),
    ("JSONRPCError", "The answer to a request that was refused."),
    ("JSONRPCErrorResponse", "The answer to a request that was refused."),
    ("JSONRPCMessage", "Anything that either side sends."),
    ("JSONRPCNotification", "A message that expects no answer."),
    ("JSONRPCRequest", "A message that expects an answer."),
    ("JSONRPCResponse", "The answer to a request."),
    ("JSONRPCResultResponse", "The answer to a request that was done."),
    ("JSONValue", "Any JSON, but not null."),
    ("LegacyTitledEnumSchema", "A field for one of several values, with their titles in a list of its own."),
    ("MetaObject", "Attachments of any kind, under names that say whose they are."),
    ("MethodNotFoundError", "There is no such method here."),
    ("MultiSelectEnumSchema", "A field for some of several values."),
    ("Notification", "What every notification has."),
    ("NotificationParams", "The params of a notification that has none of its own."),
    ("PaginatedRequest", "A request for a list that comes in pages."),
    ("PaginatedRequestParams", "The params of a request for a list that comes in pages."),
    ("PaginatedResult", "A page of a list."),
    ("ParseError", "It was not JSON."),
    ("PrimitiveSchemaDefinition", "A field of a form."),
    ("ProgressToken", "Ties news of progress to the request that it is about."),
    ("Request", "What every request has."),
    ("RequestId", "Ties an answer to its request."),
    ("RequestParams", "The params of a request that has none of its own."),
    ("ResourceContents", "What all contents of resources have."),
    ("Result", "What every result has; one that says only that it was done has no more."),
    ("SamplingMessageContentBlock", "A piece of a message to or from a model."),
    ("ServerNotification", "A notification that a server may send."),
    ("ServerRequest", "A request that a server may send."),
    ("ServerResult", "A result with which a server may answer."),
    ("SingleSelectEnumSchema", "A field for one of several values."),
    ("TaskAugmentedRequestParams", "The params of a request that may run as a task."),
    ("TaskStatusNotificationParams", "How a task stands now."),
    ("TitledMultiSelectEnumSchema", "A field for some of several values, each with a title."),
    ("TitledSingleSelectEnumSchema", "A field for one of several values, each with a title."),
    ("UntitledMultiSelectEnumSchema", "A field for some of several values."),
    ("UntitledSingleSelectEnumSchema", "A field for one of several values."),
];

/// Members that no type describes, whose meaning is the same wherever they are.
const MEMBERS: [(&str, &str); 21] = [
    ("code", "A number that programs decide on."),
    ("data", "Anything more, in a shape that the code defines."),
    ("default", "What is there at first."),
    ("description", "What to fill in."),
    ("enum", "The values."),
    ("enumNames", "Their titles, in the same order."),
    ("error", "Why the request was refused."),
    ("id", "Ties the answer to its request."),
    ("items", "The values of which some may be chosen."),
    ("jsonrpc", "The version of JSON-RPC."),
    ("maxItems", "How many may be chosen."),
    ("message", "One short sentence for people."),
    ("method", "The name of the method."),
    ("minItems", "How many must be chosen."),
    ("mode", "In which way the user is asked."),
    ("oneOf", "The values with their titles."),
    ("params", "The params of the method."),
    ("progressToken", "The token under which to hear of progress."),
    ("result", "The result of the method."),
    ("title", "Its name for people."),
    ("type", "Tells it from other kinds."),
];

/// Adds to the definitions what they are; and to their members what nobody else says of them.
pub(super) fn fill_in(definitions: &mut Map<String, Value>) {
    for (name, definition) in definitions {
        let text = TEXTS.iter().find(|(other, _)| other == name).map(|(_, text)| (*text).to_owned());
        let Some(keywords) = definition.as_object_mut() else { continue };
        if let Some(Value::Object(members)) = keywords.get_mut("properties") {
            describe(members);
        }
        if let Some(text) = text {
            keywords.insert("description".to_owned(), text.into());
        } else if !keywords.contains_key("description")
            && let Some(text) = message(name, keywords)
        {
            keywords.insert("description".to_owned(), text.into());
        }
    }
}

fn describe(members: &mut Map<String, Value>) {
    for (name, text) in MEMBERS {
        if let Some(Value::Object(member)) = members.get_mut(name) {
            member.entry("description").or_insert_with(|| text.into());
        }
    }
    let form = members.get_mut("requestedSchema").and_then(|form| form["properties"].as_object_mut());
    if let Some(Value::Object(kind)) = form.and_then(|members| members.get_mut("type")) {
        kind.insert("description".to_owned(), "A form is an object.".into());
    }
}

/// What a message is, by its method or by its result.
fn message(name: &str, keywords: &Map<String, Value>) -> Option<String> {
    let members = keywords.get("properties")?;
    if let Some(method) = members["method"]["const"].as_str() {
        let kind = if method.starts_with("notifications/") { "notification" } else { "request" };
        return Some(format!("The {kind} `{method}`."));
    }
    if let Some(result) = name.strip_suffix("Response").filter(|_| members.get("result").is_some()) {
        return Some(format!("The answer with a `{result}`."));
    }
    Some(format!(
        "An answer with the error {}.",
        members["error"]["allOf"][1]["properties"]["code"]["const"].as_i64()?
    ))
}
