//! Puts components in front of an agent, for an editor that starts this in place of the agent:
//!
//! ```text
//! conduct COMPONENT... AGENT
//! ```

use agentwire_acp_proxy::Conductor;
use agentwire_transport_stdio::{Child, Command, stdio};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut programs: Vec<_> = std::env::args_os().skip(1).collect();
    let agent = programs.pop().ok_or("conduct COMPONENT... AGENT")?;
    let mut conductor = Conductor::new();
    for program in programs {
        conductor = conductor.component(Child::spawn(Command::new(program))?);
    }
    let agent = Child::spawn(Command::new(agent))?;
    conductor.serve(stdio()?, agent).await?;
    Ok(())
}
