//! Programs that test, check and format code, and tools of JavaScript.

use super::row::{Row, clusters, words};

pub(super) const ROWS: &[Row] = &[
    words("eslint jest vitest webpack rollup vite mocha ava stylelint", "-c -r --config --require"),
    clusters(
        "eslint",
        "cfo",
        "-f=. -f=/ -o --cache-location --format=. --format=/ --output-file --parser --plugin --resolve-plugins-relative-to \
         --rulesdir",
    ),
    words(
        "jest vitest",
        "-cache-directory -coverage-directory -dependency-extractor -environment -filter -global-setup -global-teardown -haste \
         -output-file -preset -prettier-path -projects -reporter=. -reporter=/ -reporters=. -reporters=/ -resolver -root \
         -root-dir -runner -setup-files -setup-files-after-env -snapshot-serializers -test-environment -test-results-processor \
         -test-runner -test-sequencer -transform -watch-plugins",
    )
    .spellings(),
    clusters(
        "mocha",
        "cfgjnOrRstu",
        "-R=. -R=/ -n -u=. -u=/ --experimental-loader --file --import --loader --node-option --opts --package --reporter=. \
         --reporter=/ --ui=. --ui=/",
    ),
    clusters("rollup", "cdefgimnop", "-d -o -p --configPlugin --dir --file --plugin"),
    words("webpack", "-o -output-path"),
    words("vite", "-out-dir").spellings(),
    words("stylelint", "-custom-formatter -custom-syntax -o -output-file -plugins").spellings(),
    words("prettier", "-config -plugin -plugin-search-dir"),
    words(
        "tsc",
        "-declarationdir -generatecpuprofile -generatetrace -outdir -outfile -tsbuildinfofile @*",
    )
    .any_case(),
    words("babel", "-config-file -d -o -out-dir -out-file -plugins -presets"),
    clusters("nodemon", "xiweCdrs", "-r -x --config --exec --import --loader --require"),
    clusters(
        "pytest py.test",
        "pcokmnrW",
        "-c -o -p --basetemp --confcutdir --cov-config --cov-report=: --debug=* --html --junit-xml --junitxml --log-file \
         --override-ini --pdbcls --report-log --rootdir !--co !--cov !--pdb !-p>no:* !-pno:*",
    ),
    clusters("tox", "cexm", "-c -x exec --conf --override"),
    words("coverage pipenv honcho", "run"),
    words("pylint", "--init-hook --load-plugins --rcfile --output"),
    words("mypy", "--config-file --html-report --junit-xml --python-executable --txt-report --xml-report"),
    words("flake8", "--append-config --config --output-file"),
    clusters("ruff", "o", "-o --config --output-file"),
    clusters("rspec", "IrofPetdEO", "-I -O -o -r --options --out --require"),
    clusters("rubocop", "rofdc", "-c -o -r --config --out --plugin --require"),
    words("phpunit", "-bootstrap -c -configuration -extension -prepend -printer --coverage-* --log-*"),
    words("rails", "r runner"),
];
