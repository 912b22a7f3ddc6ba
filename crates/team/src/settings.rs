//! What a file says, checked as a whole.

use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};

use crate::file::{self, Tables, Values};
use crate::review_settings::{ReviewSettings, review};
use crate::tenant_name::TenantName;

/// What stands for the name of a tenant in a template.
const TENANT: &str = "{tenant}";

/// The settings of a team's server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamSettings {
    /// The address of the MCP endpoint as clients have it.
    pub resource: Option<String>,
    /// The file of static tokens.
    pub tokens: Option<PathBuf>,
    /// The address for Prometheus.
    pub metrics: Option<SocketAddr>,
    /// The certificate, if the server speaks TLS itself.
    pub tls: Option<Tls>,
    /// The other servers, if there are several.
    pub replicas: Option<ReplicaSettings>,
    /// The review page, if there is one.
    pub review: Option<ReviewSettings>,
    /// The authorities whose tokens are taken.
    pub authorities: Vec<AuthoritySettings>,
    /// The tenants that are named.
    pub tenants: Vec<TenantSettings>,
    /// The other tenants of authorities.
    pub templates: Vec<Template>,
}

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// The file with the certificate and those above it.
    pub certificate: PathBuf,
    /// The file with its key.
    pub key: PathBuf,
}

/// Several servers that serve the same tenants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplicaSettings {
    /// The address of the engine.
    pub engine: String,
    /// The file with its password.
    pub password_file: Option<PathBuf>,
    /// Where others reach this server; as the environment says if it is not here.
    pub address: Option<String>,
    /// The seconds of a lease.
    pub lease_seconds: u64,
    /// What the names of keys begin with.
    pub prefix: String,
    /// How many events of each tenant the engine keeps; with 0 it gets none.
    pub events_kept: u64,
}

/// An authority whose tokens are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthoritySettings {
    /// Its name, as its tokens have it.
    pub issuer: String,
    /// The audiences for which its tokens are taken.
    pub audiences: Vec<String>,
    /// The algorithms that are taken; all if there is none.
    pub algorithms: Vec<String>,
    /// The types of its access tokens.
    pub types: Vec<String>,
    /// Where its keys are.
    pub keys: Option<String>,
    /// How many seconds its clock may differ.
    pub leeway: u64,
    /// The claim that names the tenant.
    pub tenant_claim: String,
    /// The name of this server there, and the file with its secret.
    pub client: Option<(String, PathBuf)>,
    /// Where it is asked about tokens.
    pub introspection: Option<String>,
}

/// Folders, and what may be done in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The folders, each as `PATH` or `name=PATH`.
    pub workspace: Vec<String>,
    /// Whether nobody edits there.
    pub is_read_only: bool,
    /// The edits of a minute.
    pub edits_per_minute: Option<u64>,
    /// The bytes of a minute.
    pub bytes_per_minute: Option<u64>,
}

/// A tenant that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenantSettings {
    /// Its name.
    pub name: TenantName,
    /// The authority whose tokens may name it.
    pub authority: Option<String>,
    /// What it has.
    pub folders: Folders,
}

/// All other tenants of an authority.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// The authority whose tokens name them.
    pub authority: String,
    /// What each has, with [`Template::folders`].
    folders: Folders,
    /// Whether folders are made.
    pub creates: bool,
    /// The repository of which the folder is made as a worktree.
    pub git: Option<PathBuf>,
}

impl Template {
    /// Returns what the tenant of this name has.
    #[must_use]
    pub fn folders(&self, name: &TenantName) -> Folders {
        let filled = self.folders.workspace.iter().map(|folder| folder.replace(TENANT, name.as_str()));
        Folders { workspace: filled.collect(), ..self.folders.clone() }
    }
}

