#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn a_value_stands_with_its_interval_where_there_is_one() {
    let interval = Interval {
        low: 9701.0,
        high: 13_200.0,
    };
    assert_eq!(
        with_interval(11_620.0, Some(interval)),
        "11620 [9701, 13200]"
    );
    assert_eq!(with_interval(0.0, None), "0");
}
