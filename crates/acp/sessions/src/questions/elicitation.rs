//! Converts forms of MCP to forms of ACP, and their answers back.

use agentwire_acp_agent::Error;
use agentwire_acp_schema::v1::{CreateElicitationResponse, ElicitationAction, ElicitationSchema};
use agentwire_jsonrpc::RawJson;
use agentwire_mcp_hub::schema::{ElicitAction, ElicitResult, ElicitSchema, PrimitiveSchema};

/// Converts the form of an MCP server into a form of ACP, with the same fields in the same order.
///
/// # Errors
///
/// When ACP has no such form.
pub fn form_from_mcp(mut schema: ElicitSchema) -> Result<ElicitationSchema, Error> {
    for (_, field) in &mut schema.properties {
        // ACP does not have the titles that older servers send.
        if let PrimitiveSchema::SingleSelect(select) = field {
            select.legacy_titles = false;
        }
    }
    // The JSON of both is the same from here on.
    let schema = RawJson::encode(&schema).map_err(Error::internal_error)?;
    schema.decode().map_err(Error::invalid_params)
}

/// Converts an ACP client's answer into an answer for an MCP server. An unknown action becomes `cancel`, because it is not
/// consent.
///
/// # Errors
///
/// When a value has no JSON.
pub fn answer_to_mcp(response: CreateElicitationResponse) -> Result<ElicitResult, Error> {
    Ok(match response.action {
        ElicitationAction::Accept(accepted) => {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            if let Some(content) = accepted.content {
                let content = RawJson::encode(&content).map_err(Error::internal_error)?;
                result.content = Some(content.decode().map_err(Error::internal_error)?);
            }
            result
        }
        ElicitationAction::Decline => ElicitResult::decline(),
        _ => ElicitResult::cancel(),
    })
}

#[cfg(test)]
mod tests {
    use agentwire_acp_schema::v1::ElicitationAcceptAction;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_form_keeps_its_fields_and_old_titles_become_titles() {
        let schema: ElicitSchema = serde_json::from_value(json!({ "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": "string", "minLength": 1, "title": "Name" },
                "legacy": { "type": "string", "enum": ["a", "b"], "enumNames": ["Ah", "Be"] },
                "some": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }] } },
            } }))
        .unwrap();
        let form = serde_json::to_value(form_from_mcp(schema).unwrap()).unwrap();
        let expected = json!({ "type": "object", "required": ["name"],
            "properties": {
                "name": { "type": "string", "minLength": 1, "title": "Name" },
                "legacy": { "type": "string",
                    "oneOf": [{ "const": "a", "title": "Ah" }, { "const": "b", "title": "Be" }] },
                "some": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }] } },
            } });
        assert_eq!(form, expected);
    }

    #[test]
    fn only_an_accepted_answer_is_consent() {
        let accepted = ElicitationAcceptAction::new().value("name", "Ada").value("cups", 2_i64);
        let unknown = serde_json::from_value(json!({ "action": "postpone" })).unwrap();
        let rows = [
            (
                CreateElicitationResponse::accept(accepted),
                json!({ "action": "accept", "content": { "name": "Ada", "cups": 2 } }),
            ),
            (
                CreateElicitationResponse::accept(ElicitationAcceptAction::new()),
                json!({ "action": "accept" }),
            ),
            (CreateElicitationResponse::decline(), json!({ "action": "decline" })),
            (CreateElicitationResponse::cancel(), json!({ "action": "cancel" })),
            (unknown, json!({ "action": "cancel" })),
        ];
        for (response, expected) in rows {
            assert_eq!(serde_json::to_value(answer_to_mcp(response).unwrap()).unwrap(), expected);
        }
    }
}
