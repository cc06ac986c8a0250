//! Programs whose arguments run other programs, write files or load settings, as tables. A rule that allows such a program allows
//! these arguments only if it names them.

/// Programs that run what their first operand names, and `awk`, whose operand is a program by itself. A rule names every word up to
/// and with that operand.
const RUNNERS: &[&str] = &[
    "at",
    "awk",
    "batch",
    "builtin",
    "bunx",
    "busybox",
    "catchsegv",
    "chroot",
    "chrt",
    "command",
    "dbus-run-session",
    "doas",
    "env",
    "eval",
    "exec",
    "expect",
    "faketime",
    "fakeroot",
    "firejail",
    "flock",
    "gawk",
    "ionice",
    "ltrace",
    "mawk",
    "nawk",
    "nice",
    "nohup",
    "npx",
    "nsenter",
    "parallel",
    "pipx",
    "pnpx",
    "prlimit",
    "proot",
    "proxychains",
    "runuser",
    "screen",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "source",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "tclsh",
    "time",
    "timeout",
    "tmux",
    "torsocks",
    "toybox",
    "trap",
    "unbuffer",
    "unshare",
    "uvx",
    "valgrind",
    "watch",
    "watchexec",
    "xargs",
    "xvfb-run",
];

/// Programs, and the arguments of theirs that a rule must name. Where a second word follows the program, the row holds for commands
/// with that word.
///
/// `-x` is an option of one letter, also within a cluster such as `-vx` and with its value behind it. `-x=` is one that does it only
/// with a value that has a `=`. `-name` is an option with one dash or two, `--name` one that may be abbreviated. `+` is any argument
/// that begins so, `=` any `NAME=value`, and a word without a dash the first operand,
/// and `~word` any operand.
const ARGUMENTS: &[(&[&str], &str)] = &[
    (
        &["git"],
        "-c= --config-env --exec-path --upload-pack --receive-pack --exec --output --output-directory --ext-diff --extcmd \
         --open-files-in-pager --template --git-dir --to-cmd --cc-cmd --header-cmd --sendmail-cmd --smtp-server --upload-archive \
         bisect config credential daemon difftool filter-branch for-each-repo ~foreach fast-import hook instaweb mergetool p4 remote-ext \
         send-email shell svn upload-archive upload-pack",
    ),
    (&["git", "archive"], "-o"),
    (&["git", "clone"], "-c -u --config"),
    (&["git", "format-patch"], "-o"),
    (&["git", "grep"], "-O"),
    (&["git", "rebase"], "-x"),
    (&["hg"], "--config --config-file --debugger --ssh --remotecmd"),
    (&["svn"], "--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd"),
    (&["gh"], "alias extension config"),
    (&["find"], "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf"),
    (&["fd", "fdfind"], "-x -X --exec --exec-batch"),
    (&["rg"], "--pre --hostname-bin"),
    (&["ag", "ack", "bat", "delta", "batcat"], "--pager"),
    (&["sort"], "-o --output --compress-program"),
    (&["split"], "--filter"),
    (&["sed", "gsed"], "-f --file"),
    (
        &["tar", "bsdtar", "gtar"],
        "-F -I --checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command \
         --use-compress-program",
    ),
    (&["cpio"], "-O --rsh-command --file"),
    (&["zip"], "-T -TT --test --unzip-command"),
    (&["ssh", "autossh", "slogin"], "-E -F -I -S -o"),
    (&["scp", "sftp", "sshfs"], "-D -F -S -b -o"),
    (&["rsync"], "-M -e --config --rsh --rsync-path --remote-option --log-file --password-file"),
    (
        &["curl"],
        "-D -K -O -c -o --config --cookie-jar --dump-header --engine --libcurl --output --output-dir --remote-name \
         --remote-name-all --stderr --trace --trace-ascii --etag-save --hsts --alt-svc",
    ),
    (
        &["wget"],
        "-O -P -a -e -o --append-output --config --directory-prefix --execute --output-document --output-file --save-cookies \
         --use-askpass --hsts-file",
    ),
    (&["make", "gmake", "remake"], "= -C -I -f --directory --eval --file --include-dir --makefile"),
    (&["ninja", "samu"], "-C -f"),
    (&["cmake", "ctest"], "= -C -D -E -P -S -T --build-and-test --script"),
    (&["just", "task", "mask"], "= -f -d --justfile --shell --taskfile --working-directory"),
    (
        &["npm", "pnpm", "yarn", "corepack", "cnpm", "ni"],
        "-C -c --browser --call --cwd --dir --editor --eval --git --global-config --globalconfig --node-options --prefix \
         --script-shell --shell --shell-mode --userconfig --viewer config create dlx edit exec explore init node repl \
         set x",
    ),
    (&["bun"], "-c -e -p -r --config --cwd --eval --preload --print create exec init repl x"),
    (
        &["uv", "poetry", "pdm", "hatch", "rye", "conda", "mamba", "pixi"],
        "run shell tool x --config --config-file --python",
    ),
    (&["pip", "pip3"], "--python --config-settings config --cert --proxy --index-url --extra-index-url -i"),
    (&["cargo"], "-C -Z --config"),
    (&["rustc", "rustdoc"], "-C -Z -o --test-builder --runtool"),
    (
        &["go"],
        "-exec -fuzz -modfile -overlay -toolexec -vettool -ldflags -gccgoflags -o env generate telemetry",
    ),
    (&["gcc", "cc", "g++", "c++", "clang", "clang++"], "-wrapper -fplugin -specs -fuse-ld -o"),
    (&["mvn", "mvnw"], "-f -s --file --global-settings --settings exec:exec exec:java"),
    (&["gradle", "gradlew"], "-I -b -c -p --build-file --init-script --project-dir --settings-file"),
    (&["java"], "-agentlib -agentpath -javaagent -XX"),
    (
        &["docker", "podman", "nerdctl"],
        "-H --config --connection --context --host build buildx compose cp create ~exec plugin ~run",
    ),
    (&["kubectl", "oc"], "--kubeconfig cp debug edit exec plugin run"),
    (&["helm"], "--kubeconfig --post-renderer plugin"),
    (&["terraform", "tofu"], "-chdir -plugin-dir console"),
    (&["ip"], "~exec -b -batch"),
    (
        &["sh", "bash", "dash", "ksh", "mksh", "zsh", "fish", "ash"],
        "-c -i -s --command --init-command --init-file --rcfile +",
    ),
    (&["cmd"], "/c /k /r"),
    (&["powershell", "pwsh"], "-c -command -e -ec -encodedcommand -f -file"),
    (&["python", "python2", "python3", "pypy", "pypy3", "py"], "-c -m --check-hash-based-pycs"),
    (
        &["node", "nodejs", "tsx", "ts-node"],
        "-C -e -p -r --env-file --eval --experimental-loader --import --inspect --inspect-brk --loader --openssl-config --print \
         --require --test-reporter",
    ),
    (&["deno"], "eval repl run task --config --import-map --preload"),
    (&["perl"], "-E -I -M -d -e -m -x"),
    (&["ruby", "irb"], "-I -e -r -x"),
    (&["php"], "-B -E -R -a -c -d -r -z"),
    (&["lua", "luajit"], "-e -i -l"),
    (&["R", "Rscript"], "-e --file"),
    (&["julia"], "-E -L -e --eval --load --print"),
    (&["vim", "vi", "nvim", "view", "vimdiff", "ex"], "+ -S -c -l -s -u -w -W --cmd"),
    (&["emacs"], "-l -f -batch -eval -execute -funcall -load -script"),
    (&["less", "more"], "+ -k -o -O --lesskey-content --lesskey-file --lesskey-src --log-file"),
    (&["man"], "-C -H -P -p --config-file --html --pager --preprocessor"),
    (
        &["gdb", "lldb"],
        "-args -batch -command -ex -eval-command -iex -init-command -init-eval-command -o -s -x",
    ),
    (&["sqlite3"], "-A -cmd -init"),
    (&["psql"], "-L -c -f -o -v --command --file --log-file --output --set --variable"),
    (&["openssl"], "-engine -out -provider -provider-path engine"),
    (&["tcpdump"], "-w -z"),
    (&["nmap"], "--script --datadir -o"),
    (&["xdg-open", "open"], "-a"),
    (&["journalctl", "systemctl"], "edit --root --image"),
];

