//! MSFQ(ℓ) on a one-or-all system, strict, exactly and without truncation.
//!
//! # Theory
//! Light jobs (rate λ₁, k of which are served at rate μ₁ each) and heavy jobs (λ_k, μ_k, one at a
//! time and alone) take turns: heavy ones until there are none (phase 1); light ones until no more
//! than ℓ are left (phase 2 with all k servers busy, phase 3 with fewer); those ℓ finish while
//! others wait (phase 4). The rule is that of
//! Chen, Grosof, Berg, "Improving Nonpreemptive Multiserver Job Scheduling with Quickswap", 2025,
//! section 4.2; its section 5 has an approximation ([`MsfqApproximation`]), and this is the exact
//! solution.
//!
//! At the end of phase 1 no heavy job is there, and the number j of light ones is a Markov chain.
//! A busy period of light jobs is memoryless in j but for its length, so that the chain's generating
//! function Π satisfies, with y(z) the transform of a busy period started by one light job,
//!
//! `Π(z) = Σ_{i<k} p_i (g_i(z) − f(z) y(z)^i) + f(z) Π(y(z))`.
//!
//! Iterating z → y(z) → 1 leaves p_0 … p_{k−1} (`transforms.rs`), which the first k coefficients of Π
//! determine (`light_left.rs`). Means follow by renewal and reward over a cycle, whose integrals are
//! quadratic in j from k on (`cycle.rs`, `queue.rs`).
//!
//! # Practice
//! One run takes `O(k³)` and `O(k² n)`, n growing as `1/(1 − y'(1))` towards saturation.
//!
//! Light jobs may be served for `e^k` times their size before ℓ are left, and next to such a time
//! nothing else would be seen in floating point. So transforms are kept as what they lack of 1, times
//! as means and variances, and what one more light job adds is never taken from a difference of cycles.
//! What rounding can have done to the coefficients, and so to the means, is bounded; above a part in 10⁹
//! there are no means.

mod approximation;
mod cycle;
mod light_left;
mod passages;
mod queue;
mod transforms;

pub use approximation::MsfqApproximation;
pub use queue::{MOST_SERVERS, MsfqError, MsfqMeans, MsfqQueue, Stream};

#[cfg(test)]
mod tests;
