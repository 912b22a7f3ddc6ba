//! Prints what a model reads about the tools, for a review as prose.

use std::path::Path;

use anyhow::Result;
use emend_testkit::{Folder, Launch};

/// Prints the name, the description and the arguments of each tool.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let folder = Folder::new();
    let mut client = Launch::new(emend).workspace(folder.path()).state(folder.state()).legacy();
    let tools = client.tools();
    for tool in &tools {
        println!(
            "## {}\n{}\n",
            tool["name"].as_str().unwrap_or_default(),
            tool["description"].as_str().unwrap_or_default()
        );
        for (name, property) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            println!("- {name}: {}", property["description"].as_str().unwrap_or_default());
        }
        println!();
    }
    println!("{} bytes in all", serde_json::to_string(&tools)?.len());
    Ok(())
}