/// The programs whose first argument is a cluster of options even without a dash.
const CLUSTERS: &[&str] = &["tar", "bsdtar", "gtar"];

/// The arguments in a command that run programs, write files or load settings, as places of its words. `named` is how many of the
/// first words a rule names: a program that runs what its operand names is followed only as far as that, and the words beyond count.
pub(super) fn arguments_to_name(words: &[String], named: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(program) = words.get(start) {
        let program = name_of(program);
        let is_runner = RUNNERS.contains(&&*program) || is_assignment(&words[start]);
        if !is_runner {
            found.extend(arguments_of(&program, words, start + 1));
            return found;
        }
        // The words up to the program that it runs: options, variables, numbers, and that program.
        let is_before_program = |word: &String| {
            word.starts_with('-') || is_assignment(word) || !word.contains(char::is_alphabetic)
        };
        let mut next = start + 1;
        while words.get(next).is_some_and(is_before_program) {
            next += 1;
        }
        found.extend((start + 1..words.len().min(next + 1)).filter(|at| *at >= named));
        start = next;
    }
    found
}

/// The places behind `from` of the arguments that the rows of a program list.
fn arguments_of(program: &str, words: &[String], from: usize) -> Vec<usize> {
    let is_row = |names: &[&str]| match names {
        [name, second] if *name == "git" => {
            program == "git" && words[from..].iter().any(|word| word == second)
        }
        names => names.contains(&program),
    };
    let rows: Vec<&str> = ARGUMENTS
        .iter()
        .filter(|(names, _)| is_row(names))
        .flat_map(|(_, listed)| listed.split(' '))
        .collect();
    let mut has_operand = false;
    let mut found = Vec::new();
    for at in from..words.len() {
        let (word, next) = (&*words[at], words.get(at + 1).map_or("", String::as_str));
        let is_operand = !word.starts_with('-');
        let is_first_operand = is_operand && !has_operand;
        // A word behind an option may be its value.
        has_operand |= is_operand && !words[at - 1].starts_with('-');
        let cluster = (at == from && is_operand && CLUSTERS.contains(&program)).then(|| format!("-{word}"));
        let word = cluster.as_deref().unwrap_or(word);
        let is_listed = rows.iter().any(|listed| is_argument(listed, word, next, is_first_operand));
        if is_listed || matches!(program, "sed" | "gsed") && is_running_script(word) {
            found.push(at);
        }
    }
    found
}

