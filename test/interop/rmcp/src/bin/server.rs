//! The partner server on rmcp, which speaks both eras: `server [--http]`.
#![allow(deprecated)]

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, SubscriptionContext},
    transport::{
        stdio,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use serde_json::{Value, json};
use tokio::{sync::broadcast, time::sleep};

/// What all connections of one process share.
struct State {
    cancelled: AtomicU32,
    is_extended: AtomicBool,
    changes: broadcast::Sender<()>,
}

#[derive(Clone)]
struct Server(Arc<State>);

type Outcome = Result<CallToolResponse, ErrorData>;

fn text(words: String) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(words)]).into()
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn tool(name: &'static str, argument: Option<&str>) -> Tool {
    let schema = match argument {
        Some(argument) => {
            json!({"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]})
        }
        None => json!({"type": "object"}),
    };
    Tool::new(name, "", schema.as_object().cloned().unwrap_or_default())
}

fn form(question: &str) -> ElicitRequestParams {
    let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.into(),
        requested_schema: serde_json::from_value(schema).expect("a schema"),
    }
}

fn answered(reply: &Value) -> CallToolResponse {
    let action = reply["action"].as_str().unwrap_or_default();
    text(format!(
        "answer: {}",
        if action == "accept" {
            reply["content"]["answer"].as_str().unwrap_or_default()
        } else {
            action
        }
    ))
}

fn sampling(words: &str) -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user_text(words)], 10)
}

fn sampled(reply: &Value) -> CallToolResponse {
    let content = &reply["content"];
    text(format!(
        "sampled: {}",
        content["text"]
            .as_str()
            .or(content[0]["text"].as_str())
            .unwrap_or_default()
    ))
}

fn rounds(key: &str, request: InputRequest) -> CallToolResponse {
    let mut requests = InputRequests::new();
    requests.insert(key.into(), request);
    InputRequiredResult::new(Some(requests), None).into()
}

async fn report(context: &RequestContext<RoleServer>, step: f64, total: f64) {
    if let Some(token) = context.meta.get_progress_token() {
        let _ = context
            .peer
            .notify_progress(ProgressNotificationParam::new(token, step).with_total(total))
            .await;
    }
}

impl Server {
    async fn ask(&self, question: &str, context: &RequestContext<RoleServer>) -> Outcome {
        let reply = context.peer.create_elicitation(form(question)).await.map_err(failed)?;
        Ok(answered(&json!(reply)))
    }

    async fn sample(&self, words: &str, context: &RequestContext<RoleServer>) -> Outcome {
        let reply = context.peer.create_message(sampling(words)).await.map_err(failed)?;
        Ok(sampled(&json!(reply)))
    }

    async fn work(&self, context: &RequestContext<RoleServer>) -> Outcome {
        for step in 1..=6 {
            report(context, f64::from(step), 6.0).await;
            sleep(Duration::from_millis(500)).await;
        }
        Ok(text("worked".into()))
    }

    async fn hang(&self, context: &RequestContext<RoleServer>) -> Outcome {
        report(context, 1.0, 2.0).await;
        tokio::select! {
            () = context.ct.cancelled() => {
                self.0.cancelled.fetch_add(1, Ordering::SeqCst);
                Err(failed("cancelled"))
            }
            () = sleep(Duration::from_secs(60)) => Ok(text("not cancelled".into())),
        }
    }

    async fn change(&self, context: &RequestContext<RoleServer>) -> Outcome {
        self.0.is_extended.store(true, Ordering::SeqCst);
        let _ = context.peer.notify_tool_list_changed().await;
        Ok(text("changed".into()))
    }

    fn change_modern(&self) -> Outcome {
        self.0.is_extended.store(true, Ordering::SeqCst);
        let _ = self.0.changes.send(());
        Ok(text("changed".into()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rmcp", "1"))
            .with_instructions("Notes of rmcp.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25])
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.0.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                _ = changes.recv() => { let _ = context.sink().notify_tool_list_changed().await; }
            }
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = vec![
            tool("quick", Some("text")),
            tool("ask", Some("question")),
            tool("ask_modern", Some("question")),
            tool("sample", Some("text")),
            tool("sample_modern", Some("text")),
            tool("work", None),
            tool("hang", None),
            tool("heard", None),
            tool("change", None),
            tool("change_modern", None),
        ];
        if self.0.is_extended.load(Ordering::SeqCst) {
            tools.push(tool("extra", None));
        }
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Outcome {
        let given = |name: &str| {
            request
                .arguments
                .as_ref()
                .and_then(|members| members.get(name)?.as_str())
                .unwrap_or_default()
                .to_string()
        };
        let reply = |key: &str| {
            request
                .input_responses
                .as_ref()
                .and_then(|replies| replies.get(key))
                .map(|reply| json!(reply))
        };
        match request.name.as_ref() {
            "quick" => Ok(text(format!("quick: {}", given("text")))),
            "ask" => self.ask(&given("question"), &context).await,
            "ask_modern" => Ok(match reply("answer") {
                Some(reply) => answered(&reply),
                None => rounds(
                    "answer",
                    InputRequest::Elicitation(ElicitRequest::new(form(&given("question")))),
                ),
            }),
            "sample" => self.sample(&given("text"), &context).await,
            "sample_modern" => Ok(match reply("text") {
                Some(reply) => sampled(&reply),
                None => rounds(
                    "text",
                    InputRequest::CreateMessage(CreateMessageRequest::new(sampling(&given("text")))),
                ),
            }),
            "work" => self.work(&context).await,
            "hang" => self.hang(&context).await,
            "heard" => Ok(text(format!("cancelled: {}", self.0.cancelled.load(Ordering::SeqCst)))),
            "change" => self.change(&context).await,
            "change_modern" => self.change_modern(),
            "extra" => Ok(text("extra".into())),
            other => Err(ErrorData::invalid_params(format!("Unknown tool: {other}"), None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(
            "note://partner",
            "note",
        )]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(ReadResourceResult::new(vec![ResourceContents::text("a note", request.uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new("name").with_required(true);
        Ok(ListPromptsResult::with_all_items(vec![Prompt::new(
            "greet",
            None::<String>,
            Some(vec![name]),
        )]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = json!(request.arguments)["name"]
            .as_str()
            .unwrap_or_default()
            .to_string();
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, format!("Greet {name}"))]).into())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let delay = std::env::var("PARTNER_START_MS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    sleep(Duration::from_millis(delay)).await;
    let state = State {
        cancelled: AtomicU32::new(0),
        is_extended: AtomicBool::new(false),
        changes: broadcast::Sender::new(8),
    };
    let server = Server(Arc::new(state));
    if !std::env::args().any(|argument| argument == "--http") {
        server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(server.clone()),
        sessions,
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("url http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
