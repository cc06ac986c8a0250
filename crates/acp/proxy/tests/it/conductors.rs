//! A conductor whose client, components and agent the test plays.

use std::time::Duration;

use agentwire_acp_proxy::{Conductor, ProxyError, Transparent, proxied, relay, serve};
use agentwire_transport::duplex;
use tokio::task::{JoinHandle, spawn_local};
use tokio::time::timeout;

use crate::raw::{Raw, play, wire};

struct Chain {
    client: Raw,
    first: Raw,
    second: Raw,
    agent: Raw,
    ended: JoinHandle<Result<(), ProxyError>>,
}

fn chain() -> Chain {
    let (client_transport, client) = wire();
    let (first_transport, first) = wire();
    let (second_transport, second) = wire();
    let (agent_transport, agent) = wire();
    let conductor = Conductor::new().component(first_transport).component(second_transport);
    let ended = spawn_local(conductor.serve(client_transport, agent_transport));
    Chain { client, first, second, agent, ended }
}

const PARAMS: &str = r#"{"protocolVersion":1,"clientCapabilities":{ },"_meta":{"a": 1}}"#;

#[test]
fn px_01_every_component_gets_proxy_initialize_and_the_agent_initialize() {
    play(async {
        let Chain { mut client, mut first, mut second, mut agent, .. } = chain();
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{PARAMS}}}"#)).await;
        let one = first
            .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"proxy/initialize","params":{PARAMS}}}"#))
            .await;
        first.say(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"proxy/successor","params":{{"method":"initialize","params":{PARAMS}}}}}"#)).await;
        let two = second
            .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"proxy/initialize","params":{PARAMS}}}"#))
            .await;
        second.say(&format!(r#"{{"jsonrpc":"2.0","id":"x","method":"proxy/successor","params":{{"method":"initialize","params":{PARAMS}}}}}"#)).await;
        let three = agent
            .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"initialize","params":{PARAMS}}}"#))
            .await;
        agent
            .say(&format!(r#"{{"jsonrpc":"2.0","id":{three},"result":{{"protocolVersion":1, "a":0}}}}"#))
            .await;
        second.expect(r#"{"jsonrpc":"2.0","id":"x","result":{"protocolVersion":1, "a":0}}"#).await;
        second
            .say(&format!(r#"{{"jsonrpc":"2.0","id":{two},"result":{{"protocolVersion":1, "a":1}}}}"#))
            .await;
        first.expect(r#"{"jsonrpc":"2.0","id":9,"result":{"protocolVersion":1, "a":1}}"#).await;
        first
            .say(&format!(r#"{{"jsonrpc":"2.0","id":{one},"result":{{"protocolVersion":1, "a":2}}}}"#))
            .await;
        client.expect(r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1, "a":2}}"#).await;
    });
}

#[test]
fn px_01_older_component_gets_the_older_method_name() {
    play(async {
        let Chain { mut client, mut first, mut second, agent: _agent, .. } = chain();
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{PARAMS}}}"#)).await;
        let id = first
            .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"proxy/initialize","params":{PARAMS}}}"#))
            .await;
        first.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"?"}}}}"#)).await;
        first
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","id":$id,"method":"_proxy/initialize","params":{PARAMS}}}"#
            ))
            .await;
        first.say(&format!(r#"{{"jsonrpc":"2.0","id":9,"method":"_proxy/successor","params":{{"method":"initialize","params":{PARAMS}}}}}"#)).await;
        second
            .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"proxy/initialize","params":{PARAMS}}}"#))
            .await;
        second.say(r#"{"jsonrpc":"2.0","method":"_note"}"#).await;
        first.expect(r#"{"jsonrpc":"2.0","method":"_proxy/successor","params":{"method":"_note"}}"#).await;
    });
}

#[test]
fn px_04_message_of_a_neighbour_arrives_in_an_envelope() {
    play(async {
        let Chain { mut client, mut first, mut second, mut agent, .. } = chain();
        agent.say(r#"{"jsonrpc":"2.0","id":0,"method":"_q","params":{"b":1, "a":2}}"#).await;
        let id = second.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"proxy/successor","params":{"method":"_q","params":{"b":1, "a":2}}}"#).await;
        second.say(r#"{"jsonrpc":"2.0","id":5,"method":"_r"}"#).await;
        let inner = first
            .expect(r#"{"jsonrpc":"2.0","id":$id,"method":"proxy/successor","params":{"method":"_r"}}"#)
            .await;
        first.say(r#"{"jsonrpc":"2.0","id":5,"method":"_s"}"#).await;
        let outer = client.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_s"}"#).await;
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":{outer},"result":1}}"#)).await;
        first.expect(r#"{"jsonrpc":"2.0","id":5,"result":1}"#).await;
        first.say(&format!(r#"{{"jsonrpc":"2.0","id":{inner},"error":{{"code":2,"message":""}}}}"#)).await;
        second.expect(r#"{"jsonrpc":"2.0","id":5,"error":{"code":2,"message":""}}"#).await;
        second.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":3}}"#)).await;
        agent.expect(r#"{"jsonrpc":"2.0","id":0,"result":3}"#).await;
    });
}

#[test]
fn px_05_a_cancel_goes_from_hop_to_hop() {
    play(async {
        let Chain { mut client, mut first, mut second, mut agent, .. } = chain();
        client.say(r#"{"jsonrpc":"2.0","id":"c","method":"_q"}"#).await;
        let one = first.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_q"}"#).await;
        first.say(r#"{"jsonrpc":"2.0","id":"f","method":"proxy/successor","params":{"method":"_q"}}"#).await;
        let two = second.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_q"}"#).await;
        second.say(r#"{"jsonrpc":"2.0","id":"s","method":"proxy/successor","params":{"method":"_q"}}"#).await;
        let three = agent.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_q"}"#).await;

        client.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"c"}}"#).await;
        first
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{one}}}}}"#
            ))
            .await;
        second.expect_silence().await;
        first.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"f"}}"#).await;
        second
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{two}}}}}"#
            ))
            .await;
        second.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"s"}}"#).await;
        agent
            .expect(&format!(
                r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{three}}}}}"#
            ))
            .await;
    });
}

