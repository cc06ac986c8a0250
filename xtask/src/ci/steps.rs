//! The steps, as data.

use std::fmt;

/// A check.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) when: When,
    pub(super) work: Work,
    pub(super) turn: Turn,
}

impl Step {
    /// Whether it runs beside the steps after it.
    pub(super) fn is_beside(&self) -> bool {
        !matches!(self.turn, Turn::InOrder)
    }

    /// Whether it starts Redis, which it would install itself.
    pub(super) fn needs_redis(&self) -> bool {
        matches!(self.work, Work::RedisTests | Work::XtaskWithPrograms(["replicas", ..]))
    }
}

/// The order of a step: alone or beside others.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// Starts when the one before it has ended.
    InOrder,
    /// Runs beside the others, with this value of `nice`.
    Beside(i32),
}

impl Turn {
    /// For steps that compile on all processors: they yield to steps that wait.
    const IN_ORDER: i32 = 10;
    /// For steps that end within seconds, or mostly wait for their programs under deadlines.
    const FIRST: i32 = 0;
    /// For steps that use the processor time that other steps leave.
    const LEFT_OVER: i32 = 19;

    pub(super) fn nice(self) -> i32 {
        match self {
            Self::InOrder => Self::IN_ORDER,
            Self::Beside(nice) => nice,
        }
    }

    /// Whether its duration depends more on the other steps than on itself.
    pub(super) fn is_left_over(self) -> bool {
        self.nice() == Self::LEFT_OVER
    }
}

/// When a step runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum When {
    Change,
    /// Once a week and before a release: why a change cannot break it unseen for a week.
    Weekly(&'static str),
}

impl When {
    pub(super) fn is_weekly(self) -> bool {
        matches!(self, Self::Weekly(_))
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change => f.write_str("every change"),
            Self::Weekly(why) => write!(f, "weekly: {why}"),
        }
    }
}

/// The work of a step.
#[derive(Debug)]
pub(super) enum Work {
    /// A command of cargo that mostly compiles.
    Compile(&'static [&'static str]),
    /// A command of cargo that mostly runs what it finds compiled.
    Run(&'static [&'static str]),
    /// The same where it starts the programs of the workspace, which are compiled first.
    RunWithPrograms(&'static [&'static str]),
    /// A command of xtask, as a process of its own because some of them exit.
    Xtask(&'static [&'static str]),
    /// The same with the programs of the workspace, which are compiled first.
    XtaskWithPrograms(&'static [&'static str]),
    /// Compiles every program and test of the workspace, and runs the tests.
    Test,
    /// The documentation of every crate, in which a warning fails.
    Doc,
    /// Checks each crate without its features and with each one alone.
    Features,
    /// Lints the same.
    FeatureLints,
    /// Installs the engine that tests start.
    Redis,
    /// The tests that need an engine.
    RedisTests,
    /// The same tests with Valkey as the engine.
    Valkey,
    /// Makes the packages and checks them outside of this workspace.
    Packages,
    /// Compiles each package alone.
    Verify,
    /// Builds the command as a new user does, and measures it.
    FirstBuild,
}

const fn step(name: &'static str, work: Work) -> Step {
    Step { name, when: When::Change, work, turn: Turn::InOrder }
}

/// Compiles nothing, and so runs beside what compiles.
const fn beside(name: &'static str, work: Work) -> Step {
    Step { name, when: When::Change, work, turn: Turn::Beside(Turn::FIRST) }
}

/// Compiles in a folder of its own, and so runs beside other builds.
const fn apart(name: &'static str, work: Work) -> Step {
    Step { name, when: When::Change, work, turn: Turn::Beside(Turn::LEFT_OVER) }
}

const fn weekly(name: &'static str, work: Work, why: &'static str) -> Step {
    Step { name, when: When::Weekly(why), work, turn: Turn::InOrder }
}

/// Every step, in order: what fails within seconds comes first, and waiting steps follow what compiles their programs. What follows
/// these runs beside them and compiles nothing that they start.
pub(super) const STEPS: &[Step] = &[
    beside("fmt", Work::Run(&["fmt", "--all", "--check"])),
    beside("tidy", Work::Xtask(&["tidy"])),
    beside("links", Work::Xtask(&["site", "--links"])),
    step("redis", Work::Redis),
    step("test", Work::Test),
    beside("interop", Work::XtaskWithPrograms(&["interop"])),
    beside("conformance", Work::XtaskWithPrograms(&["conformance", "all"])),
    beside("replicas", Work::XtaskWithPrograms(&["replicas", "--short"])),
    beside("redis-tests", Work::RedisTests),
    beside("valkey", Work::Valkey),
    apart("first-build", Work::FirstBuild),
    apart("migration", Work::Compile(MIGRATION)),
    step("doctest", Work::Run(DOCTEST)),
    step("fuzz", Work::XtaskWithPrograms(&["fuzz", "--seconds", "3"])),
    step("clippy", Work::Compile(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])),
    step("doc", Work::Doc),
    step("schema", Work::Xtask(&["schema", "--check"])),
    step("upstream", Work::Xtask(&["schema", "--upstream"])),
    // Small builds, each on one processor. In a folder of their own, beside the others, they would check what is checked already.
    step("features", Work::Features),
    step("publish", Work::Packages),
    step("wrong-programs", Work::Xtask(&["wrong-programs"])),
    weekly(
        "clippy-features",
        Work::FeatureLints,
        "the compiler's warnings of each feature are in `features` and the lints of all features in `clippy`; only a lint in \
         code that two features exclude is seen later",
    ),
    weekly(
        "interop-release",
        Work::Xtask(&["interop", "--release"]),
        "`interop` runs the same pairs with the debug build, which has the same code and more assertions; only a fault of the \
         optimizer is seen later",
    ),
    weekly(
        "verify",
        Work::Verify,
        "`publish` makes the same packages and checks them together, and `features` checks each crate alone; nothing is \
         published without this step",
    ),
    weekly(
        "site",
        Work::Xtask(&["site"]),
        "`links` checks the same links and places in the Markdown; only a new mdBook is seen later",
    ),
    weekly(
        "mutants",
        Work::XtaskWithPrograms(&["conformance", "mutants"]),
        "a check that catches nothing harms nobody's program, and `test` runs each check against a right one",
    ),
    weekly("long", Work::RunWithPrograms(LONG), "the short forms of these tests are in `test`"),
];

/// The examples of every page, but not those of the copies that `tests/model` compiles. With `--exclude` in place of a filter,
/// other features would be chosen.
const DOCTEST: &[&str] = &["test", "--workspace", "--doc", "--", "--skip", "tests/model/"];

/// Checks the code of other libraries in `docs/guide`, in the workspace that has these libraries.
const MIGRATION: &[&str] =
    &["check", "--manifest-path", "tests/bench/rivals/Cargo.toml", "--package", "rival-migration", "--tests"];

/// The ignored tests, one after the other. Each takes minutes; one measures the command's peak memory over hundreds of
/// hostile conversations.
const LONG: &[&str] =
    &["test", "--workspace", "--tests", "--", "--ignored", "long::", "--nocapture", "--test-threads", "1"];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
    }

    #[test]
    fn weekly_steps_stand_last() {
        assert!(STEPS.is_sorted_by_key(|step| step.when.is_weekly()));
    }

    #[test]
    fn weekly_step_has_a_reason() {
        let reasons = STEPS.iter().filter_map(|step| match step.when {
            When::Change => None,
            When::Weekly(why) => Some(why),
        });
        assert!(reasons.into_iter().all(|why| why.len() > 40));
    }
}
