//! How the policies are told apart: by colour, by the shape of their marks, and by dashes, so that
//! any one of these is enough.

/// Colours after Okabe and Ito ("Color Universal Design", 2008), the yellow ones darkened so that
/// they can be seen on white, and similar ones for a dark background.
const COLORS: [([u8; 3], &str); 8] = [
    ([0x00, 0x72, 0xb2], "#5ab4ec"),
    ([0xd5, 0x5e, 0x00], "#ff9147"),
    ([0x00, 0x8a, 0x64], "#2fcf9f"),
    ([0xb8, 0x57, 0x8e], "#eb9cc8"),
    ([0x9a, 0x6b, 0x00], "#e8bb3c"),
    ([0x50, 0x50, 0x50], "#c4c4c4"),
    ([0x2a, 0x93, 0xc4], "#9bdcff"),
    ([0x7a, 0x3f, 0xb0], "#c9a4f4"),
];

/// Lengths of strokes and gaps; all the same for the marks.
const DASHES: [&str; 8] = [
    "none",
    "8 4",
    "2 3",
    "10 3 2 3",
    "14 4",
    "5 2 1 2 1 2",
    "4 4",
    "1 5",
];

/// How many policies can be told apart.
const MANY: usize = COLORS.len() * 8;

/// The look of one policy. In the picture each has hex colours of its own, one for lines and one
/// for marks, by which a style sheet finds them: see [`rules`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look(usize);

impl Look {
    /// Returns the look of the n-th policy; after 64 they repeat.
    pub const fn new(n: usize) -> Self {
        Look(n % MANY)
    }

    fn round(self) -> usize {
        self.0 / COLORS.len()
    }

    /// Returns the hex code of the colour with its lowest bits changed, which is invisible, so that each is unique.
    fn color(self, mark: u8) -> String {
        let [red, green, blue] = COLORS[self.0 % COLORS.len()].0;
        let (red, blue) = (red ^ mark, blue ^ self.round() as u8);
        format!("#{red:02X}{green:02X}{blue:02X}")
    }

    /// Colour of its lines.
    pub fn line(self) -> String {
        self.color(0)
    }

    /// Colour of its marks and intervals.
    pub fn mark(self) -> String {
        self.color(1)
    }

    fn dark(self) -> &'static str {
        COLORS[self.0 % COLORS.len()].1
    }

    fn dashes(self) -> &'static str {
        DASHES[(self.0 + self.round()) % DASHES.len()]
    }

    /// Corners of its mark around a point, in pixels.
    pub fn corners(self) -> &'static [(i32, i32)] {
        SHAPES[(self.0 + self.round()) % SHAPES.len()]
    }
}

/// Corners of a hexagon, a square, triangles, a rhomb, bars and an hourglass.
const SHAPES: [&[(i32, i32)]; 8] = [
    &[(-3, -5), (3, -5), (6, 0), (3, 5), (-3, 5), (-6, 0)],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -6), (5, 4), (-5, 4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
    &[(0, 6), (5, -4), (-5, -4)],
    &[(-6, -2), (6, -2), (6, 2), (-6, 2)],
    &[(-2, -6), (2, -6), (2, 6), (-2, 6)],
    &[(-5, -6), (5, -6), (-5, 6), (5, 6)],
];

/// Style sheets that give the first `count` policies their colours and dashes: for light ground,
/// and for dark.
pub fn rules(count: usize) -> (String, String) {
    let looks = || (0..count.min(MANY)).map(Look);
    let light = looks().map(|look| {
        let dashes = look.dashes();
        format!(
            "svg [stroke=\"{}\"]{{stroke-dasharray:{dashes}}}\n",
            look.line()
        )
    });
    let dark = looks().map(|look| {
        let (line, mark, color) = (look.line(), look.mark(), look.dark());
        format!(
            "svg [stroke=\"{line}\"],svg [stroke=\"{mark}\"]{{stroke:{color}}}svg [fill=\"{mark}\"]{{fill:{color}}}\n"
        )
    });
    (light.collect(), dark.collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_policies_look_alike() {
        let looks: Vec<Look> = (0..MANY).map(Look::new).collect();
        let colors = looks.iter().flat_map(|l| [l.line(), l.mark()]);
        assert_eq!(colors.collect::<HashSet<_>>().len(), 2 * MANY);
        let other: HashSet<_> = looks
            .iter()
            .map(|l| (l.dark(), l.dashes(), l.corners()))
            .collect();
        assert_eq!(other.len(), MANY);
    }
}