#[test]
fn components_are_closed_in_order_after_the_client_closes() {
    play(async {
        let Chain { mut client, mut first, mut second, mut agent, ended } = chain();
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_q"}"#).await;
        client.finish().await;
        let id = first.expect(r#"{"jsonrpc":"2.0","id":$id,"method":"_q"}"#).await;
        first.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":1}}"#)).await;
        client.expect(r#"{"jsonrpc":"2.0","id":1,"result":1}"#).await;
        first.expect_end().await;
        drop(first);
        second.expect_end().await;
        drop(second);
        agent.expect_end().await;
        drop(agent);
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn when_a_component_ends_so_does_the_chain() {
    play(async {
        let Chain { mut client, mut first, mut second, mut agent, ended } = chain();
        client.say(r#"{"jsonrpc":"2.0","id":1,"method":"_q"}"#).await;
        first.hear().await;
        first.say(r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"_q"}}"#).await;
        second.hear().await;
        drop(second);
        assert_eq!(first.hear().await["error"]["code"], -32603, "its successor is gone");
        first.expect_end().await;
        drop(first);
        agent.expect_end().await;
        drop(agent);
        assert_eq!(client.hear().await["error"]["code"], -32603);
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn conductors_nest_and_mix_with_proxies_of_this_program() {
    play(async {
        let (component, far) = duplex(2);
        spawn_local(serve(Transparent::default(), far));
        let (nested, far) = duplex(2);
        spawn_local(Conductor::new().component(component).serve_as_component(far));
        let (empty, far) = duplex(2);
        spawn_local(Conductor::new().serve_as_component(far));
        let (transport, mut agent) = wire();
        let chain = Conductor::new().component(nested).component(empty).in_front_of(transport);
        let (transport, mut client) = wire();
        let ended =
            spawn_local(relay(Transparent::default(), transport, proxied(Transparent::default(), chain)));
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":"i","method":"initialize","params":{PARAMS}}}"#)).await;
        let id = agent
            .expect(&format!(r#"{{"jsonrpc":"2.0","id":$id,"method":"initialize","params":{PARAMS}}}"#))
            .await;
        agent.say(r#"{"jsonrpc":"2.0","method":"_first"}"#).await;
        agent
            .say(&format!(
                r#"{{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{{"requestId":{id}}}}}"#
            ))
            .await;
        agent.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":1}}}}"#)).await;
        agent.say(r#"{"jsonrpc":"2.0","method":"_last"}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","method":"_first"}"#).await;
        let asked = client
            .expect(r#"{"jsonrpc":"2.0","id":$id,"method":"elicitation/create","params":{"requestId":"i"}}"#)
            .await;
        client.expect(r#"{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1}}"#).await;
        client.expect(r#"{"jsonrpc":"2.0","method":"_last"}"#).await;
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":null}}"#)).await;
        agent.expect(r#"{"jsonrpc":"2.0","id":7,"result":null}"#).await;
        drop(agent);
        client.expect_end().await;
        ended.await.unwrap().unwrap();
    });
}

#[test]
fn px_01_a_component_that_is_an_agent_is_told_apart() {
    play(async {
        let Chain { mut client, mut first, agent: _agent, second: _second, .. } = chain();
        client.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{PARAMS}}}"#)).await;
        for _ in 0..2 {
            let asked = first.hear().await;
            let unknown = r#"{"code":-32601,"message":"?"}"#;
            first.say(&format!(r#"{{"jsonrpc":"2.0","id":{},"error":{unknown}}}"#, asked["id"])).await;
        }
        let error = client.hear().await["error"].clone();
        assert_eq!(error["code"], -32603);
        assert!(error["message"].as_str().is_some_and(|text| text.contains("component 0")), "{error}");
    });
}

#[test]
fn component_that_does_not_end_is_dropped() {
    play(async {
        let Chain { mut client, first, mut second, agent, ended } = chain();
        let chatting = spawn_local(async move {
            let mut first = first;
            // It closes nothing, and sends more than is read.
            loop {
                first.say(r#"{"jsonrpc":"2.0","method":"_more"}"#).await;
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        client.finish().await;
        second.expect_end_after_all().await;
        drop((client, second, agent));
        let ended = timeout(Duration::from_secs(120), ended).await.expect("it ends");
        ended.unwrap().unwrap();
        chatting.abort();
    });
}
