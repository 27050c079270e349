use std::ops::RangeInclusive;

use super::words::synonym_of;

/// Returns the problem with a name, if there is one.
pub fn name_problem(what: &str, name: &str) -> Option<String> {
    if name.trim().is_empty() {
        return Some(format!("{what} is empty"));
    }
    name.chars()
        .any(controls_terminal)
        .then(|| format!("{what} has a control character or a bidirectional text mark: {name:?}"))
}

/// Returns `true` if a character can control a terminal or change the direction of the text.
pub fn controls_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the FNV-1a hash of a name without the spaces around it, which is 0 only if it is empty.
/// Two names have the same hash with a probability of one in two billion.
#[inline]
pub fn name_hash(name: &[u8]) -> u32 {
    let mixed = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    match name.trim_ascii() {
        b"" => 0,
        name => name.iter().fold(0x811c_9dc5, mixed) | 1,
    }
}

/// Suggests a name that is similar to `found` or means the same, or lists all known names.
pub fn suggest(found: &str, kind: &str, known: &[&str]) -> String {
    const SHOWN: usize = 12;
    if let Some(name) = synonym_of(found, known).or_else(|| nearest(found, known)) {
        return format!("did you mean `{name}`?");
    }
    let names = known.iter().take(SHOWN).map(|name| format!("`{name}`"));
    let names = names.collect::<Vec<_>>().join(", ");
    let others = known.get(SHOWN).map_or("", |_| " and others");
    format!("{kind}: {names}{others}")
}

/// Returns the most similar known name (by Levenshtein distance, ignoring case), if there is one.
pub fn nearest<'a>(found: &str, known: &[&'a str]) -> Option<&'a str> {
    let distance = |name: &str| strsim::levenshtein(&found.to_lowercase(), &name.to_lowercase());
    let is_near = |name: &&&str| distance(name) <= name.chars().count().div_ceil(3);
    let near = known.iter().filter(is_near);
    near.min_by_key(|name| distance(name)).copied()
}

/// The numbers whose sums, products and powers are not out of the range of `f64`.
pub const SUPPORTED_RANGE: RangeInclusive<f64> = 1e-60..=1e60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_a_similar_name_or_lists_all() {
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
