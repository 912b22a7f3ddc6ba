//! Emend as a library, without MCP: opens a workspace, previews a patch and commits what was shown.
//!
//!     cargo run --example library

use std::collections::BTreeMap;
use std::fmt::Display;

use anyhow::anyhow;
use emend_edit::patch::v4a;
use emend_workspace::{EditContext, Mutex, Origin, Readings, Request, RootSpec, Workspace, disk};

const GREETING: &str = "def greet(name):\n    return \"Hello, \" + name\n";

const PATCH: &str = r#"*** Begin Patch
*** Update File: greeting.py
@@ def greet(name):
-    return "Hello, " + name
+    return f"Hello, {name}!"
*** Add File: CHANGES.md
+# Changes
+- A friendlier greeting.
*** End Patch
"#;

fn main() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let (project, state) = (folder.path().join("project"), folder.path().join("state"));
    std::fs::create_dir(&project)?;
    std::fs::write(project.join("greeting.py"), GREETING)?;

    let root = RootSpec { name: None, path: project.clone() };
    let workspace = Workspace::open(disk::for_this_machine(), &[root], Some(state))?;
    // The versions that one client has read. They decide what is stale for this client.
    let (readings, origin) = (Mutex::new(Readings::default()), Origin::default());
    let context = EditContext::patient(&readings, &origin);

    let (name, snapshot) = workspace.files().read("greeting.py")?;
    println!("{name} is at version {}.\n", snapshot.text.version().short());

    // A text becomes a patch, a patch becomes a plan. Nothing is written yet.
    let patch = v4a::parse(PATCH).map_err(|problems| all(&problems))?;
    let versions = BTreeMap::from([(name, snapshot.text.version().hex())]);
    let request = Request { patch: &patch, versions: &versions };
    let preview = workspace.preview(&request, &context).map_err(|why| all(&why.into_problems()))?;
    println!("{}", preview.report().diff());
    anyhow::ensure!(std::fs::read_to_string(project.join("greeting.py"))? == GREETING);

    // The commit takes the preview. It does exactly what was shown, or says why not and changes nothing.
    let report = workspace.apply(preview, None, &context);
    let report = report.map_err(|(not_committed, _)| all(&not_committed.into_problems()))?;
    for file in &report.files {
        println!("{:?} {}", file.change, file.name);
    }
    anyhow::ensure!(std::fs::read_to_string(project.join("greeting.py"))?.contains("f\"Hello, {name}!\""));

    // The same request again names a version that the file no longer has.
    let Err(not_committed) = workspace.edit(&request, &context) else {
        return Err(anyhow!("a patch cannot be applied twice"));
    };
    for problem in not_committed.into_problems() {
        println!("\nAgain: {problem}");
    }
    Ok(())
}

/// Joins all problems of a request into one error.
fn all(problems: &[impl Display]) -> anyhow::Error {
    anyhow!(problems.iter().map(|problem| format!("{problem}\n")).collect::<String>())
}
