//! Real language servers, each in its own workspace. An edit that breaks a type reports the error and its line, and the
//! edit that mends it says so. A server that is killed in between is reported and restarted. The workspace has programs
//! with the servers' names, none of which may ever run.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Answer, Client, Folder, Launch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::installed;

/// The folder with the pinned versions of the servers from npm.
const PINNED: &str = "tests/servers";

/// The timeout for the restart of a killed server.
const TIME: Duration = Duration::from_secs(120);

/// A language server, and the files of its round.
struct Subject {
    name: &'static str,
    file: &'static str,
    /// Other files that it needs.
    beside: &'static [(&'static str, &'static str)],
    whole: &'static str,
    /// The same code with a wrong type in this line.
    broken: &'static str,
    line: usize,
    /// An error in another file, for servers that report it at once.
    elsewhere: Option<Elsewhere>,
    /// The name of its function, which stands there twice.
    name_of_function: &'static str,
    offers: &'static [Offer],
}

/// What the server offers to do about a content of the file.
struct Offer {
    content: &'static str,
    /// A part of what it calls that.
    title: &'static str,
    /// The content with it.
    mended: &'static str,
}

/// A file that uses the first one, and has an error in this line after the first one is changed like this.
struct Elsewhere {
    file: &'static str,
    content: &'static str,
    line: usize,
    changed: &'static str,
}

const SUBJECTS: &[Subject] = &[
    Subject {
        name: "pyright",
        file: "sum.py",
        beside: &[],
        whole: "def double(of: int) -> int:\n    return of * 2\n\n\ntotal: int = double(4)\n",
        broken: "def double(of: int) -> int:\n    return of * 2\n\n\n# Wrong.\ntotal: str = double(4)\n",
        line: 6,
        elsewhere: Some(Elsewhere {
            file: "use.py",
            content: "from sum import double\n\nresult: int = double(1)\n",
            line: 3,
            changed: "def double(of: int) -> str:\n    return str(of)\n\n\ntotal: str = double(4)\n",
        }),
        name_of_function: "double",
        offers: &[],
    },
    Subject {
        name: "typescript-language-server",
        file: "sum.ts",
        beside: &[("tsconfig.json", "{\"compilerOptions\": {\"strict\": true}}\n")],
        whole: "export const double = (of: number): number => of * 2;\nexport const total: number = double(4);\n",
        broken: "export const double = (of: number): number => of * 2;\n\nexport const total: string = double(4);\n",
        line: 3,
        elsewhere: Some(Elsewhere {
            file: "use.ts",
            content: "import { double } from './sum';\n\nexport const result: number = double(1);\n",
            line: 3,
            changed: "export const double = (of: number): string => `${of}`;\nexport const total: string = double(4);\n",
        }),
        name_of_function: "double",
        offers: &[
            Offer {
                content: "export const double = (of: number): number => of * 2;\nexport const total: number = doubel(4);\n",
                title: "Change spelling to 'double'",
                mended: "export const double = (of: number): number => of * 2;\nexport const total: number = double(4);\n",
            },
            Offer {
                content: "import { b, a } from './none';\nexport const double = (of: number): number => of * 2 + a;\nexport const total: number = double(4);\n",
                title: "Organize Imports",
                mended: "import { a, b } from './none';\nexport const double = (of: number): number => of * 2 + a;\nexport const total: number = double(4);\n",
            },
        ],
    },
    Subject {
        name: "clangd",
        file: "sum.cpp",
        beside: &[],
        whole: "int twice(int of) { return of * 2; }\nint total = twice(4);\n",
        broken: "int twice(int of) { return of * 2; }\n\nint *total = twice(4);\n",
        line: 3,
        elsewhere: None,
        name_of_function: "twice",
        offers: &[Offer {
            content: "int twice(int of) { return of * 2; }\nint total = twice(4)\n",
            title: "insert ';'",
            mended: "int twice(int of) { return of * 2; }\nint total = twice(4);\n",
        }],
    },
    Subject {
        name: "gopls",
        file: "sum.go",
        beside: &[("go.mod", "module sum\n\ngo 1.19\n")],
        whole: "package sum\n\nfunc double(of int) int { return of * 2 }\n\nvar Total int = double(4)\n",
        broken: "package sum\n\nfunc double(of int) int { return of * 2 }\n\nvar Total string = double(4)\n",
        line: 5,
        elsewhere: Some(Elsewhere {
            file: "use.go",
            content: "package sum\n\nvar Result int = double(1)\n",
            line: 3,
            changed: "package sum\n\nfunc double(of int) string { return \"\" }\n\nvar Total string = double(4)\n",
        }),
        name_of_function: "double",
        offers: &[],
    },
];

/// Programs that language servers start; the workspace has its own under these names.
const TRAPS: &[&str] = &["node", "python", "python3", "go", "clang", "clang++", "gcc", "g++", "npm"];

