//! The pages of the specifications that requirements name: which revisions have a page, and its address there.

use crate::requirements::protocol::Protocol;
use crate::requirements::revision::Revision;

/// A page and the revisions that have it.
struct Page {
    /// Its path below the revision.
    path: &'static str,
    first: Revision,
    last: Revision,
    /// The page that earlier revisions have in its place.
    earlier: Option<&'static str>,
    /// The page that later revisions have in its place.
    later: Option<&'static str>,
}

impl Page {
    const fn new(path: &'static str, first: Revision, last: Revision) -> Self {
        Self { path, first, last, earlier: None, later: None }
    }

    const fn earlier(mut self, path: &'static str) -> Self {
        self.earlier = Some(path);
        self
    }

    const fn later(mut self, path: &'static str) -> Self {
        self.later = Some(path);
        self
    }
}

const FIRST: Revision = Revision::Mcp20241105;
const SESSIONS: Revision = Revision::Mcp20251125;
const NEWEST: Revision = Revision::Mcp20260728;

/// The pages of both specifications that a requirement names.
const PAGES: &[Page] = &[
    Page::new("basic/index", FIRST, NEWEST),
    Page::new("basic/lifecycle", FIRST, SESSIONS).later("basic/versioning"),
    Page::new("basic/messages", FIRST, FIRST).later("basic/index"),
    Page::new("basic/patterns", NEWEST, NEWEST),
    Page::new("basic/patterns/cancellation", NEWEST, NEWEST),
    Page::new("basic/patterns/mrtr", NEWEST, NEWEST),
    Page::new("basic/patterns/subscriptions", NEWEST, NEWEST),
    Page::new("basic/transports", FIRST, NEWEST),
    Page::new("basic/transports#streamable-http", FIRST, SESSIONS).later("basic/transports/streamable-http"),
    Page::new("basic/transports/stdio", NEWEST, NEWEST).earlier("basic/transports"),
    Page::new("basic/transports/streamable-http", NEWEST, NEWEST),
    Page::new("basic/utilities/cancellation", FIRST, SESSIONS).later("basic/patterns/cancellation"),
    Page::new("basic/utilities/ping", FIRST, SESSIONS),
    Page::new("basic/utilities/progress", FIRST, SESSIONS).later("basic/patterns/progress"),
    Page::new("basic/utilities/tasks", SESSIONS, SESSIONS),
    Page::new("basic/versioning", NEWEST, NEWEST),
    Page::new("changelog", Revision::Mcp20250326, NEWEST),
    Page::new("jsonrpc", FIRST, NEWEST),
    Page::new("jsonrpc", Revision::Acp1, Revision::Acp2),
    Page::new("schema", Revision::Mcp20250618, NEWEST),
    Page::new("server/discover", NEWEST, NEWEST),
    Page::new("server/resources", FIRST, NEWEST),
    Page::new("server/tools", FIRST, NEWEST),
    Page::new("server/utilities/caching", NEWEST, NEWEST),
    Page::new("server/utilities/completion", FIRST, NEWEST),
    Page::new("server/utilities/logging", FIRST, NEWEST),
    Page::new("server/utilities/pagination", FIRST, NEWEST),
    Page::new("agent-plan", Revision::Acp1, Revision::Acp2),
    Page::new("authentication", Revision::Acp1, Revision::Acp2),
    Page::new("cancellation", Revision::Acp1, Revision::Acp2),
    Page::new("content", Revision::Acp1, Revision::Acp2),
    Page::new("elicitation", Revision::Acp1, Revision::Acp2),
    Page::new("extensibility", Revision::Acp1, Revision::Acp2),
    Page::new("file-system", Revision::Acp1, Revision::Acp1),
    Page::new("initialization", Revision::Acp1, Revision::Acp2),
    Page::new("jsonrpc", Revision::Acp1, Revision::Acp2),
    Page::new("overview", Revision::Acp1, Revision::Acp2),
    Page::new("prompt-turn", Revision::Acp1, Revision::Acp1).later("prompt-lifecycle"),
    Page::new("prompt-lifecycle", Revision::Acp2, Revision::Acp2),
    Page::new("session-config-options", Revision::Acp1, Revision::Acp2),
    Page::new("session-delete", Revision::Acp1, Revision::Acp2),
    Page::new("session-list", Revision::Acp1, Revision::Acp2),
    Page::new("session-modes", Revision::Acp1, Revision::Acp1),
    Page::new("session-setup", Revision::Acp1, Revision::Acp2),
    Page::new("slash-commands", Revision::Acp1, Revision::Acp2),
    Page::new("terminals", Revision::Acp1, Revision::Acp1),
    Page::new("tool-calls", Revision::Acp1, Revision::Acp2),
    Page::new("transports", Revision::Acp1, Revision::Acp2),
];

