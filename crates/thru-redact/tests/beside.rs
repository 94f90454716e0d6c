//! Secrets that only what stands beside them tells of, in every place that text may come from, and harmless text of the same
//! shape. The values are made up.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use thru_redact::{Redactor, Report};

/// Texts in which each «…» must go. Where other words go with it, that is wrong too.
const SECRETS: &[&str] = &[
    // Remarks.
    "NUKE_CODE = «918273»  # second factor, do not publish",
    "MAGIC=«moss-kettle-ferret-plum»\n# whoever has this can skip the queue",
    "x-moss-gate: «q7Xv2LmP0RtZs9KdW4hY8bNc»\n# the header is our shared secret with the edge",
    "x-moss-gate: «q7Xv2LmP0RtZs9KdW4hY8bNc»\nx-request-id: 9c1d\n# treat the gate header like a password",
    "curl -H 'X-Gate: «q7Xv2LmP0RtZs9KdW4hY8bNc»' https://acme.io\n# the gate is secret",
    "ALLOWED = {\"«q7Xv2LmP0RtZs9KdW4hY8bNc»\"}  # callers send this as bearer token",
    "«0x5f2018a2c109e394a6174e9aa4331ddc5f2018a2c109e394a6174e9aa4331ddc»  <- deployer private key",
    "Old: «plumFerret88»\nNew: «mossKettle41»\n(passwords of the backup user)",
    // Quotation marks on the line of a name.
    "tmux send-keys -t 0 '«plumFerret-88»' Enter  # password prompt",
    "{\"method\":\"insertText\",\"text\":\"«plum2011»\",\"comment\":\"typing the admin password\"}",
    "[ \"$1\" = \"«Moss-kettle-56»\" ] || { echo \"wrong password\"; exit 1; }",
    "USERS = {\"ann\": \"«moss_kettle41»\", \"bob\": \"«Ferret1978#»\"}  # plaintext passwords",
    // A user and a password.
    "- ci: svc_moss / «Ferret1998!»\n- hub:  svc_moss / «tSzTfM6srtaB2I»\n(login / password)",
    "the basic auth pair is ann / «moss-kettle16» now",
    "I tried `ann` / `«F3rr3t28!moss»` and it says invalid credentials.",
    "Logged in with ann:«Moss@1990», got a 200.",
    "the login of the printer is admin and then «mossKettle37»",
    "Demo accounts:\n* ann@acme.io — «kettle20moss»\n* bob@acme.io — «Ferret2008#»",
    "#cloud-config\nchpasswd:\n  expire: false\n  list: |\n    ann:«moss31ferret»\nssh_pwauth: true",
    "passwords = {\n  \"ann\": \"«Ferret1997#»\",\n  \"bob\": \"«MossKettle50!»\"\n}",
    "-u 'ann:«mossKettle2003»'",
    // Several in one sentence.
    "The password was «Ferret1999#» before; since May it's «Moss@1985».",
    "it sets the DB password to «M0ss48!lar» while .env still has «kettle2025».",
    "I changed it from «Moss-kettle-59» to «Ferret1984#» today, the password list is updated.",
    "It wants a password. I typed «moss_kettle40» and it worked.",
    "Type «moss_kettle53» at the password prompt.",
    // What an interpreter shows.
    "(gdb) p cfg->password\n$1 = 0x55 \"«F3rr3t78!moss»\"",
    "mysql> SELECT value FROM s WHERE name='smtp_password';\n+---------+\n| value   |\n+---------+\n| «Ferret2004#» |\n+---------+",
    "sqlite> select password from users where id=1;\n«moss_kettle10»",
    "$ head -c 24 /dev/urandom | base64\n«/yS7R1xChpwSiK2u47kqfIShGpO2filK»",
    // Rows, dumps and blocks.
    "NAME            TYPE     VALUE             UPDATED\nSMTP_PASSWORD   secret   «moss73kettle»    2d ago\nLOG_LEVEL       plain    info              9d ago",
    "│ (index) │ user  │ password           │\n├─────────┼───────┼────────────────────┤\n│ 0       │ 'ann' │ '«Moss-kettle-54»' │",
    "cfg: {Host:mx.acme.io Port:5432 User:app Password:«Ferret.moss.61» SSLMode:disable}",
    "DEBUG pool - password................\"«moss_kettle68»\"",
    "  12  auth:\n  13    user: ann\n  14    password: >-\n  15      «moss-ferret-kettle-plum»\n  16    realm: x",
    "*:5432:*:readonly:«1DrcqOYYAW0H»",
    "AWS Secret Access Key [None]: «WxeNNaH4O+Y8yfgjKzgu1Vw6wAZm2VnCZU+BylfC»\nDefault region name [None]: x",
    "sed -i 's/^requirepass .*/requirepass «eofK4ABuunnS8fIKQciIlbDP/»' redis.conf",
    "SECRET=«moss-kettle-ferret»\nPORT=3000",
    // Codes.
    "GitHub recovery codes\n«1d874-4b9be»\n«c9975-f26ad»\n«53cdb-0b6fe»",
    "my 2fa backup codes are «401796» «280976» «128438», keep them",
    "ADMIN_PIN=«961532»",
    "SECRET WORD: «moss-kettle-coral-tiger»",
    "use code «126350» to log in",
    "LICENSE=«DI3RO-RW18Q-OHGLQ-NNN2H-4248J»",
    // Parts.
    "const t = '«ghp_t6JX6uM6I6' +\n  'YyeOQRLiGAZPhX' +\n  'MokfxD4cIkIf»';\nx(t);",
    "const KEY = ['«czicy1ZSB8hJ»', '«ZpbTkXH33WoW»'].join('');\n// an api key",
    "P=\"«moss77ferret»\"; P=\"${P}«xdGNndONKLwF»\"\necho \"$P\" | sudo -S true",
    "A=«H1oqLTfYLTrC»\nB=«Z5mqcJtynwLJ»\nexport TOKEN=\"$A$B\"",
    // What a variable is used for, and arguments.
    "key = bytes.fromhex(\"«5f2018a2c109e394a6174e9aa4331ddc»\")\ncipher = AES.new(key, AES.MODE_GCM)",
    "new ethers.Wallet(\"«0x5f2018a2c109e394a6174e9aa4331ddc5f2018a2c109e394a6174e9aa4331ddc»\", p)",
    "run([\"mysqldump\", \"-u\", \"root\", \"-p«MossFerret29!»\", \"shop\"])",
    "require('twilio')('AC5f2018a2c109e394a6174e9aa4331ddc', '«8e4188702590b486bf0972cf1e863250»')",
];

