//! Names whose values are secrets: `DB_PASSWORD`, `apiKey`, `client-secret`, `--token`.
//!
//! Only names are judged here, never values.

/// The kind of secret that a name indicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Chosen by people: short, and maybe made of words.
    Password,
    /// Made by people or machines.
    Secret,
    /// Made by machines: long and random.
    Key,
    /// As [`Self::Key`], of an owner that is not known: the key of a cache is none.
    SomeKey,
    /// Made by machines, but the word is used for much else, such as pages and parsers.
    Token,
}

/// A telling name: the kind of secret, and the name of the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Telling {
    /// The form that its value must have.
    pub(crate) kind: Kind,
    /// The rule's name.
    pub(crate) rule: &'static str,
}

impl Telling {
    /// That of a name of a password.
    pub(crate) const PASSWORD: Self = Self { kind: Kind::Password, rule: "password" };
}

/// Every telling name contains one of these words; the prefilter looks for them.
pub(crate) const WORDS: [&str; 37] = [
    "tpw",
    "pass",
    "pwd",
    "secret",
    "key",
    "token",
    "credential",
    "auth",
    "creds",
    "psk",
    "mnemonic",
    "_pat",
    "-pat",
    "_pw",
    "bindpw",
    "passwort",
    "hubpat",
    "devopspat",
    "salt",
    "pepper",
    "_seed",
    "pseed",
    "_irk",
    "hmac",
    "bearer",
    "authtok",
    "rpw",
    "bpw",
    "npw",
    "mmunity",
    "w_session",
    "recovery_code",
    "recoverycode",
    "backup_code",
    "backupcode",
    "unlock_code",
    "activation_code",
];

/// The longest name that is examined.
pub(crate) const LONGEST: usize = 64;

/// Words before "key" that make its value a secret.
const KEY_OWNERS: [&str; 108] = [
    "network",
    "root",
    "mesh",
    "backup",
    "stream",
    "upload",
    "server",
    "recovery",
    "api",
    "access",
    "secret",
    "private",
    "signing",
    "encryption",
    "master",
    "auth",
    "account",
    "storage",
    "service",
    "shared",
    "app",
    "application",
    "client",
    "consumer",
    "subscription",
    "license",
    "admin",
    "webhook",
    "deploy",
    "jwt",
    "session",
    "cookie",
    "ssh",
    "hmac",
    "crypto",
    "integration",
    "rest",
    "maps",
    "role",
    "anon",
    "openai",
    "anthropic",
    "stripe",
    "sendgrid",
    "ingest",
    "write",
    "fernet",
    "cipher",
    "aes",
    "vault",
    "sign",
    "azure",
    "gemini",
    "google",
    "aws",
    "groq",
    "mistral",
    "cohere",
    "serp",
    "github",
    "gitlab",
    "slack",
    "sentry",
    "cloudflare",
    "mailgun",
    "ghost",
    "fastly",
    "twilio",
    "datadog",
    "newrelic",
    "algolia",
    "openrouter",
    "deepseek",
    "huggingface",
    "replicate",
    "notion",
    "posthog",
    "resend",
    "tavily",
    "supabase",
    "okta",
    "pinecone",
    "elevenlabs",
    "perplexity",
    "sparkpost",
    "steam",
    "shodan",
    "netlify",
    "heroku",
    "digitalocean",
    "hetzner",
    "discord",
    "telegram",
    "shopify",
    "airtable",
    "figma",
    "zendesk",
    "mixpanel",
    "amplitude",
    "snyk",
    "jenkins",
    "honeycomb",
    "opsgenie",
    "routing",
    "validation",
    "decryption",
    "sas",
    "instrumentation",
];

