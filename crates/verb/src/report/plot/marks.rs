//! How series are told apart: by colour, by the shape of their marks, and by dashes, so that any one of these is enough.

/// The most series of a figure.
pub(super) const MOST: usize = 8;

/// Colours after Okabe and Ito ("Color Universal Design", 2008), the yellow ones darkened so that they can be seen on white.
/// The style sheet of a page replaces them on a dark background.
pub(super) const COLORS: [&str; MOST] = [
    "#0072B2", "#D55E00", "#008A64", "#B8578E", "#9A6B00", "#505050", "#2A93C4", "#7A3FB0",
];

/// Lengths of strokes and gaps.
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

/// Corners of marks around a point, in pixels: a hexagon, a square, triangles, a rhomb, bars and an hourglass.
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
