//! A proxy of ACP on stdin and stdout, which passes everything on unchanged. A conductor starts it.

use agentwire_acp_proxy::{Transparent, serve};
use agentwire_transport_stdio::stdio;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    serve(Transparent::default(), stdio()?).await?;
    Ok(())
}
