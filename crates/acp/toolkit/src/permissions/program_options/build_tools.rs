//! Build tools, compilers, package managers and containers.

use super::row::{Row, clusters, words};

/// The letters of `make` that take a value, and its arguments. CMake passes the words after `--` to it.
const MAKE_LETTERS: &str = "CfIjloOWE";
const MAKE: &str = "= -C -E -I -f --directory --eval --file --include-dir --makefile";

/// The arguments of `docker compose`.
const COMPOSE: &str = "-f cp exec run --env-file --file --project-directory";

/// The arguments of the package managers of Node.js.
const NODE_PACKAGES: &str = "-C -c --browser --call --cwd --dir --editor --eval --git --global-config --globalconfig \
 --node-options --prefix --script-shell --shell --shell-mode --userconfig --viewer !--global c co+nfig !c>get !c>list !c>ls \
 !co+nfig>get !co+nfig>list !co+nfig>ls cr+eate dlx ed+it ex+ec exp+lore ini+t inn+it node pk+g/set plugin repl set set-script \
 x";

pub(super) const ROWS: &[Row] = &[
    clusters("make gmake remake", MAKE_LETTERS, MAKE),
    clusters("cmake", MAKE_LETTERS, MAKE).within("--"),
    clusters("ninja samu", "Cfjklt", "-C -f"),
    words(
        "cmake",
        "= -C* -D* -E -P -find-package -graphviz -profiling-output -toolchain -trace-redirect --script",
    ),
    words(
        "ctest",
        "-D* -O -S* -T -build-and-test -build-makeprogram -dashboard -extra-submit -output-junit -output-log -script \
         -script-new-process -test-action -test-command",
    ),
    clusters("just", "fds?", "= -c -d -f --command --justfile --shell --working-directory"),
    clusters("task mask", "?", "= -d -f -t --dir --taskfile"),
    clusters("npm", "?", NODE_PACKAGES).values("-w --workspace"),
    clusters("pnpm", "?", NODE_PACKAGES).values("-F --filter --filter-prod"),
    clusters("yarn corepack cnpm ni", "?", NODE_PACKAGES),
    clusters("bun", "cepr?", "-c -e -p -r --config --cwd --eval --preload --print create exec init repl x"),
    words(
        "uv poetry pdm hatch rye conda mamba pixi",
        "exec run shell tool x --config --config-file --python !tool>dir !tool>list",
    ),
    words("pyenv rbenv nodenv jenv goenv nvm asdf mise volta direnv rustup", "exec run x"),
    clusters(
        "pip pip3",
        "crefdtibwC",
        "--build-option --config-settings --dest --find-links --global-option --log --prefix --python --report --root --src \
         --target --wheel-dir !--pre config !config>debug !config>get !config>list --cert --proxy --index-url \
         --extra-index-url -i",
    )
    .values("--no-binary --only-binary"),
    clusters("pip pip3", "crefdtibwC", "-C -d -f -t -w").within("download install wheel").values("--no-binary --only-binary"),
    clusters("bundle bundler", "?", "co+nfig con+sole e+xec op+en pl+ugin --gemfile"),
    words("gem", "ex+ec op+en --config-file"),
    words("composer", "conf+ig !conf+ig>--list !conf+ig>-l e+xec gl+obal -d --working-dir"),
    clusters(
        "rake",
        "eEprfRI",
        "-E -I -R -e -f -p -r --execute --execute-continue --execute-print --libdir --rakefile --rakelibdir --require",
    ),
    clusters("cargo", "CZpjF", "-C -Z --config --lockfile-path --manifest-path rustc rustdoc"),
    clusters(
        "rustc rustdoc",
        "CZoLlWADF",
        "-C -Z -o --codegen --emit== --out-dir --print== --runtool --sysroot --test-builder",
    ),
    words(
        "go",
        "-blockprofile -coverprofile -cpuprofile -exec -fuzz -gccgoflags -ldflags -memprofile -modfile -mutexprofile -o \
         -outputdir -overlay -test.blockprofile -test.coverprofile -test.cpuprofile -test.gocoverdir -test.memprofile \
         -test.mutexprofile -test.outputdir -test.testlogfile -test.trace -toolexec -trace -vettool generate telemetry",
    ),
    words("go", "*@").within("run"),
    words("go", "-u -w").within("env"),
    words(
        "gcc cc g++ c++ clang clang++",
        "-B* -MF* -Wl,--output* -Wl,--plugin* -Wl,-o* -Wl,-plugin* -Xclang -Xlinker -aux-info -config -config-system-dir \
         -config-user-dir -fpass-plugin -fplugin -fuse-ld -gcc-toolchain -ld-path -o* -output -prefix -serialize-diagnostics \
         -specs -wrapper @*",
    ),
    clusters(
        "mvn mvnw",
        "DPTb",
        "-D=argLine -D=exec. -D=executable -D=jvm -D=maven.ext -f -l -s -t --define=exec --file --global-settings \
         --global-toolchains --log-file --settings --toolchains *exec: *exec-maven-plugin *groovy !-fae !-ff !-fn !-fos !-itr \
         !-llr !-nsu !-ntp !-pl !-rf",
    ),
    clusters(
        "gradle gradlew",
        "DPIbcpgx",
        "-D=org.gradle. -I -b -c -g -p --build-file --gradle-user-home --include-build --init-script --project-dir \
         --settings-file",
    ),
    words("ld ld.bfd ld.gold ld.lld", "-o* -output -pl+ugin @*"),
    words("ar as nm objcopy objdump ranlib size strip", "-pl+ugin @*"),
    clusters("ctags", "fILo", "-f -o --optlib-dir --options --options-maybe"),
    words(
        "javac",
        "-J* -Xplugin* -d -h -processor -processor-module-path -processor-path -processorpath -s @*",
    ),
    words(
        "java",
        "-Xbootclasspath* -Xlog* -Xrun* -agentlib -agentpath -javaagent -XX !-XX:+* !-XX:-* !-XX:Initial* !-XX:Max* !-XX:Min* \
         @*",
    ),
    words("protoc", "--dependency_out --descriptor_set_out --plugin -o* @*"),
    clusters(
        "ansible ansible-playbook",
        "aeiMmlufT",
        "-M -a -e=ansible_ -e=@ -e={{ -i -m --args --become-password-file --connection-password-file --extra-vars=ansible_ \
         --extra-vars=@ --extra-vars={{ --inventory --module-name --module-path --playbook-dir --scp-extra-args \
         --sftp-extra-args --ssh-common-args --ssh-extra-args --vault-id --vault-password-file !-m>ping !-m>setup",
    ),
    clusters(
        "docker podman nerdctl",
        "cHl?",
        "-H --config --connection --context --host build builder/build buildx !buildx>du !buildx>ls !buildx>version commit \
         container/commit container/cp container/create container/exec container/run context/create context/update context/use \
         cp create debug exec image/build kube/play machine/ssh model/run play/kube plugin run service/create service/update \
         stack/deploy stack/up unshare volume/create",
    ),
    clusters("docker podman nerdctl", "o", "-o --output")
        .within("container/export export image/save save volume/export"),
    clusters("docker podman nerdctl", "fp", COMPOSE).within("compose").leading(),
    clusters("docker podman nerdctl", "o", "-o --output").within("compose/config compose/export"),
    clusters("docker-compose podman-compose", "fp", COMPOSE).leading(),
    clusters("docker-compose podman-compose", "o", "-o --output").within("config export"),
    words("kubectl oc", "--kubeconfig config/set config/set-credentials cp debug edit exec plugin run"),
    words("kubectl oc", "--helm-command --profile-output"),
    clusters("kubectl oc kustomize", "eno", "-o --mount --output").within("kustomize"),
    words("aws", "configure/set configure/import"),
    words("helm", "--kubeconfig --output-dir --post-renderer plugin"),
    words("terraform tofu", "-backup -chdir -out -plugin-dir -state -state-out console"),
    words("bazel bazelisk", "-bazelrc -run_under run"),
    words("dotnet", "exec fsi"),
    words("meson", "--cross-file --gdb-path --native-file --wrapper devenv"),
    words("mix", "-e -eval -r -require cmd eval"),
    words("nix", "bundle develop repl run shell --builders --expr --option"),
    words("nix-shell nix-build", "-E -p --builders --command --expr --option --run"),
    clusters("apt apt-get apt-cache aptitude", "octa", "-c -o --config-file --option"),
    words("dpkg", "--post-invoke --pre-invoke --root --status-logger"),
    clusters("rpm rpmbuild rpmspec", "ED", "-D -E --define --eval --load --macros --pipe --rcfile --root"),
    words("yum dnf", "-c* --config --installroot --setopt"),
];
