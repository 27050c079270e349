/// Rewrites indented JSON so that an array of numbers or strings stands on one line: a
/// schedule is read at a glance.
pub(super) fn flat_arrays(pretty: &str) -> String {
    let mut text = String::with_capacity(pretty.len());
    let mut rest = pretty;
    while let Some(start) = find_outside_strings(rest, "[") {
        let (before, array) = rest.split_at(start + 1);
        text.push_str(before);
        rest = array;
        let end = find_outside_strings(array, "[{]").unwrap_or(0);
        if array[end..].starts_with(']') {
            let values: Vec<&str> = array[..end].lines().map(str::trim).collect();
            text.push_str(values.join(" ").trim());
            rest = &array[end..];
        }
    }
    text + rest
}

/// The first place of one of these characters outside of string literals.
fn find_outside_strings(text: &str, wanted: &str) -> Option<usize> {
    let (mut in_string, mut escaped) = (false, false);
    text.char_indices().find_map(|(place, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            _ if !in_string && wanted.contains(c) => return Some(place),
            _ => {}
        }
        None
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_flat_arrays_are_joined_and_nothing_changes_its_meaning() {
        let value = serde_json::json!({
            "w": [[1, 2], [3.5, 4]], "empty": [], "objects": [{"a": ["x]\"[", "{"]}], "s": "[1,\n2]"
        });
        let flat = flat_arrays(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&flat).unwrap(),
            value
        );
        assert!(flat.contains("\n    [1, 2],\n    [3.5, 4]\n"), "{flat}");
        assert!(flat.contains(r#""a": ["x]\"[", "{"]"#), "{flat}");
    }
}
