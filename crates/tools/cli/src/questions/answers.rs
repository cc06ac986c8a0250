//! `--answer NAME=VALUE`: fills in a server's forms without a person.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use agentwire_acp_sessions::{answer_to_mcp, form_from_mcp};
use agentwire_acp_toolkit::Form;
use agentwire_jsonrpc::{ErrorObject, did_you_mean};
use agentwire_mcp_client::schema::{ElicitFormRequest, ElicitResult};

use crate::arguments::values::Answer;
use crate::output::text;

/// The answers of the command line, by the names of the fields. A field with a list type may have several.
#[derive(Debug)]
pub(super) struct Answers(BTreeMap<String, NamedAnswers>);

#[derive(Debug, Default)]
struct NamedAnswers {
    values: Vec<String>,
    is_used: Cell<bool>,
    /// The hint "did you mean …?" with the most similar field of the server's forms.
    meant: RefCell<String>,
}

/// The outcome of filling in a form with the answers.
pub(super) enum Filled {
    /// The form has no field with the name of an answer.
    Unknown,
    /// The filled-in form, and a text for a note.
    Complete(ElicitResult, String),
    /// The answers do not fill in the form, for this reason.
    Wrong(String),
}

impl Answers {
    pub(super) fn new(answers: Vec<Answer>) -> Self {
        let mut named = BTreeMap::<_, NamedAnswers>::new();
        for Answer { name, value } in answers {
            named.entry(name).or_default().values.push(value);
        }
        Self(named)
    }

    /// Fills in a form. Each value gets the type of its field, and has to be valid.
    pub(super) fn fill_in(&self, request: &ElicitFormRequest) -> Result<Filled, ErrorObject> {
        if self.0.is_empty() {
            return Ok(Filled::Unknown);
        }
        let mut form = Form::new(form_from_mcp(request.requested_schema.clone())?)?;
        let fields: BTreeSet<String> = form.fields().map(|(name, _)| name.to_owned()).collect();
        for (name, answers) in self.0.iter().filter(|(name, _)| !fields.contains(*name)) {
            let meant = did_you_mean(name, fields.iter().map(String::as_str));
            if !meant.is_empty() {
                answers.meant.replace(meant);
            }
        }
        let asked = request.requested_schema.properties.iter().map(|(name, _)| name);
        let answered = asked.filter_map(|name| self.0.get_key_value(name));
        let fitting: Vec<_> = answered.filter(|(name, _)| fields.contains(*name)).collect();
        fitting.iter().for_each(|(_, answers)| answers.is_used.set(true));
        let mut names = Vec::new();
        for (name, answers) in fitting {
            let values: Vec<_> = answers.values.iter().map(String::as_str).collect();
            if let Err(error) = form.enter_each(name, &values) {
                return Ok(Filled::Wrong(format!("--answer {}: {}", text::one_line(name), error.fault)));
            }
            names.push(name.as_str());
        }
        if names.is_empty() {
            return Ok(Filled::Unknown);
        }
        match form.accept() {
            Ok(response) => {
                let question = text::one_line(&request.message);
                let note =
                    format!("answered with --answer: {question} ({})", text::one_line(&names.join(", ")));
                Ok(Filled::Complete(answer_to_mcp(response)?, note))
            }
            Err(faults) => {
                let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
                Ok(Filled::Wrong(format!("--answer: {}", faults.join("; "))))
            }
        }
    }

    /// The names that no form of the server had, each with a hint "did you mean …?".
    pub(super) fn unused(&self) -> impl Iterator<Item = (&str, String)> {
        let unused = self.0.iter().filter(|(_, answers)| !answers.is_used.get());
        unused.map(|(name, answers)| (&**name, answers.meant.borrow().clone()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form() -> ElicitFormRequest {
        serde_json::from_value(json!({ "message": "Sure?", "requestedSchema": { "type": "object",
            "properties": { "sure": { "type": "boolean" }, "cups": { "type": "integer", "maximum": 9, "default": 1 },
                "with": { "type": "array", "items": { "enum": ["milk", "sugar", "salt, a little"], "type": "string" } } },
            "required": ["sure", "cups"] } }))
        .unwrap()
    }

    fn filled(answers: &[&str]) -> (String, Vec<String>) {
        let answers = Answers::new(answers.iter().map(|answer| answer.parse().unwrap()).collect());
        let filled = match answers.fill_in(&form()).unwrap() {
            Filled::Unknown => "unknown".to_owned(),
            Filled::Complete(result, note) => {
                format!("{note}: {}", serde_json::to_string(&result.content).unwrap())
            }
            Filled::Wrong(why) => why,
        };
        (filled, answers.unused().map(|(name, meant)| format!("{name}{meant}")).collect())
    }

    #[test]
    fn answers_with_one_name_are_a_list() {
        let with = |answers: &[&str]| filled(&[&["sure=yes"], answers].concat()).0;
        assert!(with(&["with=milk", "with=sugar"]).ends_with("\"with\":[\"milk\",\"sugar\"]}"));
        assert!(with(&["with=milk, sugar"]).ends_with("\"with\":[\"milk\",\"sugar\"]}"));
        let comma = "\"with\":[\"salt, a little\",\"milk\"]}";
        assert!(with(&["with=salt, a little", "with=milk"]).ends_with(comma));
        assert!(with(&["with=salt, a little"]).ends_with("\"with\":[\"salt, a little\"]}"));
        assert_eq!(with(&["with=milk", "with=tea"]), "--answer with: \"tea\" is not one of the choices");
        assert_eq!(with(&["cups=1", "cups=2"]), "--answer cups: this takes one value");
        assert_eq!("sure".parse::<Answer>().unwrap_err(), "write NAME=VALUE, as in sure=true");
    }

    #[test]
    fn answers_are_typed_and_checked() {
        let complete = "answered with --answer: Sure? (sure): {\"cups\":1,\"sure\":true}";
        assert_eq!(filled(&["sure=true", "other=x"]), (complete.into(), vec!["other".into()]));
        let near = vec!["suer; did you mean `sure`?".to_owned()];
        assert_eq!(filled(&["suer=true"]), ("unknown".into(), near));
        assert_eq!(filled(&[]), ("unknown".into(), vec![]));
        assert_eq!(filled(&["other=x"]), ("unknown".into(), vec!["other".into()]));
        for wrong in [&["sure=perhaps"][..], &["sure=true", "cups=10"], &["cups=2"]] {
            let (why, unused) = filled(wrong);
            assert!(why.starts_with("--answer") && unused.is_empty(), "{wrong:?}: {why}");
        }
    }
}