/// Whether a word is an argument that a row lists.
fn is_argument(listed: &str, word: &str, next: &str, is_first_operand: bool) -> bool {
    let name = word.split(['=', ':']).next().unwrap_or_default();
    let is_letter =
        |letter: char| word.starts_with('-') && !word.starts_with("--") && word[1..].contains(letter);
    let mut letters = listed.chars().skip(1);
    match (listed.as_bytes(), letters.next(), letters.next(), letters.next()) {
        ([b'~', ..], ..) => word == &listed[1..],
        (b"+", ..) => word.starts_with('+'),
        (b"=", ..) => is_assignment(word),
        ([b'-', b'-', ..], ..) => name.len() > 2 && listed.starts_with(name),
        ([b'-', ..], Some(letter), None, _) => is_letter(letter),
        ([b'-', ..], Some(letter), Some('='), None) => {
            is_letter(letter) && (word.contains('=') || next.contains('='))
        }
        ([b'-', ..], ..) => name == listed || name.strip_prefix('-') == Some(listed),
        ([b'/', ..], ..) => word.to_ascii_lowercase().starts_with(listed),
        _ => is_first_operand && word == listed,
    }
}

/// The name of a program that may be given by its path, as the tables have it.
fn name_of(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let ends = [".exe", ".cmd", ".bat", ".com"];
    let stem = ends.iter().find_map(|end| {
        let at = name.len().checked_sub(end.len())?;
        name.get(at..)?.eq_ignore_ascii_case(end).then(|| name[..at].to_ascii_lowercase())
    });
    let name = stem.unwrap_or_else(|| name.to_owned());
    // `python3.12` and `clang-18` are those without a version.
    let plain = name.trim_end_matches(|end: char| end.is_ascii_digit() || ".-".contains(end));
    let is_listed =
        |name: &str| RUNNERS.contains(&name) || ARGUMENTS.iter().any(|(names, _)| names.contains(&name));
    if !is_listed(&name) && is_listed(plain) { plain.to_owned() } else { name }
}

