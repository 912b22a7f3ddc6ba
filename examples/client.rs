//! A small MCP client: it starts a server, lists the tools, reads a file and edits it.
//!
//!     cargo build && cargo run --example client -- target/debug/emend
//!
//! Without an argument it starts the `emend` that is in the PATH.

use anyhow::{Context, ensure};
use rmcp::ServiceExt;
use rmcp::model::{CallToolRequestParams, ClientConfig};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let program = std::env::args().nth(1).unwrap_or_else(|| "emend".into());
    let folder = tempfile::tempdir()?;
    let (project, state) = (folder.path().join("project"), folder.path().join("state"));
    std::fs::create_dir(&project)?;
    std::fs::write(project.join("notes.md"), "# Notes\n\n- tea\n- cake\n")?;

    let mut server = tokio::process::Command::new(&program);
    server.arg("serve").arg("--workspace").arg(&project).arg("--state-dir").arg(&state);
    let transport = TokioChildProcess::new(server).with_context(|| format!("{program} cannot be started"))?;
    let client = ClientConfig::default().serve(transport).await?;

    for tool in client.list_all_tools().await? {
        println!("{:<14} {}", tool.name, tool.title.unwrap_or_default());
    }
    let calls = [
        ("read_file", json!({"path": "notes.md"})),
        ("str_replace", json!({"path": "notes.md", "old_string": "- cake", "new_string": "- two cakes"})),
        // The text is not in the file any more, so the answer shows the nearest lines.
        ("str_replace", json!({"path": "notes.md", "old_string": "- cake", "new_string": "- pie"})),
    ];
    for (tool, arguments) in calls {
        println!("\n> {tool} {arguments}");
        let Value::Object(arguments) = arguments else { continue };
        let result = client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?;
        for text in result.content.iter().filter_map(|block| block.as_text()) {
            println!("{}", text.text.trim_end());
        }
    }
    client.cancel().await?;
    ensure!(std::fs::read_to_string(project.join("notes.md"))?.ends_with("- two cakes\n"), "it is on disk");
    Ok(())
}
