//! Recognizes files of other programs that are not supported, and describes what to export instead.

use super::sacct::EXPORT_HELP;

/// First advice that is shared (`$NAME`, text), then kinds of files (conditions, description,
/// advice), separated by tabs. The first one whose conditions are all true is used: `?` (unknown
/// format), `auto` (no columns given), `^text` (begins with it), `~text` (contains it, where `+` is
/// a space), `=NAME` (a column), or keywords.
const KINDS: &str = include_str!("foreign.txt");

const LINES: usize = 50;

/// Returns a description of a file of another program, and what to export instead, as an error.
pub(super) fn check(start: &str, is_unknown: bool, is_auto: bool) -> Result<(), String> {
    let lines = start.trim_start_matches('\u{feff}').lines();
    let lines = lines.filter(|line| !line.trim().is_empty());
    let lines: Vec<&str> = lines.take(LINES).collect();
    let is = |kind: &str| {
        let mut conditions = kind.split_whitespace();
        !lines.is_empty()
            && conditions.all(|own| match own {
                "?" => is_unknown,
                "auto" => is_auto,
                own => holds(own, &lines),
            })
    };
    let mut kinds = KINDS.lines().filter_map(|line| line.split_once('\t'));
    let found = kinds.find(|(kind, _)| is(kind));
    let Some((what, how)) = found.and_then(|(_, words)| words.split_once('\t')) else {
        return Ok(());
    };
    let shared = |line: &'static str| line.strip_prefix('$')?.split_once('\t');
    let mut advice = KINDS.lines().filter_map(shared);
    let how = match advice.find(|(name, _)| *name == how) {
        Some((_, text)) => text,
        None if how == "SACCT" => EXPORT_HELP,
        None => how,
    };
    Err(format!(
        "this looks like {what}; this format is not supported. {how}"
    ))
}

fn holds(condition: &str, lines: &[&str]) -> bool {
    const SEPARATORS: [char; 4] = ['|', ',', ';', '\t'];
    let first = lines[0];
    let text = condition.get(1..).unwrap_or_default().replace('+', " ");
    let mut words = first.split(|c: char| c.is_whitespace() || SEPARATORS.contains(&c));
    let mut fields = lines.iter().flat_map(|line| line.split(SEPARATORS));
    match condition {
        "json" => first.trim_start().starts_with(['{', '[']),
        "blank" => !first.contains(SEPARATORS),
        "bars" => {
            let submitted = ["time", "ubmit", "rrival"];
            first.contains('|') && !words.any(|own| submitted.iter().any(|part| own.contains(part)))
        }
        "others" => first.contains([',', ';', '\t']) && !lines.concat().contains(['|', '"']),
        "words" => words.count() > 2 && lines.len() > 1,
        "colons" => lines.iter().any(|line| line.split(':').count() >= 40),
        "months" => fields.any(|field| {
            let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
            let month = field.trim().split_once(' ').map_or("", |(month, _)| month);
            month.len() == 3 && months.contains(month)
        }),
        "pbs" => {
            let fields: Vec<&str> = first.splitn(4, ';').collect();
            matches!(fields[..], [at, kind, _, _] if at.len() == 19 && kind.len() == 1)
        }
        "headless" => {
            let is_state = |word: &str| super::sacct::state(word.as_bytes()).is_some();
            first.starts_with(|c: char| c.is_ascii_digit()) && words.any(is_state)
        }
        _ if condition.starts_with('^') => first.starts_with(&text),
        _ if condition.starts_with('~') => lines.iter().any(|line| line.contains(&text)),
        _ if condition.starts_with('=') => words.any(|word| word == text),
        _ => false,
    }
}
