//! The table of secrets: their names, their forms, and the keywords that indicate them.
//!
//! A flat list without logic. A pattern is only tried at its keywords, from the start of the keyword on
//! (see [`Start`]), and never on a whole text; so every match must contain a keyword, and keywords
//! should be rare in ordinary text.

use crate::checks::Check;
use crate::names::WORDS;
use crate::private_key::HEAD;

/// A rule, for listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleInfo {
    /// The name, as in the placeholder `[redacted:NAME]` and in a [`Report`](crate::Report).
    pub name: &'static str,
    /// A short description of what it removes.
    pub description: &'static str,
}

/// The way in which a rule finds its secret near a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finder {
    /// A pattern; its group `secret`, or else all of it, is the secret.
    Pattern(&'static str),
    /// A value given to a telling name; see [`crate::assignment`].
    Assignment,
    /// A key in armour; see [`crate::private_key`].
    PrivateKey,
    /// The argument of a command; see [`crate::command`].
    Command,
    /// A secret below the command that shows it; see [`crate::shown`].
    Shown,
    /// The password in a login of a protocol; see [`crate::protocol`].
    Protocol,
    /// A password near a word that tells of a login; see [`crate::told`].
    Login,
    /// What a remark asks to keep; see [`crate::spoken`].
    Warned,
    /// Codes in a list; see [`crate::spoken`].
    Codes,
    /// A variable that a cipher is given; see [`crate::alias`].
    Cipher,
    /// A token whose parts code joins; see [`crate::parts`].
    Parts,
    /// A value behind a word of another language; see [`crate::foreign`].
    Foreign,
    /// The cookies of a session; see [`crate::cookie`].
    Cookie,
    /// A token that is known by its shape; see [`crate::shape`].
    Shape,
    /// Base64 that begins like a secret; see [`crate::base64`].
    Base64,
    /// Base64 with the name of a secret within; see [`crate::base64`].
    Base64Within,
    /// Base64 near a word that tells of it; see [`crate::base64`].
    Base64Near,
}

/// The start of a match relative to its keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the keyword, which must begin a word.
    Word,
    /// At the keyword, even inside a word.
    Anywhere,
    /// Up to this many letters and digits before the keyword, where they begin a word.
    Before(usize),
}

/// A condition on the text after the keyword that must hold before the pattern is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Follows {
    /// This many bytes of a token.
    Token(usize),
    /// A colon, comma or equals sign nearby.
    Sign,
    /// Something before an `@`, as in a URL with credentials.
    Credentials,
    /// A pipe on the same line.
    Pipe,
    /// Anything: the keyword says enough.
    Word,
}

/// One row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    /// In lower case; matched in any case.
    pub(crate) keywords: &'static [&'static str],
    pub(crate) finder: Finder,
    pub(crate) start: Start,
    pub(crate) follows: Follows,
    pub(crate) check: Check,
    /// A text that must stand within the same braces; empty if none must.
    pub(crate) beside: &'static str,
}

impl Rule {
    const fn starting(mut self, start: Start) -> Self {
        self.start = start;
        self
    }

    const fn followed_by(mut self, follows: Follows) -> Self {
        self.follows = follows;
        self
    }

    const fn checked(mut self, check: Check) -> Self {
        self.check = check;
        self
    }

    const fn beside(mut self, text: &'static str) -> Self {
        self.beside = text;
        self
    }
}

/// Defines a secret with a form of its own.
const fn form(
    name: &'static str,
    description: &'static str,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Rule {
    Rule {
        name,
        description,
        keywords,
        finder: Finder::Pattern(pattern),
        start: Start::Word,
        follows: Follows::Token(8),
        check: Check::NotMasked,
        beside: "",
    }
}

/// Defines a secret found by its name. One row carries the keywords of all.
const fn named(
    name: &'static str,
    description: &'static str,
    keywords: &'static [&'static str],
) -> Rule {
    Rule {
        name,
        description,
        keywords,
        finder: Finder::Assignment,
        start: Start::Anywhere,
        follows: Follows::Sign,
        check: Check::Random,
        beside: "",
    }
}

/// Defines a secret that is found by its shape.
const fn shape(name: &'static str, description: &'static str) -> Rule {
    Rule { finder: Finder::Shape, ..form(name, description, &[], "") }
}

/// Raised when the results of the rules change without a change of the table itself.
pub(crate) const VERSION: u32 = 11;

/// Returns all built-in rules, for listing, without duplicates.
pub fn rules() -> &'static [RuleInfo] {
    static LIST: std::sync::LazyLock<Vec<RuleInfo>> = std::sync::LazyLock::new(|| {
        let mut list: Vec<RuleInfo> = Vec::new();
        for rule in RULES {
            if !list.iter().any(|known| known.name == rule.name) {
                list.push(RuleInfo { name: rule.name, description: rule.description });
            }
        }
        list
    });
    &LIST
}

