//! Permission menus, policies, rules, remembered decisions and cancelled turns.

use std::time::Duration;

use agentwire_acp_client::Error;
use agentwire_acp_schema::v1::error_code::INTERNAL_ERROR;
use agentwire_acp_schema::v1::{
    Diff, PermissionOption, RequestPermissionRequest, RequestPermissionResponse, ToolCallLocation,
    ToolCallUpdate, ToolKind,
};
use agentwire_acp_toolkit::{
    Choices, DecisionScope, PermissionPolicy, PermissionPrompt, PermissionRule, Permissions,
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};

fn request(kinds: &[&str]) -> RequestPermissionRequest {
    let call = ToolCallUpdate::new("call-1")
        .title("Run `ls`")
        .name("shell")
        .kind(ToolKind::Execute)
        .locations([ToolCallLocation::new("/repo/src").line(7)])
        .raw_input(json!({ "command": "ls" }));
    with(call, kinds)
}

/// With an option of each kind, named after it.
fn with(call: ToolCallUpdate, kinds: &[&str]) -> RequestPermissionRequest {
    let options = kinds.iter().map(|kind| PermissionOption::new(*kind, format!("Option {kind}"), *kind));
    RequestPermissionRequest::new("session", call, options.collect::<Vec<_>>())
}

const ALL: &[&str] = &["reject_once", "reject_always", "allow_once", "allow_always"];

fn selected(kind: &str) -> RequestPermissionResponse {
    RequestPermissionResponse::selected(kind)
}

#[test]
fn tc_10_a_menu_is_read_by_number_or_letter() {
    let choices = Choices::new(&request(&["allow_once", "allow_always", "reject_once", "surprise"]));
    let menu = "The agent asks for permission:\n  tool: shell\n  kind: execute\n  at: /repo/src:7\n  \
                Run `ls`\n  1) allow once (a): Option allow_once\n  \
                2) allow always (A): Option allow_always\n  3) reject once (r): Option reject_once\n  \
                4) unknown kind surprise: Option surprise\n";
    assert_eq!(choices.to_string(), menu);
    assert_eq!(choices.prompt(), "Type 1-4, a, A, r, then Enter: ");
    let keys = [
        ("1", "allow_once"),
        (" a\n", "allow_once"),
        ("A", "allow_always"),
        ("allow always", "allow_always"),
        ("r", "reject_once"),
        ("4", "surprise"),
    ];
    for (key, option) in keys {
        assert_eq!(choices.select(key), Some(selected(option)), "{key:?}");
    }
    for key in ["", " ", "0", "5", "-1", "+1", "y", "R", "aa", "1 2", "99999999999999999999999", "clear"] {
        assert_eq!(choices.select(key), None, "{key:?}");
    }
}

#[test]
fn command_is_shown_once_and_all_else_of_the_input_stays() {
    let menu = |title: &str, input: serde_json::Value, text: &str| {
        let call = ToolCallUpdate::new("call-1").title(title).raw_input(input);
        let content = agentwire_acp_schema::v1::ContentBlock::from(text);
        let call = call.content([agentwire_acp_schema::v1::ToolCallContent::from(content)]);
        Choices::new(&with(call, &["allow_once"])).to_string()
    };
    let shown = menu("Run `git status`", json!({ "command": "git status" }), "```sh\ngit status\n```");
    assert_eq!(shown.matches("git status").count(), 1, "{shown}");
    let more = menu("git status", json!({ "command": "git status", "description": "Look" }), "As asked");
    assert!(more.contains("  says: As asked\n  input: {\"description\":\"Look\"}\n"), "{more}");
    // What the title does not say as it is stays.
    for (title, input) in [
        ("Run git status", json!({ "command": "git status; rm x" })),
        ("Inform", json!({ "command": "rm" })),
        ("Run it with false", json!({ "sandbox": "false" })),
        ("Run rm", json!({ "command": ["rm"] })),
        ("Run a b", json!({ "command": "a\nb" })),
    ] {
        let shown = menu(title, input.clone(), "");
        assert!(shown.contains(&format!("  input: {input}\n")), "{shown}");
    }
    // What is cut from the title is not named by it.
    let long = format!("Run {} rm", "x ".repeat(1000));
    assert!(menu(&long, json!({ "command": "rm" }), "").contains("input: "), "{long}");
}