/// The address of a page in a revision. Where that revision lacks the page, the address is that of the nearest revision that
/// has it, or of its successor. A page of ACP that names its own version, as in `schema/v1/ToolCall`, keeps it.
pub(crate) fn url(page: &str, revision: Revision) -> String {
    // A section that became a page of its own is listed with its anchor.
    let is_listed = PAGES.iter().any(|listed| listed.path == page);
    let path = if is_listed { page } else { page.split([' ', '#']).next().unwrap_or_default() };
    if path == "jsonrpc" {
        let anchor = page.split_once('#').map_or("", |(_, anchor)| anchor);
        return format!("https://www.jsonrpc.org/specification#{anchor}");
    }
    if let Some(own) = path.strip_prefix("schema/v") {
        let (version, name) = own.split_once('/').unwrap_or((own, ""));
        let anchor = if name.is_empty() { String::new() } else { format!("#{}", name.to_lowercase()) };
        return format!("https://agentclientprotocol.com/protocol/v{version}/schema{anchor}");
    }
    let (revision, path) = place(path, revision);
    match revision.protocol() {
        Protocol::Acp if path.starts_with("rfds/") => format!("https://agentclientprotocol.com/{path}"),
        Protocol::Acp => format!("https://agentclientprotocol.com/protocol/v{revision}/{path}"),
        Protocol::Mcp => format!("https://modelcontextprotocol.io/specification/{revision}/{path}"),
    }
}

/// The revision and the path under which a page is found.
fn place(path: &str, revision: Revision) -> (Revision, &str) {
    let of_protocol = |page: &&Page| page.first.protocol() == revision.protocol();
    match PAGES.iter().filter(of_protocol).find(|page| page.path == path) {
        Some(Page { last, later: Some(later), .. }) if revision > *last => (revision, later),
        Some(Page { first, earlier: Some(earlier), .. }) if revision < *first => (revision, earlier),
        Some(page) => (revision.clamp(page.first, page.last), path),
        None => (revision, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::registry::Registry;

    #[test]
    fn a_page_is_that_of_the_revision_or_the_nearest_one() {
        for (page, revision, expected) in [
            ("basic/lifecycle", "2025-03-26", "2025-03-26/basic/lifecycle"),
            ("basic/lifecycle", "2026-07-28", "2026-07-28/basic/versioning"),
            ("basic/utilities/progress#rate", "2026-07-28", "2026-07-28/basic/patterns/progress"),
            ("basic/utilities/ping", "2026-07-28", "2025-11-25/basic/utilities/ping"),
            ("schema", "2024-11-05", "2025-06-18/schema"),
            ("basic/transports/stdio", "2025-03-26", "2025-03-26/basic/transports"),
            ("basic/transports (stdio)", "2024-11-05", "2024-11-05/basic/transports"),
            ("basic/transports#streamable-http", "2025-11-25", "2025-11-25/basic/transports#streamable-http"),
            ("basic/transports#streamable-http", "2026-07-28", "2026-07-28/basic/transports/streamable-http"),
        ] {
            let expected = format!("https://modelcontextprotocol.io/specification/{expected}");
            assert_eq!(url(page, revision.parse().unwrap()), expected);
        }
        let both = "https://www.jsonrpc.org/specification#error_object";
        assert_eq!(url("jsonrpc#error_object", Revision::Acp1), both);
        assert_eq!(url("jsonrpc#error_object", NEWEST), both);
        for (page, revision, expected) in [
            ("initialization", Revision::Acp1, "protocol/v1/initialization"),
            ("initialization", Revision::Acp2, "protocol/v2/initialization"),
            ("prompt-turn", Revision::Acp2, "protocol/v2/prompt-lifecycle"),
            ("terminals", Revision::Acp2, "protocol/v1/terminals"),
            ("schema/v1/ToolCall", Revision::Acp2, "protocol/v1/schema#toolcall"),
            ("schema/v1", Revision::Acp2, "protocol/v1/schema"),
            ("rfds/proxy-chains", Revision::Acp1, "rfds/proxy-chains"),
        ] {
            assert_eq!(url(page, revision), format!("https://agentclientprotocol.com/{expected}"));
        }
    }

    #[test]
    fn the_page_of_each_requirement_is_known() {
        for requirement in Registry::load().unwrap().all() {
            let path = requirement.page.split([' ', '#']).next().unwrap_or_default();
            let is_listed =
                PAGES.iter().any(|page| page.path == path && page.first.protocol() == requirement.protocol());
            let has_no_revision = path.starts_with("rfds/") || path.starts_with("schema/v");
            assert!(is_listed || has_no_revision, "{} names {path}", requirement.name());
        }
    }
}
