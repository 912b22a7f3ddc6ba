//! `emend demo`: shows the main job with a real MCP client that talks to a real server over stdio.
//!
//! Only the other program's write and the checks of the files go past the protocol.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig};
use rmcp::service::RunningService;
use rmcp::transport::TokioChildProcess;
use rmcp::{RoleClient, ServiceExt};
use serde_json::{Value, json};

use crate::exit::{Ended, Exit};
use crate::output::{ColourFlag, Colours, Output};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    colour: ColourFlag,
}

const GREETING: &str = "def greet(name):\n    return \"Hello, \" + name\n\n\ndef part(name):\n    return \
                        \"Goodbye, \" + name\n";
const SETTINGS: &str = "retries = 3\r\ntimeout = 30\r\n";
/// How long another program tries to put its file in place.
const PATIENCE: Duration = Duration::from_secs(5);
const NOTES: &str = "# Notes\n\n- one\n- two\n- one\n";

pub(crate) async fn run(arguments: &Arguments) -> Ended {
    show(arguments.colour.colours()).await?;
    Ok(Exit::Done)
}

async fn show(colours: Colours) -> anyhow::Result<()> {
    let folder = tempfile::Builder::new().prefix("emend-demo-").tempdir()?;
    let workspace = folder.path().join("project");
    std::fs::create_dir(&workspace)?;
    std::fs::write(workspace.join("greeting.py"), GREETING)?;
    std::fs::write(workspace.join("settings.ini"), SETTINGS)?;
    std::fs::write(workspace.join("notes.md"), NOTES)?;

    let mut server = tokio::process::Command::new(std::env::current_exe()?);
    server.arg("serve").arg("--workspace").arg(&workspace);
    server.arg("--state-dir").arg(folder.path().join("state"));
    // The user's own settings must not change the demo. `--no-config` is refused where their file exists, so we hide
    // it.
    server.arg("--no-config").env("XDG_CONFIG_HOME", folder.path());
    let client = ClientConfig::default()
        .serve(TokioChildProcess::new(server)?)
        .await
        .context("the server did not start")?;
    let mut demo = Demo { client, workspace: &workspace, colours, step: 0 };
    let outcome = demo.play().await;
    demo.client.cancel().await?;
    outcome
}

struct Demo<'a> {
    client: RunningService<RoleClient, ClientConfig>,
    workspace: &'a Path,
    colours: Colours,
    step: usize,
}

/// Whether a step is meant to succeed.
#[derive(Clone, Copy, PartialEq)]
enum Expect<'a> {
    Success,
    Refusal(&'a str),
}