#[test]
fn option_for_the_title_does_not_repeat_it() {
    let menu = |title: &str, name: &str| {
        let options = [PermissionOption::new("o", name, "allow_always")];
        let call = ToolCallUpdate::new("call-1").title(title);
        Choices::new(&RequestPermissionRequest::new("session", call, options)).to_string()
    };
    assert!(
        menu("Run ls", "Always allow: Run ls").ends_with("  1) allow always (A): Always allow: this call\n")
    );
    // It is for more than the title.
    assert!(menu("Run ls", "Always allow: Run ls *").ends_with(": Always allow: Run ls *\n"));
    assert!(menu("Run ls", "Always allow rerun: all Run ls").ends_with(": all Run ls\n"));
    assert!(menu("", "Always: ").ends_with("(A): Always: \n"));
}

#[test]
fn long_menu_repeats_its_title_in_the_prompt_line() {
    let prompt = |count| {
        let call = ToolCallUpdate::new("call-1").title("rm x");
        Choices::new(&with(call, &vec!["allow_once"; count])).prompt().to_owned()
    };
    assert_eq!(prompt(9), "Type 1-9, a, then Enter: ");
    assert_eq!(prompt(10), "rm x: type 1-10, a, then Enter: ");
}

#[test]
fn an_agent_cannot_draw_on_the_terminal() {
    let call =
        ToolCallUpdate::new("call-1").title("ls\u{1b}[2J\r\n  1) Fine\u{202e}\u{9b}").name("x".repeat(300));
    let choices = Choices::new(&with(call, &["allow_once\u{7}\n2) more"]));
    let menu = format!("{choices}{}", choices.prompt());
    assert!(menu.contains("ls^[[2J   1) Fine<U+202E><U+009B>\n"), "{menu}");
    assert!(menu.contains("xx… (100 characters more)\n"), "{menu}");
    assert!(!menu.contains(|c: char| c.is_control() && c != '\n'), "{menu}");
    assert_eq!(menu.lines().count(), 5, "{menu}");
}

/// An agent chooses the names of its options, so the kind precedes the name.
#[test]
fn kind_of_an_option_precedes_the_agents_name() {
    let options = [
        PermissionOption::new("all", "Reject (r)", "allow_always"),
        PermissionOption::new("no", "No", "reject_once"),
    ];
    let call = ToolCallUpdate::new("call-1").title("rm -rf /");
    let menu = Choices::new(&RequestPermissionRequest::new("session", call, options)).to_string();
    assert!(
        menu.ends_with("  rm -rf /\n  1) allow always (A): Reject (r)\n  2) reject once (r): No\n"),
        "{menu}"
    );
}

#[test]
fn title_is_next_to_the_options_in_a_long_menu() {
    let places: Vec<_> = (0..200).map(|number| ToolCallLocation::new(format!("/repo/{number}"))).collect();
    let diffs = (0..7).map(|number| Diff::new(format!("/repo/{number}"), "").into());
    let call = ToolCallUpdate::new("call-1").title("Delete it all").locations(places);
    let call = call.content(diffs.collect::<Vec<agentwire_acp_schema::v1::ToolCallContent>>());
    let menu = Choices::new(&with(call, &["allow_once"])).to_string();
    assert!(menu.contains("  at: /repo/11\n  at: … and 188 more\n"), "{menu}");
    assert!(menu.contains("  changes: /repo/4\n  changes: … and 2 more\n"), "{menu}");
    assert!(menu.ends_with("  Delete it all\n  1) allow once (a): Option allow_once\n"), "{menu}");
}

