//! Checks the links of a site: each leads to a file of it, to an id of a page, or to a file of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::repository::Repository;

/// The links of a site, none of them broken.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// The number of links to a file of the site.
    pub(super) within: usize,
    /// The number of these that name an id.
    pub(super) fragments: usize,
    /// The number of links to a file or folder of the repository on the web.
    pub(super) repository: usize,
    /// Links to other sites, which are not checked.
    pub(super) external: BTreeSet<String>,
}

/// The parts of a page that matter here.
#[derive(Default)]
struct Page {
    ids: BTreeSet<String>,
    links: Vec<String>,
}

/// Checks every page in a folder.
///
/// # Errors
///
/// When links are broken; each is named, with its page.
pub(super) fn check(repository: &Repository, site: &Path) -> Result<Links> {
    let mut files = BTreeSet::new();
    list(site, &mut files)?;
    let html = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "html"));
    let pages = html.map(|file| Ok((file.clone(), parse(&fs::read_to_string(file)?)?)));
    let pages: BTreeMap<PathBuf, Page> = pages.collect::<Result<_>>()?;
    let (mut links, mut broken) = (Links::default(), Vec::new());
    for (file, page) in &pages {
        for link in &page.links {
            if let Err(why) = links.add(repository, site, &files, &pages, file, link) {
                broken.push(format!("{}: `{link}` {why}", file.strip_prefix(site)?.display()));
            }
        }
    }
    if !broken.is_empty() {
        bail!("{} links are broken:\n{}", broken.len(), broken.join("\n"));
    }
    Ok(links)
}

impl Links {
    /// Counts a link.
    ///
    /// # Errors
    ///
    /// Why it is broken.
    fn add(
        &mut self,
        repository: &Repository,
        site: &Path,
        files: &BTreeSet<PathBuf>,
        pages: &BTreeMap<PathBuf, Page>,
        file: &Path,
        link: &str,
    ) -> Result<(), &'static str> {
        if let Some(path) = link.strip_prefix(&repository.url) {
            let path = path.split(['#', '?']).next().unwrap_or(path);
            if let Some(path) = path.strip_prefix("/blob/main/").or_else(|| path.strip_prefix("/tree/main/"))
            {
                self.repository += 1;
                return repository
                    .root
                    .join(path)
                    .exists()
                    .then_some(())
                    .ok_or("is not a file of the repository");
            }
        }
        if link.starts_with("data:") {
            return Ok(());
        }
        if link.contains("://") || link.starts_with("mailto:") {
            self.external.insert(link.to_owned());
            return Ok(());
        }
        self.within += 1;
        let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
        let path = path.split('?').next().unwrap_or(path);
        let target = match path {
            "" => Some(file.to_owned()),
            path => resolve(site, file, path),
        };
        let target = target.filter(|target| files.contains(target)).ok_or("is not a file of the site")?;
        if fragment.is_empty() {
            return Ok(());
        }
        self.fragments += 1;
        let page = pages.get(&target).ok_or("names a place in what is not a page")?;
        page.ids.contains(fragment).then_some(()).ok_or("names a place that the page does not have")
    }
}

/// The file to which a relative link leads; a folder's is its `index.html`.
fn resolve(site: &Path, file: &Path, link: &str) -> Option<PathBuf> {
    let mut path = file.parent()?.to_owned();
    for part in link.split('/') {
        match part {
            ".." if path == site => return None,
            ".." => drop(path.pop()),
            "." | "" => {}
            name => path.push(name),
        }
    }
    Some(if path.is_dir() { path.join("index.html") } else { path })
}

fn parse(html: &str) -> Result<Page> {
    let mut emitter = DefaultEmitter::default();
    // So that a script's text is not markup.
    emitter.naively_switch_states(true);
    let mut page = Page::default();
    for token in Tokenizer::new_with_emitter(html, emitter) {
        let Token::StartTag(tag) = token.map_err(|never| match never {})? else { continue };
        for (name, value) in &tag.attributes {
            let value = String::from_utf8_lossy(value).into_owned();
            match name.as_slice() {
                b"id" => drop(page.ids.insert(value)),
                b"href" | b"src" => page.links.push(value),
                _ => {}
            }
        }
    }
    Ok(page)
}

fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        match path.is_dir() {
            true => list(&path, files)?,
            false => drop(files.insert(path)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a site of `index.html` with this body, `a/b.html` with the id `here`, and a picture.
    fn checked(body: &str) -> Result<Links> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("a"))?;
        fs::write(folder.path().join("index.html"), body)?;
        fs::write(folder.path().join("a/b.html"), "<h2 id=here>B</h2><a href='../index.html'>home</a>")?;
        fs::write(folder.path().join("a/c.svg"), "<svg/>")?;
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        check(&Repository { root, url: "https://r.example/o/r".to_owned() }, folder.path())
    }

    #[test]
    fn links_that_lead_somewhere_are_counted() {
        let body = r##"<h1 id="top">A</h1> <a href="#top">top</a> <a href='a/b.html#here'>b</a> <img src="a/c.svg">
            <a href="https://r.example/o/r/blob/main/README.md#x">file</a> <a href="https://r.example/o/r/tree/main/docs">docs</a>
            <a href="https://a.example/?b&amp;c">other</a> <a href="https://r.example/o/r/issues">issues</a>
            <script>"<a href='gone.html'>"</script> <!-- <a href="gone.html"> --> <img src="data:,">"##;
        let links = checked(body).unwrap();
        assert_eq!((links.within, links.fragments, links.repository), (4, 2, 2));
        let external: Vec<_> = links.external.iter().map(String::as_str).collect();
        assert_eq!(external, ["https://a.example/?b&c", "https://r.example/o/r/issues"]);
    }

    #[test]
    fn each_kind_of_broken_link_is_named() {
        let rows = [
            (r#"<a href="gone.html">"#, "`gone.html` is not a file of the site"),
            (r#"<a href="a/gone.html#here">"#, "`a/gone.html#here` is not a file of the site"),
            (r#"<a href="../index.html">"#, "`../index.html` is not a file of the site"),
            (r#"<img src="a/d.svg">"#, "`a/d.svg` is not a file of the site"),
            (r##"<a href="#gone">"##, "`#gone` names a place that the page does not have"),
            (r#"<a href="a/b.html#gone">"#, "`a/b.html#gone` names a place that the page does not have"),
            (r#"<a href="a/c.svg#x">"#, "`a/c.svg#x` names a place in what is not a page"),
            (
                r#"<a href="https://r.example/o/r/blob/main/gone.rs">"#,
                "`https://r.example/o/r/blob/main/gone.rs` is not a file of the repository",
            ),
        ];
        for (body, expected) in rows {
            let error = checked(body).unwrap_err().to_string();
            assert_eq!(error, format!("1 links are broken:\nindex.html: {expected}"));
        }
    }
}