/// Words before "key" that make it the name of a thing, or a key that is public.
#[rustfmt::skip]
const PLAIN_OWNERS: [&str; 101] = [
    "cache", "hash", "digest", "content", "file", "blob", "object", "commit", "tree", "dedup", "dedupe", "etag", "checksum", "lookup",
    "index", "shard", "build", "layer", "chunk", "node", "row", "entry", "item", "record", "trace", "span", "request", "image", "asset",
    "artifact", "restore", "query", "react", "list", "group", "map", "dict", "sort", "range", "primary", "foreign", "unique", "composite",
    "partition", "route", "translation", "message", "locale", "hot", "short", "arrow", "lock", "state", "store", "event", "metric",
    "bundle", "module", "package", "dependency", "test", "job", "task", "run", "step", "memo", "site", "publishable", "public", "pub",
    "peer", "verify", "verifying", "verification", "recipient", "known", "idempotency", "version", "schema", "config", "param", "field",
    "column", "attribute", "meta", "label", "tag", "header", "context", "thread", "conversation", "user", "tenant", "org", "team",
    "project", "bucket", "source", "target", "websocket", "page",
];

/// Those of them whose keys people choose, as they choose a secret.
const CHOSEN_KEYS: [&str; 4] = ["secret", "session", "signing", "encryption"];

/// Suffixes of names of passwords.
#[rustfmt::skip]
const PASSWORDS: [&str; 37] = [
    "wpakey", "wpa2key", "wpa3key", "wifikey", "wlankey", "presharedkey", "preshared",
    "secretphrase", "accesscode", "snmpcommunity",
    "password", "passwords", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd", "pswd", "psk", "mnemonic",
    "requirepass", "masterauth", "storepass", "keypass", "sshpass", "dbpass", "userpass", "rootpass", "adminpass", "smtppass",
    "mailpass", "ftppass", "redispass", "bindpw", "authpass", "authtok",
];

/// Suffixes of names that mean something public, or a position in a list.
#[rustfmt::skip]
const NOT_SECRET: [&str; 22] = [
    "sitekey", "publickey", "pubkey", "primarykey", "foreignkey", "cachekey", "sortkey", "partitionkey", "idempotencykey",
    "publishablekey", "objectkey", "hotkey", "pagetoken", "nexttoken", "continuationtoken", "cancellationtoken",
    "synctoken", "clienttoken", "publickeytoken", "eostoken", "bostoken", "padtoken",
];

/// Words that end in "pass" and are none of a password.
#[rustfmt::skip]
const NO_PASSES: [&str; 31] = [
    "mustpass", "shouldpass", "willpass", "canpass", "testspass", "checkspass", "shallpass",
    "onepass", "twopass", "firstpass", "secondpass", "singlepass", "getpass", "allpass",
    "bypass", "compass", "trespass", "overpass", "underpass", "encompass", "surpass", "subpass", "multipass", "bandpass", "lowpass",
    "highpass", "proxypass", "postpass", "prepass", "renderpass", "computepass",
];

/// Words that may follow the telling word.
const TAILS: [&str; 18] = [
    "plain",
    "plaintext",
    "cleartext",
    "value",
    "base64",
    "b64",
    "hex",
    "string",
    "str",
    "production",
    "prod",
    "development",
    "dev",
    "staging",
    "test",
    "live",
    "old",
    "new",
];

