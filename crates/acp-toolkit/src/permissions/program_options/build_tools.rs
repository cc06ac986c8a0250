//! Build tools, compilers, package managers and containers.

use super::row::{Row, clusters, words};

/// The arguments of `docker compose`.
const COMPOSE: &str = "-f cp exec run --env-file --file --project-directory";

/// The arguments of the package managers of Node.js.
const NODE_PACKAGES: &str = "-C -c --browser --call --cwd --dir --editor --eval --git --global-config --globalconfig --node-options \
     --prefix --script-shell --shell --shell-mode --userconfig --viewer !--global c co+nfig !c>get !c>list !c>ls !co+nfig>get \
     !co+nfig>list !co+nfig>ls cr+eate dlx ed+it ex+ec exp+lore ini+t inn+it node pk+g/set plugin repl set set-script x";

pub(super) const ROWS: &[Row] = &[
    clusters(
        "make gmake remake",
        "CfIjloOWE",
        "= -C -E -I -f --directory --eval --file --include-dir --makefile",
    ),
    clusters("ninja samu", "Cfjklt", "-C -f"),
    words("cmake", "= -C* -D* -E -P --script !--build"),
    words("ctest", "-D* -S* -T --build-and-test"),
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
        "crefdtib",
        "--python --config-settings config !config>debug !config>get !config>list --cert --proxy --index-url --extra-index-url -i",
    ),
    clusters("bundle bundler", "?", "co+nfig con+sole e+xec op+en pl+ugin --gemfile"),
    words("gem", "ex+ec op+en --config-file"),
    words("composer", "conf+ig !conf+ig>--list !conf+ig>-l e+xec gl+obal -d --working-dir"),
    clusters(
        "rake",
        "eEprfRI",
        "-E -I -R -e -f -p -r --execute --execute-continue --execute-print --libdir --rakefile --rakelibdir --require",
    ),
    clusters("cargo", "CZpjF", "-C -Z --config --lockfile-path --manifest-path rustc rustdoc"),
    clusters("rustc rustdoc", "CZoLlWADF", "-C -Z -o --test-builder --runtool"),
    words(
        "go",
        "-blockprofile -coverprofile -cpuprofile -exec -fuzz -gccgoflags -ldflags -memprofile -modfile -mutexprofile -o \
         -outputdir -overlay -toolexec -trace -vettool generate telemetry",
    ),
    words("go", "*@").within("run"),
    words("go", "-u -w").within("env"),
    words("gcc cc g++ c++ clang clang++", "-wrapper -fplugin -specs -fuse-ld -o* -B* -MF* @*"),
    clusters(
        "mvn mvnw",
        "DPTb",
        "-D=argLine -D=exec. -D=executable -D=jvm -D=maven.ext -f -l -s -t --define=exec --file --global-settings \
         --global-toolchains --log-file --settings --toolchains *exec: *exec-maven-plugin *groovy !-fae !-ff !-fn !-fos !-itr !-llr \
         !-nsu !-ntp !-pl !-rf",
    ),
    clusters(
        "gradle gradlew",
        "DPIbcpgx",
        "-D=org.gradle. -I -b -c -g -p --build-file --gradle-user-home --include-build --init-script --project-dir \
         --settings-file",
    ),
    words("java", "-agentlib -agentpath -javaagent -XX !-XX:+* !-XX:-* !-XX:Initial* !-XX:Max* !-XX:Min* @*"),
    words("protoc", "--dependency_out --descriptor_set_out --plugin -o* @*"),
    words("eslint jest vitest webpack rollup vite mocha ava stylelint", "-c -r --config --require"),
    clusters(
        "pytest py.test",
        "pcokmnrW",
        "-c -o -p --basetemp --confcutdir --junit-xml --junitxml --log-file --override-ini --pdbcls --rootdir !--co !--pdb !-p>no:* !-pno:*",
    ),
    clusters("tox", "cexm", "-c -x exec --conf --override"),
    clusters(
        "ansible ansible-playbook",
        "aeiMmlufT",
        "-M -a -i -m --args --inventory --module-name --module-path !-m>ping !-m>setup",
    ),
    clusters(
        "docker podman nerdctl",
        "cHl?",
        "-H --config --connection --context --host build builder/build buildx !buildx>du !buildx>ls !buildx>version commit container/commit container/cp \
         container/create container/exec container/run context/create context/update context/use cp create debug exec image/build \
         kube/play machine/ssh model/run play/kube plugin run service/create service/update stack/deploy stack/up unshare \
         volume/create",
    ),
    clusters("docker podman nerdctl", "o", "-o --output")
        .within("container/export export image/save save volume/export"),
    clusters("docker podman nerdctl", "fp", COMPOSE).within("compose").leading(),
    clusters("docker podman nerdctl", "o", "-o --output").within("compose/config compose/export"),
    clusters("docker-compose podman-compose", "fp", COMPOSE).leading(),
    clusters("docker-compose podman-compose", "o", "-o --output").within("config export"),
    words("kubectl oc", "--kubeconfig config/set config/set-credentials cp debug edit exec plugin run"),
    words("helm", "--kubeconfig --output-dir --post-renderer plugin"),
    words("terraform tofu", "-backup -chdir -out -plugin-dir -state -state-out console"),
    words("nix", "bundle develop repl run shell --builders --expr --option"),
    words("nix-shell nix-build", "-E -p --builders --command --expr --option --run"),
    clusters("apt apt-get apt-cache aptitude", "octa", "-c -o --config-file --option"),
    words("dpkg", "--post-invoke --pre-invoke --root --status-logger"),
    clusters("rpm rpmbuild rpmspec", "ED", "-D -E --define --eval --load --macros --pipe --rcfile --root"),
    words("yum dnf", "-c* --config --installroot --setopt"),
];
