//! Patterns of names.

/// Returns whether the whole text is as the pattern has it: `*` stands for any text, `?` for one character, all else for itself.
pub fn fits(pattern: &str, text: &str) -> bool {
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
