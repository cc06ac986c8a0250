//! The files that `check` writes.

use std::fs;
use std::path::Path;

use agentwire_conformance::{Format, Report};
use anyhow::{Context as _, Result};

use super::arguments::ReportFiles;

/// Writes each report that was asked for.
pub(super) fn write(files: &ReportFiles, reports: &[Report]) -> Result<()> {
    let ReportFiles { json_file, junit, sarif, markdown, html } = files;
    for (path, format) in [
        (json_file, Format::Json),
        (junit, Format::Junit),
        (sarif, Format::Sarif),
        (markdown, Format::Markdown),
        (html, Format::Html),
    ] {
        if let Some(path) = path {
            write_file(path, &format.render(reports))?;
        }
    }
    Ok(())
}

pub(super) fn write_file(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    fs::write(path, text).with_context(|| path.display().to_string())
}
