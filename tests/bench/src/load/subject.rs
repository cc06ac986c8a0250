//! The subjects: our programs, the rivals' and the limit, how they are built and how they are started.

use std::path::{Path, PathBuf};

use agentwire_test_support::cargo;
use anyhow::Result;

use super::package::Package;
use super::process::Launch;
use crate::rivals::RIVALS;

/// The side of a program, which decides the ratios and the floors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Side {
    Ours,
    /// Ours from another checkout, such as the commit before a change.
    Before,
    Rival,
    Limit,
}

/// The sides that a run compares.
#[derive(Clone, Copy)]
pub(crate) enum Sides<'a> {
    /// Ours, the rivals' and the limit.
    All,
    /// The rivals' and the limit.
    WithoutOurs,
    /// Ours, ours from the checkout in this folder, and the limit.
    Against(&'a Path),
}

/// One column of the table.
pub(crate) struct Subject {
    pub(crate) side: Side,
    pub(crate) label: &'static str,
    /// The agent or the server.
    pub(crate) service: Launch,
    /// The client, if there is one.
    pub(crate) client: Option<Launch>,
    /// The package, if its build is measured.
    pub(crate) package: Option<Package>,
}

/// Our own programs over stdio: package, example.
const OURS: [(&str, &str); 3] = [
    ("agentwire-acp-agent", "bench_agent"),
    ("agentwire-acp-client", "bench_client"),
    ("agentwire-mcp-server", "bench_server"),
];

/// And over HTTP.
const OURS_HTTP: [(&str, &str); 2] =
    [("agentwire-mcp-server", "bench_http_server"), ("agentwire-mcp-client", "bench_http_client")];

/// Packages of the rivals that are built separately, so that no program gets the features of another.
const RIVALS_APART: [&str; 3] = ["rival-http*", "rival-schema*", "rival-size*"];

/// The folders of the built programs.
pub(crate) struct Programs {
    ours: Option<PathBuf>,
    before: Option<PathBuf>,
    rivals: PathBuf,
    with_rivals: bool,
}

impl Programs {
    /// Builds all programs for stdio in release mode. A missing one is an error, unless a side is left out on purpose.
    pub(crate) fn build(root: &Path, sides: Sides<'_>) -> Result<Self> {
        let excluded = RIVALS_APART.iter().flat_map(|packages| ["--exclude", packages]);
        let all: Vec<_> = ["--workspace"].into_iter().chain(excluded).collect();
        Self::build_these(root, sides, &all, "rival-limit", &OURS)
    }

    /// Builds those for HTTP.
    pub(crate) fn build_http(root: &Path, sides: Sides<'_>) -> Result<Self> {
        Self::build_these(root, sides, &["--package", "rival-http*"], "rival-http-limit", &OURS_HTTP)
    }

    fn build_these(
        root: &Path,
        sides: Sides<'_>,
        all: &[&str],
        limit: &str,
        examples: &[(&str, &str)],
    ) -> Result<Self> {
        let rivals = root.join(RIVALS);
        let with_rivals = !matches!(sides, Sides::Against(_));
        let packages = if with_rivals { all } else { &["--package", limit] };
        cargo::build(&rivals, &[&["--release"], packages].concat())?;
        let of = |folder: &Path| build_ours(folder, examples);
        let (ours, before) = match sides {
            Sides::All => (Some(of(root)?), None),
            Sides::WithoutOurs => (None, None),
            Sides::Against(folder) => (Some(of(root)?), Some(of(folder)?)),
        };
        Ok(Self { ours, before, rivals: cargo::target(&rivals)?.join("release"), with_rivals })
    }

    /// The subjects, without the rivals when those are left out.
    fn wanted(&self, subjects: impl IntoIterator<Item = Subject>) -> Vec<Subject> {
        subjects.into_iter().filter(|subject| self.with_rivals || subject.side != Side::Rival).collect()
    }

