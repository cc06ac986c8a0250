//! Writes the report files of `check`.

use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};

use agentwire_conformance::{Format, Report};
use anyhow::{Context as _, Result};

use super::arguments::ReportFiles;

/// Fails before the run if a report, or the file `beside`, cannot be written after it.
pub(super) fn expect_writable(files: &ReportFiles, beside: Option<&Path>) -> Result<()> {
    let paths = wanted(files).into_iter().filter_map(|(path, _)| path.as_deref());
    paths.chain(beside).try_for_each(|path| {
        let is_new = !path.exists();
        if !is_new && !path.is_file() && !path.is_dir() {
            // The reader of a pipe would see this test as the end of the pipe.
            return Ok(());
        }
        create_folder(path)?;
        let opened = OpenOptions::new().append(true).create(true).open(path);
        opened.with_context(|| path.display().to_string())?;
        if is_new {
            fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
        Ok(())
    })
}

/// Writes each report that was asked for.
pub(super) fn write(files: &ReportFiles, reports: &[Report]) -> Result<()> {
    for (path, format) in wanted(files) {
        if let Some(path) = path {
            write_file(path, &format.render(reports))?;
        }
    }
    Ok(())
}

fn wanted(
    ReportFiles { json_file, junit, sarif, markdown, html }: &ReportFiles,
) -> [(&Option<PathBuf>, Format); 5] {
    [
        (json_file, Format::Json),
        (junit, Format::Junit),
        (sarif, Format::Sarif),
        (markdown, Format::Markdown),
        (html, Format::Html),
    ]
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    create_folder(path)?;
    fs::write(path, text).with_context(|| path.display().to_string())
}

fn create_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())
}
