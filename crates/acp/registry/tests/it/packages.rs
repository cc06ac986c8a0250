//! Packages of npm and PyPI: install, verification, way back, locks.

use std::fs;
use std::time::Duration;

use agentwire_agent_registry::{InstallOutcome, Kind, Limits, PlanOptions, RegistryError, RemoveOutcome};

use crate::support::{AGENT, BROKEN_AGENT, Place, chain, names, npm_plan, plan};

#[tokio::test]
async fn a_package_is_installed_once_and_started_directly() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    assert!(store.find("fake").unwrap().is_none());
    let plan = npm_plan(&store, "1.0.0").await;
    assert_eq!(
        plan.to_string(),
        "fake 1.0.0 (Fake)\n  installs  the npm package @fake/pkg@1.0.0\n  runs      fake-agent --acp\n  sets      FAKE=yes (! has an unknown effect)\n  \
         digest    sha512-1.0.0\n  named by  test"
    );
    let InstallOutcome::Installed { probe, replaced, .. } = store.install(&plan).await.unwrap() else {
        panic!()
    };
    assert_eq!((probe.name.as_deref(), probe.version.as_deref()), (Some("fake --acp yes"), Some("7")));
    assert_eq!((probe.auth_methods, replaced), (vec!["Key".to_owned()], None));

    let arguments = fs::read_to_string(place.path("npm-arguments")).unwrap();
    assert!(arguments.starts_with("install --global=false "), "{arguments}");
    assert!(arguments.contains(" --ignore-scripts=true "), "{arguments}");
    assert!(arguments.ends_with("/store/agents/fake/1.0.0-1 @fake/pkg@1.0.0\n"), "{arguments}");
    let folder = fs::read_to_string(place.path("npm-folder")).unwrap();
    assert!(folder.ends_with("/store/agents/fake/1.0.0-1\n"), "not in the current folder: {folder}");

    // From here on neither npm nor a registry is there.
    fs::remove_file(place.path("bin/npm")).unwrap();
    let agent = store.find("fake").unwrap().unwrap();
    assert_eq!(agent.start().program(), place.path("store/agents/fake/1.0.0-1/node_modules/.bin/fake-agent"));
    assert_eq!(agent.start().args(), ["--acp"]);
    assert_eq!(agent.start().env()["FAKE"], "yes");
    assert_eq!(store.probe(agent.start()).await.unwrap().protocol_version, 1);
    assert!(matches!(store.install(&plan).await.unwrap(), InstallOutcome::AlreadyInstalled));
}

#[tokio::test]
async fn a_version_that_does_not_answer_replaces_nothing() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    place.agent("1.1.0", BROKEN_AGENT);
    place.agent("1.2.0", "#!/bin/sh\necho waiting >&2\nexec sleep 1000\n");
    let store = place.store();
    store.install(&npm_plan(&store, "1.0.0").await).await.unwrap();
    let error = store.install(&npm_plan(&store, "1.1.0").await).await.unwrap_err();
    let text = chain(&error);
    assert!(text.starts_with("the installed agent does not work, so nothing is changed: "), "{text}");
    assert!(text.contains("exited with status 3") && text.contains("no such module"), "{text}");
    let hasty = place.store_with(Limits::default().probe_timeout(Duration::from_secs(1)));
    let error = hasty.install(&npm_plan(&store, "1.2.0").await).await.unwrap_err();
    assert_eq!(
        chain(&error),
        "the installed agent does not work, so nothing is changed: the agent does not answer `initialize` within 1 s; the last \
         lines of its stderr:\nwaiting"
    );
    assert_eq!(store.find("fake").unwrap().unwrap().plan.version, "1.0.0");
    assert_eq!(names(&place.path("store/agents/fake")), ["1.0.0-1", "1.0.0-1.lock", "record.json"]);
}

