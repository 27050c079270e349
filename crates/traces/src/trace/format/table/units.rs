use itertools::Itertools as _;

use super::{Columns, END, Times};
use crate::trace::fields::{instant, is_unknown, number};
use crate::trace::format::Rows;
use crate::trace::{Account, ReadOptions, TraceError};
use synth_core::number::stamp;

pub(super) const CALENDAR: &str = "calendar dates";
const SHORT_YEAR: [&str; 2] = ["YYMMDDhhmmss", "YYMMDDhhmm"];
const OTHER_ORDER: &str = "in an unknown order of day, month and year";

pub(super) fn is_read(notation: &str) -> bool {
    notation != OTHER_ORDER && !SHORT_YEAR.contains(&notation)
}

/// Returns the notation of an instant, if any; `Some(None)` for a plain number.
pub(super) fn notation(field: &[u8]) -> Option<Option<&'static str>> {
    /// The last second since 1970 that fits into a signed number of 32 bits.
    const LAST: f64 = 2_147_483_647.0;
    match number(field) {
        _ if is_unknown(field) => None,
        Some(0.0 | -1.0) => None,
        Some(number) => {
            // If the century is added in front of it, it is a date.
            let is_date = |name: &&str| {
                let full = stamp(20.0 * 10_f64.powi(name.len() as i32) + number);
                number > LAST && full.is_some_and(|own| own.1.len() == name.len() + 2)
            };
            let short = SHORT_YEAR.into_iter().find(is_date);
            let own = stamp(number).map(|(_, notation)| notation);
            let is_digits = field.len() > 8 && field.iter().all(u8::is_ascii_digit);
            let has_zero = is_digits && field.starts_with(b"0");
            let is_far = own.is_none() && number > LAST;
            let is_short = short.is_some() && own.is_none_or(|own| own.starts_with("seconds"));
            Some(match own {
                _ if is_short => short,
                _ if has_zero || is_far => Some(OTHER_ORDER),
                own => own,
            })
        }
        None => instant(field).map(|_| Some(CALENDAR)),
    }
}

const UNITS: [(&str, f64); 5] = [
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("min", 60.0),
    ("h", 3600.0),
];

impl Columns {
    /// Detects the unit of durations if it is not given: the unit that matches most starts and
    /// ends, or the unit of the dates. Returns a remark if it is not seconds.
    pub(super) fn lengths(
        &mut self,
        mut rows: Rows,
        options: &ReadOptions,
    ) -> Result<Option<String>, TraceError> {
        let of_dates = match self.time.notation {
            Some("milliseconds since 1970") => 1,
            Some("microseconds since 1970") => 2,
            _ => 0,
        };
        let lengths = match self.has_end {
            true => self.limit,
            false => Some(self.held),
        };
        let Some(lengths) = lengths.filter(|own| options.units.is_empty() && own.unit == 1.0)
        else {
            return Ok(None);
        };
        let end = match self.has_end {
            true => Some(self.held.column),
            false => rows.either(&END.split(',').collect_vec())?,
        };
        let begin = self.start.unwrap_or(self.time).column;
        let (mut votes, mut lines, mut account) = ([0; UNITS.len()], 0, Account::default());
        while rows.advance(&mut account)? {
            let at = |column| {
                let field = rows.get(column);
                let own = number(field).map(|own| stamp(own).map_or(own, |(at, _)| at));
                let own = own.or_else(|| instant(field));
                own.filter(|_| !is_unknown(field))
            };
            let Some(length) = number(rows.get(lengths.column)) else {
                continue;
            };
            lines += 1;
            let ends = end.and_then(at).zip(at(begin));
            let ran = ends.map(|(end, begin)| end - begin);
            let agrees = |unit: f64| match ran {
                // A limit is not shorter than the run.
                Some(ran) if self.has_end => length * unit >= ran * (1.0 - 1e-9) && ran > 0.0,
                Some(ran) => (length * unit - ran).abs() <= (0.01 * ran).max(unit.max(1.0)),
                None => unit == 1.0 && length.fract() != 0.0,
            };
            let all = UNITS.map(|(_, unit)| agrees(unit));
            if self.has_end {
                let own = if all[of_dates] { of_dates } else { 0 };
                votes[own] += usize::from(all[own]);
            } else if let Ok(own) = all.iter().positions(|own| *own).exactly_one() {
                votes[own] += 1;
            }
        }
        let found = votes.iter().position(|own| 2 * own > lines);
        let (name, unit) = UNITS[found.unwrap_or(of_dates)];
        if unit == 1.0 {
            return Ok(None);
        }
        let within = |own: Times| Times { unit, ..own };
        let (what, other) = match self.has_end {
            true => ("limits", "unit.limit=s"),
            false => ("durations", "unit.size=s,unit.limit=s"),
        };
        if !self.has_end {
            self.held = within(self.held);
        }
        self.limit = self.limit.map(within);
        let why = match found {
            Some(_) => "in agreement with starts and ends",
            None => "like the dates next to them",
        };
        Ok(Some(format!(
            "{what} are interpreted in {name}, {why}: if they are seconds, give --read {other}"
        )))
    }
}
