//! Mutants of the checks in `acp_client/client_methods/files.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "FS-04" => [
        "ignores the limit" => edits_content(|text| match text.starts_with("two") {
            true => "two\nthree\nfour".to_owned(),
            false => text.to_owned(),
        }),
        "counts from zero" => edits_content(|text| text.split_once('\n').map_or("", |(_, rest)| rest).to_owned()),
        "returns no more than the first line" => edits_content(|text| text.lines().next().unwrap_or_default().to_owned()),
    ],
];

pub(crate) fn edits_content(edit: fn(&str) -> String) -> Box<dyn crate::fault::Fault> {
    faults::result_of("fs/read_text_file", move |result| {
        result["content"] = json!(edit(result["content"].as_str().unwrap_or_default()));
    })
}
