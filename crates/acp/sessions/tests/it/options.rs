//! Modes, options and authentication.

use std::sync::Arc;

use agentwire_acp_sessions::schema::{
    AuthMethodAgent, AuthMethodTerminal, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigOptionValue, SessionConfigSelectOption, SessionMode, SessionModeState, StopReason,
};
use agentwire_acp_sessions::{Auth, MemoryStore, SessionAgent, Turn, agent};
use serde_json::{Value, json};

use crate::peer::{Peer, again, play, short, with};

/// An agent that makes the change in its prompt, and answers with its current settings.
fn choosy() -> SessionAgent {
    let agent = agent(async |turn: Turn| {
        match turn.text().split_once('=') {
            Some(("mode", mode)) => turn.set_mode(mode).await?,
            Some((id, value)) => turn.set_option(id, value).await?,
            None if turn.text() == "wait" => turn.cancelled().await,
            None => {}
        }
        let value = |id: &str| match turn.option(id) {
            Some(SessionConfigOptionValue::ValueId(value)) => value.to_string(),
            Some(SessionConfigOptionValue::Boolean(on)) => on.to_string(),
            _ => "none".into(),
        };
        let said = format!(
            "{} {} {} {} {}",
            turn.mode().unwrap(),
            value("mode"),
            value("model"),
            value("loud"),
            value("nope")
        );
        turn.say(said).await?;
        Ok(StopReason::EndTurn)
    });
    let modes = [SessionMode::new("ask", "Ask"), SessionMode::new("code", "Code")];
    let select =
        |values: [&str; 2]| values.map(|value| SessionConfigSelectOption::new(value, value)).to_vec();
    agent.modes(SessionModeState::new("ask", modes)).config_options([
        SessionConfigOption::select("mode", "Mode", "ask", select(["ask", "code"]))
            .category(SessionConfigOptionCategory::Mode),
        SessionConfigOption::select("model", "Model", "small", select(["small", "large"]))
            .category(SessionConfigOptionCategory::Model),
        SessionConfigOption::boolean("loud", "Loud", false),
    ])
}

/// The values of the options, by their ids.
fn values(options: &Value) -> Vec<String> {
    let value = |option: &Value| {
        format!("{}={}", option["id"].as_str().unwrap(), option["currentValue"].to_string().replace('"', ""))
    };
    options.as_array().unwrap().iter().map(value).collect()
}

