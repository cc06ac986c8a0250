//! Indexes from URLs and files, and their cache.

use std::fs;

use agentwire_agent_registry::{IndexSource, Kind, Limits, Plan, PlanOptions};

use crate::support::{Place, Server, chain};

const INDEX: &str = r#"{"version":"1","agents":[
    {"id":"one","name":"One","version":"1.0.0","description":"the first","distribution":{"npx":{"package":"one@1.0.0"}}},
    {"id":"two","name":"Two","version":"1.0.0","description":"the second one","distribution":{"uvx":{"package":"two@1.0.0"}}},
    {"id":"Damaged"}]}"#;

#[tokio::test]
async fn an_index_of_a_url_is_cached_and_asked_for_by_its_etag() {
    let (place, server) = (Place::new(), Server::new());
    let head = format!("HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: {}\r\n\r\n{INDEX}", INDEX.len());
    server.set_response("/r.json", head);
    let source = IndexSource::parse(&format!("{}/r.json", server.url));
    let store = place.store();
    assert!(store.cached_index(&source).unwrap().is_none());
    let index = store.index(&source).await.unwrap();
    assert_eq!((index.agents.len(), index.skipped, index.age), (2, 1, None));

    server.set_response("/r.json", "HTTP/1.1 304 Not Modified\r\n\r\n");
    let index = store.index(&source).await.unwrap();
    assert_eq!((index.agents.len(), index.age, index.failure.is_none()), (2, None, true));
    let requests = server.requests.lock().unwrap().join("");
    assert!(requests.to_lowercase().contains("if-none-match: \"v1\"\r\n"), "{requests}");

    server.set_response("/r.json", "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n");
    let index = store.index(&source).await.unwrap();
    assert_eq!(index.agents.len(), 2);
    assert!(index.age.is_some(), "it is said to be old");
    let failure = index.failure.unwrap();
    assert_eq!(
        failure.to_string(),
        format!("{}: the server answers 503 Service Unavailable", source.origin())
    );
    for (page, why) in [
        ("<html><a href=/login>Log in</a>", "it is a web page"),
        (r#"{"agents":[{"login":true}]}"#, "none of its 1 agents can be read"),
    ] {
        server.set("/r.json", page);
        let index = store.index(&source).await.unwrap();
        assert_eq!((index.agents.len(), index.age.is_some()), (2, true), "{page}");
        let failure = index.failure.unwrap().to_string();
        assert_eq!(failure, format!("{} is not an index of agents: {why}", source.origin()));
    }
    server.set("/long", "x".repeat(9 << 20));
    let long = IndexSource::parse(&format!("{}/long", server.url));
    let error = store.index(&long).await.unwrap_err();
    assert_eq!(error.to_string(), format!("{}: it is longer than 8388608 bytes", long.origin()));
    assert!(store.cached_index(&source).unwrap().unwrap().age.is_some());
}

#[tokio::test]
async fn an_index_may_be_a_file_and_is_bounded() {
    let place = Place::new();
    let path = place.path("r.json");
    fs::write(&path, INDEX).unwrap();
    let source = IndexSource::parse(path.to_str().unwrap());
    let index = place.store().index(&source).await.unwrap();
    assert_eq!(index.search(&["ONE".into()]).len(), 2);
    assert_eq!(index.search(&["one".into(), "second".into()])[0].id, "two");
    assert_eq!(
        index.entry("three").unwrap_err().to_string(),
        format!("the registry {} has no agent `three`", path.display())
    );
    let error = place.store_with(Limits::default().index_limit(10)).index(&source).await.unwrap_err();
    assert_eq!(chain(&error), format!("{}: it is longer than 10 bytes", path.display()));
    fs::write(&path, "<html>").unwrap();
    let error = place.store().index(&source).await.unwrap_err();
    assert!(
        error.to_string().starts_with(&format!("{} is not an index of agents: ", path.display())),
        "{error}"
    );
}

#[tokio::test]
async fn a_place_that_is_not_safe_is_not_asked() {
    let error =
        Place::new().store().index(&IndexSource::parse("http://example.com/r.json")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "http://example.com/r.json: neither https nor http of this machine, or no URL"
    );
}

#[test]
fn a_plan_refuses_what_is_no_agent() {
    let plan = |distribution: &str, options: PlanOptions| {
        let text = format!(
            r#"{{"agents":[{{"id":"a","name":"A","version":"1.0.0","distribution":{distribution}}}]}}"#
        );
        let index = agentwire_agent_registry::Index::parse(&text, "test").unwrap();
        Plan::new(&index.agents[0], &index, &options).map_err(|error| error.to_string())
    };
    let error = |distribution: &str| plan(distribution, PlanOptions::default()).unwrap_err();
    assert_eq!(
        error(r#"{"npx":{"package":"npm@1.0.0","args":["exec","evil"]}}"#),
        "`a` is refused: `npm` is not an agent: it would run what its arguments name"
    );
    assert_eq!(
        error(r#"{"npx":{"package":"a@1.0.0","cmd":"npx"}}"#),
        "`a` is refused: `npx` is not an agent: it would run what its arguments name"
    );
    assert_eq!(
        error(r#"{"npx":{"package":"a@1.0.0","env":{"NODE_OPTIONS":"--require=/x"}}}"#),
        "`a` is refused: it sets the variable NODE_OPTIONS, which can load other code"
    );
    for (variable, effect) in [
        ("PERL5OPT", "can load other code"),
        ("GIT_SSH_COMMAND", "can load other code"),
        ("GOCACHEPROG", "can load other code"),
        ("NODE_EXTRA_CA_CERTS", "changes which certificates are trusted"),
        ("https_proxy", "changes where the traffic goes"),
        ("OPENCODE_PERMISSION", "changes what the agent may do without a question"),
    ] {
        let why = error(&format!(r#"{{"uvx":{{"package":"a@1.0.0","env":{{"{variable}":"x"}}}}}}"#));
        assert_eq!(why, format!("`a` is refused: it sets the variable {variable}, which {effect}"));
    }
    assert_eq!(
        error(r#"{"npx":{"package":"a@latest"}}"#),
        "`a` is refused: `latest` is not a single version of `a`"
    );
    let options = PlanOptions::default;
    assert_eq!(
        plan(r#"{"npx":{"package":"a@1.0.0"}}"#, options().kind(Kind::Uvx)).unwrap_err(),
        "`a` has no uvx; it has npx"
    );
    let older = plan(r#"{"npx":{"package":"a@1.0.0"}}"#, options().version("0.9.0")).unwrap();
    assert_eq!((&*older.source, &*older.version), ("a@0.9.0", "0.9.0"));
    let escaped =
        plan(r#"{"npx":{"package":"a@1.0.0","cmd":"x","args":["a b","\u001b[2J"]}}"#, options()).unwrap();
    assert!(escaped.to_string().contains("  runs      x 'a b' '^[[2J'\n"), "{escaped}");
}

#[test]
fn a_plan_marks_variables_that_a_person_should_check() {
    let env = r#"{"AGENT_HOME":"/x","ANTHROPIC_BASE_URL":"https://x.example","CLAUDE_MODE":"acp","FORCE_COLOR":"0","MODE":"acp"}"#;
    let text = format!(
        r#"{{"agents":[{{"id":"claude","name":"CLAUDE","version":"1.0.0","distribution":{{"npx":{{"package":"a@1.0.0","env":{env}}}}}}}]}}"#
    );
    let index = agentwire_agent_registry::Index::parse(&text, "test").unwrap();
    let marked = Plan::new(&index.agents[0], &index, &PlanOptions::default()).unwrap();
    assert_eq!(
        marked.marked_variables().collect::<Vec<_>>(),
        [
            ("AGENT_HOME", "can change the settings, and with them what runs"),
            ("ANTHROPIC_BASE_URL", "changes the service or the account that gets the requests and the keys"),
            ("CLAUDE_MODE", "has an unknown effect"),
            ("MODE", "has an unknown effect"),
        ]
    );
    let text = marked.to_string();
    let sets: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("  sets      ")).collect();
    let shown = [
        "AGENT_HOME=/x (! can change the settings, and with them what runs)",
        "ANTHROPIC_BASE_URL=https://x.example (! changes the service or the account that gets the requests and the keys)",
        "CLAUDE_MODE=acp (! has an unknown effect)",
        "FORCE_COLOR=0",
        "MODE=acp (! has an unknown effect)",
    ];
    assert_eq!(sets, shown);
}
