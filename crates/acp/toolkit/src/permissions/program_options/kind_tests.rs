//! Arguments by the kind of harm, one test for each kind. Every word after `>` is one that a rule must name.

use super::*;

fn check(table: &[&str]) {
    for row in table {
        let (command, named) = row.split_once(" > ").unwrap_or((row, ""));
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let found: Vec<_> = arguments_to_name(&words, 1).into_iter().map(|at| words[at].as_str()).collect();
        assert_eq!(found.join(" "), named, "{command}");
    }
}

#[test]
fn options_are_found_in_each_spelling() {
    check(&[
        "node --env_file=x a.js > --env_file=x",
        "node --snapshot_blob x a.js > --snapshot_blob",
        "node --inspect_brk a.js > --inspect_brk",
        "jest --global-setup=x > --global-setup=x",
        "jest --globalSetup=x > --globalSetup=x",
        "sdiff --diff-p=x a b > --diff-p=x",
        "wget --warc-fi=x u > --warc-fi=x",
        "gdb -ear=x > -ear=x",
        "gcc --output=x a.c > --output=x",
        "gcc --prefix=x a.c > --prefix=x",
        "node --max_old_space_size=4096 a.js",
        "wget --reject=x u",
    ]);
}

#[test]
fn options_with_code_are_found() {
    check(&[
        "php --run x > --run",
        "php --process-begin x > --process-begin",
        "sqlite3 db select(edit('x','id')) > select(edit('x','id'))",
        "sqlite3 db \"edit\"('x') > \"edit\"('x')",
        "gdb -eiex x > -eiex",
        "gdb --early-init-eval-command=x > --early-init-eval-command=x",
        "lldb --one-line x > --one-line",
        "fish -C x a.fish > -C",
        "tcsh -c x > -c",
        "perl -F/x/ a.pl > -F/x/",
        "ed !id > !id",
        "pylint --init-hook=x a.py > --init-hook=x",
        "emacsclient -e x > -e",
        "vim.tiny -c x > -c",
        "rollup -p x a > -p",
        "mix run -e x > -e",
        "ansible-playbook -e ansible_ssh_common_args=x a.yml > -e",
        "ansible-playbook -e version=1 a.yml",
        "perl a.pl -F",
    ]);
}

#[test]
fn options_with_a_program_are_found() {
    check(&[
        "hg pull -e x > -e",
        "hg clone -e x a b > -e",
        "hg bisect --command x > --command",
        "hg merge --tool x > --tool",
        "diff3 --diff-program=x a b c > --diff-program=x",
        "mypy --python-executable x a.py > --python-executable",
        "kubectl kustomize --helm-command x . > --helm-command",
        "nodemon -x id > -x",
        "nc.traditional -e x h 1 > -e",
        "meson test --wrap=x > --wrap=x",
        "bazel build --run_under=x y > --run_under=x",
        "hg commit -e",
        "numactl id > id",
        "/lib64/ld-linux-x86-64.so.2 /bin/id > /bin/id",
        "cross-env A=b git -c a.b=c x > A=b git -c",
    ]);
}

#[test]
fn options_that_load_files_are_found() {
    check(&[
        "gdb -eix x > -eix",
        "clang -fpass-plugin=x a.c > -fpass-plugin=x",
        "clang -Xclang -load a.c > -Xclang",
        "cmake --toolchain x . > --toolchain",
        "eslint -f ./x.js . > -f",
        "mocha --import x > --import",
        "prettier --plugin=x a > --plugin=x",
        "rspec -r x > -r",
        "ssh-keygen -D x > -D",
        "javac -J-javaagent:x a.java > -J-javaagent:x",
        "ctags --options=x a > --options=x",
        "nm --plugin x a > --plugin",
        "eslint -f json .",
        "mocha -R spec",
    ]);
}

#[test]
fn options_and_operands_that_write_are_found() {
    check(&[
        "sqlite3 x -Acf y a > -Acf",
        "pip --log x list > --log",
        "pip install -t x a > -t",
        "curl --expand-output x u > --expand-output",
        "hg cat -o x a > -o",
        "cmake --graphviz=x . > --graphviz=x",
        "ctest -O x > -O",
        "go test -test.cpuprofile=x . > -test.cpuprofile=x",
        "rustc --emit=link=x a.rs > --emit=link=x",
        "rustc --out-dir x a.rs > --out-dir",
        "pytest --debug=x > --debug=x",
        "pytest --cov-report=xml:x > --cov-report=xml:x",
        "tree -o x > -o",
        "iconv -o x a > -o",
        "uniq a x > x",
        "uniq -f 1 a x > x",
        "xxd -ps a x > x",
        "xxd -c 16 a x > x",
        "rustc --emit=metadata a.rs",
        "pytest --cov=src --cov-report=term",
        "pip install --pre -r x",
        "tree -L 2",
        "uniq -c a",
        "uniq -f 1 a",
        "xxd -c 16 a",
    ]);
}

#[test]
fn arguments_that_are_passed_on_are_found() {
    check(&[
        "cmake --build x -- -f y > -f",
        "cmake --build x -- SHELL=y > SHELL=y",
        "gh repo clone o/r -- --upload-pack=x > --upload-pack=x",
        "cmake --build x -- -j8",
        "cmake --build x -j 8 --target y",
        "gh repo clone o/r -- --depth=1",
    ]);
}
