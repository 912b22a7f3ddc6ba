//! The leases of one server: which tenants it serves, and who serves the others.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use emend_threads::Mutex;

use crate::engine::{Engine, EngineError, Holder, Taken};

/// The part of a lease's time after which it is renewed.
const RENEWED_AFTER: u32 = 3;
/// The part of its time that a holder does not use: its clock may be slower than the engine's.
const MARGIN: u32 = 10;
/// How long an engine that gave no answer of use is not asked again: each try may take seconds.
const PAUSE: Duration = Duration::from_millis(500);
/// How long a lease is kept of a tenant of whom nothing is open: to open it takes its time.
const UNUSED: Duration = Duration::from_secs(30);
/// The most tenants of other servers that are remembered.
const REMEMBERED: usize = 10_000;
/// A name that no tenant has.
const PROBE: &str = "?";

/// Where a tenant is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed {
    /// Here.
    Here,
    /// By this other server.
    At(Holder),
    /// Nowhere for the moment: the engine does not answer, or has just been started.
    Nowhere,
}

/// A lease of this server.
#[derive(Clone, Copy, Debug)]
struct Lease {
    /// Until when it lasts. After that the server has had it, and tries to have it again.
    until: Instant,
    /// When it was taken.
    since: Instant,
}

/// What an engine said last.
#[derive(Debug, Default)]
struct Heard {
    has_answered: bool,
    /// Until when it is not asked, since its last answer was of no use.
    trouble: Option<Instant>,
}

/// The leases of one server.
pub struct Leases {
    engine: Arc<dyn Engine>,
    holder: Holder,
    time: Duration,
    /// The tenants that are served here.
    mine: Mutex<HashMap<String, Lease>>,
    /// The servers of other tenants, each until its lease ends: an engine that gives no answer gives nobody another.
    others: Mutex<HashMap<String, (Holder, Instant)>>,
    /// What the engine said last.
    heard: Mutex<Heard>,
    /// The tenants that another server has, or may have had meanwhile. None is taken until what is in memory of it is
    /// forgotten.
    lost: Mutex<Vec<String>>,
    /// How often that was.
    losses: AtomicU64,
    is_ending: AtomicBool,
}

impl Leases {
    /// Creates the leases of a server, which holds each for a time after it was last renewed.
    #[must_use]
    pub fn new(engine: Arc<dyn Engine>, holder: Holder, time: Duration) -> Self {
        let (mine, others, heard, lost, losses, is_ending) = Default::default();
        Self { engine, holder, time, mine, others, heard, lost, losses, is_ending }
    }

    /// Returns after which time [`renew`](Self::renew) is to be called again.
    #[must_use]
    pub fn pause(&self) -> Duration {
        let pause = self.time / RENEWED_AFTER;
        if self.heard.lock().trouble.is_some() { pause.min(PAUSE) } else { pause }
    }

    /// Returns whether a tenant is served here, without asking the engine.
    #[must_use]
    pub fn is_held(&self, tenant: &str) -> bool {
        self.mine.lock().get(tenant).is_some_and(|lease| Instant::now() < lease.until)
    }

    /// Returns the tenants that are served here.
    #[must_use]
    pub fn held(&self) -> BTreeSet<String> {
        let now = Instant::now();
        let mine = self.mine.lock();
        mine.iter().filter(|(_, lease)| now < lease.until).map(|(tenant, _)| tenant.clone()).collect()
    }

    /// Asks the engine for what is no tenant's, to hear whether it is of use. May block.
    pub fn probe(&self) -> Result<(), EngineError> {
        let second = Duration::from_secs(1);
        self.ask(|engine| engine.take(PROBE, &self.holder, second, second)).map(drop)
    }

