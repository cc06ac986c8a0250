//! Assigns names to tools, and resolves them. A name keeps its tool for the life of the hub.
//!
//! A tool's full name is `server__tool`. A server's name contains no `__` and does not end in `_`, so the first `__` of a
//! full name is the separator. Full names need no record, and a full name never refers to another tool. A tool's plain name
//! is its short name if it was free when it was first listed. That is recorded once and for ever, because a server may
//! change its list at any moment, also between a person's permission and the call.
//!
//! A listed tool has its short name, or else its full one, in a form that models accept: see
//! [`model_name`](crate::names::model_name). Lookups accept all forms.

pub(crate) mod model_name;
pub(crate) mod selection;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use agentwire_mcp_schema::Tool;

use crate::names::model_name::{NAME_LIMIT, SERVER_LIMIT, is_safe, looks_mapped, safe_part, with_code};

/// The text between a server's name and a tool's.
const SEPARATOR: &str = "__";

/// The memory of a short name's record beyond its text, in bytes.
const OVERHEAD: usize = 64;

/// A tool of one of the servers, as the server described it when this was made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HubTool {
    /// The name to call it by, unique in the hub, of 1 to 64 of the characters that language models take: `a-z`, `A-Z`, `0-9`,
    /// `_` and `-`.
    pub name: String,
    /// The name of its server.
    pub server: String,
    /// The server's description of it, with the name that it has there.
    pub tool: Tool,
}

/// The tools of all names.
#[derive(Debug)]
pub(crate) struct Names {
    servers: Vec<String>,
    /// The place of the server of each tool with a short name. `None` if several servers had one when it was first listed.
    short: HashMap<String, Option<usize>>,
    /// How many bytes of short names may still be recorded for each server.
    room: Vec<usize>,
    /// The initial value of `room` for a server.
    limit: usize,
    /// Whether every server has listed its tools or failed. Before that, no short name is assigned.
    settled: bool,
}

impl Names {
    /// Creates the table for servers with these names, made by [`server_names`], with `room` bytes of short names for each.
    pub(crate) fn new(servers: Vec<String>, room: usize) -> Self {
        let (limit, room) = (room, vec![room; servers.len()]);
        Self { servers, short: HashMap::new(), room, limit, settled: false }
    }

    /// Adds a server, and returns its name: one that no server has had, and with which no tool's name
    /// begins so far. So all existing names keep their meaning.
    pub(crate) fn add_server(&mut self, wanted: &str) -> String {
        let begins = |name: &String| name.split_once(SEPARATOR).map(|(server, _)| server.to_owned());
        let mut taken: HashSet<_> = self.short.keys().filter_map(begins).collect();
        taken.extend(self.servers.iter().cloned());
        let name = unique(escape(wanted), &taken, &mut HashMap::new());
        self.servers.push(name.clone());
        self.room.push(self.limit);
        name
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.settled
    }

