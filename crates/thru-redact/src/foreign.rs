//! Words for a password or a key in other languages than English, and the value that follows them.
//!
//! Everything is matched from the end of a word, within a fixed number of bytes, so it is linear on any input.

use std::ops::Range;

use crate::connector;
use crate::names::{Kind, Telling};
use crate::pattern::Pattern;
use crate::told;
use crate::value::{self, Manner};

/// The most bytes after a word that are read.
const AFTER: usize = 240;

/// Words for a password. Capitals that are not of ASCII stand here besides the small letters.
#[rustfmt::skip]
pub(crate) const PASSWORDS: [&str; 84] = [
    "secret word", "magic word", "magic_word", "safe word", "code word",
    "kennwört", "passwört", "mots de passe",
    "adgangskode:", "kode: ",
    "zugangscode", "code d'accès", "code d'acces", "codice di accesso", "código de acceso", "codigo de acceso", "lykilorð",
    "contraseña", "contrasena", "clave de acceso", "clave_acceso", "clave ", "clave:", "mot de passe", "mot_de_passe", "motdepasse", "mdp", "pw's ", "senha",
    "parola", "passwort", "kennwort", "losungswort", "wlan-schlüssel", "wlan-key", "wifi key", "wachtwoord", "hasł", "haslo", "hesl",
    "lösenord", "losenord", "adgangskode", "adgangsord", "kodeord", "passord", "salasana", "şifre", "Şifre", "sifre", "jelsz", "jelszo",
    "парол", "Парол", "ПАРОЛ", "лозинк", "Лозинк", "lozinka", "geslo", "slaptažod", "parool", "密码", "密碼", "口令", "パスワード",
    "暗証番号", "비밀번호", "비번", "암호", "كلمة المرور", "كلمة السر", "סיסמ", "κωδικ", "Κωδικ", "ΚΩΔΙΚ", "पासवर्ड", "รหัสผ่าน", "mật khẩu",
    "mat khau", "kata sandi", "kata_sandi", "katasandi", "رمز عبور", "گذرواژه",
];

/// Words for a key of an API.
#[rustfmt::skip]
pub(crate) const KEYS: [&str; 57] = [
    "nøkkel", "nokkel", "nøgle", "noegle", "nyckel", "avain", "klucz", "klíč", "klic", "kľúč", "kulcs", "anahtar", "llave", "ključ", "kljuc", "cheie",
    "chiave segreta", "clé secrète", "cle secrete", "clave secreta", "chave secreta", "kunci", "κλειδί", "מפתח",
    "clave_api", "chave_api", "chiave_api", "clé_api", "cle_api",
    "chiave api", "api-schlüssel", "api-sleutel",
    "clé api", "clé d'api", "clé d’api", "clave api", "clave de api", "chave api", "chave de api", "ключ api", "密钥", "密鑰", "金鑰",
    "令牌", "apiキー", "アクセスキー", "トークン", "シークレット", "api 키", "토큰", "токен", "ключ", "jeton",
    "chiave", "chave", "schlüssel", "sleutel",
];

/// The same words with escapes, as JSON of ASCII and JSON within it have them: the escapes must be decoded to see more.
#[rustfmt::skip]
pub(crate) const ESCAPED: [&str; 44] = [
    r"contrase\u00f1a", r"has\u0142o", r"l\u00f6senord", r"\u015fifre", r"\u015eifre", r"jelsz\u00f3", r"cl\u00e9 api",
    r"\u043f\u0430\u0440\u043e\u043b", r"\u041f\u0430\u0440\u043e\u043b", r"\u5bc6\u7801", r"\u5bc6\u78bc", r"\u5bc6\u94a5",
    r"\u53e3\u4ee4", r"\u30d1\u30b9\u30ef\u30fc\u30c9", r"\ube44\ubc00\ubc88\ud638", r"\u0643\u0644\u0645\u0629",
    r"\u05e1\u05d9\u05e1\u05de", r"\u03ba\u03c9\u03b4\u03b9\u03ba", r"\u039a\u03c9\u03b4\u03b9\u03ba",
    r"\u092a\u093e\u0938\u0935\u0930\u094d\u0921", r"m\u1eadt kh\u1ea9u", r"schl\u00fcssel", r"contrase\\u00f1a", r"has\\u0142o",
    r"l\\u00f6senord", r"\\u015fifre", r"\\u015eifre", r"jelsz\\u00f3", r"cl\\u00e9 api", r"\\u043f\\u0430\\u0440\\u043e\\u043b",
    r"\\u041f\\u0430\\u0440\\u043e\\u043b", r"\\u5bc6\\u7801", r"\\u5bc6\\u78bc", r"\\u5bc6\\u94a5", r"\\u53e3\\u4ee4",
    r"\\u30d1\\u30b9\\u30ef\\u30fc\\u30c9", r"\\ube44\\ubc00\\ubc88\\ud638", r"\\u0643\\u0644\\u0645\\u0629",
    r"\\u05e1\\u05d9\\u05e1\\u05de", r"\\u03ba\\u03c9\\u03b4\\u03b9\\u03ba", r"\\u039a\\u03c9\\u03b4\\u03b9\\u03ba",
    r"\\u092a\\u093e\\u0938\\u0935\\u0930\\u094d\\u0921", r"m\\u1eadt kh\\u1ea9u", r"schl\\u00fcssel",
];

