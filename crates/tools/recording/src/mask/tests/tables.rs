//! Tables of texts with secrets, and of harmless texts that look similar.

use super::super::Masker;
use crate::event::{Event, EventKind, Line, Side};

/// A generated secret.
const SECRET: &str = "Zq1vX7wPk1LmT3rYb1Hn5";

/// The texts, each with `SECRET` in its place.
const TEXTS: &[&str] = &[
    "headers: [(\"Authorization\", \"SECRET\")]",
    "[\"X-Api-Key\", \"SECRET\"]",
    "('authorization', b'Bearer SECRET')",
    "headers.insert(\"X-Api-Key\", \"SECRET\")",
    "env:\n  - name: DB_PASSWORD\n    value: SECRET\n",
    "env:\n  - value: SECRET\n    name: DB_PASSWORD\n",
    "<add key=\"ApiToken\" value=\"SECRET\"/>",
    "<client-secret id=\"1\">SECRET</client-secret>",
    "secrets:\n  github: SECRET\n",
    "tokens:\n  - SECRET\n",
    "password: |\n  SECRET\n",
    "[credentials]\ngithub = SECRET\n",
    "set -x GITHUB_TOKEN SECRET",
    "setenv GITHUB_TOKEN SECRET",
    "ENV GITHUB_TOKEN SECRET",
    "os.environ['GITHUB_TOKEN'] = 'SECRET'",
    "process.env[\"API_KEY\"]='SECRET'",
    "token := \"SECRET\"",
    ":token => 'SECRET'",
    "curl -u user:SECRET http://h",
    "curl -sSu 'user:SECRET' http://h",
    "curl -b 'sid=SECRET' http://h",
    "sshpass -p SECRET ssh h",
    "docker login -u x -p SECRET",
    "redis-cli -a SECRET",
    "machine h login u password SECRET",
    "\u{1b}[32mtoken\u{1b}[0m=\u{1b}[33mSECRET",
    "token\u{a0}=\u{a0}SECRET",
    "aws_secret_access_key = SECRET",
    "token=\nSECRET",
    "const token: string = \"SECRET\";",
    "cfg.setPassword(\"SECRET\");",
    "<key>apiToken</key><string>SECRET</string>",
    "CREATE USER a IDENTIFIED BY 'SECRET'",
    "ALTER ROLE a WITH PASSWORD 'SECRET'",
    "npm config set //registry.npmjs.org/:_authToken SECRET",
    "mysql -u root -pSECRET db",
    "http://x/a?u=http%3A%2F%2Fy%3Ftoken%3DSECRET",
    "grant_type=x&assertion=SECRET",
    "SAMLResponse=SECRET&RelayState=1",
    "    client-key-data: SECRET\n",
];

