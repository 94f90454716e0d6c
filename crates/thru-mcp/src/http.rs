//! The server over streamable HTTP, for a listener that has admitted the client.

use std::sync::Arc;

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use thru_app::App;

use crate::profile::Profile;
use crate::server::Server;

/// Makes the service for `/mcp`: each request stands for itself, whichever revision of the protocol it speaks.
pub fn http_service(
    app: App,
    longest_body: usize,
) -> StreamableHttpService<Server, NeverSessionManager> {
    let server = Server::new(app, Profile::Throughline);
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = false;
    config.json_response = true;
    config.max_request_body_bytes = longest_body;
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}
