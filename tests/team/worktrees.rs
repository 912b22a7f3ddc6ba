//! Folders of tenants that are worktrees, with the git of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use emend_testkit::{Folder, HttpServer};
use serde_json::json;

use super::{Issuer, client, launch, serve_tenants, write};

/// A repository with one commit, and a server whose template makes worktrees of it.
struct Scene {
    folder: Folder,
    issuer: Issuer,
}

/// Runs git as a person does.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]).args(arguments);
    let ran = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{arguments:?}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    said
}

impl Scene {
    fn new() -> Option<Self> {
        if Command::new("git").arg("--version").output().is_err() {
            println!("there is no git here: worktrees are not tested");
            return None;
        }
        let folder = Folder::with([("ws/x", ""), ("project/a.txt", "one\n"), ("project/in/b.txt", "one\n")]);
        let project = folder.at("project");
        git(&project, &["init", "--quiet", "--initial-branch=main"]);
        git(&project, &["add", "."]);
        git(&project, &["commit", "--quiet", "--message=first"]);
        Some(Self { folder, issuer: Issuer::start() })
    }

    fn settings(&self) -> String {
        format!(
            "{}\n[[template]]\nworkspace = \"{}/{{tenant}}\"\ngit = {:?}\n",
            self.issuer.settings(),
            self.folder.at("ws").display(),
            self.project(),
        )
    }

    fn project(&self) -> PathBuf {
        self.folder.at("project")
    }

    fn serve(&self) -> HttpServer {
        serve_tenants(&self.folder, &self.settings())
    }

    fn edit(&self, server: &HttpServer, tenant: &str, old: &str, new: &str) {
        client(server, &self.issuer.of_tenant("ann", tenant)).replace("a.txt", old, new).ok();
    }

    fn status(&self, server: &HttpServer, tenant: &str) -> u16 {
        let token = self.issuer.of_tenant("ann", tenant);
        client(server, &token).begin("tools/list", json!({})).finish().status
    }

    /// Returns the folders of the repository's worktrees, as git has them.
    fn worktrees(&self) -> Vec<String> {
        let list = git(&self.project(), &["worktree", "list", "--porcelain"]);
        let mut all: Vec<String> =
            list.lines().filter_map(|line| line.strip_prefix("worktree ")).map(str::to_owned).collect();
        all.sort();
        all
    }

    /// Returns the same for a repository that has only these besides its own.
    fn only(&self, tenants: &[&str]) -> Vec<String> {
        let own = [self.project()].into_iter();
        let all = own.chain(tenants.iter().map(|tenant| self.folder.at("ws").join(tenant)));
        all.map(|path| path.canonicalize().unwrap().to_str().unwrap().to_owned()).collect()
    }

    /// Returns the folders of what the repository knows of its worktrees.
    fn known(&self) -> Vec<PathBuf> {
        let known = std::fs::read_dir(self.project().join(".git/worktrees"));
        known.into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    }

    /// Returns what is beside the folders of the tenants.
    fn beside(&self, tenants: &[&str]) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.at("ws")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != "x" && !tenants.contains(&&**name)).collect()
    }
}

