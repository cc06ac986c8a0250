//! Files that a client reads and writes for its agent.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::acp_client::AcpClient;
use crate::acp_client::run::PromptTurn;
use crate::check::{ANY, Check, check};
use crate::link::stand_in::random_id;
use crate::verdict::{Outcome, Stop, ensure};

pub(in crate::acp_client) const CHECKS: &[Check<AcpClient>] = &[
    check!(creates_files, ANY),
    check!(selects_lines, ANY),
    check!(refuses_malformed_lines, ANY),
    check!(refuses_relative_paths, ANY),
];

/// A file in the session's folder that is removed when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    /// A path in the session's folder at which there is no file.
    fn of(turn: &PromptTurn) -> Outcome<Self> {
        Ok(Self(turn.folder()?.join(format!("conformance-{}.txt", random_id()?))))
    }

    /// The same with a file.
    fn with(turn: &PromptTurn, text: &str) -> Outcome<Self> {
        let scratch = Self::of(turn)?;
        fs::write(&scratch.0, text)
            .map_err(|error| Stop::inconclusive(format!("no file could be written: {error}")))?;
        Ok(scratch)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may not have been written.
        let _removed = fs::remove_file(&self.0);
    }
}

async fn reader(client: &AcpClient) -> Outcome<PromptTurn> {
    let turn = client.prompted(client.script()).await?;
    turn.run.needs("/fs/readTextFile")?;
    Ok(turn)
}

async fn content(turn: &mut PromptTurn, path: &PathBuf, more: Value) -> Outcome<String> {
    let mut params = json!({"path": path});
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    let result = turn.ok("fs/read_text_file", params).await?;
    Ok(result["content"].as_str().unwrap_or_default().to_owned())
}

async fn creates_files(client: AcpClient) -> Outcome {
    let mut turn = client.prompted(client.script()).await?;
    turn.run.needs("/fs/writeTextFile")?;
    let write = |file: &Scratch| json!({"path": file.0, "content": "one\n"});
    let old = Scratch::with(&turn, "zero\n")?;
    turn.ok("fs/write_text_file", write(&old)).await.map_err(Stop::while_preparing)?;
    let file = Scratch::of(&turn)?;
    turn.ok("fs/write_text_file", write(&file)).await?;
    let read = if turn.run.advertises("/fs/readTextFile") {
        content(&mut turn, &file.0, json!({})).await?
    } else {
        fs::read_to_string(&file.0).unwrap_or_default()
    };
    ensure!(read.trim_end() == "one", "a file with the content that was written", "{read:?}");
    Ok(())
}

async fn selects_lines(client: AcpClient) -> Outcome {
    let mut turn = reader(&client).await?;
    let whole = "one\ntwo\nthree\nfour";
    let file = Scratch::with(&turn, whole)?;
    let text = content(&mut turn, &file.0, json!({})).await.map_err(Stop::while_preparing)?;
    ensure!(text.trim_end() == whole, format!("the whole file {whole:?}"), "{text:?}");
    let text = content(&mut turn, &file.0, json!({"line": null, "limit": null})).await?;
    ensure!(text.trim_end() == whole, format!("the whole file {whole:?}"), "{text:?}");
    let text = content(&mut turn, &file.0, json!({"line": 1, "limit": 2})).await?;
    ensure!(text.trim_end() == "one\ntwo", "two lines from the first on", "{text:?}");
    let text = content(&mut turn, &file.0, json!({"line": 2, "limit": 2})).await?;
    ensure!(text.trim_end() == "two\nthree", "two lines from the second on", "{text:?}");
    let text = content(&mut turn, &file.0, json!({"limit": 1})).await?;
    ensure!(text.trim_end() == "one", "the first line", "{text:?}");
    let text = content(&mut turn, &file.0, json!({"line": 4})).await?;
    ensure!(text.trim_end() == "four", "the last line, which has no end", "{text:?}");
    Ok(())
}

async fn refuses_malformed_lines(client: AcpClient) -> Outcome {
    let mut turn = reader(&client).await?;
    let file = Scratch::with(&turn, "one\n")?;
    content(&mut turn, &file.0, json!({})).await.map_err(Stop::while_preparing)?;
    for (name, value) in [("line", json!("x")), ("limit", json!("all")), ("line", json!(-1))] {
        turn.error_code("fs/read_text_file", json!({"path": file.0, name: value}), -32602).await?;
    }
    Ok(())
}

async fn refuses_relative_paths(client: AcpClient) -> Outcome {
    let mut turn = reader(&client).await?;
    let file = Scratch::with(&turn, "one\n")?;
    content(&mut turn, &file.0, json!({})).await.map_err(Stop::while_preparing)?;
    let name = file.0.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    turn.error("fs/read_text_file", json!({"path": name})).await?;
    turn.error("fs/read_text_file", json!({"path": format!("./{name}")})).await?;
    if turn.run.advertises("/fs/writeTextFile") {
        turn.error("fs/write_text_file", json!({"path": name, "content": "two\n"})).await?;
        let text = fs::read_to_string(&file.0).unwrap_or_default();
        ensure!(text == "one\n", "a file that a relative path did not change", "{text:?}");
    }
    Ok(())
}