impl Demo<'_> {
    async fn play(&mut self) -> anyhow::Result<()> {
        let names: Vec<String> =
            self.client.list_all_tools().await?.iter().map(|tool| tool.name.to_string()).collect();
        self.say(&format!(
            "A server runs in {}. Its tools: {}.\n",
            self.workspace.display(),
            names.join(", ")
        ))?;

        self.title("A reading: numbered lines, and what an edit needs to know")?;
        self.call("read_file", json!({"path": "greeting.py"}), Expect::Success).await?;

        self.title("A preview: the diff, and a handle under which exactly this can be applied")?;
        let preview = self
            .call(
                "edit_preview",
                json!({"tool": "str_replace", "path": "greeting.py",
                       "old_string": "\"Hello, \" + name", "new_string": "f\"Hello, {name}!\""}),
                Expect::Success,
            )
            .await?;
        ensure!(self.on_disk("greeting.py")? == GREETING, "a preview must not write");

        self.title("The edit: what was shown, and nothing else")?;
        let handle = preview["preview"].as_str().context("the preview has a handle")?.to_owned();
        self.call("apply_preview", json!({"preview": handle}), Expect::Success).await?;
        ensure!(self.on_disk("greeting.py")?.contains("f\"Hello, {name}!\""), "the edit must be on disk");

        self.title("An ambiguous request is refused, with every place")?;
        let twice = json!({"path": "notes.md", "old_string": "- one", "new_string": "- three"});
        self.call("str_replace", twice, Expect::Refusal("ambiguous-match")).await?;
        ensure!(self.on_disk("notes.md")? == NOTES, "a refused edit must change nothing");

        self.title("Somebody else writes between the reading and the edit: refused once, with what changed")?;
        self.call("read_file", json!({"path": "settings.ini"}), Expect::Success).await?;
        self.write_as_another_program("settings.ini", &SETTINGS.replace("retries = 3", "retries = 5"))?;
        let edit =
            json!({"path": "settings.ini", "old_string": "timeout = 30", "new_string": "timeout = 60"});
        self.call("str_replace", edit.clone(), Expect::Refusal("stale-file")).await?;
        self.say("The change was seen, so the same call goes through now. The CRLF line endings stay.\n\n")?;
        self.call("str_replace", edit, Expect::Success).await?;
        ensure!(
            self.on_disk("settings.ini")? == "retries = 5\r\ntimeout = 60\r\n",
            "both changes must be on disk"
        );

        self.title("A patch of three files whose last hunk does not fit: none of it happens")?;
        let before = self.everything()?;
        self.call(
            "apply_patch",
            json!({"patch": patch("-    return \"Adieu, \" + name")}),
            Expect::Refusal("hunk-context-mismatch"),
        )
        .await?;
        ensure!(self.everything()? == before, "a failed patch must change nothing");

        self.title("Mended from the answer, all of it happens")?;
        self.call(
            "apply_patch",
            json!({"patch": patch("-    return \"Goodbye, \" + name")}),
            Expect::Success,
        )
        .await?;
        ensure!(self.on_disk("CHANGES.md")? == "# Changes\n", "the new file must be there");
        ensure!(self.on_disk("notes.md")?.contains("- two and a half\n"), "the second file must be changed");
        ensure!(self.on_disk("greeting.py")?.contains("Farewell"), "the third file must be changed");
        self.say("Every step was checked on disk.\n")?;
        Ok(())
    }

    /// Calls a tool, shows its answer and returns the structured content.
    async fn call(&self, tool: &str, arguments: Value, expect: Expect<'_>) -> anyhow::Result<Value> {
        let shown: Vec<String> = arguments
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| match value.as_str() {
                Some(text) if text.contains('\n') => format!("{name}=\n{}", indented(text)),
                _ => format!("{name}={value}"),
            })
            .collect();
        self.say(&self.colours.bold(&format!("> {tool} {}\n", shown.join(" "))))?;
        let Value::Object(arguments) = arguments else { bail!("arguments are an object") };
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result: CallToolResult = self.client.call_tool(request).await?;
        let text: String =
            result.content.iter().filter_map(|block| block.as_text()).map(|t| t.text.as_str()).collect();
        self.say(&format!("{}\n\n", self.painted(text.trim_end())))?;
        let refused = result.is_error == Some(true);
        let structured = result.structured_content.unwrap_or_default();
        match expect {
            Expect::Success => ensure!(!refused, "{tool} was refused"),
            Expect::Refusal(code) => {
                ensure!(refused && structured["error"]["code"] == code, "{tool} should answer {code}");
            }
        }
        Ok(structured)
    }

    fn title(&mut self, title: &str) -> anyhow::Result<()> {
        self.step += 1;
        self.say(&self.colours.bold(&format!("{}. {title}\n", self.step)))?;
        Ok(())
    }

    fn say(&self, text: &str) -> io::Result<()> {
        Output { json: false, colours: self.colours, pages: false }.show(text)
    }

    /// Colours the diff in an answer.
    fn painted(&self, text: &str) -> String {
        let diff = text.find("\n--- ").or_else(|| text.find("\n@@ ")).map_or(text.len(), |at| at + 1);
        format!("{}{}", &text[..diff], self.colours.diff(&text[diff..]))
    }

    /// Replaces a file whole, as an editor does. A half-written file would count as a version of its own.
    fn write_as_another_program(&self, name: &str, text: &str) -> io::Result<()> {
        let new = self.workspace.with_file_name(name);
        std::fs::write(&new, text)?;
        let (target, begun) = (self.workspace.join(name), Instant::now());
        loop {
            match std::fs::rename(&new, &target) {
                // On Windows, whoever reads the file may be in the way for a moment.
                Err(error)
                    if error.kind() == io::ErrorKind::PermissionDenied && begun.elapsed() < PATIENCE =>
                {
                    std::thread::sleep(Duration::from_millis(10));
                }
                renamed => return renamed,
            }
        }
    }

    fn on_disk(&self, name: &str) -> anyhow::Result<String> {
        Ok(std::fs::read_to_string(self.workspace.join(name))?)
    }

    fn everything(&self) -> anyhow::Result<Vec<(String, String)>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(self.workspace)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            files.push((name.clone(), self.on_disk(&name)?));
        }
        files.sort();
        Ok(files)
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// A patch of three files; its last hunk removes this line.
fn patch(removed: &str) -> String {
    format!(
        "*** Begin Patch\n*** Add File: CHANGES.md\n+# Changes\n*** Update File: notes.md\n@@\n - two\n+- two and a \
         half\n - one\n*** Update File: greeting.py\n@@ def part(name):\n{removed}\n+    return \"Farewell, \" + \
         name\n*** End Patch"
    )
}