#[test]
fn any_of_many_options_can_be_chosen() {
    let kinds = vec!["allow_once"; 1002];
    let options = kinds
        .iter()
        .enumerate()
        .map(|(index, kind)| PermissionOption::new(index.to_string(), "Option", *kind));
    let options: Vec<_> = options.collect();
    let call = ToolCallUpdate::new("call-1").title("Look");
    let choices = Choices::new(&RequestPermissionRequest::new("session", call, options));
    for number in [9, 10, 12, 999, 1000] {
        assert_eq!(choices.select(&number.to_string()), Some(selected(&(number - 1).to_string())));
    }
    assert_eq!(choices.select("1001"), None);
    assert!(
        choices
            .to_string()
            .ends_with("1000) allow once: Option\n  … 2 options more, which are not offered\n")
    );
}

#[test]
fn a_policy_decides_by_kind() {
    let check = |policy: PermissionPolicy, kinds: &[&str], expected: Option<RequestPermissionResponse>| {
        assert_eq!(Permissions::new(policy).decide(&request(kinds)), expected, "{policy:?} {kinds:?}");
    };
    let cancelled = || Some(RequestPermissionResponse::cancelled());
    check(PermissionPolicy::Ask, ALL, None);
    check(PermissionPolicy::AllowAll, ALL, Some(selected("allow_once")));
    check(PermissionPolicy::AllowAll, &["allow_always", "allow_once"], Some(selected("allow_once")));
    check(PermissionPolicy::AllowAll, &["reject_once", "allow_always"], Some(selected("allow_always")));
    check(PermissionPolicy::AllowAll, &["reject_once", "surprise"], cancelled());
    check(PermissionPolicy::RejectAll, &["reject_always", "reject_once"], Some(selected("reject_once")));
    check(PermissionPolicy::RejectAll, ALL, Some(selected("reject_once")));
    check(PermissionPolicy::RejectAll, &["allow_once", "surprise"], cancelled());
    check(PermissionPolicy::Ask, &[], cancelled());
}

/// Answers `first`, and then returns the answer that the other gets without a question.
async fn after(
    remember: DecisionScope,
    answer: &str,
    other: &RequestPermissionRequest,
) -> Option<RequestPermissionResponse> {
    let permissions = Permissions::default().remember(remember);
    let ask = async |_: &RequestPermissionRequest| Ok::<_, Error>(selected(answer));
    assert_eq!(permissions.answer(&request(ALL), ask).await, Ok(selected(answer)));
    let decided = permissions.decide(other);
    permissions.forget(&"session".into());
    assert_eq!(permissions.decide(other), None);
    decided
}

#[tokio::test]
async fn always_holds_for_the_same_call_of_the_session() {
    let same = request(ALL);
    let call = || same.tool_call.clone();
    assert_eq!(after(DecisionScope::Call, "allow_always", &same).await, Some(selected("allow_always")));
    assert_eq!(after(DecisionScope::Call, "reject_always", &same).await, Some(selected("reject_always")));
    assert_eq!(after(DecisionScope::Call, "allow_once", &same).await, None);
    assert_eq!(after(DecisionScope::Nothing, "allow_always", &same).await, None);
    let fewer = request(&["reject_once", "allow_once"]);
    assert_eq!(after(DecisionScope::Call, "allow_always", &fewer).await, Some(selected("allow_once")));
    assert_eq!(after(DecisionScope::Call, "allow_always", &request(&["reject_once"])).await, None);

    let mut elsewhere = request(ALL);
    elsewhere.session_id = "another".into();
    let input = with(call().raw_input(json!({ "command": "rm" })), ALL);
    let title = with(call().title("Run `rm`"), ALL);
    let place = with(call().locations([ToolCallLocation::new("/repo/other")]), ALL);
    let diff = |text: &str| {
        let edit = ToolCallUpdate::new("call-1").title("Edit").content([Diff::new("/repo/file", text)]);
        with(edit, ALL)
    };
    let edits = Permissions::default();
    edits.record(&diff("one"), &selected("allow_always"));
    assert_eq!(edits.decide(&diff("one")), Some(selected("allow_always")));
    assert_eq!(edits.decide(&diff("two")), None, "another change is another call");
    let unknown = with(ToolCallUpdate::new("call-1").name("shell"), ALL);
    for other in [&elsewhere, &input, &title, &place, &unknown] {
        assert_eq!(after(DecisionScope::Call, "allow_always", other).await, None);
    }
    assert_eq!(after(DecisionScope::Tool, "allow_always", &title).await, Some(selected("allow_always")));
    assert_eq!(after(DecisionScope::Tool, "allow_always", &with(call().name("other"), ALL)).await, None);
}

