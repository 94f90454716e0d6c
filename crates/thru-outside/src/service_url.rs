//! Addresses: URLs that are validated before anything is sent.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The address of a service.
#[derive(Clone, PartialEq, Eq)]
pub struct ServiceUrl {
    is_encrypted: bool,
    /// In small letters; the number of an IPv6 address in brackets.
    host: String,
    /// The port, where it is not the usual one.
    port: Option<u16>,
    /// Without a slash at the end.
    path: String,
}

/// The reason a URL is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServiceUrlError {
    /// Not a URL, or not an HTTP one.
    #[error("this is no http:// or https:// address")]
    Malformed,
    /// It holds a user or a password, which do not belong in settings.
    #[error("an address must not hold a user or a password")]
    Password,
}

impl ServiceUrl {
    /// Parses an address. A query, a fragment and a trailing slash are dropped.
    ///
    /// # Errors
    ///
    /// [`ServiceUrlError::Malformed`] for everything but `http://` or `https://` with a host of ASCII letters, digits, `-`,
    /// `_` and dots. A host that is a number has to be written in full: `2130706433` and `127.1` are other spellings of
    /// addresses, by which one could be taken for a name of the own network. [`ServiceUrlError::Password`] for an address
    /// with a user.
    pub fn parse(text: &str) -> Result<Self, ServiceUrlError> {
        let (scheme, rest) = text.trim().split_once("://").ok_or(ServiceUrlError::Malformed)?;
        let is_encrypted = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(ServiceUrlError::Malformed),
        };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.contains('@') {
            return Err(ServiceUrlError::Password);
        }
        if !path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
            return Err(ServiceUrlError::Malformed);
        }
        let ends_host = authority.rfind(']').map_or(0, |at| at + 1);
        let colon = authority[ends_host..].find(':').map(|at| ends_host + at);
        let (host, port) = authority.split_at(colon.unwrap_or(authority.len()));
        let usual = if is_encrypted { 443 } else { 80 };
        let port = match port.strip_prefix(':') {
            None | Some("") => None,
            Some(port) => Some(port.parse::<u16>().map_err(|_| ServiceUrlError::Malformed)?),
        };
        Ok(Self {
            is_encrypted,
            host: normal_host(host).ok_or(ServiceUrlError::Malformed)?,
            port: port.filter(|port| *port != usual),
            path: path.trim_end_matches('/').to_owned(),
        })
    }

    /// Returns the host, a name or an IP address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the path, without a slash at the end.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the URL with this path appended.
    pub fn join(&self, path: &str) -> String {
        format!("{self}{path}")
    }

    /// Returns true if connections are encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
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

/// A host as it is compared and shown: in small letters, an IPv6 address in its shortest form.
fn normal_host(text: &str) -> Option<String> {
    if let Some(six) = text.strip_prefix('[') {
        let number = six.strip_suffix(']')?.parse::<Ipv6Addr>().ok()?;
        return Some(format!("[{number}]"));
    }
    let host = text.to_ascii_lowercase();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    if last.is_empty() || !host.bytes().all(is_name) {
        return None;
    }
    let hexadecimal = last.strip_prefix("0x").unwrap_or("-");
    let is_number = last.bytes().all(|byte| byte.is_ascii_digit())
        || hexadecimal.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!is_number || host.parse::<Ipv4Addr>().is_ok()).then_some(host)
}

/// Returns true if a name is this zone, or a name in it.
fn is_below(host: &str, zone: &str) -> bool {
    host.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl fmt::Display for ServiceUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        write!(formatter, "{scheme}://{}", self.host)?;
        if let Some(port) = self.port {
            write!(formatter, ":{port}")?;
        }
        formatter.write_str(&self.path)
    }
}

impl fmt::Debug for ServiceUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(text: &str) -> ServiceUrl {
        ServiceUrl::parse(text).unwrap()
    }

    #[test]
    fn an_address_is_read_as_people_write_it() {
        for text in
            ["http://localhost:11434", " http://localhost:11434/ ", "http://LOCALHOST:11434/?x=1#y"]
        {
            assert_eq!(service(text).to_string(), "http://localhost:11434");
        }
        assert_eq!(service("https://host/a/b/").join("/c"), "https://host/a/b/c");
        assert_eq!(service("https://host/").path(), "");
        assert_eq!(service("https://Host:443").to_string(), "https://host");
        assert_eq!(service("http://[0:0::1]:9/v1/").to_string(), "http://[::1]:9/v1");
        for text in [
            "",
            "localhost",
            "localhost:11434",
            "ftp://host",
            "file:///etc/passwd",
            "http://",
            "http://:80",
            "http://host:port",
            "http://host:65536",
            "http://[::1",
            "http://[::1]x",
            "http://h\u{f6}st",
            "http://ho st",
            "http://host\\elsewhere/",
            "http://host/a b",
            "http://2130706433",
            "http://127.1",
            "http://0x7f000001",
            "http://127.0.0.1.",
            "http://256.0.0.1",
        ] {
            assert_eq!(ServiceUrl::parse(text), Err(ServiceUrlError::Malformed), "{text}");
        }
        for text in
            ["http://me@host", "http://me:secret@host", "http://:secret@host", "http://@host"]
        {
            assert_eq!(ServiceUrl::parse(text), Err(ServiceUrlError::Password), "{text}");
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
        ];
        for host in here {
            let service = service(&format!("http://{host}/v1"));
            assert!(service.is_loopback() && service.is_nearby(), "{host}");
        }
        for host in
            ["10.0.0.7", "192.168.1.4", "nas", "nas.local", "[fd00::1]", "gpu.corp.internal"]
        {
            let service = service(&format!("http://{host}/v1"));
            assert!(!service.is_loopback() && service.is_nearby(), "{host}");
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
            let service = service(&format!("http://{host}/v1"));
            assert!(!service.is_loopback() && !service.is_nearby(), "{host}");
        }
    }
}