    /// Assigns short names to the listed tools, once every server has listed its tools or failed. The names depend on the lists
    /// and their order, not on the speed of servers.
    pub(crate) fn settle<'a>(&mut self, listed: impl Iterator<Item = (usize, &'a str)> + Clone) {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for (_, tool) in listed.clone() {
            *uses.entry(tool).or_default() += 1;
        }
        self.settled = true;
        for (place, tool) in listed {
            self.record(place, tool, (uses[tool] == 1).then_some(place));
        }
    }

    /// Records a tool that a server lists.
    pub(crate) fn note(&mut self, place: usize, tool: &str) {
        if self.settled {
            self.record(place, tool, Some(place));
        }
    }

    fn record(&mut self, place: usize, tool: &str, owner: Option<usize>) {
        if tool.is_empty() || self.short.contains_key(tool) || self.split(tool).is_some() {
            return;
        }
        if let Some(left) = self.room[place].checked_sub(tool.len() + OVERHEAD) {
            self.room[place] = left;
            self.short.insert(tool.to_owned(), owner);
        }
    }

    /// The name of a server's tool. It is the same for the same tool whenever it is listed.
    pub(crate) fn name(&self, place: usize, tool: &str) -> String {
        match self.short.get(tool) {
            Some(Some(owner)) if *owner == place && is_safe(tool) => tool.to_owned(),
            _ => full_name(&self.servers[place], &self.part(place, tool)),
        }
    }

    /// The part of a tool's full name after the separator.
    pub(crate) fn part<'a>(&self, place: usize, tool: &'a str) -> Cow<'a, str> {
        safe_part(tool, NAME_LIMIT.saturating_sub(self.servers[place].len() + SEPARATOR.len()))
    }

    /// Returns whether a tool has this part in its full name, or this name at its server. A name that looks like one with a
    /// code matches only the tool that was given it.
    pub(crate) fn is_part(&self, place: usize, part: &str, tool: &str) -> bool {
        self.part(place, tool) == part || (tool == part && !looks_mapped(part))
    }

    /// Keeps the first tool of each name. Its server could not call a second one of the same name either.
    pub(crate) fn first_of_each(&self, place: usize, mut tools: Vec<Tool>) -> Vec<Tool> {
        let mut listed = HashSet::new();
        tools.retain(|tool| listed.insert(self.part(place, &tool.name).into_owned()));
        tools
    }

    /// The server and the tool that a name refers to, whether the tool is listed or not. The tool is returned by its
    /// server's name for it, or by its [part](Self::part) of the full name.
    pub(crate) fn find<'a>(&self, name: &'a str) -> Option<(usize, &'a str)> {
        match self.short.get(name) {
            Some(owner) => owner.map(|place| (place, name)),
            None => self.split(name),
        }
    }

    /// The parts of a full name.
    fn split<'a>(&self, name: &'a str) -> Option<(usize, &'a str)> {
        let (server, tool) = name.split_once(SEPARATOR)?;
        let place = self.servers.iter().position(|name| name == server)?;
        Some((place, tool))
    }
}

/// The full name of a server's tool.
pub(crate) fn full_name(server: &str, tool: &str) -> String {
    format!("{server}{SEPARATOR}{tool}")
}

/// The names of servers in the form that can be part of a tool's, all different, in the order of `wanted`. A server whose
/// name has that form already keeps it, unless an earlier one has the same.
pub(crate) fn server_names<'a>(wanted: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted: Vec<_> = wanted.into_iter().map(|name| (name, escape(name))).collect();
    let (mut taken, mut next) = (HashSet::new(), HashMap::new());
    let keeps: Vec<_> =
        wanted.iter().map(|(name, escaped)| name == escaped && taken.insert(escaped.clone())).collect();
    let named = wanted.into_iter().zip(keeps).map(|((_, escaped), keeps)| match keeps {
        true => escaped,
        false => {
            let name = unique(escaped, &taken, &mut next);
            taken.insert(name.clone());
            name
        }
    });
    named.collect()
}

/// A name of the characters that language models take in the name of a tool, without `__` and without `_` at its end. A
/// changed name gets a code that depends only on the original, so other servers do not affect it.
fn escape(wanted: &str) -> String {
    let mut name = String::with_capacity(wanted.len());
    for character in wanted.chars() {
        let is_plain = character.is_ascii_alphanumeric() || character == '-';
        match is_plain {
            true => name.push(character),
            false if name.ends_with('_') => {}
            false => name.push('_'),
        }
    }
    let name = name.trim_end_matches('_');
    if name == wanted && (1..=SERVER_LIMIT).contains(&name.len()) && !looks_mapped(name) {
        name.to_owned()
    } else {
        with_code(if name.is_empty() { "server" } else { name }, wanted, SERVER_LIMIT)
    }
}

