//! That a policy passed the checker, and on which grounds what it says stands.

use std::fmt::Write as _;

use super::wrap;
use crate::artifact::{Checked, Content, Grounds, Quantity as _};

/// That a policy passed the checker: what was derived anew, what was judged for sense only, and what
/// was taken on trust. `about` names what the claims are about: `about 3 types`.
pub fn valid_report<K: Content>(checked: &Checked<K>, about: &str, width: usize) -> String {
    let mut text = String::new();
    if checked.is_changed() {
        text += "The file was changed after it was written; it is taken as it is.\n";
    }
    text += &verdict(checked.grounds(), about);
    let groups = groups(checked);
    for heading in HEADINGS {
        let mut own = groups
            .iter()
            .filter(|group| group.heading == heading)
            .peekable();
        if own.peek().is_some() {
            let _ = write!(text, "\n{heading}");
        }
        for group in own {
            let things = group.things.iter().map(|(name, count)| match count {
                1 => name.clone(),
                many => format!("{name} ({many})"),
            });
            let things: Vec<String> = things.collect();
            let line = format!("{}: {}", things.join(", "), group.by);
            let _ = write!(text, "\n{}", indented(&line, width));
        }
    }
    text
}

const HEADINGS: [&str; 3] = ["derived anew", "judged for sense", "on trust"];

/// The heading that these grounds stand under, and by what they are so.
fn headed(grounds: &Grounds) -> (&'static str, &'static str) {
    let [derived, judged, trusted] = HEADINGS;
    match grounds {
        Grounds::Derived(by) => (derived, by),
        Grounds::Judged(by) => (judged, by),
        Grounds::Trusted(by) => (trusted, by),
    }
}

/// How many claims stand on which grounds.
fn verdict(grounds: &[Grounds], about: &str) -> String {
    if grounds.is_empty() {
        return format!("valid, and nothing is claimed of the policy {about}");
    }
    let counts = HEADINGS.map(|heading| {
        let own = grounds.iter().filter(|own| headed(own).0 == heading);
        (own.count(), heading)
    });
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, how)| format!("{count} {how}")).collect();
    let claims = match grounds.len() {
        1 => "1 claim".to_owned(),
        several => format!("{several} claims"),
    };
    format!("valid: {claims} {about}, {}", some.join(", "))
}

/// What stands on the same grounds.
struct Group {
    heading: &'static str,
    by: &'static str,
    /// Names, and how often each.
    things: Vec<(String, usize)>,
}

/// Claims by their quantities, all else by its place in the document without the numbers of lists.
fn groups<K: Content>(checked: &Checked<K>) -> Vec<Group> {
    let claims = checked.artifact().claims.iter().zip(checked.grounds());
    let claims = claims.map(|(claim, grounds)| (claim.quantity.row().label.to_owned(), *grounds));
    let rest = checked.beside_claims().iter();
    let rest = rest.map(|examined| (without_places(&examined.path), examined.grounds));
    let mut groups: Vec<Group> = Vec::new();
    for (name, grounds) in claims.chain(rest) {
        let (heading, by) = headed(&grounds);
        let is_same = |group: &Group| (group.heading, group.by) == (heading, by);
        let place = groups.iter().position(is_same).unwrap_or_else(|| {
            groups.push(Group {
                heading,
                by,
                things: Vec::new(),
            });
            groups.len() - 1
        });
        let things = &mut groups[place].things;
        match things.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => things.push((name, 1)),
        }
    }
    groups
}

fn without_places(path: &str) -> String {
    let path = path.replace(".servers[", "[");
    let parts = path
        .split('[')
        .map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    parts.collect()
}

/// Lines after the first begin further to the right.
fn indented(line: &str, width: usize) -> String {
    format!("  {}", wrap(line, width - 4).replace('\n', "\n    "))
}
