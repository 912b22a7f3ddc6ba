//! The fixtures of MCP's official conformance suite behind Emend's own HTTP stack. So the suite tests that stack, and
//! not only Emend's tools. `cargo xtask conformance` runs it.
//!
//! ```text
//! cargo run --example conformance_server      # says where it listens, and its token, as one line of JSON
//! ```
//!
//! Logging, and requests to a client of 2025 other than forms, are deprecated in MCP and left out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use emend_server::http::{ENDPOINT, HostGuard, Limits, Tokens, serve_http};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams,
    CompleteResult, CompletionInfo, ContentBlock, ElicitRequestParams, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, Implementation, InputRequiredResult, InputResponses, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, RequestStateCodec, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// One red pixel.
const IMAGE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// No sound.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let (tokens, token) = Tokens::generate("conformance")?;
    println!("{}", json!({"url": format!("http://{}{ENDPOINT}", listener.local_addr()?), "token": token}));
    let fixtures = Fixtures::new()?;
    let handler = move |_: &_| Ok(fixtures.clone());
    let stop = async { drop(tokio::signal::ctrl_c().await) };
    serve_http(listener, Arc::new(tokens), HostGuard::default(), Limits::default(), handler, stop).await;
    Ok(())
}

#[derive(Clone)]
struct Fixtures {
    /// Who listens for changes of a list.
    listening: Arc<Mutex<HashMap<u64, SubscriptionSink>>>,
    last: Arc<AtomicU64>,
    seal: RequestStateCodec,
}

impl Fixtures {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| error.to_string())?;
        Ok(Self { listening: Arc::default(), last: Arc::default(), seal: RequestStateCodec::try_new(key)? })
    }

    fn listening(&self) -> Vec<SubscriptionSink> {
        self.listening.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// What is said in a state that came back, or that it is not ours.
    fn opened(&self, state: &str) -> Result<Value, ErrorData> {
        let opened = self.seal.open_json(state);
        opened.map_err(|_| ErrorData::invalid_params("requestState is not what was sent", None))
    }

    /// Asks these things, under a state that says how far the call has come.
    fn ask(&self, requests: Value, state: Option<Value>) -> Result<CallToolResponse, ErrorData> {
        let sealed = state.map(|state| self.seal.seal_json(&state)).transpose();
        let sealed = sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(InputRequiredResult::new(Some(made(requests)?), sealed).into())
    }

    /// The tools that ask by `input_required`.
    fn asking(
        &self,
        call: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = |key: &str| answered(call.input_responses.as_ref(), key);
        let state = call.request_state.as_deref().map(|state| self.opened(state)).transpose()?;
        let name = || form("What is your name?", "name");
        let greeting = || sampling("Generate a greeting");
        let roots = || json!({"method": "roots/list", "params": {}});
        match call.name.as_ref().trim_start_matches("test_input_required_result_") {
            "elicitation" => match answer("user_name") {
                Some(answer) => {
                    said(&format!("Hello, {}!", answer["content"]["name"].as_str().unwrap_or("you")))
                }
                None => self.ask(json!({"user_name": name()}), None),
            },
            "sampling" => match answer("capital_question") {
                Some(answer) => said(answer["content"]["text"].as_str().unwrap_or_default()),
                None => {
                    self.ask(json!({"capital_question": sampling("What is the capital of France?")}), None)
                }
            },
            "list_roots" => match answer("client_roots") {
                Some(answer) => said(&format!("Your roots: {}", answer["roots"])),
                None => self.ask(json!({"client_roots": roots()}), None),
            },
            "request_state" | "tampered_state" => match state {
                Some(_) => said("Confirmed: state-ok"),
                None => self.ask(json!({"confirm": form("Please confirm", "ok")}), Some(json!({}))),
            },
            "multiple_inputs" => {
                let keys = ["user_name", "greeting", "client_roots"];
                if state.is_some() && keys.iter().all(|key| answer(key).is_some()) {
                    return said("All inputs are there");
                }
                let asked = json!({"user_name": name(), "greeting": greeting(), "client_roots": roots()});
                self.ask(asked, Some(json!({})))
            }
            "multi_round" => match state.map_or(0, |state| state["round"].as_u64().unwrap_or(0)) {
                0 => self.ask(
                    json!({"step1": form("Step 1: What is your name?", "name")}),
                    Some(json!({"round": 1})),
                ),
                1 => {
                    let asked = form("Step 2: What is your favorite color?", "color");
                    self.ask(json!({"step2": asked}), Some(json!({"round": 2})))
                }
                _ => said("All rounds are through"),
            },
            "capabilities" => {
                let mut asked = JsonObject::new();
                if can(context, "elicitation") {
                    asked.insert("user_name".into(), name());
                }
                if can(context, "sampling") {
                    asked.insert("greeting".into(), greeting());
                }
                match call.input_responses.is_some() || asked.is_empty() {
                    true => said("There is nothing to ask"),
                    false => self.ask(asked.into(), None),
                }
            }
            _ => self.ask(json!({"value": form("Provide a value", "value")}), None),
        }
    }

    /// The tools that ask by a request of their own, as clients of 2025 know it.
    async fn eliciting(
        &self,
        name: &str,
        arguments: &JsonObject,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (message, schema) = match name {
            "test_elicitation" => (
                arguments.get("message").and_then(Value::as_str).unwrap_or_default(),
                json!({
                    "type": "object",
                    "properties": {
                        "username": {"type": "string", "description": "User's response"},
                        "email": {"type": "string", "description": "User's email address"},
                    },
                    "required": ["username", "email"],
                }),
            ),
            "test_elicitation_sep1034_defaults" => (
                "Each has a default",
                json!({
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "default": "John Doe"},
                        "age": {"type": "integer", "default": 30},
                        "score": {"type": "number", "default": 95.5},
                        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                        "verified": {"type": "boolean", "default": true},
                    },
                }),
            ),
            _ => {
                let titled = |titles: [(&str, &str); 3]| {
                    titles.map(|(value, title)| json!({"const": value, "title": title}))
                };
                let options = titled([
                    ("value1", "First Option"),
                    ("value2", "Second Option"),
                    ("value3", "Third Option"),
                ]);
                let choices = titled([
                    ("value1", "First Choice"),
                    ("value2", "Second Choice"),
                    ("value3", "Third Choice"),
                ]);
                (
                    "Choose",
                    json!({
                        "type": "object",
                        "properties": {
                            "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
                            "titledSingle": {"type": "string", "oneOf": options},
                            "legacyEnum": {
                                "type": "string",
                                "enum": ["opt1", "opt2", "opt3"],
                                "enumNames": ["Option One", "Option Two", "Option Three"],
                            },
                            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
                            "titledMulti": {"type": "array", "items": {"anyOf": choices}},
                        },
                    }),
                )
            }
        };
        let parameters = json!({"mode": "form", "message": message, "requestedSchema": schema});
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            return self.ask(json!({"form": {"method": "elicitation/create", "params": parameters}}), None);
        }
        let parameters: ElicitRequestParams = made(parameters)?;
        let answer = context.peer.create_elicitation(parameters).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        said(&format!("Elicitation completed: {}", serde_json::to_string(&answer).unwrap_or_default()))
    }
}

