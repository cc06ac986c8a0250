//! Mutants of the checks in `mcp_server/tasks/course.rs`.

use crate::mcp_server::tasks::is_final;
use crate::mutants::faults;
use crate::mutants::mutant::{Mutant, mutants};
use serde_json::json;

pub(super) const MUTANTS: &[Mutant] = mutants![
    "TSK-04" => [
        "goes on after its end" => {
            let mut ended = false;
            faults::result_of("tasks/get", move |task| {
                let ends = is_final(&task["status"]);
                if ended {
                    task["status"] = json!("working");
                }
                ended |= ends;
            })
        },
    ],
    "TSK-05b" => [
        "wraps the result" => faults::result_of("tasks/result", |result| *result = json!({"result": result.take()})),
    ],
    "TSK-13" => [
        "waits although it was answered" => faults::result_of("tasks/get", |task| {
            if is_final(&task["status"]) {
                task["status"] = json!("input_required");
            }
        }),
    ],
];
