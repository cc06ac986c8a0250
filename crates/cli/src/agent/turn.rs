//! One turn: does what the prompt says and tells the client about it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agentwire_acp_agent::{CallError, Client, Context, Error};
use agentwire_acp_schema::v1::{
    ContentBlock, EmbeddedResourceResource, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
    SessionNotification, SessionUpdate, StopReason,
};

use super::command::Command;
use super::session::Session;

/// What a turn needs to know.
pub(super) struct Turn<'a> {
    pub(super) session: &'a Session,
    pub(super) context: &'a Context,
}

/// Echoed text leaves in chunks of about this many characters.
const CHUNK: usize = 24;

impl Turn<'_> {
    pub(super) fn client(&self) -> &Client {
        self.context.client()
    }

    /// Works through a prompt.
    pub(super) async fn run(&self, prompt: &[ContentBlock]) -> Result<StopReason, Error> {
        self.tell_failures().await?;
        let text = match prompt.iter().find(|block| matches!(block, ContentBlock::Text(_))) {
            Some(ContentBlock::Text(text)) => &*text.text,
            _ => "",
        };
        match Command::parse(text) {
            Ok(Command::Tools) => self.list_tools().await?,
            Ok(Command::Call { tool, arguments }) => self.call_tool(&tool, arguments).await?,
            Ok(Command::Read { path }) => self.read(&self.absolute(&path)).await?,
            Ok(Command::Write { path, text }) => self.write(&self.absolute(&path), text).await?,
            Ok(Command::Run { command }) => self.run_command(&command).await?,
            Ok(Command::Plan) => self.plan().await?,
            Ok(Command::Slow { seconds }) => self.slow(seconds).await?,
            Ok(Command::Burst { count }) => self.burst(count).await?,
            Ok(Command::Echo) => self.echo(prompt).await?,
            Err(wrong) => self.say(&wrong).await?,
        }
        Ok(StopReason::EndTurn)
    }

    /// Tells the client a piece of the answer.
    pub(super) async fn say(&self, text: &str) -> Result<(), CallError> {
        self.client().session_update(SessionNotification::message(&self.session.id, text)).await
    }

    /// Tells the client that something happened.
    pub(super) async fn update(&self, update: impl Into<SessionUpdate>) -> Result<(), CallError> {
        self.client().session_update(SessionNotification::new(&self.session.id, update.into())).await
    }

    /// Tells of servers that are not there, once each.
    pub(super) async fn tell_failures(&self) -> Result<(), CallError> {
        for failure in self.session.take_failures() {
            self.say(&format!("{failure}\n")).await?;
        }
        Ok(())
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.session.cwd.join(path)
    }

    async fn list_tools(&self) -> Result<(), CallError> {
        let tools = tokio::select! {
            tools = self.session.tools() => tools,
            () = self.context.cancelled() => return Ok(()),
        };
        self.tell_failures().await?;
        if tools.is_empty() {
            return self.say("No MCP server of this session offers a tool.\n").await;
        }
        for (name, description) in tools {
            let first_line = description.lines().next().unwrap_or_default().to_owned();
            self.say(&format!("- `{name}`: {first_line}\n")).await?;
        }
        Ok(())
    }

    /// Says everything again, in pieces.
    async fn echo(&self, prompt: &[ContentBlock]) -> Result<(), CallError> {
        self.say("You said: ").await?;
        for block in prompt {
            let text = describe(block);
            let mut rest = &*text;
            while !rest.is_empty() {
                let end = rest.char_indices().nth(CHUNK).map_or(rest.len(), |(index, _)| index);
                self.say(&rest[..end]).await?;
                rest = &rest[end..];
            }
        }
        Ok(())
    }

    async fn plan(&self) -> Result<(), CallError> {
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
            self.update(SessionUpdate::Plan(Plan::new(entries.collect::<Vec<_>>()))).await?;
        }
        self.say("The plan is worked off.\n").await
    }

    async fn burst(&self, count: u64) -> Result<(), CallError> {
        for number in 0..count {
            if self.context.is_cancelled() {
                break;
            }
            self.say(&format!("{number} ")).await?;
        }
        Ok(())
    }

    async fn slow(&self, seconds: f64) -> Result<(), CallError> {
        self.say(&format!("This takes {seconds} s.\n")).await?;
        tokio::select! {
            () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => self.say("Done.\n").await,
            () = self.context.cancelled() => Ok(()),
        }
    }
}

/// What a block of a prompt holds, in words.
fn describe(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
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
    }
}
