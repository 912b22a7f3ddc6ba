//! The configuration of a team's server: the file, and the files that it names, read and checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};

use emend_oauth::{
    Authorities, AuthoritySettings, Introspection, Secret, SignInClient, SignInSettings, split_address,
};
use emend_server::http::Tokens;
use emend_server::http::tls::ReadCertificate;
use emend_team::{Folders, TeamSettings, TenantName};

use crate::http;

/// What was read, which can be used as it is.
pub(crate) struct Configuration {
    pub(crate) settings: TeamSettings,
    /// The static tokens, if there are any.
    pub(crate) tokens: Option<Tokens>,
    /// The authorities. Those whose settings have not changed keep what they know.
    pub(crate) authorities: Option<Arc<Authorities>>,
    authority_settings: Vec<AuthoritySettings>,
    /// How people sign in with an authority to review edits, if they do.
    pub(crate) sign_in: Option<Arc<SignInClient>>,
    /// The files that no tool may touch.
    pub(crate) files: Vec<PathBuf>,
}

/// A tenant, and what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    /// What tells it from every other one, those of other authorities among them.
    pub(crate) id: String,
    pub(crate) name: TenantName,
    pub(crate) folders: Folders,
    /// Whether its folders are made if they are not there.
    pub(crate) creates: bool,
    /// The repository of which its folder is made as a worktree.
    pub(crate) git: Option<PathBuf>,
}

impl Configuration {
    /// Reads the file and what it names. `tokens` is the file of tokens that the command line names, `before` what was read
    /// the last time.
    pub(crate) fn read(
        file: &Path,
        tokens: Option<&Path>,
        before: Option<&Self>,
    ) -> anyhow::Result<(Self, Option<ReadCertificate>)> {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
        let settings = TeamSettings::parse(&text).map_err(|why| anyhow!("{}, {why}", file.display()))?;
        ensure!(
            tokens.is_none() || settings.tokens.is_none(),
            "{}: tokens: --tokens (or EMEND_TOKENS) names a file, too",
            file.display()
        );
        let mut files = vec![file.to_owned()];
        let token_file = tokens.map(Path::to_owned).or_else(|| settings.tokens.clone());
        files.extend(token_file.clone());
        let tokens = token_file.map(|file| http::read(&file)).transpose()?;
        let mut authority_settings = Vec::new();
        for authority in &settings.authorities {
            files.extend(authority.client.iter().map(|(_, file)| file.clone()));
            authority_settings.push(known(authority)?);
        }
        let is_as_before = |before: &&Self| before.authority_settings == authority_settings;
        let authorities = match before.filter(is_as_before) {
            Some(before) => before.authorities.clone(),
            None if authority_settings.is_empty() => None,
            None => {
                let authorities = Authorities::new(authority_settings.clone());
                Some(Arc::new(authorities.map_err(|why| anyhow!("{}: authority: {why}", file.display()))?))
            }
        };
        let client = settings.review.as_ref().and_then(|review| review.client.as_ref());
        files.extend(client.and_then(|client| client.secret_file.clone()));
        let sign_in = sign_in(&settings).with_context(|| format!("{}: review", file.display()))?;
        // One whose settings have not changed keeps what it knows.
        let known = before.and_then(|before| before.sign_in.clone());
        let is_as_before =
            known.as_ref().map(|known| known.settings()) == sign_in.as_ref().map(SignInClient::settings);
        let sign_in = if is_as_before { known } else { sign_in.map(Arc::new) };
        if authorities.is_none() && tokens.is_none() {
            bail!("{}: nobody could call: it names no authority and no tokens", file.display());
        }
        let certificate = settings.tls.as_ref().map(certificate).transpose()?;
        files.extend(settings.replicas.iter().filter_map(|replicas| replicas.password_file.clone()));
        if let Some(tls) = &settings.tls {
            files.extend([tls.certificate.clone(), tls.key.clone()]);
        }
        let configuration = Self { settings, tokens, authorities, authority_settings, sign_in, files };
        configuration.check_tokens().with_context(|| file.display().to_string())?;
        Ok((configuration, certificate))
    }

    /// Returns the origin at which browsers reach the review page, if there is one.
    pub(crate) fn review_origin(&self) -> Option<String> {
        self.settings.review.as_ref()?;
        self.settings.resource.as_deref().map(origin_of)
    }

    /// Returns the address of the review page, if there is one.
    pub(super) fn review_page(&self) -> Option<String> {
        Some(self.review_origin()? + "/review")
    }

    /// Returns the keys of those who have a static token, each with the tenant, and what tells their tokens apart.
    pub(super) fn bearers(&self) -> BTreeMap<(String, Option<String>), String> {
        let all = self.tokens.iter().flat_map(Tokens::fingerprints);
        all.map(|(bearer, print)| ((bearer.key.clone(), bearer.tenant.clone()), print)).collect()
    }

