//! Which tool a name means.

use std::collections::{HashMap, HashSet};

use agentwire_mcp_schema::Tool;

/// What stands between a server's name and a tool's.
const SEPARATOR: &str = "__";

/// A tool of one of the servers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HubTool {
    /// The name to call it by, unique in the hub.
    pub name: String,
    /// The name of its server.
    pub server: String,
    /// What the server says of it, with the name that it has there.
    pub tool: Tool,
}

/// All tools by all names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// In the order of the servers and, within one, in its own.
    pub(crate) tools: Vec<(usize, HubTool)>,
    by_name: HashMap<String, usize>,
}

impl Names {
    /// Gives a name to every tool. Servers come with their names, which differ.
    pub(crate) fn new<'a>(servers: impl Iterator<Item = (usize, &'a str, &'a [Tool])>) -> Self {
        let mut names = Self::default();
        for (place, server, tools) in servers {
            let mut of_this_server = HashSet::new();
            // A second tool of the same name could not be called on its server either.
            for tool in tools.iter().filter(|tool| of_this_server.insert(&*tool.name)) {
                let name = unique(format!("{server}{SEPARATOR}{}", tool.name), |name| {
                    !names.by_name.contains_key(name)
                });
                names.by_name.insert(name.clone(), names.tools.len());
                names.tools.push((place, HubTool { name, server: server.to_owned(), tool: tool.clone() }));
            }
        }
        names.shorten();
        names
    }

    pub(crate) fn find(&self, name: &str) -> Option<&(usize, HubTool)> {
        self.by_name.get(name).map(|place| &self.tools[*place])
    }

    /// Lets tools whose plain name nobody else has, and that is nobody's long name, be called by it.
    fn shorten(&mut self) {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        for (_, tool) in &self.tools {
            *uses.entry(&tool.tool.name).or_default() += 1;
        }
        let is_free = |name: &str| uses[name] == 1 && !self.by_name.contains_key(name);
        let short: Vec<_> = self.tools.iter().map(|(_, tool)| is_free(&tool.tool.name)).collect();
        for (place, (_, tool)) in self.tools.iter_mut().enumerate().filter(|(place, _)| short[*place]) {
            tool.name.clone_from(&tool.tool.name);
            self.by_name.insert(tool.name.clone(), place);
        }
    }
}

/// A server's name in the form that can be part of a tool's, different from those before it.
pub(crate) fn server_name(wanted: &str, taken: &[String]) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let name: String =
        wanted.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    let name = if name.is_empty() { "server".to_owned() } else { name };
    unique(name, |name| taken.iter().all(|taken| taken != name))
}

fn unique(name: String, is_free: impl Fn(&str) -> bool) -> String {
    if is_free(&name) {
        return name;
    }
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    numbered.into_iter().find(|name| is_free(name)).expect("there are more numbers than names")
}

#[cfg(test)]
mod tests {
    use agentwire_mcp_schema::JsonSchema;

    use super::*;

    fn names(servers: &[(&str, &[&str])]) -> Vec<String> {
        let tools: Vec<Vec<Tool>> = servers
            .iter()
            .map(|(_, tools)| tools.iter().map(|name| Tool::new(*name, JsonSchema::any_object())).collect())
            .collect();
        let servers = servers.iter().zip(&tools).enumerate();
        let names = Names::new(servers.map(|(place, ((name, _), tools))| (place, *name, &**tools)));
        for (place, (_, tool)) in names.tools.iter().enumerate() {
            assert_eq!(names.by_name[&tool.name], place, "a name means the tool that bears it");
        }
        names.tools.into_iter().map(|(_, tool)| tool.name).collect()
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
        // The long name of one server's tool is the long name of another's, and the plain name of a third's.
        let servers: &[(&str, &[&str])] =
            &[("a", &["b__c", "c"]), ("a__b", &["c"]), ("x", &["a__b__c", "a__b__c"])];
        assert_eq!(names(servers), ["b__c", "a__c", "a__b__c_2", "x__a__b__c"]);
    }

    #[test]
    fn a_servers_name_fits_into_a_tools() {
        assert_eq!(server_name("my files!", &[]), "my_files_");
        assert_eq!(server_name("", &[]), "server");
        assert_eq!(server_name("files", &["files".into(), "files_2".into()]), "files_3");
    }
}
