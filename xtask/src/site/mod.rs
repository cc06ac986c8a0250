//! `cargo xtask site`: builds the pages of `docs/SUMMARY.md` as a site with mdBook, and checks every link in it.
//!
//! ```text
//! docs/SUMMARY.md ─ pages ─▶ target/book/src ─ mdbook ─▶ target/site ─ check
//! ```

mod check;
mod links;
mod markdown;
mod repository;
mod stage;

use std::fs;
use std::path::Path;
use std::process::Command;

use agentwire_test_support::{cargo, packages, process};
use anyhow::{Result, bail};

use self::repository::Repository;

/// The version of mdBook. Another one writes other HTML.
const MDBOOK: &str = "0.5.4";

const USAGE: &str = "\
cargo xtask site [--links | --list-external]

Builds the site of the documentation into `target/site`, and checks that each link in it leads somewhere: to a file of the site,
to an id of a page, or to a file of the repository. Installs mdBook into `target/mdbook` the first time.

  --links          only check the links of the Markdown, to files and to headings, without mdBook
  --list-external  print the links to other sites, which are not fetched";

pub(crate) fn run(root: &Path, mut arguments: lexopt::Parser) -> Result<()> {
    use lexopt::prelude::*;
    let (mut list_external, mut only_links) = (false, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("links") => only_links = true,
            Long("list-external") => list_external = true,
            Long("help") | Short('h') => bail!("{USAGE}"),
            other => bail!("{}\n\n{USAGE}", other.unexpected()),
        }
    }
    let target = cargo::target(root)?;
    let repository = Repository::at(root)?;
    let (book, site) = (target.join("book"), target.join("site"));
    let pages = stage::pages(&repository, &book)?;
    let fragments = links::check(&pages)?;
    if only_links {
        println!("{} pages: each link leads to a file, {fragments} of them to a heading", pages.len());
        return Ok(());
    }
    packages::cargo(&target.join("mdbook"), "mdbook", MDBOOK, &["search"])?;
    build(&target.join("mdbook/bin/mdbook"), &book, &site)?;
    let links = check::check(&repository, &site)?;
    if list_external {
        links.external.iter().for_each(|url| println!("{url}"));
    }
    println!(
        "{} pages in {}: {} links within the site, {} of them to a place in a page; {} to files of the repository. \
         {} links to other sites were not fetched; `--list-external` prints them.",
        pages.len(),
        site.display(),
        links.within,
        links.fragments,
        links.repository,
        links.external.len(),
    );
    Ok(())
}

fn build(mdbook: &Path, book: &Path, site: &Path) -> Result<()> {
    if site.exists() {
        fs::remove_dir_all(site)?;
    }
    process::output(Command::new(mdbook).arg("build").arg(book).arg("--dest-dir").arg(site))?;
    Ok(())
}
