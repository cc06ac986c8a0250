//! Tables of programs whose arguments run other programs, write files or load settings. A rule that allows such a program
//! allows these arguments only if it names them.

mod build_tools;
mod files_and_network;
mod interpreters;
mod row;
mod runners;
mod sed_script;
mod tests_and_linters;
mod version_control;

#[cfg(test)]
mod kind_tests;
#[cfg(test)]
mod sed_tests;
#[cfg(test)]
mod tests;

use row::Row;
use runners::RUNNERS;

/// The programs whose first argument is a cluster of options even without a dash.
const BARE_CLUSTERS: &[&str] = &["tar", "bsdtar", "gtar"];

/// The most words that are read of a command whose first program runs others: the time grows with their square.
const WORD_LIMIT: usize = 1_024;

/// The rows of all programs but those that run their operand.
fn rows() -> impl Iterator<Item = &'static Row> {
    let tables = [
        version_control::ROWS,
        interpreters::ROWS,
        build_tools::ROWS,
        tests_and_linters::ROWS,
        files_and_network::ROWS,
    ];
    tables.into_iter().flatten()
}

/// Returns the indices of the words that run programs, write files or load settings. `named` is the number of first words
/// that a rule names. Words beyond it count up to the program that a runner such as `env` starts.
pub(super) fn arguments_to_name(words: &[String], named: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut starts, mut seen) = (vec![0], vec![false; words.len()]);
    while let Some(start) = starts.pop() {
        let Some(first) = words.get(start) else { continue };
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let program = name_of(first);
        let runner = RUNNERS.iter().find(|row| row.is_for(&program));
        if runner.is_none() && !is_assignment(first) {
            found.extend(arguments_of(&program, words, start + 1));
            continue;
        }
        if matches!(&words[start + 1..], [only] if matches!(only.as_str(), "--version" | "--help")) {
            continue;
        }
        if words.len() > WORD_LIMIT {
            return (named..words.len()).collect();
        }
        let programs = programs_of(&program, runner, words, start + 1);
        let end = programs.first().map_or(words.len(), |program| program + 1);
        found.extend((start + 1..end).filter(|at| *at >= named));
        starts.extend(programs);
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the indices, from `from` on, of the programs that a runner may start: the first candidate, and the next one
/// while the last may be the value of an option.
fn programs_of(program: &str, runner: Option<&Row>, words: &[String], from: usize) -> Vec<usize> {
    // The words before a program are options with their values, variables and numbers.
    let is_before = |at: usize| {
        let word = &words[at];
        let is_value = at > from && runner.is_some_and(|runner| runner.takes_next(&words[at - 1]));
        is_value
            || word.starts_with('-')
            || is_assignment(word)
            || program == "env" && word.contains('=')
            || !word.contains(char::is_alphabetic)
    };
    let mut programs = Vec::new();
    let mut at = from;
    while at < words.len() {
        if !is_before(at) {
            programs.push(at);
            if at == from || !runner.is_some_and(|runner| runner.may_take_next(&words[at - 1])) {
                break;
            }
        }
        at += 1;
    }
    programs
}

/// Returns the indices, from `from` on, of the arguments that the rows of a program list.
fn arguments_of(program: &str, words: &[String], from: usize) -> Vec<usize> {
    let has_bare_cluster = BARE_CLUSTERS.contains(&program);
    let rows = rows().filter(|row| row.is_for(program));
    let mut found: Vec<usize> = rows.flat_map(|row| row.find(words, from, has_bare_cluster)).collect();
    if matches!(program, "sed" | "gsed") {
        found.extend(sed_script::running_words(words, from));
    }
    found
}

/// Returns the name of a program as in the tables. The program may be given by its path.
fn name_of(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let ends = [".exe", ".cmd", ".bat", ".com"];
    let stem = ends.iter().find_map(|end| {
        let at = name.len().checked_sub(end.len())?;
        name.get(at..)?.eq_ignore_ascii_case(end).then(|| name[..at].to_ascii_lowercase())
    });
    let name = stem.unwrap_or_else(|| name.to_owned());
    // `python3.12` and `clang-18` are those without a version.
    let plain = name.trim_end_matches(|end: char| end.is_ascii_digit() || ".-".contains(end));
    let is_listed = |name: &str| rows().chain(RUNNERS).any(|row| row.is_for(name));
    if !is_listed(&name) && is_listed(plain) { plain.to_owned() } else { name }
}

/// Whether a word is `NAME=value` or `NAME:=value`.
fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().filter(|name| name.len() < word.len()).unwrap_or_default();
    let name = name.trim_end_matches([':', '+', '?', '!']);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
