//! That a policy passed the checker, and on which grounds what it says stands.

use std::fmt::Write as _;

use itertools::Itertools as _;

use super::{entry, wrap};
use synth_core::artifact::{Checked, Content, Grounds, Quantity as _};

/// Says that a policy passed the checker: what was derived anew, what was judged for sense only, and what
/// was taken on trust. `about` names what the claims are about: `3 types`.
pub fn valid_report<K: Content>(checked: &Checked<K>, about: &str, width: usize) -> String {
    let mut text = String::new();
    if checked.is_changed() {
        text += "The file was changed after it was written; it is taken as it is.\n";
    }
    text += &verdict(checked.grounds(), about);
    let groups = groups(checked);
    for (heading, groups) in HEADINGS.into_iter().zip(groups) {
        if !groups.is_empty() {
            let _ = write!(text, "\n{heading}");
        }
        for (by, things) in groups {
            let mut things = things.iter().map(|(name, count)| match count {
                1 => name.clone(),
                many => format!("{name} ({many})"),
            });
            let line = wrap(&format!("{}: {by}", things.join(", ")), width - 4);
            // Lines after the first begin further to the right.
            let _ = write!(text, "\n  {}", line.replace('\n', "\n    "));
        }
    }
    text
}

const HEADINGS: [&str; 3] = ["derived anew", "judged for sense", "on trust"];

/// Returns the number of the heading that these grounds stand under, and by what they are so.
fn headed(grounds: Grounds) -> (usize, &'static str) {
    match grounds {
        Grounds::Derived(by) => (0, by),
        Grounds::Judged(by) => (1, by),
        Grounds::Trusted(by) => (2, by),
    }
}

/// Returns how many claims stand on which grounds.
fn verdict(grounds: &[Grounds], about: &str) -> String {
    let mut counts = [0; HEADINGS.len()];
    grounds.iter().for_each(|own| counts[headed(*own).0] += 1);
    let some = counts.iter().zip(HEADINGS).filter(|(count, _)| **count > 0);
    let some = some.map(|(count, how)| format!("{count} {how}")).join(", ");
    match grounds.len() {
        0 => format!("valid, and nothing is claimed of the policy about {about}"),
        1 => format!("valid: 1 claim about {about}, {some}"),
        several => format!("valid: {several} claims about {about}, {some}"),
    }
}

/// By what something stands under a heading; what so stands, and how often each.
type Group = (&'static str, Vec<(String, usize)>);

/// By heading. Claims stand there by their quantities, all else by its place in the document without the numbers of
/// lists.
fn groups<K: Content>(checked: &Checked<K>) -> [Vec<Group>; HEADINGS.len()] {
    let claims = checked.artifact().claims.iter().zip(checked.grounds());
    let claims = claims.map(|(claim, grounds)| (claim.quantity.row().label.to_owned(), *grounds));
    let rest = checked.beside_claims().iter();
    let rest = rest.map(|examined| (without_places(&examined.path), examined.grounds));
    let mut groups = [const { Vec::new() }; HEADINGS.len()];
    for (name, grounds) in claims.chain(rest) {
        let (heading, by) = headed(grounds);
        *entry(entry(&mut groups[heading], by), name) += 1;
    }
    groups
}

fn without_places(path: &str) -> String {
    let path = path.replace(".servers[", "[");
    let parts = path.split('[');
    let parts = parts.map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    parts.collect()
}
