//! The state of the memory, and the tools of the daemon on its socket.

use std::sync::Arc;

use insta::assert_snapshot;
use serde_json::{Value, json};
use thru_app::ask::status::status;
use thru_app::background::service::SocketTools;
use thru_daemon::{Service, ToolError};

use crate::home::{Home, call};

fn tools(home: &Home) -> SocketTools {
    SocketTools::new(&home.app(), &Arc::default())
}

fn failure(called: Result<Value, ToolError>) -> String {
    called.unwrap_err().to_string()
}

#[test]
fn the_status_of_an_empty_home_makes_no_store() {
    let home = Home::new();
    let status = json!(status(&home.app(), call()).unwrap());
    assert_eq!((&status["version"], &status["kind"]), (&json!(1), &json!("status")));
    assert_eq!((&status["recording"], &status["sessions"]), (&json!("not-connected"), &json!(0)));
    assert_eq!(status["last_intake"], Value::Null);
    assert!(!home.layout().database().exists());
}

#[test]
fn tools_on_the_socket_list_sessions_and_refuse_what_they_do_not_know() {
    let home = Home::imported();
    let tools = tools(&home);
    let listed = tools.call("session_tracking_list_unindexed", &Value::Null).unwrap();
    assert_eq!((&listed["status"], &listed["count"]), (&json!("success"), &json!(0)));
    assert_snapshot!(failure(tools.call("sing", &Value::Null)), @"there is no tool `sing`");
    let unknown = tools.call("session_tracking_close", &json!({ "name": "x" }));
    assert!(matches!(unknown, Err(ToolError::Arguments(_))), "{unknown:?}");
}

#[test]
fn a_close_on_the_socket_that_fails_says_so_as_to_an_agent() {
    let home = Home::imported();
    let closed = tools(&home).call("session_tracking_close", &json!({ "session_id": "nope" }));
    let Err(ToolError::Failed(answer)) = closed else { panic!("{closed:?}") };
    assert_eq!(
        answer,
        json!({
            "status": "error",
            "kind": "not_found",
            "message": "there is no session `nope`.",
            "remedy": "The user can run `thru sessions`, which lists them.",
            "session_id": "nope",
            "episode_uuid": null,
        })
    );
}

#[test]
fn tools_on_the_socket_can_be_switched_off() {
    let home = Home::imported();
    home.set(&[("hooks.socket_enabled", "false")]);
    let failed = failure(tools(&home).call("session_tracking_list_unindexed", &Value::Null));
    assert_snapshot!(failed, @"tools are off on the socket.");
}