/// The messages, each with `SECRET` in its place.
const MESSAGES: &[&str] = &[
    r#"{"parameter":"password","value":"SECRET"}"#,
    r#"{"label":"password","content":"SECRET"}"#,
    r#"{"property":"api_key","data":"SECRET"}"#,
    r#"{"attribute":"secret","stringValue":"SECRET"}"#,
    r#"{"name":"GITHUB_TOKEN","valueFrom":{"literal":"SECRET"}}"#,
    r#"{"auth":{"type":"bearer","value":"SECRET"}}"#,
    r#"{"auth":"SECRET"}"#,
    r#"{"type":"password","value":"SECRET"}"#,
    r#"{"title":"API token","text":"SECRET"}"#,
    r#"{"pass":"SECRET"}"#,
    r#"{"kty":"RSA","n":"AQAB","d":"SECRET"}"#,
    r#"{"k":"SECRET","kty":"oct"}"#,
    r#"{"name":"password","label":"Password","value":"SECRET"}"#,
    r#"{"envVar":"GITHUB_TOKEN","value":"SECRET"}"#,
    r#"{"env_var":"GITHUB_TOKEN","defaultValue":"SECRET"}"#,
    r#"{"secretName":"GITHUB_TOKEN","new_value":"SECRET"}"#,
    r#"{"name":"GITHUB_TOKEN","plaintext":"SECRET"}"#,
    r#"{"name":"GITHUB_TOKEN","answer":"SECRET"}"#,
    r#"{"deployKey":"SECRET"}"#,
    r#"{"masterKey":"SECRET"}"#,
    r#"{"psk":"SECRET"}"#,
    r#"{"subscription_key":"SECRET"}"#,
    r#"{"secretKeyBase":"SECRET"}"#,
    r#"{"SecretBinary":"SECRET"}"#,
    r#"{"pat":"SECRET"}"#,
    r#"{"recoveryCodes":["SECRET"]}"#,
    r#"{"seedPhrase":"SECRET"}"#,
    r#"{"mnemonic":"SECRET"}"#,
    r#"{"authHeader":"SECRET"}"#,
    r#"{"passwordAgain":"SECRET"}"#,
    r#"{"args":["curl","-u","joe:SECRET","http://x"]}"#,
    r#"{"args":["--auth","SECRET"]}"#,
    r#"{"args":["--pass","SECRET"]}"#,
    r#"{"lines":["-----BEGIN PRIVATE KEY-----","SECRET","-----END PRIVATE KEY-----"]}"#,
    r#"{"content":"SECRETSECRET\nSECRETSECRET\n-----END PRIVATE KEY-----"}"#,
];

/// Tokens with a form of their own.
const TOKENS: &[&str] = &[
    "eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..aXYxMjM0NTY3OA.Y2lwaGVydGV4dA.dGFnMTIzNDU2Nzg",
    "1234567890:AAEhBP0av28nXyZabcdEFGHijkLMNOpq12345",
    "EAACEdEose0cBAa1B2c3a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3a1B2c3",
    "MTA5NTIyODk2OTU5NzA3MTM2.Gabcde.abcdefghijklmnopqrstuvwxyz0123456789AB",
    "LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tCk1IY0NBUUVFSUFhYmNk",
    "aBc8Q~aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456",
    "1//0gabcdEFGH123456789-abcdefghijklmnopqrstuvwxyz",
    "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\nAAAAgQCabcDEF0123456789\nPrivate-MAC: x",
];

/// Harmless messages.
const HARMLESS: &[&str] = &[
    r#"{"text":"code=200&status=ok"}"#,
    r#"{"text":"state=open&page=2"}"#,
    r#"{"text":"code=SUCCESS_WITH_INFO_200&x=1"}"#,
    r#"{"text":"key=arrow-left-key-0001"}"#,
    r#"{"text":"unexpected token: identifier"}"#,
    r#"{"text":"Unexpected token: '<'"}"#,
    r#"{"text":"the token: a word of the language"}"#,
    r#"{"text":"class sk-button-primary-large-round"}"#,
    r#"{"text":"const token = getToken()"}"#,
    r#"{"text":"set the password for x2"}"#,
    r#"{"text":"a curl -u of user: it"}"#,
    r#"{"rows":[["Secret","Garden"],["Token","Ring"]]}"#,
    r#"{"rows":[["password","reset page"],["x","y"]]}"#,
    r#"{"CACHE_KEY":"node-modules-v1","ARROW_KEY":"left","SORT_KEY":"created"}"#,
    r#"{"name":"tokens","values":[1,2]}"#,
    r#"{"usage":{"outputTokens":"12"}}"#,
    r#"{"text":"outputTokens=12"}"#,
    r#"{"text":"bearer authentication-required"}"#,
    r#"{"text":"the token is invalid, secret santa-2024-plan, password | required_by_v2"}"#,
    r#"{"text":"let token = next_token2; token parser2.next()"}"#,
    r#"{"type":"text","text":"a1b2c3d4"}"#,
    r#"{"key":"tokens","value":"1200"}"#,
    r#"{"forgotPassword":"https://x/forgot"}"#,
    r#"{"auth":{"type":"oauth2","terminal":true},"pass":12,"fail":"0"}"#,
    r#"{"name":"DB_TOKEN","valueFrom":{"secretKeyRef":{"name":"db","key":"ref"}}}"#,
    r#"{"label":"Password","content":"Enter your password"}"#,
    r#"{"authMethods":[{"id":"api-key-2","name":"Key"}]}"#,
    r#"{"k":"v","d":"a1b2c3d4"}"#,
    r#"{"storageKey":"theme-preference","functionKey":"F5","sshKey":"~/.ssh/id_ed25519"}"#,
    r#"{"args":["run","--user","1000:1000","-u","root"]}"#,
    r#"{"args":["-----BEGIN CERTIFICATE-----","a1b2c3d4"]}"#,
    r#"{"text":"private key: setPassword(value), mysql -port, token: string = x"}"#,
];

