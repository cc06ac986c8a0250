//! Builds a prompt, with the files that it names.
//!
//! `@path` at the start of a word stands for a file. A text is embedded and an image is sent if the agent supports that; any
//! other file is linked. A path with spaces is written `@"a b.txt"`. `@@`, and an `@` without a file, is a plain `@`.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use agentwire_acp_schema::v1::{EmbeddedResource, EmbeddedResourceResource};
use agentwire_mcp_client::schema::Root;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// The largest text that is embedded: 1 MiB. A larger one is linked.
const TEXT_LIMIT: u64 = 1 << 20;

/// The largest image that is sent: 8 MiB. A larger one is linked.
const IMAGE_LIMIT: u64 = 8 << 20;

/// The kinds of content that the agent takes beside text and links.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::chat) struct PromptSupport {
    pub(in crate::chat) image: bool,
    pub(in crate::chat) embedded: bool,
}

/// One part of a prompt, before it becomes a content block of a version of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::chat) enum Piece {
    Text(String),
    /// A text file.
    Embedded {
        uri: String,
        text: String,
    },
    /// An image. `data` is base64.
    Image {
        uri: String,
        mime_type: &'static str,
        data: String,
    },
    Link {
        uri: String,
        name: String,
    },
}

/// A prompt, and remarks on it for the person.
#[derive(Clone, Debug, Default)]
pub(in crate::chat) struct Prompt {
    pub(in crate::chat) pieces: Vec<Piece>,
    pub(in crate::chat) notes: Vec<String>,
}

impl Prompt {
    /// A text without files.
    pub(in crate::chat) fn plain(text: String) -> Self {
        Self { pieces: vec![Piece::Text(text)], notes: Vec::new() }
    }

    /// Reads a text in which files may be named, relative to `folder`.
    pub(in crate::chat) fn read(text: &str, folder: &Path, takes: PromptSupport) -> Self {
        let mut prompt = Self::default();
        let (mut plain, mut rest, mut in_word) = (String::new(), text, false);
        while let Some(character) = rest.chars().next() {
            if character == '@' && !in_word {
                if let Some(after) = rest.strip_prefix("@@") {
                    plain.push('@');
                    (rest, in_word) = (after, true);
                    continue;
                }
                let (path, after) = path(&rest[1..]);
                if !path.is_empty() {
                    match piece(&folder.join(path), takes) {
                        Ok(piece) => {
                            prompt.add_text(&mut plain);
                            prompt.pieces.push(piece);
                        }
                        Err(why) => {
                            prompt.notes.push(format!("@{path}: {why}; it is sent as text"));
                            plain.push_str(&rest[..rest.len() - after.len()]);
                        }
                    }
                    rest = after;
                    continue;
                }
            }
            in_word = !character.is_whitespace();
            plain.push(character);
            rest = &rest[character.len_utf8()..];
        }
        prompt.add_text(&mut plain);
        prompt
    }

    /// Adds a text unchanged, after an empty line.
    pub(in crate::chat) fn join(&mut self, text: String) {
        match self.pieces.last_mut() {
            Some(Piece::Text(last)) => {
                last.push_str("\n\n");
                last.push_str(&text);
            }
            _ => self.pieces.push(Piece::Text(text)),
        }
    }

    fn add_text(&mut self, text: &mut String) {
        if !text.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(text)));
        }
    }
}

/// Splits a text after the path at its start. Punctuation at the path's end is not part of it.
fn path(text: &str) -> (&str, &str) {
    if let Some(quoted) = text.strip_prefix('"')
        && let Some((path, after)) = quoted.split_once('"')
    {
        return (path, after);
    }
    let word = text.split(char::is_whitespace).next().unwrap_or_default();
    let path = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    text.split_at(path.len())
}

