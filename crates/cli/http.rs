//! `emend serve --http`: the address and the tokens.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::net::{TcpListener, TcpSocket};

use emend_server::Emend;
use emend_server::http::{ENDPOINT, HostGuard, HttpServer, Limits, Tokens};

/// The name of the generated token, used where no file has any.
const OWN_TOKEN: &str = "http";
/// The environment variable with the file of tokens, for when no flag names it.
const VARIABLE: &str = "EMEND_TOKENS";

#[derive(clap::Args)]
#[command(next_help_heading = "HTTP")]
#[group(id = "http-flags")]
pub(crate) struct Flags {
    /// Serve Streamable HTTP here instead of standard input and output: ADDRESS:PORT, or a PORT of this machine, or
    /// unix:PATH for a proxy on this machine. Port 0 is any that is free.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<Address>,

    /// The bearer tokens that are taken: a file with a name and its token on each line. Without it, or EMEND_TOKENS
    /// in the environment, one is made and shown once.
    #[arg(long, value_name = "FILE", requires = "http")]
    tokens: Option<PathBuf>,

    /// The settings of a team's server: authorities, tenants, TLS. Read again on SIGHUP. Only in a build with the feature
    /// team, as releases have it.
    #[arg(long, value_name = "FILE", requires = "http")]
    team: Option<PathBuf>,

    /// Another name under which the server is spoken to (NAME or NAME:PORT). May be given several times.
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    hosts: Vec<String>,

    /// An origin whose pages may call the server (https://NAME). May be given several times.
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,

    /// Say where the server listens, and its new token, as one line of JSON.
    #[arg(long, requires = "http")]
    json: bool,
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    Port(SocketAddr),
    /// A socket in the file system.
    #[cfg(unix)]
    Socket(PathBuf),
}

/// An address that is taken.
pub(crate) enum Bound {
    Port(TcpListener),
    #[cfg(unix)]
    Socket(UnixListener, SocketFile),
}

/// The file of a socket, which goes when the server ends.
#[cfg(unix)]
pub(crate) struct SocketFile(PathBuf);

#[cfg(unix)]
impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A server whose address is taken before any other work.
pub(crate) struct Listening {
    pub(crate) bound: Bound,
    pub(crate) guard: HostGuard,
    url: String,
}

impl Flags {
    /// Whether to serve HTTP.
    pub(crate) fn is_wanted(&self) -> bool {
        self.http.is_some()
    }

    /// The file with the settings of a team's server, if one is named.
    pub(crate) fn team_file(&self) -> Option<&Path> {
        self.team.as_deref()
    }

    /// The file of tokens, if one is named.
    pub(crate) fn tokens_file(&self) -> Option<PathBuf> {
        // clap's `env` would demand --http from everybody who has set the variable.
        let of_variable = || std::env::var_os(VARIABLE).filter(|file| !file.is_empty()).map(PathBuf::from);
        self.tokens.clone().or_else(of_variable)
    }

    /// Binds the address, if one is given. TLS is spoken there or not. `other_name` is another address by which it is called.
    pub(crate) async fn listen(
        &self,
        is_encrypted: bool,
        other_name: Option<&str>,
    ) -> anyhow::Result<Option<Listening>> {
        let Some(address) = &self.http else { return Ok(None) };
        let mut hosts = self.hosts.clone();
        hosts.extend(other_name.map(str::to_owned));
        let (bound, url) = match address {
            Address::Port(address) => {
                let listener =
                    listener(*address).with_context(|| format!("{address} cannot be listened at"))?;
                let address = listener.local_addr()?;
                if address.ip().is_unspecified() {
                    if hosts.is_empty() {
                        tracing::warn!(
                            "others on the network can only call this server by the names of --allow-host"
                        );
                    }
                } else {
                    hosts.push(SocketAddr::new(address.ip(), address.port()).to_string());
                }
                if !address.ip().is_loopback() && !is_encrypted {
                    tracing::warn!(
                        "tokens and files cross the network unencrypted; put a TLS proxy in front"
                    );
                }
                let scheme = if is_encrypted { "https" } else { "http" };
                (Bound::Port(listener), format!("{scheme}://{address}{ENDPOINT}"))
            }
            #[cfg(unix)]
            Address::Socket(path) => {
                let (listener, file) =
                    socket(path).with_context(|| format!("{} cannot be listened at", path.display()))?;
                (Bound::Socket(listener, file), format!("unix:{}", path.display()))
            }
        };
        let guard = HostGuard::new(&hosts, &self.origins).map_err(|wrong| anyhow!("{wrong}"))?;
        Ok(Some(Listening { bound, guard, url }))
    }

