//! The modules of a crate, and which of its files use items of which others.
//!
//! Reads paths and `use` declarations of code whose comments, literals and tests are blank. A re-export passes a name on
//! and is not a use of it, unless the file names the item elsewhere, too. Methods and trait implementations are not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::Source;

/// A module's names from the crate's root on; the root is empty.
type ModulePath = Vec<String>;

/// Re-exports that are followed for one name before the search gives up.
const MAX_HOPS: usize = 16;

/// The files of one crate.
pub(super) struct Crate<'a> {
    files: BTreeMap<ModulePath, &'a Source>,
    modules: BTreeMap<ModulePath, Module>,
}

#[derive(Default)]
struct Module {
    imports: BTreeMap<String, Vec<String>>,
    /// Paths to resolve in this module: those of private imports and those in expressions and types.
    used: BTreeSet<Vec<String>>,
}

/// The item of a path.
enum Target {
    Module(ModulePath),
    /// An item, by the module that has it.
    Item(ModulePath),
}

impl<'a> Crate<'a> {
    /// Reads the files of a crate. `folder` ends with `src/`.
    pub(super) fn read(folder: &str, sources: &'a [Source]) -> Self {
        let mut this = Self { files: BTreeMap::new(), modules: BTreeMap::new() };
        for source in sources {
            let Some(path) = source.path.strip_prefix(folder).and_then(module_path) else { continue };
            this.read_file(&path, &source.code);
            this.files.insert(path, source);
        }
        this
    }