/// The name, with a number where it is taken. `next` has the first number of each name that may be free, so that many of one
/// name do not try all numbers again.
fn unique(name: String, taken: &HashSet<String>, next: &mut HashMap<String, u64>) -> String {
    if !taken.contains(&name) {
        return name;
    }
    let number = next.entry(name.clone()).or_insert(2);
    loop {
        let numbered = format!("{name}_{number}");
        *number += 1;
        if !taken.contains(&numbered) {
            return numbered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 1 << 10;

    /// The names that servers' tools get, when all are listed at once.
    fn names(servers: &[(&str, &[&str])]) -> Vec<String> {
        let mut names = Names::new(server_names(servers.iter().map(|(name, _)| *name)), ROOM);
        let listed = servers.iter().enumerate();
        let listed = listed.flat_map(|(place, (_, tools))| tools.iter().map(move |tool| (place, *tool)));
        names.settle(listed.clone());
        let given = listed.map(|(place, tool)| {
            let name = names.name(place, tool);
            let (found, part) = names.find(&name).expect("a name that was given is known");
            assert!(
                found == place && names.is_part(place, part, tool) || name == tool,
                "{name} means {tool}"
            );
            assert!(is_safe(&name), "{name}");
            assert_eq!(names.find(&format!("{}__{tool}", names.servers[place])), Some((place, tool)));
            name
        });
        given.collect()
    }

    #[test]
    fn a_unique_tool_keeps_its_name() {
        assert_eq!(names(&[("a", &["x"]), ("b", &["y"])]), ["x", "y"]);
    }

    #[test]
    fn tools_of_one_name_bear_their_servers() {
        assert_eq!(names(&[("a", &["x", "only"]), ("b", &["x"])]), ["a__x", "only", "b__x"]);
    }

    #[test]
    fn no_two_tools_share_a_name_whatever_they_are_called() {
        // What is one server's full name must not be another's, nor the plain name of a third's.
        let servers: &[(&str, &[&str])] =
            &[("a", &["b__c", "c"]), ("a__b", &["c"]), ("x", &["a__b__c", "_c", "_c_"]), ("a_", &["_c", ""])];
        let given = names(servers);
        let (of_ab, of_a) = ("a_b-749bc500__c", "a-72254009___c");
        let unnamed = full_name("a-72254009", &safe_part("", NAME_LIMIT));
        assert_eq!(given, ["b__c", "a__c", of_ab, "x__a__b__c", "x___c", "_c_", of_a, &unnamed]);
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
    }

    /// The attack of a server `a` on the tool `c` of `a__b`.
    #[test]
    fn a_separator_in_a_servers_name_is_escaped() {
        assert_eq!(
            names(&[("a", &["b__c"]), ("a__b", &["c", "d"]), ("x", &["c"])]),
            ["b__c", "a_b-749bc500__c", "d", "x__c"]
        );
    }

    #[test]
    fn a_servers_name_fits_into_a_tools() {
        for (wanted, given) in [
            (&["my files!"][..], &["my_files-de36774f"][..]),
            (
                &["", "__", "\u{43f}\u{440}", "_x", "a___b"],
                &["server-811c9dc5", "server-720ba823", "server-83f734a9", "_x", "a_b-fdceddff"],
            ),
            (&["files", "files_2", "files"], &["files", "files_2", "files_3"]),
            // One that only looks like another does not take its name.
            (&["git!", "git", "git-c946687e"], &["git-c946687e", "git", "git-c946687e-4f6932d2"]),
        ] {
            assert_eq!(server_names(wanted.iter().copied()), given);
        }
    }

    /// A person's permission names the server.
    #[test]
    fn name_of_a_server_does_not_depend_on_the_others() {
        let alone = |name| server_names([name]).remove(0);
        let all = ["a/b", "a.b", "a_b", "a b", "a_b_2", "", "x"];
        assert_eq!(server_names(all), all.map(alone));
        let reversed: Vec<_> = all.into_iter().rev().collect();
        assert!(server_names(reversed.iter().copied()).into_iter().rev().eq(all.map(alone)));
        assert_eq!(all.map(alone).into_iter().collect::<HashSet<_>>().len(), all.len());
    }

    #[test]
    fn names_are_those_that_models_take() {
        let (long, longer) = ("x".repeat(64), "y".repeat(100));
        let server = "s".repeat(70);
        let tools = ["a.b", "a/b", "a_b", "größe", "", &long, &longer, "plain"];
        let given = names(&[(&server, &tools), ("größe", &["a.b", "plain", &longer])]);
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
        assert_eq!((&*given[2], &*given[5]), ("a_b", &*long), "as they are");
        assert!(given[8].starts_with("gr_e-cd38f49a__a_b-"), "{given:?}");
        // The same in another hub, whatever else is there.
        assert_eq!(names(&[("größe", &["a.b"])])[0], given[8]);
        assert_eq!(server_names([&*server])[0].len(), SERVER_LIMIT);
    }

    #[test]
    fn a_name_that_was_given_keeps_its_meaning() {
        let mut names = Names::new(server_names(["a", "b"]), ROOM);
        names.note(0, "x");
        assert_eq!(names.find("x"), None, "no short name before all servers are there");
        assert_eq!(names.find("a__x"), Some((0, "x")));
        names.settle([(0, "x"), (0, "y"), (1, "y")].into_iter());
        // The other server lists it too, and later only that one does.
        names.note(1, "x");
        names.note(1, "x");
        assert_eq!((names.name(0, "x"), names.name(1, "x")), ("x".into(), "b__x".into()));
        // An ambiguous name stays ambiguous.
        names.note(1, "y");
        assert_eq!((names.find("y"), names.name(1, "y")), (None, "b__y".into()));
        // A name in the form of a full name never becomes a short name.
        names.note(0, "b__z");
        assert_eq!((names.find("b__z"), names.name(0, "b__z")), (Some((1, "z")), "a__b__z".into()));
    }

    #[test]
    fn a_server_that_is_added_takes_no_name_that_has_a_meaning() {
        let mut names = Names::new(server_names(["a"]), ROOM);
        names.settle([(0, "b__x"), (0, "y")].into_iter());
        assert_eq!(names.find("b__x"), Some((0, "b__x")));
        assert_eq!(["a", "b", "c"].map(|wanted| names.add_server(wanted)), ["a_2", "b_2", "c"]);
        names.note(2, "x");
        names.note(3, "y");
        assert_eq!((names.name(2, "x"), names.name(3, "y")), ("x".into(), "c__y".into()));
        assert_eq!(["b__x", "b_2__x"].map(|name| names.find(name)), [Some((0, "b__x")), Some((2, "x"))]);
    }

    #[test]
    fn short_names_are_bounded_and_full_ones_are_not() {
        let cost = 1 + OVERHEAD;
        let mut names = Names::new(server_names(["a", "b"]), 2 * cost);
        names.settle([].into_iter());
        for tool in ["p", "q", "r", "p"] {
            names.note(0, tool);
        }
        assert_eq!(["p", "q", "r"].map(|tool| names.name(0, tool)), ["p", "q", "a__r"]);
        // It costs the server itself only, and stays as it is.
        names.note(1, "r");
        names.note(0, "r");
        assert_eq!((names.name(0, "r"), names.name(1, "r")), ("a__r".into(), "r".into()));
        assert_eq!(names.find("a__r"), Some((0, "r")));
    }

    /// A client of a session names its servers.
    #[test]
    fn many_servers_of_one_name_are_told_apart_at_once() {
        let begun = std::time::Instant::now();
        let names = server_names(std::iter::repeat_n("s", 20_000));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert_eq!((&*names[0], &*names[1], &*names[19_999]), ("s", "s_2", "s_20000"));
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    }
}
