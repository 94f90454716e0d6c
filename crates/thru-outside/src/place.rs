//! Addresses: URLs that are validated before anything is sent.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use reqwest::Url;

/// The address of a service.
#[derive(Clone, PartialEq, Eq)]
pub struct Place(Url);

/// The reason a URL is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// Not a URL, or not an HTTP one.
    #[error("this is no http:// or https:// address")]
    Malformed,
    /// It holds a user or a password, which do not belong in settings.
    #[error("an address must not hold a user or a password")]
    Password,
}

impl Place {
    /// Parses an address. A query, a fragment and a trailing slash are dropped.
    ///
    /// # Errors
    ///
    /// Returns [`PlaceError`] if the text is no HTTP URL, or holds a user or a password.
    pub fn parse(text: &str) -> Result<Self, PlaceError> {
        let mut url = Url::parse(text.trim()).map_err(|_| PlaceError::Malformed)?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(PlaceError::Malformed);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PlaceError::Password);
        }
        url.set_query(None);
        url.set_fragment(None);
        Ok(Self(url))
    }

    /// Returns the host, a name or an IP address.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    /// Returns the path, without a slash at the end.
    pub fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// Returns the URL with this path appended.
    pub fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Returns true if connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.0.scheme() == "https"
    }

    /// Returns true if it is this machine, whatever the hosts file says.
    pub fn is_loopback(&self) -> bool {
        match self.number() {
            Some(number) => number.to_canonical().is_loopback(),
            None => is_below(self.host(), "localhost"),
        }
    }

    /// Returns true if the address belongs to this machine or to a private network.
    pub fn is_nearby(&self) -> bool {
        const PRIVATE: [&str; 4] = ["local", "lan", "internal", "home.arpa"];
        match self.number().map(|number| number.to_canonical()) {
            Some(IpAddr::V4(number)) => {
                number.is_loopback() || number.is_private() || number.is_link_local()
            }
            Some(IpAddr::V6(number)) => {
                number.is_loopback() || number.is_unique_local() || number.is_unicast_link_local()
            }
            None => {
                let host = self.host();
                self.is_loopback()
                    || !host.contains('.')
                    || PRIVATE.iter().any(|zone| is_below(host, zone))
            }
        }
    }

    fn number(&self) -> Option<IpAddr> {
        let host = self.host();
        let six = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        six.map_or_else(|| host.parse().ok(), |six| six.parse::<Ipv6Addr>().ok().map(IpAddr::V6))
    }
}

/// Returns true if a name is this zone, or a name in it.
fn is_below(host: &str, zone: &str) -> bool {
    host.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.as_str().trim_end_matches('/'))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        Place::parse(text).unwrap()
    }

    #[test]
    fn an_address_is_read_as_people_write_it() {
        for text in
            ["http://localhost:11434", " http://localhost:11434/ ", "http://LOCALHOST:11434/?x=1#y"]
        {
            assert_eq!(place(text).to_string(), "http://localhost:11434");
        }
        assert_eq!(place("https://host/a/b/").join("/c"), "https://host/a/b/c");
        assert_eq!(place("https://host/").path(), "");
        for text in
            ["", "localhost", "localhost:11434", "ftp://host", "file:///etc/passwd", "http://"]
        {
            assert_eq!(Place::parse(text), Err(PlaceError::Malformed), "{text}");
        }
        for text in ["http://me@host", "http://me:secret@host", "http://:secret@host"] {
            assert_eq!(Place::parse(text), Err(PlaceError::Password), "{text}");
        }
    }

    #[test]
    fn only_this_machine_is_loopback() {
        let here = [
            "localhost:1",
            "api.localhost",
            "127.0.0.1",
            "127.8.9.1:80",
            "[::1]:9",
            "[::ffff:127.0.0.1]",
            "2130706433",
        ];
        for host in here {
            let place = place(&format!("http://{host}/v1"));
            assert!(place.is_loopback() && place.is_nearby(), "{host}");
        }
        for host in
            ["10.0.0.7", "192.168.1.4", "nas", "nas.local", "[fd00::1]", "gpu.corp.internal"]
        {
            let place = place(&format!("http://{host}/v1"));
            assert!(!place.is_loopback() && place.is_nearby(), "{host}");
        }
        let far = [
            "api.openai.com",
            "localhost.evil.com",
            "127.0.0.1.nip.io",
            "8.8.8.8",
            "notlocalhost.com",
            "0.0.0.0",
        ];
        for host in far {
            let place = place(&format!("http://{host}/v1"));
            assert!(!place.is_loopback() && !place.is_nearby(), "{host}");
        }
    }
}
