/// The search ends if the relative gain per unit of the logarithm of the rate is less than this.
const FLAT: f64 = 1e-4;

/// Returns the rate below `largest` that minimizes a function, and the minimum, by Brent's method
/// on a logarithmic scale from a bracket around `start`. It ends at this tolerance of the logarithm
/// of the rate or, for a monotonic function, if the gain is less than [`FLAT`].
pub(super) fn minimum(
    mut function: impl FnMut(f64) -> f64,
    start: f64,
    largest: f64,
    tolerance: f64,
) -> (f64, f64) {
    let ceiling = largest.ln();
    let mut at = |x: f64| match x < ceiling {
        true => function(x.exp()),
        false => f64::INFINITY,
    };
    let Some(bracket) = bracket(&mut at, start.ln(), ceiling) else {
        return (start, f64::INFINITY);
    };
    let (x, value) = brent(at, bracket, tolerance);
    (x.exp(), value)
}

type Point = (f64, f64);

/// Returns three points with the lowest in the middle; `None` if the function is infinite.
fn bracket(at: &mut impl FnMut(f64) -> f64, start: f64, ceiling: f64) -> Option<[Point; 3]> {
    let mut middle = (start, at(start));
    // Close to the largest stable rate, the value may not be finite.
    for _ in 0..40 {
        if middle.1.is_finite() {
            break;
        }
        let lower = middle.0 - 0.7;
        middle = (lower, at(lower));
    }
    let mut step = 0.35;
    let above = |x: f64, step: f64| (x + step).min(0.5 * (x + ceiling));
    let mut at = |x: f64| (x, at(x));
    let (mut low, mut high) = (at(middle.0 - step), at(above(middle.0, step)));
    for _ in 0..60 {
        if !middle.1.is_finite() {
            return None;
        }
        if low.1 < middle.1 {
            let gain = (middle.1 - low.1) / low.1 / (middle.0 - low.0);
            (high, middle) = (middle, low);
            if gain < FLAT {
                break;
            }
            step *= 1.6;
            low = at(middle.0 - step);
        } else if high.1 < middle.1 {
            let gain = (middle.1 - high.1) / high.1 / (high.0 - middle.0);
            (low, middle) = (middle, high);
            if gain < FLAT {
                break;
            }
            step *= 1.6;
            high = at(above(middle.0, step));
        } else {
            break;
        }
    }
    Some([low, middle, high])
}

fn brent(mut at: impl FnMut(f64) -> f64, bracket: [Point; 3], tolerance: f64) -> Point {
    let [(mut low, low_value), mut best, (mut high, high_value)] = bracket;
    let (mut second, mut third) = ((low, low_value), (high, high_value));
    if low_value >= high_value {
        (second, third) = (third, second);
    }
    let (mut last, mut before) = (high - low, high - low);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if (best.0 - middle).abs() + 0.5 * (high - low) <= 2.0 * tolerance {
            break;
        }
        let inner = low + tolerance..high - tolerance;
        let fits = |step: &f64| step.abs() < 0.5 * before.abs() && inner.contains(&(best.0 + step));
        let step = match vertex(best, second, third).filter(fits) {
            Some(step) => {
                before = last;
                step
            }
            None => {
                let side = if best.0 < middle { high } else { low } - best.0;
                before = side;
                0.381_966 * side
            }
        };
        last = step;
        let x = best.0 + step.abs().max(tolerance).copysign(step);
        let new = (x, at(x));
        if new.1 <= best.1 {
            match x < best.0 {
                true => high = best.0,
                false => low = best.0,
            }
            (third, second, best) = (second, best, new);
        } else {
            match x < best.0 {
                true => low = x,
                false => high = x,
            }
            if new.1 <= second.1 {
                (third, second) = (second, new);
            } else if new.1 <= third.1 {
                third = new;
            }
        }
    }
    best
}

/// Returns the step from a to the vertex of the parabola through three points, if it has one.
fn vertex(a: Point, b: Point, c: Point) -> Option<f64> {
    if !(b.1.is_finite() && c.1.is_finite()) {
        return None;
    }
    let (r, s) = ((b.0 - a.0) * (a.1 - c.1), (c.0 - a.0) * (a.1 - b.1));
    let step = 0.5 * ((b.0 - a.0) * r - (c.0 - a.0) * s) / (r - s);
    step.is_finite().then_some(step)
}

#[cfg(test)]
mod tests {
    use super::minimum;

    #[test]
    fn minimizes_smooth_functions() {
        for best in [1e-6, 0.3, 1.0, 50.0, 1e5] {
            let function = |rate: f64| (rate / best).ln().cosh() + 0.1 * (rate / best).ln().exp();
            let (rate, _) = minimum(function, 1.0, f64::INFINITY, 1e-7);
            // sinh x + e^x / 10 = 0.
            let expected = best * (0.5_f64 / 0.6).sqrt();
            assert!(
                (rate / expected - 1.0).abs() < 1e-5,
                "{rate} for {expected}"
            );
        }
    }

    #[test]
    fn minimizes_below_a_pole() {
        let function = |rate: f64| 1.0 / (1.0 - rate) + 1e-4 / rate;
        let (rate, value) = minimum(function, 0.9, 1.0, 1e-7);
        assert!((rate - 0.01 / 1.01).abs() < 1e-6, "{rate}");
        assert!((value - function(0.01 / 1.01)).abs() < 1e-12);
    }

    #[test]
    fn ends_for_decreasing_functions() {
        let (rate, value) = minimum(|rate| 1.0 + 1.0 / rate, 1.0, f64::INFINITY, 1e-6);
        assert!(rate > 100.0 && value < 1.01, "{rate}");
        let nowhere = minimum(|_| f64::INFINITY, 1.0, f64::INFINITY, 1e-6);
        assert!(nowhere.1.is_infinite());
    }
}
