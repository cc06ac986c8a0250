//! Mutants of the checks in `mcp_server/tasks/start.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::{Value, json};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TSK-11" => [
        "numbers its tasks" => {
            let mut number = 0;
            edit_task(move |task| {
                number += 1;
                task["taskId"] = json!(format!("task-of-this-server-{number}"));
            })
        },
        "has short ids" => {
            let mut number = 0;
            edit_task(move |task| {
                number += 1;
                task["taskId"] = json!(["a7x", "k2f", "p9q"][number % 3]);
            })
        },
    ],
];

pub(crate) fn edit_task(mut edit: impl FnMut(&mut Value) + Send + 'static) -> Box<dyn crate::fault::Fault> {
    faults::result_of("tools/call", move |result| {
        if let Some(task) = result.get_mut("task") {
            edit(task);
        }
    })
}