    /// Our columns: of this checkout and of the other one.
    fn own(&self) -> impl Iterator<Item = (Side, &'static str, &Path)> {
        [(Side::Ours, "ours", &self.ours), (Side::Before, "before", &self.before)]
            .into_iter()
            .filter_map(|(side, label, folder)| folder.as_deref().map(|folder| (side, label, folder)))
    }

    /// The agents and clients of ACP.
    pub(crate) fn acp(&self, root: &Path, with_minimal: bool) -> Result<Vec<Subject>> {
        let mut subjects = Vec::new();
        for (side, label, examples) in self.own() {
            let minimal = with_minimal && side == Side::Ours;
            subjects.push(Subject {
                side,
                label,
                service: Launch::new(examples.join("bench_agent")),
                client: Some(Launch::new(examples.join("bench_client"))),
                package: minimal.then(|| Package::minimal(root)).transpose()?,
            });
        }
        let rival = || Package::at(root.join(RIVALS).join("Cargo.toml"), "rival-minimal");
        subjects.push(Subject {
            side: Side::Rival,
            label: "agent-client-protocol 5.2.0",
            service: Launch::new(self.rivals.join("acp_rival_agent")),
            client: Some(Launch::new(self.rivals.join("acp_rival_client"))),
            package: with_minimal.then(rival),
        });
        subjects.push(Subject {
            side: Side::Limit,
            label: "limit",
            service: Launch::new(self.rivals.join("limit_agent")),
            client: Some(Launch::new(self.rivals.join("limit_client"))),
            package: None,
        });
        Ok(self.wanted(subjects))
    }

    /// The servers of MCP. Where rmcp has a choice, each choice is a column, and the best of them is the rival.
    pub(crate) fn mcp(&self) -> Vec<Subject> {
        let server = |side, label, service| Subject { side, label, service, client: None, package: None };
        let best = Launch::new(self.rivals.join("mcp_rival_server_best"));
        let own = self
            .own()
            .map(|(side, label, examples)| server(side, label, Launch::new(examples.join("bench_server"))));
        let others = [
            server(
                Side::Rival,
                "rmcp 3.11.0 stdio",
                Launch::new(self.rivals.join("mcp_rival_server_default")),
            ),
            server(Side::Rival, "rmcp pipes", best.clone()),
            server(Side::Rival, "rmcp pipes 1 thread", best.with("THREADS", 1)),
            server(Side::Limit, "limit", Launch::new(self.rivals.join("limit_server"))),
        ];
        self.wanted(own.chain(others))
    }

    /// The servers of MCP over HTTP.
    pub(crate) fn http_servers(&self) -> Vec<Subject> {
        let server = |side, label, program| {
            let service = Launch::new(program);
            Subject { side, label, service, client: None, package: None }
        };
        let own =
            self.own().map(|(side, label, examples)| server(side, label, examples.join("bench_http_server")));
        let others = [
            server(Side::Rival, "rmcp 3.11.0", self.rivals.join("mcp_rival_http_server")),
            server(Side::Limit, "limit", self.rivals.join("rival-http-limit")),
        ];
        self.wanted(own.chain(others))
    }

    /// The clients of MCP over HTTP. All of them call the limit's server.
    pub(crate) fn http_clients(&self) -> Vec<Subject> {
        let client = |side, label, program| Subject {
            side,
            label,
            service: Launch::new(self.rivals.join("rival-http-limit")),
            client: Some(Launch::new(program)),
            package: None,
        };
        let own =
            self.own().map(|(side, label, examples)| client(side, label, examples.join("bench_http_client")));
        let rival = self.rivals.join("mcp_rival_http_client");
        self.wanted(own.chain([client(Side::Rival, "rmcp 3.11.0, pooled", rival)]))
    }
}

fn build_ours(root: &Path, examples: &[(&str, &str)]) -> Result<PathBuf> {
    for (package, example) in examples {
        cargo::build(root, &["--release", "--package", package, "--example", example])?;
    }
    Ok(cargo::target(root)?.join("release/examples"))
}
