//! Times as people write them for `--since`: how long ago, or a day.

use std::time::{Duration, SystemTime};

const SECONDS: [(char, u64); 5] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400), ('w', 604_800)];
const DAY: u64 = 86_400;

/// Reads `90m`, `2h`, `3d`, `1w`, or `2026-11-23`, which means the beginning of that day in UTC, as in the log.
pub(crate) fn parse(written: &str) -> Result<SystemTime, String> {
    let ago = || {
        let unit = written.chars().last()?;
        let (_, seconds) = SECONDS.iter().find(|(name, _)| *name == unit)?;
        let count: u64 = written[..written.len() - 1].parse().ok()?;
        SystemTime::now().checked_sub(Duration::from_secs(count.checked_mul(*seconds)?))
    };
    ago().or_else(|| day(written)).ok_or_else(|| "write it as 90m, 2h, 3d, 1w or 2026-11-23".to_owned())
}

fn day(written: &str) -> Option<SystemTime> {
    let mut parts = written.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1970..10_000).contains(&year) || !(1..=12).contains(&month) || !(1..=days).contains(&day) {
        return None;
    }
    // Counted in years that begin in March, so that a leap day is the last one.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (months * 153 + 2) / 5 + day - 1;
    // The first of January 1970 in that count.
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs((days - 719_468) * DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_its_first_second_in_utc() {
        for (written, seconds) in [
            ("1970-01-01", 0),
            ("2000-02-29", 951_782_400),
            ("2000-03-01", 951_868_800),
            ("2026-11-23", 1_795_392_000),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(parse(written), Ok(time), "{written}");
        }
    }

    #[test]
    fn how_long_ago_is_counted_from_now() {
        for (written, seconds) in [("90s", 90), ("2m", 120), ("1h", 3_600), ("2d", 172_800), ("1w", 604_800)]
        {
            let then = parse(written).unwrap();
            let ago = SystemTime::now().duration_since(then).unwrap().as_secs();
            assert!((seconds..seconds + 60).contains(&ago), "{written}: {ago}");
        }
        for wrong in [
            "",
            "h",
            "2",
            "2x",
            "-1h",
            "2026",
            "2026-13-01",
            "2026-1-0",
            "2026-02-29",
            "2026-04-31",
            "1e9w",
            "9999999999999999999w",
            "ä",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
