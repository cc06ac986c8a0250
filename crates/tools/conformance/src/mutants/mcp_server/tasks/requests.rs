//! Mutants of the checks in `mcp_server/tasks/requests.rs`.

use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TSK-10" => [
        "lists finished tasks only" => faults::result_of("tasks/list", |result| {
            if let Some(tasks) = result["tasks"].as_array_mut() {
                tasks.retain(|task| task["status"] != "working");
            }
        }),
    ],
];
