//! Copies the pages of `docs/SUMMARY.md` to where mdBook reads them.
//!
//! The Markdown in the repository links to files of the repository, so that it can be read there. Here a link gets the form
//! that it needs in the site: to another page, to a copy of a picture or a schema, or to the repository on the web.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::markdown::replace_destinations;
use super::repository::Repository;

const SUMMARY: &str = "docs/SUMMARY.md";
/// The settings and the styles.
const SETTINGS: [&str; 2] = ["book.toml", "site.css"];
/// In the settings, the place of the repository's address.
const ADDRESS: &str = "{repository}";

/// Files with these endings are copied into the site when a page links to them.
const COPIED: [&str; 3] = [".json", ".png", ".svg"];

/// The pages of the site: the path of each in the repository, and in the site's source.
type Pages = BTreeMap<String, String>;

/// The texts of pages, by their paths in the site's source.
pub(super) type Texts = BTreeMap<String, String>;

/// Writes the source of the site into a folder, and returns its pages by their paths in that source.
pub(super) fn pages(repository: &Repository, book: &Path) -> Result<Texts> {
    if book.exists() {
        fs::remove_dir_all(book)?;
    }
    let read = |path: &str| fs::read_to_string(repository.root.join(path)).with_context(|| path.to_owned());
    let summary = read(SUMMARY)?;
    let mut pages = Pages::new();
    replace_destinations(&summary, |link| {
        let path = resolve(SUMMARY, link).with_context(|| format!("{SUMMARY}: `{link}` is outside"))?;
        pages.insert(path.clone(), place(&path));
        Ok(None)
    })?;
    let write = |path: &str, text: &[u8]| -> Result<()> {
        let file = book.join(path);
        fs::create_dir_all(file.parent().context("a file is in a folder")?)?;
        Ok(fs::write(file, text)?)
    };
    for name in SETTINGS {
        let settings = read(&format!("docs/site/{name}"))?.replace(ADDRESS, &repository.url);
        write(name, settings.as_bytes())?;
    }
    let copied = RefCell::new(BTreeSet::new());
    let with_links = |path: &str, place: &str, text: &str| {
        replace_destinations(text, |link| {
            let target = Target::of(repository, &pages, path, link)?;
            if let Target::Copy(path) = &target {
                copied.borrow_mut().insert(path.clone());
            }
            Ok(target.link(repository, place))
        })
    };
    write("src/SUMMARY.md", with_links(SUMMARY, "SUMMARY.md", &summary)?.as_bytes())?;
    let mut texts = Texts::new();
    for (path, place) in &pages {
        let text = with_links(path, place, &read(path)?)?;
        write(&format!("src/{place}"), text.as_bytes())?;
        texts.insert(place.clone(), text);
    }
    for path in copied.take() {
        write(&format!("src/{}", place(&path)), &fs::read(repository.root.join(&path))?)?;
    }
    Ok(texts)
}

/// The target of a link of a page.
enum Target {
    /// It stays as it is: another site, or a place in the same page.
    Same,
    /// A page of the site, by its path in the site's source, and the fragment with its `#`.
    Page(String, String),
    /// A file that is copied, by its path in the repository.
    Copy(String),
    /// A file or a folder that the site does not have, likewise.
    Repository(String, String),
}

impl Target {
    fn of(repository: &Repository, pages: &Pages, page: &str, link: &str) -> Result<Self> {
        if link.is_empty() || link.starts_with('#') || link.contains("://") || link.starts_with("mailto:") {
            return Ok(Self::Same);
        }
        let (link, fragment) = link.split_at(link.find('#').unwrap_or(link.len()));
        let path =
            resolve(page, link).with_context(|| format!("{page}: `{link}` is outside of the repository"))?;
        if let Some(place) = pages.get(&path) {
            return Ok(Self::Page(place.clone(), fragment.to_owned()));
        }
        if !repository.root.join(&path).exists() {
            bail!("{page}: `{link}` leads to nothing");
        }
        Ok(match COPIED.iter().any(|ending| path.ends_with(ending)) {
            true => Self::Copy(path),
            false => Self::Repository(path, fragment.to_owned()),
        })
    }

