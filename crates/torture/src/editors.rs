//! Real editors without a screen. An open file shows the new text after an edit, unless its buffer has unsaved changes.
//! An editor that is dead or hangs does not affect the edit. An editor that is not installed is skipped with a message.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::client::patch;
use emend_testkit::{Client, Folder, Launch};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::bounded;

/// The timeout for whatever the suite waits for.
const PATIENCE: Duration = Duration::from_secs(60);
/// The timeout for one request to an editor.
const ASKING: Duration = Duration::from_secs(20);
/// The names of the edited files. Each has characters that mean something in some language.
const NAMES: [&str; 10] = [
    "plain.txt",
    "it's.txt",
    "a\"b|!ls.txt",
    "new\nline.txt",
    "é😀\u{2028}.txt",
    "%#<cfile>*[x].txt",
    "back\\slash \\\" ).txt",
    "]]..os.exit()..[[.txt",
    "${x}$(x)`x` {line}.txt",
    "-- -x <CR>.txt",
];

/// Tries each installed editor.
pub(crate) fn run(emend: &Path) -> Result<()> {
    for (name, program, start) in
        [("neovim", "nvim", neovim as fn(&Folder) -> Result<Editor>), ("emacs", "emacs", self::emacs)]
    {
        if Command::new(program).arg("--version").output().is_err() {
            println!("{name}: skipped, there is no {program}");
            continue;
        }
        check(emend, name, start).with_context(|| name.to_owned())?;
        println!("{name}: buffers show what was edited, and keep what is their own");
    }
    Ok(())
}

/// A running editor, and the command that sends it a request.
struct Editor {
    child: Child,
    server: PathBuf,
    ask: fn(&Path, &Request) -> Command,
}

/// A request to an editor.
enum Request {
    /// Opens the file.
    Open(PathBuf),
    /// Replaces the buffer of the file with this text, without saving.
    Type(PathBuf, &'static str),
    /// Returns the buffer of the file.
    Show(PathBuf),
}

impl Editor {
    fn ask(&self, wish: &Request) -> Result<String> {
        let output = bounded::run(&mut (self.ask)(&self.server, wish), ASKING)?;
        // Neovim without a screen answers on standard error.
        Ok(String::from_utf8([output.stdout, output.stderr].concat())?)
    }

    /// The text of the buffer, without line ends and quotes.
    fn shows(&self, path: &Path) -> Result<String> {
        Ok(self.ask(&Request::Show(path.into()))?.trim().trim_matches('"').to_owned())
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn check(emend: &Path, name: &str, start: fn(&Folder) -> Result<Editor>) -> Result<()> {
    let folder = Folder::new();
    NAMES.iter().for_each(|name| folder.write(name, "one\n"));
    for name in ["modified.txt", "deleted.txt", "moved.txt"] {
        folder.write(name, "one\n");
    }
    let editor = start(&folder)?;
    let others = ["modified.txt", "deleted.txt", "moved.txt", "not there yet.txt"];
    for name in NAMES.iter().chain(&others) {
        editor.ask(&Request::Open(folder.at(name)))?;
    }
    editor.ask(&Request::Type(folder.at("modified.txt"), "mine"))?;

    let mut client = serve(emend, name, &folder, &editor.server);
    // Done twice, since the first update may break the buffer for the second.
    for (old, new) in [("one", "two"), ("two", "three")] {
        for file in NAMES {
            edit(
                &mut client,
                name,
                "str_replace",
                json!({"path": file, "old_string": old, "new_string": new}),
            )?;
        }
        for file in NAMES {
            until_it_shows(&editor, &folder.at(file), new)?;
        }
    }
    edit(&mut client, name, "write_file", json!({"path": "not there yet.txt", "content": "new\n"}))?;
    until_it_shows(&editor, &folder.at("not there yet.txt"), "new")?;

    let inner = "*** Update File: modified.txt\n@@\n-one\n+two\n*** Delete File: deleted.txt\n\
                 *** Update File: moved.txt\n*** Move to: elsewhere.txt\n*** Update File: plain.txt\n@@\n-three\n+four\n";
    client.read("deleted.txt");
    edit(&mut client, name, "apply_patch", json!({"patch": patch(inner)}))?;
    until_it_shows(&editor, &folder.at("plain.txt"), "four")?;
    // The edit told the editor about all files at once, so the others are up to date too.
    for (file, own) in [("modified.txt", "mine"), ("deleted.txt", "one"), ("moved.txt", "one")] {
        let shown = editor.shows(&folder.at(file))?;
        ensure!(shown == own, "the buffer of {file} shows {shown:?}");
    }
    ensure!(folder.text("modified.txt") == "two\n");

    hangs_and_dies(emend, name, &folder, editor)
}

/// Checks that an editor that hangs or dies does not affect an edit.
fn hangs_and_dies(emend: &Path, name: &str, folder: &Folder, mut editor: Editor) -> Result<()> {
    let process = Pid::from_child(&editor.child);
    kill_process(process, Signal::STOP)?;
    let mut client = serve(emend, name, folder, &editor.server);
    let mut last = "four".to_owned();
    for number in 0..20 {
        let new = number.to_string();
        edit(
            &mut client,
            name,
            "str_replace",
            json!({"path": "plain.txt", "old_string": last, "new_string": new}),
        )?;
        ensure!(folder.text("plain.txt") == format!("{new}\n"));
        last = new;
    }
    kill_process(process, Signal::CONT)?;
    edit(
        &mut client,
        name,
        "str_replace",
        json!({"path": "plain.txt", "old_string": last, "new_string": "five"}),
    )?;
    until_it_shows(&editor, &folder.at("plain.txt"), "five")?;
    editor.child.kill()?;
    editor.child.wait()?;
    edit(
        &mut client,
        name,
        "str_replace",
        json!({"path": "plain.txt", "old_string": "five", "new_string": "six"}),
    )?;
    fs::remove_file(&editor.server).or_else(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })?;
    edit(
        &mut client,
        name,
        "str_replace",
        json!({"path": "plain.txt", "old_string": "six", "new_string": "seven"}),
    )?;
    let (status, said) = client.close();
    ensure!(status.success(), "the server ended with {status}: {said}");
    Ok(())
}

fn serve(emend: &Path, name: &str, folder: &Folder, server: &Path) -> Client {
    let file = folder.beside("config.toml");
    let text = format!("[[editors]]\neditor = '{name}'\nserver = {}\n", json!(server));
    fs::write(&file, text).expect("the folder beside the workspace can be written to");
    let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
    launch.argument("--config").argument(file).configured().legacy()
}

/// Makes an edit and checks that the editor was told.
fn edit(client: &mut Client, name: &str, tool: &str, arguments: Value) -> Result<()> {
    let answer = client.call(tool, arguments);
    ensure!(!answer.is_error, "{}", answer.text);
    let fired = &answer.structured["side_effects_fired"];
    let effect = format!("editor:{name}");
    ensure!(fired.as_array().is_some_and(|fired| fired.contains(&effect.into())), "{fired} fired");
    Ok(())
}

fn until_it_shows(editor: &Editor, path: &Path, text: &str) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let shown = editor.shows(path)?;
        if shown == text {
            return Ok(());
        }
        ensure!(Instant::now() < until, "the buffer of {path:?} shows {shown:?} instead of {text:?}");
    }
}

