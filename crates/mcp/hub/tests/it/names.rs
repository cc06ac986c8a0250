//! Names and calls while servers change their lists at every moment at which the hub waits.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use agentwire_mcp_hub::{Hub, HubConfig, HubError, HubTool, ServerState};
use futures::future::join_all;

use crate::local_server::LocalServer;

/// How many schedules are tried.
const SEEDS: u64 = 300;

/// How often each of the callers calls.
const STEPS: usize = 40;

const RELIST_PAUSE: Duration = Duration::from_millis(50);

/// Names that could be taken for one another.
const SERVERS: [&str; 8] = ["a", "a__b", "a_b", "b", "a_", "a!", "b__c", "server"];
const TOOLS: [&str; 14] = [
    "c",
    "b__c",
    "_c",
    "b__b__c",
    "a_b__c",
    "a__b__c",
    "c_",
    "server__c",
    "",
    "__c",
    "c.",
    "c/",
    "größe",
    LONG,
];

/// More characters than models take.
const LONG: &str =
    "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc";

/// A generator of the same numbers for the same seed (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Some tools, and what each is described by.
    fn tools(&mut self) -> Vec<(&'static str, u64)> {
        let count = self.below(5);
        (0..count).map(|_| (*self.pick(&TOOLS), self.below(3) as u64)).collect()
    }
}

/// The names that were learned so far. None of them may ever change.
#[derive(Default)]
struct Known {
    /// The server's place and its tool.
    meanings: HashMap<String, (usize, String)>,
    given: HashMap<(usize, String), String>,
}

struct Schedule {
    seed: u64,
    random: RefCell<Random>,
    known: RefCell<Known>,
    hub: Hub,
    local: Vec<LocalServer>,
}

impl Schedule {
    fn below(&self, limit: usize) -> usize {
        self.random.borrow_mut().below(limit)
    }