/// A person at a terminal: waits for the question, then types each of the lines.
async fn types(terminal: &mut DuplexStream, lines: &[&str]) -> String {
    let mut shown = Vec::new();
    for line in lines {
        while !shown.ends_with(b"then Enter: ") {
            shown.push(terminal.read_u8().await.unwrap());
        }
        shown.push(b'\n');
        terminal.write_all(line.as_bytes()).await.unwrap();
    }
    String::from_utf8(shown).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_prompt_asks_until_it_is_answered() {
    let (near, mut far) = tokio::io::duplex(1024);
    let (input, output) = tokio::io::split(near);
    let prompt = PermissionPrompt::new(BufReader::new(input), output);
    let all = request(ALL);
    let (answer, shown) =
        tokio::join!(prompt.ask(&all), types(&mut far, &["\n", "maybe\n", "\u{ff}\n", "3\n"]));
    assert_eq!(answer, Ok(selected("allow_once")));
    assert_eq!(
        (shown.matches("Option").count(), shown.matches("That is not an answer.").count()),
        (4, 3),
        "{shown}"
    );
    let (answer, _) = tokio::join!(prompt.ask(&all), types(&mut far, &["A\n"]));
    assert_eq!(answer, Ok(selected("allow_always")));
    assert_eq!(prompt.ask(&request(&[])).await, Ok(RequestPermissionResponse::cancelled()));
    // The input has ended.
    far.shutdown().await.unwrap();
    assert_eq!(prompt.ask(&all).await, Ok(selected("reject_once")));
    assert_eq!(prompt.ask(&request(&["allow_once"])).await, Ok(RequestPermissionResponse::cancelled()));
}

/// Lines that are ready, one that arrives a little later, as from a thread that reads the terminal, and a line that was
/// begun for a cancelled question.
#[tokio::test(start_paused = true)]
async fn text_typed_before_the_question_does_not_answer_it() {
    let (near, mut far) = tokio::io::duplex(1024);
    let (input, output) = tokio::io::split(near);
    let prompt = PermissionPrompt::new(BufReader::new(input), output);
    let all = request(ALL);
    far.write_all(b"a\nA\n").await.unwrap();
    let person = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        far.write_all(b"A\n").await.unwrap();
        types(&mut far, &["r\n"]).await;
    };
    let (answer, ()) = tokio::join!(prompt.ask(&all), person);
    assert_eq!(answer, Ok(selected("reject_once")));

    let withdrawn = tokio::time::timeout(Duration::from_secs(1), prompt.ask(&all));
    let (withdrawn, _) = tokio::join!(withdrawn, types(&mut far, &["A"]));
    assert!(withdrawn.is_err());
    let (answer, _) = tokio::join!(prompt.ask(&all), types(&mut far, &["r\n"]));
    assert_eq!(answer, Ok(selected("reject_once")));
}

#[test]
fn first_rule_that_covers_a_call_decides() {
    let permissions = Permissions::new(PermissionPolicy::RejectAll)
        .rule(PermissionRule::ask().tool("shell"))
        .rule(PermissionRule::reject().kind(ToolKind::Execute))
        .rule(PermissionRule::reject().tool("other"))
        .rule(PermissionRule::allow().kind(ToolKind::Read));
    let decide = |name: &str, kind: ToolKind| {
        permissions.decide(&with(ToolCallUpdate::new("call-1").title("T").name(name).kind(kind), ALL))
    };
    permissions.record(&request(ALL), &selected("allow_always"));
    assert_eq!(permissions.decide(&request(ALL)), None, "a rule comes before what was decided");
    assert_eq!(decide("tool", ToolKind::Execute), Some(selected("reject_once")));
    assert_eq!(decide("tool", ToolKind::Read), Some(selected("allow_once")));
    assert_eq!(decide("other", ToolKind::Read), Some(selected("reject_once")));
    assert_eq!(permissions.decide(&with(ToolCallUpdate::new("call-1"), ALL)), Some(selected("reject_once")));
}

