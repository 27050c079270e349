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
    let said = said(checked);
    for (heading, of_kind) in [
        ("derived anew", is_derived as fn(&Grounds) -> bool),
        ("judged for sense", is_judged),
        ("on trust", is_trusted),
    ] {
        let groups: Vec<&Group> = said.iter().filter(|g| of_kind(&g.grounds)).collect();
        if !groups.is_empty() {
            let _ = write!(text, "\n{heading}");
        }
        for group in groups {
            let line = format!("{}: {}", group.things(), group.by());
            let _ = write!(text, "\n{}", indented(&line, width));
        }
    }
    text
}

fn is_derived(grounds: &Grounds) -> bool {
    matches!(grounds, Grounds::Derived(_))
}

fn is_judged(grounds: &Grounds) -> bool {
    matches!(grounds, Grounds::Judged(_))
}

fn is_trusted(grounds: &Grounds) -> bool {
    matches!(grounds, Grounds::Trusted(_))
}

/// How many claims stand on which grounds.
fn verdict(grounds: &[Grounds], about: &str) -> String {
    if grounds.is_empty() {
        return format!("valid, and nothing is claimed of the policy {about}");
    }
    let count = |of_kind: fn(&Grounds) -> bool| grounds.iter().filter(|g| of_kind(g)).count();
    let counts = [
        ("derived anew", count(is_derived)),
        ("judged for sense", count(is_judged)),
        ("on trust", count(is_trusted)),
    ];
    let told = counts.iter().filter(|(_, count)| *count > 0);
    let told: Vec<String> = told.map(|(how, count)| format!("{count} {how}")).collect();
    let claims = match grounds.len() {
        1 => "1 claim".to_owned(),
        several => format!("{several} claims"),
    };
    format!("valid: {claims} {about}, {}", told.join(", "))
}

/// What stands on the same grounds.
struct Group {
    grounds: Grounds,
    /// Names, and how often each.
    things: Vec<(String, usize)>,
}

impl Group {
    fn by(&self) -> &'static str {
        match self.grounds {
            Grounds::Derived(by) | Grounds::Judged(by) | Grounds::Trusted(by) => by,
        }
    }

    fn things(&self) -> String {
        let named = self.things.iter().map(|(name, count)| match count {
            1 => name.clone(),
            many => format!("{name} ({many})"),
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// Claims by their quantities, all else by its place in the document without the numbers of lists.
fn said<K: Content>(checked: &Checked<K>) -> Vec<Group> {
    let claims = checked.artifact().claims.iter().zip(checked.grounds());
    let claims = claims.map(|(claim, grounds)| (claim.quantity.row().label.to_owned(), *grounds));
    let rest = checked.beside_claims().iter();
    let rest = rest.map(|examined| (without_places(&examined.path), examined.grounds));
    let mut groups: Vec<Group> = Vec::new();
    for (name, grounds) in claims.chain(rest) {
        let place = groups.iter().position(|group| group.grounds == grounds);
        let place = place.unwrap_or_else(|| {
            let things = Vec::new();
            groups.push(Group { grounds, things });
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
