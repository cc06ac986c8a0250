//! Our MCP client: lists tools and calls them.

use std::cell::Cell;
use std::time::Duration;

use agentwire_mcp_client::schema::{
    CallToolResult, ContentBlock, Implementation, ProgressNotification, Tool,
};
use agentwire_mcp_client::{BoxError, Client, Server};
use agentwire_mcp_hub::{Dial, HttpTarget, Target, dial};
use anyhow::Result;
use tokio::sync::mpsc;

use crate::arguments::{Call, Connect, Header, JsonObject, Tools};
use crate::output::{JsonLines, Member};
use crate::signals::Signals;
use crate::{Usage, text};

/// `agentwire tools`: one tool a line.
pub(crate) async fn list(arguments: Tools, json: bool) -> Result<()> {
    with_server(arguments.connect, async |server| {
        let mut tools = server.tools();
        while let Some(tool) = tools.try_next().await? {
            if json {
                JsonLines.print(&tool)?;
            } else {
                text::line(&one_line(&tool))?;
            }
        }
        Ok(())
    })
    .await
}

/// The tool's name, its arguments, and the first line of what it says of itself.
fn one_line(tool: &Tool) -> String {
    let schema = tool.input_schema.as_map();
    let names = schema.get("properties").and_then(|properties| properties.as_object());
    let names: Vec<_> = names.into_iter().flat_map(|names| names.keys().cloned()).collect();
    let about = tool.description.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    format!("{} {{{}}}  {about}", tool.name, names.join(", "))
}

/// `agentwire call`: calls a tool and shows what it gives.
pub(crate) async fn call(arguments: Call, json: bool) -> Result<()> {
    let Call { connect, tool, arguments } = arguments;
    let limit = connect.timeout;
    with_server(connect, async move |server| {
        let (report, mut reports) = mpsc::channel(1024);
        let call = server
            .call_tool(&tool, arguments.unwrap_or_else(JsonObject::new))
            .timeout(limit)
            .on_progress(move |progress| {
                // Whoever reports faster than we print is not asked to wait for us.
                let _dropped = report.try_send(progress);
            });
        let mut call = std::pin::pin!(std::future::IntoFuture::into_future(call));
        let result = loop {
            tokio::select! {
                biased;
                Some(progress) = reports.recv() => show_progress(&progress, json)?,
                result = &mut call => break result?,
            }
        };
        while let Ok(progress) = reports.try_recv() {
            show_progress(&progress, json)?;
        }
        show_result(&result, json)?;
        if result.is_error { Err(Failed.into()) } else { Ok(()) }
    })
    .await
}

/// The tool itself says that it failed; what it said is printed already.
#[derive(Debug, thiserror::Error)]
#[error("the tool failed")]
pub(crate) struct Failed;

/// Connects, and ends the connection when we are interrupted.
async fn with_server<R>(
    connect: Connect,
    main: impl AsyncFnOnce(Server) -> Result<R, BoxError>,
) -> Result<R> {
    let Connect { target, headers, era, timeout } = connect;
    let target = with_headers(target, headers)?;
    let (mut signals, mut impatience) = (Signals::listen()?, Signals::listen()?);
    let talking = Cell::new(false);
    let client = Client::from_info(Implementation::new("agentwire", env!("CARGO_PKG_VERSION")))
        .discover_timeout(DISCOVER_LIMIT.min(timeout / 2))
        .handshake_timeout(timeout)
        .timeout(timeout)
        .on_warning(|warning| text::note(&format!("warning: {warning}")));
    let options = Dial::new().era(era.into());
    let talk = dial(&target, &options, client, async |server| {
        talking.set(true);
        tokio::select! {
            done = main(server) => done,
            () = signals.next() => Err("interrupted".into()),
        }
    });
    // Once they talk, the first interrupt ends that in good order, and the second ends what is left of it.
    let enough = async {
        impatience.next().await;
        if talking.get() {
            impatience.next().await;
        }
    };
    tokio::select! {
        done = talk => done.map_err(crate::failure::unboxed),
        () = enough => Err(anyhow::anyhow!("interrupted")),
    }
}

/// How long a server may at most be silent to `server/discover`, before `initialize` is tried.
const DISCOVER_LIMIT: Duration = Duration::from_secs(5);

fn with_headers(target: Target, headers: Vec<Header>) -> Result<Target> {
    match target {
        Target::Http(target) => {
            let add = |target: HttpTarget, Header { name, value }: Header| target.header(&name, &value);
            let target = headers.into_iter().try_fold(target, add);
            Ok(target.map_err(|why| Usage(format!("--header: {why}")))?.into())
        }
        target if headers.is_empty() => Ok(target),
        _ => Err(Usage("--header: only servers at a URL take headers".into()).into()),
    }
}

fn show_progress(progress: &ProgressNotification, json: bool) -> std::io::Result<()> {
    if json {
        return JsonLines.print(&Member("progress", progress));
    }
    let total = progress.total.map(|total| format!("/{total}")).unwrap_or_default();
    let message = progress.message.as_deref().unwrap_or_default();
    text::note(&format!("{}{total} {message}", progress.progress));
    Ok(())
}

fn show_result(result: &CallToolResult, json: bool) -> std::io::Result<()> {
    if json {
        return JsonLines.print(&Member("result", result));
    }
    for block in &result.content {
        match block {
            ContentBlock::Text(content) => text::line(&content.text)?,
            ContentBlock::Image(image) => text::line(&format!("[an image, {}]", image.mime_type))?,
            ContentBlock::Audio(audio) => text::line(&format!("[a sound, {}]", audio.mime_type))?,
            ContentBlock::ResourceLink(link) => text::line(&format!("[{}]({})", link.name, link.uri))?,
            other => JsonLines.print(other)?,
        }
    }
    Ok(())
}
