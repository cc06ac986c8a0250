//! Prints the content of results, resources and prompts: text unchanged, and everything else as a line that describes it.

use std::io;
use std::path::PathBuf;

use agentwire_mcp_client::BoxError;
use agentwire_mcp_client::schema::{ContentBlock, ResourceContents, ResourceLink};
use serde::Serialize;

use crate::failure::{Exit, Failure, Usage};
use crate::output::list_line::row;
use crate::output::text;
use crate::output::{Member, print_json};
use crate::save::{FILES_LIMIT, Saved, Saver, decode};

/// The most bytes of a name, a URI and a media type that are shown: 4 KiB each.
const PART_LIMIT: usize = 4 << 10;

/// The outcome of printing. It is not an `anyhow::Error`, whose causes have no type: a closed stdout would be reported as a
/// failure.
pub(crate) type Result<T> = std::result::Result<T, BoxError>;

/// Prints content, and saves files with `--save`.
pub(crate) struct Printer {
    json: bool,
    saver: Option<Saver>,
    /// The error of the first part that could not be saved. Later parts are still printed and saved.
    fault: Option<String>,
}

impl Printer {
    /// Creates the directory of `--save`.
    ///
    /// # Errors
    ///
    /// [`Usage`] if the directory cannot be created.
    pub(crate) fn new(json: bool, directory: Option<PathBuf>) -> std::result::Result<Self, Usage> {
        let saver = match directory {
            Some(directory) => {
                let failed = |why| Usage(format!("--save {}: {why}", directory.display()));
                Some(Saver::new(directory.clone()).map_err(failed)?)
            }
            None => None,
        };
        Ok(Self { json, saver, fault: None })
    }

    /// Prints the blocks of a result. With JSON, the result is printed already, and this prints only the names of saved files.
    pub(crate) fn blocks(&mut self, blocks: &[ContentBlock]) -> Result<()> {
        blocks.iter().try_for_each(|block| self.block(block))
    }

    pub(crate) fn block(&mut self, block: &ContentBlock) -> Result<()> {
        match block {
            ContentBlock::Text(content) => Ok(self.print(&content.text)?),
            ContentBlock::Image(image) => {
                self.file("an image", "image", None, Some(&image.mime_type), &image.data)
            }
            ContentBlock::Audio(audio) => {
                self.file("a sound", "sound", None, Some(&audio.mime_type), &audio.data)
            }
            ContentBlock::ResourceLink(link) => Ok(self.line(&link_line(link))?),
            ContentBlock::Resource(embedded) => {
                if let ResourceContents::Text(_) = embedded.resource {
                    self.line(&format!("[{}]", about("a resource", &embedded.resource)))?;
                }
                self.resource(&embedded.resource)
            }
            _ if self.json => Ok(()),
            other => Ok(print_json(other)?),
        }
    }

    /// Prints a resource: its text, or a line about its bytes.
    pub(crate) fn resource(&mut self, contents: &ResourceContents) -> Result<()> {
        match contents {
            // A file ends with a line break, and printing adds one.
            ResourceContents::Text(text) => {
                Ok(self.print(text.text.strip_suffix('\n').unwrap_or(&text.text))?)
            }
            ResourceContents::Blob(blob) => {
                let about = about("a file", contents);
                self.file(&about, "file", Some(&blob.uri), blob.mime_type.as_deref(), &blob.blob)
            }
            _ if self.json => Ok(()),
            other => Ok(print_json(other)?),
        }
    }

    /// Saves the text of a resource too: `read --save` is for the whole resource.
    pub(crate) fn save_resource(&mut self, contents: &ResourceContents) -> Result<()> {
        match contents {
            ResourceContents::Text(text) if self.saver.is_some() => {
                let mime_type = text.mime_type.as_deref().or(Some("text/plain"));
                let about = about("a text", contents);
                self.save(&about, "file", Some(&text.uri), mime_type, text.text.as_bytes())
            }
            contents => self.resource(contents),
        }
    }

    /// Fails if `--save` had nothing to save, or could not save everything.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if let Some(why) = self.fault.take() {
            return Err(Failure::new(Exit::Failed, why).into());
        }
        match &self.saver {
            Some(saver) if saver.count() == 0 => {
                let why = "nothing was saved: there is no image, sound or other file in the result";
                Err(Failure::new(Exit::Failed, why).into())
            }
            _ => Ok(()),
        }
    }

    /// A file in base64: saves it, or prints its description.
    fn file(
        &mut self,
        about: &str,
        kind: &str,
        uri: Option<&str>,
        mime_type: Option<&str>,
        base64: &str,
    ) -> Result<()> {
        let about = match uri {
            Some(_) => about.to_owned(),
            None => format!("{about}, {}", part(mime_type.unwrap_or_default())),
        };
        match (decode(base64), &self.saver) {
            (Some(bytes), Some(_)) => self.save(&about, kind, uri, mime_type, &bytes),
            (None, Some(_)) => self.not_saved(&about, "it is not base64"),
            (Some(bytes), None) => Ok(self.line(&format!("[{about}, {} bytes]", bytes.len()))?),
            (None, None) => Ok(self.line(&format!("[{about}, which is not base64]"))?),
        }
    }

    fn not_saved(&mut self, about: &str, cause: &str) -> Result<()> {
        let why = text::one_line(&format!("{about}: it is not saved, because {cause}"));
        self.line(&format!("[{why}]"))?;
        self.fault.get_or_insert(why);
        Ok(())
    }

    fn save(
        &mut self,
        about: &str,
        kind: &str,
        uri: Option<&str>,
        mime_type: Option<&str>,
        bytes: &[u8],
    ) -> Result<()> {
        let Some(saver) = &mut self.saver else { return Ok(()) };
        if saver.is_full() {
            return self.not_saved(about, &format!("a result may have {FILES_LIMIT} files"));
        }
        let saved = match saver.save(kind, uri, mime_type, bytes) {
            Ok(saved) => saved,
            Err(why) => return self.not_saved(about, &why.to_string()),
        };
        if self.json {
            return Ok(print_json(&Member("saved", &SavedFile::new(&saved, mime_type)))?);
        }
        let Saved { path, bytes } = saved;
        Ok(text::print_line(&format!("[{about}, {bytes} bytes, saved as {}]", path.display()))?)
    }

    fn print(&self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { text::print(text) }
    }

    fn line(&self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { text::print_line(text) }
    }
}