/// Classifies a name such as `DB_PASSWORD`.
pub(crate) fn judge(name: &[u8]) -> Option<Telling> {
    let mut buffer = [0_u8; LONGEST];
    let mut length = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *buffer.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    let plain = without_tail(std::str::from_utf8(&buffer[..length]).ok()?);
    // `OKTA_CLIENT_TOKEN`
    let is_of_client = plain.ends_with("clienttoken") && is_constant_name(name);
    if ends_with_any(plain, &NOT_SECRET) && !is_of_client {
        return None;
    }
    let telling = |kind, rule| Some(Telling { kind, rule });
    if plain.contains("hashed") {
        return None;
    }
    if plain.ends_with("secretaccesskey")
        || plain.ends_with("awssecretkey")
        || plain.ends_with("awssecret")
    {
        return telling(Kind::Key, "aws-secret");
    }
    if ends_with_any(plain, &PASSWORDS)
        || plain.ends_with("pass") && !ends_with_any(plain, &NO_PASSES)
        || ends_with_word(name, plain, "pw")
    {
        return telling(Kind::Password, "password");
    }
    if plain.ends_with("secretkeybase") {
        return telling(Kind::Key, "api-key");
    }
    if let Some(owner) = plain.strip_suffix("key") {
        let owned = ends_with_any(owner, &KEY_OWNERS);
        let chosen = ends_with_any(owner, &CHOSEN_KEYS);
        let kind = if chosen { Kind::Secret } else { Kind::Key };
        if owned || is_constant_name(name) {
            return telling(kind, "api-key");
        }
        let may_be = !owner.is_empty()
            && ends_with_word(name, plain, "key")
            && !ends_with_any(owner, &PLAIN_OWNERS);
        return if may_be { telling(Kind::SomeKey, "api-key") } else { None };
    }
    let secrets = [
        "secret",
        "secrets",
        "secretcookie",
        "bwsession",
        "secretid",
        "tokensalt",
        "hashsalt",
        "authsalt",
        "passwordsalt",
        "noncesalt",
        "keysalt",
        "loggedinsalt",
        "credential",
        "credentials",
        "creds",
    ];
    if ends_with_any(plain, &secrets) {
        return telling(Kind::Secret, "secret");
    }
    if plain.ends_with("authorization") {
        return telling(Kind::Token, "authorization");
    }
    if plain.ends_with("token") {
        return telling(Kind::Token, "token");
    }
    let drawn = ["salt", "pepper", "seed", "irk", "hmac", "bearer"];
    let is_drawn = |word: &&str| {
        ends_with_word(name, plain, word)
            && (plain.len() > word.len() || ["salt", "pepper", "bearer"].contains(word))
    };
    let codes = ["recoverycode", "backupcode", "backupcodes", "unlockcode", "activationcode"];
    if ends_with_any(plain, &codes) {
        return telling(Kind::Key, "recovery-code");
    }
    if drawn.iter().any(is_drawn) {
        return telling(Kind::Key, "secret");
    }
    if ends_with_word(name, plain, "auth") || ends_with_word(name, plain, "pat") {
        return telling(Kind::Token, "token");
    }
    of_owner(name)
}

/// Words of names that tell of a property of a secret, and not of its owner.
#[rustfmt::skip]
const PROPERTIES: [&str; 143] = [
    "length", "len", "min", "max", "minimum", "maximum", "reset", "policy", "hash", "digest", "file", "files", "path", "dir", "url", "uri", "expiry",
    "expires", "expiration", "expired", "expire", "ttl", "type", "types", "name", "names", "field", "fields", "count", "limit", "limits", "id", "ids", "regex",
    "pattern", "format", "rule", "rules", "strength", "required", "enabled", "disabled", "label", "hint", "placeholder", "input", "form", "error", "errors",
    "message", "msg", "prompt", "algorithm", "algo", "salt", "iterations", "rounds", "age", "days", "hours", "history", "validator", "validators", "validation",
    "hasher", "hashers", "manager", "store", "provider", "source", "ref", "env", "var", "header", "endpoint", "class", "usage", "budget", "bucket", "size", "index",
    "start", "end", "kind", "pair", "map", "list", "set", "get", "ring", "word", "words", "code", "chars", "complexity", "timeout", "version", "change", "changed",
    "created", "updated", "at", "confirm", "confirmation", "verification", "grant", "flow", "scope", "scopes", "mode", "state", "status", "rate", "fn",
    "cmd", "command", "key", "arn",
    "encryption", "hashing", "auth", "authentication", "encoding", "encoder", "protection", "generator", "generation", "recovery", "grace", "aging",
    "lock", "lockout", "attempts", "retries", "minlen", "minclass", "checks", "quality", "callback", "handler", "value", "values", "fields",
];

/// Classifies a name whose owner stands behind: `PASSWORD_DB`, `token_github`.
fn of_owner(name: &[u8]) -> Option<Telling> {
    let name = std::str::from_utf8(name).ok()?;
    let (first, owner) = name.split_once('_')?;
    let is_cased = |test: fn(&u8) -> bool| {
        name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_' || test(&byte))
    };
    let is_property = || {
        owner
            .split('_')
            .any(|word| PROPERTIES.iter().any(|property| word.eq_ignore_ascii_case(property)))
    };
    if owner.is_empty() || !(is_cased(u8::is_ascii_uppercase) || is_cased(u8::is_ascii_lowercase)) {
        return None;
    }
    let (kind, rule) = match first.to_ascii_lowercase().as_str() {
        "password" | "passwd" | "passphrase" | "pwd" => (Kind::Password, "password"),
        "pass" if is_constant_name(name.as_bytes()) && !owner.contains('_') => {
            (Kind::Password, "password")
        }
        "apikey" => (Kind::Key, "api-key"),
        "token" => (Kind::Token, "token"),
        "secret" => (Kind::Secret, "secret"),
        _ => return None,
    };
    (!is_property()).then_some(Telling { kind, rule })
}

