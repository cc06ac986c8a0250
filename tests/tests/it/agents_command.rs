//! `agentwire agents`: consent, installs, and `chat --agent ID` without a network.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;

use agentwire_test_support::{http, write_program};
use tempfile::TempDir;

use crate::binaries::agentwire;
use crate::program::{Ended, Program, SOON};
use crate::terminal::Terminal;

/// A registry, a store, and an npm that installs scripts of this folder.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let root = place.folder.path().display();
        fs::create_dir(place.path("bin")).unwrap();
        place.script(
            "bin/npm",
            &format!(
                r#"#!/bin/sh
[ "$1" = --version ] && {{ echo 10.9.0; exit; }}
for spec; do :; done
if [ "$1" = view ]; then
  echo "{{\"version\":\"${{2##*@}}\",\"bin\":{{\"fake-agent\":\"x\"}},\"dist.integrity\":\"sha512-${{2##*@}}\"}}"
  exit
fi
echo "$@" >> {root}/installs
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/fake" "$2/node_modules/.bin"
cp {root}/agent-${{spec##*@}} "$2/node_modules/fake/x"
ln -s ../fake/x "$2/node_modules/.bin/fake-agent"
"#
            ),
        );
        place.script("bin/uv", "#!/bin/sh\necho uv 0.9.0\n");
        place.script("bin/node", "#!/bin/sh\necho v22.0.0\n");
        place.agent("1.0.0", &format!("#!/bin/sh\nexec '{}' \"$@\"\n", agentwire().display()));
        place.registry("1.0.0");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn script(&self, name: &str, text: &str) {
        write_program(&self.path(name), text);
    }

    pub(crate) fn agent(&self, version: &str, text: &str) {
        self.script(&format!("agent-{version}"), text);
    }

    pub(crate) fn registry(&self, version: &str) {
        let text = format!(
            r#"{{"version":"1","agents":[{{"id":"fake","name":"Fake \u001b[2JAgent","version":"{version}","description":"for tests",
            "distribution":{{"npx":{{"package":"fake@{version}","args":["agent"],"env":{{"FAKE_MODE":"a b"}}}}}}}}]}}"#
        );
        fs::write(self.path("registry.json"), text).unwrap();
    }

    /// Runs `agentwire` with the store and the registry in its environment.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(&[], arguments)
    }

    /// The same with other variables.
    pub(crate) fn run_with(&self, variables: &[(&'static str, &str)], arguments: &[&str]) -> Ended {
        let more = variables;
        let mut path = self.path("bin").into_os_string();
        path.push(":/usr/bin:/bin");
        let variables: [(&str, OsString); 3] = [
            ("PATH", path),
            ("AGENTWIRE_AGENTS", self.path("store").into()),
            ("AGENTWIRE_REGISTRY", self.path("registry.json").into()),
        ];
        let mut variables: Vec<_> =
            variables.iter().map(|(name, value)| (*name, value.as_os_str())).collect();
        variables.extend(more.iter().map(|(name, value)| (*name, OsStr::new(value))));
        let mut program = Program::start_with(&variables, arguments);
        program.close_stdin();
        program.end(SOON)
    }
}

#[test]
fn nothing_runs_without_a_yes() {
    let place = Place::new();
    let ended = place.run(&["agents", "list"]);
    assert_eq!(
        ended.exits(0).stderr,
        "no agent is installed; `agentwire agents search` lists those of the registry\n"
    );
    let ended = place.run(&["agents", "install", "fake"]);
    ended.exits(6);
    let plan = format!(
        "fake 1.0.0 (Fake ^[[2JAgent)\n    installs  the npm package fake@1.0.0\n    runs      fake-agent agent\n    sets      \
         FAKE_MODE='a b' (! has an unknown effect)\n    digest    sha512-1.0.0\n    named by  {}\n",
        place.path("registry.json").display()
    );
    let why =
        "error: fake is not installed: nobody is at a terminal to agree to the plan; --yes agrees to it\n";
    assert_eq!(ended.stderr, format!("{plan}{why}"));
    assert_eq!(ended.stdout, "");
    assert!(!place.path("installs").exists());
    place.run(&["chat", "--agent", "fake", "hello"]).exits(4);
}

#[test]
fn an_agent_is_installed_and_found_by_its_name_without_its_registry() {
    let place = Place::new();
    let ended = place.run(&["agents", "install", "fake", "--yes"]);
    ended.exits(0);
    assert_eq!(ended.stdout, "fake 1.0.0 is installed; start it with: agentwire chat --agent fake\n");
    let again = place.run(&["agents", "install", "fake"]);
    assert_eq!(
        again.exits(0).stdout,
        "fake 1.0.0 is already installed; start it with: agentwire chat --agent fake\n"
    );
    assert_eq!(fs::read_to_string(place.path("installs")).unwrap().lines().count(), 1);

    let ended = place.run(&["agents", "list"]);
    assert_eq!(ended.exits(0).stdout, "fake  1.0.0       Fake ^[[2JAgent\n");
    let ended = place.run(&["agents", "search"]);
    assert_eq!(ended.exits(0).stdout, "fake  1.0.0       Fake ^[[2JAgent (installed: 1.0.0)\n");
    let ended = place.run(&["--json", "agents", "search", "tests"]);
    assert_eq!(ended.exits(0).objects()[0]["installed"], "1.0.0");
    place.run(&["agents", "show", "fake"]).exits(0).prints("  installed  1.0.0 as npx\n");
    let ended = place.run(&["agents", "doctor", "fake"]);
    ended.exits(0).prints("node   v22.0.0\nnpm    10.9.0\nuv     uv 0.9.0\n");
    ended.prints("fake 1.0.0: ");

    fs::remove_file(place.path("bin/npm")).unwrap();
    fs::remove_file(place.path("registry.json")).unwrap();
    let ours = Program::run(&["chat", "hello"], SOON);
    let theirs = place.run(&["chat", "--agent", "fake", "hello"]);
    assert_eq!(theirs.exits(0).stdout, ours.exits(0).stdout);

    let ended = place.run(&["agents", "remove", "fake"]);
    assert_eq!(ended.exits(0).stdout, "fake is removed\n");
    let ended = place.run(&["agents", "remove", "fake"]);
    assert_eq!(ended.exits(1).stderr, "error: `fake` is not installed\n");
}

#[test]
fn an_update_that_does_not_answer_changes_nothing() {
    let place = Place::new();
    place.run(&["agents", "install", "fake", "--yes"]).exits(0);
    assert_eq!(place.run(&["agents", "update"]).exits(0).stdout, "fake 1.0.0 is the newest\n");
    place.agent("1.10.0", "#!/bin/sh\necho 'cannot find module' >&2\nexit 9\n");
    place.registry("1.10.0");
    place.run(&["agents", "update"]).exits(6);
    let ended = place.run(&["agents", "update", "--yes"]);
    ended.exits(4).reports("error: the installed agent does not work, so nothing is changed: ");
    ended.reports("exited with status 9; its last words were: cannot find module");
    ended.reports("; if the package needs its install scripts, --allow-scripts runs them\n");
    place.run(&["chat", "--agent", "fake", "hello"]).exits(0);
    let ended = place.run(&["--json", "agents", "list"]);
    let objects = ended.exits(0).objects();
    assert_eq!((&objects[0]["version"], &objects[0]["newer"]), (&"1.0.0".into(), &"1.10.0".into()));
}

#[test]
fn programs_read_the_plan_and_the_result() {
    let place = Place::new();
    let ended = place.run(&["--json", "agents", "install", "fake"]);
    let objects = ended.exits(6).objects();
    assert_eq!(objects[0]["plan"]["executable"], "fake-agent");
    assert_eq!(
        objects[1]["error"]["message"],
        "fake is not installed: nobody is at a terminal to agree to the plan; --yes agrees to it"
    );
    let ended = place.run(&["--json", "agents", "install", "fake", "--yes"]);
    let objects = ended.exits(0).objects();
    assert_eq!(
        (&objects[1]["status"], &objects[1]["agent"]["protocolVersion"]),
        (&"installed".into(), &1.into())
    );
}

#[test]
fn missing_files_and_programs_are_reported_with_advice() {
    let place = Place::new();
    let registry = place.path("registry.json");
    let ended = place.run(&["agents", "--registry", registry.to_str().unwrap(), "install", "other", "--yes"]);
    let registry = registry.display();
    assert_eq!(
        ended.exits(1).stderr,
        format!(
            "error: the registry {registry} has no agent `other`; `agentwire agents search --registry {registry}` lists those that \
             there are\n"
        )
    );
    let ended = place.run(&["chat", "--agent", "fake", "hello"]);
    assert_eq!(
        ended.exits(4).stderr,
        "error: `fake` is an agent that is not installed; `agentwire agents install fake` installs it\n"
    );
    let ended = place.run(&["agents", "--registry", "http://127.0.0.1:1/r.json", "search"]);
    ended.exits(4).reports("error: cannot reach http://127.0.0.1:1/r.json: nothing listens at 127.0.0.1:1\n");
    let ended = place.run(&["agents", "install", "fake@latest", "--yes"]);
    assert_eq!(
        ended.exits(6).stderr,
        "error: `fake` is refused: `latest` is not a single version of `fake`\n"
    );
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    let place = Place::new();
    let agent = fs::read(place.path("agent-1.0.0")).unwrap();
    let url = http::serve(move |_| http::response("200 OK", &agent));
    let system = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let text = format!(
        r#"{{"agents":[{{"id":"raw","name":"Raw","version":"1.0.0","description":"","distribution":{{"binary":{{"{system}":
        {{"archive":"{url}/agent","cmd":"./raw","args":["agent"]}}}}}}}}]}}"#
    );
    fs::write(place.path("registry.json"), text).unwrap();
    let (registry, store) = (place.path("registry.json"), place.path("store"));
    let [registry, store] = [&registry, &store].map(|path| path.to_str().unwrap().to_owned());
    let arguments = ["agents", "--registry", &registry, "--store", &store, "install", "raw"];

    let terminal = Terminal::new();
    let mut program = Program::start_at(&terminal, &arguments);
    // What is typed before the question is not an answer.
    program.write(b"y\n");
    program.stdout.words("digest    none is given; that of the download is remembered");
    program.stdout.words("install and run it? [y/N]");
    program.write(b"n\n");
    program.end(SOON).exits(6).prints("error: raw is not installed: you did not agree");

    let terminal = Terminal::new();
    let mut program = Program::start_at(&terminal, &arguments);
    program.stdout.words("install and run it? [y/N]");
    program.write(b"y\n");
    let hint =
        format!("raw 1.0.0 is installed; start it with: AGENTWIRE_AGENTS={store} agentwire chat --agent raw");
    program.end(SOON).exits(0).prints(&hint);

    let terminal = Terminal::new();
    let program = Program::start_at(
        &terminal,
        &["agents", "--registry", &registry, "--store", &store, "doctor", "raw"],
    );
    program.stdout.words("raw 1.0.0: ");
    program.end(SOON).exits(0);
}
