//! Colors, mark shapes and dashes of series, each of which is sufficient to distinguish them.

pub(super) const MOST: usize = 8;

/// Colors after Okabe and Ito ("Color Universal Design", 2008), with yellows darkened for a white
/// background. The style sheet of a page replaces them on a dark background.
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

/// Corners of marks relative to a point, in pixels.
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