#[tokio::test]
async fn tc_08_only_an_offered_option_is_selected() {
    let answer = async |option| {
        let ask = async |_: &RequestPermissionRequest| Ok::<_, Error>(selected(option));
        Permissions::default().answer(&request(&["allow_once"]), ask).await
    };
    assert_eq!(answer("allow_once").await, Ok(selected("allow_once")));
    crate::refused(answer("allow_always").await, INTERNAL_ERROR, &["allow_always"]);
}

#[tokio::test]
async fn pr_15_and_tc_09_cancelled_turn_cancels_pending_and_later_requests() {
    let permissions = Permissions::new(PermissionPolicy::Ask);
    let mut elsewhere = request(ALL);
    elsewhere.session_id = "another".into();
    let here = request(ALL);
    let never = async |_: &RequestPermissionRequest| std::future::pending().await;
    let cancel = async {
        tokio::task::yield_now().await;
        permissions.cancel(&"session".into())
    };
    let (first, second, cancelling) =
        tokio::join!(permissions.answer(&here, never), permissions.answer(&here, never), cancel);
    let cancelled = Ok(RequestPermissionResponse::cancelled());
    assert_eq!((&first, &second), (&cancelled, &cancelled));

    // What comes late is not asked, not even a policy; another session goes on.
    let allow = async |_: &RequestPermissionRequest| Ok::<_, Error>(selected("allow_once"));
    assert_eq!(permissions.answer(&here, async |_| panic!("nobody is to be asked")).await, cancelled);
    assert_eq!(permissions.answer(&elsewhere, allow).await, Ok(selected("allow_once")));
    let again = permissions.cancel(&"session".into());
    drop(cancelling);
    assert_eq!(permissions.answer(&here, allow).await, cancelled);
    drop(again);
    assert_eq!(permissions.answer(&here, allow).await, Ok(selected("allow_once")));

    // One that is dropped at once still cancels those who wait.
    let cancel = async {
        tokio::task::yield_now().await;
        drop(permissions.cancel(&"session".into()));
    };
    let (answer, ()) = tokio::join!(permissions.answer(&here, never), cancel);
    assert_eq!(answer, cancelled);
}

#[test]
fn remembered_decisions_are_bounded() {
    let permissions = Permissions::default().limit(2);
    let about = |title: &str| with(ToolCallUpdate::new("call-1").title(title), ALL);
    for title in ["a", "b", "c", "a"] {
        permissions.record(&about(title), &selected("allow_always"));
    }
    let known = |title: &str| permissions.decide(&about(title)).is_some();
    assert!(known("a") && known("b") && !known("c"));
    permissions.record(&about("a"), &selected("reject_always"));
    assert_eq!(permissions.decide(&about("a")), Some(selected("reject_always")), "what is known may change");
    permissions.forget(&"session".into());
    permissions.record(&about("c"), &selected("allow_always"));
    assert!(known("c") && !known("a"));
}

