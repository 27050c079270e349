//! Which jobs are of a type, as a file says it.

use synth_slurm::commands::Row;

/// A type and its jobs: those that meet one of the conditions, or all where there is none.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    /// The type.
    pub place: usize,
    pub conditions: Vec<Condition>,
}

/// What a job has to meet, all of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Condition {
    /// Texts of it, with their patterns.
    pub texts: Vec<(Text, String)>,
    /// Its time limit \[s\] is above this…
    pub above: Option<f64>,
    /// …and not above this.
    pub up_to: Option<f64>,
}

/// A text of a job.
pub(super) type Text = fn(&Row) -> &str;

impl Rule {
    pub fn is_of(&self, row: &Row) -> bool {
        self.conditions.is_empty() || self.conditions.iter().any(|c| c.is_met(row))
    }
}

impl Condition {
    fn is_met(&self, row: &Row) -> bool {
        let limit = row.time_limit.map_or(f64::INFINITY, |s| s as f64);
        let has = |(text, pattern): &(Text, String)| fits(pattern, text(row));
        self.above.is_none_or(|above| limit > above)
            && self.up_to.is_none_or(|up_to| limit <= up_to)
            && self.texts.iter().all(has)
    }
}

/// Whether the whole text is as the pattern has it: `*` stands for any text, `?` for one character, all else for itself.
fn fits(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // The last star, and the first character that it has not taken: it takes one more where what follows does not fit.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, taken)) = star else {
                    return false;
                };
                star = Some((at, taken + 1));
                (p, t) = (at + 1, taken + 1);
            }
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_and_question_marks() {
        let fitting = [
            ("", ""),
            ("*", ""),
            ("a", "a"),
            ("sim-*", "sim-"),
            ("sim-*", "sim-7"),
            ("*é?", "xyéz"),
            ("a*b*c", "a-b-b-c"),
            ("**", "x"),
            ("?", "日"),
            ("a.b", "a.b"),
        ];
        for (pattern, text) in fitting {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("?", ""),
            ("sim-*", "Sim-7"),
            ("a*b", "abc"),
            ("a.b", "axb"),
        ] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
        assert!(
            !fits(&"*a".repeat(200), &"a".repeat(199)),
            "and it does not take for ever"
        );
    }
}