/// Waits until the process whose id is in a file has ended.
#[cfg(target_os = "linux")]
async fn ends(file: &std::path::Path) {
    let id = fs::read_to_string(file).unwrap().trim().to_owned();
    // The kernel ends the process without an event that a test can wait for.
    for _ in 0..500 {
        match fs::read_to_string(format!("/proc/{id}/stat")) {
            Ok(stat) if !stat.contains(") Z ") => tokio::time::sleep(Duration::from_millis(10)).await,
            _ => return,
        }
    }
    panic!("{id} still runs");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn process_that_left_the_group_of_a_probed_agent_is_killed() {
    let place = Place::new();
    place.npm();
    let daemon = place.path("daemon");
    let start = format!("setsid sleep 1000 > /dev/null 2>&1 & echo $! > {}\n", daemon.display());
    let with_daemon = |agent: &str| agent.replace("#!/bin/sh\n", &format!("#!/bin/sh\n{start}"));
    place.agent("1.0.0", &with_daemon(BROKEN_AGENT));
    place.agent("1.1.0", &with_daemon("#!/bin/sh\nexec sleep 1000\n"));
    place.agent("1.2.0", &with_daemon(AGENT));
    let patient = place.store();
    let impatient = place.store_with(Limits::default().probe_timeout(Duration::from_secs(2)));
    for (version, is_installed) in [("1.0.0", false), ("1.1.0", false), ("1.2.0", true)] {
        let store = if version == "1.1.0" { &impatient } else { &patient };
        let outcome = store.install(&npm_plan(store, version).await).await;
        assert_eq!(outcome.is_ok(), is_installed, "{version}");
        ends(&daemon).await;
        fs::remove_file(&daemon).unwrap();
    }
}

#[tokio::test]
async fn a_version_that_npm_lacks_is_said_before_anything_is_installed() {
    let place = Place::new();
    place.npm();
    let store = place.store();
    let mut plan = plan("9.9.9", r#"{"npx":{"package":"a@9.9.9"}}"#, PlanOptions::default());
    let error = store.resolve(&mut plan).await.unwrap_err();
    assert_eq!(error.to_string(), "`npm` failed (exit status: 1):\n404 no such version 9.9.9");
    fs::remove_file(place.path("bin/npm")).unwrap();
    let elsewhere = place.store().search_path(agentwire_agent_registry::SearchPath::new(place.path("bin")));
    let error = elsewhere.resolve(&mut plan).await.unwrap_err();
    assert_eq!(error.to_string(), "`npm` is not installed: no folder of PATH has it");
}

#[tokio::test]
async fn two_versions_stay_and_what_runs_is_not_removed() {
    let place = Place::new();
    place.npm();
    let store = place.store();
    for version in ["1.0.0", "1.1.0", "1.2.0", "1.3.0"] {
        place.agent(version, AGENT);
    }
    let install = async |version| store.install(&npm_plan(&store, version).await).await.unwrap();
    install("1.0.0").await;
    let (_, guard) = store.find("fake").unwrap().unwrap().into_start();
    let InstallOutcome::Installed { replaced, .. } = install("1.1.0").await else { panic!() };
    assert_eq!(replaced.as_deref(), Some("1.0.0"));
    assert_eq!(store.find("fake").unwrap().unwrap().previous_version.as_deref(), Some("1.0.0"));
    install("1.2.0").await;
    let folders = || {
        let names = names(&place.path("store/agents/fake"));
        names
            .into_iter()
            .filter(|name| !name.contains("lock") && !name.contains("record"))
            .collect::<Vec<_>>()
    };
    assert_eq!(folders(), ["1.0.0-1", "1.1.0-1", "1.2.0-1"], "1.0.0 runs");
    drop(guard);
    install("1.3.0").await;
    assert_eq!(folders(), ["1.2.0-1", "1.3.0-1"]);

    let (_, guard) = store.find("fake").unwrap().unwrap().into_start();
    assert!(matches!(store.remove("fake").await, Err(RegistryError::Running(_))));
    assert!(store.find("fake").unwrap().is_some());
    drop(guard);
    assert_eq!(store.remove("fake").await.unwrap(), RemoveOutcome::Removed);
    assert_eq!(store.remove("fake").await.unwrap(), RemoveOutcome::NotInstalled);
    assert_eq!(names(&place.path("store/agents")), [""; 0]);
}

#[tokio::test]
async fn another_plan_of_the_same_version_is_another_install() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    let plan = npm_plan(&store, "1.0.0").await;
    store.install(&plan).await.unwrap();
    let mut other = plan.clone();
    other.allow_scripts = true;
    assert!(matches!(store.install(&other).await.unwrap(), InstallOutcome::Installed { .. }));
    let arguments = fs::read_to_string(place.path("npm-arguments")).unwrap();
    assert!(arguments.contains(" --ignore-scripts=false "), "{arguments}");
    assert!(store.find("fake").unwrap().unwrap().plan.allow_scripts, "the consent is remembered");
}

#[tokio::test]
async fn npm_is_not_started_for_a_version_with_another_digest() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    let mut plan = npm_plan(&store, "1.0.0").await;
    store.install(&plan).await.unwrap();
    fs::remove_file(place.path("npm-arguments")).unwrap();
    plan.allow_scripts = true;
    plan.digest = Some("sha512-other".into());
    assert_eq!(
        store.install(&plan).await.unwrap_err().to_string(),
        format!(
            "@fake/pkg@1.0.0 has changed: its digest is sha512-other, but version 1.0.0 was installed with sha512-1.0.0; if the \
             publisher says that this is right, remove {}",
            place.path("store/digests/fake.json").display()
        )
    );
    assert!(!place.path("npm-arguments").exists());
}

