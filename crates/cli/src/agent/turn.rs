//! One turn: executes the command in the prompt and sends the client its outcome.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use agentwire_acp_sessions::schema::{
    ContentBlock, EmbeddedResourceResource, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionId,
    SessionUpdate, StopReason, UsageUpdate,
};
use agentwire_acp_sessions::{Error, Turn, TurnError};
use agentwire_jsonrpc::RawJson;
use agentwire_sync::Mutex;

use super::command::Command;
use super::offer;

/// The sessions and servers whose failure was reported to the user.
pub(super) type ReportedFailures = Mutex<HashSet<(SessionId, String)>>;

/// A turn, and how much text it has sent.
pub(super) struct Work<'a> {
    pub(super) turn: &'a Turn,
    reported: &'a ReportedFailures,
    /// How many characters were sent.
    said: AtomicU64,
}

/// How much a session can hold, in tokens of four characters each: ours, as we have no model.
const CONTEXT: u64 = 200_000;

/// The most entries of [`ReportedFailures`]. Beyond that they are forgotten, and failures may be reported again.
const REPORTED_LIMIT: usize = 4096;

/// How many characters of something are shown where there is one line for it.
const LINE: usize = 60;

impl<'a> Work<'a> {
    pub(super) fn new(turn: &'a Turn, reported: &'a ReportedFailures) -> Self {
        Self { turn, reported, said: AtomicU64::new(0) }
    }

    /// Works through the prompt.
    pub(super) async fn run(&self) -> Result<StopReason, Error> {
        let text = self.turn.text();
        if self.turn.current_title().is_none() {
            self.turn.title(Some(line(&text)).filter(|title| !title.is_empty())).await?;
        }
        if offer::thinks(self.turn) {
            self.turn.think("I shall do as I am told.").await?;
        }
        self.report_failures().await?;
        let (length, command) = (text.chars().count(), Command::parse(&text));
        // The prompt is there already, and may be long.
        drop(text);
        match command {
            Ok(command) => self.execute(command).await?,
            Err(wrong) => self.say(&wrong).await?,
        }
        self.send_usage(length).await?;
        Ok(StopReason::EndTurn)
    }

    async fn execute(&self, command: Command) -> Result<(), TurnError> {
        match command {
            Command::Tools => self.list_tools().await,
            Command::Call { tool, arguments } => {
                self.call_tool(&tool, arguments.unwrap_or(RawJson::EMPTY_OBJECT)).await
            }
            Command::Read { path } => self.read(&path).await,
            Command::Write { path, text } => self.write(&path, text).await,
            Command::Run { command } => self.run_command(&command).await,
            Command::Plan => self.plan().await,
            Command::Slow { seconds } => self.slow(seconds).await,
            Command::Burst { count } => self.burst(count).await,
            Command::History => self.send_history().await,
            Command::Echo => self.echo().await,
        }
    }

    /// Sends a chunk of the answer.
    async fn say(&self, text: &str) -> Result<(), TurnError> {
        self.said.fetch_add(text.chars().count() as u64, Ordering::Relaxed);
        self.turn.say(text).await
    }

    /// Reports servers that cannot be used, once each.
    pub(super) async fn report_failures(&self) -> Result<(), TurnError> {
        for server in self.turn.mcp().status() {
            let key = (self.turn.session_id().clone(), server.name.clone());
            if server.state.reason().is_some() && self.note_failure(key) {
                self.say(&format!("MCP server {}: {}\n", server.name, server.state)).await?;
            }
        }
        Ok(())
    }

    /// Returns whether a failure was not reported before, and remembers it.
    fn note_failure(&self, key: (SessionId, String)) -> bool {
        let mut reported = self.reported.lock();
        if reported.len() >= REPORTED_LIMIT {
            reported.clear();
        }
        reported.insert(key)
    }

    /// Sends how much of the context is used. `prompt` is the length of the prompt, in characters.
    async fn send_usage(&self, prompt: usize) -> Result<(), TurnError> {
        let before = self.turn.current_usage().map_or(0, |usage| usage.used);
        let more = (prompt as u64 + self.said.load(Ordering::Relaxed)).div_ceil(4);
        self.turn.usage(UsageUpdate::new(before.saturating_add(more).min(CONTEXT), CONTEXT)).await
    }

