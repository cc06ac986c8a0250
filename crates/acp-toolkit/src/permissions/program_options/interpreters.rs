//! Interpreters, editors, pagers and debuggers.

use super::row::{Row, clusters, words};

pub(super) const ROWS: &[Row] = &[
    clusters(
        "sh bash dash ksh mksh zsh fish ash",
        "~oO",
        "-c -i -s --command --init-command --init-file --rcfile +*",
    )
    .leading(),
    words("cmd", "/c* /k* /r*").any_case(),
    words("powershell pwsh", "-c+ommand -e+ncodedcommand -ec -f+ile").any_case(),
    clusters("python python2 python3 pypy pypy3 py", "cmWXQ", "-c -m --check-hash-based-pycs").leading(),
    clusters(
        "node nodejs tsx ts-node",
        "Cr",
        "-C -e -p -r --env-file --env-file-if-exists --eval --experimental-loader --import --inspect --inspect-brk --loader \
         --openssl-config --print --redirect-warnings --require --snapshot-blob --test-reporter --test-reporter-destination \
         --tls-keylog !--test",
    )
    .leading()
    .underscores(),
    words("deno", "eval repl run task --config --import-map --preload"),
    clusters("perl", "IMmeEFiVxd", "-E -I -M -d -e -m -x").leading(),
    clusters("ruby irb", "CEFIeirx", "-I -e -r -x").leading(),
    clusters("php", "BERFcdfrtzS", "-B -E -R -a -c -d -r -z").leading(),
    clusters("lua luajit", "el", "-e -i -l").leading(),
    words("R Rscript", "-e --file"),
    clusters("julia", "ELeCHJpt", "-E -L -e --eval --load --print").leading(),
    words("erl", "-boot -config -eval -init -run -s"),
    words("elixir iex", "-S -e -pr -r --erl --eval --require --rpc-eval"),
    words("octave ghc scala gnuplot", "-e --eval"),
    clusters(
        "vim vi nvim view vimdiff ex",
        "cSsTtuUwWiV",
        "+* -S -V -c -l -s -u -w -W --cmd --remote-expr --remote-send --startuptime !+ !+#",
    ),
    words("emacs", "-l -f -batch -ev+al -ex+ecute -fu+ncall -lo+ad -sc+ript"),
    clusters("less more", "?", "+* -k -o -O --lesskey-content --lesskey-file --lesskey-src --log-file !+# !+F !+G"),
    clusters("man", "CRLmMeEprsSPTHX", "-C -H -P -p --config-file --html --pager --preprocessor"),
    words("ag ack bat delta batcat", "--pager"),
    words(
        "gdb lldb",
        "-args -batch -com+mand -ex -eval-+command -iex -init-+command -init-eval-+command -o -s -x",
    ),
    words("fzf", "--bind --history --listen --preview --with-shell"),
    words(
        "sqlite3",
        "-A -cmd -init .* **writefile **load_extension **edit **vacuum **attach !./* !../* !.bail* !.changes* !.databases* !.dbinfo* !.dump* \
         !.echo* !.exit* !.explain* !.fullschema* !.headers* !.help* !.indexes* !.indices* !.mode* !.nullvalue* !.quit* !.schema* \
         !.separator* !.show* !.stats* !.tables* !.timeout* !.timer* !.version* !.width*",
    ),
    clusters(
        "psql",
        "cdfFhLopPRTUv",
        "-L -c -f -o -v --command --file --log-file --output --set --variable",
    ),
    clusters(
        "mysql mariadb mysqldump mariadb-dump",
        "ehuPSDpTr",
        "-T -e -r --defaults-extra-file --defaults-file --execute --init-command --pager --plugin-dir --result-file --tab --tee",
    ),
];