/// The end of a word that is inflected, and up to four more words; then a sign, or a verb that tells.
static TOLD: Pattern = Pattern::at_start(
    r#"(?u:[A-Za-z_\x{80}-\x{10ffff}]){0,12}["'`*]{0,3}(?P<between>(?:[ \t]+(?u:[^\s:=："'`—–]){1,20}){0,4}?)(?P<sign>[ \t]{0,3}(?:(?u:[:=：])|=>|—|–)|[ \t]+(?:is|ist|lautet|est|c'est|es|é|è|to|je|är|er|on|είναι|هي|هو|это|là|heißt|wurde auf|היא|הוא|є|adalah|este|var|blev|теперь|jetzt|nu|maintenant|ahora|agora|teraz|nyt|nå)(?:[ \t]+(?:nu|jetzt|maintenant|ahora|agora|ora|teraz|nyt|nå|now|теперь|şimdi))?)[ \t]{0,4}(?P<mark>(?u:["'`*«„“]){0,2})(?P<v>[!-~]{6,})"#,
);
/// The value alone, behind the word: `mit dem Kennwort VALUE`.
static BARE: Pattern = Pattern::at_start(
    r#"(?:(?u:[A-Za-z_\x{80}-\x{10ffff}]){0,12}[ \t]+)?(?:(?:для|от|к|до|на|za|til|pour|para|per|für|voor|do|na|för|untuk|de|del|du)[ \t]+[^\s:=]{1,20}[ \t]+)?(?P<mark>(?u:["'`*«„“]){0,2})(?P<v>[!-~]{6,})"#,
);
/// Languages without blanks.
static UNSPACED: Pattern = Pattern::at_start(
    r#"(?u:["'`*」』]){0,3}[ \t]{0,2}(?P<sign>(?u:[:：=＝])|=>)?(?P<verb>は|是|为|為|는|은|이|를|を)?[ \t]{0,3}(?P<mark>(?u:["'`*「『“]){0,2})(?P<v>[!-~]{6,})"#,
);

/// Returns the secret that follows the word at this position.
pub(crate) fn find(text: &str, word: &Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    let name = bytes.get(word.clone())?;
    let first = text[..word.start].chars().next_back();
    if name[0].is_ascii() && first.is_some_and(char::is_alphabetic) {
        return None;
    }
    let after = &text[word.end..text.floor_char_boundary(bytes.len().min(word.end + AFTER))];
    // A short word counts only by itself: `mdp` is also a part of names.
    if name.len() == 3 && after.starts_with(|next: char| next.is_alphanumeric()) {
        return None;
    }
    let telling = telling(&text[word.clone()]);
    for pattern in [&TOLD, &BARE, &UNSPACED] {
        let Some(groups) = pattern.captures(after) else { continue };
        let Some(found) = groups.name("v") else { continue };
        let end = value::plain_end(after.as_bytes(), found.start(), false).unwrap_or(found.end());
        let given = after.get(found.start()..end.min(found.end())).unwrap_or_default();
        let given = given.trim_end_matches(['.', ',', ';', ':', '?', ')']);
        let part = |name| groups.name(name).map_or("", |part| part.as_str());
        let is_marked = !part("mark").is_empty();
        let is_sign = part("sign").trim().chars().all(|sign| ":=：＝>".contains(sign));
        let is_assigned = is_sign && !part("sign").is_empty() && part("between").is_empty();
        let ends_line = after[found.start() + given.len()..].trim_start_matches(' ');
        let manner = match is_marked {
            true => Manner::Quoted,
            false if ends_line.is_empty() || ends_line.starts_with('\n') => Manner::Setting,
            false => Manner::Plain,
        };
        let is_verb = || !is_sign && is_mixed(given);
        let is_told = is_marked || !part("verb").is_empty() || is_verb();
        let is_secret = value::is_said(telling, name, given, is_told)
            || value::is_said_word(telling, name, given)
            || is_assigned && value::secret_part(telling, name, given, manner).is_some();
        if is_secret {
            let start = word.end + found.start();
            return Some((start..start + given.len(), telling.rule));
        }
    }
    // The word may be inflected.
    let rest = after.chars().take_while(|part| part.is_alphanumeric());
    let name = word.start..word.end + rest.map(char::len_utf8).sum::<usize>();
    let is_told = telling.kind == Kind::Password && told::is_possible(bytes, &name);
    let told = is_told.then(|| told::find(text, &name)).flatten();
    // `getByLabel('Passord').fill('VALUE')`, `<senha>VALUE</senha>`
    let is_marked = after.starts_with(['"', '\'', '<', '>', '|', ']', ')']);
    let marked = || is_marked.then(|| connector::find(text, &name, telling)).flatten();
    told.or_else(marked).map(|found| (found, telling.rule))
}

