//! One spelling for all forms of a remote's address.

/// Normalises `https://`, `ssh://`, `git://` and `user@host:path` addresses to `host/path`, without user,
/// password, default port and `.git`. Returns `None` for addresses of the local file system: they say no
/// more than the repository's own location.
pub(super) fn normalise(url: &str) -> Option<String> {
    let url = url.trim();
    let (host, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit('@').next()?;
            let host = ["22", "80", "443", "9418"]
                .into_iter()
                .find_map(|port| host.strip_suffix(port)?.strip_suffix(':'))
                .unwrap_or(host);
            (host, path)
        }
        None => {
            // The scp form. A single letter before the colon is a Windows drive, not a host.
            let (authority, path) = url.split_once(':')?;
            let host = authority.rsplit('@').next()?;
            if host.len() < 2 || host.contains(['/', '\\']) {
                return None;
            }
            (host, path)
        }
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    if host.is_empty() || path.is_empty() {
        return None;
    }
    // Hosts ignore case, and so do the forges: a capital must not make two repositories of one.
    Some(format!("{host}/{path}").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_remote_are_one() {
        for url in [
            "https://github.com/acme/rocket",
            "https://github.com/acme/rocket.git",
            "https://github.com/acme/rocket/",
            "https://user:token@github.com/acme/rocket.git",
            "https://github.com:443/acme/rocket.git",
            "http://GitHub.com/Acme/Rocket",
            "ssh://git@github.com/acme/rocket.git",
            "ssh://git@github.com:22/acme/rocket",
            "git://github.com/acme/rocket",
            "git@github.com:acme/rocket.git",
            "github.com:acme/rocket",
            "git@github.com:/acme/rocket.git",
        ] {
            assert_eq!(normalise(url).as_deref(), Some("github.com/acme/rocket"), "{url}");
        }
        assert_eq!(
            normalise("ssh://git@host.example:2222/a/b.git").as_deref(),
            Some("host.example:2222/a/b")
        );
    }

    #[test]
    fn places_on_this_machine_are_no_remotes() {
        for url in [
            "/srv/git/rocket.git",
            "file:///srv/git/rocket",
            "../rocket",
            r"C:\git\rocket",
            "",
            "x",
            "https://",
        ] {
            assert_eq!(normalise(url), None, "{url}");
        }
    }
}
