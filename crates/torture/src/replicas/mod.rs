//! Three servers over the same files, with a real Redis and a real proxy that hands requests to each in turn. Clients of three
//! tenants edit through the proxy, while a server is killed, another is paused in the middle of a commit for longer than its
//! lease, the engine is killed and comes back empty, and a server is told to end. Each client sends a call until it is
//! answered. In the end, each edit is there exactly once, the files of one patch agree, and what was shown and asked before a
//! server went holds after it. The stream of each tenant in the engine has each event of its log exactly once,
//! and people see the edits of their tenant on the review page, whichever server shows it.

mod cluster;
mod engine;
mod held;
mod meddler;
mod person;
mod writer;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

use self::cluster::CLIENTS;
pub(crate) use self::cluster::{Cluster, has_programs, token_of};
use self::meddler::meddle;
use self::person::Person;
use self::writer::Writer;

/// The tenants.
const TENANTS: [&str; 3] = ["red", "green", "blue"];
/// The servers.
pub(crate) const SERVERS: usize = 3;
/// The shortest time in which everything can happen.
pub(crate) const SHORTEST: Duration = Duration::from_secs(20);
/// How long a client tries to have one edit made.
const PATIENCE: Duration = Duration::from_secs(60);

/// Has clients edit for this long in all.
pub(crate) fn run(emend: &Path, time: Duration) -> Result<()> {
    if !has_programs() {
        println!("there is no redis-server or no haproxy here: several servers are not tested");
        return Ok(());
    }
    let cluster = Cluster::start(emend, &TENANTS, SERVERS)?;
    let writers: Vec<Writer> = TENANTS
        .iter()
        .flat_map(|tenant| (0..CLIENTS).map(|number| Writer::new(&cluster, tenant, number)))
        .collect();
    let stop = AtomicBool::new(false);
    let (paused, written) = thread::scope(|scope| {
        let running: Vec<_> = writers.into_iter().map(|writer| scope.spawn(|| writer.write(&stop))).collect();
        let meddled = meddle(&cluster, time);
        stop.store(true, Ordering::Relaxed);
        let written: Vec<_> =
            running.into_iter().map(|writer| writer.join().expect("a client does not panic")).collect();
        // What a client saw says more than that nothing is served any more.
        let written: Vec<_> = written.into_iter().collect::<Result<_>>()?;
        meddled.map(|paused| (paused, written))
    })?;
    let (mut edits, mut slowest, mut again) = (0, Duration::ZERO, 0);
    for written in &written {
        written.check(&cluster.folder)?;
        edits += written.lines + written.pairs;
        again += written.again;
        slowest = slowest.max(written.slowest);
    }
    for (tenant, other) in TENANTS.iter().zip(TENANTS.iter().cycle().skip(1)) {
        Person::sign_in(cluster.proxy, &token_of(tenant, 0))?.look(tenant, other)?;
    }
    edits += TENANTS.len() * (1 + held::EDITS); // Each session's file, and what was held across each takeover.
    let mut told = 0;
    for tenant in TENANTS {
        told += engine::check_events(cluster.engine_port, &cluster.folder, tenant)?;
    }
    // What the killed server had queued is nowhere.
    ensure!(
        told <= edits && told + written.len() >= edits,
        "the streams have the events of {told} of {edits} edits"
    );
    println!(
        "three servers, Redis and HAProxy: {edits} edits of {} clients in {} s, each made once; {again} calls were sent again; \
         the longest wait was {:.1} s; the events of {told} of them are in the engine, each once; {paused}",
        written.len(),
        time.as_secs(),
        slowest.as_secs_f64()
    );
    Ok(())
}