    /// The link in the page at a place in the site's source. `None` if it does not change.
    fn link(&self, repository: &Repository, from: &str) -> Option<String> {
        match self {
            Self::Same => None,
            Self::Page(place, fragment) => Some(relative(from, place) + fragment),
            Self::Copy(path) => Some(relative(from, &place(path))),
            Self::Repository(path, fragment) => {
                let kind = if repository.root.join(path).is_dir() { "tree" } else { "blob" };
                Some(format!("{}/{kind}/main/{path}{fragment}", repository.url))
            }
        }
    }
}

/// The path of a file of the repository in the site: guides and the reference are at its top, and a folder's page is its index.
fn place(path: &str) -> String {
    let place = ["docs/", ".github/"].iter().find_map(|folder| path.strip_prefix(folder)).unwrap_or(path);
    match place.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => place.to_owned(),
    }
}

/// The page of the site's source to which a relative link of another leads.
pub(super) fn join(page: &str, link: &str) -> String {
    resolve(page, link).unwrap_or_default()
}

/// The path to which a relative link in a file leads. `None` if it is above the repository.
fn resolve(file: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            ".." => drop(parts.pop()?),
            "." => {}
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The relative link from one file to another.
fn relative(from: &str, to: &str) -> String {
    let folder = |path: &str| path.split('/').rev().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let (mut from, mut to_folder) = (folder(from), folder(to));
    while from.last().is_some() && from.last() == to_folder.last() {
        from.pop();
        to_folder.pop();
    }
    let name = to.rsplit('/').next().unwrap_or(to);
    let up = from.iter().map(|_| "../");
    up.collect::<String>() + &to_folder.iter().rev().map(|part| format!("{part}/")).collect::<String>() + name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> (tempfile::TempDir, Repository) {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            (
                "README.md",
                "[guide](docs/guide/a.md#b) [code](crates/x) [file](crates/x/y.rs#L3) [out](https://a.example/)",
            ),
            ("docs/SUMMARY.md", "[Home](../README.md)\n\n- [A](guide/a.md)\n- [How](../.github/HOW.md)\n"),
            ("docs/site/book.toml", "git-repository-url = \"{repository}\""),
            ("docs/site/site.css", ""),
            ("docs/guide/a.md", "# B\n\n[home](../../README.md), `[no](link)`, ![picture](../a.svg)"),
            ("docs/a.svg", "<svg/>"),
            (".github/HOW.md", "[a](../docs/guide/a.md)"),
            ("crates/x/y.rs", ""),
        ];
        for (path, text) in files {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let repository =
            Repository { root: folder.path().to_owned(), url: "https://r.example/o/r".to_owned() };
        (folder, repository)
    }

    #[test]
    fn links_get_the_form_that_the_site_needs() {
        let (folder, repository) = repository();
        let book = folder.path().join("book");
        let pages = pages(&repository, &book).unwrap();
        assert_eq!(pages.into_keys().collect::<Vec<_>>(), ["HOW.md", "guide/a.md", "index.md"]);
        let rows = [
            ("SUMMARY.md", "[Home](index.md)\n\n- [A](guide/a.md)\n- [How](HOW.md)\n"),
            (
                "index.md",
                "[guide](guide/a.md#b) [code](https://r.example/o/r/tree/main/crates/x) \
                 [file](https://r.example/o/r/blob/main/crates/x/y.rs#L3) [out](https://a.example/)",
            ),
            ("guide/a.md", "# B\n\n[home](../index.md), `[no](link)`, ![picture](../a.svg)"),
            ("HOW.md", "[a](guide/a.md)"),
            ("a.svg", "<svg/>"),
            ("../book.toml", "git-repository-url = \"https://r.example/o/r\""),
        ];
        for (path, expected) in rows {
            assert_eq!(fs::read_to_string(book.join("src").join(path)).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn a_link_to_nothing_is_refused_with_its_page() {
        let rows = [("gone.md", "leads to nothing"), ("../../../x.md", "is outside of the repository")];
        for (link, expected) in rows {
            let (folder, repository) = repository();
            fs::write(folder.path().join("docs/guide/a.md"), format!("[x]({link})")).unwrap();
            let error = pages(&repository, &folder.path().join("book")).unwrap_err().to_string();
            assert_eq!(error, format!("docs/guide/a.md: `{link}` {expected}"));
        }
    }
}