impl TeamSettings {
    /// Reads a file. The error says what is wrong, and in which line where one alone is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tables = file::parse(text)?;
        let above = tables.get("").and_then(|above| above.first()).cloned().unwrap_or_default();
        let metrics = above
            .text("metrics")
            .map(|address| address.parse().map_err(|_| format!("metrics: '{address}' is no ADDRESS:PORT")));
        let resource = above.text("resource");
        let authorities: Vec<_> =
            each(&tables, "authority", |values| authority(values, resource.as_deref()))?;
        let only = match &authorities[..] {
            [only] => Some(only.issuer.clone()),
            _ => None,
        };
        let issuers: Vec<&str> = authorities.iter().map(|authority| authority.issuer.as_str()).collect();
        let settings = Self {
            tokens: above.text("tokens").map(PathBuf::from),
            metrics: metrics.transpose()?,
            tls: each(&tables, "tls", tls)?.pop(),
            replicas: each(&tables, "replicas", replicas)?.pop(),
            review: each(&tables, "review", |values| review(values, resource.as_deref(), &issuers))?.pop(),
            tenants: each(&tables, "tenant", |values| tenant(values, &only))?,
            templates: each(&tables, "template", |values| template(values, &only))?,
            authorities,
            resource,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Returns whether principals belong to tenants.
    #[must_use]
    pub fn has_tenants(&self) -> bool {
        !self.tenants.is_empty() || !self.templates.is_empty()
    }

    fn check(&self) -> Result<(), String> {
        if self.replicas.is_some() && self.tls.is_some() {
            return Err(
                "replicas: servers call each other without TLS: have a proxy speak it, instead of [tls]"
                    .into(),
            );
        }
        if let Some(resource) = &self.resource {
            let is_plain = resource.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\?#".contains(&byte));
            let has_scheme = ["https://", "http://localhost", "http://127.0.0.1", "http://[::1]"];
            if !is_plain || !has_scheme.iter().any(|scheme| resource.starts_with(scheme)) {
                return Err("resource: it must be an address with https://, without a query".into());
            }
        }
        let issuers: Vec<&str> = self.authorities.iter().map(|authority| authority.issuer.as_str()).collect();
        let is_known = |issuer: &str| issuers.contains(&issuer);
        for (at, tenant) in self.tenants.iter().enumerate() {
            let name = &tenant.name;
            // On some systems, names that differ in case alone are the same folder.
            let folded = |name: &TenantName| name.as_str().to_ascii_lowercase();
            if self.tenants[..at].iter().any(|other| folded(&other.name) == folded(name)) {
                return Err(format!("tenant '{name}' is there twice"));
            }
            match &tenant.authority {
                Some(issuer) if !is_known(issuer) => {
                    return Err(format!("tenant '{name}': there is no authority {issuer}"));
                }
                None if issuers.len() > 1 => {
                    return Err(format!(
                        "tenant '{name}': it must say of which authority it is, since there are several"
                    ));
                }
                _ => {}
            }
        }
        for (at, template) in self.templates.iter().enumerate() {
            if !is_known(&template.authority) {
                return Err(format!("template: there is no authority {}", template.authority));
            }
            if self.templates[..at].iter().any(|other| other.authority == template.authority) {
                return Err(format!("template: there are two of {}", template.authority));
            }
        }
        self.check_apart()
    }

    /// Refuses folders that belong to two tenants. What links make of them is checked when they are opened.
    fn check_apart(&self) -> Result<(), String> {
        let of_tenants = self.tenants.iter().map(|tenant| (tenant.name.to_string(), &tenant.folders));
        let of_templates = self
            .templates
            .iter()
            .map(|template| (format!("those of {}", template.authority), &template.folders));
        // Of one repository, two tenants of the same name would have one branch.
        let mut seen: Vec<(String, PathBuf)> = Vec::new();
        for repository in self.templates.iter().filter_map(|template| template.git.as_ref()) {
            if let Some((_, other)) = seen.iter().find(|(_, other)| overlap(repository, other)) {
                return Err(format!("git: two templates have the repository {}", other.display()));
            }
            seen.push(("a repository of git's".to_owned(), repository.clone()));
        }
        for (whose, folders) in of_tenants.chain(of_templates) {
            for written in &folders.workspace {
                let path = PathBuf::from(
                    written.rsplit_once("=/").map_or(written.clone(), |(_, path)| format!("/{path}")),
                );
                let is_shared =
                    |(other, theirs): &&(String, PathBuf)| *other != whose && overlap(&path, theirs);
                if let Some((other, _)) = seen.iter().find(is_shared) {
                    return Err(format!(
                        "the folder {} would belong to {other} and to {whose}",
                        path.display()
                    ));
                }
                seen.push((whose.clone(), path));
            }
        }
        Ok(())
    }
}

/// Returns whether one of two folders may be within the other, for some tenant.
fn overlap(one: &Path, other: &Path) -> bool {
    let is_same = |(one, other): (Component<'_>, Component<'_>)| {
        one.as_os_str() == TENANT || other.as_os_str() == TENANT || one == other
    };
    one.components().zip(other.components()).all(is_same)
}

fn each<T>(
    tables: &Tables,
    name: &str,
    read: impl Fn(&Values) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let all = tables.get(name).into_iter().flatten();
    all.map(|values| read(values).map_err(|what| format!("line {}: {name}: {what}", values.line))).collect()
}

fn must(values: &Values, key: &str) -> Result<String, String> {
    values.text(key).ok_or_else(|| format!("it lacks '{key}'"))
}

fn tls(values: &Values) -> Result<Tls, String> {
    Ok(Tls { certificate: must(values, "certificate")?.into(), key: must(values, "key")?.into() })
}

fn replicas(values: &Values) -> Result<ReplicaSettings, String> {
    Ok(ReplicaSettings {
        engine: must(values, "engine")?,
        password_file: values.text("password_file").map(PathBuf::from),
        address: values.text("address"),
        lease_seconds: values.number("lease_seconds").unwrap_or(10),
        prefix: values.text("prefix").unwrap_or_else(|| "emend".into()),
        events_kept: values.number("events_kept").unwrap_or(1000),
    })
}

/// Returns an address as clients ask for tokens for it: of one without a path, some write the slash that stands for none.
fn as_clients_write(resource: &str) -> Vec<String> {
    let has_path = resource.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
    let mut forms = vec![resource.to_owned()];
    match resource.strip_suffix('/') {
        Some(origin) if origin.matches('/').count() == 2 => forms.push(origin.to_owned()),
        None if !has_path => forms.push(format!("{resource}/")),
        _ => {}
    }
    forms
}

fn authority(values: &Values, resource: Option<&str>) -> Result<AuthoritySettings, String> {
    let resource = resource.ok_or("'resource' must be set, for which tokens are issued")?;
    let client = match (values.text("client"), values.text("secret_file")) {
        (Some(client), Some(file)) => Some((client, PathBuf::from(file))),
        (None, None) if values.text("introspection").is_none() => None,
        _ => return Err("'client' and 'secret_file' go together, and 'introspection' needs both".into()),
    };
    Ok(AuthoritySettings {
        issuer: must(values, "issuer")?,
        audiences: values.texts("audience").unwrap_or_else(|| as_clients_write(resource)),
        algorithms: values.texts("algorithms").unwrap_or_default(),
        types: values.texts("types").unwrap_or_else(|| vec!["at+jwt".into()]),
        keys: values.text("keys"),
        leeway: values.number("leeway").unwrap_or(60),
        tenant_claim: values.text("tenant_claim").unwrap_or_else(|| "tenant".into()),
        client,
        introspection: values.text("introspection"),
    })
}

/// Returns whether this is a folder below the top, by a path that leads straight to it.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path.components().all(|part| !matches!(part, Component::ParentDir))
        && path.parent().is_some()
}

