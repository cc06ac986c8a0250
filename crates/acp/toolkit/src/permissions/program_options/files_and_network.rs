//! Programs for files, archives, documents and the network.

use super::row::{Row, clusters, words};

pub(super) const ROWS: &[Row] = &[
    words("find", "-exec -execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf"),
    clusters("fd fdfind", "eEtdSocjCxX", "-x -X --exec --exec-batch"),
    words("rg", "--pre --hostname-bin"),
    clusters("sort", "kStTo", "-o --output --compress-program"),
    clusters("uniq", "fsw", "#2"),
    words("xxd", "#2").values("-c -g -l -o -s"),
    clusters("iconv", "fto", "-o --output"),
    clusters("tree", "~LPIHTo", "-o"),
    clusters("sdiff", "oIw", "-o --diff-program --output"),
    clusters("diff3", "L", "--diff-program"),
    clusters("shuf", "ino", "-o --output"),
    words("split", "--filter"),
    clusters("sed gsed", "efiI", "-f --file"),
    clusters(
        "tar bsdtar gtar",
        "bCfFgHIKNTVX",
        "-F -I -g --checkpoint-action --index-file --info-script --listed-incremental --new-volume-script --rmt-command \
         --rsh-command --to-command --use-compress-program --volno-file !--checkpoint !--list",
    ),
    clusters("cpio", "CEFHIMOR", "-O --rsh-command --file"),
    clusters("zip", "bn", "-T -TT --test --unzip-command"),
    clusters("patch", "Bbdipo", "-o -r --output --reject-file"),
    clusters("ssh autossh slogin", "BbcDEeFIiJLlmOoPpQRSWw", "-E -F -I -S -o").leading_to(2),
    clusters("ssh-keygen", "abCDEFfImMNnOPRrstVwYZz", "-D -w"),
    clusters("ssh-add", "EHSstT", "-S -s"),
    clusters("scp", "cDFiJloPSX", "-D -F -S -o"),
    clusters("sftp", "BbcDFiJloPRSsX", "-D -F -S -b -o"),
    clusters("sshfs", "opF", "-F -o"),
    clusters(
        "rsync",
        "efBTM@",
        "-M -e --config --daemon --log-file --only-write-batch --password-file --remote-option --rsh --rsync-path \
         --write-batch",
    ),
    clusters(
        "curl",
        "AbcCdDeEFHKmoPQrtTuUwxXyYz",
        "-D -K -O -c -o -w=%output -w=@ --abstract-unix-socket --alt-svc --config --cookie-jar --dump-header --engine \
         --etag-save --expand-* --hsts --libcurl --output --output-dir --remote-name --remote-name-all --ssl-sessions --stderr \
         --trace --trace-ascii --unix-socket --write-out=%output --write-out=@ !--cookie",
    ),
    clusters(
        "wget",
        "aABDeGiIloOPQRtTUwXn",
        "-O -P -a -e -o --append-output --config --directory-prefix --execute --output-document --output-file --rejected-log \
         --save-cookies --use-askpass --hsts-file --warc-file --warc-tempdir !--reject",
    ),
    words("aria2c", "-d* -l* -o* --conf-path --dir --log --on-* --out --save-session"),
    clusters(
        "nc ncat netcat nc.openbsd nc.traditional",
        "?",
        "-c -e -o --exec --lua-exec --output --sh-exec",
    ),
    words("socat", "-lf -r -R *create: *creat: *exec: *file: *open: *shell: *system:"),
    words("ip tc bridge", "-b+atch net+ns/e+xec v+rf/e+xec"),
    clusters("tcpdump", "BcCEFGijmMrsTVwWyzZ", "-w -z"),
    words("nmap", "--script --datadir -o* !--data"),
    words(
        "openssl",
        "-config -engine -keylogfile -keyout -out -provider -provider-path -sess_out -writerand engine",
    ),
    clusters(
        "gpg gpg2",
        "ourN",
        "-o --agent-program --dirmngr-program --exec-path --homedir --keyboxd-program --load-extension --log-file --options \
         --output --photo-viewer --status-file",
    ),
    clusters(
        "pandoc",
        "ftrwodMVDHABTcFL",
        "-F -L -d -o -f=.lua -r=.lua -t=.lua -w=.lua --data-dir --defaults --extract-media --filter --from=.lua --log \
         --lua-filter --output --pdf-engine --read=.lua --to=.lua --write=.lua",
    ),
    words(
        "pdflatex latex xelatex lualatex tex pdftex luatex xetex etex",
        "-au+x-directory -cn+f-line -en+able-write18 -jo+bname -lu* -out+put-directory -sh+ell-escape \\*",
    ),
    words("latexmk", "-e -enable-write18 -latex=* -pdflatex=* -r -sh+ell-escape -usepretex"),
    words("xmllint", "-o -output"),
    words("xdg-open open", "-a"),
    words("journalctl systemctl", "edit --root --image"),
];
