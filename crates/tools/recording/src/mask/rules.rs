//! Tables of the names and forms of secrets.

pub(crate) mod token_forms;

/// Headers whose value is a secret. Those that end with `-auth`, `-key`, `-secret`, `-session-id` or `-token` are as well.
pub const SECRET_HEADERS: &[&str] = &[
    "api-key",
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "set-cookie2",
    "x-api-key",
    "x-goog-api-key",
];

pub(super) const SECRET_HEADER_ENDS: &[&str] = &["-auth", "-key", "-secret", "-session-id", "-token"];

/// The beginning of the headers that carry arguments of a tool. The argument's name follows it.
pub(super) const ARGUMENT_HEADER: &str = "mcp-param-";

/// The ends of the names of members whose value is a secret, in lower case and without `_` and `-`. A string is also a secret if
/// the name is in the plural; numbers are not, since `tokens` are counted. All strings below such a member are secrets.
pub const SECRET_MEMBERS: &[&str] = &[
    "accesskey",
    "accountkey",
    "apikey",
    "authcode",
    "authheader",
    "authorization",
    "authorizationcode",
    "backupcode",
    "clientassertion",
    "clientkeydata",
    "codeverifier",
    "connectionstring",
    "cookie",
    "cookieheader",
    "credential",
    "credentials",
    "devicecode",
    "encryptionkey",
    "jsessionid",
    "mnemonic",
    "otp",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "phpsessid",
    "presharedkey",
    "privatekey",
    "psk",
    "pwd",
    "recoverycode",
    "recoveryphrase",
    "secret",
    "secretbinary",
    "secretkey",
    "secretkeybase",
    "seedphrase",
    "sharedaccesssignature",
    "signingkey",
    "token",
    "unsealkey",
    "usercode",
];

/// The words that may follow such an end: `password2` and `tokenValue` name secrets as `password` and `token` do. So may
/// a number, with or without a `v`.
pub(super) const NAME_SUFFIXES: &[&str] = &[
    "again",
    "b64",
    "base64",
    "binary",
    "confirm",
    "confirmation",
    "current",
    "data",
    "der",
    "hash",
    "new",
    "old",
    "pem",
    "raw",
    "repeat",
    "string",
    "value",
];

/// The ends of the names of variables in capitals whose value is a secret. In lower case these ends mean other things: a
/// `sort_key`.
pub const SECRET_VARIABLE_ENDS: &[&str] = &["_AUTH", "_CREDS", "_DSN", "_KEY", "_PASS", "_PAT", "_PW", "_SK"];

/// Variables with such an end whose value is not secret.
pub(super) const PUBLIC_VARIABLES: &[&str] = &[
    "ARROW_KEY",
    "CACHE_KEY",
    "FOREIGN_KEY",
    "GROUP_KEY",
    "HOT_KEY",
    "INDEX_KEY",
    "LOOKUP_KEY",
    "PARTITION_KEY",
    "PRIMARY_KEY",
    "PUBLIC_KEY",
    "ROW_KEY",
    "SHORTCUT_KEY",
    "SORT_KEY",
    "UNIQUE_KEY",
];

/// The last words of names whose value is a secret if it looks generated. For example, a test report counts the tests
/// that `pass`.
pub(super) const SUSPECT_MEMBERS: &[&str] = &["auth", "bearer", "jwt", "pass", "pat", "pin"];

/// The ends of names, in the form of `SECRET_MEMBERS`, whose value is a secret only if it looks generated: they also name
/// places and files.
pub(super) const SUSPECT_ENDS: &[&str] = &[
    "appkey",
    "deploykey",
    "functionkey",
    "licensekey",
    "masterkey",
    "secretid",
    "sharedkey",
    "storagekey",
    "subscriptionkey",
];

/// Names that are common words. In a row of a table, such as `["Secret","Garden"]`, only a generated value is a secret.
pub(super) const COMMON_NAMES: &[&str] =
    &["cookie", "credential", "passcode", "passphrase", "password", "secret", "token"];

