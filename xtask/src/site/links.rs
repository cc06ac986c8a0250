//! Checks the links of the Markdown itself, without building the site: each leads to a file, or to a heading of a page.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

use super::markdown::{headings, replace_destinations};
use super::stage::{Texts, join};

/// Checks that each link with a fragment leads to a heading. That each file exists was checked when the pages were staged.
/// Returns the number of such links.
///
/// # Errors
///
/// When links are broken; each is named, with its page.
pub(super) fn check(texts: &Texts) -> Result<usize> {
    let ids: BTreeMap<&str, BTreeSet<String>> =
        texts.iter().map(|(page, text)| (page.as_str(), ids(text))).collect();
    let (mut count, mut broken) = (0, Vec::new());
    for (page, text) in texts {
        replace_destinations(text, |link| {
            let Some((path, fragment)) = link.split_once('#').filter(|_| !link.contains("://")) else {
                return Ok(None);
            };
            let target = if path.is_empty() { page.clone() } else { join(page, path) };
            // A fragment of a file that is not a page is a line of code.
            if let Some(ids) = ids.get(target.as_str()) {
                count += 1;
                if !ids.contains(fragment) {
                    broken.push(format!("{page}: `{link}` names a heading that the page does not have"));
                }
            }
            Ok(None)
        })?;
    }
    if !broken.is_empty() {
        bail!("{} links are broken:\n{}", broken.len(), broken.join("\n"));
    }
    Ok(count)
}

/// The ids that mdBook and GitHub give to the headings of a page, and those that its HTML sets.
fn ids(text: &str) -> BTreeSet<String> {
    let mut ids: BTreeSet<String> = BTreeSet::new();
    for heading in headings(text) {
        let id = id(heading);
        let mut unique = id.clone();
        let mut number = 0;
        while ids.contains(&unique) {
            number += 1;
            unique = format!("{id}-{number}");
        }
        ids.insert(unique);
    }
    let set = text.split(" id=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    ids.extend(set.map(|(id, _)| id.to_owned()));
    ids
}

/// Letters, digits, `_` and `-` of a heading in lower case, with `-` for each space. Links count by their text.
fn id(heading: &str) -> String {
    let mut plain = String::new();
    let mut rest = heading;
    while let Some((before, link)) = rest.split_once("](") {
        plain += before;
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    plain += rest;
    let kept = plain.trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[(&str, &str)]) -> Texts {
        rows.iter().map(|(page, text)| ((*page).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn headings_get_the_ids_of_the_site() {
        let rows = [
            ("How do I …?", "how-do-i-"),
            ("`Server::state` and [a link](x.md#y)", "serverstate-and-a-link"),
            ("Grüße, A_b-c", "grüße-a_b-c"),
        ];
        for (heading, expected) in rows {
            assert_eq!(id(heading), expected);
        }
        let page = "# A\n\n## A\n```\n# no\n```\n<a id=\"here\"></a>";
        assert_eq!(ids(page).into_iter().collect::<Vec<_>>(), ["a", "a-1", "here"]);
    }

    #[test]
    fn link_to_a_missing_heading_is_named() {
        let good = [
            ("a.md", "# A\n[b](guide/b.md#b-c) [self](#a) [code](https://r.example/x#L3)"),
            ("guide/b.md", "## B c\n[a](../a.md#a)"),
        ];
        assert_eq!(check(&texts(&good)).unwrap(), 3);
        let error = check(&texts(&[("a.md", "# A\n[x](#gone)")])).unwrap_err().to_string();
        assert_eq!(error, "1 links are broken:\na.md: `#gone` names a heading that the page does not have");
    }
}