/// Texts of which nothing may change.
const HARMLESS: &[&str] = &[
    "# rotate the deploy token every 90 days\nimage: acme/app-2024-11",
    "// the password must be at least 8 characters\nconst minLength = \"min-8-chars\";",
    "secret sharing scheme: shamir-3-of-5\n# Password\n## API key",
    "runs-on: ubuntu-22.04 # needs the deploy token",
    "do not commit build-2024-output or node_modules",
    "don't commit `feature-42-wip` to main",
    "Do not publish v2.4.1-rc.3 yet; latest is v2.4.0",
    "x-request-id: 7b0c7c3c9a11\n# not a secret, treat it like a public id",
    "anyone who has `node-20-lts` installed can skip this",
    "region: eu-west-1\ncluster: prod-eu-22\n(credentials come from IRSA)",
    "Old: v1.4.2\nNew: v1.5.0\n(password policy unchanged)",
    "cy.get('[data-test=\"password-input-2\"]').should('be.visible')",
    "import { PasswordField } from \"./fields-v2/PasswordField2\"",
    "{\"id\":\"password\",\"title\":\"Password\",\"text\":\"At least 12 characters\"}",
    "{\"name\":\"password\",\"text\":\"Enter your password\"}",
    "log in / sign up flow: step1 / step2",
    "admin / user2 roles are checked in auth.ts",
    "login: true, retries: 3, timeout: 30s",
    "- Fix: 60-second timeout of the login button\nphase: 12-core-provider-04",
    "logged in as bot-22 and ran job-3341",
    "users/ann/settings-2024 | login required",
    "changed the timeout from build-10 to build-12, password tests pass",
    "mysql> show columns from users where field='password';\n+----------+--------------+\n| Field    | Type         |\n+----------+--------------+\n| password | varchar(255) |\n+----------+--------------+",
    "$ sudo -i\n[sudo] password for ann:\nroot@web1:~#",
    "NAME          READY   STATUS    AGE\napi-token-v2  1/1     Running   22d",
    "password   varchar(255)   not null   default-user01",
    "checking password strength........passed2",
    "Password [unchanged]:",
    "password: {{ .Values.auth.password | b64enc | quote }}",
    "password: !vault_ref db/password",
    "256 SHA256:ML_xTTDbVZA_Qe7Q6_RB7sdIno47TBRBqWf_tX7qMlk deploy@moss (ED25519)",
    "unable to get password\n7z x archive.7z -p\"$ARCHIVE_PASS\"",
    "(s instanceof Minipass ||\n    s instanceof Stream ||\n    isReadable(s) ||\n    isWritable(s));",
    "recovery code path is covered in test_recovery_12.py",
    "error code 42703 to verify the column",
    "GPIO PIN 12 is not valid",
    "const url = [\"https://\", host, \"/api/v2\"].join(\"\");\nconst token = getToken();",
    "const key = [\"user\", \"profile\", \"settings2\"].join(\"\");",
    "PATH+=\":/opt/node20/bin\"\ncurl -H \"X-Token: $TOKEN\"",
    "key = derive(\"app-key-v2\")\ncipher = AES.new(key, AES.MODE_GCM)",
    "chown -u \"www-data:www-data\" dir",
    "chpasswd reads lines like:\nuser:newpassword",
];

