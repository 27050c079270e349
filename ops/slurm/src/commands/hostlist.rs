use super::amounts::whole;

const MOST: usize = 100_000;

/// Expands a list such as `n[1-4,7],gpu03`. Returns `None` if the list is invalid or too long.
pub fn expand(list: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut depth = 0;
    let is_end = |c: char| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    };
    for part in list.split(is_end).map(str::trim) {
        let mut own = vec![String::new()];
        let mut rest = part;
        while let Some((before, after)) = rest.split_once('[') {
            let (ranges, behind) = after.split_once(']')?;
            let numbers = numbers(ranges)?;
            if own.len().checked_mul(numbers.len())? > MOST {
                return None;
            }
            let longer = |start: String| {
                let numbers = numbers.iter();
                numbers.map(move |number| format!("{start}{before}{number}"))
            };
            own = own.into_iter().flat_map(longer).collect();
            rest = behind;
        }
        names.extend(own.into_iter().map(|start| start + rest));
        if names.len() > MOST {
            return None;
        }
        names.last().filter(|name| is_plain(name))?;
    }
    Some(names)
}

/// Returns `true` if the text is a valid name of a node, partition or resource.
pub fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !text.is_empty() && text.chars().all(is_plain)
}

/// Expands a range such as `1-3,7` or `01-10`. Leading zeros are preserved.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u64, u64) = (whole(first)?, whole(last)?);
        if from > to || to - from >= MOST as u64 {
            return None;
        }
        let width = first.len();
        numbers.extend((from..=to).map(|number| format!("{number:0width$}")));
        if numbers.len() > MOST {
            return None;
        }
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::expand;

    #[test]
    fn expands_lists_in_order() {
        let of = |list| expand(list).map(|names| names.join(" "));
        let lists = [
            ("n1", Some("n1")),
            ("n[3-4]", Some("n3 n4")),
            ("n[1-2,7],gpu03", Some("n1 n2 n7 gpu03")),
            ("n[08-10]", Some("n08 n09 n10")),
            ("r[1-2]n[1-2]", Some("r1n1 r1n2 r2n1 r2n2")),
            ("r[1-2]-ib, x.y", Some("r1-ib r2-ib x.y")),
            ("", None),
            ("n[1-", None),
            ("n1]", None),
            ("n[2-1]", None),
            ("n[a]", None),
            ("n[]", None),
            ("n[1-99999999]", None),
            ("a b", None),
            ("n1,,n2", None),
            ("n[[1]]", None),
        ];
        for (list, names) in lists {
            assert_eq!(of(list).as_deref(), names, "{list}");
        }
    }
}
