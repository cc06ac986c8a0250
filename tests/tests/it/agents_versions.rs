//! `agentwire agents`: the way back, repair, and what the environment must not choose.

use std::fs;

use agentwire_test_support::http;

use crate::agents_command::Place;
use crate::binaries::agentwire;

/// A script that runs our own agent.
fn our_agent() -> String {
    format!("#!/bin/sh\nexec '{}' \"$@\"\n", agentwire().display())
}

#[test]
fn the_version_before_is_current_again_without_a_network() {
    let place = Place::new();
    place.run(&["agents", "install", "fake", "--yes"]).exits(0);
    place.agent("1.1.0", &our_agent());
    place.registry("1.1.0");
    place.run(&["agents", "update", "--yes"]).exits(0);
    let ended = place.run(&["agents", "list"]);
    assert_eq!(ended.exits(0).stdout, "fake  1.1.0       Fake ^[[2JAgent (still there: 1.0.0)\n");
    place
        .run(&["agents", "show", "fake"])
        .exits(0)
        .prints("  installed  1.1.0 as npx; 1.0.0 is still there\n");

    fs::remove_file(place.path("bin/npm")).unwrap();
    fs::rename(place.path("registry.json"), place.path("gone.json")).unwrap();
    let ended = place.run(&["agents", "install", "fake@1.0.0"]);
    assert_eq!(
        ended.exits(0).stdout,
        "fake 1.0.0 is installed (before: 1.1.0); start it with: agentwire chat --agent fake\n"
    );
    let objects = place.run(&["--json", "agents", "list"]).exits(0).objects();
    assert_eq!((&objects[0]["version"], &objects[0]["previous"]), (&"1.0.0".into(), &"1.1.0".into()));
    let objects = place.run(&["--json", "agents", "install", "fake@1.1.0"]).exits(0).objects();
    assert_eq!((&objects[0]["status"], &objects[0]["replaced"]), (&"installed".into(), &"1.0.0".into()));
    // What is not there needs the registry.
    place.run(&["agents", "install", "fake@0.9.0"]).exits(2).reports("registry.json: ");
}

#[test]
fn an_update_repairs_a_damaged_agent_or_names_the_remedy() {
    let place = Place::new();
    place.run(&["agents", "install", "fake", "--yes"]).exits(0);
    fs::remove_dir_all(place.path("store/agents/fake/1.0.0-1/node_modules")).unwrap();
    place
        .run(&["chat", "--agent", "fake", "hello"])
        .exits(1)
        .reports("; `agentwire agents install fake` installs it again\n");
    let ended = place.run(&["agents", "update", "fake", "--yes"]);
    ended.exits(0).reports("fake is damaged and is installed again: ");
    place.run(&["chat", "--agent", "fake", "hello"]).exits(0);

    fs::write(place.path("store/agents/fake/record.json"), "{").unwrap();
    for arguments in [&["agents", "update"][..], &["agents", "update", "fake"]] {
        let ended = place.run(arguments);
        ended.exits(1).reports(
            "; the record of `fake` is damaged; `agentwire agents install fake` installs it again\n",
        );
    }
    place.run(&["agents", "install", "fake", "--yes"]).exits(0);
    place.run(&["chat", "--agent", "fake", "hello"]).exits(0);
}

#[test]
fn a_relative_store_of_the_environment_is_wrong_usage() {
    let place = Place::new();
    for arguments in [&["agents", "list"][..], &["chat", "--agent", "fake", "hello"]] {
        let ended = place.run_with(&[("AGENTWIRE_AGENTS", "agents")], arguments);
        ended.exits(2).reports("error: AGENTWIRE_AGENTS: `agents` is a relative path\n");
    }
}

#[test]
fn a_program_is_found_despite_an_unusable_default_store() {
    let place = Place::new();
    place.script("bin/program", &our_agent().replace("\"$@\"", "agent"));
    fs::create_dir(place.path("agentwire")).unwrap();
    fs::write(place.path("agentwire/agents"), "").unwrap();
    let data = place.path("");
    let data = ("XDG_DATA_HOME", data.to_str().unwrap());
    let default = [("AGENTWIRE_AGENTS", ""), data];
    place.run_with(&default, &["chat", "--agent", "program", "hello"]).exits(0);
    place.run_with(&default, &["agents", "list"]).exits(1).reports("/agentwire/agents is not a folder\n");
    let store = place.path("agentwire/agents");
    let configured = [("AGENTWIRE_AGENTS", store.to_str().unwrap())];
    place
        .run_with(&configured, &["chat", "--agent", "program", "hello"])
        .exits(1)
        .reports(&format!("error: AGENTWIRE_AGENTS: the store {} is not a folder\n", store.display()));
}

#[test]
fn the_folder_of_a_session_does_not_choose_the_interpreter_of_an_agent() {
    let place = Place::new();
    place.script("bin/agent-interpreter", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    place.agent("1.0.0", &our_agent().replace("#!/bin/sh", "#!/usr/bin/env agent-interpreter"));
    place.run(&["agents", "install", "fake", "--yes"]).exits(0);
    fs::create_dir_all(place.path("project/.bin")).unwrap();
    place.script("project/.bin/agent-interpreter", "#!/bin/sh\ntouch chosen\nexit 1\n");
    let project = place.path("project");
    let project = project.to_str().unwrap();
    for first in ["", ".bin", "."] {
        let path = format!("{first}:.bin:{}:/usr/bin:/bin", place.path("bin").display());
        let ended =
            place.run_with(&[("PATH", &path)], &["chat", "--cwd", project, "--agent", "fake", "hello"]);
        ended.exits(0);
        assert!(!place.path("project/chosen").exists(), "{path}");
    }
}

#[test]
fn a_web_page_in_place_of_the_index_is_reported() {
    let place = Place::new();
    let index = fs::read_to_string(place.path("registry.json")).unwrap();
    let mut pages = [index, "<html>Log in</html>".to_owned()].into_iter();
    let url = http::serve(move |_| http::response("200 OK", pages.next().unwrap())) + "/r.json";
    let search = ["agents", "--registry", &url, "search"];
    assert_eq!(place.run(&search).exits(0).stderr, "");
    let ended = place.run(&search);
    assert_eq!(ended.exits(0).stdout, "fake  1.0.0       Fake ^[[2JAgent\n");
    assert_eq!(
        ended.stderr,
        format!(
            "warning: the registry cannot be read; this is its index of a moment ago: {url} is not an index of agents: it is a web \
             page\n"
        )
    );
}
