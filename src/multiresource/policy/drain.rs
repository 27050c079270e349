//! How long a drain takes: the expected wait until running jobs have left room for one more.

/// Steps of Newton's method, from 0 and below the root; a drain takes few mean sizes.
const STEPS: usize = 12;

/// A relative step that is none.
const SMALL: f64 = 1e-3;

/// Jobs of one type that are to leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub count: f64,
    /// What each of them holds of the resource that is waited for, in its units.
    pub holds: f64,
    /// 1/E\[S\] \[1/time\].
    pub rate: f64,
}

/// The expected wait \[time\] until jobs that leave at these rates have left this much room, at least
/// that of one job: infinite where they do not hold it.
///
/// The root t of `(1 + 1/2n) Σ d_i x_i (1 − e^{−t μ_i}) = need`, with n = Σ x_i: fluid, as in
/// quality note, but for the factor, which makes it `E[S] ln((n + ½)/(n − k + ½))` for k of n alike:
/// the mean `E[S] (H_n − H_{n−k})` within 10 %, and 2 % from n = 3 on, where the fluid needs infinitely long for the last.
#[inline]
pub(super) fn wait_for(need: f64, leaving: &[Leaving]) -> f64 {
    let (mut jobs, mut held) = (0.0, 0.0);
    for own in leaving {
        jobs += own.count;
        held += own.count * own.holds;
    }
    if need > held {
        return f64::INFINITY;
    }
    let need = need / (1.0 + 0.5 / jobs);
    let mut t = 0.0;
    for _ in 0..STEPS {
        let (mut left, mut slope) = (need, 0.0);
        for own in leaving {
            let holds = own.count * own.holds;
            let stays = holds * decay(t * own.rate);
            left -= holds - stays;
            slope += stays * own.rate;
        }
        if left <= SMALL * need {
            break;
        }
        t += left / slope;
    }
    t
}

/// e^{−y} for y ≥ 0, within 1 % of 1 everywhere and the same on every machine: powers and quotients
/// are rounded alike, library functions are not.
#[inline]
pub(super) fn decay(y: f64) -> f64 {
    let z = y * (1.0 / 16.0);
    let once = 1.0 / (1.0 + z * (1.0 + z * (0.5 + z * (1.0 / 6.0))));
    let twice = once * once;
    let fourth = twice * twice;
    let eighth = fourth * fourth;
    eighth * eighth
}
