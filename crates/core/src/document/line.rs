//! This module writes lines of JSON with a checksum that detects damaged or edited lines. It is the
//! last field of the object: the first 16 hexadecimal digits of the SHA-256 of the line before it.

use super::digest;

/// Adds the checksum to an object.
pub fn sealed(object: &str) -> String {
    let body = object.strip_suffix('}').unwrap_or(object);
    format!("{body}{}", seal(body))
}

/// Returns the object of a line, or `None` if the checksum is not correct.
pub fn unsealed(line: &str) -> Option<String> {
    let end = line.len().checked_sub(seal("").len())?;
    let (body, found) = line.split_at_checked(end)?;
    (found == seal(body)).then(|| format!("{body}}}"))
}

fn seal(body: &str) -> String {
    let digits = &digest(body)["sha256:".len()..][..16];
    format!(",\"check\":\"{digits}\"}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_any_changed_byte() {
        let line = sealed(r#"{"load":0.5,"é":[1,2]}"#);
        let read: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        assert_eq!(read["load"], 0.5);
        let object = r#"{"load":0.5,"é":[1,2]}"#;
        assert_eq!(unsealed(&line).as_deref(), Some(object));
        for at in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
            let mut changed: Vec<char> = line.chars().collect();
            let n = line[..at].chars().count();
            changed[n] = if changed[n] == '7' { '8' } else { '7' };
            assert_eq!(unsealed(&changed.iter().collect::<String>()), None, "{at}");
            assert_eq!(unsealed(&line[..at]), None, "{at}");
        }
    }
}
