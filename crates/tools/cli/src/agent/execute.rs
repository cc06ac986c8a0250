//! Executes the command in a prompt.

use std::borrow::Cow;
use std::time::Duration;

use agentwire_acp_sessions::schema::{
    ContentBlock, EmbeddedResourceResource, PlanEntry, PlanEntryPriority, PlanEntryStatus, SessionUpdate,
    StopReason,
};
use agentwire_acp_sessions::{BoxError, TurnError};
use agentwire_jsonrpc::RawJson;

use super::command::SlashCommand;
use super::settings;
use super::turn::DemoTurn;

/// The most characters of a title, and of a line of `/history`.
const LINE_LIMIT: usize = 60;

impl DemoTurn<'_> {
    /// Executes the command in the prompt, and sends the session's title and usage.
    pub(super) async fn run(&self) -> Result<StopReason, BoxError> {
        let text = self.turn.text();
        if self.turn.current_title().is_none() {
            self.turn.title(Some(line(&text)).filter(|title| !title.is_empty())).await?;
        }
        if settings::thinks_aloud(self.turn) {
            self.turn.think("I shall do as I am told.").await?;
        }
        self.report_failures().await?;
        let (length, command) = (text.chars().count(), SlashCommand::parse(&text));
        // A long prompt is in memory only once while it is executed.
        drop(text);
        match command {
            Ok(command) => self.execute(command).await?,
            Err(wrong) => self.say(&wrong).await?,
        }
        self.send_usage(length).await?;
        Ok(StopReason::EndTurn)
    }

    async fn execute(&self, command: SlashCommand) -> Result<(), TurnError> {
        match command {
            SlashCommand::Tools => self.list_tools().await,
            SlashCommand::Call { tool, arguments } => {
                self.call_tool(&tool, arguments.unwrap_or(RawJson::EMPTY_OBJECT)).await
            }
            SlashCommand::Read { path } => self.read(&path).await,
            SlashCommand::Write { path, text } => self.write(&path, text).await,
            SlashCommand::Run { command } => self.run_command(&command).await,
            SlashCommand::Plan => self.plan().await,
            SlashCommand::Slow { seconds } => self.slow(seconds).await,
            SlashCommand::Burst { count } => self.burst(count).await,
            SlashCommand::History => self.send_history().await,
            SlashCommand::Echo => self.echo().await,
        }
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

    /// Sends the prompt back, in pieces.
    async fn echo(&self) -> Result<(), TurnError> {
        let chunk = settings::chunk_length(self.turn);
        self.say("You said: ").await?;
        for block in self.turn.prompt() {
            let text = block_text(block);
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
            let text = block_text(&chunk.content);
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
    text.trim().lines().next().unwrap_or_default().chars().take(LINE_LIMIT).collect()
}

/// A block of a prompt as text.
fn block_text(block: &ContentBlock) -> Cow<'_, str> {
    let text = match block {
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
    Cow::Owned(text)
}
