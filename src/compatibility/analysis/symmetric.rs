/// `E[T]` where each job may run on `degree` of `servers` servers, drawn at random, each of which ends `service_rate` jobs a
/// time unit, and `arrival_rate` jobs arrive in all \[time\]; infinite where that is unstable.
///
/// Of the C(S, d) classes only how many servers are taken counts: S − d + 1 terms (K. Gardner, M. Harchol-Balter, A.
/// Scheller-Wolf, M. Velednitsky, S. Zbarsky: Redundancy-d, Operations Research 65(4), 2017, theorem 1).
pub fn random_assignment(servers: u32, service_rate: f64, degree: u32, arrival_rate: f64) -> f64 {
    // What arrives for n servers alone: λ C(n, d)/C(S, d).
    let part = |n: u32| -> f64 {
        let factors = (0..degree).map(|k| f64::from(n - k) / f64::from(servers - k));
        factors.product()
    };
    let term = |n: u32| {
        let part = part(n);
        let free = f64::from(n) * service_rate - arrival_rate * part;
        if free > 0.0 {
            part / free
        } else {
            f64::INFINITY
        }
    };
    (degree..=servers).map(term).sum()
}