fn piece(path: &Path, takes: PromptSupport) -> io::Result<Piece> {
    let path = std::path::absolute(path)?;
    let about = fs::metadata(&path)?;
    let uri = Root::at(&path).uri;
    let link = |uri| {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Piece::Link { uri, name: name.to_string_lossy().into_owned() }
    };
    // Reading something other than a file, such as a pipe, may never end.
    if !about.is_file() || about.len() > IMAGE_LIMIT {
        return Ok(link(uri));
    }
    let bytes = read(&path)?;
    if let Some(mime_type) = image_type(&bytes) {
        return Ok(match takes.image {
            true => Piece::Image { uri, mime_type, data: BASE64_STANDARD.encode(bytes) },
            false => link(uri),
        });
    }
    match String::from_utf8(bytes) {
        Ok(text) if takes.embedded && text.len() as u64 <= TEXT_LIMIT && !text.contains('\0') => {
            Ok(Piece::Embedded { uri, text })
        }
        _ => Ok(link(uri)),
    }
}

fn read(path: &PathBuf) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // The file may have grown since its size was read.
    fs::File::open(path)?.take(IMAGE_LIMIT).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The type of an image, from its first bytes. A file's name proves nothing.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The URI of an embedded resource.
pub(in crate::chat) fn embedded_uri(resource: &EmbeddedResource) -> &str {
    match &resource.resource {
        EmbeddedResourceResource::Text(contents) => &contents.uri,
        EmbeddedResourceResource::Blob(contents) => &contents.uri,
        _ => "something embedded",
    }
}

/// The pieces as content blocks of a version; the types have the same names in both.
macro_rules! into_blocks {
    ($version:ident) => {
        impl From<Piece> for agentwire_acp_schema::$version::ContentBlock {
            fn from(piece: Piece) -> Self {
                use agentwire_acp_schema::$version::*;
                match piece {
                    Piece::Text(text) => text.into(),
                    Piece::Embedded { uri, text } => {
                        let contents = TextResourceContents::new(text, uri);
                        EmbeddedResource::new(EmbeddedResourceResource::Text(contents)).into()
                    }
                    Piece::Image { uri, mime_type, data } => {
                        ImageContent::new(data, mime_type).uri(uri).into()
                    }
                    Piece::Link { uri, name } => ResourceLink::new(name, uri).into(),
                }
            }
        }
    };
}

into_blocks!(v1);
into_blocks!(v2);

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: PromptSupport = PromptSupport { image: true, embedded: true };

    #[test]
    fn files_are_embedded_sent_or_linked_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let place = Root::at(folder.path()).uri;
        fs::write(folder.path().join("a b.txt"), "text").unwrap();
        fs::write(folder.path().join("pixel"), b"\x89PNG\r\n\x1a\nrest").unwrap();
        fs::write(folder.path().join("raw"), b"\xff\x00").unwrap();
        let text = "see @\"a b.txt\", @pixel and (@raw) @raw.";
        let read = |takes| Prompt::read(text, folder.path(), takes).pieces;
        let said = |text: &str| Piece::Text(text.into());
        let link = |name: &str, path: &str| Piece::Link { uri: format!("{place}/{path}"), name: name.into() };
        let data = BASE64_STANDARD.encode(b"\x89PNG\r\n\x1a\nrest");
        let image = Piece::Image { uri: format!("{place}/pixel"), mime_type: "image/png", data };
        let embedded = Piece::Embedded { uri: format!("{place}/a%20b.txt"), text: "text".into() };
        let raw = link("raw", "raw");
        let (see, comma, and, dot) = (said("see "), said(", "), said(" and (@raw) "), said("."));
        let whole = [see.clone(), embedded, comma.clone(), image, and.clone(), raw.clone(), dot.clone()];
        assert_eq!(read(ALL), whole);
        let links = [see, link("a b.txt", "a%20b.txt"), comma, link("pixel", "pixel"), and, raw, dot];
        assert_eq!(read(PromptSupport::default()), links);
    }

    #[test]
    fn a_text_is_joined_after_an_empty_line_and_names_no_files() {
        let mut prompt = Prompt::plain("review".into());
        prompt.join("@/etc/passwd".into());
        assert_eq!(prompt.pieces, [Piece::Text("review\n\n@/etc/passwd".into())]);
    }

    #[test]
    fn a_plain_at_sign_stays() {
        let prompt = Prompt::read("mail@@b.c @@here @ @nobody @", Path::new("/"), ALL);
        assert_eq!(prompt.pieces, [Piece::Text("mail@@b.c @here @ @nobody @".into())]);
        assert_eq!(prompt.notes.len(), 1, "{:?}", prompt.notes);
        assert!(prompt.notes[0].starts_with("@nobody: "));
    }
}