/// True if the text ends with one of these; few need more than a look at the last letter.
fn ends_with_any(text: &str, ends: &[&str]) -> bool {
    let last = text.as_bytes().last();
    ends.iter().any(|end| end.as_bytes().last() == last && text.ends_with(end))
}

fn without_tail(plain: &str) -> &str {
    if let Some(key) = plain.strip_suffix("data").filter(|stem| stem.ends_with("key")) {
        return key;
    }
    let plain = plain.trim_end_matches(|last: char| last.is_ascii_digit());
    if !ends_with_any(plain, &TAILS) {
        return plain;
    }
    let Some(stem) = TAILS.iter().find_map(|tail| plain.strip_suffix(tail)) else {
        return plain;
    };
    let stem = stem.trim_end_matches(|last: char| last.is_ascii_digit());
    if stem.is_empty() { plain } else { stem }
}

/// True if the name is the word, or ends with it as a separate word: `DB_PASS`, `dbPass`.
fn ends_with_word(name: &[u8], plain: &str, word: &str) -> bool {
    let Some(stem) = plain.strip_suffix(word) else {
        return false;
    };
    if stem.is_empty() {
        return true;
    }
    let Some(before) = name.len().checked_sub(word.len() + 1) else {
        return false;
    };
    let starts_word = matches!(name[before], b'_' | b'-' | b'.');
    let hump = name[before].is_ascii_lowercase() && name[before + 1].is_ascii_uppercase();
    (starts_word || hump) && name[before + 1..].eq_ignore_ascii_case(word.as_bytes())
}

/// True if the name is written like constants and environment variables: `FOO_KEY`.
pub(crate) fn is_constant_name(name: &[u8]) -> bool {
    name.contains(&b'_')
        && name
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// True for a name of several words.
pub(crate) fn is_compound(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b'_' | b'-' | b' ' | b'.'))
        || name.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telling_names_are_known() {
        for (name, rule) in [
            ("password", "password"),
            ("DB_PASSWORD", "password"),
            ("userPasswd", "password"),
            ("MYSQL_PWD", "password"),
            ("DB_PASS", "password"),
            ("smtpPass", "password"),
            ("apiKey", "api-key"),
            ("X-Api-Key", "api-key"),
            ("FOO_KEY", "api-key"),
            ("OPENAI_API_KEY_PROD", "api-key"),
            ("client_secret", "secret"),
            ("JWT_SECRET", "secret"),
            ("AWS_SECRET_ACCESS_KEY", "aws-secret"),
            ("secretAccessKey", "aws-secret"),
            ("NPM_TOKEN", "token"),
            ("_auth", "token"),
            ("--token", "token"),
            ("SECRET_KEY_BASE", "api-key"),
            ("GITHUB_PAT", "token"),
            ("WIFI_PSK", "password"),
            ("LDAP_BIND_PW", "password"),
            ("requirepass", "password"),
            ("remotepass", "password"),
            ("snmpCommunity", "password"),
            ("acmeKey", "api-key"),
            ("signing.key", "api-key"),
            ("PASSWORD_DB", "password"),
            ("token_github", "token"),
        ] {
            assert_eq!(judge(name.as_bytes()).map(|telling| telling.rule), Some(rule), "{name}");
        }
        for name in [
            "key",
            "sort_key",
            "publicKey",
            "input_tokens",
            "max_tokens",
            "tokenizer",
            "password_hash",
            "keyboard",
            "monkey",
            "nextPageToken",
            "compass",
            "author",
            "secretName",
            "PUBLIC_KEY",
            "bypass",
            "renderpass",
            "queryKey",
            "blob_key",
            "eos_token",
            "path",
            "compat",
            "PASSWORD_MIN_LENGTH",
            "token_type",
            "hashed_secret",
            "pass_through",
        ] {
            assert_eq!(judge(name.as_bytes()), None, "{name}");
        }
    }
}
