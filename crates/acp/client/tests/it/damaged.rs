//! That scripts fail where a client sends something else.

use agentwire_acp_client::{AgentHandle, BoxError, connect};
use agentwire_acp_schema::v1::*;
use agentwire_transport::lines;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use crate::recorder::{Recorder, greeting};
use crate::script::{damaged, folder, play, read};

async fn open_a_session(agent: AgentHandle) -> Result<(), BoxError> {
    let fs = FileSystemCapabilities::new().read_text_file(true);
    agent.initialize(greeting().client_capabilities(ClientCapabilities::new().fs(fs))).await?;
    agent.new_session(NewSessionRequest::new("/repo")).await?;
    Ok(())
}

/// Each message that the script expects is another one once, and is missed there.
#[tokio::test(start_paused = true)]
async fn each_message_that_a_script_expects_is_compared() {
    let whole = read(&folder("acp-client").join("FS-01-one-of-two.jsonl"));
    let mut count = 0;
    for (event, script) in damaged(&whole) {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(near);
        let wire = lines(read.compat(), write.compat_write());
        let connected = connect(Recorder::default(), wire, open_a_session);
        let (_closed, played) = futures::join!(connected, play(&script, far));
        assert_eq!(played.unwrap_err().event, Some(event));
        count += 1;
    }
    assert_eq!(count, 4);
}