#[tokio::test(start_paused = true)]
async fn mode_01_to_04_cfg_02_03_04_09_modes_and_options_are_complete_and_agree() {
    with(choosy(), async |peer| {
        let new = peer.call("session/new", json!({ "cwd": "/repo", "mcpServers": [] })).await;
        let session = new["sessionId"].as_str().unwrap();
        assert_eq!(new["modes"]["currentModeId"], "ask");
        assert_eq!(new["modes"]["availableModes"].as_array().unwrap().len(), 2);
        assert_eq!(values(&new["configOptions"]), ["mode=ask", "model=small", "loud=false"]);
        // The client sets the mode, also while a turn runs, and receives the option.
        let prompt = peer.begin_prompt(session, "wait").await;
        let set = json!({ "sessionId": session, "modeId": "code" });
        assert_eq!(peer.call("session/set_mode", set).await, json!({}));
        let told = peer.told("config_option_update").await;
        assert_eq!(values(&told["configOptions"]), ["mode=code", "model=small", "loud=false"]);
        peer.cancel(session).await;
        peer.stopped(prompt).await;
        assert_eq!(short(&peer.updates()), ["agent code code small false none"]);
        // It sets the option, and receives the mode.
        let set = json!({ "sessionId": session, "configId": "mode", "value": "ask" });
        let options = peer.call("session/set_config_option", set).await;
        assert_eq!(values(&options["configOptions"]), ["mode=ask", "model=small", "loud=false"]);
        assert_eq!(peer.told("current_mode_update").await["currentModeId"], "ask");
        let set = json!({ "sessionId": session, "configId": "loud", "type": "boolean", "value": true });
        let options = peer.call("session/set_config_option", set).await;
        assert_eq!(values(&options["configOptions"])[2], "loud=true");
        peer.silence().await;
        // The agent does.
        peer.prompt(session, "mode=code").await;
        let said = ["current_mode_update", "config_option_update", "agent code code small true none"];
        assert_eq!(short(&peer.updates()), said);
        peer.prompt(session, "model=large").await;
        let updates = peer.updates();
        assert_eq!(values(&updates[0]["configOptions"]), ["mode=code", "model=large", "loud=true"]);
        assert_eq!(short(&updates)[1], "agent code code large true none");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cfg_12_mode_02_values_that_were_not_offered_are_refused_and_change_nothing() {
    with(choosy(), async |peer| {
        let session = peer.open("/repo").await;
        let set = |id: &str, value: Value| json!({ "sessionId": session, "configId": id, "value": value });
        for params in [
            set("nope", json!("x")),
            set("model", json!("huge")),
            set("loud", json!("x")),
            json!({ "sessionId": session, "configId": "model", "type": "boolean", "value": true }),
        ] {
            assert_eq!(peer.refused("session/set_config_option", params.clone()).await, -32602, "{params}");
        }
        let mode = json!({ "sessionId": session, "modeId": "nope" });
        assert_eq!(peer.refused("session/set_mode", mode).await, -32602);
        let id = peer.begin_prompt(&session, "mode=nope").await;
        assert_eq!(peer.response(id).await["error"]["code"], -32603);
        peer.prompt(&session, "look").await;
        assert_eq!(short(&peer.updates()), ["agent ask ask small false none"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn cfg_01_options_that_are_on_or_off_are_for_clients_that_know_such() {
    play(choosy(), async |peer| {
        peer.initialize(json!({})).await;
        let new = peer.call("session/new", json!({ "cwd": "/repo", "mcpServers": [] })).await;
        assert_eq!(values(&new["configOptions"]), ["mode=ask", "model=small"]);
        let session = new["sessionId"].as_str().unwrap();
        peer.prompt(session, "model=large").await;
        assert_eq!(values(&peer.updates()[0]["configOptions"]), ["mode=ask", "model=large"]);
        peer.call("session/load", again(session, "/repo")).await;
        let replayed = peer.updates();
        let told = replayed.iter().find(|update| update["sessionUpdate"] == "config_option_update").unwrap();
        assert_eq!(values(&told["configOptions"]), ["mode=ask", "model=large"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn last_choice_holds_when_the_session_is_opened_again() {
    let store = Arc::new(MemoryStore::new());
    let mut session = String::new();
    with(choosy().shared_store(store.clone()), async |peer| {
        session = peer.open("/repo").await;
        peer.call("session/set_mode", json!({ "sessionId": session, "modeId": "code" })).await;
        peer.prompt(&session, "model=large").await;
    })
    .await;
    for method in ["session/resume", "session/load"] {
        with(choosy().shared_store(store.clone()), async |peer| {
            let opened = peer.call(method, again(&session, "/repo")).await;
            assert_eq!(opened["modes"]["currentModeId"], "code");
            assert_eq!(values(&opened["configOptions"]), ["mode=code", "model=large", "loud=false"]);
            peer.prompt(&session, "look").await;
            assert_eq!(short(&peer.updates()).last().unwrap(), "agent code code large false none");
        })
        .await;
    }
}

fn guarded(auth: Auth) -> SessionAgent {
    agent(async |_: Turn| Ok(StopReason::EndTurn)).auth(auth)
}

fn auth() -> Auth {
    Auth::new([AuthMethodAgent::new("key", "With a key")])
        .on_authenticate(async |method| if *method == *"key" { Ok(()) } else { Err("no such key".into()) })
        .on_logout(async || Ok(()))
}

async fn new_is_refused_with(peer: &mut Peer) -> i64 {
    peer.refused("session/new", json!({ "cwd": "/repo", "mcpServers": [] })).await
}

#[tokio::test(start_paused = true)]
async fn auth_04_06_10_11_13_sessions_require_authentication() {
    play(guarded(auth()), async |peer| {
        let hello = peer.initialize(json!({})).await;
        assert_eq!(hello["authMethods"][0]["id"], "key");
        assert!(hello["agentCapabilities"]["auth"]["logout"].is_object());
        assert_eq!(new_is_refused_with(peer).await, -32000);
        for method in ["session/load", "session/resume"] {
            assert_eq!(peer.refused(method, again("s", "/repo")).await, -32000, "{method}");
        }
        assert_eq!(peer.refused("session/list", json!({})).await, -32000);
        assert_eq!(peer.refused("session/delete", json!({ "sessionId": "s" })).await, -32000);
        assert_eq!(peer.refused("authenticate", json!({ "methodId": "nope" })).await, -32602);
        assert_eq!(new_is_refused_with(peer).await, -32000);
        assert_eq!(peer.call("authenticate", json!({ "methodId": "key" })).await, json!({}));
        let session = peer.open("/repo").await;
        assert_eq!(peer.prompt(&session, "go").await, "end_turn");
        assert_eq!(peer.call("logout", json!({})).await, json!({}));
        assert_eq!(new_is_refused_with(peer).await, -32000);
        let prompt = peer.begin_prompt(&session, "go").await;
        assert_eq!(peer.response(prompt).await["error"]["code"], -32000);
        peer.call("authenticate", json!({ "methodId": "key" })).await;
        assert_eq!(peer.prompt(&session, "go").await, "end_turn", "the session outlived that");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn auth_02_11_a_client_without_a_terminal_is_not_sent_to_one() {
    let methods = || Auth::new([AuthMethodTerminal::new("login", "Log in")]);
    play(guarded(methods()), async |peer| {
        let hello = peer.initialize(json!({})).await;
        assert_eq!(hello["authMethods"].as_array().map_or(0, Vec::len), 0);
        assert_eq!(new_is_refused_with(peer).await, -32600, "not -32000: nothing was offered");
    })
    .await;
    play(guarded(methods()), async |peer| {
        let hello = peer.initialize(json!({ "auth": { "terminal": true } })).await;
        assert_eq!(hello["authMethods"][0]["type"], "terminal");
        assert_eq!(new_is_refused_with(peer).await, -32000);
        assert_eq!(peer.refused("authenticate", json!({ "methodId": "login" })).await, -32602);
    })
    .await;
    play(guarded(methods().authenticated(true)), async |peer| {
        peer.initialize(json!({})).await;
        peer.open("/repo").await;
    })
    .await;
}
