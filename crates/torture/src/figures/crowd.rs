//! A server for a team under load. Two hundred tenants with a thousand sessions edit at the pace of agents, first alone and
//! then beside one tenant that floods the server: none of the others may be starved, no edit lost, and memory and handles stay
//! bounded. And a table for docs/TEAM.md: how edits per second and their durations grow with clients and with servers.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Folder, HttpServer, Launch};

use super::http::{self, Connection, Era};
use super::machine::memory_of;
use super::sample;
use super::stdio::str_replace;
use super::times::{Editor, Times, beside};
use crate::replicas::{Cluster, has_programs, token_of};

/// The tenants of the one server, and the sessions of each.
const TENANTS: usize = 200;
const SESSIONS: usize = 5;
/// How often each session edits, as an agent that thinks in between does.
const PACE: Duration = Duration::from_secs(8);
/// The threads that share the sessions.
const THREADS: usize = 40;
/// The clients of the tenant that floods: a token has 16 connections, and its sessions have the rest.
const FLOOD: usize = 16 - SESSIONS;
/// The shortest time in which every session edits more than once, alone and beside the flood.
pub(crate) const SHORTEST: Duration = Duration::from_secs(32);
/// The time for 99 % of the edits of tenants that do not flood.
const LONGEST_MS: f64 = 1_000.0;
/// The limits for the server's memory, in MB, and how much of that the second half of the flood may add.
const MEMORY: f64 = 400.0;
const GROWTH: f64 = 48.0;
/// The handles of each open workspace, at most, besides those of connections.
const HANDLES: usize = 12;

/// The numbers of clients and of servers in the table, and the time for each of its rows.
const CLIENTS: [usize; 4] = [1, 8, 64, 192];
const SERVERS: [usize; 3] = [1, 2, 3];
const ROW: Duration = Duration::from_secs(6);
/// The tenants of the table: as many as there are of the largest number of clients for each of whom a connection is left.
const SPREAD: usize = 12;
/// The size of the files.
const BYTES: usize = 4 << 10;

/// Lets the tenants edit for this long.
pub(crate) fn run(emend: &Path, time: Duration) -> Result<()> {
    let folder = Folder::new();
    let server = start(emend, &folder)?;
    let begun = Instant::now();
    let mut sessions = open_sessions(&server)?;
    println!(
        "{TENANTS} tenants with {} sessions were there after {:.1} s",
        sessions.len(),
        begun.elapsed().as_secs_f64()
    );
    let alone = pace(&mut sessions, time / 4, |_| Ok(()))?;
    let mut flooded = 0;
    let mut watched = Watched::default();
    let server = &server;
    let beside = pace(&mut sessions, time - time / 4, |stop| {
        thread::scope(|scope| {
            let clients: Vec<_> =
                (0..FLOOD).map(|client| scope.spawn(move || flood(server, client, stop))).collect();
            watched = watch(server.process(), stop)?;
            for client in clients {
                flooded += client.join().expect("a client does not panic")?;
            }
            Ok(())
        })
    })?;
    for session in &sessions {
        sample::ensure_edited(&folder.at(&session.file()), session.made)?;
    }
    println!(
        "alone: {}\nbeside a tenant that made {flooded} edits: {}\nmemory {:.0} MB after half of that, {:.0} MB at its end; \
         {} handles",
        alone.text(),
        beside.text(),
        watched.middle,
        watched.end,
        watched.handles
    );
    ensure!(beside.p99() <= LONGEST_MS, "the others wait for the one that floods");
    for paced in [&alone, &beside] {
        ensure!(
            paced.made * 10 >= paced.due * 9,
            "of {} edits only {} were made in time",
            paced.due,
            paced.made
        );
    }
    ensure!(watched.end <= MEMORY && watched.end - watched.middle <= GROWTH, "memory grows");
    let most = TENANTS * HANDLES + TENANTS * SESSIONS + FLOOD + 100;
    ensure!(watched.handles <= most, "{} handles are more than {most}", watched.handles);
    Ok(())
}

fn start(emend: &Path, folder: &Folder) -> Result<HttpServer> {
    let (mut settings, mut tokens) = (format!("tokens = {:?}\n", folder.beside("tokens")), String::new());
    for tenant in 0..TENANTS {
        let name = name_of(tenant);
        for session in 0..SESSIONS {
            folder.write(&format!("{name}/{session}.txt"), sample::text(BYTES));
        }
        for client in (0..FLOOD).filter(|_| tenant == 0) {
            folder.write(&format!("{name}/flood-{client}.txt"), sample::text(BYTES));
        }
        settings += &format!("[[tenant]]\nname = \"{name}\"\nworkspace = {:?}\n", folder.at(&name));
        tokens += &format!("{name} {} tenant={name}\n", token_of(&name, 0));
    }
    fs::write(folder.beside("tokens"), tokens)?;
    fs::write(folder.beside("team.toml"), settings)?;
    let launch =
        Launch::new(emend).state(folder.state()).argument("--team").argument(folder.beside("team.toml"));
    Ok(HttpServer::start_at(&launch, "127.0.0.1:0"))
}

fn name_of(tenant: usize) -> String {
    format!("tenant{tenant}")
}

/// A session of a tenant, which edits a file of its own.
struct Session {
    tenant: usize,
    number: usize,
    connection: Connection,
    made: usize,
    due: Instant,
}

impl Session {
    fn file(&self) -> String {
        format!("{}/{}.txt", name_of(self.tenant), self.number)
    }

    fn edit(&mut self) -> Result<Duration> {
        let edit = str_replace(&format!("{}.txt", self.number), self.made);
        let time = self.connection.call("str_replace", &edit)?.made().with_context(|| self.file())?;
        self.made += 1;
        Ok(time)
    }
}

