//! `agentwire sessions`: checks and repairs the stored sessions of our own agent.

use agentwire_acp_sessions::{Damage, FileStore, Repair, SessionCheck};
use anyhow::{Result, anyhow};
use serde::Serialize;

use crate::arguments::Sessions;
use crate::failure::{AlreadyPrinted, Usage, sentence};
use crate::output::print_json;
use crate::output::text;

/// Checks or repairs all sessions of a directory. Fails if any is still damaged.
pub(crate) fn run(command: Sessions, json: bool) -> Result<()> {
    let checks = match &command {
        Sessions::Check(sessions) => FileStore::check(&sessions.store),
        Sessions::Repair(sessions) => FileStore::repair(&sessions.store),
    };
    // 1 is the exit code of damaged sessions.
    let checks = checks.map_err(|error| Usage(format!("--store: {}", sentence(&error.into()))))?;
    for check in &checks {
        if json {
            print_json(&Line::from(check))?;
        } else {
            print(check)?;
        }
    }
    let damaged = checks.iter().filter(|check| !check.is_sound()).count();
    if damaged == 0 {
        if !json {
            text::print_line(&format!("{} of {} sessions are sound", checks.len(), checks.len()))?;
        }
        return Ok(());
    }
    let advice = match command {
        Sessions::Check(_) => "; `agentwire sessions repair` makes them usable again",
        Sessions::Repair(_) => "",
    };
    let error = anyhow!("{damaged} of {} sessions are damaged{advice}", checks.len());
    Err(AlreadyPrinted(error).into())
}

/// Prints a session's damage for people: each place, and its repair.
fn print(check: &SessionCheck) -> Result<()> {
    let id = text::one_line(check.session_id.as_str());
    for Damage { place, reason, repair, .. } in &check.damage {
        let place = text::one_line(place);
        text::print_line(&format!("session {id}: damaged at {place}: {}", text::one_line(reason)))?;
        match repair {
            Repair::Done(done) => text::print_line(&format!("  repaired: {}", text::one_line(done)))?,
            Repair::Failed(why) => text::print_line(&format!("  not repaired: {}", text::one_line(why)))?,
            _ => {}
        }
    }
    Ok(())
}

/// A session, as `--json` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    session_id: &'a str,
    sound: bool,
    /// The number of readable records.
    records: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damage: Vec<DamageLine<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DamageLine<'a> {
    place: &'a str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_repaired: Option<&'a str>,
}

impl<'a> From<&'a SessionCheck> for Line<'a> {
    fn from(check: &'a SessionCheck) -> Self {
        let damage = check.damage.iter().map(|damage| DamageLine {
            place: &damage.place,
            reason: &damage.reason,
            repaired: if let Repair::Done(done) = &damage.repair { Some(done) } else { None },
            not_repaired: if let Repair::Failed(why) = &damage.repair { Some(why) } else { None },
        });
        Self {
            session_id: check.session_id.as_str(),
            sound: check.is_sound(),
            records: check.records,
            damage: damage.collect(),
        }
    }
}