/// Plays the rounds of these servers, by default of all.
pub(crate) fn run(emend: &Path, names: &[&str]) -> Result<()> {
    for name in names {
        let known: Vec<&str> = SUBJECTS.iter().map(|subject| subject.name).collect();
        ensure!(known.contains(name), "there is no '{name}'; there are: {}", known.join(", "));
    }
    let mut failures = Vec::new();
    for subject in SUBJECTS.iter().filter(|subject| names.is_empty() || names.contains(&subject.name)) {
        let begun = Instant::now();
        match play(emend, subject) {
            Ok(true) => println!("{:<30}{:>10.1} s", subject.name, begun.elapsed().as_secs_f64()),
            Ok(false) => println!("{:<30}{:>12}", subject.name, "skipped"),
            Err(error) => failures.push(format!("{}: {error:#}", subject.name)),
        }
    }
    for failure in &failures {
        eprintln!("{failure}");
    }
    ensure!(failures.is_empty(), "{} of the rounds failed", failures.len());
    Ok(())
}

/// Plays one round. Returns whether the server is installed.
fn play(emend: &Path, subject: &Subject) -> Result<bool> {
    let folder = Folder::new();
    let root = folder.path().canonicalize()?;
    let trapped = root.join("trapped");
    set_traps(&root, &trapped, subject)?;
    for (name, content) in subject.beside {
        fs::write(root.join(name), content)?;
    }
    let file = root.join(subject.file);
    fs::write(&file, subject.whole)?;
    let launch = Launch::new(emend).workspace(&root).state(folder.state()).configured();
    let launch = launch.argument("--no-config").variable("XDG_CONFIG_HOME", "/nowhere");
    let launch = launch.argument("--diagnostics-wait=60");
    let mut client = launch.variable("PATH", search(&root)?).legacy();
    if client.call("diagnostics", json!({"paths": [subject.file]})).text.contains("is not installed") {
        return Ok(false);
    }
    let process = client.process();
    let edit = |client: &mut Client, old: &str, new: &str| -> Result<Value> {
        let answer = client.replace(subject.file, old, new).ok();
        ensure!(fs::read_to_string(&file)? == new, "the file is something else");
        said(&answer)
    };
    let (whole, broken) = (subject.whole, subject.broken);
    subject.check_broken(&edit(&mut client, whole, broken)?)?;
    let mended = edit(&mut client, broken, whole)?;
    let is_mended = mended["new"] == json!([]) && mended["gone"] == 1 && mended["errors"] == 0;
    ensure!(is_mended, "the edit that mends it: {mended}");

    subject.check_found(&mut client)?;
    for offer in subject.offers {
        edit(&mut client, whole, offer.content)?;
        offer.check(&mut client, subject.file, &file)?;
        let now = fs::read_to_string(&file)?;
        if now != whole {
            edit(&mut client, &now, whole)?;
        }
    }

    // A new file. Not for Go, where the copy would define its names twice.
    if subject.name != "gopls" {
        let (_, ending) = subject.file.rsplit_once('.').context("it has an ending")?;
        let name = format!("made.{ending}");
        let made = client.call("write_file", json!({"path": name, "content": broken})).ok();
        subject.check_broken(&said(&made)?)?;
        let gone = client.call("undo_edit", json!({})).ok();
        ensure!(said(&gone)?["gone"] == 1, "a file that goes with its error: {}", gone.structured);
    }

    if let Some(elsewhere) = &subject.elsewhere {
        let made = json!({"path": elsewhere.file, "content": elsewhere.content});
        let made = said(&client.call("write_file", made).ok())?;
        ensure!(made["new"] == json!([]), "a file that uses the other: {made}");
        let says = edit(&mut client, whole, elsewhere.changed)?;
        // Reports about other files come late, above all on a busy machine.
        let is_elsewhere = |new: &Value| new["path"] == elsewhere.file && new["line"] == elsewhere.line;
        let new = says["new"].as_array().context("what the edit brought")?;
        ensure!(new.iter().all(is_elsewhere) && says["errors"] == 0, "what breaks elsewhere: {says}");
        let now = client.call("diagnostics", json!({"paths": [elsewhere.file]})).text;
        let place = format!("{}:{}:", elsewhere.file, elsewhere.line);
        ensure!(now.contains(&place), "what breaks elsewhere: {now}");
        edit(&mut client, elsewhere.changed, whole)?;
        let now = client.call("diagnostics", json!({"paths": [elsewhere.file]})).text;
        ensure!(!now.contains(&place), "what is mended elsewhere: {now}");
    }

    for server in children(process)? {
        kill_process(server, Signal::KILL)?;
    }
    // An edit at once is told that the server is down. The first edit after the restart gets diagnostics, and the
    // report of the crash if no earlier one did.
    let deadline = Instant::now() + TIME;
    let mut is_told = false;
    loop {
        let says = edit(&mut client, whole, broken)?;
        is_told |= says["state"] == "crashed" || says.get("why").is_some();
        if says["state"] == "ready" {
            ensure!(is_told, "nobody was told of the crash: {says}");
            subject.check_broken(&says)?;
            break;
        }
        ensure!(Instant::now() < deadline, "it does not come back: {says}");
        edit(&mut client, broken, whole)?;
    }
    client.close();
    ensure!(!trapped.exists(), "a program of the workspace ran: {}", fs::read_to_string(&trapped)?);
    Ok(true)
}