    /// Returns whether the engine has ever given an answer of use.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.heard.lock().has_answered
    }

    /// Returns whether the engine's last answer was of use.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let heard = self.heard.lock();
        heard.has_answered && heard.trouble.is_none()
    }

    /// Returns how often another server had a tenant of this one, or may have had it.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.losses.load(Ordering::Relaxed)
    }

    fn ask<T>(&self, question: impl FnOnce(&dyn Engine) -> Result<T, EngineError>) -> Result<T, EngineError> {
        let answer = question(&*self.engine);
        let mut heard = self.heard.lock();
        match &answer {
            Ok(_) => *heard = Heard { has_answered: true, trouble: None },
            Err(_) => heard.trouble = Some(Instant::now() + PAUSE),
        }
        answer
    }

    /// Returns where a tenant is served. One that is served nowhere is served here from now on. May block.
    #[must_use]
    pub fn place(&self, tenant: &str) -> Placed {
        if self.is_held(tenant) {
            return Placed::Here;
        }
        let is_asked = self.heard.lock().trouble.is_none_or(|until| until <= Instant::now());
        let taken = if is_asked { self.take(tenant).ok() } else { None };
        match taken {
            Some(Taken::Mine { .. }) => Placed::Here,
            Some(Taken::Others(holder)) => Placed::At(holder),
            // An engine that was just started has forgotten who it is.
            Some(Taken::TooSoon) | None => self.remembered(tenant).map_or(Placed::Nowhere, Placed::At),
        }
    }

    /// Returns the other server that had the lease of a tenant when the engine last gave an answer, if that has not ended since.
    fn remembered(&self, tenant: &str) -> Option<Holder> {
        let others = self.others.lock();
        others.get(tenant).filter(|(_, until)| Instant::now() < *until).map(|(holder, _)| holder.clone())
    }

    fn remember(&self, tenant: &str, taken: &Taken, until: Instant) {
        let mut others = self.others.lock();
        match taken {
            Taken::Mine { .. } => drop(others.remove(tenant)),
            Taken::Others(holder) => {
                if others.len() >= REMEMBERED {
                    others.retain(|_, (_, until)| Instant::now() < *until);
                }
                if others.len() < REMEMBERED {
                    others.insert(tenant.to_owned(), (holder.clone(), until));
                }
            }
            Taken::TooSoon => {}
        }
    }

    /// Gives back the leases of tenants of whom nothing is open, but for those that were just taken. May block.
    pub fn give_back_unused(&self, is_open: impl Fn(&str) -> bool) {
        let now = Instant::now();
        let is_unused = |tenant: &String, lease: &mut Lease| now > lease.since + UNUSED && !is_open(tenant);
        let unused: Vec<String> = self.mine.lock().extract_if(is_unused).map(|(tenant, _)| tenant).collect();
        for tenant in unused {
            if self.ask(|engine| engine.give_back(&tenant, &self.holder)).is_err() {
                break;
            }
        }
    }

    /// Renews all leases of this server. `forget` is called with the tenants whose leases have lapsed: another server may
    /// have served them, and what is in memory of them is out of date. May block.
    pub fn renew(&self, forget: impl FnOnce(&[String])) -> Result<(), EngineError> {
        let mine: Vec<String> = self.mine.lock().keys().cloned().collect();
        let mut renewed = Ok(());
        for tenant in mine {
            match self.take(&tenant) {
                // No other gets an answer either.
                Err(error @ EngineError::Silent(_)) => {
                    renewed = Err(error);
                    break;
                }
                Err(error) => renewed = Err(error),
                Ok(_) => {}
            }
        }
        let lost = self.lost.lock().clone();
        if !lost.is_empty() {
            forget(&lost);
            self.lost.lock().retain(|tenant| !lost.contains(tenant));
        }
        renewed
    }

    /// Takes no lease any more, and gives back those of all tenants but these. May block.
    pub fn keep_only(&self, tenants: &BTreeSet<String>) {
        self.is_ending.store(true, Ordering::SeqCst);
        let given_back: Vec<String> = {
            let mut mine = self.mine.lock();
            mine.extract_if(|tenant, _| !tenants.contains(tenant)).map(|(tenant, _)| tenant).collect()
        };
        for tenant in given_back {
            if let Err(EngineError::Silent(_)) = self.ask(|engine| engine.give_back(&tenant, &self.holder)) {
                break;
            }
        }
    }

    fn take(&self, tenant: &str) -> Result<Taken, EngineError> {
        if self.lost.lock().iter().any(|lost| lost == tenant) {
            return Ok(Taken::TooSoon);
        }
        // The lease counts from before the question, so that the engine never ends it earlier.
        let asked = Instant::now();
        let before = self.mine.lock().get(tenant).copied();
        if before.is_none() && self.is_ending.load(Ordering::SeqCst) {
            return Ok(Taken::TooSoon);
        }
        let has_lapsed = |now: Instant| before.is_some_and(|lease| lease.until <= now);
        // While it lasts, nobody else can have taken it. Who has had it comes before those who have not, since it has what its
        // clients' sessions left in memory.
        let settled = match before {
            Some(_) if has_lapsed(asked) => self.time,
            Some(_) => Duration::ZERO,
            None => self.time * 2,
        };
        let taken = self.ask(|engine| engine.take(tenant, &self.holder, self.time, settled))?;
        self.remember(tenant, &taken, asked + self.time);
        match &taken {
            // It may have lapsed while the engine was asked.
            Taken::Mine { is_new } if !(*is_new && has_lapsed(Instant::now())) => {
                let mut mine = self.mine.lock();
                // Meanwhile, it may have been given back.
                if mine.contains_key(tenant) || !self.is_ending.load(Ordering::SeqCst) {
                    let until = asked + self.time - self.time / MARGIN;
                    let since = before.map_or(asked, |lease| lease.since);
                    mine.insert(tenant.to_owned(), Lease { until, since });
                    return Ok(taken);
                }
            }
            Taken::Mine { .. } | Taken::Others(_) => {
                if self.mine.lock().remove(tenant).is_some() {
                    self.lost.lock().push(tenant.to_owned());
                    self.losses.fetch_add(1, Ordering::Relaxed);
                }
            }
            Taken::TooSoon => {}
        }
        if let Taken::Mine { .. } = taken {
            self.ask(|engine| engine.give_back(tenant, &self.holder))?;
            return Ok(Taken::TooSoon);
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Memory;

    const TIME: Duration = Duration::from_secs(3600);

    fn server(engine: &Arc<Memory>, run: &str, time: Duration) -> Leases {
        Leases::new(engine.clone(), Holder::new(&format!("{run}:1"), run), time)
    }

    fn at(run: &str) -> Placed {
        Placed::At(Holder::new(&format!("{run}:1"), run))
    }

    /// Renews, and returns what has been lost.
    fn renew(leases: &Leases) -> Vec<String> {
        let mut lost = Vec::new();
        leases.renew(|tenants| lost.extend_from_slice(tenants)).unwrap();
        lost
    }

    #[test]
    fn a_tenant_is_served_by_the_first_that_is_asked_until_it_ends() {
        let engine = Arc::new(Memory::default());
        let [one, other] = ["one", "other"].map(|run| server(&engine, run, TIME));
        assert_eq!(one.place("red"), Placed::Here);
        assert_eq!(one.place("red"), Placed::Here);
        assert_eq!(other.place("red"), at("one"));
        assert_eq!(other.place("blue"), Placed::Here);
        assert_eq!((one.held().len(), other.held().len()), (1, 1));
        assert_eq!(one.place("green"), Placed::Here);
        // One that ends keeps what is not finished yet, and takes nothing new.
        one.keep_only(&["green".to_owned()].into());
        assert_eq!((one.place("green"), one.place("new")), (Placed::Here, Placed::Nowhere));
        assert_eq!((other.place("green"), other.place("red")), (at("one"), Placed::Here));
        assert!(renew(&other).is_empty() && renew(&one).is_empty());
        one.keep_only(&BTreeSet::new());
        assert_eq!((other.place("green"), one.place("green")), (Placed::Here, Placed::Nowhere));
    }

    #[test]
    fn who_comes_back_after_its_lease_has_lapsed_hears_that_another_has_taken_over() {
        let engine = Arc::new(Memory::default());
        // A lease that has lapsed by the time of the next call.
        let paused = server(&engine, "paused", Duration::ZERO);
        assert_eq!(paused.place("red"), Placed::Here);
        assert!(!paused.is_held("red"));
        let next = server(&engine, "next", TIME);
        assert_eq!(next.place("red"), Placed::Here);
        assert_eq!(paused.place("red"), at("next"));
        assert_eq!((paused.losses(), next.losses()), (1, 0));
        assert_eq!(renew(&paused), ["red"]);
        assert!(renew(&paused).is_empty());
        assert!(paused.held().is_empty());
    }

    #[test]
    fn who_comes_back_and_finds_its_lease_free_takes_it_only_once_its_memory_is_forgotten() {
        let engine = Arc::new(Memory::default());
        let paused = server(&engine, "paused", Duration::ZERO);
        assert_eq!(paused.place("red"), Placed::Here);
        // Another may have had it, and have given it back.
        for _ in 0..2 {
            assert_eq!(paused.place("red"), Placed::Nowhere);
        }
        assert_eq!(server(&engine, "next", TIME).place("blue"), Placed::Here);
        let forget = |lost: &[String]| {
            assert_eq!(lost, ["red"]);
            assert_eq!(paused.place("red"), Placed::Nowhere);
        };
        paused.renew(forget).unwrap();
        assert_eq!(paused.place("red"), Placed::Here);
    }

    #[test]
    fn an_engine_that_was_started_again_takes_the_lease_from_nobody() {
        let engine = Arc::new(Memory::default());
        let [one, other] = ["one", "other"].map(|run| server(&engine, run, TIME));
        assert_eq!(one.place("red"), Placed::Here);
        engine.start_again();
        assert_eq!(other.place("red"), Placed::Nowhere);
        assert!(one.is_held("red"));
        assert!(renew(&one).is_empty());
        assert_eq!(other.place("red"), at("one"));
    }

    #[test]
    fn who_holds_a_lease_goes_on_without_the_engine_and_others_get_none() {
        let engine = Arc::new(Memory::default());
        let [one, other] = ["one", "other"].map(|run| server(&engine, run, TIME));
        assert_eq!(one.place("red"), Placed::Here);
        engine.be_silent(true);
        assert!(one.is_answered());
        assert!(one.renew(|_| panic!("nothing is lost")).is_err());
        assert!(!one.is_answered());
        assert_eq!((one.place("red"), other.place("red")), (Placed::Here, Placed::Nowhere));
        assert!(one.pause() <= PAUSE, "it soon tries again");
        engine.be_silent(false);
        one.renew(|_| panic!("nothing is lost")).unwrap();
        std::thread::sleep(PAUSE);
        assert_eq!(other.place("red"), at("one"));
        // Who knew whose it was goes on with that, without the engine and with one that has forgotten everything.
        engine.be_silent(true);
        assert_eq!((other.place("red"), other.place("blue")), (at("one"), Placed::Nowhere));
        engine.be_silent(false);
        engine.start_again();
        assert_eq!(other.place("red"), at("one"));
    }

    #[test]
    fn the_lease_of_a_tenant_of_whom_nothing_is_open_is_given_back() {
        let engine = Arc::new(Memory::default());
        let [one, other] = ["one", "other"].map(|run| server(&engine, run, TIME));
        for tenant in ["red", "green", "blue"] {
            assert_eq!(one.place(tenant), Placed::Here);
        }
        one.give_back_unused(|_| false);
        assert_eq!(one.held().len(), 3, "they were taken just now");
        for tenant in ["red", "green"] {
            one.mine.lock().get_mut(tenant).unwrap().since -= UNUSED * 2;
        }
        one.give_back_unused(|tenant| tenant == "green");
        assert_eq!(one.held(), ["blue".to_owned(), "green".to_owned()].into());
        assert_eq!((other.place("red"), other.place("green")), (Placed::Here, at("one")));
    }
}
