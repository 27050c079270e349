use std::path::Path;

use itertools::Itertools as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use synth_core::document::text_of;
use synth_multiresource::policy::Priority;
use synth_slurm::configuration::SlurmSite;
use synth_slurm::order::{SlurmOrder, export};

/// An order of the queue that is advised.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdvisedOrder {
    /// The exponents of the order. The estimate is the time limit, and the offset is in seconds.
    pub priority: Priority,
    /// The names of the partitions, separated by commas.
    pub partitions: String,
}

/// The name of the format of an advice.
pub(crate) const FORMAT: &str = "synth-advice";

/// The part of an advice that is needed to export its order.
#[derive(Deserialize)]
struct Written {
    format: String,
    order: Option<AdvisedOrder>,
    lines: Vec<String>,
}

/// The name and the contents of each file.
type NamedTexts = Vec<(String, String)>;

impl AdvisedOrder {
    pub(super) fn new(priority: Priority, site: &SlurmSite) -> Self {
        let partitions = site.partitions.iter().map(|own| &own.name).join(",");
        AdvisedOrder {
            priority,
            partitions,
        }
    }

    /// Returns the files to install the order of an advice, or `None` if it has no order.
    ///
    /// # Errors
    /// If the file cannot be read or is not an advice, or if the order is not valid.
    pub fn export(file: &Path) -> Result<Option<NamedTexts>, String> {
        let name = file.display();
        let text = text_of(file).map_err(|why| format!("cannot read {name}: {why}"))?;
        let advice: Option<Written> = serde_json::from_str(&text).ok();
        let advice = advice.filter(|own| own.format == FORMAT).ok_or_else(|| {
            format!("{name} is not an advice; use a file that was written by `synth advise slurm … -o advice.json`")
        })?;
        let Some(order) = advice.order else {
            return Ok(None);
        };
        let own = SlurmOrder::of_priority(order.priority);
        let own = own.map_err(|why| format!("{name}: {why}"))?;
        export(&own, &order.partitions, Some(&advice.lines)).map(Some)
    }
}