#[test]
fn secrets_of_pairs_blocks_and_commands_are_masked() {
    for text in TEXTS {
        let text = text.replace("SECRET", SECRET);
        let shown = Masker::new().text(&text);
        assert!(!shown.contains(SECRET), "{text}\n{shown}");
    }
    for message in MESSAGES {
        let message = message.replace("SECRET", SECRET);
        let shown = Masker::new().message(&message);
        assert!(!shown.contains(SECRET), "{message}\n{shown}");
    }
    for token in TOKENS {
        let shown = Masker::new().text(token);
        let secret = token.lines().nth(2).unwrap_or(token);
        assert!(!shown.contains(secret) && !shown.contains(&secret[secret.len() - 8..]), "{token}\n{shown}");
    }
}

#[test]
fn word_below_a_common_name_is_masked_only_in_its_place() {
    for message in [
        r#"{"tokens":["function","identifier"]}"#,
        r#"{"name":"token","default":"identifier"}"#,
        r#"{"tokens":[{"value":"identifier"}]}"#,
    ] {
        let mut masker = Masker::new();
        assert!(!masker.message(message).contains("identifier"), "{message}");
        let later = r#"{"text":"a function has an identifier"}"#;
        assert_eq!(masker.message(later), later, "{message}");
    }
    let mut masker = Masker::new();
    masker.message(r#"{"tokens":["swordfish1"],"password":"swordfish"}"#);
    assert_eq!(masker.text("swordfish1 swordfish"), "«secret 1» «secret 2»");
}

#[test]
fn harmless_messages_are_unchanged() {
    for message in HARMLESS {
        assert_eq!(Masker::new().message(message), *message);
    }
}

#[test]
fn line_is_masked_by_the_name_on_a_line_before_it() {
    for text in TEXTS.iter().chain(&[TOKENS[TOKENS.len() - 1]]).filter(|text| text.contains('\n')) {
        let text = text.replace("SECRET", SECRET);
        let secret = if text.contains(SECRET) { SECRET } else { "AAAAgQCabcDEF0123456789" };
        let mut masker = Masker::new();
        let mut events: Vec<_> = ["started", ""]
            .into_iter()
            .chain(text.lines())
            .map(|line| Event::new(None, Side::Server, EventKind::Stderr(Line::new(line))))
            .collect();
        for event in &mut events {
            masker.event(event);
        }
        for event in &mut events {
            // As when the recording is finished.
            masker.event_again(event);
            let EventKind::Stderr(line) = &event.kind else { panic!("it stays a line") };
            let shown = String::from_utf8_lossy(&line.bytes);
            assert!(!shown.contains(secret), "{text}\n{shown}");
        }
    }
    let mut masker = Masker::new();
    for text in ["Password:", "Connected at 2026-12-01T10:00:00", "it's \"open", "ready"] {
        let mut event = Event::new(None, Side::Server, EventKind::Stderr(Line::new(text)));
        masker.event(&mut event);
        let EventKind::Stderr(line) = event.kind else { panic!("it stays a line") };
        assert_eq!(line.bytes, text.as_bytes());
    }
}
