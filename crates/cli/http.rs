//! `emend serve --http`: the address and the tokens.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use tokio::net::{TcpListener, TcpSocket};

use emend_server::Emend;
use emend_server::http::{ENDPOINT, HostGuard, Limits, Tokens};

/// The name of the generated token, used where no file has any.
const OWN_TOKEN: &str = "http";
/// The environment variable with the file of tokens, for when no flag names it.
const VARIABLE: &str = "EMEND_TOKENS";

#[derive(clap::Args)]
#[command(next_help_heading = "HTTP")]
#[group(id = "http-flags")]
pub(crate) struct Flags {
    /// Serve Streamable HTTP here instead of standard input and output: ADDRESS:PORT, or a PORT of this machine. Port 0
    /// is any that is free.
    #[arg(long, value_name = "ADDR", value_parser = address)]
    http: Option<SocketAddr>,

    /// The bearer tokens that are taken: a file with a name and its token on each line. Without it, or EMEND_TOKENS
    /// in the environment, one is made and shown once.
    #[arg(long, value_name = "FILE", requires = "http")]
    tokens: Option<PathBuf>,

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

/// A server that is ready to start: its arguments are checked and its address is taken.
pub(crate) struct Listening {
    listener: TcpListener,
    tokens: Tokens,
    guard: HostGuard,
}

impl Flags {
    /// Whether to serve HTTP.
    pub(crate) fn is_wanted(&self) -> bool {
        self.http.is_some()
    }

    /// The file of tokens, if one is named.
    pub(crate) fn tokens_file(&self) -> Option<PathBuf> {
        // clap's `env` would demand --http from everybody who has set the variable.
        let of_variable = || std::env::var_os(VARIABLE).filter(|file| !file.is_empty()).map(PathBuf::from);
        self.tokens.clone().or_else(of_variable)
    }

    /// Binds the address, if one is given, before any other work.
    pub(crate) async fn listen(&self) -> anyhow::Result<Option<Listening>> {
        let Some(address) = self.http else { return Ok(None) };
        let listener = listener(address).with_context(|| format!("{address} cannot be listened at"))?;
        let address = listener.local_addr()?;
        let mut hosts = self.hosts.clone();
        if address.ip().is_unspecified() {
            if hosts.is_empty() {
                tracing::warn!(
                    "others on the network can only call this server by the names of --allow-host"
                );
            }
        } else {
            hosts.push(SocketAddr::new(address.ip(), address.port()).to_string());
        }
        if !address.ip().is_loopback() {
            tracing::warn!("tokens and files cross the network unencrypted; put a TLS proxy in front");
        }
        let guard = HostGuard::new(&hosts, &self.origins).map_err(|wrong| anyhow!("{wrong}"))?;
        let (tokens, shown) = match self.tokens_file() {
            Some(file) => (read(&file)?, None),
            None => {
                let (tokens, text) = Tokens::generate(OWN_TOKEN).map_err(|why| anyhow!("{why}"))?;
                (tokens, Some(text))
            }
        };
        self.announce(address, shown.as_deref()).context("nobody can be told where the server listens")?;
        Ok(Some(Listening { listener, tokens, guard }))
    }

    /// Prints the address and a new token. Standard output is free for this, since HTTP does not use it.
    fn announce(&self, address: SocketAddr, token: Option<&str>) -> io::Result<()> {
        let (url, mut out) = (format!("http://{address}{ENDPOINT}"), io::stdout().lock());
        if self.json {
            return writeln!(out, "{}", serde_json::json!({"url": url, "token": token}));
        }
        writeln!(out, "Emend listens at {url}")?;
        match token {
            Some(token) => writeln!(out, "Token (it is not shown again): {token}"),
            None => writeln!(out, "Whoever has a token of the file may edit."),
        }
    }
}

/// The listening socket. Its backlog is as large as the server's limit of connections: many clients at once soon fill
/// the usual 128, and Linux resets some of the connections beyond that.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Lets the next server bind the address as soon as this one has ended. On Windows it would mean something else.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(u32::try_from(Limits::default().connections).unwrap_or(u32::MAX))
}

impl Listening {
    pub(crate) async fn serve(self, emend: Emend, stop: impl Future<Output = ()>) {
        let Self { listener, tokens, guard } = self;
        let handler = move |token: &_| emend.for_session_of(token);
        emend_server::serve_http(listener, tokens, guard, Limits::default(), handler, stop).await;
    }
}

fn address(written: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = written.parse::<u16>() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    let written =
        written.strip_prefix("localhost:").map_or(written.to_owned(), |port| format!("127.0.0.1:{port}"));
    written.parse().map_err(|_| "give ADDRESS:PORT, as 127.0.0.1:8080, or a port alone".into())
}

/// Reads the tokens from a file, which is a secret.
fn read(file: &Path) -> anyhow::Result<Tokens> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the tokens in {} cannot be read", file.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(file)?.permissions().mode();
        if mode & 0o022 != 0 {
            anyhow::bail!("others may write to the tokens in {}: chmod go-w it", file.display());
        }
        if mode & 0o044 != 0 {
            tracing::warn!("others may read the tokens in {}: chmod 600 it", file.display());
        }
    }
    Tokens::parse(&text).map_err(|wrong| anyhow!("{}, {wrong}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for written in ["8080", "127.0.0.1:8080", "localhost:8080"] {
            assert_eq!(address(written).unwrap().to_string(), "127.0.0.1:8080");
        }
        assert_eq!(address("[::1]:0").unwrap().to_string(), "[::1]:0");
        for wrong in ["", "x", "127.0.0.1", ":8080", "70000", "example.org:80"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
