//! The partner client on rmcp: `client TARGET`, the target as JSON (see the library beside it).
#![allow(deprecated)]

use std::{process::Stdio, sync::Arc};

use partners::{Partner, Person, Target, capabilities, run};
use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient,
    model::*,
    service::{NotificationContext, RequestContext, RunningService},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::process::Command;

#[derive(Clone)]
struct Answerer {
    person: Arc<Person>,
    version: ProtocolVersion,
}

impl ClientHandler for Answerer {
    fn get_info(&self) -> ClientConfig {
        let mut config = ClientConfig::default();
        config.capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling()
            .build();
        config.client_info = Implementation::new("rmcp", "1");
        config.protocol_version = self.version.clone();
        config
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match request {
            ElicitRequestParams::FormElicitationParams { message, .. } => {
                let answer = self.person.answer(&message).await;
                Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": answer})))
            }
            _ => Ok(ElicitResult::new(ElicitationAction::Decline)),
        }
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let asked = serde_json::to_value(&params.messages[0]).unwrap_or_default();
        let text = asked["content"]["text"]
            .as_str()
            .or(asked["content"][0]["text"].as_str())
            .unwrap_or_default();
        Ok(CreateMessageResult::new(
            SamplingMessage::assistant_text(self.person.model(text)),
            "none".into(),
        ))
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.person.progressed(params.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.person.changed.notify_one();
    }
}

struct Connection {
    service: RunningService<RoleClient, Answerer>,
    version: String,
}

async fn connect(target: &Target, person: Arc<Person>) -> anyhow::Result<Connection> {
    let (legacy, modern) = (ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2026_07_28);
    let lifecycle = match target.era.as_str() {
        "legacy" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Auto {
            preferred_versions: vec![modern],
            legacy_version: Some(legacy.clone()),
        },
    };
    let handler = Answerer {
        person: person.clone(),
        version: legacy,
    };
    let service = match &target.url {
        Some(url) => {
            handler
                .serve_with_lifecycle(StreamableHttpClientTransport::from_uri(url.as_str()), lifecycle)
                .await?
        }
        None => {
            let mut command = Command::new(&target.command[0]);
            command.args(&target.command[1..]);
            let (process, _) = TokioChildProcess::builder(command).stderr(Stdio::inherit()).spawn()?;
            handler.serve_with_lifecycle(process, lifecycle).await?
        }
    };
    let info = serde_json::to_value(service.peer_info())?;
    let version = info["protocolVersion"].as_str().unwrap_or_default().to_string();
    if version == ProtocolVersion::V_2026_07_28.as_str() {
        listen(&service, person).await;
    }
    Ok(Connection { service, version })
}

/// On the newer revision what changed is told on a subscription.
async fn listen(service: &RunningService<RoleClient, Answerer>, person: Arc<Person>) {
    match service
        .listen(SubscriptionFilter::builder().tools_list_changed().build())
        .await
    {
        Err(error) => eprintln!("listen: {error}"),
        Ok(mut subscription) => {
            tokio::spawn(async move {
                while let Ok(Some(_)) = subscription.next().await {
                    person.changed.notify_one();
                }
            });
        }
    }
}

impl Partner for Connection {
    fn opened(&self) -> Value {
        let info = serde_json::to_value(self.service.peer_info()).unwrap_or_default();
        json!({
            "version": self.version,
            "server": info["serverInfo"]["name"],
            "instructions": info["instructions"],
            "capabilities": capabilities(&info["capabilities"]),
        })
    }

    async fn tools(&self) -> anyhow::Result<Vec<String>> {
        Ok(self
            .service
            .list_all_tools()
            .await?
            .into_iter()
            .map(|tool| tool.name.into_owned())
            .collect())
    }

    async fn call(&self, name: &str, arguments: Value) -> anyhow::Result<String> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let result = self
            .service
            .call_tool(CallToolRequestParams::new(name.to_string()).with_arguments(arguments))
            .await?;
        let result = serde_json::to_value(result)?;
        let texts: Vec<&str> = result["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|block| block["text"].as_str())
            .collect();
        let prefix = if result["isError"] == true { "tool error: " } else { "" };
        Ok(format!("{prefix}{}", texts.join(" ")))
    }

    async fn read(&self, uri: &str) -> anyhow::Result<String> {
        let result = serde_json::to_value(self.service.read_resource(ReadResourceRequestParams::new(uri)).await?)?;
        Ok(result["contents"][0]["text"].as_str().unwrap_or_default().into())
    }

    async fn prompt(&self, name: &str, arguments: Value) -> anyhow::Result<String> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let result = self
            .service
            .get_prompt(GetPromptRequestParams::new(name).with_arguments(arguments))
            .await?;
        let result = serde_json::to_value(result)?;
        Ok(result["messages"][0]["content"]["text"]
            .as_str()
            .unwrap_or_default()
            .into())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    run(connect).await
}
