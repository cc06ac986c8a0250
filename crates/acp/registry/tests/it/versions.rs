//! The way back to an older version, damaged agents, and what chooses the programs.

use std::fs;

use agentwire_agent_registry::{AgentStore, InstallOutcome, Kind, Limits, SearchPath};

use crate::support::{AGENT, BROKEN_AGENT, Place, chain, names, npm_plan, write_program};

/// A store with two versions.
async fn two_versions(place: &Place) -> AgentStore {
    place.npm();
    let store = place.store();
    for version in ["1.0.0", "1.1.0"] {
        place.agent(version, AGENT);
        store.install(&npm_plan(&store, version).await).await.unwrap();
    }
    store
}

#[tokio::test]
async fn the_version_before_becomes_current_again_without_npm() {
    let place = Place::new();
    let store = two_versions(&place).await;
    fs::remove_file(place.path("bin/npm")).unwrap();
    for (version, registry, kind) in [
        ("0.9.0", "test", None),
        ("1.1.0", "test", None),
        ("1.0.0", "another registry", None),
        ("1.0.0", "test", Some(Kind::Uvx)),
    ] {
        assert!(store.go_back("fake", version, registry, kind).await.unwrap().is_none(), "{version}");
    }
    assert!(store.go_back("../fake", "1.0.0", "test", None).await.unwrap().is_none());
    for (from, to) in [("1.1.0", "1.0.0"), ("1.0.0", "1.1.0")] {
        let outcome = store.go_back("fake", to, "test", Some(Kind::Npx)).await.unwrap();
        let Some(InstallOutcome::Installed { replaced, .. }) = outcome else { panic!("{to}") };
        assert_eq!(replaced.as_deref(), Some(from));
        let agent = store.find("fake").unwrap().unwrap();
        assert_eq!((&*agent.plan.version, agent.previous_version.as_deref()), (to, Some(from)));
    }
    write_program(&place.path("store/agents/fake/1.0.0-1/node_modules/@fake/pkg/cli.sh"), BROKEN_AGENT);
    let error = store.go_back("fake", "1.0.0", "test", None).await.unwrap_err();
    assert!(chain(&error).starts_with("the installed agent does not work, so nothing is changed: "));
    assert_eq!(store.find("fake").unwrap().unwrap().plan.version, "1.1.0");
}

#[tokio::test]
async fn a_damaged_version_is_no_way_back() {
    let place = Place::new();
    let store = two_versions(&place).await;
    fs::remove_dir_all(place.path("store/agents/fake/1.1.0-1/node_modules")).unwrap();
    let (agents, damaged) = store.installed().unwrap();
    assert!(agents.is_empty());
    assert_eq!(damaged[0].plan.as_ref().unwrap().version, "1.1.0", "its record says how to repair it");
    let InstallOutcome::Installed { replaced, .. } =
        store.install(&npm_plan(&store, "1.1.0").await).await.unwrap()
    else {
        panic!()
    };
    assert_eq!(replaced.as_deref(), Some("1.0.0"), "it is the one that works");
    let agent = store.find("fake").unwrap().unwrap();
    assert_eq!((&*agent.plan.version, agent.previous_version.as_deref()), ("1.1.0", Some("1.0.0")));
    drop(agent);
    fs::remove_dir_all(place.path("store/agents/fake/1.0.0-1")).unwrap();
    assert_eq!(store.find("fake").unwrap().unwrap().previous_version, None);
    assert!(store.go_back("fake", "1.0.0", "test", None).await.unwrap().is_none());
}

#[tokio::test]
async fn a_first_install_that_fails_leaves_no_folder() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", BROKEN_AGENT);
    let store = place.store();
    store.install(&npm_plan(&store, "1.0.0").await).await.unwrap_err();
    assert_eq!(names(&place.path("store/agents")), [""; 0]);
}

#[tokio::test]
async fn a_relative_folder_of_path_chooses_no_interpreter() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", &AGENT.replace("#!/bin/sh", "#!/usr/bin/env agent-interpreter"));
    place.program("agent-interpreter", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    let path = format!("node_modules/.bin::.:{}:/usr/bin:/bin", place.path("bin").display());
    let store = AgentStore::open(place.path("store"), Limits::default()).unwrap();
    let store = store.search_path(SearchPath::new(path));
    store.install(&npm_plan(&store, "1.0.0").await).await.unwrap();
    let agent = store.find("fake").unwrap().unwrap();
    let expected = format!("{}:/usr/bin:/bin", place.path("bin").display());
    assert_eq!(agent.start().env()["PATH"].to_str(), Some(&*expected));
    let empty = AgentStore::open(place.path("store"), Limits::default()).unwrap();
    let empty = empty.search_path(SearchPath::new(":."));
    let agent = empty.find("fake").unwrap().unwrap();
    assert_eq!(agent.start().env()["PATH"], "/usr/bin:/bin", "an empty text is the current folder");
}

#[tokio::test]
async fn an_executable_out_of_its_package_is_refused() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let npm = fs::read_to_string(place.path("bin/npm")).unwrap();
    write_program(&place.path("elsewhere"), AGENT);
    let elsewhere = place.path("elsewhere");
    for target in ["../other/cli.sh", elsewhere.to_str().unwrap()] {
        let script = npm.replace(
            "ln -s \"../$name/cli.sh\"",
            &format!(
                "mkdir \"$2/node_modules/other\"; cp {} \"$2/node_modules/other/cli.sh\"; ln -s \"{target}\"",
                elsewhere.display()
            ),
        );
        assert_ne!(script, npm);
        place.program("npm", &script);
        let store = place.store();
        let error = store.install(&npm_plan(&store, "1.0.0").await).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "@fake/pkg@1.0.0: npm installed it without its executable `fake-agent`"
        );
    }
}