fn neovim(folder: &Folder) -> Result<Editor> {
    let server = folder.beside("nvim");
    let mut command = Command::new("nvim");
    // So Neovim does not reload files by itself, and opening another file hides a buffer with changes.
    let usual =
        ["--headless", "-u", "NONE", "-i", "NONE", "-n", "--cmd", "set hidden noautoread", "--listen"];
    command.args(usual).arg(&server).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn()?;
    let ask = |server: &Path, wish: &Request| {
        let text = |text: &str| format!("json_decode('{}')", json!(text).to_string().replace('\'', "''"));
        let named = |path: &Path| text(&path.to_string_lossy());
        let buffer = |path: &Path| {
            format!("filter(range(1, bufnr('$')), {{_, b -> nvim_buf_get_name(b) == {}}})[0]", named(path))
        };
        let expression = match wish {
            Request::Open(path) => format!("execute('edit ' . fnameescape({}))", named(path)),
            Request::Type(path, new) => format!("setbufline({}, 1, {})", buffer(path), text(new)),
            Request::Show(path) => format!("json_encode(join(getbufline({}, 1, '$'), ''))", buffer(path)),
        };
        let mut command = Command::new("nvim");
        command.args(["--headless", "-u", "NONE", "-i", "NONE", "--server"]).arg(server);
        command.arg("--remote-expr").arg(expression);
        command
    };
    listening(Editor { child, server, ask })
}

fn emacs(folder: &Folder) -> Result<Editor> {
    // Emacs only listens at a socket in a private folder.
    let runtime = folder.beside("run");
    fs::DirBuilder::new().mode(0o700).create(&runtime)?;
    let server = runtime.join("emacs/emend");
    let mut command = Command::new("emacs");
    command.args(["--quick", "--fg-daemon=emend"]).env("XDG_RUNTIME_DIR", runtime);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn()?;
    let ask = |server: &Path, wish: &Request| {
        let named = |path: &Path| lisp(&path.to_string_lossy());
        let expression = match wish {
            Request::Open(path) => format!("(progn (find-file-noselect {}) nil)", named(path)),
            Request::Type(path, new) => {
                format!(
                    "(with-current-buffer (get-file-buffer {}) (erase-buffer) (insert {}) nil)",
                    named(path),
                    lisp(new)
                )
            }
            Request::Show(path) => format!(
                "(with-current-buffer (get-file-buffer {}) (replace-regexp-in-string \"\\n\" \"\" (buffer-string)))",
                named(path)
            ),
        };
        let mut command = Command::new("emacsclient");
        command.arg("--socket-name").arg(server).args(["--alternate-editor=false", "--eval"]).arg(expression);
        command
    };
    listening(Editor { child, server, ask })
}

/// A string literal in Emacs Lisp.
fn lisp(text: &str) -> String {
    let escaped = text.chars().map(|char| format!("\\U{:08x}", u32::from(char)));
    format!("\"{}\"", escaped.collect::<String>())
}

/// Waits until the editor accepts requests. Its socket exists a moment before it listens.
fn listening(mut editor: Editor) -> Result<Editor> {
    let until = Instant::now() + PATIENCE;
    while UnixStream::connect(&editor.server).is_err() {
        ensure!(editor.child.try_wait()?.is_none(), "it has ended");
        ensure!(Instant::now() < until, "it does not listen");
        thread::yield_now();
    }
    Ok(editor)
}
