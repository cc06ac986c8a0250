//! The report of a run, and the forms in which it is written.

mod conversation;
mod escape;
mod file;
mod findings;
mod html;
mod junit;
mod limit;
mod markdown;
mod reasons;
mod results;
mod sarif;
#[cfg(test)]
mod tests;
mod text;

use agentwire_jsonrpc::Printable;

pub use self::findings::Finding;
pub(crate) use self::limit::Excerpt;
pub(crate) use self::results::Ran;
pub use self::results::{CheckResult, Counts, Report};
pub use self::text::{broken_requirements, finding_lines, result_lines, sums, unclear_lines};

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Everything but the conversations.
    Json,
    /// For CI systems.
    Junit,
    /// For code hosts.
    Sarif,
    /// For summaries.
    Markdown,
    /// For people: one page that needs nothing else.
    Html,
}

impl Format {
    /// Writes reports in this form.
    pub fn render(self, reports: &[Report]) -> String {
        match self {
            Self::Json => pretty(&serde_json::json!({ "reports": reports })),
            Self::Junit => junit::render(reports),
            Self::Sarif => pretty(&sarif::render(reports)),
            Self::Markdown => markdown::render(reports),
            Self::Html => html::render(reports),
        }
    }
}

fn pretty(value: &serde_json::Value) -> String {
    Printable::new(&format!("{value:#}\n")).json().to_string()
}