/// The value that this JSON is.
fn made<T: DeserializeOwned>(json: Value) -> Result<T, ErrorData> {
    serde_json::from_value(json).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn said(text: &str) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// A question that a person answers in a form of one field.
fn form(message: &str, field: &str) -> Value {
    let kind = if field == "ok" { "boolean" } else { "string" };
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

/// A question that a model answers.
fn sampling(prompt: &str) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": prompt}});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

/// Whether the client says that it can do this.
fn can(context: &RequestContext<RoleServer>, what: &str) -> bool {
    let capabilities = serde_json::to_value(context.client_capabilities()).unwrap_or_default();
    capabilities.get(what).is_some()
}

/// The answer under this key, if it is one.
fn answered<'a>(answers: Option<&'a InputResponses>, key: &str) -> Option<&'a Value> {
    answers?.get(key).filter(|answer| answer.is_object())
}

/// The tools that always give the same answer.
fn fixed(name: &str) -> Option<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "data": IMAGE, "mimeType": "image/png"});
    let resource = |uri: &str, kind: &str, text: &str| {
        json!({
            "type": "resource", "resource": {"uri": uri, "mimeType": kind, "text": text},
        })
    };
    let content = match name {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image]),
        "test_audio_content" => json!([{"type": "audio", "data": AUDIO, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => {
            json!([resource(
                "test://embedded-resource",
                "text/plain",
                "This is an embedded resource content."
            )])
        }
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            image,
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ]),
        "test_error_handling" => json!([text("This tool intentionally returns an error for testing")]),
        "json_schema_2020_12_tool" | "test_reconnection" | "test_logging_tool" => json!([text("Done")]),
        _ => return None,
    };
    Some(json!({"resultType": "complete", "content": content, "isError": name == "test_error_handling"}))
}