/// A decision as one letter: allowed, rejected or asked.
fn letter(rules: &[PermissionRule], call: ToolCallUpdate) -> char {
    let add = |permissions: Permissions, rule: &PermissionRule| permissions.rule(rule.clone());
    let permissions = rules.iter().fold(Permissions::new(PermissionPolicy::Ask), add);
    match permissions.decide(&with(call, ALL)) {
        Some(answer) if answer == selected("allow_once") => 'a',
        Some(answer) if answer == selected("reject_once") => 'r',
        None => '?',
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rule_for_paths_allows_calls_that_stay_within_and_rejects_those_that_reach_in() {
    let path = |rule: PermissionRule, pattern| rule.path(pattern).expect("it is a pattern");
    let rules = [
        path(PermissionRule::reject(), "**/.env"),
        path(PermissionRule::reject(), "**/.git/**"),
        path(PermissionRule::reject(), "/etc/**"),
        path(PermissionRule::allow(), "/repo/**"),
    ];
    let call = |paths: &[&str]| {
        ToolCallUpdate::new("call").locations(paths.iter().map(|path| ToolCallLocation::new(*path)))
    };
    let diff = |call: ToolCallUpdate, path: &str| call.content([Diff::new(path, "new")]);
    assert_eq!(letter(&rules, call(&["/repo/a"])), 'a');
    assert_eq!(letter(&rules, call(&["/repo/a", "/home/b"])), '?');
    assert_eq!(letter(&rules, call(&["/repo/a", "/repo/../etc/passwd"])), 'r');
    assert_eq!(letter(&rules, call(&["/repo/../home/b"])), '?');
    assert_eq!(letter(&rules, call(&["/repo/x/.env"])), 'r');
    assert_eq!(letter(&rules, call(&["/repo/.git"])), 'r', "the folder itself");
    assert_eq!(letter(&rules, call(&["/repo/.GIT/config"])), 'r', "the same on some file systems");
    assert_eq!(letter(&rules, call(&["/REPO/a"])), '?', "not the same on others");
    assert_eq!(letter(&rules, call(&["repo/a"])), 'r', "no path that can be compared");
    assert_eq!(letter(&rules, call(&[])), '?');
    assert_eq!(letter(&rules, ToolCallUpdate::new("call")), '?');
    assert_eq!(letter(&rules, diff(call(&["/repo/a"]), "/repo/b")), 'a');
    assert_eq!(letter(&rules, diff(call(&["/repo/a"]), "/home/b")), '?');
    assert_eq!(letter(&rules, diff(call(&["/repo/a"]), "/etc/b")), 'r');
}

#[test]
fn a_rule_covers_the_calls_that_meet_all_of_its_conditions() {
    let edits = PermissionRule::allow().kind(ToolKind::Edit).path("/repo/**").expect("it is a pattern");
    let rules = [edits.tool("write"), PermissionRule::reject().kind(ToolKind::Delete)];
    let call = |kind, name: &str, path: &str| {
        ToolCallUpdate::new("call").kind(kind).name(name).locations([ToolCallLocation::new(path)])
    };
    assert_eq!(letter(&rules, call(ToolKind::Edit, "write", "/repo/a")), 'a');
    assert_eq!(letter(&rules, call(ToolKind::Edit, "patch", "/repo/a")), '?');
    assert_eq!(letter(&rules, call(ToolKind::Edit, "write", "/home/a")), '?');
    assert_eq!(letter(&rules, call(ToolKind::Read, "write", "/repo/a")), '?');
    assert_eq!(letter(&rules, call(ToolKind::Delete, "write", "/repo/a")), 'r');
    assert_eq!(letter(&[PermissionRule::reject()], ToolCallUpdate::new("call")), 'r');
}

#[test]
fn a_rule_for_commands_allows_one_command_and_rejects_it_among_others() {
    let command = |rule: PermissionRule, prefix| rule.command(prefix).expect("it is a command");
    let rules = [
        command(PermissionRule::reject(), "rm"),
        command(PermissionRule::ask(), "git push"),
        command(PermissionRule::allow(), "git"),
    ];
    let call = |command: &str| {
        ToolCallUpdate::new("call").kind(ToolKind::Execute).raw_input(json!({ "command": command }))
    };
    assert_eq!(letter(&rules, call("git status")), 'a');
    assert_eq!(letter(&rules, call("git push --force")), '?');
    assert_eq!(letter(&rules, call("git status; rm -rf x")), 'r');
    assert_eq!(letter(&rules, call("git status && ls")), '?');
    assert_eq!(letter(&rules, call("github status")), '?');
    assert_eq!(letter(&rules, call("sudo /bin/rm x")), 'r');
    assert_eq!(letter(&rules, call("git status").kind(ToolKind::Other)), '?');
    for (prefix, why) in [
        ("", "a command has a word"),
        ("git;", "a command has no operators, expansions and escapes; `*` alone stands for other characters"),
    ] {
        let error = PermissionRule::allow().command(prefix).expect_err("it is none");
        assert_eq!(error.to_string(), format!("{prefix:?} cannot be used: {why}"));
    }
}