    async fn wait(&self) {
        match self.below(4) {
            0 => {}
            1 => tokio::time::sleep(Duration::from_millis(self.below(200) as u64)).await,
            _ => {
                for _ in 0..self.below(12) {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    fn note(&self, tool: &HubTool) {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(
            (1..=64).contains(&tool.name.len()) && tool.name.chars().all(fits),
            "no model takes {}",
            tool.name
        );
        let place = self.hub.status().iter().position(|server| server.name == tool.server).unwrap();
        let pair = (place, tool.tool.name.clone());
        let mut known = self.known.borrow_mut();
        let meaning = known.meanings.entry(tool.name.clone()).or_insert_with(|| pair.clone());
        assert_eq!(*meaning, pair, "seed {}: {} has come to mean another tool", self.seed, tool.name);
        let name = known.given.entry(pair).or_insert_with(|| tool.name.clone());
        assert_eq!(*name, tool.name, "seed {}: a tool has come back to another name", self.seed);
    }

    /// Looks tools up, holds them for a while as one who asks a person does, and calls them.
    async fn call(&self) {
        for _ in 0..STEPS {
            self.wait().await;
            if self.below(3) == 0 {
                self.hub.tools().await.iter().for_each(|tool| self.note(tool));
                continue;
            }
            let names: Vec<_> = {
                let mut names: Vec<_> = self.known.borrow().meanings.keys().cloned().collect();
                names.sort();
                names
            };
            if names.is_empty() {
                self.hub.ready().await;
                continue;
            }
            let name = self.random.borrow_mut().pick(&names).clone();
            let Some(shown) = self.hub.tool(&name) else { continue };
            self.note(&shown);
            self.wait().await;
            let (server, _) = self.known.borrow().meanings[&name].clone();
            self.local[server].delay(self.below(8));
            let call = self.hub.call_tool(&shown, serde_json::json!({ "for": shown.server }));
            self.wait().await;
            let is_same = self.hub.tool(&name).as_ref() == Some(&shown);
            match call.await {
                Ok(result) => {
                    assert!(is_same, "seed {}: {name} was called, and is not what was shown", self.seed);
                    assert_eq!(result.text(), shown.tool.name, "seed {}", self.seed);
                }
                Err(HubError::ToolChanged { .. }) => {}
                Err(HubError::Unavailable { state: ServerState::Died(_), .. } | HubError::Call { .. }) => {}
                Err(error) => panic!("seed {}: {name}: {error}", self.seed),
            }
        }
    }

    /// Changes lists and hangs up.
    async fn disturb(&self) {
        for _ in 0..4 * STEPS {
            self.wait().await;
            let server = &self.local[self.below(self.local.len())];
            match self.below(24) {
                0 => server.hang_up(),
                1..4 => server.notify(),
                4..8 => server.set_restless(self.below(5)),
                8..12 => server.delay(self.below(12)),
                _ => server.set_tools(self.random.borrow_mut().tools()),
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn names_keep_their_meaning_and_what_was_shown_is_called_whenever_lists_change() {
    let mut called = 0;
    for seed in 0..SEEDS {
        let mut random = Random(seed);
        let servers: Vec<_> =
            (0..2 + random.below(3)).map(|_| (*random.pick(&SERVERS), LocalServer::default())).collect();
        for (_, local) in &servers {
            local.set_tools(random.tools());
            (0..3).for_each(|_| local.delay(random.below(12)));
        }
        let config = HubConfig::new().relist_pause(RELIST_PAUSE);
        let (hub, driver) = Hub::with_config(config, servers.iter().map(|(name, local)| local.config(name)));
        let local: Vec<_> = servers.into_iter().map(|(_, local)| local).collect();
        let schedule =
            Schedule { seed, random: random.into(), known: RefCell::default(), hub: hub.clone(), local };
        let begun = tokio::time::Instant::now();
        let work = async {
            tokio::join!(join_all((0..3).map(|_| schedule.call())), schedule.disturb());
            let lasted = begun.elapsed();
            for local in &schedule.local {
                // The first listing, the first change's, and one for each pause.
                let most = 3 + lasted.as_millis() / RELIST_PAUSE.as_millis();
                assert!(local.listings() as u128 <= most, "seed {seed}: {} in {lasted:?}", local.listings());
            }
            hub.close().await;
        };
        let all = async { tokio::join!(work, driver) };
        tokio::time::timeout(Duration::from_secs(3600), all).await.expect("every call ends");
        called += schedule.known.borrow().meanings.len();
    }
    assert!(called > 1000, "the schedules learned {called} names only");
}

#[tokio::test(start_paused = true)]
async fn tool_that_has_changed_since_it_was_shown_is_not_called() {
    let local = LocalServer::default();
    local.set_tools([("same", 1), ("other", 1), ("gone", 1)]);
    let (hub, driver) = Hub::new([local.config("s")]);
    let main = async {
        let shown = hub.tools().await;
        // Made before the change, and awaited after it.
        let calls: Vec<_> = shown.iter().map(|tool| hub.call_tool(tool, ())).collect();
        let mut changes = hub.changes();
        changes.next().await.unwrap();
        local.set_tools([("same", 1), ("other", 2)]);
        while hub.tool("gone").is_some() {
            changes.next().await.unwrap();
        }
        let mut outcomes = Vec::new();
        for (tool, call) in shown.iter().zip(calls) {
            let early = call.await.map(|result| result.text().into_owned());
            let late = hub.call_tool(tool, ()).await.map(|result| result.text().into_owned());
            for outcome in [early, late] {
                let changed = |error: &HubError| matches!(error, HubError::ToolChanged { .. });
                outcomes.push(outcome.map_err(|error| changed(&error)));
            }
        }
        let same = || Ok("same".to_owned());
        assert_eq!(outcomes, [same(), same(), Err(true), Err(true), Err(true), Err(true)]);
        assert_eq!(hub.call("other", ()).await.unwrap().text(), "other", "by its name it is called as it is");
        assert!(matches!(hub.resolve("gone"), Err(HubError::NoSuchTool { .. })));
        hub.close().await;
    };
    tokio::join!(main, driver);
}