    /// Refuses tokens of tenants that are not there.
    fn check_tokens(&self) -> anyhow::Result<()> {
        for bearer in self.tokens.iter().flat_map(Tokens::bearers) {
            match &bearer.tenant {
                Some(tenant) if self.named(tenant).is_none() => {
                    bail!("the token of '{}' is for the tenant '{tenant}', which is not there", bearer.name)
                }
                None if self.settings.has_tenants() => {
                    bail!("the token of '{}' needs a tenant: tenant=NAME behind it", bearer.name)
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the tenant of this name that a static token may name.
    pub(crate) fn named(&self, name: &str) -> Option<Tenant> {
        let found = self.settings.tenants.iter().find(|tenant| tenant.name.as_str() == name)?;
        let (name, folders) = (found.name.clone(), found.folders.clone());
        Some(Tenant { id: name.to_string(), name, folders, creates: false, git: None })
    }

    /// Returns the tenant that a token of this authority names, if it may.
    pub(crate) fn claimed(&self, issuer: &str, claim: &str) -> Option<Tenant> {
        let name = TenantName::parse(claim)?;
        let named = self.settings.tenants.iter().find(|tenant| tenant.name == name);
        if let Some(tenant) = named {
            // A name that another authority gives is another tenant's.
            return self.named(claim).filter(|_| tenant.authority.as_deref() == Some(issuer));
        }
        let template = self.settings.templates.iter().find(|template| template.authority == issuer)?;
        // No name of a tenant has a slash, so this is the id of none.
        let (id, folders) = (format!("{name}@{issuer}"), template.folders(&name));
        Some(Tenant { id, name, folders, creates: template.creates, git: template.git.clone() })
    }

    /// Returns the tenant with this id.
    pub(crate) fn with_id(&self, id: &str) -> Option<Tenant> {
        // The name of a tenant may have an @, and neither it nor an issuer before its scheme has ://.
        match id.find("://").and_then(|scheme| id[..scheme].rfind('@')) {
            Some(at) => self.claimed(&id[at + 1..], &id[..at]).filter(|tenant| tenant.id == id),
            None => self.named(id),
        }
    }
}

/// Returns the origin of an address as browsers write it.
fn origin_of(address: &str) -> String {
    let origin = split_address(address).0.to_ascii_lowercase();
    let usual = if origin.starts_with("https://") { ":443" } else { ":80" };
    origin.strip_suffix(usual).unwrap_or(&origin).to_owned()
}

/// Returns how people sign in with an authority to review edits, if they do.
fn sign_in(settings: &TeamSettings) -> anyhow::Result<Option<SignInClient>> {
    let client = settings.review.as_ref().and_then(|review| review.client.as_ref());
    let (Some(client), Some(resource)) = (client, &settings.resource) else { return Ok(None) };
    let settings = SignInSettings {
        issuer: client.issuer.clone(),
        client: client.name.clone(),
        secret: client.secret_file.as_deref().map(secret).transpose()?,
        redirect: format!("{}/review/signed-in", origin_of(resource)),
        resource: resource.clone(),
        scopes: client.scopes.clone(),
    };
    SignInClient::new(settings).map(Some).map_err(|why| anyhow!("{why}"))
}

/// Reads a secret from its file.
fn secret(file: &Path) -> anyhow::Result<Secret> {
    let text = http::read_secret(file)
        .with_context(|| format!("the secret in {} cannot be read", file.display()))?;
    ensure!(!text.trim().is_empty(), "there is no secret in {}", file.display());
    Ok(Secret(text.trim().to_owned()))
}

/// Returns the settings of an authority, with its secret.
fn known(said: &emend_team::AuthoritySettings) -> anyhow::Result<AuthoritySettings> {
    let introspection = match &said.client {
        Some((client, file)) => Some(Introspection {
            endpoint: said.introspection.clone(),
            client: client.clone(),
            secret: secret(file)?,
        }),
        None => None,
    };
    Ok(AuthoritySettings {
        issuer: said.issuer.clone(),
        audiences: said.audiences.clone(),
        algorithms: said.algorithms.clone(),
        types: said.types.clone(),
        keys: said.keys.clone(),
        leeway: Duration::from_secs(said.leeway),
        introspection,
    })
}

fn certificate(tls: &emend_team::Tls) -> anyhow::Result<ReadCertificate> {
    let read =
        |file: &Path| std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()));
    let key = http::read_secret(&tls.key).with_context(|| format!("{} cannot be read", tls.key.display()))?;
    ReadCertificate::from_pem(&read(&tls.certificate)?, key.as_bytes())
        .map_err(|why| anyhow!("tls: {}: {why}", tls.certificate.display()))
}