    /// The tokens of the file, or a new one, with its text.
    pub(crate) fn tokens(&self) -> anyhow::Result<(Tokens, Option<String>)> {
        match self.tokens_file() {
            Some(file) => Ok((read(&file)?, None)),
            None => {
                let (tokens, text) = Tokens::generate(OWN_TOKEN).map_err(|why| anyhow!("{why}"))?;
                Ok((tokens, Some(text)))
            }
        }
    }

    /// Prints the address and a new token. Standard output is free for this, since HTTP does not use it.
    pub(crate) fn announce(&self, listening: &Listening, token: Option<&str>) -> anyhow::Result<()> {
        self.print(&listening.url, token).context("nobody can be told where the server listens")
    }

    fn print(&self, url: &str, token: Option<&str>) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            return writeln!(out, "{}", serde_json::json!({"url": url, "token": token}));
        }
        writeln!(out, "Emend listens at {url}")?;
        match token {
            Some(token) => writeln!(out, "Token (it is not shown again): {token}"),
            None => writeln!(out, "Whoever has a token that is taken here may edit."),
        }
    }
}

/// The listening socket. Its backlog is as large as the server's limit of connections: many clients at once soon fill
/// the usual 128, and Linux resets some of the connections beyond that.
pub(crate) fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Lets the next server bind the address as soon as this one has ended. On Windows it would mean something else.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(u32::try_from(Limits::default().connections).unwrap_or(u32::MAX))
}

/// A socket in the file system, for the user and the group of this process. One that nobody listens at any more goes first.
#[cfg(unix)]
fn socket(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};

    let is_socket = path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
    let is_left = || {
        let tried = std::os::unix::net::UnixStream::connect(path);
        tried.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    };
    if is_socket && is_left() {
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
    Ok((listener, SocketFile(path.to_owned())))
}

impl Listening {
    /// Serves clients that have one of these tokens.
    pub(crate) async fn serve(self, emend: Emend, tokens: Tokens, stop: impl Future<Output = ()>) {
        let is_recovered = emend.clone();
        let new_handler = move |principal: &_| Ok(emend.for_session_of(principal));
        let server = HttpServer::new(Arc::new(tokens), self.guard, Limits::default(), new_handler)
            .ready_when(move || !is_recovered.is_recovering());
        self.bound.serve(&server, stop).await;
    }
}

impl Bound {
    /// Serves here until it is told to stop.
    pub(crate) async fn serve(self, server: &HttpServer<Emend>, stop: impl Future<Output = ()>) {
        match self {
            Self::Port(listener) => server.serve(listener, stop).await,
            #[cfg(unix)]
            Self::Socket(listener, _file) => server.serve(listener, stop).await,
        }
    }
}

fn address(written: &str) -> Result<Address, String> {
    #[cfg(unix)]
    if let Some(path) = written.strip_prefix("unix:") {
        return match path {
            "" => Err("give the path of a socket: unix:/run/emend.sock".into()),
            path => Ok(Address::Socket(path.into())),
        };
    }
    port(written).map(Address::Port)
}

fn port(written: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = written.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let written =
        written.strip_prefix("localhost:").map_or(written.to_owned(), |port| format!("127.0.0.1:{port}"));
    written.parse().map_err(|_| "give ADDRESS:PORT, as 127.0.0.1:8080, or a port alone".into())
}

/// Reads the tokens from a file.
pub(crate) fn read(file: &Path) -> anyhow::Result<Tokens> {
    let text =
        read_secret(file).with_context(|| format!("the tokens in {} cannot be read", file.display()))?;
    Tokens::parse(&text).map_err(|wrong| anyhow!("{}, {wrong}", file.display()))
}

/// Reads a file that is a secret.
pub(crate) fn read_secret(file: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(file)?.permissions().mode();
        if mode & 0o022 != 0 {
            anyhow::bail!("others may write to {}: chmod go-w it", file.display());
        }
        if mode & 0o044 != 0 {
            tracing::warn!("others may read {}: chmod 600 it", file.display());
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for written in ["8080", "127.0.0.1:8080", "localhost:8080"] {
            assert_eq!(port(written).unwrap().to_string(), "127.0.0.1:8080");
        }
        assert_eq!(port("[::1]:0").unwrap().to_string(), "[::1]:0");
        for wrong in ["", "x", "127.0.0.1", ":8080", "70000", "example.org:80", "unix:"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