/// Whether a word is `NAME=value` or `NAME:=value`.
fn is_assignment(word: &str) -> bool {
    let name = word.split('=').next().filter(|name| name.len() < word.len()).unwrap_or_default();
    let name = name.trim_end_matches([':', '+', '?', '!']);
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a script of sed may have its command `e` or `w`, or one of these flags of `s`.
fn is_running_script(script: &str) -> bool {
    let bytes = script.as_bytes();
    let is_flag = |byte: u8| byte.is_ascii_digit() || b"gimpIMewW".contains(&byte);
    let is_end =
        |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_whitespace() || b";}#/".contains(byte));
    (0..bytes.len()).any(|start| {
        let begins = start == 0 || !bytes[start - 1].is_ascii_alphabetic();
        let length = bytes[start..].iter().take_while(|byte| is_flag(**byte)).count();
        let flags = &bytes[start..start + length];
        begins && flags.iter().any(|byte| b"ewW".contains(byte)) && is_end(bytes.get(start + length))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str) -> Vec<String> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        arguments_to_name(&words, 1).into_iter().map(|at| words[at].clone()).collect()
    }

    #[test]
    fn arguments_that_run_programs_are_found_in_every_form() {
        for (command, arguments) in [
            ("git -c alias.x=!id x", &["-c"][..]),
            ("git -C dir -ccore.pager=id log", &["-ccore.pager=id"]),
            ("git --exec-path=/tmp status", &["--exec-path=/tmp"]),
            ("/usr/bin/git fetch --upload-p=x", &["--upload-p=x"]),
            ("git diff --output x", &["--output"]),
            ("git clone -u x y", &["-u"]),
            ("git rebase -x id main", &["-x"]),
            ("git config alias.x y", &["config"]),
            ("git -C dir config alias.x y", &["config"]),
            ("git submodule foreach id", &["foreach"]),
            ("ip netns exec x id", &["exec"]),
            ("find . -name x -exec id +", &["-exec"]),
            ("tar xIf id x.tar", &["xIf"]),
            ("tar -cf x --to-c=id", &["--to-c=id"]),
            (
                "tar -cf x --checkpoint=1 --checkpoint-action=exec=id",
                &["--checkpoint=1", "--checkpoint-action=exec=id"],
            ),
            ("ssh -oProxyCommand=id host", &["-oProxyCommand=id"]),
            ("ssh -4o ProxyCommand=id host", &["-4o"]),
            ("rsync -ave id a b", &["-ave"]),
            ("make SHELL=/tmp/x all", &["SHELL=/tmp/x"]),
            ("npm exec id", &["exec"]),
            ("npm test --script-shell=/tmp/x", &["--script-shell=/tmp/x"]),
            ("env git -c a.b=c x", &["git", "-c"]),
            ("env PATH=. git status", &["PATH=.", "git"]),
            ("xargs -n 1 rm", &["-n", "1", "rm"]),
            ("timeout 5 sh -c id", &["5", "sh", "-c"]),
            ("FOO=1 make", &["make"]),
            ("go build -toolexec id", &["-toolexec"]),
            ("go test --exec=id", &["--exec=id"]),
            ("python3.12 -Ic x", &["-Ic"]),
            ("GIT.EXE -c a.b=c x", &["-c"]),
            ("sed 1e x", &["1e"]),
            ("sed s/a/b/ge x", &["s/a/b/ge"]),
            ("vim +:!id x", &["+:!id"]),
        ] {
            assert_eq!(found(command), arguments, "{command}");
        }
    }

    #[test]
    fn usual_arguments_are_not_found() {
        for command in [
            "git status",
            "git -C dir log --oneline -c",
            "git push -u origin main",
            "git commit -am x",
            "git switch -c feature",
            "git rebase main",
            "find . -name x -type f",
            "tar xzf x.tar.gz",
            "rsync -av --delete a b",
            "make all",
            "npm run build",
            "npm run x",
            "git add config",
            "npm install",
            "cargo test --workspace",
            "sed -n 1,5p src/engine.rs",
            "sed s/error/warning/g x",
            "env",
            "ls -c a=b",
        ] {
            assert_eq!(found(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn words_that_a_rule_names_are_followed_to_the_program_behind() {
        let words: Vec<String> = "timeout 5 git -c a.b=c x".split(' ').map(str::to_owned).collect();
        assert_eq!(arguments_to_name(&words, 3), [3]);
        assert_eq!(arguments_to_name(&words, 1), [1, 2, 3]);
    }
}