#[test]
fn each_tenant_has_a_worktree_on_a_branch_of_its_own() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    scene.edit(&server, "red", "one", "red");
    scene.edit(&server, "ann@example.com", "one", "ann");
    assert_eq!(scene.folder.text("ws/red/a.txt"), "red\n");
    assert_eq!(scene.folder.text("ws/red/in/b.txt"), "one\n");
    assert_eq!(scene.folder.text("project/a.txt"), "one\n");
    assert_eq!(scene.worktrees(), scene.only(&["ann@example.com", "red"]));
    let red = scene.folder.at("ws/red");
    assert_eq!(git(&red, &["status", "--short", "--branch"]), "## emend/red\n M a.txt\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&red).unwrap().permissions().mode() & 0o777, 0o700);
    }
    // What leads to the repository is git's own.
    let member = client(&server, &scene.issuer.of_tenant("ann", "red"));
    let pointer = scene.folder.text("ws/red/.git");
    for content in ["gitdir: /elsewhere\n", ""] {
        member.call("write_file", json!({"path": ".git", "content": content})).refused("path-forbidden");
    }
    member.call("delete_file", json!({"path": ".git"})).refused("path-forbidden");
    member.call("write_file", json!({"path": ".git/hooks/x", "content": "x"})).refused("path-forbidden");
    assert_eq!(scene.folder.text("ws/red/.git"), pointer);

    // Neither a new start nor a new commit changes what is there.
    git(&red, &["commit", "--quiet", "--all", "--message=second"]);
    drop(server);
    let server = scene.serve();
    scene.edit(&server, "red", "red", "more");
    // Whose folder was removed finds what was committed.
    drop(server);
    std::fs::remove_dir_all(&red).unwrap();
    let server = scene.serve();
    scene.edit(&server, "red", "red", "again");
    assert_eq!(scene.worktrees(), scene.only(&["ann@example.com", "red"]));
    assert!(scene.beside(&["red", "ann@example.com"]).is_empty());
}

#[test]
#[cfg(unix)]
fn nothing_of_the_repository_is_run() {
    use std::os::unix::fs::PermissionsExt;
    let Some(scene) = Scene::new() else { return };
    let (project, ran) = (scene.project(), scene.folder.beside("ran"));
    let script = format!("#!/bin/sh\necho \"$0\" >> {}\ncat\n", ran.display());
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "fsmonitor", "filter"] {
        let file = project.join(".git/hooks").join(hook);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    std::fs::write(project.join(".gitattributes"), "*.txt filter=some.odd\n*.bin filter=long\n").unwrap();
    std::fs::write(project.join("c.bin"), "binary\n").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["commit", "--quiet", "--message=second"]);
    let filter = project.join(".git/hooks/filter");
    for name in ["core.fsmonitor", "filter.some.odd.smudge", "filter.some.odd.clean", "filter.long.process"] {
        git(&project, &["config", name, filter.to_str().unwrap()]);
    }
    git(&project, &["config", "filter.long.required", "true"]);
    std::fs::remove_file(&ran).unwrap_or_default();

    // What holds in the new worktree alone cannot be turned off, nor a hook that newer gits have.
    let server = scene.serve();
    let more = project.join(".git/more");
    std::fs::write(&more, format!("[filter \"some.odd\"]\nprocess = {}\n", filter.display())).unwrap();
    let at = format!("includeIf.gitdir:{}/**.path", project.join(".git/worktrees").display());
    for (name, value) in [(&*at, more.to_str().unwrap()), ("hook.a.b.command", filter.to_str().unwrap())] {
        git(&project, &["config", name, value]);
        assert_eq!(scene.status(&server, "red"), 403, "{name}");
        assert!(scene.beside(&[]).is_empty() && !ran.exists());
        git(&project, &["config", "--unset", name]);
    }
    scene.edit(&server, "red", "one", "two");
    assert_eq!(scene.folder.text("ws/red/c.bin"), "binary\n");
    assert!(!ran.exists(), "{}", std::fs::read_to_string(ran).unwrap());
}

#[test]
fn a_name_that_is_no_branch_has_no_folder_and_nothing_is_left_of_what_fails() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    for tenant in ["a..b", "a.lock"] {
        assert_eq!(scene.status(&server, tenant), 403, "{tenant}");
    }
    // A branch that is in use elsewhere is not taken from there.
    git(&scene.project(), &["branch", "emend/red"]);
    git(&scene.project(), &["worktree", "add", "--quiet", "../elsewhere", "emend/red"]);
    let before = scene.worktrees();
    assert_eq!(scene.status(&server, "red"), 403);
    assert_eq!((scene.beside(&[]), scene.worktrees()), (Vec::new(), before));
    git(&scene.project(), &["worktree", "remove", "../elsewhere"]);
    scene.edit(&server, "red", "one", "two");
    // A repository that is no repository, though one is above it.
    std::fs::create_dir(scene.project().join("none")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("project/none", scene.folder.at("link")).unwrap();
    drop(server);
    for repository in ["project/none", "link"] {
        let settings = scene.settings().replace("project\"", &format!("{repository}\""));
        let server = serve_tenants(&scene.folder, &settings);
        assert_eq!(scene.status(&server, "blue"), 403, "{repository}");
        assert_eq!(scene.worktrees(), scene.only(&["red"]));
    }
}