impl Subject {
    /// Checks that the function is found by its name, and where it is used.
    fn check_found(&self, client: &mut Client) -> Result<()> {
        let name = self.name_of_function;
        let text = client.call("find_symbol", json!({"symbol": name})).ok().text;
        // A server that has only just started may know no names yet, and then the outlines do.
        let is_found = text.starts_with("1 definition in 1 file, from ")
            && text.contains(&format!("\n{} · version ", self.file));
        ensure!(is_found, "its definition: {text}");
        let line = self.whole.lines().take_while(|line| !line.contains(name)).count() + 1;
        let asked = json!({"path": format!("{}:{line}", self.file), "symbol": name, "want": "references"});
        let text = client.call("find_symbol", asked).ok().text;
        let found = format!("2 references in 1 file, from {}\n", self.name);
        ensure!(text.starts_with(&found), "its references: {text}");
        Ok(())
    }

    /// Checks that an edit reports exactly the one error.
    fn check_broken(&self, says: &Value) -> Result<()> {
        let new = says["new"].as_array().into_iter().flatten();
        let lines: Vec<&Value> = new.map(|new| &new["line"]).collect();
        ensure!(lines == [&json!(self.line)] && says["gone"] == 0, "an edit that breaks a type: {says}");
        Ok(())
    }
}

impl Offer {
    /// Checks that it is listed, and makes it by its handle.
    fn check(&self, client: &mut Client, name: &str, file: &Path) -> Result<()> {
        let text = client.call("diagnostics", json!({"paths": [name], "fixes": true})).ok().text;
        let all = text.split("\nFix of ").find(|fix| fix.contains(self.title));
        let fix = all.with_context(|| format!("no '{}' is offered: {text}", self.title))?;
        let handle = fix.lines().find_map(|line| line.strip_prefix("apply_preview")?.split('"').nth(3));
        let handle = handle.with_context(|| format!("it is not to be had: {fix}"))?;
        client.call("apply_preview", json!({"preview": handle})).ok();
        let now = fs::read_to_string(file)?;
        ensure!(now == self.mended, "'{}' made this: {now}", self.title);
        Ok(())
    }
}

/// The diagnostics of the one server in an answer.
fn said(answer: &Answer) -> Result<Value> {
    let says = answer.structured["diagnostics"].as_array().and_then(|says| says.first());
    says.cloned().context("no server says anything")
}

/// The children of a process.
fn children(process: u32) -> Result<Vec<Pid>> {
    let mut children = Vec::new();
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let listed = fs::read_to_string(task?.path().join("children"))?;
        children.extend(listed.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)));
    }
    ensure!(!children.is_empty(), "no server runs");
    Ok(children)
}

/// A PATH for the servers: the workspace first, then the npm packages, then the machine.
fn search(root: &Path) -> Result<OsString> {
    let mut folders = vec![root.join("bin")];
    if let Some(packages) = installed::packages("servers", Path::new(PINNED))? {
        folders.push(packages.join("node_modules").join(".bin"));
    }
    folders.extend(installed::node()?.parent().filter(|folder| folder.is_absolute()).map(PathBuf::from));
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    Ok(std::env::join_paths(folders)?)
}

/// Puts programs and a TypeScript into the workspace that leave a trace when they are run.
fn set_traps(root: &Path, trapped: &Path, subject: &Subject) -> Result<()> {
    let bin = root.join("bin");
    fs::create_dir(&bin)?;
    let program = format!("#!/bin/sh\necho \"$0\" >> '{}'\n", trapped.display());
    for name in TRAPS.iter().chain(&[subject.name, "pyright-langserver", "basedpyright-langserver"]) {
        fs::write(bin.join(name), &program)?;
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755))?;
    }
    let typescript = root.join("node_modules").join("typescript");
    fs::create_dir_all(typescript.join("lib"))?;
    fs::write(typescript.join("package.json"), "{\"name\": \"typescript\", \"version\": \"5.9.3\"}\n")?;
    let script = format!("require('fs').appendFileSync('{}', 'typescript');\n", trapped.display());
    for name in ["tsserver.js", "typescript.js"] {
        fs::write(typescript.join("lib").join(name), &script)?;
    }
    Ok(())
}