#[tokio::test]
async fn a_version_without_a_digest_is_refused_where_it_had_one() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    let plan = npm_plan(&store, "1.0.0").await;
    store.install(&plan).await.unwrap();
    store.remove("fake").await.unwrap();
    fs::remove_file(place.path("npm-arguments")).unwrap();
    let file = place.path("store/digests/fake.json");
    let expected = format!(
        "@fake/pkg@1.0.0 has changed: it comes without a digest, but version 1.0.0 was installed with sha512-1.0.0; if the \
         publisher says that this is right, remove {}",
        file.display()
    );
    let mut without = plan.clone();
    without.digest = None;
    assert_eq!(store.install(&without).await.unwrap_err().to_string(), expected);
    assert!(!place.path("npm-arguments").exists(), "npm did not run");

    // npm describes a digest, and installs without one.
    let npm = fs::read_to_string(place.path("bin/npm")).unwrap();
    let script = npm.replace(r#"{\"integrity\""#, r#"{\"other\""#);
    assert_ne!(script, npm);
    place.program("npm", &script);
    assert_eq!(store.install(&plan).await.unwrap_err().to_string(), expected);
    assert!(store.find("fake").unwrap().is_none());
    fs::remove_file(file).unwrap();
    store.install(&without).await.expect("nothing is remembered");
}

#[tokio::test]
async fn unreadable_digests_say_which_file_can_be_removed() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    let plan = npm_plan(&store, "1.0.0").await;
    let file = place.path("store/digests/fake.json");
    fs::create_dir_all(place.path("store/digests")).unwrap();
    fs::write(&file, "{").unwrap();
    let text = chain(&store.install(&plan).await.unwrap_err());
    assert!(text.starts_with("the digests of the installed versions cannot be read (EOF"), "{text}");
    let end = format!(
        "); remove {} to install without them: then nothing says whether a version is the same as when it was installed before",
        file.display()
    );
    assert!(text.ends_with(&end), "{text}");
    fs::remove_file(file).unwrap();
    store.install(&plan).await.unwrap();
}

#[tokio::test]
async fn a_damaged_record_costs_only_its_agent() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    let plan = npm_plan(&store, "1.0.0").await;
    store.install(&plan).await.unwrap();
    let record = place.path("store/agents/fake/record.json");
    let sound = fs::read_to_string(&record).unwrap();
    let bad = place.path("store/agents/bad");
    fs::create_dir(&bad).unwrap();
    for damaged in [
        "{".to_owned(),
        sound.clone(),
        sound.replace("\"fake\"", "\"bad\"").replace("1.0.0-1", "../fake/1.0.0-1"),
        sound.replace("\"fake\"", "\"bad\"").replace("node_modules/.bin/", "/bin/"),
    ] {
        fs::write(bad.join("record.json"), damaged).unwrap();
        let (agents, damaged) = store.installed().unwrap();
        assert_eq!((agents.len(), &*agents[0].plan.id), (1, "fake"));
        assert_eq!((damaged.len(), &*damaged[0].id), (1, "bad"));
        assert!(store.find("bad").is_err());
    }
    assert_eq!(store.remove("bad").await.unwrap(), RemoveOutcome::Removed);
    fs::write(&record, "{").unwrap();
    assert!(
        matches!(store.install(&plan).await.unwrap(), InstallOutcome::Installed { .. }),
        "it is replaced"
    );
}