/// Names with such an end whose value is not a secret: tokens that name a request, a page or a place.
pub const PUBLIC_MEMBERS: &[&str] = &[
    "cancellationtoken",
    "continuationtoken",
    "forgotpassword",
    "forgottenpassword",
    "haspassword",
    "hassecret",
    "hastoken",
    "issecret",
    "lostpassword",
    "maxtoken",
    "nextpagetoken",
    "pagetoken",
    "progresstoken",
    "showpassword",
    "tokentype",
];

/// Further names of secrets in the query of a URL, in the same form.
pub const SECRET_QUERY: &[&str] = &[
    "assertion",
    "auth",
    "code",
    "key",
    "samlresponse",
    "sessionid",
    "sid",
    "sig",
    "signature",
    "state",
    "xamzsignature",
];

/// The names of credentials that follow one of these words and white space, in lower case.
pub const SCHEMES: &[&str] = &["apikey", "basic", "bearer", "digest", "dpop", "negotiate", "token"];

/// The lists of servers in messages and in files of settings, and the members of their entries whose values are secrets.
pub const SECRET_PLACES: (&[&str], &[&str]) =
    (&["context_servers", "mcpServers", "mcp_servers"], &["env", "headers", "http_headers"]);

/// The members of a pair that have its name, and those that have its value: `{"name":"GITHUB_TOKEN","value":…}`.
pub(super) const PAIR_MEMBERS: (&[&str], &[&str]) = (
    &[
        "envvar",
        "field",
        "header",
        "headername",
        "id",
        "k",
        "key",
        "keyname",
        "name",
        "option",
        "paramname",
        "secretname",
        "setting",
        "var",
        "variable",
        "varname",
    ],
    &[
        "currentvalue",
        "default",
        "defaultvalue",
        "headervalue",
        "newvalue",
        "plainvalue",
        "secretstring",
        "stringvalue",
        "v",
        "val",
        "value",
        "valuefrom",
        "values",
    ],
);

/// Further members of pairs, which have other uses too, such as the text of a form. Their values must look generated.
pub(super) const VAGUE_PAIR_MEMBERS: (&[&str], &[&str]) = (
    &["attribute", "label", "parameter", "property", "title", "type"],
    &["answer", "content", "contents", "data", "input", "literal", "plaintext", "raw", "text"],
);

/// The options before a name and a password, as `-u name:password`.
pub(super) const LOGIN_OPTIONS: &[&str] = &["--proxy-user", "--user", "-U", "-u"];

/// A member of a JSON Web Key, and the members beside it that are secret.
pub(super) const KEY_MEMBERS: (&str, &[&str]) = ("kty", &["d", "dp", "dq", "k", "oth", "p", "q", "qi"]);

/// The words before `token` in messages of parsers, where no secret follows.
pub(super) const PARSER_WORDS: &[&str] =
    &["end", "expected", "illegal", "invalid", "last", "missing", "next", "unexpected", "unknown"];

/// The fields of OAuth beside a `code` or `state` that is secret.
pub(super) const QUERY_COMPANIONS: &[&str] = &[
    "client_id",
    "code_challenge",
    "code_verifier",
    "grant_type",
    "redirect_uri",
    "response_type",
    "session_state",
];

/// The members of JSON Schema that hold schemas by their names. Such a name describes a secret and does not hold it.
pub(super) const SCHEMA_PARENTS: &[&str] =
    &["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The keywords of JSON Schema whose values are not secret. `const`, `default`, `enum` and `examples` may show one.
pub(super) const SCHEMA_KEYWORDS: &[&str] = &[
    "$comment",
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "description",
    "format",
    "items",
    "not",
    "oneOf",
    "pattern",
    "prefixItems",
    "properties",
    "required",
    "title",
    "type",
];

/// The names of methods, members and values in the messages of the protocols.
const PROTOCOL_WORDS: &str = include_str!("protocol_words.txt");

/// Whether a text is a word of the protocols, or a part of one.
pub(super) fn is_protocol_word(text: &str) -> bool {
    PROTOCOL_WORDS.contains(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_protocols_are_in_the_table() {
        for word in ["client", "message", "essage", "secret", "tools/call", "2025-06-18"] {
            assert!(is_protocol_word(word), "{word}");
        }
        assert!(!is_protocol_word("swordfish"));
    }
}
