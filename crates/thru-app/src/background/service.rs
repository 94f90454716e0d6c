//! The tools of the daemon: what it does while its work goes on, for callers on its socket.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use thru_daemon::{Service, ToolError, WorkError};
use thru_journal::journal::Journal;

use super::embedding::Chooser;
use crate::app::App;
use crate::ask::{ProjectScope, unindexed};
use crate::call::{Call, Patience};
use crate::embedding::own::OwnModel;
use crate::keep::close::{self, Closer};
use crate::trouble::{Remedy, Result, Trouble};
use crate::wording;

/// Opens the page of the memory, where the daemon can serve one.
pub trait Viewer: Send + Sync {
    /// Serves the page where the settings or the daemon before this one want it.
    fn begin(&self, app: &App);

    /// Starts to serve the page where that is not done yet, and returns a link that opens it once.
    ///
    /// # Errors
    /// Fails if no port is free, or a file of the server cannot be written.
    fn link(&self, app: &App, ends_sessions: bool) -> Result<String>;
}

/// The tools of the daemon. They answer while its work goes on.
pub struct SocketTools {
    app: App,
    chooser: Arc<Chooser>,
    viewer: Option<Arc<dyn Viewer>>,
}

impl SocketTools {
    /// Makes the tools of a daemon for this home, which embed with its model.
    pub fn new(app: &App, chooser: &Arc<Chooser>) -> Self {
        let mut app = app.clone();
        app.model = OwnModel::of_daemon(Arc::clone(chooser) as _);
        Self { app, chooser: Arc::clone(chooser), viewer: None }
    }

    /// The same, which can open the page.
    #[must_use]
    pub fn with_viewer(self, viewer: Arc<dyn Viewer>) -> Self {
        Self { viewer: Some(viewer), ..self }
    }
}

/// The arguments of `session_tracking_close`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Close {
    session_id: Option<String>,
    reason: Option<String>,
}

/// The arguments of `embed`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Embed {
    text: String,
}

/// The arguments of `view`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct View {
    ends_sessions: bool,
}

/// The arguments of `session_tracking_list_unindexed`.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ListUnindexed {
    project_namespace: Option<String>,
    include_inactive: bool,
    include_active: bool,
}

impl Default for ListUnindexed {
    fn default() -> Self {
        Self { project_namespace: None, include_inactive: true, include_active: true }
    }
}

impl Service for SocketTools {
    fn begin(&self) {
        if let Some(viewer) = &self.viewer {
            viewer.begin(&self.app);
        }
    }

    fn call(&self, tool: &str, arguments: &Value) -> Result<Value, ToolError> {
        let app = self.app.again().map_err(|error| failed(&error))?;
        // It may have been switched off since the daemon started.
        if !app.config.hooks.socket_enabled {
            let setting = Remedy::ShowSetting("hooks.socket_enabled");
            return Err(failed(&Trouble::refused("tools are off on the socket").with(setting)));
        }
        match tool {
            "session_tracking_close" => {
                let Close { session_id, reason } = parsed(arguments)?;
                let request =
                    close::Close { session: session_id, reason, closer: Closer::Elsewhere };
                let call = Call::unattended(Patience::Endless);
                close::close(&app, &request, call).map(|closed| json!(closed)).map_err(|error| {
                    let mut answer = wording::object(&error);
                    answer["session_id"] = json!(request.session);
                    answer["episode_uuid"] = Value::Null;
                    ToolError::Failed(answer)
                })
            }
            "session_tracking_list_unindexed" => {
                let asked: ListUnindexed = parsed(arguments)?;
                let request = unindexed::ListUnindexed {
                    project: asked
                        .project_namespace
                        .map_or(ProjectScope::Everywhere, ProjectScope::Named),
                    agents: Vec::new(),
                    active: asked.include_active,
                    inactive: asked.include_inactive,
                };
                let call = Call::unattended(Patience::Endless);
                unindexed::list(&app, &request, call)
                    .map(|sessions| json!(sessions))
                    .map_err(|error| failed(&error))
            }
            "embed" => {
                let Embed { text } = parsed(arguments)?;
                let answer = self.chooser.answer(&app, &text);
                answer.map(|answer| json!(answer)).map_err(|error| failed(&error))
            }
            "view" => {
                let View { ends_sessions } = parsed(arguments)?;
                let Some(viewer) = &self.viewer else {
                    return Err(failed(&Trouble::refused("this daemon serves no page")));
                };
                let link = viewer.link(&app, ends_sessions);
                link.map(|link| json!({ "link": link })).map_err(|error| failed(&error))
            }
            other => Err(ToolError::Unknown(other.chars().take(60).collect())),
        }
    }

    fn sync(&self) -> Result<(), WorkError> {
        self.chooser.note_activity();
        let journal = Journal::open(self.app.layout.journal(), self.app.host())?;
        Ok(journal.sync(&Default::default())?)
    }
}

fn failed(error: &Trouble) -> ToolError {
    ToolError::Failed(wording::object(error))
}

fn parsed<T: Default + for<'de> Deserialize<'de>>(arguments: &Value) -> Result<T, ToolError> {
    match arguments {
        Value::Null => Ok(T::default()),
        arguments => {
            T::deserialize(arguments).map_err(|error| ToolError::Arguments(error.to_string()))
        }
    }
}