#[test]
fn what_a_kill_has_left_is_cleared_away() {
    let Some(scene) = Scene::new() else { return };
    let ws = scene.folder.at("ws").canonicalize().unwrap();
    // While it was made: one that git knows, one that it does not, and one of a tenant whose name begins alike.
    git(&scene.project(), &["worktree", "add", "--quiet", "-b", "emend/red", "../ws/.red+1"]);
    std::fs::remove_file(ws.join(".red+1/a.txt")).unwrap();
    for name in [".red+2", ".red.+3"] {
        std::fs::create_dir(ws.join(name)).unwrap();
    }
    let server = scene.serve();
    scene.edit(&server, "red", "one", "two");
    assert_eq!(
        (scene.worktrees(), scene.beside(&["red"])),
        (scene.only(&["red"]), vec![".red.+3".to_owned()])
    );
    drop(server);

    // After the repository was told the place, and before it was put there.
    std::fs::rename(ws.join("red"), ws.join(".red+4")).unwrap();
    let server = scene.serve();
    scene.edit(&server, "red", "one", "three");
    assert_eq!((scene.worktrees(), scene.known().len()), (scene.only(&["red"]), 1));
    assert_eq!(scene.beside(&["red"]), [".red.+3"]);
    let (known, place) = (scene.known().remove(0), ws.join("red/.git"));
    assert_eq!(std::fs::read_to_string(known.join("gitdir")).unwrap(), format!("{}\n", place.display()));
    assert!(!known.join("gitdir.next").exists());
    git(&scene.project(), &["worktree", "prune", "--expire=now"]);
    assert_eq!(git(&ws.join("red"), &["status", "--short"]), " M a.txt\n");
}

#[test]
fn what_the_repository_knows_of_a_locked_worktree_stays() {
    let Some(scene) = Scene::new() else { return };
    let server = scene.serve();
    scene.edit(&server, "red", "one", "two");
    drop(server);
    // Its disk is away.
    let (red, away) = (scene.folder.at("ws/red"), scene.folder.at("away"));
    git(&scene.project(), &["worktree", "lock", red.to_str().unwrap()]);
    std::fs::rename(&red, &away).unwrap();
    let server = scene.serve();
    assert_eq!(scene.status(&server, "red"), 403);
    assert_eq!((scene.known().len(), scene.beside(&[])), (1, Vec::new()));
    std::fs::rename(&away, &red).unwrap();
    scene.edit(&server, "red", "two", "three");
    git(&scene.project(), &["worktree", "unlock", red.to_str().unwrap()]);
    assert_eq!(git(&red, &["status", "--short"]), " M a.txt\n");
}

#[test]
fn two_servers_make_it_once() {
    let Some(scene) = Scene::new() else { return };
    write(&scene.folder, &scene.settings());
    let servers = [(); 2].map(|()| HttpServer::start(&launch(&scene.folder)));
    // Each has the keys of the authority now, which it fetches once at a time.
    assert!(servers.iter().all(|server| scene.status(server, "a..b") == 403));
    std::thread::scope(|scope| {
        for server in servers.iter().cycle().take(6) {
            let scene = &scene;
            scope.spawn(move || {
                let member = client(server, &scene.issuer.of_tenant("ann", "red"));
                assert_eq!(member.read("a.txt").text.matches("one").count(), 1);
            });
        }
    });
    assert_eq!((scene.worktrees(), scene.beside(&["red"])), (scene.only(&["red"]), Vec::<String>::new()));
}