    async fn list_tools(&self) -> Result<(), TurnError> {
        let tools = self.turn.unless_cancelled(self.turn.mcp().tools()).await?;
        self.report_failures().await?;
        if tools.is_empty() {
            return self.say("No MCP server of this session offers a tool.\n").await;
        }
        for tool in tools {
            let description = tool.tool.description.unwrap_or_default();
            let first_line = description.lines().next().unwrap_or_default();
            self.say(&format!("- `{}`: {first_line}\n", tool.name)).await?;
        }
        Ok(())
    }

    /// Says everything again, in pieces.
    async fn echo(&self) -> Result<(), TurnError> {
        let chunk = offer::chunk(self.turn);
        self.say("You said: ").await?;
        for block in self.turn.prompt() {
            let text = describe(block);
            let mut rest = &*text;
            while !rest.is_empty() {
                let end = rest.char_indices().nth(chunk).map_or(rest.len(), |(index, _)| index);
                self.say(&rest[..end]).await?;
                rest = &rest[end..];
            }
        }
        Ok(())
    }

    async fn plan(&self) -> Result<(), TurnError> {
        const STEPS: [&str; 3] = ["Read what is there", "Change one thing", "Look at it again"];
        for done in 0..=STEPS.len() {
            let entries = STEPS.iter().enumerate().map(|(index, step)| {
                let status = match index.cmp(&done) {
                    std::cmp::Ordering::Less => PlanEntryStatus::Completed,
                    std::cmp::Ordering::Equal => PlanEntryStatus::InProgress,
                    std::cmp::Ordering::Greater => PlanEntryStatus::Pending,
                };
                PlanEntry::new(*step, PlanEntryPriority::Medium, status)
            });
            self.turn.plan(entries).await?;
        }
        self.say("The plan is worked off.\n").await
    }

    async fn burst(&self, count: u64) -> Result<(), TurnError> {
        for number in 0..count {
            if self.turn.is_cancelled() {
                break;
            }
            self.say(&format!("{number} ")).await?;
        }
        Ok(())
    }

    async fn slow(&self, seconds: f64) -> Result<(), TurnError> {
        self.say(&format!("This takes {seconds} s.\n")).await?;
        self.turn.unless_cancelled(tokio::time::sleep(Duration::from_secs_f64(seconds))).await?;
        self.say("Done.\n").await
    }

    /// Sends a line for each message and each tool call of the session, this prompt included.
    async fn send_history(&self) -> Result<(), TurnError> {
        let mut remembered = Vec::new();
        let mut last = None;
        for update in self.turn.history().await? {
            let (who, chunk) = match update {
                SessionUpdate::UserMessageChunk(chunk) => ("you", chunk),
                SessionUpdate::AgentMessageChunk(chunk) => ("I", chunk),
                SessionUpdate::ToolCall(call) => {
                    remembered.push(("tool", call.title));
                    continue;
                }
                _ => continue,
            };
            let text = describe(&chunk.content);
            match remembered.last_mut().filter(|_| last == chunk.message_id) {
                Some((_, message)) => message.push_str(&text),
                None => remembered.push((who, text.into_owned())),
            }
            last = chunk.message_id;
        }
        self.say(&format!("I remember {} things.\n", remembered.len())).await?;
        for (who, text) in remembered {
            self.say(&format!("- {who}: {}\n", line(&text))).await?;
        }
        Ok(())
    }
}

/// The first line, shortened.
fn line(text: &str) -> String {
    text.trim().lines().next().unwrap_or_default().chars().take(LINE).collect()
}

/// What a block of a prompt holds, in words.
fn describe(block: &ContentBlock) -> Cow<'_, str> {
    let words = match block {
        ContentBlock::Text(text) => return Cow::Borrowed(&text.text),
        ContentBlock::ResourceLink(link) => format!("\n[a link to {}: {}]", link.name, link.uri),
        ContentBlock::Resource(resource) => match &resource.resource {
            EmbeddedResourceResource::Text(text) => {
                format!("\n[{}]\n{}", text.uri, text.text)
            }
            EmbeddedResourceResource::Blob(blob) => {
                format!("\n[{}: {} characters of base64]", blob.uri, blob.blob.len())
            }
            _ => "\n[a resource of a kind that is not known here]".into(),
        },
        ContentBlock::Image(image) => format!("\n[an image, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("\n[a sound, {}]", audio.mime_type),
        _ => "\n[content of a kind that is not known here]".into(),
    };
    Cow::Owned(words)
}