/// The table.
#[rustfmt::skip]
pub(crate) static RULES: &[Rule] = &[
    // Names and armour.
    named("password", "the value of a password setting, field or option", &WORDS),
    named("secret", "the value of a setting or field named as a secret", &[]),
    named("api-key", "the value of a setting or field named as a key", &[]),
    named("token", "the value of a setting or field named as a token", &[]),
    Rule { finder: Finder::PrivateKey, start: Start::Anywhere, ..form("private-key", "a private key in PEM, OpenSSH or PGP armour", &[HEAD], "") },
    shape("token-shape", "a token with a prefix, or beside a word that tells of it"),
    shape("asana-token", "an Asana token"),
    shape("discord-token", "a Discord bot token"),
    shape("twilio-key", "a Twilio API key"),
    shape("zhipu-key", "a key of Zhipu's models"),
    shape("sanity-token", "a Sanity token"),
    shape("ably-key", "an Ably key"),
    shape("zoho-token", "a Zoho token"),
    shape("fal-key", "a fal.ai key"),
    shape("hex", "a secret in hexadecimal digits"),
    shape("codefresh-token", "a Codefresh token"),
    shape("uptimerobot-key", "an UptimeRobot key"),
    shape("laravel-token", "a token of Laravel's Sanctum"),
    shape("gcore-token", "a Gcore token"),
    shape("bitwarden-token", "an access token of Bitwarden's secrets"),
    Rule { finder: Finder::Command, ..form("command-password", "the password in a command line", &crate::command::NAMES, "") },
    Rule { finder: Finder::Cookie, start: Start::Anywhere, ..form("cookie", "the session in a cookie", &["cookie"], "") },
    Rule { finder: Finder::Base64, ..form("base64", "a secret in base64", &crate::base64::BEGINNINGS, "") },
    Rule { finder: Finder::Base64Within, start: Start::Anywhere, ..form("base64", "a secret in base64", &crate::base64::NAMES, "") },
    Rule { finder: Finder::Base64Near, start: Start::Anywhere, ..form("base64", "a secret in base64", &crate::base64::CONTEXTS, "") },
    form("piped-password", "the password that a command reads from another", &["echo ", "printf "],
        r#"(?i)(?:echo|printf)(?: -[ne]{1,2}| ["']%s(?:\\n)?["'])* {1,2}["'\\]{0,3}(?P<secret>[^\s"'`|\\]{4,}(?:\\{1,2}n[^\s"'`|\\]{4,})?)(?:\\{1,2}n)?["'\\]{0,3} {0,2}\| {0,2}(?:sudo (?:-\w+ )*-S|(?:sudo )?(?:docker|podman|helm|crane|oras|nerdctl|buildah|skopeo)(?: registry)?(?: auth)? login|(?:sudo )?(?:smb)?passwd\b|kinit|(?:sudo )?realm join|gh auth login|(?:sudo )?cryptsetup|su\b|vault login|(?:npx )?[\w./-]{1,24}(?: [\w:./-]{1,24}){0,3} (?:secrets? (?:put|set|add|create)|env add|env:set|insert|--with-token|--[\w-]{0,20}stdin)\b)"#)
        .followed_by(Follows::Pipe).checked(Check::Password),
    form("piped-password", "the password that a command reads from another", &["echo ", "printf "],
        r#"(?i)(?:echo|printf)(?: -[ne]{1,2})? {1,2}["'\\]{0,3}[\w.@-]{1,32}:(?P<secret>[^\s"'`|\\]{4,})["'\\]{0,3} {0,2}\| {0,2}(?:sudo )?chpasswd"#)
        .followed_by(Follows::Pipe).checked(Check::Password),
    form("piped-password", "the password that a script answers a prompt with", &["assword:"],
        r#"(?i)assword: ?\*?\\{0,3}["'}]{0,2}(?:\s|\\n|[{;+>|0-9]){0,24}send(?: --)? \\{0,3}["'](?P<secret>[^\s"'\\${]{4,})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("piped-password", "the password that a command reads from another", &["sudo -s ", "--stdin "],
        r#"(?:sudo (?:-\w+ )*-S |--stdin )[^\n<]{0,120}<<<\s?\\{0,3}["']?(?P<secret>[^\s"'`\\$]{4,})"#)
        .followed_by(Follows::Word).checked(Check::Password),
    form("command-password", "the password in a command line", &["convertto-securestring "],
        r#"(?i)convertto-securestring (?:-string )?\\{0,3}["'](?P<secret>[^\s"'\\$]{4,})"#)
        .followed_by(Follows::Word).checked(Check::Password),
    form("piped-password", "the password that a script answers a prompt with", &["send \"", "send -- \"", "send \\\"", "send -- \\\""],
        r#"send (?:-- )?\\{0,3}"(?P<secret>[^\s"'\\${}()]{6,})\\{1,3}[rn]"#).followed_by(Follows::Word).checked(Check::SelfMade),
    Rule { finder: Finder::Foreign, start: Start::Anywhere, ..form("password", "the value of a password setting, field or option", &crate::foreign::PASSWORDS, "") },
    Rule { finder: Finder::Foreign, start: Start::Anywhere, ..form("api-key", "the value of a setting or field named as a key", &crate::foreign::KEYS, "") },
    Rule { finder: Finder::Login, start: Start::Anywhere, ..form("login-password", "the password of a login with its user", &crate::told::LOGINS, "") },
    Rule { finder: Finder::Warned, start: Start::Anywhere, ..form("kept-secret", "a value that a remark asks to keep secret", &crate::spoken::WARNINGS, "") },
    Rule { finder: Finder::Codes, start: Start::Anywhere, ..form("recovery-code", "a code for recovery", &crate::spoken::CODES, "") },
    Rule { finder: Finder::Cipher, start: Start::Anywhere, ..form("cipher-key", "a key that a cipher is given", &crate::alias::CIPHERS, "") },
    Rule { finder: Finder::Parts, start: Start::Anywhere, ..form("joined-secret", "a secret whose parts code joins", &crate::parts::JOINS, "") },
    Rule { finder: Finder::Shown, start: Start::Anywhere, ..form("shown-secret", "a secret that a command shows", &crate::shown::COMMANDS, "") },
    Rule { finder: Finder::Shown, start: Start::Anywhere, ..form("shown-secret", "a secret that a command shows", &crate::shown::READERS, "") },
    Rule { finder: Finder::Protocol, start: Start::Anywhere, ..form("login-password", "the password of a login with its user", &crate::protocol::WORDS, "") },
    form("login-password", "the password of a login with its user", &["auth(", "auth=(", "auth = (", "auth '", "auth \"", "auth \\\""],
        r#"(?i)auth(?:(?: ?= ?)?\(\s?| )\\{0,3}["'][^\s"'\\]{1,64}\\{0,3}["'],\s?\\{0,3}["'](?P<secret>[^\s"'\\]{4,})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["sqlplus "], r"sqlplus (?:-\w+ ){0,3}\w{1,32}/(?P<secret>[^\s@/]{4,})@")
        .followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["@//"], r"[\w$#]{1,32}/(?P<secret>[^\s@/]{4,})@//[\w.-]{1,80}[:/]").starting(Start::Before(80)).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["auth plain ", "auth login "], r"(?i)auth (?:plain|login) (?P<secret>[A-Za-z0-9+/]{12,}={0,2})")
        .checked(Check::Random),
    form("login-password", "the password of a login with its user", &["credential(", "login(", "wifi.begin(", "passwordauthentication(", "signin(", "sign_in(", "log_in(", "login_with(", "login_as("],
        r#"(?i)(?:credential|log_?in(?:_with|_as)?|sign_?in|wifi\.begin|passwordauthentication)\(\s?(?:\\{0,3}["'][^"'\n\\]{1,80}\\{0,3}["']|[\w.$]{1,40}),\s{0,8}\\{0,3}["'](?P<secret>[^\s"'\\]{6,})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["getconnection(", "database(", "pdo(", "mysqli(", "mysqli_connect(", "mysql_connect(", "dbi->connect("],
        r#"(?i)[a-z>_-]{3,20}\(\s?(?:(?:\\{0,3}["'][^"'\n\\]{1,120}\\{0,3}["']|[\w.$]{1,40}),\s{0,8}){2}\\{0,3}["'](?P<secret>[^\s"'\\]{6,})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["connect("],
        r#"(?i)connect\((?:\s?\\{0,3}["'][^"'\n\\]{1,80}\\{0,3}["'],){2}\s?\\{0,3}["'](?P<secret>[^\s"'\\]{6,})\\{0,3}["'],\s?\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain),
    form("login-password", "the password of a login with its user", &["auth(", "auth=(", "auth = ("],
        r#"(?i)auth(?: ?= ?)?\(\s?\\{0,3}["'][^\s"'\\]{1,64}\\{0,3}["'],\s?\\{0,3}["'](?P<secret>[^"'\n\\]{6,64})\\{0,3}["']\s?\)"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain),
    form("login-password", "the password of a login with its user", &["\"p\":", "\"p\" :", "\\\"p\\\":", "\"pw\":", "\\\"pw\\\":"],
        r#"(?i)\\{0,3}"pw?\\{0,3}"\s?:\s?\\{0,3}"(?P<secret>[^"\n\\]{6,64})\\{0,3}""#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain).beside("\"e\""),
    form("login-password", "the password of a login with its user", &["login(", "create_user(", "createuser(", "sign_up(", "signup(", "register("],
        r#"(?i)[a-z_]{5,11}\((?:\s?(?:\\{0,3}["'][^"'\n\\]{1,80}\\{0,3}["']|[\w.$]{1,40}),){2}\s?\\{0,3}["'](?P<secret>[^"'\n\\]{6,64})\\{0,3}["']\s?\)"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain),
    form("login-password", "the password that is hashed or looked at", &["hasher().hash(", "hash_password(", "make_password(", "verify_password(", "check_password(", "hashpassword(", "verifypassword(", "checkpassword(", "hashpw("],
        r#"(?i)[a-z_.()]{7,16}\(\s?b?\\{0,3}["'](?P<secret>[^"'\n\\]{6,64})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain),
    form("login-password", "the password of a login with its user", &["login ", "ssh root@", "admin:", "root:", "administrator:"],
        r#"(?i)(?:login [\w.@-]{2,40}[/:]|(?:admin|root|administrator):)(?P<secret>[^\s"'/:\\]{8,})"#).followed_by(Follows::Word).checked(Check::SelfMade),
    form("login-password", "the password that a prompt was answered with", &["passphrase for ", "password for ", "'s password: ", "passphrase for\\"],
        r#"(?i)(?:pass(?:phrase|word) for [^\n]{1,80}?['"\w)]|'s password): (?P<secret>[^\n:]{6,64}?)[ \t]*(?:\r?\n|\z)"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain),
    form("cookie", "the session in a cookie", &["remember_me=", "remember_token=", "remember_user", "rememberme=", "auth_token=", "access_token=", "jwt="],
        r#"(?i)(?:remember_?(?:me|token|user)\w{0,12}|auth_token|access_token|jwt)=(?P<secret>[A-Za-z0-9%._~+/=-]{20,})(?:;|'|"|\s|\z)"#).followed_by(Follows::Token(20)).checked(Check::Random),
    form("login-password", "the password of a login with its user", &["auth\" \"", "auth\\\" \\\""],
        r#"(?i)auth\\{0,3}" (?:\\{0,3}"[\w-]{1,32}\\{0,3}" )?\\{0,3}"(?P<secret>[^\s"\\]{6,})\\{0,3}""#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Certain),
    form("login-password", "the password of a login with its user", &["connect ", "conn "],
        r#"(?i)conn(?:ect)? [\w$#]{1,32}/(?:\\{0,3}"(?P<quoted>[^"\n\\]{4,64})\\{0,3}"|(?P<secret>[^\s"'@/\\]{6,}))@"#).followed_by(Follows::Word).checked(Check::Certain),
    form("seed-phrase", "the words that recover a wallet, with their numbers", &["seed", "recovery", "mnemonic", "wallet"],
        r#"(?i)[a-z]{4,8}[^\n]{0,60}\n[\s>|+*]{0,8}(?-i:(?P<secret>1[.):] ?[a-z]{3,8}(?:\s{1,8}\d{1,2}[.):] ?[a-z]{3,8}){11,23}))\b"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("byte-key", "a key that is written as a list of bytes", &["id.json", "keypair.json", "wallet.json", "deployer.json"],
        r#"[a-z.]{7,14}(?:\s|\\n){1,4}\[(?P<secret>\d{1,3}(?:,\s?\d{1,3}){63})\]"#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("login-password", "the password of a login with its user", &["credentials(\""],
        r#"Credentials\((?:"[^"\n]{1,80}",\s){3}"(?P<secret>[^\s"\\]{6,})"\)"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["wpa_passphrase ", "radtest ", "isql ", "db2 connect ", "poetry config ", "samba-tool user ", "composer config ", "prosodyctl register ", "steamcmd "],
        r#"(?i)(?:wpa_passphrase \S{1,40}|radtest \S{1,64}|isql (?:-v )?\S{1,40} \S{1,40}|db2 connect to \S{1,40} user \S{1,40} using|poetry config http-basic\.\S{1,40} \S{1,40}|samba-tool user (?:create|add) \S{1,40}|composer config (?:-\S{1,16} )?http-basic\.\S{1,60} \S{1,40}|prosodyctl register \S{1,40} \S{1,60}|steamcmd \+login \S{1,40})[ ]?\\{0,3}["']?(?P<secret>[^\s"'`$\\-][^\s"'`\\]{5,})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["authenticate plain ", "mechanism='plain'>", "mechanism=\"plain\">", "334 ugfzc3dvcmq6"],
        r#"(?i)(?:authenticate plain |mechanism=['"]plain['"]>|334 UGFzc3dvcmQ6(?:[\s+>|]|C: |\\r|\\n){1,24})(?P<secret>[A-Za-z0-9+/]{8,}={0,2})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::NotMasked),
    form("login-password", "the password of a login with its user", &["auth-user-pass"], r"(?i)auth-user-pass>?\s(?:[ \t]{0,8}[0-9]{1,6}(?:(?u:[\t|→])|: ))?[\s+>|]{0,16}\S{1,64}\s(?:[ \t]{0,8}[0-9]{1,6}(?:(?u:[\t|→])|: ))?[\s+>|]{0,16}(?P<secret>[^\s<]{4,})(?:\s|\z)")
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("stored-secret", "a secret that is given to a store of secrets", &["put-parameter ", "--secret-string"],
        r#"(?i)(?:put-parameter (?:[^\n]{0,200}SecureString[^\n]{0,200}?)?(?:--name[ =]\S{1,200} )?--value|--secret-string)[ =]\\{0,3}["']?(?P<secret>[^\s"'$\\{]{6,})"#)
        .followed_by(Follows::Word).checked(Check::Chosen),
    form("key-in-code", "the key that code gives to a cipher", &["hmac(", "hmac.new(", "aes.encrypt(", "aes.decrypt(", "secretkeyspec(", "pbekeyspec(", "fernet(", "jwt.sign(", "jwt.verify(", "jwt.encode(", "bcrypt.", "scryptsync(", "cipheriv(", "openssl_encrypt(", "openssl_decrypt("],
        r#"(?i)(?:(?:hmac|aes\.encrypt|aes\.decrypt|jwt\.sign|jwt\.verify|jwt\.encode)\((?:\{[^{}\n]{0,120}\}|\\{0,3}["'][^"'\n]{0,80}["']|[\w.$()]{1,60}),\s?|(?:cipheriv|openssl_(?:en|de)crypt)\((?:[^,()\n]{1,60}, ?){1,2}|(?:hmac\.new|secretkeyspec|pbekeyspec|fernet|bcrypt\.\w{1,16}|scryptsync)\()b?\\{0,3}["'](?P<secret>[^\s"'\\]{8,})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("password-hash", "the hash of a password", &["$1$", "$5$", "$6$", "$apr1$", "$y$", "$2a$", "$2b$", "$2y$", "$argon2", "scram-sha-256$"],
        r"(?i)(?:\$(?:[156y]|apr1)\$(?:rounds=\d{1,9}\$)?[a-z0-9./$]{1,32}\$[A-Za-z0-9./]{22,}|\$2[aby]\$\d\d\$[A-Za-z0-9./]{53}|\$argon2(?:id|i|d)\$[^\s'\x22]{30,}|SCRAM-SHA-256\$\d{1,7}:[A-Za-z0-9+/]{16,}={0,2}\$[A-Za-z0-9+/=]{40,}:[A-Za-z0-9+/=]{40,})")
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::NotMasked),
    form("password-hash", "the hash of a password", &["$krb5tgs$", "$krb5asrep$"], r#"(?i)\$krb5(?:tgs|asrep)\$[^\s"'\\]{60,}"#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("password-hash", "the hash of a password", &["$p$", "$h$", "$s$", "$sha1$", "$dcc2$", "$ml$", "$7$"],
        r"\$(?:[PH]\$[A-Za-z0-9./]{31}|S\$[A-Za-z0-9./]{52}|sha1\$\d{1,7}\$[A-Za-z0-9./]{1,64}\$[A-Za-z0-9./]{28}|DCC2\$\d{1,8}#[^#\s]{1,64}#[0-9a-f]{32}|ml\$\d{1,7}\$[0-9a-f]{64}\$[0-9a-f]{128,}|7\$[A-Za-z0-9./$]{50,})").starting(Start::Anywhere).followed_by(Follows::Token(20)),
    form("password-hash", "the hash of a password", &["aad3b435b51404eeaad3b435b51404ee:"], r"(?i)aad3b435b51404eeaad3b435b51404ee:(?P<secret>[0-9a-f]{32})\b").followed_by(Follows::Token(32)),
    form("network-password", "a password in the settings of a router", &["password 0 ", "password 7 ", "secret 0 ", "secret 5 ", "secret 8 ", "secret 9 ", " key 0 ", " key 6 ", " key 7 ", " key 8 "],
        r#"(?i)(?:password [07]|secret [0589]| key [0678]) (?P<secret>[^\s"'\\]{6,})"#).followed_by(Follows::Word).checked(Check::Chosen),
    form("network-password", "a community of SNMP", &["rocommunity ", "rwcommunity ", "snmp-server community "],
        r#"(?i)(?:r[ow]community |snmp-server community )(?P<secret>[^\s"'\\]{6,})"#).followed_by(Follows::Word).checked(Check::Chosen),
    form("network-password", "a shared key of two devices", &["pre-shared-key ", "isakmp key ", "tacacs-server ", "radius-server "],
        r#"(?i)(?:(?:pre-shared-key|tacacs-server|radius-server) (?:[\w.:/-]{1,40} ){0,6}key|isakmp key) (?:[0678] )?\\{0,3}["']?(?P<secret>[^\s"'\\]{6,})"#).followed_by(Follows::Word).checked(Check::Certain),
    form("tsig-key", "the key of a transfer of a zone", &["hmac-sha", "hmac-md5"], r"(?i)hmac-(?:sha\d{1,3}|md5):[\w.-]{1,64}:(?P<secret>[A-Za-z0-9+/]{16,}={0,2})").followed_by(Follows::Word).checked(Check::Random),
    form("sql-password", "the password of a user in SQL", &["identified by "], r"(?i)identified by (?P<secret>[A-Za-z][^\s'\x22;\\]{5,})").followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["]:587 ", "]:465 ", "]:25 "], r"\]:\d{2,3} [\w.+-]{1,64}(?:@[\w.-]{1,80})?:(?P<secret>[^\s\\\x22']{4,})")
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["-password password "], r"(?i)-password password (?P<secret>[^\s\\\x22']{6,})")
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["chpasswd"],
        r"chpasswd(?: <<-?\s?\S{1,16}|:\s[\s+>|0-9]{0,24}list:\s?\|?)\s[\s+>|0-9-]{0,24}[A-Za-z][\w.-]{0,31}:(?P<secret>[^\s\\\x22']{4,})").followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["auth\\r\\n$"], r"(?i)auth\\r\\n\$\d{1,3}\\r\\n(?P<secret>[^\s\\\x22']{4,})\\r").starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["login: ", "logins: ", "zugangsdaten: ", "login with ", "log in with ", "login as ", "log in as ", "login is "], r"(?i)(?:logins?:|zugangsdaten:|log ?in (?:with|as|is)) [\w.@-]{2,40}(?: / |:)(?P<secret>[^\s/\x22'`\\]{6,})")
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["password 51:b:"], r"(?i)password 51:b:(?P<secret>[0-9a-f]{32,})").followed_by(Follows::Token(32)),
    form("seed-phrase", "the words that recover a wallet", &["seed phrase", "seed words", "recovery phrase", "recovery words", "secret phrase", "backup phrase", "mnemonic", "wallet"],
        r#"(?i)(?:(?:seed|recovery|secret|backup) (?:phrase|words)|mnemonic|wallet)(?: phrase| words)?(?: ?[:=]| is| are|\r?\n)[\s>|+*"'`]{0,8}(?-i:(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8}))\b"#).followed_by(Follows::Word).checked(Check::Phrase),
    form("login-password", "the password of a login with its user", &["nickserv"], r#"(?i)nickserv[ :]{1,3}identify (?:[\w-]{1,32} )?(?P<secret>[^\s"'\\]{6,})"#).followed_by(Follows::Word).checked(Check::Password),
    form("jwk-key", "the private part of a JSON web key", &["\"d\":", "\"d\" :", "\"d\\\":", "\"k\":", "\"k\" :", "\"k\\\":"], r#""[dk]"\s?:\s?"(?P<secret>[A-Za-z0-9_-]{16,})""#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Random).beside("kty"),
    form("password", "the value of a password setting, field or option", &["pw:", "pw=", "pw "], r#"(?i)pw(?:[:=] ?| (?:is|was|=|→)(?: (?:now|set|changed|reset))?(?: to)? | )\\{0,3}["'`]?(?P<secret>[^\s"'`\\,]{6,})"#)
        .followed_by(Follows::Word).checked(Check::Chosen),
    form("password", "the value of a password setting, field or option", &["pw:", "pw=", "pw "], r#"(?i)pw(?:[:=] ?| is | = ?| )\\{0,3}["'`](?P<secret>[^\s"'`\\,]{8,})\\{0,3}["'`]"#)
        .followed_by(Follows::Word).checked(Check::Given),
    form("password", "the value of a password setting, field or option", &["pw\"", "pw'", "pw\\\""], r#"(?i)pw\\{0,3}["']\]?\s?[:=]\s?\\{0,3}["'](?P<secret>[^\s"'\\]{6,})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("sql-password", "the password of a user in SQL", &["set password"], r"(?i)set password(?: for [^\s=]{1,80})? ?= ?(?:password\()?'(?P<secret>[^\s'\\]{4,})'")
        .followed_by(Follows::Word).checked(Check::Password),
    form("consul-key", "the key of a Consul or Nomad cluster", &["encrypt"], r#"encrypt\\{0,3}["']? {0,4}[:=] {0,4}\\{0,3}["']?(?P<secret>[A-Za-z0-9+/]{43}=)"#)
        .followed_by(Follows::Sign).checked(Check::Random),
    form("private-key", "a private key in PEM, OpenSSH or PGP armour", &["private-lines: "], r"(?i)private-lines: \d{1,3}(?P<secret>(?:[\s>|+#*-]{1,8}[A-Za-z0-9+/=]{16,})+)")
        .followed_by(Follows::Word),
    form("pgpass", "the password of a line of .pgpass", &[":5432:", ":5433:", ":6432:"], r"(?::\d{4}):[^\s:]{1,64}:[^\s:]{1,64}:(?P<secret>[^\s\\\x22']{4,})")
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("pgpass", "the password of a line of .pgpass", &["*:*:"], r"\*:\*:[^\s:]{1,64}:(?:[^\s:]{1,64}:)?(?P<secret>[^\s\\\x22':]{4,})(?:\s|\z)")
        .starting(Start::Anywhere).followed_by(Follows::Token(1)).checked(Check::Password),
    form("sql-password", "the password of a user in SQL", &["identified by", "identified with", "identified as"], r#"(?i)identified (?:with [\w']{1,40} )?(?:by|as)(?: password)? \\{0,3}['"](?P<secret>[^\s'"\\]{4,})\\{0,3}['"]"#)
        .followed_by(Follows::Token(0)).checked(Check::Password),
    form("age-secret-key", "an age secret key", &["age-secret-key-1"], r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    form("private-key", "a secret key of minisign", &["rwrty0iy"], r"RWRTY0Iy[A-Za-z0-9+/]{150,}={0,2}"),
    form("private-key", "the key of a hidden service", &["ed25519-v3:", "ed25519v1-secret:"], r"(?i)ed25519(?:-v3|v1-secret):\s{0,2}(?P<secret>[A-Za-z0-9+/]{80,}={0,2})"),
    form("totp-secret", "the secret of one-time passwords", &["totp", "otp ", "2fa", "mfa", "two-factor", "authenticator", "one-time"],
        r"(?i)(?:t?otp|2fa|mfa|two-factor|authenticator|one-time)[^\n]{0,60}?[^A-Za-z0-9/_-](?-i:(?P<secret>[A-Z2-7]{16,64}|(?:[A-Z2-7]{4} ){3,15}[A-Z2-7]{4}|(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}))(?:[^A-Za-z0-9/_-]|\z)")
        .followed_by(Follows::Word).checked(Check::Drawn),
    form("totp-secret", "the secrets of one-time passwords", &["otpauth-migration://"], r"otpauth-migration://offline\?data=(?P<secret>[A-Za-z0-9%+/=_-]{24,})").followed_by(Follows::Word),
    form("signed-session", "a session that a web framework signed", &["eyj", ".ej"], r"(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}|\.eJ[A-Za-z0-9_-]{12,}[.:][A-Za-z0-9_-]{6}[.:][A-Za-z0-9_-]{27,43}|eyJ[A-Za-z0-9_-]{8,}:[A-Za-z0-9]{6}:[A-Za-z0-9_-]{27,43})\b").checked(Check::Random),
    form("jwt", "a JSON web token", &["eyj"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{10,}"),
    form("jwt", "a JSON web token", &["eyjhbg", "eyj0exa", "eyjraw"], r"eyJ(?:hbG|0eX|raW)[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}").checked(Check::Random),
    form("totp-secret", "the secret of one-time passwords", &["otpauth://"], r"otpauth://[^\s\x22'<>]{1,200}[?&]secret=(?P<secret>[A-Za-z2-7]{16,}={0,6})").followed_by(Follows::Word),

    form("login-password", "the password of a login with its user", &["stats auth ", "addauth digest ", " login=", "-auth ", "-auth=", "-userpass ", "-credentials ", "user.info=", "etcdctl user add "],
        r#"(?i)(?:stats auth|addauth digest| login|-auth|-userpass|-credentials|user\.info|etcdctl user add)[ =]\\{0,3}["']?[\w.@-]{1,40}:(?P<secret>[^\s"'/@:$\\]{6,})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["on >"], r#"on >(?P<secret>[^\s"'\\=]{6,}) [~+&%]"#).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["jdbc:oracle:", "jdbc\\:oracle"], r#"(?i)jdbc\\?:oracle\\?:\w{1,8}\\?:[\w$#]{1,32}/(?P<secret>[^\s"'@/\\]{4,})@"#).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["connect("],
        r#"(?i)connect\(\\{0,3}["'][\w.@-]{1,40}\\{0,3}["'], ?\\{0,3}["'](?P<secret>[^\s"'\\/.]{6,})\\{0,3}["'], ?\\{0,3}["']\w{2,16}://"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("piped-password", "the password that a command reads from another", &["passwd -f", "-password-stdin", "-with-token", "-passphrase-fd", "-pass-stdin", "secret-tool store", "pass insert", "cryptsetup ", "secret put", "secrets set", "env add"],
        r#"(?i)[a-z -]{6,20}(?: ?[\w.:/@=-]{1,40}){0,4} <<< ?["']?(?P<secret>[^\s"'$]{6,})"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("stored-secret", "a secret that Maven or Jenkins encrypted", &["<master>{", "<password>{", "<secret>{", "<passphrase>{", "<privatekey>{", "<apitoken>{"],
        r"(?i)<\w{6,12}>\{(?P<secret>[A-Za-z0-9+/]{24,}={0,2})\}<").starting(Start::Anywhere).followed_by(Follows::Token(24)).checked(Check::Random),
    form("cookie", "the session in a cookie", &["wordpress_logged_in_", "wordpress_sec_"], r"(?i)wordpress_(?:logged_in|sec)_[0-9a-f]{32}=(?P<secret>[A-Za-z0-9%._~+-]{20,})").followed_by(Follows::Token(32)),
    form("google-oauth-code", "the code of a Google login", &["4/0a"], r"4/0A[A-Za-z0-9_-]{50,}").followed_by(Follows::Token(50)).checked(Check::Random),
    form("network-password", "the password of a Wi-Fi network", &["wifi:"], r#"(?i)wifi:[^\n"]{0,80}?\bp:(?P<secret>[^\s;"'\\]{6,});"#).followed_by(Follows::Word).checked(Check::Password),
    form("recovery-code", "codes that replace a second factor", &["recovery code", "backup code", "scratch code"],
        r"(?i)(?:recovery|backup|scratch) codes?[^\n:]{0,24}:(?:\s|\\n)(?P<secret>(?:[\s,*>|+-]{0,4}[A-Za-z0-9]{4,8}-[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8})?)+)").starting(Start::Anywhere).followed_by(Follows::Sign).checked(Check::Chosen),
    form("kaggle-key", "a Kaggle key", &["\"username\""], r#"(?i)"username"\s?:\s?"[\w.-]{1,64}",\s{0,8}"key"\s?:\s?"(?P<secret>[0-9a-f]{32})""#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("url-key", "the key in the query of a URL", &["?key=", "&key=", "?apikey=", "&appid="], r"(?i)[?&]\w{3,6}=(?P<secret>[A-Za-z0-9_-]{24,})\b").starting(Start::Anywhere).followed_by(Follows::Token(24)).checked(Check::Mixed),

    form("login-password", "the password of a login with its user", &["bundle_", "bundle config "],
        r#"(?i)bundle(?:_[A-Z0-9_]{4,80}[=:] ?["']?| config (?:set )?(?:--\w+ )?\S{4,80} )[\w.-]{1,40}:(?P<secret>[^\s"'/@:$\\]{6,})"#).followed_by(Follows::Word).checked(Check::Chosen),
    form("network-password", "the password of a Wi-Fi network", &["key content", "schlüsselinhalt"], r#"(?i)(?:key content|schlüsselinhalt)\s{1,20}: (?P<secret>[^\s"'\\]{8,})"#).followed_by(Follows::Word).checked(Check::Password),
    form("network-password", "a password in the settings of a device", &["password1 ", "password2 ", "password enc ", "psksecret enc ", "passwd enc ", "-server key ", "isakmp key ", "pre-shared-key "],
        r#"(?i)(?:password[12]|(?:password|psksecret|passwd) enc|-server key|isakmp key|pre-shared-key) (?:\d |ascii-text |local |remote )?["']?(?P<secret>[^\s"';\\]{6,})"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("byte-key", "a key that is written as a list of bytes", &["network_key", "networkkey", "secret_key", "secretkey", "private_key", "privatekey", "keypair"],
        r#"(?i)[a-z_]{7,11}\w{0,12}\\{0,3}["']?\s?(?:[:=]\s?)?(?:[\w.: ]{1,24}\()?\s?(?:&?\[|\{)(?P<secret>\s{0,4}(?:0x[0-9a-f]{2}|\d{1,3})(?:,\s{0,4}(?:0x[0-9a-f]{2}|\d{1,3})){15,})"#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("stored-secret", "a secret that is given to a store of secrets", &["encrypt_string "], r#"encrypt_string (?:--[\w-]{1,24}[ =]\S{1,64} ){0,3}\\{0,3}["']?(?P<secret>[^\s"'$\\-][^\s"'\\]{5,})"#).followed_by(Follows::Word).checked(Check::Chosen),
    form("command-password", "the password in a command line", &["-passwd /users/"], r#"(?i)-passwd /users/[\w.-]{1,40} ["']?(?P<secret>[^\s"'$\\]{4,})"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("calendar-url", "the private address of a calendar", &["/private-"], r"/private-(?P<secret>[0-9a-f]{32})/").starting(Start::Anywhere).followed_by(Follows::Token(32)),

    form("login-password", "the password of a login with its user", &["neo4j_auth"], r#"(?i)neo4j_auth[=:]\s?["']?neo4j/(?P<secret>[^\s"'\\]{4,})"#).starting(Start::Anywhere).followed_by(Follows::Sign).checked(Check::Password),
    form("vault-key", "a key that opens a Vault", &["unseal key ", "recovery key "], r"(?i)(?:unseal|recovery) key \d{1,2}: (?P<secret>[A-Za-z0-9+/]{40,}={0,2})").followed_by(Follows::Sign).checked(Check::Random),
    form("tsig-key", "the key of a transfer of a zone", &["secret \""], r#"secret \\{0,3}"(?P<secret>[A-Za-z0-9+/]{20,}={0,2})\\{0,3}";"#).followed_by(Follows::Word).checked(Check::Random),

    form("login-password", "the password of a login with its user", &["@tcp(", "@unix("], r"(?P<secret>[A-Za-z0-9_+/-]{6,})@(?:tcp|unix)\(").starting(Start::Before(80)).followed_by(Follows::Word).checked(Check::Password),
    form("command-password", "the password in a command line", &["password-command", "passcommand", "extpass", "password_cmd", "password-file", "passphrase-file", "pass-file"],
        r#"(?i)(?:password[-_]c(?:omman|m)d|passcommand|extpass|pass(?:word|phrase)?-file)[ =]\\{0,3}["']?(?:<\()?echo (?:-n )?["']?(?P<secret>[^\s"'$\\]{6,})"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("recovery-code", "codes that replace a second factor", &["recovery key", "product key", "license key", "licence key", "activation code", "activation key", "serial number"],
        r"(?i)(?:recovery|product|license|licence|activation|serial) (?:key|code|number)(?: is)?[ ]{0,4}[:= ] ?(?P<secret>(?:[A-Z0-9]{4,6}-){3,7}[A-Z0-9]{4,6}|[A-Z0-9]{20,32})\b").followed_by(Follows::Word).checked(Check::NotMasked),

    // In URLs and headers.
    form("url-password", "the password in a URL", &["://"], r#"://[^\s/:@"'`<>\\\[]{0,128}:(?P<secret>[^\s/"'`<>\\,]{3,})@[A-Za-z0-9\[$%{]"#)
        .starting(Start::Anywhere).followed_by(Follows::Credentials).checked(Check::Password),
    // The hosts of Sentry's addresses begin with `o` and a number; the keys before them are public.
    form("url-token", "the token before the host of a URL", &["://"], r"://(?P<secret>[A-Za-z0-9_-]{20,}(?::[A-Za-z0-9_-]{8,})?)@(?:[A-NP-Za-np-z0-9]|[Oo][^0-9])")
        .starting(Start::Anywhere).followed_by(Follows::Credentials).checked(Check::Random),
    form("authorization", "the credentials of an Authorization header", &["authorization"],
        r#"(?i)authorization["'`\\]{0,8}\]?[ \t]{0,4}(?:[:=,]|=>|[ \t]["'])[ \t]{0,4}["'`\\]{0,8}[a-z][\w-]{2,24}(?:[ \t]{1,4}|[ \t]{0,4}\r?\n[ \t+>#/*-]{0,12})(?P<secret>[A-Za-z0-9._~+/=:-]{12,})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Random),
    form("authorization", "the credentials of an Authorization header", &["authorization"],
        r#"(?i)authorization["'`\\]{0,8}[ \t]{0,4}[:=,][ \t]{0,4}["'`\\]{0,8}[a-z][\w-]{2,24}[ \t]{1,4}[^\n]{0,300}?\b(?:signature|response|mac|sig|secret|token|credential)=\\{0,3}"?(?P<secret>[A-Za-z0-9._~+/=-]{20,})"#)
        .starting(Start::Anywhere).followed_by(Follows::Sign).checked(Check::Random),
    form("api-url", "the key in the path of a URL", &["/v1/", "/v2/", "/v3/"], r"(?i)/v[123]/(?P<secret>[a-z0-9_-]{32,})\b").starting(Start::Anywhere).followed_by(Follows::Token(32)).checked(Check::Random),
    form("login-password", "the password of a login with its user", &["btoa(", "b64encode(", "base64.encode", "encodetostring("],
        r#"(?i)(?:btoa|b64encode|base64\.encode\w*|encodetostring)\(\s?b?\\{0,3}["'`][^\s"'`:\\]{1,64}:(?P<secret>[^\s"'`\\$]{6,})\\{0,3}["'`]"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password of a login with its user", &["auth(", "bind_s(", "bind(", "userpwd", "basicauth {"],
        r#"(?i)(?:auth\(|bind(?:_s)?\(|userpwd[ ,=>'"]{1,4}|basicauth \{ )(?:\s?\\{0,3}["'][^"'\n\\]{0,80}\\{0,3}["'],\s?){0,2}(?:some\()?\\{0,3}["']?(?:[\w.@-]{1,40}[: ])?(?P<secret>[^\s"'\\:()]{8,})(?:\\{0,3}["']| \})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Given),
    form("login-password", "the password of a login with its user", &["credentials(", "credential(", "credentials::new(", "credentials.basic("],
        r#"(?i)credentials?(?:::new|\.basic)?\((?:\s?(?:\\{0,3}["'][^"'\n\\]{0,80}\\{0,3}["'](?:\.\w{1,12}\(\))?|[\w.$]{1,40}),){1,2}\s?\\{0,3}["'](?P<secret>[^\s"'\\]{8,})\\{0,3}["']"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Given),
    form("pin", "a personal number", &["pin ", "pin: ", "pin=", "pin-", "pin\":", "pin\\\":", "otp ", "otp: ", "passcode ", "passcode: ", "access code", "door code", "gate code", "alarm code", "entry code", "security code", "verification code", "one-time code", "unlock code", "2fa code"],
        r#"(?i)(?:pin|otp|passcode|(?:access|door|gate|alarm|entry|security|verification|one-time|unlock|2fa) code)(?:[ -]?(?:code|nummer|number))?\\{0,3}["']?(?: (?:for|of|to|on|at|für|de|del|della|du) [^\n:=.]{1,32}?)?(?: (?:is|ist|est|es|to)(?: now| still| set to)?:? |: ?| ?= ?)\\{0,3}["'`]?(?P<secret>\d{4,8})\b"#).followed_by(Follows::Word).checked(Check::Number),
    form("pin", "a personal number", &["_pin=", "_pin =", "_pin:", "_pin\"", "-pin ", "alarm pin", "card pin", "sim pin", "door pin"],
        r#"(?i)(?:_pin\\{0,3}["']?\s?[:=]|-pin|(?:alarm|card|sim|door) pin(?: is)?)\s{0,2}\\{0,3}["']?(?P<secret>\d{4,8})\b"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Number),
    form("private-key", "the private key of a wallet", &["pk: ", "pk: \"", "pk: '", "_pk=", "_pk=\"", "wallet(\"", "wallet('", "wallet(\\\"", "privkey=", "private-key ", "privatekeytoaccount('", "privatekeytoaccount(\"", "privatekeytoaccount(\\\"", "from_key('", "from_key(\"", "from_key(\\\""],
        r#"(?i)[a-z_-]{2,20}[(:=]? ?\\{0,3}["']?(?P<secret>(?:0x)?[0-9a-f]{64})\b"#).starting(Start::Anywhere).followed_by(Follows::Token(64)).checked(Check::Random),
    form("command-password", "the password in the arguments of a command", &["mysql\"", "mysqldump\"", "mysqladmin\"", "mariadb\"", "mysql'", "mysqldump'", "mysql\\\"", "mysqldump\\\"", "mysqladmin\\\"", "mariadb\\\""],
        r#"(?i)\w{2,10}\\{0,3}["'](?:,\s{0,8}\\{0,3}["'][^"'\n]{0,60}["']){0,6},\s{0,8}\\{0,3}["']-p(?P<secret>[^"'\s\\]{4,})"#).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["\"p\":\"", "\"p\": \"", "\"p\\\":\\\"", "\"p\\\": \\\""],
        r#""p\\{0,3}": ?\\{0,3}"(?P<secret>[^"\\\s]{4,})\\{0,3}""#).starting(Start::Anywhere).followed_by(Follows::Token(4)).checked(Check::SelfMade).beside("\"u"),
    form("command-password", "the key that a command is given", &["operator unseal "], r"operator unseal (?P<secret>[A-Za-z0-9+/=]{24,})").followed_by(Follows::Token(20)).checked(Check::Random),
    form("command-password", "the user and the password of a command", &["-u '", "-u \"", "-u \\\""],
        r#"-u \\{0,3}["'][\w.@-]{1,40}:(?P<secret>[^\s"'\\$]{6,})\\{0,3}["']"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("login-password", "the password of a login with its user", &["basic_auth", "auth_basic", "basicauth", "basic-auth", "http_auth"],
        r#"(?i)(?:basic[_-]?auth|auth_basic|http_auth)\\{0,3}["']?\s?[:=]\s?\\{0,3}["']?[\w.@-]{1,40}:(?P<secret>[^\s"'\\$]{6,})"#).followed_by(Follows::Word).checked(Check::Chosen),
    form("encoded-password", "a password that is piped to base64", &["echo -n ", "printf "],
        r#"(?:echo -n|printf) \\{0,3}["']?(?P<secret>[^\s"'|\\]{6,})\\{0,3}["']?\s?\|\s?base64"#).followed_by(Follows::Pipe).checked(Check::SelfMade),
    form("license-key", "the key of a license", &["license=", "license: ", "license: \"", "license\": \"", "license\\\": \\\"", "licence=", "licence: ", "license_key=", "license-key "],
        r#"(?i)licen[sc]e[_-]?(?:key)?\\{0,3}["']?[:= ] ?\\{0,3}["']?(?P<secret>[A-Z0-9]{4,8}(?:-[A-Z0-9]{4,8}){3,7})\b"#).followed_by(Follows::Token(19)).checked(Check::Drawn),
    form("pin", "a personal number", &["otp ", "pin ", "puk ", "puk: ", "one-time password is ", "one-time passcode is "],
        r"(?:OTP|PIN|(?i:puk:?|one-time pass(?:word|code) is)) (?P<secret>\d{4,8})\b").followed_by(Follows::Token(4)).checked(Check::Number),
    form("pin", "a personal number", &["use code ", "enter code ", "with code ", "the code "], r"(?i)[a-z]{3,5} code (?P<secret>\d{4,8}) to (?:log|sign|verify|confirm|unlock|enter)").followed_by(Follows::Token(4)).checked(Check::Number),
    form("twilio-token", "a Twilio token behind its account", &["('ac", "(\"ac", "('sk", "(\"sk"],
        r#"\(["'](?:AC|SK)[0-9a-f]{32}\\{0,3}["'],\s{0,8}\\{0,3}["'](?P<secret>[0-9A-Za-z]{32})\\{0,3}["']"#).starting(Start::Anywhere).followed_by(Follows::Token(32)).checked(Check::Random),
    form("pin", "a personal number that answers a question", &["pin?", "pin for ", "the pin", "pincode", "pin code", "door code", "alarm code", "otp?", "code for the "],
        r#"(?i)[a-z ]{3,13}\??(?: ?(?:for|of|to|on|at|code|again)\b[^\n?:=]{0,40})?\??[ \t]*(?:\n|\\n)(?:[^\n]{0,40}[:>] )?(?:it'?s |its )?(?P<secret>\d{4,8})(?:[\s.#]|\z)"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Number),
    form("login-password", "the password of a login with its user", &["impdp ", "expdp ", "sqlldr ", "rman target ", "psexec.py ", "wmiexec.py ", "smbexec.py ", "secretsdump.py "],
        r"(?i)(?:impdp|expdp|sqlldr|rman target|psexec\.py|wmiexec\.py|smbexec\.py|secretsdump\.py) (?:-\w+ ){0,3}[\w.]{1,32}[/\\][\w.]{0,32}:?(?P<secret>[^\s@/:]{4,})@").followed_by(Follows::Word).checked(Check::Chosen),
    form("cookie", "the session in a cookie", &["session=", "sessionid=", "connect.sid=", "_session="], r#"(?i)[\w.]{0,24}(?:session|sessionid|sid)=(?P<secret>[A-Za-z0-9%._~+/-]{20,})(?:;|'|")"#).followed_by(Follows::Token(20)).checked(Check::Random),
    form("join-token", "the token by which a node joins a cluster", &["swmtkn-1-", "::server:"], r"(?:SWMTKN-1-[a-z0-9]{50}-[a-z0-9]{25}|::server:(?P<secret>[0-9a-f]{32}))").starting(Start::Anywhere).followed_by(Follows::Token(20)),
    form("join-token", "the token by which a node joins a cluster", &["k10"], r"K10[0-9a-f]{64}\b").followed_by(Follows::Token(64)),
    form("deepl-key", "a DeepL key", &[":fx"], r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}:fx\b").starting(Start::Before(36)).followed_by(Follows::Word),
    form("intercom-token", "an Intercom token", &["dg9roj"], r"dG9rOj[A-Za-z0-9+/_-]{40,}={0,2}").followed_by(Follows::Token(40)),
    form("twitch-token", "a Twitch token", &["oauth:"], r"oauth:[a-z0-9]{30}\b").followed_by(Follows::Token(30)).checked(Check::Random),
    form("nats-seed", "the seed of a NATS key", &["sua", "saa", "soa"], r"S[UAO]A[A-Z2-7]{55}\b").followed_by(Follows::Token(55)),
    form("paypal-token", "a PayPal token", &["a21aa"], r"A21AA[A-Za-z0-9_-]{80,}").checked(Check::Random),
    form("backblaze-key", "a Backblaze key", &["k001", "k002", "k003", "k004", "k005"], r"K00[1-5][A-Za-z0-9+/]{27}\b").followed_by(Follows::Token(27)).checked(Check::Random),
    form("bearer-token", "a bearer token", &["bearer "], r"(?i)bearer {1,4}(?P<secret>[A-Za-z0-9._~+/=-]{12,})").checked(Check::Random),
    form("authorization", "the credentials of an Authorization header", &["authorization: ", "authorization\": \"", "authorization\\\": \\\"", "authorization', '", "authorization=\""],
        r#"(?i)authorization["'\\]{0,4}(?:: ?|, ?|=)\\{0,3}["']?(?:bearer|token|apikey|key) (?P<secret>[^\s"'`\\${<]{8,})\\{0,3}["'`]"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::SelfMade),

    // Clouds.
    form("aws-access-key-id", "an AWS access key id", &["akia", "asia", "abia", "acca", "a3t"], r"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z2-7]{16}\b").followed_by(Follows::Token(16)),
    form("aws-secret", "an AWS secret access key", &["akia", "asia"], r#"A[KS]IA[A-Z2-7]{16}["']?(?:[ \t,:|]{1,4}["']?|[ \t]{1,8}\d{4}-\d\d-\d\dT\S{5,20}[ \t]{1,8})(?P<secret>[A-Za-z0-9/+]{40})\b"#).checked(Check::Random),
    form("aws-session-token", "the token of a session of AWS", &["fwogzxivyxdze", "iqojb3jpz2lux2vj"], r"(?:FwoGZXIvYXdzE|IQoJb3JpZ2luX2Vj)[A-Za-z0-9+/%]{80,}={0,2}"),
    form("google-hmac-key", "the id of a key of Google's storage", &["goog"], r"GOOG(?:1E[A-Z0-9]{57}|[A-Z0-9]{20})\b").checked(Check::Random).followed_by(Follows::Token(20)),
    form("aws-bedrock-key", "an AWS Bedrock API key", &["absk", "bedrock-api-key-"], r"(?:ABSK[A-Za-z0-9+/]{100,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=]{60,})"),
    form("google-api-key", "a Google API key", &["aiza"], r"AIza[A-Za-z0-9_-]{35}"),
    form("google-api-key", "a Google API key", &["aq.ab"], r"AQ\.Ab[A-Za-z0-9_-]{40,}").checked(Check::Random),
    form("google-oauth-secret", "a Google OAuth client secret", &["gocspx-"], r"GOCSPX-[A-Za-z0-9_-]{20,40}"),
    form("google-oauth-token", "a Google OAuth token", &["ya29."], r"ya29\.[A-Za-z0-9_-]{20,}"),
    form("google-refresh-token", "a Google OAuth refresh token", &["1//0"], r"1//0[A-Za-z0-9_-]{30,}").checked(Check::Random),
    form("firebase-token", "a Firebase messaging server key", &["aaaa"], r"AAAA[A-Za-z0-9_-]{7}:[A-Za-z0-9_-]{120,}").followed_by(Follows::Token(7)),
    form("azure-key", "an Azure account or shared access key", &["accountkey=", "sharedaccesskey=", "accesskey="], r"(?i)(?:accountkey|sharedaccesskey|accesskey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})").starting(Start::Anywhere).checked(Check::Random),
    form("azure-sas", "the signature of an Azure shared access URL", &["sig="], r"(?i)sig=(?P<secret>[A-Za-z0-9+/%_-]{32,}(?:%3d|=){0,2})").followed_by(Follows::Token(1)).checked(Check::Random),
    form("azure-client-secret", "an Azure client secret", &["0q~", "1q~", "2q~", "3q~", "4q~", "5q~", "6q~", "7q~", "8q~", "9q~"], r"[A-Za-z0-9_.~]{3}\dQ~[A-Za-z0-9_.~-]{31,34}").starting(Start::Before(3)),
    form("aws-signature", "the signature of a signed URL of a cloud", &["x-amz-signature=", "x-goog-signature=", "x-oss-signature=", "q-signature="], r"(?i)[xq]-(?:(?:amz|goog|oss)-)?signature=(?P<secret>[0-9a-f]{40,})").starting(Start::Anywhere),
    form("digitalocean-token", "a DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], r"do[opr]_v1_[a-f0-9]{64}"),
    form("digitalocean-token", "a key of DigitalOcean's storage", &["do00", "do80"], r"DO[08]0[A-Z0-9]{16}\b").followed_by(Follows::Token(16)).checked(Check::NotMasked),
    form("alibaba-key", "an Alibaba Cloud access key id", &["ltai"], r"LTAI[A-Za-z0-9]{16,24}\b").checked(Check::Random).followed_by(Follows::Token(16)),
    form("baidu-key", "a Baidu Cloud key", &["bce-v3/altak-"], r"bce-v3/ALTAK-[A-Za-z0-9]{16,32}/[0-9a-f]{40}\b"),
    form("volcengine-key", "a Volcano Engine access key id", &["aklt"], r"AKLT[A-Za-z0-9+/_-]{40,}={0,2}").checked(Check::Random).followed_by(Follows::Token(40)),
    form("huawei-key", "a Huawei Cloud access key id", &["hpua"], r"HPUA[A-Z0-9]{16}\b").checked(Check::Random).followed_by(Follows::Token(16)),
    form("exoscale-key", "an Exoscale access key", &["exo"], r"EXO[0-9a-f]{24}\b").followed_by(Follows::Token(24)),
    form("upcloud-token", "an UpCloud token", &["ucat_"], r"ucat_[A-Z0-9]{26}\b"),
    form("cloudflare-key", "a Cloudflare origin key", &["v1.0-"], r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    form("heroku-key", "a Heroku API key", &["hrku-"], r"HRKU-[A-Za-z0-9_-]{36,}"),
    form("heroku-key", "a Heroku API key", &["heroku"], r#"(?i)heroku[A-Z0-9_-]{0,20}["' ]{0,2}[:=]["' ]{0,3}(?P<secret>[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"#).starting(Start::Anywhere).followed_by(Follows::Sign),
    form("planetscale-token", "a PlanetScale token or password", &["pscale_"], r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,}"),
    form("supabase-key", "a Supabase token or secret key", &["sbp_", "sb_secret_"], r"(?:sbp_(?:oauth_)?(?:v\d_)?[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})"),
    form("vercel-token", "a Vercel token", &["vercel_blob_rw_", "vcp_", "vck_", "vca_", "vci_"], r"(?:vercel_blob_rw_[A-Za-z0-9_]{30,}|vc[paic k]_[A-Za-z0-9]{24,})").checked(Check::Random),
    form("netlify-token", "a Netlify token", &["nfp_", "nfo_", "nfc_"], r"nf[poc]_[A-Za-z0-9]{36,}"),
    form("fly-token", "a Fly.io token", &["flyv1 "], r"FlyV1 fm2_[A-Za-z0-9+/=,_-]{60,}").followed_by(Follows::Token(4)),
    form("fly-token", "a Fly.io token", &["fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"], r"(?:fo1_[A-Za-z0-9_-]{40,}|fm[12][ar]?_[A-Za-z0-9+/=_-]{100,})"),
    form("render-key", "a Render API key", &["rnd_"], r"rnd_[A-Za-z0-9]{28,}").checked(Check::Random),
    form("scaleway-key", "a Scaleway access key", &["scw"], r"SCW[A-Z0-9]{17}\b").checked(Check::Random).followed_by(Follows::Token(17)),
    form("tailscale-key", "a Tailscale key", &["tskey-"], r"tskey-[a-z]{3,12}-[A-Za-z0-9]{8,}(?:-[A-Za-z0-9]{8,})?"),
    form("pulumi-token", "a Pulumi token", &["pul-"], r"pul-[a-f0-9]{40}"),
    form("terraform-token", "a Terraform Cloud token", &[".atlasv1."], r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}").starting(Start::Before(14)),
    form("vault-token", "a HashiCorp Vault token", &["hvs.", "hvb.", "hvr."], r"hv[sbr]\.[A-Za-z0-9_-]{24,}").checked(Check::Random),
    form("doppler-token", "a Doppler token", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}"),
    form("onepassword-token", "a 1Password service account token or secret key", &["ops_eyj", "a3-"], r"(?:ops_eyJ[A-Za-z0-9+/_-]{100,}={0,2}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b)").followed_by(Follows::Token(20)),
    form("aws-mws-token", "an Amazon MWS token", &["amzn.mws."], r"amzn\.mws\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    form("aws-appsync-key", "an AWS AppSync key", &["da2-"], r"da2-[a-z0-9]{26}\b").checked(Check::Random).followed_by(Follows::Token(26)),
    form("azure-devops-token", "an Azure DevOps token", &["azdo"], r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b").starting(Start::Before(76)).followed_by(Follows::Token(4)),
    form("azure-key", "a key of an Azure service", &["acdb", "azfu", "azse", "azea", "acse", "+aeh", "+asb", "+amc", "astv", "+ast", "+acr", "azca", "+aba", "aiot", "azac", "azeg", "acog", "+arm"],
        r"[A-Za-z0-9_+/-]{33,}(?:ACDb|AzFu|AzSe|AzEa|ACse|\+AEh|\+ASb|\+AMC|AStv|\+ASt|\+ACR|AzCa|\+ABa|AIoT|AZAC|AZEG|ACOG|\+ARm)[A-Za-z0-9_+/-]{4,8}={0,2}").starting(Start::Before(76)).followed_by(Follows::Token(4)).checked(Check::Random),
    form("azure-client-secret", "an Azure subscription key", &["jqqj99"], r"[A-Za-z0-9]{40,}JQQJ99[A-Za-z0-9]{10,44}").starting(Start::Before(60)).followed_by(Follows::Token(10)),
    form("tencent-key", "a Tencent Cloud secret id", &["akid"], r"AKID[A-Za-z0-9]{32}\b").checked(Check::Random).followed_by(Follows::Token(32)),
    form("yandex-key", "a Yandex Cloud key", &["aqvn", "y0_"], r"(?:AQVN[A-Za-z0-9_-]{35,38}|y0_[A-Za-z0-9_-]{50,})").checked(Check::Random).followed_by(Follows::Token(35)),
    form("yandex-key", "a Yandex Cloud token", &["t1."], r"t1\.[A-Za-z0-9_-]{20,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}").followed_by(Follows::Token(60)),
    form("ibm-key", "an IBM Cloud key", &["apikey-"], r"ApiKey-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    form("rancher-token", "a Rancher token", &["token-"], r"token-[a-z0-9]{5}:[a-z0-9]{54}\b").followed_by(Follows::Token(5)),
    form("openshift-token", "an OpenShift token", &["sha256~"], r"sha256~[A-Za-z0-9_-]{43}"),
    form("neon-key", "a Neon key", &["napi_"], r"napi_[a-z0-9]{60,}\b").checked(Check::Random),
    form("mongodb-secret", "a MongoDB Atlas client secret", &["mdb_sa_sk_"], r"mdb_sa_sk_[A-Za-z0-9_-]{30,}").checked(Check::Random),
    form("aiven-token", "an Aiven token or password", &["aivenv1", "avns_"], r"(?:aivenv1[A-Za-z0-9+/_-]{60,}={0,2}|AVNS_[A-Za-z0-9_-]{19})"),
    form("clickhouse-key", "a ClickHouse Cloud key", &["4b1d"], r"4b1d[A-Za-z0-9]{38}\b").checked(Check::Random).followed_by(Follows::Token(38)),
    form("astra-token", "a DataStax Astra token", &["astracs:"], r"AstraCS:[A-Za-z0-9]{20,28}:[0-9a-f]{64}\b"),
    form("elastic-token", "an Elastic token", &["essu_"], r"essu_[A-Za-z0-9+/_-]{40,}={0,2}").checked(Check::Random),
    form("scalingo-token", "a Scalingo token", &["tk-us-"], r"tk-us-[A-Za-z0-9_-]{48}").checked(Check::Random),
    form("harness-token", "a Harness token", &["pat.", "sat."], r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}\b").followed_by(Follows::Token(60)),
    form("octopus-key", "an Octopus Deploy key", &["api-"], r"API-[A-Z0-9]{26,34}\b").checked(Check::Random).followed_by(Follows::Token(26)),
    form("infisical-token", "an Infisical token", &["st."], r"st\.[0-9a-f-]{20,40}\.[0-9a-f]{32}\.[0-9a-f]{32}").followed_by(Follows::Token(60)),
    form("ngrok-token", "an ngrok token", &["ngrok"], r#"(?i)ngrok (?:config add-authtoken|authtoken)[ \t=:"']{1,4}(?P<secret>[A-Za-z0-9_]{40,})"#).followed_by(Follows::Word),
    form("wireguard-key", "a WireGuard private key", &["privatekey = "], r"(?i)PrivateKey = (?P<secret>[A-Za-z0-9+/]{43}=)").checked(Check::Random),
    form("defined-key", "a Defined Networking key", &["dnkey-"], r"dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    form("netbird-token", "a NetBird token", &["nbp_"], r"nbp_[A-Za-z0-9]{36}\b").checked(Check::Random),
    form("deno-token", "a Deno Deploy token", &["ddp_", "ddo_", "ddw_"], r"dd[pow]_[A-Za-z0-9]{36}\b").checked(Check::Random).followed_by(Follows::Token(36)),
    form("zuplo-key", "a Zuplo key", &["zpka_"], r"zpka_[A-Za-z0-9]{30,}_[a-f0-9]{8}"),
    form("stackhawk-key", "a StackHawk key", &["hawk."], r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}").checked(Check::Random),
    form("settlemint-token", "a SettleMint token", &["sm_aat_", "sm_pat_", "sm_sat_"], r"sm_[aps]at_[A-Za-z0-9]{16}\b").checked(Check::NotMasked),
    form("databricks-token", "a Databricks token", &["dapi"], r"dapi[a-f0-9]{32}(?:-\d)?\b"),
    form("snyk-token", "a Snyk token", &["snyk_"], r"snyk_(?:sat|uat)\.[A-Za-z0-9]{8}\.[A-Za-z0-9_-]{30,}"),
    form("infracost-key", "an Infracost key", &["ico-"], r"ico-[A-Za-z0-9]{32}\b").checked(Check::Random),

    // Code hosts and registries.
    form("github-token", "a GitHub token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"gh[pousr]_[A-Za-z0-9_]{36,}"),
    form("github-token", "a GitHub token", &["github_pat_"], r"github_pat_[A-Za-z0-9_]{22,}").checked(Check::Random),
    form("gitlab-token", "a GitLab token",
        &["glpat-", "gldt-", "glrt-", "glrtr-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "glwt-", "gldtr-"],
        r"gl(?:pat|dt|dtr|rt|rtr|ptt|cbt|ft|imt|agent|oas|soat|ffct|wt)-[A-Za-z0-9_.-]{20,}").checked(Check::NotMasked),
    form("gitlab-token", "a GitLab token", &["gr1348941"], r"GR1348941[A-Za-z0-9_-]{20}"),
    form("bitbucket-token", "a Bitbucket app password or token", &["atbb", "atctt3"], r"(?:ATBB[A-Za-z0-9]{28,40}|ATCTT3[A-Za-z0-9_=-]{60,})"),
    form("atlassian-token", "an Atlassian API token", &["atatt3", "atoatt"], r"AT(?:ATT3|OATT)[A-Za-z0-9_=-]{60,}"),
    form("npm-token", "an npm token", &["npm_"], r"npm_[A-Za-z0-9]{36}\b").checked(Check::NotMasked).followed_by(Follows::Token(36)),
    form("npm-token", "an npm token", &["_authtoken=", "_authtoken "], r"(?i)_authtoken[= ](?P<secret>[A-Za-z0-9_-]{20,})").starting(Start::Anywhere).checked(Check::Random),
    form("pypi-token", "a PyPI token", &["pypi-"], r"pypi-[A-Za-z0-9_-]{50,}").checked(Check::Random),
    form("crates-token", "a crates.io token", &["cio"], r"cio[A-Za-z0-9]{32}\b").checked(Check::Random).followed_by(Follows::Token(32)),
    form("rubygems-key", "a RubyGems key", &["rubygems_"], r"rubygems_[a-f0-9]{48}"),
    form("nuget-key", "a NuGet key", &["oy2"], r"oy2[a-z0-9]{43}\b").followed_by(Follows::Token(43)),
    form("docker-token", "a Docker Hub token", &["dckr_pat_", "dckr_oat_"], r"dckr_[po]at_[A-Za-z0-9_-]{24,}"),
    form("jfrog-token", "a JFrog token", &["akcp", "cmvmd"], r"(?:AKCp[A-Za-z0-9]{60,}|cmVmd[A-Za-z0-9]{48,})").checked(Check::Random),
    form("clojars-token", "a Clojars token", &["clojars_"], r"CLOJARS_[a-z0-9]{60}\b"),
    form("buildkite-token", "a Buildkite token", &["bkua_", "bkat_", "bkct_"], r"bk(?:ua|at|ct)_[A-Za-z0-9]{40,}\b"),
    form("circleci-token", "a CircleCI token", &["ccipat_"], r"CCIPAT_[A-Za-z0-9]{10,}_[a-f0-9]{40}"),
    form("packagist-token", "a Packagist token", &["packagist_"], r"packagist_[a-z]{2,5}_[a-f0-9]{40,}"),
    form("hex-key", "a Hex key", &["hex_"], r"hex_[a-f0-9]{32,}\b").followed_by(Follows::Token(32)),
    form("sourcegraph-token", "a Sourcegraph token", &["sgp_", "slk_"], r"(?:sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}|slk_[a-f0-9]{64})\b"),
    form("chromatic-token", "a Chromatic token", &["chpt_"], r"chpt_[a-f0-9]{12,20}\b"),
    form("endor-token", "an Endor Labs token", &["endr+"], r"endr\+[A-Za-z0-9-]{16}"),
    form("depot-token", "a Depot token", &["depot_"], r"depot_(?:user|project|org)_[a-f0-9]{64}"),
    form("jetbrains-token", "a JetBrains token", &["perm:", "perm-"], r"perm[:-][A-Za-z0-9+/=]{8,}\.[A-Za-z0-9+/=]{4,}\.[A-Za-z0-9+/=]{20,}").checked(Check::Random).followed_by(Follows::Token(20)),
    form("sonar-token", "a Sonar token", &["sonar.login=", "sonar.token="], r"(?i)sonar\.(?:login|token)=(?P<secret>[a-f0-9]{40})\b").starting(Start::Anywhere),
    form("sonar-token", "a Sonar token", &["sqp_", "squ_", "sqa_", "sqb_"], r"sq[puab]_[a-f0-9]{40}\b"),

    // Messages and mail.
    form("slack-token", "a Slack token", &["xoxa-", "xoxb-", "xoxp-", "xoxo-", "xoxr-", "xoxs-", "xoxe-", "xoxe.xox", "xoxc-", "xoxd-"], r"xox(?:e\.xox)?[abceopdrs]-[A-Za-z0-9%+/=-]{16,}").checked(Check::Random),
    form("slack-token", "a Slack token", &["xapp-"], r"xapp-\d-[A-Z0-9]{8,}-\d{8,}-[A-Za-z0-9]{32,}"),
    form("slack-webhook", "a Slack webhook", &["hooks.slack.com/"], r"hooks\.slack\.com/(?P<secret>(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{30,})").starting(Start::Anywhere).checked(Check::NotMasked),
    form("discord-webhook", "a Discord webhook", &["/api/webhooks/"], r"/api/webhooks/(?P<secret>\d{16,20}/[A-Za-z0-9_-]{50,})").starting(Start::Anywhere),
    form("teams-webhook", "a Microsoft Teams webhook", &["webhook.office.com/webhookb2/"], r"webhook\.office\.com/webhookb2/(?P<secret>[A-Za-z0-9@-]{36,}/IncomingWebhook/[a-f0-9]{32}/[a-f0-9-]{36})").starting(Start::Anywhere),
    form("telegram-token", "a Telegram bot token", &[":aa"], r"(?:bot)?(?P<secret>\d{8,10}:AA[A-Za-z0-9_-]{33})").starting(Start::Before(13)),
    form("sendgrid-key", "a SendGrid key", &["sg."], r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,}").followed_by(Follows::Token(30)),
    form("dingtalk-secret", "a DingTalk secret", &["sec"], r"SEC[0-9a-f]{64}\b").followed_by(Follows::Token(64)),
    form("lark-webhook", "a Lark or Feishu webhook", &["/open-apis/bot/v2/hook/"], r"/open-apis/bot/v2/hook/(?P<secret>[0-9a-f-]{32,36})").starting(Start::Anywhere),
    form("dingtalk-secret", "a DingTalk webhook", &["oapi.dingtalk.com/robot/send?access_token="], r"oapi\.dingtalk\.com/robot/send\?access_token=(?P<secret>[0-9a-f]{64})").starting(Start::Anywhere),
    form("google-chat-webhook", "a Google Chat webhook", &["chat.googleapis.com/v1/spaces/"], r"chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]+/messages\?(?P<secret>key=[A-Za-z0-9_-]+(?:&|\\u0026|&amp;)token=[A-Za-z0-9_%=-]+)").starting(Start::Anywhere),
    form("ifttt-webhook", "an IFTTT webhook", &["maker.ifttt.com/"], r"maker\.ifttt\.com/[^\s]{1,80}/with/key/(?P<secret>[A-Za-z0-9_-]{20,})").starting(Start::Anywhere),
    form("zapier-webhook", "a Zapier webhook", &["hooks.zapier.com/hooks/catch/"], r"hooks\.zapier\.com/hooks/catch/(?P<secret>\d+/[A-Za-z0-9]{5,})").starting(Start::Anywhere).checked(Check::NotMasked),
    form("teams-webhook", "a Teams webhook", &["/incomingwebhook/"], r"(?i)/IncomingWebhook/(?P<secret>[0-9a-f]{32}/[0-9a-f-]{36})").starting(Start::Anywhere).followed_by(Follows::Token(32)),
    form("automate-webhook", "a Power Automate webhook", &["logic.azure.com"], r"logic\.azure\.com(?::443)?/workflows/[0-9a-f]{32}/triggers/[^\s]{1,160}?sig=(?P<secret>[A-Za-z0-9_-]{43})").starting(Start::Anywhere),
    form("courier-key", "a Courier key", &["pk_prod_", "pk_test_"], r"pk_(?:prod|test)_[A-Z0-9]{28}\b").checked(Check::Random),
    form("nylas-key", "a Nylas key", &["nyk_v0_", "nyk_"], r"nyk_(?:v0_)?[A-Za-z0-9]{40,}").checked(Check::Random),
    form("knock-key", "a Knock key", &["sk_knock_"], r"sk_knock_[A-Za-z0-9_-]{30,}").checked(Check::Random),
    form("mailgun-key", "a Mailgun key", &["key-"], r"key-[0-9a-f]{32}\b").followed_by(Follows::Token(32)),
    form("mandrill-key", "a Mandrill key", &["md-"], r"md-[A-Za-z0-9_-]{22}\b").followed_by(Follows::Token(22)).checked(Check::Mixed),
    form("mailchimp-key", "a Mailchimp key", &["-us"], r"[0-9a-f]{32}-us\d{1,2}\b").starting(Start::Before(32)).followed_by(Follows::Token(1)),
    form("brevo-key", "a Brevo key", &["xkeysib-", "xsmtpsib-"], r"x(?:keysib|smtpsib)-[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    form("resend-key", "a Resend key", &["re_"], r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28}\b").checked(Check::Random).followed_by(Follows::Token(20)),
    form("postmark-key", "a Postmark token", &["x-postmark-server-token: "], r"(?i)x-postmark-server-token: (?P<secret>[0-9a-f-]{36})"),
    form("pubnub-key", "a PubNub secret key", &["sec-c-"], r"sec-c-[A-Za-z0-9+/=-]{36,}").checked(Check::Random),
    form("govnotify-key", "a key of a government's notifications", &["gcntfy-"], r"gcntfy-[\w-]{0,64}?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),

    // Payments and shops.
    form("stripe-key", "a Stripe key", &["sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_"], r"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{16,}"),
    form("stripe-webhook-secret", "a Stripe webhook secret", &["whsec_"], r"whsec_[A-Za-z0-9+/=]{24,}").checked(Check::Random),
    form("square-token", "a Square token", &["sq0atp-", "sq0csp-", "sq0idp-", "eaaa"], r"(?:sq0atp-[A-Za-z0-9_-]{22}|sq0csp-[A-Za-z0-9_-]{43}|EAAA[A-Za-z0-9_-]{60}\b)"),
    form("braintree-token", "a PayPal Braintree token", &["access_token$"], r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}"),
    form("adyen-key", "an Adyen key", &["aqe"], r"AQE[a-z0-9A-Z]{3,}[A-Za-z0-9+/=-]{100,}").checked(Check::Random).followed_by(Follows::Token(100)),
    form("duffel-token", "a Duffel token", &["duffel_"], r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}").checked(Check::Random),
    form("easypost-key", "an EasyPost key", &["ezak", "eztk"], r"EZ[AT]K[A-Za-z0-9]{54}\b").checked(Check::Random).followed_by(Follows::Token(54)),
    form("lob-key", "a Lob key", &["live_", "test_"], r"(?:live|test)_(?:pub_)?[a-f0-9]{35}\b").followed_by(Follows::Token(35)),
    form("gocardless-token", "a GoCardless token", &["live_", "sandbox_"], r"(?:live|sandbox)_[A-Za-z0-9_-]{40}\b").followed_by(Follows::Token(40)).checked(Check::Random),
    form("plaid-token", "a Plaid token", &["access-production-", "access-sandbox-", "access-development-"], r"access-(?:production|sandbox|development)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    form("paddle-key", "a Paddle key", &["pdl_live_apikey_", "pdl_sdbx_apikey_", "pdl_ntfset_"], r"pdl_(?:live_apikey|sdbx_apikey|ntfset)_[A-Za-z0-9]{20,}_[A-Za-z0-9+/]{20,}(?:_[A-Za-z0-9]{3})?").checked(Check::NotMasked),
    form("polar-token", "a Polar token", &["polar_"], r"polar_(?:oat|pat|whs|rat|at_[uo]|rt_[uo]|cst|ci|cs)_[A-Za-z0-9]{32,}").checked(Check::Random),
    form("mercury-token", "a Mercury token", &["secret-token:mercury_"], r"secret-token:mercury_[a-z]+_[A-Za-z0-9_-]{30,}"),
    form("razorpay-key", "a Razorpay key", &["rzp_live_", "rzp_test_"], r"rzp_(?:live|test)_[A-Za-z0-9]{14,}\b").checked(Check::NotMasked),
    form("ramp-token", "a Ramp or Brex token", &["ramp_sec_", "bxt_"], r"(?:ramp_sec_[A-Za-z0-9]{40,}|bxt_[A-Za-z0-9]{36,})").checked(Check::Random),
    form("telnyx-key", "a Telnyx key", &["key0"], r"KEY0[0-9A-Z]{30,}_[A-Za-z0-9]{22}").followed_by(Follows::Token(30)),
    form("shopify-token", "a Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"], r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    form("facebook-token", "a Facebook access token", &["eaa"], r"EAA[A-Za-z0-9]{80,}").checked(Check::Random).followed_by(Follows::Token(80)),
    form("shippo-token", "a Shippo token", &["shippo_live_", "shippo_test_"], r"shippo_(?:live|test)_[a-f0-9]{40}"),
    form("flutterwave-key", "a Flutterwave secret key", &["flwseck"], r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}(?:-X)?\b"),
    form("asaas-key", "an Asaas key", &["$aact_"], r"\$aact_[A-Za-z0-9_+/=:-]{40,}").starting(Start::Anywhere).followed_by(Follows::Word),
    form("woocommerce-key", "a WooCommerce key", &["ck_", "cs_"], r"c[ks]_[0-9a-f]{40}\b").followed_by(Follows::Token(40)),
    form("klarna-key", "a Klarna key", &["klarna_live_api_", "klarna_test_api_"], r"klarna_(?:live|test)_api_[A-Za-z0-9+/=!?()#*_-]{40,}"),
    form("checkout-key", "a Checkout.com secret key", &["sk_"], r"sk_(?:test_|sbox_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b").followed_by(Follows::Token(36)),
    form("ebay-key", "an eBay certificate id", &["prd-", "sbx-"], r"(?:PRD|SBX)-[0-9a-f]{12}(?:-[0-9a-f]{4}){4}\b").followed_by(Follows::Token(32)),

    // Models.
    form("anthropic-key", "an Anthropic key", &["sk-ant-"], r"sk-ant-[A-Za-z0-9_-]{20,}").checked(Check::NotMasked),
    form("openrouter-key", "an OpenRouter key", &["sk-or-"], r"sk-or-(?:v\d-)?[A-Za-z0-9]{32,}"),
    form("openai-key", "an OpenAI key", &["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-none-"], r"sk-(?:proj|svcacct|admin|none)-[A-Za-z0-9_-]{20,}"),
    form("openai-key", "an OpenAI key", &["sk-"], r"sk-[A-Za-z0-9]{32,}\b").followed_by(Follows::Token(32)),
    form("langfuse-key", "a Langfuse key", &["sk-lf-"], r"sk-lf-[0-9a-f-]{36}"),
    form("openai-key", "an OpenAI key, or one of the same form", &["sk-"], r"sk-[A-Za-z0-9][A-Za-z0-9_-]{18,}").checked(Check::Random).followed_by(Follows::Token(19)),
    form("groq-key", "a Groq key", &["gsk_"], r"gsk_[A-Za-z0-9]{40,}"),
    form("huggingface-token", "a Hugging Face token", &["hf_"], r"hf_[A-Za-z0-9]{30,}\b").followed_by(Follows::Token(30)),
    form("huggingface-token", "a Hugging Face token", &["api_org_"], r"api_org_[A-Za-z0-9]{34}\b"),
    form("replicate-token", "a Replicate token", &["r8_"], r"r8_[A-Za-z0-9]{37,}\b").followed_by(Follows::Token(37)),
    form("perplexity-key", "a Perplexity key", &["pplx-"], r"pplx-[A-Za-z0-9]{40,}\b").checked(Check::Random),
    form("xai-key", "an xAI key", &["xai-"], r"xai-[A-Za-z0-9]{60,}\b"),
    form("cerebras-key", "a Cerebras key", &["csk-"], r"csk-[A-Za-z0-9]{40,}\b").checked(Check::Random),
    form("fireworks-key", "a Fireworks key", &["fw_"], r"fw_[A-Za-z0-9]{22,}\b").checked(Check::Random).followed_by(Follows::Token(22)),
    form("tavily-key", "a Tavily key", &["tvly-"], r"tvly-(?:dev-|prod-)?[A-Za-z0-9_-]{30,}").checked(Check::Random),
    form("pinecone-key", "a Pinecone key", &["pcsk_"], r"pcsk_[A-Za-z0-9_]{50,}"),
    form("langsmith-key", "a LangSmith key", &["lsv2_"], r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    form("e2b-key", "an E2B key", &["e2b_"], r"e2b_[a-f0-9]{40}"),
    form("wandb-key", "a Weights & Biases key", &["wandb_v1_"], r"wandb_v1_[A-Za-z0-9_]{40,}"),
    form("jina-key", "a Jina key", &["jina_"], r"jina_[A-Za-z0-9_-]{50,}").checked(Check::Random),
    form("nvidia-key", "an NVIDIA key", &["nvapi-"], r"nvapi-[A-Za-z0-9_-]{50,}"),
    form("elevenlabs-key", "an ElevenLabs key", &["sk_"], r"sk_[a-f0-9]{48}\b").followed_by(Follows::Token(48)),
    form("anyscale-key", "an Anyscale key", &["esecret_"], r"esecret_[A-Za-z0-9]{20,}").checked(Check::Random),
    form("together-key", "a Together key", &["tgp_v1_"], r"tgp_v1_[A-Za-z0-9_-]{40,}").checked(Check::Random),
    form("voyage-key", "a Voyage key", &["pa-", "al-"], r"(?:pa|al)-[A-Za-z0-9_-]{43}\b").checked(Check::Random).followed_by(Follows::Token(43)),
    form("browserbase-key", "a Browserbase key", &["bb_live_", "bb_test_"], r"bb_(?:live|test)_[A-Za-z0-9_-]{24,}").checked(Check::Random),
    form("apify-token", "an Apify token", &["apify_api_", "apify_proxy_"], r"apify_(?:api|proxy)_[A-Za-z0-9]{30,}").checked(Check::NotMasked),
    form("llamacloud-key", "a LlamaCloud key", &["llx-"], r"llx-[A-Za-z0-9]{40,}").checked(Check::Random),
    form("deepgram-key", "an AssemblyAI, Exa or Deepgram token in its header", &["authorization: token "], r"(?i)authorization: token (?P<secret>[a-f0-9]{32,})"),
    form("modal-token", "a Modal token", &["ak-", "as-"], r"a[ks]-[A-Za-z0-9]{22}\b").checked(Check::Random).followed_by(Follows::Token(22)),
    form("runpod-key", "a RunPod key", &["rpa_"], r"rpa_[A-Z0-9]{40,}").checked(Check::Random),
    form("context7-key", "a Context7 key", &["ctx7sk-"], r"ctx7sk-[0-9a-f-]{36}"),
    form("nomic-key", "a Nomic key", &["nk-"], r"nk-[A-Za-z0-9_-]{43}\b").checked(Check::Random).followed_by(Follows::Token(43)),
    form("upstage-key", "an Upstage key", &["up_"], r"up_[A-Za-z0-9]{29}\b").checked(Check::Random).followed_by(Follows::Token(29)),
    form("friendli-token", "a Friendli token", &["flp_"], r"flp_[A-Za-z0-9]{40,}").checked(Check::Random),
    form("firecrawl-key", "a Firecrawl key", &["fc-"], r"fc-[a-f0-9]{32}\b").followed_by(Follows::Token(32)),

    // Productivity and monitoring.
    form("confluent-secret", "a Confluent secret", &["cflt"], r"cflt[A-Za-z0-9+/]{60}").followed_by(Follows::Token(60)).checked(Check::Random),
    form("teamcity-token", "a TeamCity token", &["eyj0exaioiaivenwmij9."], r"eyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,}"),
    form("instagram-token", "an Instagram token", &["igqv", "igqw", "igaa"], r"IG(?:QV|QW|AA)[A-Za-z0-9_-]{80,}").followed_by(Follows::Token(80)).checked(Check::Random),
    form("linkedin-secret", "a LinkedIn secret", &["wpl_ap"], r"WPL_AP\d\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{4,8}={0,2}"),
    form("klaviyo-key", "a Klaviyo key", &["pk_"], r"pk_[0-9a-f]{34}\b").followed_by(Follows::Token(34)),
    form("dify-key", "a Dify key", &["app-"], r"app-[A-Za-z0-9]{24}\b").followed_by(Follows::Token(24)).checked(Check::Mixed),
    form("matrix-token", "a Matrix token", &["syt_"], r"syt_[A-Za-z0-9+/=]{2,64}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}\b").checked(Check::Random),
    form("brave-key", "a Brave Search key", &["bsa"], r"BSA[A-Za-z0-9_-]{27,29}\b").followed_by(Follows::Token(27)).checked(Check::Random),
    form("tinybird-token", "a Tinybird token", &["p.eyj1ijog"], r"p\.eyJ1Ijog[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}"),
    form("postman-key", "a key of a Postman collection", &["pmat-"], r"PMAT-[0-9A-Z]{26}\b"),
    form("github-token", "a GitHub token", &["ghs_"], r"ghs_\d{4,12}_eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{10,}"),
    form("foursquare-key", "a Foursquare key", &["fsq3"], r"fsq3[A-Za-z0-9+/]{40,48}={0,2}").followed_by(Follows::Token(40)).checked(Check::Random),
    form("configcat-key", "a ConfigCat key", &["configcat-"], r"configcat-(?:sdk|proxy)-1/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22}"),
    form("mercadopago-token", "a Mercado Pago token", &["app_usr-", "test-"], r"(?:APP_USR|TEST)-\d{14,18}-\d{6}-[0-9a-f]{32}-\d{5,12}").followed_by(Follows::Token(50)),
    form("rails-session", "what Rails signed", &["bahb", "bah7"], r"BAh[b7][A-Za-z0-9+/=%]{40,}--[0-9a-f]{40,}\b").followed_by(Follows::Token(40)),
    form("rpc-url", "the key in the address of a node of a chain", &["quiknode.pro/", "rpc.ankr.com/"], r"(?:quiknode\.pro/|rpc\.ankr\.com/\w{1,24}/)(?P<secret>[0-9a-f]{32,})\b").starting(Start::Anywhere).followed_by(Follows::Word),
    form("vk-token", "a VK token", &["vk1.a."], r"vk1\.a\.[A-Za-z0-9_-]{80,}"),
    form("rapidapi-key", "a RapidAPI key", &["msh"], r"[0-9a-f]{10}msh[0-9a-f]{15}p1[0-9a-f]{6}jsn[0-9a-f]{12}\b").starting(Start::Before(10)).followed_by(Follows::Token(35)),
    form("voiceflow-key", "a Voiceflow key", &["vf.dm.", "vf.ws."], r"VF\.(?:DM|WS)\.[0-9a-f]{24}\.[A-Za-z0-9]{16}\b"),
    form("intra42-secret", "a secret of 42's intranet", &["s-s4t2ud-", "s-s4t2af-"], r"s-s4t2(?:ud|af)-[0-9a-f]{64}"),
    form("authress-key", "an Authress key", &["scauth_", "authress_"], r"(?:scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}").followed_by(Follows::Token(40)),
    form("sidekiq-secret", "the credentials of Sidekiq's gems", &["contribsys"], r"(?i)contribsys[\w.]{0,8}[=: ]{1,3}(?P<secret>[0-9a-f]{8}:[0-9a-f]{8})\b").starting(Start::Anywhere).followed_by(Follows::Word),
    form("sumologic-url", "the key in a Sumo Logic address", &["/receiver/v1/http/"], r"(?i)/receiver/v1/http/(?P<secret>[A-Za-z0-9_=-]{60,})").starting(Start::Anywhere).followed_by(Follows::Token(60)),
    form("sauce-key", "a Sauce Labs key", &["oauth-"], r"oauth-[a-z0-9_]{1,40}-[0-9a-f]{5}\b").followed_by(Follows::Token(7)).checked(Check::NotMasked),
    form("linear-key", "a Linear key", &["lin_api_", "lin_oauth_"], r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    form("notion-token", "a Notion token", &["ntn_", "secret_"], r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43})\b").checked(Check::Random).followed_by(Follows::Token(40)),
    form("adafruit-key", "an Adafruit IO key", &["aio_"], r"aio_[A-Za-z0-9]{28}\b").followed_by(Follows::Token(28)),
    form("adobe-secret", "an Adobe client secret", &["p8e-"], r"p8e-[A-Za-z0-9_-]{32}").checked(Check::Random),
    form("atlassian-token", "a Trello token", &["atta"], r"ATTA[a-f0-9]{64}[A-F0-9]{0,8}\b").followed_by(Follows::Token(64)),
    form("clickup-token", "a ClickUp token", &["pk_"], r"pk_\d{5,10}_[A-Z0-9]{32}\b").followed_by(Follows::Token(38)),
    form("frameio-token", "a Frame.io token", &["fio-u-"], r"fio-u-[A-Za-z0-9=_-]{64}"),
    form("calcom-key", "a Cal.com key", &["cal_live_", "cal_"], r"cal_(?:live_)?[a-f0-9]{32}\b").followed_by(Follows::Token(32)),
    form("maxmind-key", "a MaxMind key", &["_mmk"], r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b").starting(Start::Before(36)).followed_by(Follows::Token(0)),
    form("ory-token", "an Ory token", &["ory_"], r"ory_(?:pat|at|rt|st|apikey|wak)_[A-Za-z0-9_.-]{32,}").checked(Check::Random),
    form("cloudflare-key", "a token of a Cloudflare tunnel", &["eyjhijoi"], r"eyJhIjoi[A-Za-z0-9+/_-]{100,}={0,2}"),
    form("paseto", "a PASETO token", &[".local.", ".public."], r"v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{60,}").starting(Start::Before(2)).checked(Check::Random),
    form("twitter-token", "a Twitter bearer token", &["aaaaaaaaaaaaaaaaaaaaa"], r"A{21,24}[A-Za-z0-9%+/=]{60,}").followed_by(Follows::Token(60)),
    form("segment-token", "a Segment or Customer.io token", &["sgp_", "cio_"], r"(?:sgp_[A-Za-z0-9]{64}|cio_[A-Za-z0-9]{40})\b").followed_by(Follows::Token(40)),
    form("retool-token", "a Retool token", &["retool_"], r"retool_[A-Za-z0-9]{26}").followed_by(Follows::Token(26)).checked(Check::Random),
    form("stytch-secret", "a Stytch secret", &["secret-test-", "secret-live-"], r"secret-(?:test|live)-[A-Za-z0-9_-]{30,}={0,2}").checked(Check::Random),
    form("unkey-key", "an Unkey key", &["unkey_"], r"unkey_[A-Za-z0-9]{16,}").checked(Check::Random),
    form("wakatime-key", "a WakaTime key", &["waka_"], r"waka_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    form("figma-token", "a Figma token", &["figd_", "figu_"], r"fig[du]_[A-Za-z0-9_-]{38,}"),
    form("airtable-token", "an Airtable token", &["pat"], r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b").followed_by(Follows::Token(70)),
    form("postman-key", "a Postman key", &["pmak-"], r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    form("contentful-token", "a Contentful token", &["cfpat-"], r"CFPAT-[A-Za-z0-9_-]{40,}"),
    form("hubspot-token", "a HubSpot token", &["pat-na", "pat-eu"], r"pat-(?:na|eu)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    form("dropbox-token", "a Dropbox token", &["sl."], r"sl\.(?:u\.)?[A-Za-z0-9_-]{100,}").followed_by(Follows::Token(100)),
    form("typeform-token", "a Typeform token", &["tfp_"], r"tfp_[A-Za-z0-9_-]{40,}").checked(Check::Random),
    form("readme-key", "a ReadMe key", &["rdme_"], r"rdme_[a-z0-9]{70}\b"),
    form("mapbox-token", "a Mapbox secret token", &["sk.eyj"], r"sk\.eyJ[A-Za-z0-9_+/-]{40,}\.[A-Za-z0-9_-]{20,}"),
    form("datadog-key", "a Datadog key", &["datadog", "dd-api-key", "dd-application-key", "dd_api_key", "dd_app_key"],
        r#"(?i)(?:datadog|dd)[a-z0-9_-]{0,30}["']{0,1}[ \t]{0,2}[:=][ \t]{0,2}["']{0,1}(?P<secret>[0-9a-f]{32}(?:[0-9a-f]{8})?)\b"#).starting(Start::Anywhere).followed_by(Follows::Sign),
    form("datadog-key", "a Datadog key", &["ddapp_", "ddpat_"], r"dd(?:app|pat)_[A-Za-z0-9]{30,}"),
    form("newrelic-key", "a New Relic key", &["nrak-", "nrjs-", "nrii-", "nrsp-"], r"NR(?:AK|JS|II|SP)-[A-Za-z0-9_-]{19,40}"),
    form("newrelic-key", "a New Relic key", &["nral"], r"(?:[0-9a-f]{6}|[a-z]{2}\d\dxx)[0-9a-f]{30,34}NRAL\b").starting(Start::Before(40)).followed_by(Follows::Token(0)),
    form("sentry-token", "a Sentry token", &["sntrys_", "sntryu_"], r"(?:sntrys_[A-Za-z0-9+/=_-]{40,}|sntryu_[a-f0-9]{64})"),
    form("grafana-token", "a Grafana token", &["glsa_", "glc_ey"], r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_ey[A-Za-z0-9+/=]{30,})"),
    form("grafana-token", "a Grafana key", &["eyjrijoi"], r"eyJrIjoi[A-Za-z0-9+/_-]{60,}={0,2}"),
    form("pagerduty-key", "a PagerDuty secret", &["pdus+_", "pdeu+_"], r"pd(?:us|eu)\+_[A-Z0-9]{4,20}_[0-9a-f-]{36}"),
    form("logicmonitor-token", "a LogicMonitor token", &["lmb_", "lma_"], r"lm[ab]_[A-Za-z0-9+/_-]{40,}={0,2}").checked(Check::Random),
    form("persona-key", "a Persona key", &["persona_production_", "persona_sandbox_"], r"persona_(?:production|sandbox)_[0-9a-f-]{36}"),
    form("fullstory-key", "a FullStory key", &["na1.", "eu1."], r"(?:na|eu)1\.[A-Za-z0-9+/]{40,}={0,2}").checked(Check::Random).followed_by(Follows::Token(40)),
    form("veracode-key", "a Veracode key", &["vera01"], r"vera01[a-z]{2}-[0-9a-f]{32,}\b"),
    form("oculus-token", "an Oculus token", &["oc|"], r"OC\|\d{15,17}\|[A-Za-z0-9]{32}\b").followed_by(Follows::Word),
    form("warp-key", "a Warp key", &["wk-1."], r"wk-1\.[0-9a-f]{64}\b"),
    form("devin-key", "a Devin key", &["apk_user_", "apk_"], r"apk_(?:user_)?[A-Za-z0-9+/_-]{32,}={0,2}").checked(Check::Random),
    form("honeycomb-key", "a Honeycomb key", &["hcaik_", "hcxik_", "hcalk_"], r"hc[ax][il]k_[A-Za-z0-9]{26,}").checked(Check::NotMasked),
    form("axiom-token", "an Axiom token", &["xaat-", "xapt-"], r"xa[ap]t-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    form("logfire-token", "a Logfire token", &["pylf_v"], r"pylf_v\d_[a-z]{2}_[A-Za-z0-9]{40,}"),
    form("statsig-key", "a Statsig secret", &["secret-"], r"secret-[A-Za-z0-9]{43,}\b").followed_by(Follows::Token(43)).checked(Check::Random),
    form("posthog-key", "a PostHog personal key", &["phx_", "phs_"], r"ph[xs]_[A-Za-z0-9]{40,}\b"),
    form("dynatrace-token", "a Dynatrace token", &["dt0c01.", "dt0s01."], r"dt0[cs]01\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    form("launchdarkly-key", "a LaunchDarkly key", &["api-", "sdk-"], r"(?:api|sdk)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b").followed_by(Follows::Token(36)),
    form("prefect-key", "a Prefect key", &["pnu_"], r"pnu_[A-Za-z0-9]{36}\b"),
    form("algolia-key", "an Algolia admin key", &["algolia"], r#"(?i)algolia[a-z0-9_-]{0,30}["']{0,1}[ \t]{0,2}[:=][ \t]{0,2}["']{0,1}(?P<secret>[0-9a-f]{32})\b"#).starting(Start::Anywhere).followed_by(Follows::Sign),
    form("salesforce-token", "a Salesforce session", &["00d"], r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}").followed_by(Follows::Token(12)).checked(Check::Random),
    form("ghost-key", "an admin key of Ghost", &["ghost"], r"(?i)ghost[^\n]{0,40}?(?P<secret>[0-9a-f]{24}:[0-9a-f]{64})\b").followed_by(Follows::Word),
    form("wallet-key", "the private key of a wallet", &["xprv", "yprv", "zprv", "tprv"], r"[xyzt]prv[1-9A-Za-z]{100,}\b").followed_by(Follows::Token(90)),
    form("wallet-key", "the private key of a Nostr user", &["nsec1"], r"nsec1[qpzry9x8gf2tvdw0s3jn54khce6mua7l]{58}\b").followed_by(Follows::Token(58)),
    form("wallet-key", "the private key of a wallet", &["suiprivkey1", "ed25519_sk1", "ed25519e_sk1", "xprv1", "addr_xsk1", "edsk", "ed25519:", "bls12_381:"],
        r"(?:suiprivkey1[a-z0-9]{58,}|(?:ed25519e?_sk|xprv|addr_xsk)1[a-z0-9]{58,}|edsk[1-9A-HJ-NP-Za-km-z]{50,}|ed25519:[1-9A-HJ-NP-Za-km-z]{80,})\b").followed_by(Follows::Token(50)),
    form("okta-token", "an Okta token", &["ssws "], r"(?i)ssws (?P<secret>00[A-Za-z0-9_-]{38,42})").followed_by(Follows::Token(8)),
    form("mailersend-token", "a MailerSend token", &["mlsn."], r"mlsn\.[0-9a-f]{64}\b"),
    form("webhook", "the address of a webhook", &["://hook.", "://hooks.", "/hook/", "/hooks/", "/webhook/", "/webhooks/"],
        r#"(?i)(?:://hooks?\.[^\s/"'<>]{1,80}/(?:[^\s/"'<>]{1,40}/){0,4}|/(?:web)?hooks?/(?:[a-z0-9_-]{1,40}/){0,2})(?P<secret>[A-Za-z0-9_.-]{20,})(?:[/?\s"'`<>)\]|,;\x5c]|\z)"#)
        .starting(Start::Anywhere).checked(Check::Random),
    form("password-hash", "the hash of a password", &["pbkdf2_sha", "pbkdf2:sha", "scrypt:"],
        r"(?:pbkdf2[_:]sha\d{1,3}|scrypt)(?::\d{1,8}){0,3}\$(?:\d{1,9}\$)?[A-Za-z0-9./+_-]{6,64}\$[A-Za-z0-9+/=_-]{32,}").starting(Start::Anywhere).followed_by(Follows::Word),
    form("password-hash", "the hash of a password", &["{ssha", "{smd5}", "{crypt}", "{pbkdf2"], r"(?i)\{(?:ssha\d{0,3}|smd5|crypt|pbkdf2[a-z0-9-]{0,10})\}(?P<secret>[A-Za-z0-9+/=$.]{16,})")
        .starting(Start::Anywhere).followed_by(Follows::Word),
    form("password", "the value of a password setting, field or option", &["{plain}", "{clear}", "{cleartext}"], r"(?i)\{(?:plain|clear(?:text)?)\}(?P<secret>[^\s\x22'\\:]{4,})")
        .starting(Start::Anywhere).followed_by(Follows::Word),
    form("password-hash", "the hash of a password", &["\"md5", "'md5"], r#"["']md5(?P<secret>[0-9a-f]{32})\\{0,3}["']"#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("login-password", "the password of a line in the files of PPP", &["\" * \"", "\" * \\\""], r#"\" \* \\{0,3}"(?P<secret>[^"\s\\]{6,})\\{0,3}" "#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("terraform-password", "a password that Terraform drew", &["random_password\"", "random_password\\\""],
        r#"random_password\\{0,3}"[\s\S]{0,400}?\\{0,3}"result\\{0,3}"\s?:\s?\\{0,3}"(?P<secret>[^"\n\\]{6,})\\{0,3}""#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("app-password", "a password for one app, in groups of letters", &["app password", "app-password", "app_password", "apppassword"],
        r#"(?i)app[ _-]?password\\{0,3}["'`]?(?: is|:| =|=)[ ]?\\{0,3}["'`]?(?P<secret>[a-z]{4}(?: [a-z]{4}){3})\b"#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("wallet-key", "the private key of an account", &["accounts: [", "accounts:[", "accounts\": ["],
        r#"accounts"?\s?:\s?\[\s{0,20}\\{0,3}["'](?:0x)?(?P<secret>[0-9a-fA-F]{64})\b"#).starting(Start::Anywhere).followed_by(Follows::Word),
    form("totp-secret", "the secret of one-time passwords", &["oathtool "], r#"oathtool (?:-\S{1,24} ){1,4}["']?(?P<secret>[A-Za-z2-7]{16,})\b"#).followed_by(Follows::Word).checked(Check::NotMasked),
    form("login-password", "the password of a login with its user",
        &["identifiants", "zugangsdaten", "logindaten", "anmeldedaten", "credenciales", "credenziali", "credenciais", "inloggegevens", "dane logowania", "логин", "账号", "帳號", "アカウント"],
        r#"(?i)(?:identifiants|\w{3,10}daten|creden\w{4,6}|inloggegevens|dane logowania|логин|账号|帳號|アカウント)[ ]?(?:(?u:[:=：])|是|は)?[ ]?["'`]?[\w.@+-]{2,40}["'`]?[ ]?(?:[/|]|:[ ]?)[ ]?["'`]?(?P<secret>[^\s"'`\\]{6,})"#)
        .starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Chosen),
    form("aws-secret", "an AWS secret key beside the id of the key", &["akia", "asia"],
        r#"A(?:KI|SI)A[A-Z2-7]{16}[\s"',:;|/=>)\x5c-]{1,12}(?:(?i:aws|secret|access|key|and|und|et|y|n|the|is)[\s"',:;|/=>_\x5c-]{1,8}){0,8}(?P<secret>[A-Za-z0-9+/]{40})(?:[^A-Za-z0-9+/=]|\z)"#)
        .followed_by(Follows::Word).checked(Check::Random),
    form("login-password", "the password of a login with its user", &["sign in with ", "sign in as ", "log in with ", "log in as ", "login with ", "login as ", "logged in as ", "connect with ", "connect as "],
        r#"(?i)(?:(?:sign|log(?:ged)?)[ ]?in|connect) (?:as|with) (?:user )?['`]?[\w.@+-]{2,60}['`]? ?(?:and|with|/|:) (?:password |pw |the password )?['`]?(?P<secret>[^\s"'`\\]{6,})"#)
        .followed_by(Follows::Token(3)).checked(Check::SelfMade),
    form("login-password", "the password of a network or a device", &["wifi: ", "wi-fi: ", "wlan: ", "wifi ", "router login ", "ssid: ", "login: "],
        r#"(?i)(?:wi-?fi|wlan|router login|ssid|login):? [\w.@-]{2,40} ?[/|] ?['`]?(?P<secret>[^\s"'`\\]{8,})"#)
        .followed_by(Follows::Token(2)).checked(Check::SelfMade),
    form("login-password", "the password of a login with its host", &["admin:", "root:", "user:", "postgres:"],
        r#"(?i)(?:admin|root|user|postgres):(?P<secret>[^\s"'`\\@:/]{6,})@(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|[a-z0-9-]{1,40}(?:\.[a-z0-9-]{1,40}){1,4})\b"#)
        .followed_by(Follows::Token(4)).checked(Check::SelfMade),
    form("midtrans-key", "a Midtrans server key", &["mid-server-"], r"(?i)mid-server-[A-Za-z0-9_-]{20,32}").checked(Check::Random),
    form("omise-key", "an Omise secret key", &["skey_"], r"skey_(?:test_)?[a-z0-9]{19}\b"),
    form("apollo-key", "an Apollo GraphOS key", &["service:", "user:gh."], r"(?:service:[a-z0-9-]{2,40}|user:gh\.[a-z0-9-]{1,40}):(?P<secret>[A-Za-z0-9_-]{22})\b").followed_by(Follows::Token(2)).checked(Check::Mixed),
    form("url-key", "a key in the query of an address", &["?key=", "&key=", "?code=", "&code=", "?auth=", "&auth="],
        r"[?&](?:key|code|auth)=(?P<secret>[A-Za-z0-9_.~-]{20,})").starting(Start::Anywhere).checked(Check::Random),
    form("url-key", "a key in the query of an address", &["&appid=", "?appid="], r"[?&]appid=(?P<secret>[0-9A-Za-vxyz][A-Za-z0-9]{15,})\b").starting(Start::Anywhere).checked(Check::Random),
    form("url-token", "a token in the path of an address that lets in its reader", &["-password/", "password-reset/", "/reset/", "/invite/", "/invitation/", "/verify/", "/verify-email/", "/confirm/", "/activate/", "/magic/", "/magic-link/", "/unsubscribe/"],
        r"(?i)/?[a-z-]{5,16}/(?P<secret>[A-Za-z0-9_.-]{20,})").starting(Start::Anywhere).followed_by(Follows::Token(20)).checked(Check::Random),
    form("cookie", "the session in a cookie", &["phpsessid", "jsessionid", "connect.sid", "laravel_session"],
        r"(?i)(?:phpsessid|jsessionid|connect\.sid|laravel_session)[=:](?P<secret>[A-Za-z0-9%._-]{16,})").starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Random),
    form("authress-key", "an Authress access key", &["sc_", "ext_", "scauth_"], r"(?:sc|ext|scauth)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc_?[a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}").followed_by(Follows::Token(20)),
    form("amp-token", "an Amp token", &["sgamp_"], r"sgamp_[a-z]{2,12}_[A-Z0-9]{20,30}_[0-9a-f]{64}\b"),
    form("convex-key", "a Convex deploy key", &["prod:", "dev:", "preview:"], r"(?:prod|dev|preview):[a-z]{2,20}-[a-z]{2,20}-\d{1,4}\|(?P<secret>[A-Za-z0-9+/=_-]{40,})").followed_by(Follows::Token(5)),
    form("login-password", "the secret of a user in the settings of IPsec", &[": eap \"", ": xauth \"", ": eap \\\"", ": xauth \\\""],
        r#"(?i): (?:eap|xauth) \\{0,3}"(?P<secret>[^"\s\\]{6,})\\{0,3}""#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("login-password", "the password that a test types", &["#pw\"", "#pw'", "#pw\\\"", "#pass\"", "#pass'", "#pass\\\""],
        r#"#(?:pw|pass)\\{0,3}["']\)?(?:\.(?:type|fill|val|send_keys|sendKeys)\(|, ?)\\{0,3}["'](?P<secret>[^"'\s\\]{6,})"#).starting(Start::Anywhere).followed_by(Follows::Word).checked(Check::Password),
    form("bot-token", "a bot token in a header", &["bot "], r"(?i)bot (?P<secret>[A-Za-z0-9._-]{50,})").followed_by(Follows::Token(50)).checked(Check::Random),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        for rule in RULES {
            assert!(
                rule.name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{}",
                rule.name
            );
            for keyword in rule.keywords {
                assert_eq!(keyword.to_ascii_lowercase(), *keyword);
            }
        }
        assert!(rules().len() > 100);
    }
}
