//! A store in a folder of its own, with fake package managers and a server of files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use agentwire_agent_registry::{AgentStore, Index, Kind, Limits, Plan, PlanOptions, SearchPath};
use agentwire_test_support::http;
pub(crate) use agentwire_test_support::write_program;
use tempfile::TempDir;

/// An agent that answers `initialize`, with its arguments in its name.
pub(crate) const AGENT: &str = r#"#!/bin/sh
read -r line
echo "starting" >&2
printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"fake %s %s","version":"7"},"authMethods":[{"id":"k","name":"Key"}]}}\n' "$*" "$FAKE"
cat > /dev/null
"#;

/// An agent that ends at once.
pub(crate) const BROKEN_AGENT: &str = "#!/bin/sh\necho 'no such module' >&2\nexit 3\n";

/// A package manager's stand-in, and the folder with all files of a test.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn program(&self, name: &str, script: &str) {
        write_program(&self.path("bin").join(name), script);
    }

    /// npm that installs `agents/VERSION` as the executable `fake-agent`, and writes its arguments to `npm-arguments`.
    pub(crate) fn npm(&self) {
        let root = self.folder.path().display();
        self.program(
            "npm",
            &format!(
                r#"#!/bin/sh
[ "$1" = --version ] && {{ echo 10.0.0; exit; }}
for spec; do :; done
if [ "$1" = view ]; then
  version=${{2##*@}}
  [ -e {root}/agents/$version ] || {{ echo "404 no such version $version" >&2; exit 1; }}
  echo "{{\"version\":\"$version\",\"bin\":{{\"fake-agent\":\"cli.sh\"}},\"dist.integrity\":\"sha512-$version\"}}"
  exit
fi
echo "$@" > {root}/npm-arguments
pwd > {root}/npm-folder
while [ "$1" != --prefix ]; do shift; done
name=${{spec%@*}} version=${{spec##*@}}
mkdir -p "$2/node_modules/$name" "$2/node_modules/.bin"
cp {root}/agents/$version "$2/node_modules/$name/cli.sh"
ln -s "../$name/cli.sh" "$2/node_modules/.bin/fake-agent"
echo "{{\"packages\":{{\"node_modules/$name\":{{\"integrity\":\"sha512-$version\"}}}}}}" > "$2/package-lock.json"
"#
            ),
        );
        fs::create_dir(self.path("agents")).unwrap();
    }

    pub(crate) fn agent(&self, version: &str, script: &str) {
        write_program(&self.path("agents").join(version), script);
    }

    pub(crate) fn store(&self) -> AgentStore {
        self.store_with(Limits::default())
    }

    pub(crate) fn store_with(&self, limits: Limits) -> AgentStore {
        let path = SearchPath::new(format!("{}:/usr/bin:/bin", self.path("bin").display()));
        AgentStore::open(self.path("store"), limits).unwrap().search_path(path)
    }
}

/// The plan for the only agent, `fake`, with this distribution.
pub(crate) fn plan(version: &str, distribution: &str, options: PlanOptions) -> Plan {
    let text = format!(
        r#"{{"agents":[{{"id":"fake","name":"Fake","version":"{version}","description":"d","distribution":{distribution}}}]}}"#
    );
    let index = Index::parse(&text, "test").unwrap();
    Plan::new(index.entry("fake").unwrap(), &index, &options).unwrap()
}

/// The plan for a package of npm.
pub(crate) async fn npm_plan(store: &AgentStore, version: &str) -> Plan {
    let package =
        format!(r#"{{"npx":{{"package":"@fake/pkg@{version}","args":["--acp"],"env":{{"FAKE":"yes"}}}}}}"#);
    let mut plan = plan(version, &package, PlanOptions::default().kind(Kind::Npx));
    store.resolve(&mut plan).await.unwrap();
    plan
}

/// A server of files, whose responses are whole texts with their heads.
pub(crate) struct Server {
    pub(crate) url: String,
    files: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
    /// The heads of the requests.
    pub(crate) requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    pub(crate) fn new() -> Self {
        let files = Arc::<Mutex<BTreeMap<String, Vec<u8>>>>::default();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (shared, heads) = (files.clone(), requests.clone());
        let url = http::serve(move |request| {
            heads.lock().unwrap().push(String::from_utf8(request.bytes.clone()).unwrap());
            let response = shared.lock().unwrap().get(request.path()).cloned();
            response.unwrap_or_else(|| http::response("404 Not Found", ""))
        });
        Self { url, files, requests }
    }

    pub(crate) fn set(&self, path: &str, content: impl AsRef<[u8]>) {
        self.set_response(path, http::response("200 OK", content));
    }

    pub(crate) fn set_response(&self, path: &str, response: impl Into<Vec<u8>>) {
        self.files.lock().unwrap().insert(path.to_owned(), response.into());
    }
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// The names in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