/// Opens all sessions, whose first edits are spread over the time in which each makes one.
fn open_sessions(server: &HttpServer) -> Result<Vec<Session>> {
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        for tenant in 0..TENANTS {
            let token = token_of(&name_of(tenant), 0);
            let connection = Connection::to(server.address(), &token, Era::Session)?;
            sessions.push(Session { tenant, number, connection, made: 0, due: Instant::now() });
        }
    }
    Ok(sessions)
}

/// What sessions did at their pace.
struct Paced {
    times: Times,
    made: usize,
    due: usize,
}

impl Paced {
    fn p99(&self) -> f64 {
        self.times.percentile(99)
    }

    fn text(&self) -> String {
        format!(
            "{} of {} edits, median {:.1} ms, 99 % within {:.1} ms",
            self.made,
            self.due,
            self.times.median(),
            self.p99()
        )
    }
}

/// Lets all sessions edit at their pace for this long, beside what else is done until then.
fn pace(
    sessions: &mut [Session],
    time: Duration,
    meanwhile: impl FnOnce(&AtomicBool) -> Result<()>,
) -> Result<Paced> {
    let (begun, stop) = (Instant::now(), AtomicBool::new(false));
    let count = sessions.len();
    for (at, session) in sessions.iter_mut().enumerate() {
        session.due = begun + PACE.mul_f64(at as f64 / count as f64);
    }
    let until = begun + time;
    let due = (0..count).map(|at| {
        let first = PACE.mul_f64(at as f64 / count as f64);
        time.checked_sub(first).map_or(0, |rest| rest.as_millis().div_ceil(PACE.as_millis()) as usize)
    });
    let due = due.sum();
    let times = thread::scope(|scope| {
        let running: Vec<_> = sessions
            .chunks_mut(count.div_ceil(THREADS))
            .map(|sessions| scope.spawn(move || keep_pace(sessions, until)))
            .collect();
        let ends = scope.spawn({
            let stop = &stop;
            move || {
                thread::sleep(until.saturating_duration_since(Instant::now()));
                stop.store(true, Ordering::Relaxed);
            }
        });
        let other = meanwhile(&stop);
        ends.join().expect("it only waits");
        let times: Result<Vec<_>> =
            running.into_iter().map(|thread| thread.join().expect("a client does not panic")).collect();
        other.and(times)
    })?
    .concat();
    Ok(Paced { made: times.len(), times: Times::new(times), due })
}

/// Makes each edit of these sessions when it is due, the one that is due first before the others.
fn keep_pace(sessions: &mut [Session], until: Instant) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    loop {
        let Some(next) = sessions.iter_mut().min_by_key(|session| session.due) else { return Ok(times) };
        if next.due >= until || Instant::now() >= until {
            return Ok(times);
        }
        thread::sleep(next.due.saturating_duration_since(Instant::now()));
        times.push(next.edit()?);
        next.due += PACE;
    }
}

/// Edits as fast as it can until it is told to stop. Returns how many edits were made.
fn flood(server: &HttpServer, client: usize, stop: &AtomicBool) -> Result<usize> {
    let mut made = 0;
    let mut connection = Connection::to(server.address(), &token_of(&name_of(0), 0), Era::Stateless)?;
    while !stop.load(Ordering::Relaxed) {
        let edit = str_replace(&format!("flood-{client}.txt"), made);
        // What is too much is refused, and tried again.
        if connection.call("str_replace", &edit)?.made().is_ok() {
            made += 1;
        }
    }
    Ok(made)
}

/// What a server took while it was flooded.
#[derive(Clone, Copy, Debug, Default)]
struct Watched {
    middle: f64,
    end: f64,
    handles: usize,
}

fn watch(process: u32, stop: &AtomicBool) -> Result<Watched> {
    let (mut memory, mut handles) = (Vec::new(), 0);
    while !stop.load(Ordering::Relaxed) {
        memory.push(memory_of(process, "VmRSS")?);
        handles = handles.max(fs::read_dir(format!("/proc/{process}/fd"))?.count());
        thread::sleep(Duration::from_millis(500));
    }
    let at = |part: usize| memory.get(part).copied().unwrap_or_default();
    Ok(Watched { middle: at(memory.len() / 2), end: at(memory.len().saturating_sub(1)), handles })
}

/// Prints the table: clients of several tenants that edit as fast as they can, through a proxy, with one server or more.
pub(crate) fn table(emend: &Path) -> Result<()> {
    ensure!(has_programs(), "the table needs redis-server and haproxy");
    println!("| Servers | Clients | Edits per second | Median | 99 % within |\n|---:|---:|---:|---:|---:|");
    let tenants: Vec<String> = (0..SPREAD).map(name_of).collect();
    let names: Vec<&str> = tenants.iter().map(String::as_str).collect();
    for servers in SERVERS {
        for clients in CLIENTS {
            let cluster = Cluster::start(emend, &names, servers)?;
            let editors: Vec<Editor<'static>> = (0..clients)
                .map(|client| {
                    let (tenant, file) = (&tenants[client % SPREAD], format!("{client}.txt"));
                    cluster.folder.write(&format!("{tenant}/{file}"), sample::text(BYTES));
                    let token = cluster.token(tenant, client / SPREAD);
                    Ok(http::editor(Connection::to(cluster.proxy, &token, Era::Stateless)?, file))
                })
                .collect::<Result<_>>()?;
            let load = beside(editors, ROW)?;
            println!(
                "| {servers} | {clients} | {:.0} | {:.1} ms | {:.1} ms |",
                load.rate,
                load.times.median(),
                load.times.percentile(99)
            );
        }
    }
    Ok(())
}
