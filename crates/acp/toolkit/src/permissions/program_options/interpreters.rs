//! Interpreters, editors, pagers and debuggers.

use super::row::{Row, clusters, words};

pub(super) const ROWS: &[Row] = &[
    clusters(
        "sh bash dash ksh mksh zsh fish ash csh tcsh rbash",
        "~oO",
        "-c -i -s --command --init-command --init-file --rcfile +*",
    )
    .leading(),
    clusters("fish", "CcDdfop", "-C -o -p --debug-output --profile --profile-startup").leading(),
    clusters("nu", "cemn", "-c -e --commands --config --env-config --execute").leading(),
    clusters("ipython", "cm", "-c -m --Interactive* --Terminal* --config --ext --ipython-dir --logappend --logfile \
     --profile-dir"),
    words("cmd", "/c* /k* /r*").any_case(),
    words("powershell pwsh", "-c+ommand -e+ncodedcommand -ec -f+ile").any_case(),
    clusters("python python2 python3 pypy pypy3 py", "cmWXQ", "-c -m --check-hash-based-pycs").leading(),
    clusters(
        "node nodejs tsx ts-node",
        "Cr",
        "-C -e -p -r --build-snapshot --build-snapshot-config --cpu-prof --cpu-prof-dir --cpu-prof-name --debug-port \
         --diagnostic-dir --env-file --env-file-if-exists --eval --experimental-config-file --experimental-loader \
         --experimental-policy --experimental-sea-config --heap-prof --heap-prof-dir --heap-prof-name --icu-data-dir --import \
         --inspect --inspect-brk --inspect-port --inspect-wait --loader --logfile --openssl-config --print \
         --redirect-code-traces-to --redirect-warnings --report-dir --report-directory --report-filename --require \
         --snapshot-blob --test-global-setup --test-reporter --test-reporter-destination --tls-keylog \
         --trace-event-file-pattern --trace-turbo-file-prefix --trace-turbo-path !--test",
    )
    .leading()
    .spellings(),
    words("deno", "eval repl run task --config --import-map --preload"),
    clusters("perl", "IMmeEFiVxd", "-E -F -I -M -d -e -m -x").leading(),
    clusters("ruby irb", "CEFIeirx", "-I -e -r -x").leading(),
    clusters(
        "php",
        "BERFcdfrtzS",
        "-B -E -R -a -c -d -r -z --define --interactive --php-ini --process-begin --process-code --process-end --run \
         --zend-extension",
    )
    .leading(),
    clusters("lua luajit", "el", "-e -i -l").leading(),
    words("R Rscript", "-e --file"),
    clusters("julia", "ELeCHJpt", "-E -L -e --eval --load --print").leading(),
    words("erl", "-boot -config -eval -init -run -s"),
    words("elixir iex", "-S -e -pr -r --erl --eval --require --rpc-eval"),
    words("octave ghc scala gnuplot", "-e --eval"),
    clusters(
        "vim vi nvim view vimdiff ex evim gvim rgview rgvim rview rvim vim.basic vim.gtk3 vim.nox vim.tiny",
        "cSsTtuUwWiV",
        "+* -S -V -c -i -l -s -u -w -W --cmd --remote-expr --remote-send --startuptime !+ !+#",
    ),
    words("ed red", "*!"),
    clusters("dc", "ef", "-e=! -f --expression=! --file"),
    clusters("emacsclient", "afFdswT", "-a -e -f --alternate-editor --eval --server-file"),
    words("emacs", "-L -directory -l -f -batch -ev+al -ex+ecute -fu+ncall -lo+ad -sc+ript"),
    clusters("less more", "?", "+* -k -o -O --lesskey-content --lesskey-file --lesskey-src --log-file !+# !+F !+G"),
    clusters("man", "CRLmMeEprsSPTHX", "-C -H -P -p --config-file --html --pager --preprocessor"),
    words("ag ack bat delta batcat", "--config-file --pager"),
    words(
        "gdb lldb",
        "-D -args -batch -com+mand -da+ta-directory -ear+ly-init-command -ear+ly-init-eval-command -eiex -eix -ex \
         -eval-+command -iex -init-+command -init-eval-+command -ix -o -s -x",
    ),
    words(
        "lldb",
        "-K -O -S -k -one-line -one-line-before-file -one-line-on-crash -source -source-before-file -source-on-crash",
    ),
    words("fzf", "--bind --history --listen --preview --with-shell"),
    words(
        "sqlite3",
        "-A* --A* -cmd -init .* **writefile **load_extension **edit **vacuum **attach !./* !../* !.bail* !.changes* \
         !.databases* !.dbinfo* !.dump* !.echo* !.exit* !.explain* !.fullschema* !.headers* !.help* !.indexes* !.indices* \
         !.mode* !.nullvalue* !.quit* !.schema* !.separator* !.show* !.stats* !.tables* !.timeout* !.timer* !.version* \
         !.width*",
    ),
    clusters(
        "psql",
        "cdfFhLopPRTUv",
        "-L -c -f -o -v --command --file --log-file --output --set --variable",
    ),
    clusters(
        "mysql mariadb mysqldump mariadb-dump",
        "ehuPSDpTr",
        "-T -e -r --defaults-extra-file --defaults-file --execute --init-command --pager --plugin-dir --result-file --tab \
         --tee",
    ),
];
