//! How much the principals of a tenant may do in a minute, all together. What is refused costs nothing and changes nothing.

use std::time::{Duration, Instant};

const MINUTE: Duration = Duration::from_secs(60);

/// What a tenant may do in a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quota {
    /// The edits; without a limit if there is none.
    pub edits: Option<u64>,
    /// The bytes of requests for edits.
    pub bytes: Option<u64>,
}

/// What a tenant has left, which grows back evenly.
#[derive(Debug)]
pub(super) struct Allowance {
    quota: Quota,
    edits: Bucket,
    bytes: Bucket,
}

/// Why an edit has to wait, and how long.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exceeded {
    pub(super) what: &'static str,
    pub(super) most: u64,
    pub(super) wait: Duration,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    /// Returns how long it takes until there is so much; nothing if it is there now.
    fn wait(&mut self, most: u64, amount: f64, now: Instant) -> Duration {
        let most = most as f64;
        let grown = now.saturating_duration_since(self.at).as_secs_f64() / MINUTE.as_secs_f64() * most;
        (self.left, self.at) = ((self.left + grown).min(most), now);
        // What is more than a minute's worth needs all of it.
        let missing = amount.min(most) - self.left;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        if most > 0.0 { MINUTE.mul_f64((missing / most).min(1.0)) } else { MINUTE }
    }
}

impl Allowance {
    pub(super) fn new(quota: Quota, now: Instant) -> Self {
        let full = |most: Option<u64>| Bucket { left: most.unwrap_or(0) as f64, at: now };
        Self { quota, edits: full(quota.edits), bytes: full(quota.bytes) }
    }

    /// Returns the quota for which this was made.
    pub(super) fn quota(&self) -> Quota {
        self.quota
    }

    /// Takes what an edit of so many bytes needs, or says why it has to wait.
    pub(super) fn take(&mut self, bytes: usize, now: Instant) -> Result<(), Exceeded> {
        let bytes = bytes as f64;
        let wants = [
            ("edits", self.quota.edits, &mut self.edits, 1.0),
            ("bytes", self.quota.bytes, &mut self.bytes, bytes),
        ];
        for (what, most, bucket, amount) in wants {
            let Some(most) = most else { continue };
            let wait = bucket.wait(most, amount, now);
            if !wait.is_zero() || most == 0 {
                return Err(Exceeded { what, most, wait });
            }
        }
        self.edits.left -= 1.0;
        self.bytes.left -= self.quota.bytes.map_or(0.0, |most| bytes.min(most as f64));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minutes_worth_goes_at_once_and_comes_back_evenly() {
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        let mut left = Allowance::new(Quota { edits: Some(6), bytes: None }, begin);
        for _ in 0..6 {
            assert_eq!(left.take(1 << 30, begin), Ok(()));
        }
        let refused = Err(Exceeded { what: "edits", most: 6, wait: Duration::from_secs(10) });
        assert_eq!(left.take(1, begin), refused);
        // A refusal takes nothing.
        assert_eq!(left.take(1, begin), refused);
        assert!(left.take(1, at(9)).is_err());
        assert_eq!(left.take(1, at(10)), Ok(()));
        assert!(left.take(1, at(10)).is_err());
        for _ in 0..6 {
            assert_eq!(left.take(1, at(3_600)), Ok(()));
        }
        assert!(left.take(1, at(3_600)).is_err());
    }

    #[test]
    fn bytes_count_too_and_what_is_larger_than_all_needs_all() {
        let begin = Instant::now();
        let mut left = Allowance::new(Quota { edits: None, bytes: Some(100) }, begin);
        assert_eq!(left.take(40, begin), Ok(()));
        assert_eq!(
            left.take(90, begin),
            Err(Exceeded { what: "bytes", most: 100, wait: Duration::from_secs(18) })
        );
        assert_eq!(left.take(60, begin), Ok(()));
        let later = begin + MINUTE;
        assert_eq!(left.take(1_000, later), Ok(()));
        assert!(left.take(1, later).is_err());
        let mut none = Allowance::new(Quota { edits: Some(0), bytes: None }, begin);
        assert!(none.take(1, begin).is_err() && none.take(1, later).is_err());
    }
}
