//! The servers of one run, and what they need: the engine, the proxy, and a folder for each tenant.

use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::http::{Http, HttpServer};
use emend_testkit::{Folder, Launch};
use rustix::process::Pid;

use super::engine;
use crate::installed;

/// The clients of each tenant.
pub(super) const CLIENTS: usize = 3;
/// The seconds of a lease.
pub(super) const LEASE: u64 = 3;
/// The time for a program to be there.
const START: Duration = Duration::from_secs(20);

/// Returns whether this machine has the engine and the proxy.
pub(crate) fn has_programs() -> bool {
    ["redis-server", "haproxy"].into_iter().all(installed::is_there)
}

/// The servers, and what they need.
pub(crate) struct Cluster {
    pub(crate) folder: Folder,
    launch: Launch,
    pub(super) servers: emend_threads::Mutex<Vec<Option<HttpServer>>>,
    addresses: Vec<SocketAddr>,
    pub(super) engine: emend_threads::Mutex<Option<Running>>,
    pub(super) engine_port: u16,
    /// Where the clients call.
    pub(crate) proxy: SocketAddr,
    _proxy: Running,
}

/// A process that is killed in the end.
pub(super) struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Cluster {
    /// Starts so many servers and what they need. Each tenant has an empty folder of its name, and tokens for its clients.
    pub(crate) fn start(emend: &Path, tenants: &[&str], servers: usize) -> Result<Self> {
        let folder = Folder::new();
        let ports = free_ports(2 + servers)?;
        let (engine_port, proxy) = (ports[0], ports[1]);
        let mut settings = format!(
            "resource = \"http://127.0.0.1:{proxy}/mcp\"\ntokens = {:?}\n[review]\n[replicas]\nengine = \"redis://127.0.0.1:{engine_port}\"\nlease_seconds = {LEASE}\n\
             events_kept = 1_000_000\n",
            folder.beside("tokens")
        );
        let mut tokens = String::new();
        for tenant in tenants {
            fs::create_dir(folder.at(tenant))?;
            for number in 0..CLIENTS {
                tokens += &format!("{tenant}{number} {} tenant={tenant}\n", token_of(tenant, number));
            }
            settings += &format!("[[tenant]]\nname = \"{tenant}\"\nworkspace = {:?}\n", folder.at(tenant));
        }
        fs::write(folder.beside("tokens"), tokens)?;
        fs::write(folder.beside("team.toml"), settings)?;
        let engine = start_engine(engine_port)?;
        let launch = Launch::new(emend)
            .state(folder.state())
            .argument("--emit-event")
            .argument("--team")
            .argument(folder.beside("team.toml"))
            .argument("--allow-host")
            .argument(format!("127.0.0.1:{proxy}"));
        let addresses: Vec<SocketAddr> =
            ports[2..].iter().map(|port| ([127, 0, 0, 1], *port).into()).collect();
        let config = proxy_config(proxy, &addresses);
        fs::write(folder.beside("haproxy.cfg"), config)?;
        let mut start = Command::new("haproxy");
        start
            .arg("-db")
            .arg("-f")
            .arg(folder.beside("haproxy.cfg"))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let cluster = Self {
            launch,
            servers: emend_threads::Mutex::new(Vec::new()),
            engine: emend_threads::Mutex::new(Some(engine)),
            engine_port,
            proxy: ([127, 0, 0, 1], proxy).into(),
            _proxy: Running(start.spawn().context("haproxy cannot be started")?),
            folder,
            addresses,
        };
        for number in 0..cluster.addresses.len() {
            let server = cluster.server(number);
            cluster.servers.lock().push(Some(server));
        }
        wait_for(cluster.proxy)?;
        Ok(cluster)
    }

    /// Starts one of the servers.
    pub(super) fn server(&self, number: usize) -> HttpServer {
        let address = self.addresses[number].to_string();
        HttpServer::start_at(&self.launch.clone().variable("EMEND_REPLICA_ADDRESS", &address), &address)
    }

    /// Returns the token of a client of a tenant. There are fewer tokens than there may be clients.
    pub(crate) fn token(&self, tenant: &str, number: usize) -> String {
        token_of(tenant, number % CLIENTS)
    }

    /// Returns a client of a tenant, which calls the proxy.
    pub(super) fn client(&self, tenant: &str, number: usize) -> Http {
        Http::new(self.proxy, &self.token(tenant, number)).called(&format!("client {number}"))
    }

    /// Starts the engine again, without anything of what it had.
    pub(super) fn start_engine(&self) -> Result<()> {
        *self.engine.lock() = Some(start_engine(self.engine_port)?);
        Ok(())
    }

    /// Asks the engine which server serves a tenant.
    pub(super) fn holder(&self, tenant: &str) -> Result<(usize, Pid)> {
        let until = Instant::now() + START;
        loop {
            if let Some(address) = engine::lease(self.engine_port, tenant)?
                && let Some(number) = self.addresses.iter().position(|known| *known == address)
                && let Some(server) = &self.servers.lock()[number]
            {
                let process = i32::try_from(server.process()).ok().and_then(Pid::from_raw);
                return Ok((number, process.context("a process has an id")?));
            }
            ensure!(Instant::now() < until, "nobody serves {tenant}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Returns the token of a client.
pub(crate) fn token_of(tenant: &str, number: usize) -> String {
    format!("{tenant}-{number}-0123456789abcdef0123456789abcdef")
}

fn free_ports(count: usize) -> Result<Vec<u16>> {
    let taken: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<std::io::Result<_>>()?;
    taken.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

fn start_engine(port: u16) -> Result<Running> {
    let mut start = Command::new("redis-server");
    start.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
    start.current_dir(std::env::temp_dir()).stdout(Stdio::null());
    let engine = Running(start.spawn().context("redis-server cannot be started")?);
    wait_for(([127, 0, 0, 1], port).into())?;
    Ok(engine)
}

fn wait_for(address: SocketAddr) -> Result<()> {
    let until = Instant::now() + START;
    while TcpStream::connect(address).is_err() {
        ensure!(Instant::now() < until, "nothing listens at {address}");
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn proxy_config(port: u16, servers: &[SocketAddr]) -> String {
    let servers: String = servers
        .iter()
        .enumerate()
        .map(|(number, address)| {
            format!("    server emend{number} {address} check inter 500ms fall 2 rise 1\n")
        })
        .collect();
    format!(
        "defaults\n    mode http\n    timeout connect 2s\n    timeout client 1h\n    timeout server 1h\n    timeout check 500ms\n\
         \x20   retries 3\n    option redispatch\nfrontend mcp\n    bind 127.0.0.1:{port}\n    default_backend emend\n\
         backend emend\n    balance roundrobin\n    option httpchk GET /readyz\n    default-server on-marked-down shutdown-sessions\n{servers}"
    )
}
