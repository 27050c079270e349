/// Returns `true` if the whole text matches a pattern. `*` matches any text, `?` matches any single
/// character, and all other characters only match themselves.
pub fn matches_pattern(pattern: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let mut fitting = vec![false; text.len() + 1];
    fitting[0] = true;
    for c in pattern.chars() {
        if c == '*' {
            let shortest = fitting.iter().position(|fits| *fits);
            fitting[shortest.unwrap_or(text.len() + 1)..].fill(true);
        } else {
            for length in (1..=text.len()).rev() {
                fitting[length] = fitting[length - 1] && (c == '?' || c == text[length - 1]);
            }
            fitting[0] = false;
        }
    }
    fitting[text.len()]
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

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
            assert!(matches_pattern(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("", "a"),
            ("a", ""),
            ("?", ""),
            ("sim-*", "Sim-7"),
            ("a*b", "abc"),
            ("a.b", "axb"),
        ] {
            assert!(!matches_pattern(pattern, text), "{pattern} {text}");
        }
        assert!(
            !matches_pattern(&"*a".repeat(200), &"a".repeat(199)),
            "runs in polynomial time"
        );
    }
}