    /// For each file, the other files whose items it uses; all as paths of the repository.
    pub(super) fn uses(&self) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
        let mut uses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (path, module) in &self.modules {
            let Some(from) = self.file(path) else { continue };
            let targets = module.used.iter().filter_map(|used| self.resolve(path, used, MAX_HOPS));
            let items = targets.filter_map(|target| match target {
                Target::Item(module) => self.file(&module),
                Target::Module(_) => None,
            });
            uses.entry(from).or_default().extend(items.filter(|to| *to != from));
        }
        uses
    }

    /// The file that holds a module, which may be written within the file of a module above it.
    fn file(&self, module: &[String]) -> Option<&'a str> {
        let paths = (0..=module.len()).rev().map(|length| &module[..length]);
        paths.filter_map(|path| self.files.get(path)).map(|source| source.path.as_str()).next()
    }

    fn read_file(&mut self, path: &[String], code: &str) {
        let tokens = tokens(code);
        let mut module = path.to_vec();
        // Braces that are open, and which of them are bodies of inline modules.
        let mut braces: Vec<bool> = Vec::new();
        let mut exported = Vec::new();
        let mut at = 0;
        self.modules.entry(module.clone()).or_default();
        while at < tokens.len() {
            match tokens[at] {
                "mod" if tokens.get(at + 2) == Some(&"{") => {
                    module.push(tokens[at + 1].to_owned());
                    self.modules.entry(module.clone()).or_default();
                    braces.push(true);
                    at += 3;
                    continue;
                }
                "mod" if tokens.get(at + 2) == Some(&";") => {
                    let child = [&module[..], &[tokens[at + 1].to_owned()]].concat();
                    self.modules.entry(child).or_default();
                }
                "{" => braces.push(false),
                "}" => {
                    let ended = braces.pop().filter(|is_module| *is_module).and_then(|_| module.pop());
                    drop(ended);
                }
                "use" => {
                    let is_export = at > 0 && matches!(tokens[at - 1], "pub" | ")");
                    let mut imports = Vec::new();
                    at = use_tree(&tokens, at + 1, &mut Vec::new(), &mut imports);
                    let here = self.modules.entry(module.clone()).or_default();
                    for (name, path) in imports {
                        if is_export {
                            exported.push((module.clone(), name.clone(), path.clone()));
                        } else {
                            here.used.insert(path.clone());
                        }
                        here.imports.insert(name, path);
                    }
                    continue;
                }
                word if is_word(word) => {
                    let end = path_end(&tokens, at);
                    let here = self.modules.entry(module.clone()).or_default();
                    here.used
                        .insert(tokens[at..end].iter().step_by(2).map(|word| (*word).to_owned()).collect());
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        for (module, name, path) in exported {
            let here = self.modules.entry(module).or_default();
            if here.used.iter().any(|used| used[0] == name) {
                here.used.insert(path);
            }
        }
    }

    fn resolve(&self, module: &[String], path: &[String], hops: usize) -> Option<Target> {
        let hops = hops.checked_sub(1)?;
        let mut at = module.to_vec();
        for (index, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => at.clear(),
                "self" if index == 0 => {}
                "super" => drop(at.pop()),
                _ => {
                    let child = [&at[..], std::slice::from_ref(name)].concat();
                    let import = self.modules.get(&at).and_then(|module| module.imports.get(name));
                    if self.modules.contains_key(&child) {
                        at = child;
                    } else if let Some(import) = import.filter(|import| *import != std::slice::from_ref(name))
                    {
                        match self.resolve(&at, import, hops)? {
                            Target::Module(module) => at = module,
                            item @ Target::Item(_) => return Some(item),
                        }
                    } else {
                        // The first name of a path may be another crate's, or an item of this very module.
                        return (index > 0).then_some(Target::Item(at));
                    }
                }
            }
        }
        Some(Target::Module(at))
    }
}

/// The module of a file below `src`, and none for a file of tests.
fn module_path(file: &str) -> Option<ModulePath> {
    let names: Vec<&str> = file.strip_suffix(".rs")?.split('/').collect();
    let is_root = |name: &str| matches!(name, "mod" | "lib" | "main");
    let (last, above) = names.split_last()?;
    let last = Some(*last).filter(|last| !is_root(last));
    let path: ModulePath = above.iter().copied().chain(last).map(str::to_owned).collect();
    (!path.iter().any(|name| name == "tests" || name == "bin")).then_some(path)
}

/// Words, `::` and single other characters; white space is left out.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_word(rest) {
            rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The end of the path that begins at this word.
fn path_end(tokens: &[&str], start: usize) -> usize {
    let mut end = start + 1;
    while tokens.get(end) == Some(&"::") && tokens.get(end + 1).is_some_and(|next| is_word(next)) {
        end += 2;
    }
    end
}

/// Reads a tree of `use`, adds each imported name with its path, and returns the position behind the tree.
fn use_tree(
    tokens: &[&str],
    mut at: usize,
    prefix: &mut Vec<String>,
    imports: &mut Vec<(String, Vec<String>)>,
) -> usize {
    let outer = prefix.len();
    while let Some(token) = tokens.get(at) {
        match *token {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = use_tree(tokens, at, prefix, imports);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                prefix.truncate(outer);
                return at + 1;
            }
            "self" if prefix.len() > outer || outer > 0 => {}
            word if is_word(word) && word != "as" => prefix.push(word.to_owned()),
            _ => {}
        }
        match tokens.get(at + 1) {
            Some(&"::") => at += 2,
            Some(&"as") => {
                imports.push((tokens[at + 2].to_owned(), prefix.clone()));
                prefix.truncate(outer);
                return at + 3;
            }
            _ => {
                if *token != "*" {
                    imports.extend(prefix.last().map(|name| (name.clone(), prefix.clone())));
                }
                prefix.truncate(outer);
                return at + 1;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("c/src/{path}"), *text)).collect();
        let read = Crate::read("c/src/", &sources);
        let short = |path: &str| path.trim_start_matches("c/src/").to_owned();
        let pairs = read.uses();
        pairs
            .iter()
            .flat_map(|(from, to)| to.iter().map(|to| format!("{} {}", short(from), short(to))))
            .collect()
    }

    #[test]
    fn imports_and_paths_are_uses() {
        for text in [
            "use crate::b::B;",
            "use super::b::{B, C as D};",
            "use crate::{b::{self, B}};",
            "use crate::b;\nfn f(x: b::B) {}",
            "fn f(x: crate::b::B) {}",
            "fn f() { super::b::go::<u8>() }",
        ] {
            assert_eq!(
                uses(&[("lib.rs", "mod a; mod b;"), ("a.rs", text), ("b.rs", "")]),
                ["a.rs b.rs"],
                "{text}"
            );
        }
        for text in [
            "use b::B;",
            "// crate::b::B",
            "use crate::b;",
            "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}",
        ] {
            assert_eq!(uses(&[("lib.rs", "mod a; mod b;"), ("a.rs", text), ("b.rs", "")]).len(), 0, "{text}");
        }
    }

    #[test]
    fn a_re_export_leads_to_the_file_that_has_the_item() {
        let root = "mod a; mod b;\npub use b::{B, inner::C};";
        let files =
            |text| [("lib.rs", root), ("a.rs", text), ("b/mod.rs", "pub mod inner;"), ("b/inner.rs", "")];
        assert_eq!(uses(&files("use crate::B;")), ["a.rs b/mod.rs"]);
        assert_eq!(uses(&files("use crate::C;")), ["a.rs b/inner.rs"]);
        assert_eq!(uses(&files("use crate::Own;")), ["a.rs lib.rs"]);
        let uses_its_export = [("lib.rs", "mod b;\npub use b::B;\nfn f(x: B) {}"), ("b.rs", "")];
        assert_eq!(uses(&uses_its_export), ["lib.rs b.rs"]);
    }

    #[test]
    fn inline_modules_belong_to_their_file() {
        let text = "mod inner {\n use super::super::b::B;\n use super::Own;\n}\nstruct Own;";
        assert_eq!(uses(&[("lib.rs", "mod a; mod b;"), ("a.rs", text), ("b.rs", "")]), ["a.rs b.rs"]);
    }
}