/// Returns what a word of another language tells.
pub(crate) fn telling(word: &str) -> Telling {
    let is_in = |words: &[&str]| words.iter().any(|known| word.eq_ignore_ascii_case(known));
    match is_in(&KEYS) {
        true => Telling { kind: Kind::Key, rule: "api-key" },
        false => Telling::PASSWORD,
    }
}

/// True for letters and digits in an order that no word has.
fn is_mixed(value: &str) -> bool {
    let count = |test: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| test(byte)).count();
    let digits = count(u8::is_ascii_digit);
    value.len() >= 8
        && value.starts_with(|first: char| first.is_ascii_alphabetic())
        && (digits >= 2
            || digits == 1
                && count(u8::is_ascii_uppercase) > 0
                && count(u8::is_ascii_lowercase) > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<&str> {
        let words = || PASSWORDS.iter().chain(&KEYS);
        let lower = text.to_ascii_lowercase();
        words().find_map(|word| {
            let start = lower.find(word)?;
            find(text, &(start..start + word.len())).map(|(range, _)| &text[range])
        })
    }

    #[test]
    fn values_are_found_in_other_languages() {
        for text in [
            "La contraseña del servidor es Xq7!mmLk9.",
            "mot_de_passe: Xq7!mmLk9",
            "mon mdp c'est Xq7!mmLk9",
            "Kennwort = \"Xq7!mmLk9\"",
            "Melde dich mit dem Kennwort Xq7!mmLk9 an.",
            "A senha do banco é Xq7!mmLk9.",
            "Hasło do serwera to Xq7!mmLk9",
            "Veritabanı şifresi Xq7!mmLk9 olarak ayarlandı",
            "Пароль от базы: Xq7!mmLk9",
            "пароль Xq7!mmLk9 для стенда",
            "数据库密码是Xq7!mmLk9。",
            "パスワードはXq7!mmLk9です。",
            "비밀번호는 Xq7!mmLk9입니다",
            "كلمة المرور هي Xq7!mmLk9",
            "Ο κωδικός είναι Xq7!mmLk9",
        ] {
            assert_eq!(found(text), Some("Xq7!mmLk9"), "{text}");
        }
        for name in ["clé API : ", "APIキー：", "访问令牌：", "トークンは", "токен: "]
        {
            let text = format!("{name}a8F3kL09xQ2mZ7pR4sT1");
            assert_eq!(found(&text), Some("a8F3kL09xQ2mZ7pR4sT1"), "{text}");
        }
    }

    #[test]
    fn sentences_about_passwords_stay() {
        for text in [
            "La contraseña debe tener 8 caracteres.",
            "Le mot de passe est obligatoire.",
            "A senha deve ter no mínimo 8 caracteres.",
            "Das Passwort wird nicht gespeichert.",
            "Пароль должен содержать 8 символов",
            "пароль: обязательно",
            "密码长度至少为8位",
            "密码为base64编码",
            "パスワードは8文字以上です",
            "senha: String",
            "parola: cuvânt",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
