//! Plays a script in a conversation with a subject.

use std::io;
use std::time::Duration;

use agentwire_recording::script::{ScriptConfig, ScriptFailure, ScriptWire, play};

use crate::conversation::Conversation;
use crate::scripts::script_file::ScriptFile;
use crate::setting::Setting;
use crate::trace::{Part, Sender};
use crate::verdict::{Outcome, Stop};

/// How long a subject has to be silent where a script expects that.
const QUIET: Duration = Duration::from_millis(250);

/// Plays a script to a subject that may take some time to start.
pub(crate) async fn play_script(
    mut conversation: Conversation,
    setting: &Setting,
    file: &ScriptFile,
    start: Duration,
) -> Outcome {
    let config =
        ScriptConfig::new().message(setting.wait).first_message(start.max(setting.wait)).quiet(QUIET);
    let played = play(&file.script, &mut conversation, config, tokio::time::sleep).await;
    let Err(ScriptFailure { event, expected, seen, .. }) = played else { return Ok(()) };
    // A program that does not start breaks no requirement.
    let is_line =
        |event: &crate::trace::TraceEvent| (event.from, event.what) == (Sender::Subject, Part::Line);
    if !setting.trace.events().iter().any(is_line) {
        return Err(Stop::inconclusive(format!("the program sent nothing; expected {expected}")));
    }
    let place = event.map_or("behind the last event".to_owned(), |event| format!("event {event}"));
    Err(Stop::failed(format!("{place} of the script {}: {expected}", file.name), seen))
}

impl ScriptWire for Conversation {
    async fn write(&mut self, lines: &[u8]) {
        let _lost = self.send_bytes(lines).await;
    }

    async fn read_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.next_line().await
    }

    async fn close(&mut self) {
        Self::close(self);
    }
}
