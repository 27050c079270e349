use super::number;
use crate::multiresource::artifact::Balance;
use crate::multiresource::program::BALANCE_GAP;
use crate::multiresource::verbs::Made;
use crate::multiresource::workload::Workload;

/// What the policy's mix is best for, if it is not the load, with its proof.
pub(super) fn balance(workload: &Workload, made: &Made) -> String {
    let certificate = made.artifact.the_server().certificate;
    let Some(found) = &certificate.balance else {
        return String::new();
    };
    let proof = match found.proven {
        true => format!("proven best, relative gap below {BALANCE_GAP:.0e}"),
        false => format!("NOT PROVEN best: gap {:.2e}", found.gap),
    };
    let least = made.least_load_attains.map_or(String::new(), |value| {
        format!("; {} where the load is least", number(value))
    });
    let what = match found.aim {
        Balance::Headroom => "headroom min (1/ρ_i - 1)/ω_i",
        Balance::TotalResponse => "total response Σ w_i/(1 - ρ_i)",
        Balance::WorstResponse => "worst response max w_i/(1 - ρ_i)",
    };
    let symbol = match found.aim {
        Balance::Headroom => "ω",
        Balance::TotalResponse | Balance::WorstResponse => "w",
    };
    let types = workload.types().iter().zip(&found.weights);
    let weights: Vec<String> = types
        .take(TOLD)
        .map(|(kind, w)| format!("{} {}", kind.name(), number(*w)))
        .collect();
    let more = if found.weights.len() > TOLD {
        ", …"
    } else {
        ""
    };
    format!(
        "{what} = {}  ({proof}){least}\nweights {symbol}: {}{more}\n",
        number(found.value),
        weights.join(", ")
    )
}

/// Types of which the weight is told.
const TOLD: usize = 8;
