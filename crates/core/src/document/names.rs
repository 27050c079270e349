//! Names and other single values: what is wrong with one, and what to write instead of a name that is not known.

use std::ops::RangeInclusive;

use super::words::meant;

/// Returns what is wrong with a name, if anything.
pub fn unusable(what: &str, name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some(format!("{what} is empty"));
    }
    // It would break the tables in which names are shown, or show another name.
    name.chars().any(steers).then(|| {
        format!("{what} has a control character, or a mark that turns the direction of writing: {name:?}")
    })
}

/// Whether a terminal that gets this character does more than show it: a control character, or a mark that turns the
/// direction of writing.
pub fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a number that stands for a name, without spaces around it: equal names have equal ones, and none has 0.
#[inline]
pub fn number_of(name: &[u8]) -> u32 {
    // FNV-1a; of two names one in four milliards of pairs is taken for the same.
    let mixed = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    match name.trim_ascii() {
        b"" => 0,
        name => name.iter().fold(0x811c_9dc5, mixed) | 1,
    }
}

/// "did you mean …" where one of the names known is another word for the one found, or near to it, else all of them.
pub fn suggest(found: &str, kind: &str, known: &[&str]) -> String {
    const SHOWN: usize = 12;
    if let Some(name) = meant(found, known).or_else(|| nearest(found, known)) {
        return format!("did you mean `{name}`?");
    }
    let names = known.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let names = names.collect::<Vec<_>>().join(", ");
    let are_more = known.len() > SHOWN;
    let others = if are_more { " and others" } else { "" };
    format!("{kind}: {names}{others}")
}

/// Returns the one of the names known that is near to the one found, if any is: by Levenshtein's distance
/// without regard to case.
pub fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |name: &str| strsim::levenshtein(&found.to_lowercase(), &name.to_lowercase());
    let is_near = |name: &&&str| distance(name) <= name.chars().count().div_ceil(3);
    let near = known.iter().filter(is_near);
    near.min_by_key(|name| distance(name)).copied()
}

/// Numbers of which multiples, sums and powers are in the range of numbers.
pub const SENSIBLE: RangeInclusive<f64> = 1e-60..=1e60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_is_suggested_and_a_far_one_lists_all() {
        assert_eq!(
            suggest("memroy", "resources", &["cpu", "memory"]),
            "did you mean `memory`?"
        );
        assert_eq!(
            suggest("gpu-memory", "resources", &["cpu", "disk"]),
            "resources: `cpu`, `disk`"
        );
        assert_eq!(nearest("CPU", &["cpu"]), Some("cpu"));
    }
}
