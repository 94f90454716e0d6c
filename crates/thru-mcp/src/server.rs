//! The service: the requests that an MCP client can make, on any transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InitializeRequestParams, InitializeResult,
    JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    PromptMessage, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, Role, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer, ServerHandler};
use serde_json::json;
use thru_app::{App, Backend, Call, Patience, Progress, wording};
use tokio::runtime::Handle;

use crate::profile::Profile;
use crate::tool::Tool;
use crate::{fence, graphiti, prompts, resources};

/// Instructions for every agent at the start: when to ask, and how.
pub const INSTRUCTIONS: &str = include_str!("instructions.txt");

/// Milliseconds for which a client may cache lists that only a new version of the program changes.
const AN_HOUR: u64 = 3_600_000;

/// The application as an MCP server.
#[derive(Clone)]
pub struct Server {
    backend: Arc<Backend>,
    profile: Profile,
}

type Context = RequestContext<RoleServer>;

impl Server {
    /// Creates a server of this application.
    pub fn new(app: App, profile: Profile) -> Self {
        Self { backend: Arc::new(Backend::new(app)), profile }
    }

    /// Runs blocking work on a thread of its own, reports progress if the client wants it, and passes on
    /// cancellation.
    async fn work<T: Send + 'static>(
        &self,
        context: &Context,
        work: impl FnOnce(&Backend, Call<'_>) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let backend = Arc::clone(&self.backend);
        let cancelled = Arc::new(AtomicBool::new(false));
        let (reports, is_over) = (ProgressReports::new(context), Arc::clone(&cancelled));
        let mut working = tokio::task::spawn_blocking(move || {
            work(&backend, Call::new(&reports, Patience::Within(PATIENCE), &is_over))
        });
        let done = tokio::select! {
            done = &mut working => done,
            () = context.ct.cancelled() => {
                cancelled.store(true, Ordering::Relaxed);
                working.await
            }
        };
        // The panic message may quote recorded text.
        done.map_err(|_| ErrorData::internal_error("internal error; nothing is lost", None))
    }
}

/// The time that a call waits for another process that writes: a client does not show that its tool waits.
const PATIENCE: Duration = Duration::from_secs(20);

/// Progress that is reported to a client, if it asked for it.
struct ProgressReports {
    client: Option<(ProgressToken, Peer<RoleServer>)>,
    runtime: Handle,
    steps: AtomicU32,
}

impl ProgressReports {
    fn new(context: &Context) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            client: token.map(|token| (token, context.peer.clone())),
            runtime: Handle::current(),
            steps: AtomicU32::new(0),
        }
    }
}

impl Progress for ProgressReports {
    fn note(&self, message: &str) {
        let Some((token, peer)) = &self.client else { return };
        let step = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        let report = ProgressNotificationParam::new(token.clone(), f64::from(step))
            .with_message(message.to_owned());
        // A client that misses a report gets the answer all the same.
        let _ = self.runtime.block_on(peer.notify_progress(report));
    }
}

/// Returns the time and scope for caching a list; only for the protocol revision that asks for them.
fn lasting(context: &Context, milliseconds: u64) -> (Option<u64>, Option<CacheScope>) {
    let is_told = context.protocol_version().is_some_and(|version| !version.has_initialize());
    match is_told {
        true => (Some(milliseconds), Some(CacheScope::Private)),
        false => (None, None),
    }
}

/// Methods whose parameters the SDK could not parse: it passes them on as if they were unknown.
const METHODS: [&str; 12] = [
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
];

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let (name, title, instructions) = match self.profile {
            Profile::Throughline => {
                ("throughline", "Throughline: memory of coding sessions", INSTRUCTIONS)
            }
            Profile::Graphiti => (
                "throughline-graphiti",
                "Throughline: memory of coding sessions, by Graphiti's names",
                graphiti::INSTRUCTIONS,
            ),
        };
        let name = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title(title);
        ServerConfig::new(capabilities)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(name)
            .with_instructions(instructions)
    }

    async fn initialize(
        &self,
        mut request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        let answer = self.negotiate_initialize(&request)?;
        // From here on requests follow the negotiated revision.
        request.protocol_version = answer.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(answer)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()).with_ttl_ms(AN_HOUR))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.profile.tools().iter().map(Tool::definition);
        let mut list = ListToolsResult::with_all_items(tools.collect());
        (list.ttl_ms, list.cache_scope) = lasting(&context, AN_HOUR);
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = Tool::named(&request.name) else {
            let names: Vec<&str> = self.profile.tools().iter().map(|tool| tool.name).collect();
            let asked = thru_core::plain_line(&request.name, 60);
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{asked}`; there are {}", names.join(", ")),
                None,
            ));
        };
        let given: Option<JsonObject> = request.arguments;
        let told =
            self.work(&context, move |backend, call| tool.call(given, backend, call)).await?;
        let result = match told {
            Ok(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Err(text) => CallToolResult::error(vec![ContentBlock::text(text)]),
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = self.work(&context, resources::list).await?;
        // If nothing was recorded yet, there is nothing to list.
        Ok(ListResourcesResult::with_all_items(listed.unwrap_or_default()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = ListResourceTemplatesResult::with_all_items(resources::templates());
        (list.ttl_ms, list.cache_scope) = lasting(&context, AN_HOUR);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let asked = uri.clone();
        let read = self
            .work(&context, move |backend, call| {
                resources::read(&asked, backend, call).map_err(|trouble| {
                    fence::sentence(backend.app(), &wording::sentences(&trouble)).into_inner()
                })
            })
            .await?;
        match read {
            Ok(Some(text)) => {
                let contents = ResourceContents::text(text, uri).with_mime_type(resources::MIME);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            Ok(None) => Err(not_found("no such resource", &uri)),
            Err(why) => Err(not_found(&why, &uri)),
        }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut list = ListPromptsResult::with_all_items(prompts::all());
        (list.ttl_ms, list.cache_scope) = lasting(&context, AN_HOUR);
        Ok(list)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let text = match request.name.as_str() {
            prompts::HANDOFF => prompts::HANDOFF_TEXT.to_owned(),
            prompts::RECALL => {
                let question = request.arguments.as_ref().and_then(|all| all.get("question"));
                let question = question.and_then(|value| value.as_str()).unwrap_or_default();
                let question = question.trim().to_owned();
                if question.is_empty() {
                    return Err(ErrorData::invalid_params("recall needs a `question`", None));
                }
                let given = json!({ "query": question }).as_object().cloned();
                let search = Tool::named("search");
                let found = self
                    .work(&context, move |backend, call| {
                        search.map(|search| search.call(given, backend, call))
                    })
                    .await?;
                // The reason nothing was found is worth knowing as well.
                let found = found.map(|found| found.unwrap_or_else(|why| why));
                prompts::recall(&question, &found.unwrap_or_default())
            }
            other => {
                let asked = thru_core::plain_line(other, 60);
                let known = [prompts::RECALL, prompts::HANDOFF].join(", ");
                return Err(ErrorData::invalid_params(
                    format!("there is no prompt `{asked}`; there are {known}"),
                    None,
                ));
            }
        };
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: Context,
    ) -> Result<CustomResult, ErrorData> {
        let asked = thru_core::plain_line(&request.method, 60);
        Err(match METHODS.contains(&request.method.as_str()) {
            true => ErrorData::invalid_params(format!("invalid parameters of `{asked}`"), None),
            false => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("there is no method `{asked}`"),
                None,
            ),
        })
    }
}

fn not_found(why: &str, uri: &str) -> ErrorData {
    ErrorData::resource_not_found(why.to_owned(), Some(json!({ "uri": uri })))
}
