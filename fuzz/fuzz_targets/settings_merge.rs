//! The settings of a user: our hooks are added and removed again without changing any other byte. A
//! file that is not a settings file is refused unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thru_agents::hooks::{ADAPTERS, Adapter};
use thru_agents::setup::{
    ClientVersion, Platform, Server, add_server, install, installed, remove_server, server,
    uninstall,
};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    servers(text);
    for adapter in ADAPTERS {
        hooks(text, adapter);
    }
});

fn hooks(text: &str, Adapter { agent, setup, .. }: &Adapter) {
    let version = Some(ClientVersion::new(2, 1, 197));
    let new = setup.registration("/a b/thru", version, Platform::Linux, 10);
    let old = setup.registration(r"C:\b\thru.exe", None, Platform::Windows, 10);
    let (Ok(before), Ok(with)) = (installed(text, *agent), install(Some(text), &new)) else {
        return;
    };
    assert_eq!(install(Some(&with), &new).as_ref(), Ok(&with), "not the same twice");
    assert_eq!(
        installed(&with, *agent).map(|hooks| hooks.len()),
        Ok(new.events.len()),
        "not all are there"
    );
    let without = uninstall(text, *agent).expect("a change that can be undone");
    assert_eq!(uninstall(&with, *agent).as_ref(), Ok(&without), "taking out left something");
    // Earlier hooks of ours are removed as well, in whatever layout.
    if before.is_empty() {
        assert_eq!(without.as_deref(), Some(text), "taking out nothing changed something");
        let upgraded = install(Some(text), &old).and_then(|text| install(Some(&text), &new));
        assert_eq!(upgraded, Ok(with), "an older installation left something");
    }
}

/// Checks the same for our MCP server among others.
fn servers(text: &str) {
    let (Ok(before), Ok(with)) = (server(text), add_server(Some(text), "/a b/thru")) else {
        return;
    };
    assert_eq!(add_server(Some(&with), "/a b/thru").as_ref(), Ok(&with), "not the same twice");
    match before {
        Some(Server::Foreign) => assert_eq!(with, text, "a foreign server changed"),
        Some(Server::Ours(_)) => {}
        None => {
            assert_eq!(server(&with), Ok(Some(Server::Ours("/a b/thru".to_owned()))));
            let without = remove_server(&with).expect("a change that can be undone");
            assert_eq!(without.as_deref(), Some(text), "taking out left something");
        }
    }
}