/// Every tool, and what it takes where that is something.
fn tools() -> Vec<Tool> {
    let string =
        |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let header = json!({
        "type": "object",
        "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
        "required": ["value"],
    });
    let everything = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let takes_something = [
        ("test_elicitation", string("message")),
        ("test_custom_header", header),
        ("json_schema_2020_12_tool", everything),
    ];
    let takes_nothing = [
        "test_simple_text",
        "test_image_content",
        "test_audio_content",
        "test_embedded_resource",
        "test_multiple_content_types",
        "test_error_handling",
        "test_reconnection",
        "test_logging_tool",
        "test_tool_with_progress",
        "test_elicitation_sep1034_defaults",
        "test_elicitation_sep1330_enums",
        "test_missing_capability",
        "test_streaming_elicitation",
        "test_trigger_tool_change",
        "test_trigger_prompt_change",
        "test_input_required_result_elicitation",
        "test_input_required_result_sampling",
        "test_input_required_result_list_roots",
        "test_input_required_result_multiple_inputs",
        "test_input_required_result_request_state",
        "test_input_required_result_tampered_state",
        "test_input_required_result_multi_round",
        "test_input_required_result_capabilities",
    ];
    let nothing = takes_nothing.map(|name| (name, json!({"type": "object", "properties": {}})));
    let all = takes_something.into_iter().chain(nothing);
    all.map(|(name, schema)| {
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, format!("The fixture {name}."), Arc::new(schema))
    })
    .collect()
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .build();
        let about = Implementation::new("emend-conformance", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(about)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()).with_ttl_ms(0).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = call.arguments.clone().unwrap_or_default();
        match call.name.as_ref() {
            name if fixed(name).is_some() => {
                Ok(made::<CallToolResult>(fixed(name).unwrap_or_default())?.into())
            }
            name if name.starts_with("test_input_required") || name == "test_streaming_elicitation" => {
                self.asking(&call, &context)
            }
            name if name.starts_with("test_elicitation") => self.eliciting(name, &arguments, &context).await,
            "test_custom_header" => said(arguments.get("value").and_then(Value::as_str).unwrap_or_default()),
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let told = ProgressNotificationParam::new(token, done).with_total(100.0);
                        let _ = context.peer.notify_progress(told).await;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                said("Done")
            }
            "test_missing_capability" => match can(&context, "sampling") {
                true => said("Done"),
                false => {
                    let needed = made(json!({"sampling": {}}))?;
                    Err(ErrorData::missing_required_client_capability(needed))
                }
            },
            "test_trigger_tool_change" => {
                for sink in self.listening() {
                    let _ = sink.notify_tool_list_changed().await;
                }
                said("Told")
            }
            "test_trigger_prompt_change" => {
                for sink in self.listening() {
                    let _ = sink.notify_prompt_list_changed().await;
                }
                said("Told")
            }
            unknown => Err(ErrorData::invalid_params(format!("Unknown tool '{unknown}'."), None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed: ListResourcesResult = made(json!({"resultType": "complete", "resources": [
            {"uri": "test://static-text", "name": "text", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "image", "mimeType": "image/png"},
        ]}))?;
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let listed: ListResourceTemplatesResult = made(
            json!({"resultType": "complete", "resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "data"}]}),
        )?;
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = asked.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let content = match (uri, id) {
            ("test://static-text", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": IMAGE}),
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            _ => {
                return Err(ErrorData::resource_not_found(
                    "There is no such resource.",
                    Some(json!({"uri": uri})),
                ));
            }
        };
        let read: ReadResourceResult = made(json!({"resultType": "complete", "contents": [content]}))?;
        Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Public).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed: ListPromptsResult = made(json!({"resultType": "complete", "prompts": [
            {"name": "test_simple_prompt", "description": "A fixture."},
            {"name": "test_prompt_with_arguments", "description": "A fixture.", "arguments": [
                {"name": "arg1", "required": true}, {"name": "arg2", "required": true},
            ]},
            {"name": "test_prompt_with_embedded_resource", "description": "A fixture.", "arguments": [{"name": "resourceUri", "required": true}]},
            {"name": "test_prompt_with_image", "description": "A fixture."},
            {"name": "test_input_required_result_prompt", "description": "A fixture."},
        ]}))?;
        Ok(listed.with_ttl_ms(0).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = asked.arguments.unwrap_or_default();
        let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let text = |text: &str| json!({"role": "user", "content": {"type": "text", "text": text}});
        let messages = match asked.name.as_str() {
            "test_simple_prompt" => json!([text("This is a simple prompt for testing.")]),
            "test_prompt_with_arguments" => {
                let (one, two) = (argument("arg1"), argument("arg2"));
                json!([text(&format!("Prompt with arguments: arg1='{one}', arg2='{two}'"))])
            }
            "test_prompt_with_embedded_resource" => json!([
                {"role": "user", "content": {"type": "resource", "resource": {
                    "uri": argument("resourceUri"),
                    "mimeType": "text/plain",
                    "text": "Embedded resource content for testing.",
                }}},
                text("Please process the embedded resource above."),
            ]),
            "test_prompt_with_image" => json!([
                {"role": "user", "content": {"type": "image", "data": IMAGE, "mimeType": "image/png"}},
                text("Please analyze the image above."),
            ]),
            "test_input_required_result_prompt" => {
                match answered(asked.input_responses.as_ref(), "user_context") {
                    Some(answer) => json!([text(answer["content"]["context"].as_str().unwrap_or_default())]),
                    None => {
                        let asked =
                            json!({"user_context": form("What context should the prompt use?", "context")});
                        return Ok(InputRequiredResult::from_input_requests(made(asked)?).into());
                    }
                }
            }
            unknown => return Err(ErrorData::invalid_params(format!("Unknown prompt '{unknown}'."), None)),
        };
        Ok(made::<GetPromptResult>(json!({"resultType": "complete", "messages": messages}))?.into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = CompletionInfo::with_all_values(vec!["test-value".into()]);
        Ok(CompleteResult::new(values.map_err(|error| ErrorData::internal_error(error, None))?))
    }

    fn accepted_subscription_filter(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(asked.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let listening = || self.listening.lock().unwrap_or_else(PoisonError::into_inner);
        listening().insert(number, context.sink().clone());
        context.cancelled().await;
        listening().remove(&number);
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}
