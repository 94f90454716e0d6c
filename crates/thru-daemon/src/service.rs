//! Service definitions for systemd and launchd. Neither is needed; hooks start a daemon if none runs.

use std::path::Path;

/// Returns a unit for the user's systemd. It must work for any user: a user's own systemd may not use much
/// of the hardening of system units.
pub fn systemd_unit(program: &Path, environment: &[(&str, &str)]) -> String {
    let variables: String = environment
        .iter()
        .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))))
        .collect();
    let program = quoted(&program.display().to_string());
    format!(
        "# Written by `thru daemon install`; `thru daemon uninstall` removes it.\n\
         [Unit]\n\
         Description=Throughline: memory for coding agents\n\
         \n\
         [Service]\n\
         Type=simple\n\
         ExecStartPre=-{program} daemon stop\n\
         ExecStart={program} daemon run\n\
         {variables}\
         Restart=on-failure\n\
         RestartSec=2\n\
         Nice=10\n\
         UMask=0077\n\
         NoNewPrivileges=yes\n\
         LockPersonality=yes\n\
         RestrictRealtime=yes\n\
         RestrictSUIDSGID=yes\n\
         RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK\n\
         SystemCallArchitectures=native\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// Quotes a word of a unit, with nothing in it that systemd would interpret.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.push_str("%%"),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

/// Returns an agent for launchd.
pub fn launchd_agent(label: &str, program: &Path, environment: &[(&str, &str)]) -> String {
    let variables: String = environment
        .iter()
        .map(|(name, value)| {
            format!(
                "        <key>{}</key>\n        <string>{}</string>\n",
                escaped(name),
                escaped(value)
            )
        })
        .collect();
    let variables = match environment.is_empty() {
        true => String::new(),
        false => {
            format!("    <key>EnvironmentVariables</key>\n    <dict>\n{variables}    </dict>\n")
        }
    };
    let (label, program) = (escaped(label), escaped(&program.display().to_string()));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- Written by `thru daemon install`; `thru daemon uninstall` removes it. -->
<plist version="1.0">
<dict>
    <key>Label</key>
    <string>{label}</string>
    <key>ProgramArguments</key>
    <array>
        <string>{program}</string>
        <string>daemon</string>
        <string>run</string>
    </array>
{variables}    <key>RunAtLoad</key>
    <true/>
    <key>KeepAlive</key>
    <dict>
        <key>SuccessfulExit</key>
        <false/>
    </dict>
    <key>ProcessType</key>
    <string>Background</string>
    <key>LowPriorityIO</key>
    <true/>
    <key>Umask</key>
    <integer>63</integer>
</dict>
</plist>
"#
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_for_systemd() {
        let program = Path::new("/home/ada l/bin/100%/thru");
        insta::assert_snapshot!(systemd_unit(program, &[("THROUGHLINE_HOME", "/data/a \"b\"")]), @r#"
        # Written by `thru daemon install`; `thru daemon uninstall` removes it.
        [Unit]
        Description=Throughline: memory for coding agents

        [Service]
        Type=simple
        ExecStartPre=-"/home/ada l/bin/100%%/thru" daemon stop
        ExecStart="/home/ada l/bin/100%%/thru" daemon run
        Environment="THROUGHLINE_HOME=/data/a \"b\""
        Restart=on-failure
        RestartSec=2
        Nice=10
        UMask=0077
        NoNewPrivileges=yes
        LockPersonality=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        SystemCallArchitectures=native

        [Install]
        WantedBy=default.target
        "#);
    }

    #[test]
    fn an_agent_for_launchd() {
        let program = Path::new("/Users/ada/R&D/thru");
        let environment = [("THROUGHLINE_HOME", "/data")];
        insta::assert_snapshot!(launchd_agent("dev.throughline.daemon", program, &environment), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!-- Written by `thru daemon install`; `thru daemon uninstall` removes it. -->
        <plist version="1.0">
        <dict>
            <key>Label</key>
            <string>dev.throughline.daemon</string>
            <key>ProgramArguments</key>
            <array>
                <string>/Users/ada/R&amp;D/thru</string>
                <string>daemon</string>
                <string>run</string>
            </array>
            <key>EnvironmentVariables</key>
            <dict>
                <key>THROUGHLINE_HOME</key>
                <string>/data</string>
            </dict>
            <key>RunAtLoad</key>
            <true/>
            <key>KeepAlive</key>
            <dict>
                <key>SuccessfulExit</key>
                <false/>
            </dict>
            <key>ProcessType</key>
            <string>Background</string>
            <key>LowPriorityIO</key>
            <true/>
            <key>Umask</key>
            <integer>63</integer>
        </dict>
        </plist>
        "#);
    }
}