fn folders(values: &Values) -> Result<Folders, String> {
    let workspace = values.texts("workspace").unwrap_or_default();
    for folder in &workspace {
        let path = folder
            .split_once('=')
            .filter(|(name, _)| !name.contains('/'))
            .map_or(&**folder, |(_, path)| path);
        let path = Path::new(path);
        if !is_plain(path) {
            return Err(format!("workspace: '{folder}' must be an absolute path of a folder, without '..'"));
        }
    }
    Ok(Folders {
        workspace,
        is_read_only: values.truth("read_only"),
        edits_per_minute: values.number("edits_per_minute"),
        bytes_per_minute: values.number("bytes_per_minute"),
    })
}

fn tenant(values: &Values, only: &Option<String>) -> Result<TenantSettings, String> {
    let name = must(values, "name")?;
    let name = TenantName::parse(&name).ok_or_else(|| format!("'{name}' cannot be the name of a tenant"))?;
    let folders = folders(values)?;
    if folders.workspace.iter().any(|folder| folder.contains(['{', '}'])) {
        return Err("workspace: only a template has {tenant} in it".into());
    }
    Ok(TenantSettings { name, authority: values.text("authority").or_else(|| only.clone()), folders })
}

fn template(values: &Values, only: &Option<String>) -> Result<Template, String> {
    let authority = values.text("authority").or_else(|| only.clone());
    let authority = authority.ok_or(
        "it must say of which authority it is, whose tokens name tenants: static tokens reach a [[tenant]] alone",
    )?;
    let folders = folders(values)?;
    for folder in &folders.workspace {
        let is_last = folder
            .strip_suffix(TENANT)
            .is_some_and(|before| before.ends_with('/') && !before.contains(['{', '}']));
        if !is_last {
            return Err(format!("workspace: '{folder}' must end in /{{tenant}}"));
        }
    }
    let git = values.text("git").map(PathBuf::from);
    if let Some(git) = &git {
        is_plain(git)
            .then_some(())
            .ok_or("git: it must be an absolute path of a repository, without '..'")?;
        if folders.workspace.len() != 1 {
            return Err("git: the template needs exactly one folder in 'workspace'".into());
        }
    }
    Ok(Template { authority, folders, creates: values.truth("create"), git })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
resource = "https://files.example.com/mcp"
tokens = "/etc/emend/tokens"
metrics = "127.0.0.1:9464"

[tls]
certificate = "/etc/emend/cert.pem"
key = "/etc/emend/key.pem"

[[authority]]
issuer = "https://id.example.com"
types = ["at+jwt", "JWT"]
leeway = 30
client = "emend"
secret_file = "/run/secrets/emend"

[[tenant]]
name = "red"
workspace = ["/srv/red", "docs=/srv/red-docs"]
edits_per_minute = 60

[[template]]
workspace = "/srv/ws/{tenant}"
create = true
git = "/srv/repos/project.git"
read_only = true
"#;

    #[test]
    fn an_address_without_a_path_may_be_asked_for_with_a_slash() {
        let [with, without] = ["https://files.example/", "https://files.example"].map(str::to_owned);
        assert_eq!(as_clients_write(&without), [without.clone(), with.clone()]);
        assert_eq!(as_clients_write(&with), [with, without]);
        for whole in ["https://files.example/mcp", "https://files.example/mcp/"] {
            assert_eq!(as_clients_write(whole), [whole]);
        }
    }

    #[test]
    fn everything_that_is_declared_is_read() {
        let all = TeamSettings::parse(WHOLE).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(all.authorities[0].audiences, ["https://files.example.com/mcp"]);
        assert_eq!((all.authorities[0].leeway, all.authorities[0].types.len()), (30, 2));
        assert_eq!(all.tenants[0].authority.as_deref(), Some("https://id.example.com"));
        assert_eq!(all.tenants[0].folders.edits_per_minute, Some(60));
        let name = TenantName::parse("blue").unwrap_or_else(|| panic!("it is a name"));
        let folders = all.templates[0].folders(&name);
        assert_eq!((folders.workspace, folders.is_read_only), (vec!["/srv/ws/blue".to_owned()], true));
        assert!(all.templates[0].creates && all.has_tenants());
        assert_eq!(all.templates[0].git.as_deref(), Some(Path::new("/srv/repos/project.git")));
        assert_eq!(TeamSettings::parse(""), Ok(TeamSettings::default()));
    }

    #[test]
    fn several_servers_need_an_engine_and_no_certificate() {
        let text = "[replicas]\nengine = \"redis://10.0.0.5:6379\"\nlease_seconds = 2\n";
        let all = TeamSettings::parse(text).unwrap_or_else(|why| panic!("{why}"));
        let replicas = all.replicas.unwrap_or_else(|| panic!("they are there"));
        assert_eq!((replicas.engine.as_str(), replicas.lease_seconds), ("redis://10.0.0.5:6379", 2));
        assert_eq!((replicas.prefix.as_str(), replicas.address), ("emend", None));
        assert_eq!(replicas.events_kept, 1000);
        let with_tls = format!("{text}[tls]\ncertificate = \"/a\"\nkey = \"/b\"\n");
        for (text, said) in [
            ("[replicas]\nlease_seconds = 5\n", "replicas lacks 'engine'"),
            (&*text.replace("= 2", "= 1"), "lease_seconds: it must be a whole number from 2 to 20"),
            (&*with_tls, "instead of [tls]"),
        ] {
            let error = TeamSettings::parse(text).expect_err(text);
            assert!(error.contains(said), "{said}: {error}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let other = "\n[[authority]]\nissuer = \"https://other.example\"\n";
        for (text, said) in [
            ("x = 1".to_owned(), "line 1: there is no setting 'x'"),
            ("tls = 1".to_owned(), "line 1: 'tls' is a table"),
            ("metrics = \"x\"".to_owned(), "metrics: 'x'"),
            ("\n[tls]\nkey = \"/a\"".to_owned(), "line 2: tls lacks 'certificate'"),
            (WHOLE.replace("leeway = 30", "leeway = 301"), "leeway: it must be a whole number"),
            (WHOLE.replace("leeway = 30", "lee = 30"), "authority has no 'lee'"),
            (WHOLE.replace("https://files", "http://files"), "resource: "),
            (WHOLE.replace("resource", "# "), "'resource' must be set"),
            (WHOLE.replace("secret_file", "# "), "go together"),
            (WHOLE.replace("\"red\"", "\"../red\""), "cannot be the name"),
            (WHOLE.replace("\"/srv/red\"", "\"srv/red\""), "absolute"),
            (WHOLE.replace("\"/srv/red\"", "\"/srv/../red\""), "absolute"),
            (WHOLE.replace("\"/srv/red\"", "\"/\""), "absolute"),
            (WHOLE.replace("\"/srv/red\"", "\"/srv/{tenant}\""), "only a template"),
            (WHOLE.replace("/srv/ws/{tenant}", "/srv/ws"), "must end in"),
            (WHOLE.replace("/srv/ws/{tenant}", "/srv/ws-{tenant}"), "must end in"),
            (WHOLE.replace("/srv/ws/{tenant}", "/srv/{tenant}/x"), "must end in"),
            (WHOLE.replace("/srv/ws/{tenant}", "/srv/{tenant}"), "would belong"),
            (WHOLE.replace("/srv/red-docs", "/srv/ws/red"), "would belong"),
            (WHOLE.replace("/srv/repos/project.git", "project.git"), "git: it must be an absolute path"),
            (WHOLE.replace("/srv/repos/project.git", "/srv/repos/../x"), "git: it must be an absolute path"),
            (WHOLE.replace("/srv/repos/project.git", "/srv/ws/project.git"), "would belong"),
            (WHOLE.replace("/srv/repos/project.git", "/srv/ws"), "would belong"),
            (WHOLE.replace("/srv/repos/project.git", "/srv/red/project.git"), "would belong"),
            (
                WHOLE.replace("\"/srv/ws/{tenant}\"", "[\"/srv/ws/{tenant}\", \"x=/srv/x/{tenant}\"]"),
                "exactly one folder",
            ),
            (WHOLE.to_owned() + other, "of which authority it is"),
            (WHOLE.to_owned() + "\n[[tenant]]\nname = \"RED\"\nworkspace = \"/srv/other\"\n", "there twice"),
            (WHOLE.to_owned() + "\n[[tenant]]\nname = \"b\"\nworkspace = \"/srv/red/in\"\n", "would belong"),
            (WHOLE.to_owned() + "\n[[template]]\nworkspace = \"/srv/other/{tenant}\"\n", "there are two"),
        ] {
            let error = TeamSettings::parse(&text).expect_err(&text);
            assert!(error.contains(said), "{said}: {error}");
        }
    }

    #[test]
    fn every_setting_of_the_reference_is_read_and_none_else() {
        let reference = crate::reference();
        for table in crate::declaration::TABLES {
            for key in table.keys {
                assert!(reference.contains(&format!("| `{}` |", key.name)), "{}", key.name);
            }
        }
        // Each one that is declared is asked for somewhere here.
        let code = [include_str!("settings.rs"), include_str!("review_settings.rs")].concat();
        for key in crate::declaration::TABLES.iter().flat_map(|table| table.keys) {
            assert!(code.contains(&format!("\"{}\"", key.name)), "{} is declared and never read", key.name);
        }
    }
}
