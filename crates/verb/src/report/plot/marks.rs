//! The colors, marks and dashes of the series. Each of them is sufficient to identify a series.

pub(super) const MOST: usize = 8;

/// The colors are based on Okabe and Ito ("Color Universal Design", 2008), with a darker yellow for
/// the white background. On a dark background, a style sheet replaces them.
pub(super) const COLORS: [&str; MOST] = [
    "#0072B2", "#D55E00", "#008A64", "#B8578E", "#9A6B00", "#505050", "#2A93C4", "#7A3FB0",
];

pub(super) const DASHES: [&str; MOST] = [
    "none",
    "8 4",
    "2 3",
    "10 3 2 3",
    "14 4",
    "5 2 1 2 1 2",
    "4 4",
    "1 5",
];

pub(super) const SHAPES: [&[(i32, i32)]; MOST] = [
    &[(-3, -5), (3, -5), (6, 0), (3, 5), (-3, 5), (-6, 0)],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -6), (5, 4), (-5, 4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
    &[(0, 6), (5, -4), (-5, -4)],
    &[(-6, -2), (6, -2), (6, 2), (-6, 2)],
    &[(-2, -6), (2, -6), (2, 6), (-2, 6)],
    &[(-5, -6), (5, -6), (-5, 6), (5, 6)],
];