/// Returns what becomes of a text by itself, in JSON, and in JSON within JSON.
fn cleaned(text: &str) -> [String; 3] {
    let redactor = Redactor::builtin();
    let report = &mut Report::default();
    let line = |text: &str, report: &mut Report| {
        let line = serde_json::json!({ "type": "user", "content": text }).to_string();
        let line = redactor.clean_json_line(line.as_bytes(), report).into_inner();
        let line: serde_json::Value = serde_json::from_slice(&line).unwrap();
        line["content"].as_str().unwrap().to_owned()
    };
    let nested = line(&serde_json::json!({ "command": text }).to_string(), report);
    let nested: serde_json::Value = serde_json::from_str(&nested).unwrap();
    [
        redactor.clean_text(text, report).into_inner(),
        line(text, report),
        nested["command"].as_str().unwrap().to_owned(),
    ]
}

/// Returns a cleaned text with each placeholder as `«»`.
fn without_rules(text: &str) -> String {
    let mut parts = text.split("[redacted:");
    let mut plain = parts.next().unwrap().to_owned();
    for part in parts {
        plain.push_str("«»");
        plain.push_str(part.split_once(']').unwrap().1);
    }
    plain
}

#[test]
fn secrets_of_which_the_text_beside_them_tells_are_found() {
    let mut wrong = Vec::new();
    for marked in SECRETS {
        let mut expected = String::new();
        for (nth, part) in marked.split('«').enumerate() {
            let rest = if nth == 0 { part } else { part.split_once('»').unwrap().1 };
            expected.push_str(if nth == 0 { "" } else { "«»" });
            expected.push_str(rest);
        }
        let text = marked.replace(['«', '»'], "");
        for (place, output) in ["text", "json", "nested"].iter().zip(cleaned(&text)) {
            if without_rules(&output) != expected {
                wrong.push(format!("{place}: {text}\n    -> {output}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn harmless_text_of_the_same_shape_stays() {
    for text in HARMLESS {
        assert_eq!(cleaned(text), [*text; 3]);
    }
}

#[test]
fn a_field_that_is_labelled_as_a_password_goes() {
    let redactor = Redactor::builtin();
    for line in [
        r#"{"input":{"element":"Password field","ref":"e14","text":"mossKettle77"}}"#,
        r##"{"input":{"action":"type","selector":"#login-password","text":"mossKettle77"}}"##,
        r#"{"fields":[{"id":"password","v":"mossKettle77"}]}"#,
    ] {
        let report = &mut Report::default();
        let output = redactor.clean_json_line(line.as_bytes(), report).into_inner();
        let expected = line.replace("mossKettle77", "[redacted:password]");
        assert_eq!(String::from_utf8(output).unwrap(), expected);
        let value = redactor.clean_value(serde_json::from_str(line).unwrap(), report).into_inner();
        let expected: serde_json::Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(value, expected);
    }
}

#[test]
fn what_one_field_tells_to_be_secret_goes_from_all() {
    let redactor = Redactor::builtin();
    for line in [
        r#"{"tool_input":{"command":"export PGPASSWORD=plum88x; ./start"},"tool_response":{"stdout":"started as plum88x"}}"#,
        r#"{"input":{"id":"plum88x","password=plum88x":1},"cookie":"sid=a8f3kl09xq"}"#,
    ] {
        let report = &mut Report::default();
        let value = serde_json::from_str(line).unwrap();
        let cleaned = redactor.clean_value(value, report).into_inner().to_string();
        assert!(!cleaned.contains("plum88x"), "{cleaned}");
    }
}
