//! A person's steps with an agent in a day.

use std::fs;

use anyhow::{Context as _, Result, ensure};

use super::day::{self, Day};
use crate::interop::chat;
use crate::interop::products::Product;
use crate::interop::scratch::Scratch;

type Step = fn(&Scratch<'_>, &'static Product) -> Result<()>;

/// The options that ask for version 2 and take nothing else.
const VERSION_2: &[&str] = &["--protocol", "2"];

/// The default text of our model.
const SENTENCE: &str = "a voice from loopback, grüß dich 👋";

/// The steps for an agent, in their order.
pub(super) fn of(product: &Product) -> Vec<(&'static str, Step)> {
    let mut steps: Vec<(_, Step)> = vec![
        ("login asked", login_asked),
        ("command", |scratch, product| command(scratch, product, &[])),
        ("permission refused", |scratch, product| refused(scratch, product, &[])),
        ("interrupted", |scratch, product| interrupted(scratch, product, &[])),
        ("continued", continued),
        ("for a program", |scratch, product| for_a_program(scratch, product, &[])),
    ];
    if product.installed.as_ref().is_some_and(|installed| installed.versions.contains(&2)) {
        steps.extend([
            ("version 2: command", (|scratch, product| command(scratch, product, VERSION_2)) as Step),
            ("version 2: permission refused", |scratch, product| refused(scratch, product, VERSION_2)),
            ("version 2: interrupted", |scratch, product| interrupted(scratch, product, VERSION_2)),
            ("version 2: for a program", |scratch, product| for_a_program(scratch, product, VERSION_2)),
        ]);
    }
    steps
}

/// Without a key: an agent that needs a login offers its methods, the others open a session.
fn login_asked(scratch: &Scratch<'_>, product: &'static Product) -> Result<()> {
    let words = day::chat(scratch, &product.id, &[]);
    let outcome = scratch.run(&[product.environment(scratch, None)?, words].concat())?;
    let Some(refusal) = &product.refusal else { return outcome.expect_code(0) };
    outcome.expect_code(3)?;
    for method in &refusal.methods {
        ensure!(outcome.errors.contains(method), "{method} is not offered: {}", outcome.errors);
    }
    Ok(())
}

/// The agent runs a command that prints three rows one after the other. Each is shown once, beside the answer.
fn command(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let day = Day::begin(scratch, product)?;
    let outcome = day.turn(&[&["--yes"], options].concat(), &day.count())?;
    outcome.expect_code(0)?;
    let answer = outcome.lines.join("\n");
    ensure!(answer.starts_with("the tool said: "), "standard output is not the answer alone: {answer:?}");
    let wanted = usize::from(day.installed.shows);
    for row in ["row 1", "row 2", "row 3"] {
        let count = outcome.errors.matches(row).count();
        ensure!(count == wanted, "{row:?} is shown {count} times instead of {wanted}: {}", outcome.errors);
    }
    Ok(())
}

/// A request for permission without a person is refused.
fn refused(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let day = Day::begin(scratch, product)?;
    let outcome = day.turn(options, &day.write())?;
    outcome.expect_code(6)?;
    ensure!(outcome.errors.contains("--allow"), "it does not say what permits it: {}", outcome.errors);
    let note = fs::read_to_string(scratch.file("note.txt")).ok();
    ensure!(note == day.model.before, "the note was written without permission: {note:?}");
    Ok(())
}

/// The model would never finish.
fn interrupted(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let day = Day::begin(scratch, product)?;
    let command = day.command(&[&["--json"], options].concat(), "[wait]");
    scratch.interrupt_group_at("dawdles", &command)?.expect_code(130)?;
    day.service.expect("hung up")?;
    Ok(())
}

/// The last session goes on, if the agent keeps any.
fn continued(scratch: &Scratch<'_>, product: &'static Product) -> Result<()> {
    let day = Day::begin(scratch, product)?;
    let first = chat::read(&day.turn(&["--json"], "[say]")?)?;
    let outcome = day.turn(&["--json", "--continue"], "[say]")?;
    if !day.installed.keeps {
        return outcome.expect_code(1);
    }
    outcome.expect_code(0)?;
    let second = chat::read(&outcome)?;
    let id = |chat: &chat::Chat| chat.session.as_ref().map(|session| session["sessionId"].clone());
    ensure!(
        id(&first).is_some() && id(&first) == id(&second),
        "another session: {:?}, {:?}",
        id(&first),
        id(&second)
    );
    ensure!(second.text().ends_with(SENTENCE), "the model's text is missing: {:?}", second.text());
    Ok(())
}

/// Every line is JSON and every update names its session. The permission is given.
fn for_a_program(scratch: &Scratch<'_>, product: &'static Product, options: &[&str]) -> Result<()> {
    let day = Day::begin(scratch, product)?;
    let outcome = day.turn(&[&["--format", "json", "--yes"], options].concat(), &day.write())?;
    outcome.expect_code(0)?;
    let chat = chat::read(&outcome)?;
    ensure!(chat.stop_reason.as_deref() == Some("end_turn"), "the turn ended with {:?}", chat.stop_reason);
    let session = &chat.session.as_ref().context("no session was opened")?["sessionId"];
    let values = outcome.json()?;
    let stranger =
        values.iter().find(|value| value.get("update").is_some() && value["sessionId"] != *session);
    ensure!(stranger.is_none(), "an update does not name its session: {stranger:?}");
    chat.expect_status("completed")?;
    scratch.expect_file("note.txt", "hello from the model")
}
