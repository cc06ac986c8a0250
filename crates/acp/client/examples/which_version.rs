//! Asks an agent which version of the protocol it speaks, and what it is: `which_version PROGRAM [ARGUMENTS]`.

use std::io::Write;

use agentwire_acp_client::{AnyAgent, AnyClient, BoxError, Client, Context, Error, connect_any, v2};
use agentwire_acp_schema::{v1, v2 as schema};
use agentwire_transport_stdio::{Child, Command, Stderr};

/// A client without a person.
struct Nobody;

impl Client for Nobody {
    fn session_update(&self, _: v1::SessionNotification) {}

    async fn request_permission(
        &self,
        _: v1::RequestPermissionRequest,
        _: Context,
    ) -> Result<v1::RequestPermissionResponse, Error> {
        Ok(v1::RequestPermissionResponse::cancelled())
    }
}

impl v2::Client for Nobody {
    fn session_update(&self, _: schema::UpdateSessionNotification) {}

    async fn request_permission(
        &self,
        _: schema::RequestPermissionRequest,
        _: v2::Context,
    ) -> Result<schema::RequestPermissionResponse, Error> {
        Ok(schema::RequestPermissionResponse::cancelled())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("which program is the agent?")?;
    let child = Child::spawn(Command::new(program).args(arguments).stderr(Stderr::Capture))?;
    let ourselves = v1::Implementation::new("which_version", env!("CARGO_PKG_VERSION"));
    connect_any(AnyClient::new(ourselves, Nobody, Nobody), child, async |agent| {
        let (version, info) = match &agent {
            AnyAgent::V1(agent) => (1, agent.info()),
            AnyAgent::V2(agent) => (2, agent.info()),
            _ => return Err("a version that this program does not know".into()),
        };
        let name = info.map(|info| format!(" {} {}", info.name, info.version)).unwrap_or_default();
        writeln!(std::io::stdout(), "version {version}{name}")?;
        // Whether a session can be begun without anything else, such as a key.
        let begun = match agent {
            AnyAgent::V1(agent) => agent.new_session(v1::NewSessionRequest::new("/")).await.map(drop),
            AnyAgent::V2(agent) => agent.new_session(schema::NewSessionRequest::new("/")).await.map(drop),
            _ => Ok(()),
        };
        match begun {
            Ok(()) => writeln!(std::io::stdout(), "a session can be begun")?,
            Err(why) => writeln!(std::io::stdout(), "no session: {}", BoxError::from(why))?,
        }
        Ok(())
    })
    .await?;
    Ok(())
}