#[tokio::test]
async fn uv_builds_nothing_without_consent_and_installs_into_the_folder() {
    let place = Place::new();
    let root = place.folder.path().display();
    place.program(
        "uv",
        &format!(
            "#!/bin/sh\necho \"$@\" > {root}/uv-arguments\nmkdir -p $UV_TOOL_BIN_DIR $UV_TOOL_DIR\ncp {root}/agent $UV_TOOL_BIN_DIR/fake-acp\n"
        ),
    );
    crate::support::write_program(&place.path("agent"), AGENT);
    let store = place.store();
    let distribution = r#"{"uvx":{"package":"fake-pkg[acp]@2.0.0","cmd":"fake-acp"}}"#;
    let arguments = || fs::read_to_string(place.path("uv-arguments")).unwrap();
    let first = plan("2.0.0", distribution, PlanOptions::default());
    assert_eq!(first.kind, Kind::Uvx);
    store.install(&first).await.unwrap();
    assert_eq!(
        arguments(),
        "tool install --no-progress --no-build --no-python-downloads fake-pkg[acp]==2.0.0\n"
    );
    let agent = store.find("fake").unwrap().unwrap();
    assert_eq!(agent.start().program(), place.path("store/agents/fake/2.0.0-1/bin/fake-acp"));
    drop(agent);
    store.install(&plan("2.0.0", distribution, PlanOptions::default().allow_scripts(true))).await.unwrap();
    assert_eq!(arguments(), "tool install --no-progress fake-pkg[acp]==2.0.0\n");
    let missing = distribution.replace("fake-acp", "other-acp");
    let error = store.install(&plan("2.0.0", &missing, PlanOptions::default())).await.unwrap_err();
    assert_eq!(error.to_string(), "fake-pkg[acp]==2.0.0: uv installed it without an executable `other-acp`");
}

#[tokio::test]
async fn a_slow_install_is_ended() {
    let place = Place::new();
    place.program("uv", "#!/bin/sh\nexec sleep 1000\n");
    let store = place.store_with(Limits::default().install_timeout(Duration::from_secs(1)));
    let plan = plan("2.0.0", r#"{"uvx":{"package":"fake-acp@2.0.0"}}"#, PlanOptions::default());
    assert_eq!(store.install(&plan).await.unwrap_err().to_string(), "`uv` took longer than 1 s");
    assert_eq!(names(&place.path("store/agents")), [""; 0], "no empty folder stays");
}

#[tokio::test]
async fn two_installs_at_once_are_one_after_the_other() {
    let place = Place::new();
    place.npm();
    place.agent("1.0.0", AGENT);
    let store = place.store();
    let plan = npm_plan(&store, "1.0.0").await;
    let (first, second) = tokio::join!(store.install(&plan), store.install(&plan));
    let installed = |outcome: &InstallOutcome| matches!(outcome, InstallOutcome::Installed { .. });
    assert_eq!(usize::from(installed(&first.unwrap())) + usize::from(installed(&second.unwrap())), 1);
}

#[tokio::test]
async fn a_store_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.npm();
    place.store().program_version("npm").await.unwrap();
    assert_eq!(fs::metadata(place.path("store")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_store_that_others_may_change_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = agentwire_agent_registry::AgentStore::open(folder.path(), Limits::default()).unwrap_err();
    let path = folder.path().display();
    let start =
        format!("the store {path} is refused: the directory has mode 0777, so others may write to it; ");
    assert!(error.to_string().starts_with(&start), "{error}");
    assert!(error.to_string().ends_with(&format!("run `chmod 700 {path}`")), "{error}");
    let error = agentwire_agent_registry::AgentStore::open("agents", Limits::default()).unwrap_err();
    assert_eq!(error.to_string(), "the store agents is a relative path");
}