/// A saved file as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SavedFile<'a> {
    path: String,
    mime_type: Option<&'a str>,
    bytes: usize,
}

impl<'a> SavedFile<'a> {
    fn new(saved: &Saved, mime_type: Option<&'a str>) -> Self {
        Self { path: saved.path.display().to_string(), mime_type, bytes: saved.bytes }
    }
}

/// A link as one line: `[name](uri), text/plain, 3 bytes  Title: description`.
fn link_line(link: &ResourceLink) -> String {
    let more = [link.mime_type.as_deref().map(part), link.size.map(|size| format!("{size} bytes"))];
    let more = more.into_iter().flatten().map(|more| format!(", {more}")).collect::<String>();
    let line = format!("[{}]({}){more}", part(&link.name), part(&link.uri));
    let title = link.title.as_deref().filter(|title| *title != link.name);
    let description = link.description.as_deref().filter(|text| *text != link.name && Some(*text) != title);
    match title {
        Some(title) => row(&format!("{line}  {}", part(title)), ": ", description),
        None => row(&line, ": ", description),
    }
}

/// The description of a resource: a noun, its URI, and its media type if it has one.
fn about(noun: &str, contents: &ResourceContents) -> String {
    let mime_type =
        contents.mime_type().map(|mime_type| format!(", {}", part(mime_type))).unwrap_or_default();
    format!("{noun}, {}{mime_type}", part(contents.uri()))
}

/// A name, a URI or a media type within a line.
fn part(text: &str) -> String {
    text::beginning(text, PART_LIMIT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_directory_that_cannot_be_made_is_wrong_usage() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let Err(Usage(why)) = Printer::new(false, Some(file.join("x"))) else { panic!("it is made") };
        assert!(why.starts_with(&format!("--save {}: ", file.join("x").display())), "{why}");
    }

    #[test]
    fn link_shows_its_title_and_its_description_once_each() {
        let line = |link: serde_json::Value| link_line(&serde_json::from_value(link).unwrap());
        let bare = json!({ "name": "n", "uri": "file:///n", "mimeType": "text/plain", "size": 3 });
        let with = |members: serde_json::Value| {
            let mut link = bare.clone();
            link.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
            line(link)
        };
        let start = "[n](file:///n), text/plain, 3 bytes";
        assert_eq!(line(bare.clone()), start);
        assert_eq!(with(json!({ "title": "N", "description": "It is\nn" })), format!("{start}  N: It is"));
        assert_eq!(with(json!({ "title": "N", "description": "N" })), format!("{start}  N"));
        assert_eq!(with(json!({ "title": "n", "description": "d\u{1b}" })), format!("{start}: d^["));
    }

    #[test]
    fn a_file_that_cannot_be_saved_does_not_keep_others_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let blocks: Vec<ContentBlock> = serde_json::from_value(json!([
            { "type": "image", "mimeType": "image/png", "data": "***" },
            { "type": "image", "mimeType": "image/png", "data": "AAEC" },
        ]))
        .unwrap();
        let mut printer = Printer::new(true, Some(folder.path().to_owned())).unwrap();
        printer.blocks(&blocks).unwrap();
        assert_eq!(std::fs::read(folder.path().join("image.png")).unwrap(), [0, 1, 2]);
        let why = printer.finish().unwrap_err().to_string();
        assert_eq!(why, "an image, image/png: it is not saved, because it is not base64");
    }

    #[test]
    fn files_of_one_result_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let image = json!({ "type": "image", "mimeType": "image/png", "data": "AAEC" });
        let blocks: Vec<ContentBlock> = serde_json::from_value(vec![image; FILES_LIMIT + 5].into()).unwrap();
        let mut printer = Printer::new(true, Some(folder.path().to_owned())).unwrap();
        printer.blocks(&blocks).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), FILES_LIMIT);
        let why = printer.finish().unwrap_err().to_string();
        assert_eq!(why, "an image, image/png: it is not saved, because a result may have 1000 files");
    }
}
