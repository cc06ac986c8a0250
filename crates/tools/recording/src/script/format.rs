//! The lines of a script, and how they are read.

use std::io::BufRead;

use serde_json::Value;

use crate::event::{EventKind, Protocol, Side};
use crate::reader::{AnyLine, ReadError, read_lines};

/// A script in memory.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Script {
    /// The protocol, if the header names it.
    pub protocol: Option<Protocol>,
    /// The side whose messages are compared. The other side is played.
    pub judged: Side,
    /// The version of ACP or the revision of MCP that is spoken, if the header names it.
    pub revision: Option<String>,
    /// The requirements that the script is a check of, such as `RPC-06`.
    pub requirements: Vec<String>,
    /// The events, in order. Failures count them from 1.
    pub events: Vec<ScriptEvent>,
}

/// A line of a script.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScriptEvent {
    /// A remark for the reader.
    Note(String),
    /// The played side sends this line, in which the names of values are replaced.
    Send(Vec<u8>),
    /// The judged side sends a message that fits this pattern, and nothing before it.
    Expect(Value),
    /// The judged side sends nothing for a while.
    Quiet,
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// When reading fails, the first line is not the header of a script, or a line has no meaning in a script.
    pub fn read(from: impl BufRead) -> Result<Self, ReadError> {
        let mut script = None;
        read_lines(from, |number, line| match &mut script {
            None => {
                script = Some(Self::of_header(line)?);
                Ok(())
            }
            Some(script) => script.add(number, line),
        })?;
        script.ok_or(ReadError::NoScript)
    }

    fn of_header(line: AnyLine) -> Result<Self, ReadError> {
        let is_header = line.is_header()?;
        let AnyLine { protocol, script, revision, requirements, .. } = line;
        let judged = script.filter(|_| is_header).ok_or(ReadError::NoScript)?;
        Ok(Self {
            protocol,
            judged,
            revision,
            requirements: requirements.unwrap_or_default(),
            events: Vec::new(),
        })
    }

    fn add(&mut self, number: usize, line: AnyLine) -> Result<(), ReadError> {
        let no_event = ReadError::NoEvent { line: number };
        let event = match (line.note.clone(), line.quiet, line.from) {
            (Some(note), _, _) => ScriptEvent::Note(note),
            (None, Some(true), _) => ScriptEvent::Quiet,
            (None, _, Some(from)) => {
                let is_judged = from.is_client() == self.judged.is_client();
                match line.kind() {
                    // read: scripts judge the readers of this project, so they share none of them.
                    Some(EventKind::Message(message)) if is_judged => serde_json::from_str(message.as_str())
                        .map(ScriptEvent::Expect)
                        .map_err(|error| ReadError::Line { line: number, error })?,
                    Some(EventKind::Message(message)) => ScriptEvent::Send(message.as_str().into()),
                    Some(EventKind::Text(text)) if !is_judged && text.is_whole() => {
                        ScriptEvent::Send(text.bytes)
                    }
                    _ => return Err(no_event),
                }
            }
            _ => return Err(no_event),
        };
        self.events.push(event);
        Ok(())
    }
}
